"""Rows in the order in which Weka's learners get them: shuffled anew in every run.

Weka shuffles the rows in every run, groups them by class and deals them to folds; training rows
then come by fold, inside a fold by class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bestofk.data.encoded import Codes, Encoded
from bestofk.lab.simulation_task import SimulationTask
from bestofk.plans.plan import plan
from bestofk.problems.generator import DataProblem
from bestofk.run.metrics.loss_functions import as_loss


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShuffledRun:
    """One run on one data set: its rows in a new order, and the fold that tests each."""

    encoded: Encoded
    folds: Codes

    def sizes(self) -> Codes:
        """Test rows of every fold."""
        return np.bincount(self.folds)


def shuffled_runs(
    problem: DataProblem, *, sets: int, runs: int, seed: int
) -> Iterator[list[ShuffledRun]]:
    """The runs of every data set that `simulate` has with this seed, on the same folds."""
    classes = problem.encoded(np.random.default_rng(0)).classes
    task = SimulationTask(
        problem=problem,
        contenders=(),
        plan=plan(f"{runs}x10", random_state=0),
        loss=as_loss("zero-one", classes=classes),
        seed=seed,
    )
    for number in range(sets):
        encoded = task.encoded(number)
        fold_of = task.splits(number, 0, encoded).fold_of
        assert fold_of is not None
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(7, number)))
        yield [_shuffled(encoded, folds.astype(np.int64), rng) for folds in fold_of]


def _shuffled(encoded: Encoded, folds: Codes, rng: np.random.Generator) -> ShuffledRun:
    shuffled = rng.permutation(encoded.n)
    later_class = encoded.y != encoded.y[shuffled.argmin()]
    order = np.lexsort((shuffled, later_class, folds))
    rows = replace(encoded, values=np.ascontiguousarray(encoded.values[order]), y=encoded.y[order])
    return ShuffledRun(encoded=rows, folds=folds[order])
