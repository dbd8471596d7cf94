"""Tails of a sum of differences whose signs are flipped at random, for many pairs at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.stats.null_distributions.sums import NOISE, SNAP, TIE, Tails, place, sum_tails

COUNTED_TOGETHER = 32
AT_ONCE = 2**16


def scaled_pairs(a: Floats, b: Floats) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """`a` and `b` of shape (pairs, n) over a power of 2 by pair, and the exponents."""
    largest = np.maximum(np.abs(a).max(axis=1), np.abs(b).max(axis=1))
    exponent = np.where(largest > 0, np.frexp(largest)[1] + 1, 0).astype(np.int64)
    return np.ldexp(a, -exponent[:, None]), np.ldexp(b, -exponent[:, None]), exponent


def magnitudes(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """|a - b| with rounding noise set to 0, and the noise of each pair, shape (pairs,)."""
    scale = np.maximum(np.abs(a), np.abs(b))
    sizes = np.abs(a - b)
    sizes[sizes <= SNAP * scale] = 0.0
    noise = NOISE * np.where(sizes > 0, scale, 0.0).max(axis=1)
    return sizes, np.where(noise > 0, noise, NOISE)


def mean_difference(a: Floats, b: Floats) -> Floats:
    """Mean of a - b for each pair; 0 where it is only rounding noise."""
    a, b, exponent = scaled_pairs(a, b)
    sizes, noise = magnitudes(a, b)
    total = np.where(a > b, sizes, -sizes).sum(axis=1)
    n = a.shape[1]
    total[np.abs(total) <= TIE * noise * n] = 0.0
    with np.errstate(over="ignore"):  # a difference of the largest floats is beyond them
        return np.asarray(np.ldexp(total / n, exponent))


def two_sided(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """min(1, 2 min(P(T* <= T), P(T* >= T))) for each pair, and its bounds, as `upper_tail`."""
    # the tail that the observed sum lies in is the smaller one
    swap = (mean_difference(a, b) < 0)[:, None]
    p, bounds = upper_tail(np.where(swap, b, a), np.where(swap, a, b))
    return np.minimum(2 * p, 1.0), np.minimum(2 * bounds, 1.0)


def upper_tail(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """P(sum of sign-flipped a - b >= observed sum), ties included, for each pair.

    Parameters
    ----------
    a, b : ndarray of shape (pairs, n)
        Losses; a flip of the sign of a - b exchanges the two.

    Returns
    -------
    p : ndarray of shape (pairs,)
        The tail. The lower tail is the upper tail of (b, a).
    bounds : ndarray of shape (pairs, 2)
        Its bounds where it could not be counted out, else `p` twice.

    Notes
    -----
    Equal losses drop out: they double the count of arrangements and of those in the tail alike.
    """
    tails = _flipped(a, b, both=False)
    return tails.upper, tails.upper_bounds


def both_tails(a: Floats, b: Floats) -> Tails:
    """P(T* <= T) and P(T* >= T) for each pair, with bounds, as `upper_tail`."""
    return _flipped(a, b, both=True)


def _flipped(a: Floats, b: Floats, *, both: bool) -> Tails:
    a, b, _ = scaled_pairs(a, b)
    sizes, noise = magnitudes(a, b)
    effective = (sizes > 0).sum(axis=1)
    lower, upper = np.ones((2, a.shape[0]))
    positive = a > b
    even = np.where(effective > COUNTED_TOGETHER, -1, effective + effective % 2)
    for n in np.unique(even[even > 0]).tolist():
        rows = np.flatnonzero(even == n)
        chunk = max(AT_ONCE >> (n // 2 + 1), 1)
        for start in range(0, rows.size, chunk):
            some = rows[start : start + chunk]
            upper[some] = _counted(sizes[some], positive[some], noise[some], n)
            if both:
                lower[some] = _counted(sizes[some], ~positive[some], noise[some], n)
    lower_bounds, upper_bounds = (np.stack([p, p], axis=1) for p in (lower, upper))
    for row in np.flatnonzero(even < 0):
        placed = place(np.stack([a[row], b[row]]), choices=2, queries=1)
        tails = sum_tails(placed, np.arange(2), np.arange(1))
        lower[row], lower_bounds[row] = tails.lower[0], tails.lower_bounds[0]
        upper[row], upper_bounds[row] = tails.upper[0], tails.upper_bounds[0]
    return Tails(lower=lower, upper=upper, lower_bounds=lower_bounds, upper_bounds=upper_bounds)


def _counted(sizes: Floats, positive: npt.NDArray[np.bool_], noise: Floats, n: int) -> Floats:
    """The tail of the sum of the flipped-in sizes, by meeting in the middle, all pairs together.

    A pair of half sums (f, s) lies in the tail when s >= threshold - f. Both kinds are sorted
    together, the lowest bit telling them apart, so that a threshold stands before an equal sum.
    """
    if sizes.shape[1] > n:
        order = np.argsort(-sizes, axis=1, kind="stable")[:, :n]
        sizes = np.take_along_axis(sizes, order, axis=1)
        positive = np.take_along_axis(positive, order, axis=1)
    steps = np.rint(sizes / noise[:, None]).astype(np.int64)
    if steps.shape[1] < n:
        steps = np.pad(steps, ((0, 0), (0, 1)))
        positive = np.pad(positive, ((0, 0), (0, 1)))
    observed = np.where(positive, steps, 0).sum(axis=1)
    first, second = _subset_sums(steps[:, : n // 2]), _subset_sums(steps[:, n // 2 :])
    thresholds = (observed - TIE * n)[:, None] - first
    both = np.concatenate([thresholds, second], axis=1)
    both <<= 1
    m = second.shape[1]
    both[:, m:] |= 1
    both.sort(axis=1)
    both &= 1
    # of every sum: its place less its rank among the sums is the number of thresholds before it
    places = np.einsum("ij,j->i", both, np.arange(2 * m))
    return np.asarray((places - m * (m - 1) / 2) / float(m * m))


def _subset_sums(steps: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    sums = np.zeros((steps.shape[0], 1), dtype=np.int64)
    for column in steps.T:
        sums = np.concatenate([sums, sums + column[:, None]], axis=1)
    return sums
