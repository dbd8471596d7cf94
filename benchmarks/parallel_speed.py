"""Measure two worker processes against one; two idle cores are needed.

- ``two-workers``: two worker processes against one, a tree and a forest of 20 trees in twice ten
  folds of 10,000 x 20 (limit: 1.8). Start-up counts on both sides.
- ``two-workers-serial``: two worker processes against the serial engine.
- ``sleep-W-KxF``: the ideal time over the time of W worker processes, for K learners that sleep
  in F folds (limit: 1 / 1.15). The ideal is the sum of all fits over W, or the longest fit, as
  they were timed. The clock starts with the first fit.
- ``known-W-KxF``: the same without a run, if all times were known and the longest fit always
  started first.
- ``workers-small-work``: `n_jobs=-1` against `n_jobs=1` on a small task (limit: not slower).

Seconds are wall time; the sides alternate and ratios are medians over the rounds.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

import bestofk as bk
from bestofk.run.engine import Engine, Execution
from bestofk.run.inputs import named_estimators
from bestofk.run.live import Live
from bestofk.run.metrics import as_loss
from bestofk.splits.plans import plan as make_plan
from overhead_speed import data_sets, learners
from timing import Row, one_thread, row, turns

SHAPES = ((20, 5), (5, 10), (20, 2), (10, 100))
"""Learners and folds of those that sleep."""


def task_of(sets: list[Any], learners: Any, plan: str) -> Live:
    splits = [make_plan(plan, random_state=0).materialise(data.n, data.y) for data in sets]
    metrics = [as_loss("zero-one", classes=sets[0].classes)]
    return Live.of(named_estimators(learners), sets, splits, metrics)


def workers() -> Iterator[Row]:
    sets = data_sets(("iris", "10000x20"))
    chosen = {name: learner for name, learner in learners().items() if name in ("tree", "forest")}

    def much_work(**options: Any) -> None:
        X, y = sets["10000x20"]
        bk.compare(chosen, X, y, cv="2x10", progress=False, execution=bk.Execution(**options))

    def little_work(jobs: int) -> None:
        X, y = sets["iris"]
        bk.compare(chosen, X, y, cv="kfold:10", progress=False, n_jobs=jobs)

    two, one, serial = turns(
        lambda: much_work(engine="processes", n_jobs=2),
        lambda: much_work(engine="processes", n_jobs=1),
        lambda: much_work(engine="serial"),
        rounds=3,
        clock=time.perf_counter,
        warm_up=False,
    )
    yield row("two-workers", two, one)
    yield row("two-workers-serial", two, serial)
    small = turns(
        lambda: little_work(-1), lambda: little_work(1), rounds=9, clock=time.perf_counter
    )
    yield row("workers-small-work", *small)


class Sleeper(BaseEstimator, ClassifierMixin):
    """Sleep in `fit`, and predict the first class."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def fit(self, X: Any, y: Any) -> Sleeper:  # noqa: ARG002
        time.sleep(self.seconds)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def slept(seconds: Sequence[float], folds: int, workers: int) -> tuple[float, float]:
    """Return the seconds from the start of the first fit to the last result, and the ideal."""
    from bestofk.data import read_data

    rows = max(40, 2 * folds)
    data = read_data(np.zeros((rows, 1)), np.arange(rows) % 2)
    named = {f"sleeps {number}": Sleeper(each) for number, each in enumerate(seconds)}
    task = task_of([data], named, f"kfold:{folds}")
    cells = list(task.record.cells())
    begin, fits = 0.0, []
    for result in Engine(Execution(engine="processes", n_jobs=workers)).run(task, cells):
        fits.append(result.fit_time)
        begin = begin or time.perf_counter() - result.fit_time
    assert len(fits) == len(cells)
    return time.perf_counter() - begin, max(*fits, sum(fits) / workers)


def sleepers(
    workers: Sequence[int] = (2, 4, 8, 16), *, shapes: Sequence[tuple[int, int]] = SHAPES
) -> Iterator[Row]:
    for count in workers:
        for number, folds in shapes:
            # about 7 seconds of sleep for each worker
            least, most = (0.01, 0.01 + 1e-6) if folds > 10 else (0.05, 0.3)
            step = (most - least) / number
            seconds = [count * (least + step * learner) for learner in range(number)]
            spent, ideal = slept(seconds, folds, count)
            yield f"sleep-{count}-{number}x{folds}", ideal / spent, spent, ideal
            ends = [0.0] * count
            for fit in sorted(seconds * folds, reverse=True):
                heapq.heapreplace(ends, ends[0] + fit)
            known = max(max(seconds), sum(seconds) * folds / count)
            yield f"known-{count}-{number}x{folds}", known / max(ends), max(ends), known


PARTS = {"workers": workers, "sleep": sleepers}


def measure(parts: Sequence[str] = tuple(PARTS)) -> Iterator[Row]:
    with one_thread():
        for part in parts:
            yield from PARTS[part]()
