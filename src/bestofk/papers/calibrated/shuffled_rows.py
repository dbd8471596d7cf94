"""Rows in the order in which Weka's nearest neighbour sees them: shuffled anew in every run.

Weka shuffles the rows in every run, groups them by class and deals them to folds; training rows
then come by fold, inside a fold by class. The first of tied neighbours is another one in every run.
Our `nn` takes the lowest row of the data set, the same in every run, which makes the runs more
alike and rejections more frequent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bestofk.checks import Floats
from bestofk.data.encoded import Codes, Encoded
from bestofk.data.problem import DataProblem
from bestofk.lab.work import Work
from bestofk.plans.making import plan
from bestofk.run.scoring import as_loss


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
    work = Work(
        problem=problem,
        contenders=(),
        plan=plan(f"{runs}x10", random_state=0),
        loss=as_loss("zero-one", classes=classes),
        seed=seed,
    )
    for number in range(sets):
        encoded = work.encoded(number)
        fold_of = work.splits(number, 0, encoded).fold_of
        assert fold_of is not None
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(7, number)))
        yield [_shuffled(encoded, folds.astype(np.int64), rng) for folds in fold_of]


def first_neighbour_losses(problem: DataProblem, *, sets: int, runs: int, seed: int) -> Floats:
    """(sets, runs, folds) error rates of the first of the nearest rows."""
    return np.array(
        [
            [_first_neighbour(run) for run in data_set]
            for data_set in shuffled_runs(problem, sets=sets, runs=runs, seed=seed)
        ]
    )


def _shuffled(encoded: Encoded, folds: Codes, rng: np.random.Generator) -> ShuffledRun:
    shuffled = rng.permutation(encoded.n)
    later_class = encoded.y != encoded.y[shuffled.argmin()]
    order = np.lexsort((shuffled, later_class, folds))
    rows = replace(encoded, values=np.ascontiguousarray(encoded.values[order]), y=encoded.y[order])
    return ShuffledRun(encoded=rows, folds=folds[order])


def _first_neighbour(run: ShuffledRun) -> Floats:
    values, y = run.encoded.values, run.encoded.y
    mismatches = (values[:, np.newaxis] != values).sum(axis=2)
    mismatches[run.folds[:, np.newaxis] == run.folds] = values.shape[1] + 1
    # argmin takes the first of equal ones
    wrong = y[mismatches.argmin(axis=1)] != y
    shares: Floats = np.bincount(run.folds, weights=wrong) / run.sizes()
    return shares
