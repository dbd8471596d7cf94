"""The synthetic experiments of section 4.1: errors of five algorithms on 32 data sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats

ALGORITHMS, DATASETS, FOLDS, REPETITIONS = 5, 32, 5, 30
DETERMINISTIC = (2, 3)
"""A3 and A4: one result a fold, whatever the repetition."""
STEPS = tuple(round(0.005 * k, 3) for k in range(21))
"""The values of dp; in print the last one reads 1."""
BEST, FIRST_MEAN = 0.20, 0.30
TRAPPED, TRAPPED_ERROR = 0.1, 0.75
SMALLEST, LARGEST = 10, 20
"""Sizes of test sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WonErrors:
    """32 data sets: on each one algorithm that is best, and a size of test sets.

    Attributes
    ----------
    winners, sizes : ndarray of int, shape (32,)
        Which algorithm has the error 0.20; how many objects a test set holds.
    errors : ndarray of shape (5, 32)
        Theoretical error of each algorithm on each data set.
    """

    winners: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    errors: Floats


def problem_of(
    dp: float, winners: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
) -> WonErrors:
    """The problem in which these algorithms win and the mean error of A_i is 0.30 + (i - 1) dp.

    Where A_i, with w_i wins, does not win, its error is (32 m_i - 0.2 w_i) / (32 - w_i).

    Examples
    --------
    >>> problem = problem_of(0.03, np.arange(32) % 5, np.full(32, 15))
    >>> problem.errors.mean(axis=1).round(12).tolist()
    [0.3, 0.33, 0.36, 0.39, 0.42]
    """
    wins = np.bincount(winners, minlength=ALGORITHMS)
    means = FIRST_MEAN + dp * np.arange(ALGORITHMS)
    others = (DATASETS * means - BEST * wins) / (DATASETS - wins)
    won = winners[np.newaxis] == np.arange(ALGORITHMS)[:, np.newaxis]
    return WonErrors(
        winners=winners, sizes=sizes, errors=np.where(won, BEST, others[:, np.newaxis])
    )


def draw_problem(dp: float, rng: np.random.Generator) -> WonErrors:
    """Winners uniform over the algorithms, sizes over 10 to 20, independent from set to set.

    An algorithm that wins too often cannot have its mean (A5 at dp = 0.1 with more than 12 wins
    would need errors above 1 elsewhere): such winners are drawn again.
    """
    while True:
        winners = rng.integers(0, ALGORITHMS, size=DATASETS)
        problem = problem_of(dp, winners, rng.integers(SMALLEST, LARGEST + 1, size=DATASETS))
        if (problem.errors < 1).all() and (problem.errors > 0).all():
            return problem


def simulate(
    problem: WonErrors, simulations: int, rng: np.random.Generator, *, outliers: bool = False
) -> Floats:
    """Errors of shape (simulations, 5, 32, 5 folds, 30 repetitions), by equations (33) to (37).

    With `outliers` each repetition of a stochastic algorithm is trapped in a local minimum with
    probability 0.1, and has the error 0.75 there.
    """
    sizes = problem.sizes[:, np.newaxis, np.newaxis]
    shape = (simulations, DATASETS, FOLDS, REPETITIONS)
    losses = np.empty((simulations, ALGORITHMS, *shape[1:]))
    for a, errors in enumerate(problem.errors):
        p = errors[:, np.newaxis, np.newaxis]
        if a in DETERMINISTIC:
            losses[:, a] = rng.binomial(sizes, p, size=(*shape[:3], 1)) / sizes
            continue
        losses[:, a] = rng.binomial(sizes, p, size=shape) / sizes
        if outliers:
            losses[:, a][rng.random(shape) < TRAPPED] = TRAPPED_ERROR
    return losses


def simulate_means(
    problem: WonErrors,
    simulations: int,
    rng: np.random.Generator,
    *,
    repetitions: int = REPETITIONS,
) -> Floats:
    """Mean of `simulate` over folds and repetitions, shape (simulations, 5, 32), at once.

    Without outliers the errors of a data set add up to one binomial number. With one repetition
    no algorithm gains from having repetitions of its own.
    """
    rounds = np.full((ALGORITHMS, 1), repetitions)
    rounds[list(DETERMINISTIC)] = 1
    objects = problem.sizes * FOLDS * rounds
    drawn = rng.binomial(objects, problem.errors, size=(simulations, *problem.errors.shape))
    return np.asarray(drawn / objects)


def simulate_null(simulations: int, rng: np.random.Generator) -> Floats:
    """Means of five algorithms that are truly alike, shape (simulations, 5, 32).

    Exchangeable: all five stochastic, the winner of every data set drawn anew in every
    simulation, and no mean held fixed, so that any order of the algorithms is as likely.
    """
    winners = rng.integers(0, ALGORITHMS, size=(simulations, 1, DATASETS))
    sizes = rng.integers(SMALLEST, LARGEST + 1, size=(simulations, 1, DATASETS))
    other = (FIRST_MEAN * ALGORITHMS - BEST) / (ALGORITHMS - 1)
    errors = np.where(winners == np.arange(ALGORITHMS)[:, np.newaxis], BEST, other)
    objects = sizes * FOLDS * REPETITIONS
    return np.asarray(rng.binomial(objects, errors) / objects)
