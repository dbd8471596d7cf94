"""The paper's nearest neighbour: among tied rows the first, in an order that every run shuffles."""

from __future__ import annotations

import numpy as np

from bestofk.checks import Floats
from bestofk.data.problem import DataProblem
from bestofk.lab.work import Work
from bestofk.plans.making import plan
from bestofk.run.scoring import as_loss


def first_neighbour_losses(problem: DataProblem, *, sets: int, runs: int, seed: int) -> Floats:
    """(sets, runs, folds) error rates on the data sets and folds that `simulate` has with a seed.

    Weka shuffles the rows in every run, groups them by class and deals them to folds; its IB1 took
    the first of tied neighbours in the order that comes of this: by fold, then by class. (Our
    `nn` takes the lowest row, the same in every run, which makes the runs more alike.)
    """
    classes = problem.encoded(np.random.default_rng(0)).classes
    work = Work(
        problem=problem,
        contenders=(),
        plan=plan(f"{runs}x10", random_state=0),
        loss=as_loss("zero-one", classes=classes),
        seed=seed,
    )
    losses = []
    for number in range(sets):
        encoded = work.encoded(number)
        splits = work.splits(number, 0, encoded)
        assert splits.fold_of is not None
        mismatches = (encoded.values[:, np.newaxis] != encoded.values).sum(axis=2)
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(7, number)))
        losses.append([_fold_errors(mismatches, encoded.y, folds, rng) for folds in splits.fold_of])
    return np.array(losses)


def _fold_errors(
    mismatches: np.ndarray[tuple[int, int], np.dtype[np.int64]],
    y: np.ndarray[tuple[int], np.dtype[np.int64]],
    folds: np.ndarray[tuple[int], np.dtype[np.int64]],
    rng: np.random.Generator,
) -> Floats:
    """Error rate of every fold of one run."""
    n = len(y)
    shuffled = rng.permutation(n)
    later_class = y != y[shuffled.argmin()]
    order = np.lexsort((shuffled, later_class, folds))
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    away = mismatches * n + rank
    away[folds[:, np.newaxis] == folds] = np.iinfo(np.int64).max
    wrong = y[away.argmin(axis=1)] != y
    shares: Floats = np.bincount(folds, weights=wrong) / np.bincount(folds)
    return shares
