"""The logistic model on standardised inputs, by the kernels of ``logistic_*.c``.

Weights have the shape (q, r): q inputs with the constant 1 last; r = 1 for two classes (the log
odds of the second), else one column per class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes
from bestofk.learners.kernels.library import Kernel

if TYPE_CHECKING:
    from bestofk.learners.predict import SplitRows

_EXP = Kernel("logistic_exp", "*f64 i64 &f64")
_MOMENTS = Kernel("logistic_moments", "*f64 i64 *i64 i64 &f64 &f64")
_STANDARDISE = Kernel("logistic_standardise", "*f64 i64 *i64 i64 *f64 *f64 &f64")
_PROBABILITIES = Kernel("logistic_probabilities", "*f64 i64 i64 &f64")
_CHOOSE = Kernel("logistic_choose", "*f64 i64 i64 f64 *f64 &i64")
_MINIMISE = Kernel(
    "logistic_minimise",
    "*f64 i64 i64 i64 *i64 f64 &f64 *f64 i64 f64 i64 *f64 i64 f64 &i64 &f64",
)
_SPLITS = Kernel(
    "logistic_splits",
    "*f64 i64 i64 *i64 f64 *f64 *f64 *f64 *f64 i64 f64 i64 f64 *i64 *i64 *i64 *i64 i64 &i64 &bool",
)


def exp_of_negative(x: Floats) -> Floats:
    """exp(x) of numbers up to 0, to within two units of the last place."""
    out = np.empty_like(x)
    _EXP(x, len(x), out)
    return out


def column_moments(design: Floats, rows: Codes) -> tuple[Floats, Floats]:
    """Mean and standard deviation (with n) of the known cells; 0 and 1 where there is no spread."""
    p = design.shape[1]
    mean, spread = np.empty(p), np.empty(p)
    _MOMENTS(design, p, rows, len(rows), mean, spread)
    return mean, spread


def standardise(design: Floats, rows: Codes, mean: Floats, spread: Floats) -> Floats:
    """(x - mean) / spread with 0 for missing cells, and a last column of ones."""
    p = design.shape[1]
    out = np.empty((len(rows), p + 1))
    _STANDARDISE(design, p, rows, len(rows), mean, spread, out)
    return out


def probabilities(scores: Floats) -> Floats:
    """The probabilities of the classes (columns) for every row of scores, shape (n, r)."""
    n, r = scores.shape
    out = np.empty((n, max(r, 2)))
    _PROBABILITIES(np.ascontiguousarray(scores), n, r, out)
    return out


def choose(scores: Floats, tie: float) -> Codes:
    """The first class whose score is within `tie` of the largest, for every row of scores."""
    n, r = scores.shape
    chosen = np.empty(n, dtype=np.int64)
    _CHOOSE(np.ascontiguousarray(scores), n, r, tie, np.ones(n), chosen)
    return chosen


def minimise(
    z: Floats,
    y: Codes,
    strength: float,
    start: Floats,
    matrix: Floats,
    tolerance: float,
    most_steps: int,
    probe: Floats,
    tie: float,
    chosen: Codes,
) -> tuple[Floats, float, int, bool]:
    """The weights at which the gradient's norm is at most `tolerance`, by L-BFGS.

    `matrix` is the inverse of an approximate Hessian, from which the limited memory starts. With
    rows in `probe`, it stops as soon as the predictions for them, written to `chosen`, can no
    longer differ from those at the minimum. Returns the weights, the norm, the number of steps,
    and whether the predictions are certain.
    """
    (n, q), r = z.shape, start.shape[1]
    weights, outcome = np.array(start, dtype=np.float64, order="C"), np.empty(2)
    steps = _MINIMISE(
        z, n, q, r, y, strength, weights, matrix, len(matrix), tolerance, most_steps, probe,
        len(probe), tie, chosen, outcome,
    )  # fmt: skip
    return weights, float(outcome[0]), steps, bool(outcome[1])


def predict_splits(
    design: Floats,
    y: Codes,
    strength: float,
    everything: tuple[Floats, Floats, Floats],
    matrix: Floats,
    tolerance: float,
    most_steps: int,
    tie: float,
    rows: SplitRows,
) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """The classes of the tested rows of several splits, and for which splits they are certain.

    `everything` is mean, spread and weights of the solution for all rows, from which each starts.
    """
    mean, spread, weights = everything
    chosen = np.empty(len(rows.tests), dtype=np.int64)
    certain = np.empty(len(rows), dtype=np.bool_)
    _SPLITS(
        design, design.shape[1], weights.shape[1], y, strength, mean, spread,
        np.ascontiguousarray(weights), matrix, len(matrix), tolerance, most_steps, tie,
        rows.trains, rows.train_ends, rows.tests, rows.test_ends, len(rows), chosen, certain,
    )  # fmt: skip
    return chosen, certain
