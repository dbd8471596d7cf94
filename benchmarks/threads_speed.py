"""Built-in learners in two threads beside one core, seconds on the wall; two idle cores are needed.

- ``two-threads``: six learners in 10x10 on four sets of 2,000 to 7,500 rows, engine ``threads``
  with two jobs against ``serial`` (promise: 1.8).
- ``two-threads-one-set``: the same on the largest of them alone, where the last block may leave a
  core idle.
- ``small-work``: the automatic engine with two jobs against one where there is little to do
  (promise: not slower).

The sets are UCI's from the folder BESTOFK_DATA, else generated ones of the same sizes. The sides
take turns; the ratio is the median of the rounds' ratios. Libraries are kept to one thread on both
sides, and losses have to be equal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from linear_speed import data_sets
from overhead_speed import Row, one_thread, row, turns

LARGE = ("segment", "wave", "spambase", "pendigits")
SIX = ("max", "nmc", "logistic", "c4.5", "nn", "naive-bayes")


def large_sets() -> list[Any]:
    if os.environ.get("BESTOFK_DATA"):
        return [data for data in data_sets() if data.name in LARGE]
    from sklearn.datasets import make_classification

    from bestofk.data import as_dataset

    sizes = ((2310, 19), (5000, 21), (4601, 57), (7494, 16))
    return [
        as_dataset(*make_classification(n, d, n_informative=d // 2, n_classes=3, random_state=0))
        for n, d in sizes
    ]


def runner(sets: list[Any], learners: tuple[str, ...], plan: str, **how: Any) -> Any:
    """A call that evaluates all cells and gives the losses."""
    import bestofk as bk
    from bestofk.run.engines.engine import Engine
    from bestofk.run.evaluation.task import ComparisonTask
    from bestofk.run.experiment import Experiment
    from bestofk.run.inputs import named_estimators
    from bestofk.run.metrics import as_loss

    experiment = Experiment(
        contenders=named_estimators(list(learners)),
        datasets=tuple(sets),
        splits=tuple(bk.plan(plan, random_state=0).materialise(data.n, data.y) for data in sets),
        loss=as_loss("zero-one", classes=sets[0].classes),
        repetitions=1,
        random_state=0,
    )

    def go() -> dict[str, float]:
        places = list(experiment.places())
        run = Engine(**how).run(ComparisonTask(experiment), places, total=len(places))
        return {cell.key.digest: cell.loss for cell in run}

    return go


def sides(sets: list[Any], learners: tuple[str, ...], plan: str, rounds: int) -> Any:
    two = runner(sets, learners, plan, name="threads", jobs=2)
    one = runner(sets, learners, plan, name="serial")
    assert two() == one(), "the losses differ"
    return turns(two, one, rounds=rounds, clock=time.perf_counter, warm=False)


def measure() -> Iterator[Row]:
    with one_thread():
        large = large_sets()
        yield row("two-threads", *sides(large, SIX, "10x10", 3))
        yield row("two-threads-one-set", *sides(large[-1:], SIX, "10x10", 3))
        auto, alone = (
            runner(large[:1], ("max", "nmc", "naive-bayes"), "kfold:10", name="auto", jobs=jobs)
            for jobs in (2, 1)
        )
        yield row("small-work", *turns(auto, alone, rounds=9, clock=time.perf_counter))
