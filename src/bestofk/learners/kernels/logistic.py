"""Call the kernels of ``logistic_*.c``.

Weights have the shape (q, r): q inputs with the constant 1 last; r = 1 for two classes (the log
odds of the second class), else one column per class.
"""

from __future__ import annotations

import numpy as np

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes
from bestofk.learners.kernels.library import Kernel

_MOMENTS = Kernel("logistic_moments", "*f64 i64 *i64 i64 &f64 &f64")
_STANDARDISE = Kernel("logistic_standardise", "*f64 i64 *i64 i64 *f64 *f64 &f64")
_PROBABILITIES = Kernel("logistic_probabilities", "*f64 i64 i64 &f64")
_CHOOSE = Kernel("logistic_choose", "*f64 i64 i64 f64 &i64")
_MINIMISE = Kernel("logistic_minimise", "*f64 i64 i64 i64 *i64 f64 &f64 *f64 i64 f64 i64 &f64")


def column_moments(design: Floats, rows: Codes) -> tuple[Floats, Floats]:
    """Return mean and standard deviation (with n) of the known cells; a deviation of 0 is 1."""
    p = design.shape[1]
    mean, spread = np.empty(p), np.empty(p)
    _MOMENTS(design, p, rows, len(rows), mean, spread)
    return mean, spread


def standardise(design: Floats, rows: Codes, mean: Floats, spread: Floats) -> Floats:
    """Return (x - mean) / spread with 0 for missing cells, and a last column of ones."""
    p = design.shape[1]
    out = np.empty((len(rows), p + 1))
    _STANDARDISE(design, p, rows, len(rows), mean, spread, out)
    return out


def probabilities(scores: Floats) -> Floats:
    """Return class probabilities (columns) for every row of scores, shape (n, r)."""
    n, r = scores.shape
    out = np.empty((n, max(r, 2)))
    _PROBABILITIES(np.ascontiguousarray(scores), n, r, out)
    return out


def choose(scores: Floats, tie: float) -> Codes:
    """Return the first class whose score is within `tie` of the largest, for every row."""
    n, r = scores.shape
    chosen = np.empty(n, dtype=np.int64)
    _CHOOSE(np.ascontiguousarray(scores), n, r, tie, chosen)
    return chosen


def minimise(
    z: Floats,
    y: Codes,
    strength: float,
    start: Floats,
    matrix: Floats,
    tolerance: float,
    max_steps: int,
) -> tuple[Floats, float, int]:
    """Return weights, gradient norm and number of steps of L-BFGS from the weights `start`.

    It stops when the norm of the gradient is at most `tolerance`. `matrix` is the inverse of an
    approximate Hessian, from which the limited memory starts.
    """
    (n, q), r = z.shape, start.shape[1]
    weights, outcome = np.array(start, dtype=np.float64, order="C"), np.empty(1)
    steps = _MINIMISE(
        z, n, q, r, y, strength, weights, matrix, len(matrix), tolerance, max_steps, outcome
    )  # fmt: skip
    return weights, float(outcome[0]), steps
