"""Tails of a sum of differences whose signs are flipped at random, for many pairs at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.stats.null_distributions.sums import (
    NOISE,
    SMALLEST,
    SNAP,
    TIE,
    counted_tails,
    step_grid,
    sum_tails,
)

MAX_COUNTED_DIFFERENCES = 32
"""Differences other than 0 up to which the tails of several pairs are counted together."""
NUMBERS_AT_ONCE = 2**16
_NO_PROBABILITY = 760.0
"""exp(-x) beyond this is no float."""


def scaled_pairs(a: Floats, b: Floats) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Divide `a` and `b` of shape (pairs, n) by a power of 2 per pair; return the exponents too."""
    largest = np.maximum(np.abs(a).max(axis=1), np.abs(b).max(axis=1))
    exponent = np.where(largest > 0, np.frexp(largest)[1] + 1, 0).astype(np.int64)
    return np.ldexp(a, -exponent[:, None]), np.ldexp(b, -exponent[:, None]), exponent


def magnitudes(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return |a - b| with rounding noise set to 0, and the noise of each pair, shape (pairs,)."""
    scale = np.maximum(np.abs(a), np.abs(b))
    sizes = np.abs(a - b)
    sizes[sizes <= SNAP * scale] = 0.0
    noise = NOISE * np.where(sizes > 0, scale, 0.0).max(axis=1)
    return sizes, np.where(noise > 0, noise, NOISE)


def mean_difference(a: Floats, b: Floats) -> Floats:
    """Return the mean of a - b for each pair; 0 if it is only rounding noise."""
    a, b, exponent = scaled_pairs(a, b)
    sizes, noise = magnitudes(a, b)
    total = np.where(a > b, sizes, -sizes).sum(axis=1)
    n = a.shape[1]
    total[np.abs(total) <= TIE * noise * n] = 0.0
    with np.errstate(over="ignore"):  # the difference of the largest floats overflows
        return np.asarray(np.ldexp(total / n, exponent))


def two_sided(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return min(1, 2 min(P(T* <= T), P(T* >= T))) for each pair, with bounds, as `upper_tail`."""
    # the observed sum lies in the smaller tail
    swap = (mean_difference(a, b) < 0)[:, None]
    p, bounds = upper_tail(np.where(swap, b, a), np.where(swap, a, b))
    return np.minimum(2 * p, 1.0), np.minimum(2 * bounds, 1.0)


def upper_tail(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return P(sum of sign-flipped a - b >= observed sum), ties included, for each pair.

    - `a`, `b` (pairs, n): Scores; flipping the sign of a - b exchanges the two.
    - `p` (pairs,): The tail. The lower tail is the upper tail of (b, a).
    - `bounds` (pairs, 2): Bounds of the tail; both are `p` if it was counted exactly.

    Notes
    -----
    Equal losses drop out: each doubles both the number of arrangements and the number in the tail.
    """
    a, b, _ = scaled_pairs(a, b)
    sizes, noise = magnitudes(a, b)
    positive = a > b
    effective = (sizes > 0).sum(axis=1)
    p = np.ones(len(a))
    even = effective + effective % 2
    few = effective <= MAX_COUNTED_DIFFERENCES
    for n in np.unique(even[few & (even > 0)]).tolist():
        rows = np.flatnonzero(few & (even == n))
        chunk = max(NUMBERS_AT_ONCE >> (n // 2 + 1), 1)
        for start in range(0, rows.size, chunk):
            some = rows[start : start + chunk]
            p[some] = _counted(sizes[some], positive[some], noise[some], n)
    # Hoeffding: P(T* >= T) <= exp(-T^2 / (2 sum d^2)), here too small for a float
    total = np.where(positive, sizes, -sizes).sum(axis=1)
    exponent = total * np.abs(total) / (2.0 * np.square(sizes).sum(axis=1) + SMALLEST)
    p[~few & (exponent > _NO_PROBABILITY)] = SMALLEST
    bounds = np.stack([p, p], axis=1)
    for row in np.flatnonzero(~few & (np.abs(exponent) <= _NO_PROBABILITY)):
        grid = step_grid(np.stack([a[row], b[row]]), choices=2, queries=1)
        tails = sum_tails(grid, np.arange(2), np.arange(1))
        p[row], bounds[row] = tails.upper[0], tails.upper_bounds[0]
    return p, bounds


def _counted(sizes: Floats, positive: npt.NDArray[np.bool_], noise: Floats, n: int) -> Floats:
    """Count the tails of the n largest sizes of each pair; the others are 0."""
    order = np.argsort(-sizes, axis=1, kind="stable")[:, :n]
    sizes = np.take_along_axis(sizes, order, axis=1)
    positive = np.take_along_axis(positive, order, axis=1)
    steps = np.rint(sizes / noise[:, None]).astype(np.int64)
    at = np.where(positive, steps, 0).sum(axis=1)
    tables = np.stack([np.zeros_like(steps), steps], axis=1)
    return counted_tails(tables, at, side="upper", slack=TIE * n)
