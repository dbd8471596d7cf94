"""Tails of a sum of differences whose signs are flipped at random, for many pairs at once.

`upper_tail` and `both_tails` work for any differences. `lattice_of` is faster for differences that
are multiples of one unit: it counts how often each size occurs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.stats.null_distributions.sums import (
    NOISE,
    SMALLEST,
    SNAP,
    TIE,
    Tails,
    Whole,
    common_unit,
    step_grid,
    sum_tails,
)

MAX_COUNTED_DIFFERENCES = 32
"""Differences other than 0 up to which the tails of several pairs are counted together."""
NUMBERS_AT_ONCE = 2**16
MAX_STEPS = 64
"""Largest difference, in units, for which counting the sizes pays off."""
_NO_PROBABILITY = 760.0
"""exp(-x) beyond this is no float."""
_SAMPLE_SIZE = 64
"""Pairs, and differences of each pair, from which the unit is determined."""
_BINOMIAL_SDS = 8.5
"""Drop binomial counts beyond this many standard deviations: less than 1e-16 of the mass."""
_MAX_EXPONENT = 500.0
"""Largest exponent for scaling shares: the product of two does not overflow."""
_NEGLIGIBLE_EXPONENT = 45.0
"""exp(-x) beyond this is negligible in a sum of shares."""


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

    - `a`, `b` (pairs, n): Losses; flipping the sign of a - b exchanges the two.
    - `p` (pairs,): The tail. The lower tail is the upper tail of (b, a).
    - `bounds` (pairs, 2): Bounds of the tail; both are `p` if it was counted exactly.

    Notes
    -----
    Equal losses drop out: each doubles both the number of arrangements and the number in the tail.
    """
    tails = _flipped(a, b, both=False)
    return tails.upper, tails.upper_bounds


def both_tails(a: Floats, b: Floats) -> Tails:
    """Return P(T* <= T) and P(T* >= T) for each pair, with bounds, as `upper_tail`."""
    return _flipped(a, b, both=True)


def _flipped(a: Floats, b: Floats, *, both: bool) -> Tails:
    a, b, _ = scaled_pairs(a, b)
    sizes, noise = magnitudes(a, b)
    effective = (sizes > 0).sum(axis=1)
    lower, upper = np.ones((2, a.shape[0]))
    positive = a > b
    even = np.where(effective > MAX_COUNTED_DIFFERENCES, -1, effective + effective % 2)
    for n in np.unique(even[even > 0]).tolist():
        rows = np.flatnonzero(even == n)
        chunk = max(NUMBERS_AT_ONCE >> (n // 2 + 1), 1)
        for start in range(0, rows.size, chunk):
            some = rows[start : start + chunk]
            upper[some] = _counted(sizes[some], positive[some], noise[some], n)
            if both:
                lower[some] = _counted(sizes[some], ~positive[some], noise[some], n)
    # Hoeffding: P(T* >= T) <= exp(-T^2 / (2 sum d^2)), here too small for a float
    total = np.where(positive, sizes, -sizes).sum(axis=1)
    negligible = total * np.abs(total) / (2.0 * np.square(sizes).sum(axis=1) + SMALLEST)
    upper[(even < 0) & (negligible > _NO_PROBABILITY)] = SMALLEST
    lower[(even < 0) & (negligible < -_NO_PROBABILITY)] = SMALLEST
    lower_bounds, upper_bounds = (np.stack([p, p], axis=1) for p in (lower, upper))
    for row in np.flatnonzero((even < 0) & (np.abs(negligible) <= _NO_PROBABILITY)):
        grid = step_grid(np.stack([a[row], b[row]]), choices=2, queries=1)
        tails = sum_tails(grid, np.arange(2), np.arange(1))
        lower[row], lower_bounds[row] = tails.lower[0], tails.lower_bounds[0]
        upper[row], upper_bounds[row] = tails.upper[0], tails.upper_bounds[0]
    return Tails(lower=lower, upper=upper, lower_bounds=lower_bounds, upper_bounds=upper_bounds)


def _counted(sizes: Floats, positive: npt.NDArray[np.bool_], noise: Floats, n: int) -> Floats:
    """Count the tail of the sum of the sizes with positive sign, all pairs together.

    Split the sizes into two halves. A pair of half sums (f, s) lies in the tail if
    s >= threshold - f. Sort thresholds and sums together; the lowest bit tells them apart and
    puts a threshold before an equal sum.
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
    # the position of a sum minus its rank among the sums is the number of thresholds before it
    position_sums = np.einsum("ij,j->i", both, np.arange(2 * m))
    return np.asarray((position_sums - m * (m - 1) / 2) / float(m * m))


def _subset_sums(steps: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    sums = np.zeros((steps.shape[0], 1), dtype=np.int64)
    for column in steps.T:
        sums = np.concatenate([sums, sums + column[:, None]], axis=1)
    return sums


# Differences that are multiples of one unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Differences of many pairs as counts of whole steps.

    - `unit`: The size of a step.
    - `counts` (pairs, 2 m + 1): How many differences of a pair are -m, ..., 0, ..., m steps.
    """

    unit: float
    counts: Whole

    def totals(self) -> Whole:
        """Return the sum of the differences in steps, of shape (pairs,)."""
        m = self.counts.shape[1] // 2
        return np.asarray(self.counts @ np.arange(-m, m + 1))

    def mean(self) -> Floats:
        """Return the mean difference, of shape (pairs,)."""
        return np.asarray(self.totals() * self.unit / self.counts.sum(axis=1))

    def upper_tail(self, *, swapped: bool | npt.NDArray[np.bool_] = False) -> Floats:
        """Return P(T* >= T) over all sign flips; `swapped` negates the differences."""
        m = self.counts.shape[1] // 2
        sizes = self.counts[:, m + 1 :] + self.counts[:, :m][:, ::-1]
        totals = np.where(swapped, -self.totals(), self.totals())
        return flipped_tails(sizes, totals)


def lattice_of(a: Floats, b: Floats) -> Lattice | None:
    """Return the differences of `a` and `b`, of shape (pairs, n), as multiples of one unit.

    Return None if they have no common unit, or if the largest is more than `MAX_STEPS` units.
    """
    d = a - b
    pairs, n = d.shape
    largest = _largest_size(d)
    scale = max(_largest_size(a), _largest_size(b))
    if not 0.0 < largest < np.inf or not n:
        return None
    noise = 2 * NOISE * scale
    sample = np.abs(d[:: max(pairs // _SAMPLE_SIZE, 1), :: max(n // _SAMPLE_SIZE, 1)])
    sample = np.append(sample[sample > noise], largest)
    unit = common_unit(sample, smallest=largest / (2 * MAX_STEPS), noise=noise)
    if unit is None or largest > MAX_STEPS * unit:
        return None
    d /= unit
    steps = np.rint(d)
    d -= steps
    if _largest_size(d) * unit > 4 * noise:
        return None
    m = int(np.rint(largest / unit))
    steps += m + np.arange(pairs)[:, None] * (2 * m + 1)
    counts = np.bincount(steps.astype(np.intp).ravel(), minlength=pairs * (2 * m + 1))
    return Lattice(unit=unit, counts=counts.reshape(pairs, 2 * m + 1))


def _largest_size(values: Floats) -> float:
    """Return the largest absolute value without allocating an array of absolute values."""
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def flipped_tails(numbers: Whole, totals: Whole) -> Floats:
    """Return P(sum of s e_i over sizes s and random signs e_i >= total) for each pair.

    - `numbers` (pairs, m): How many differences have the size 1, ..., m.
    - `totals` (pairs,): The observed sums.

    Notes
    -----
    If B_s of the n_s differences of size s are positive, the sum is at least `total` if and only
    if sum s B_s >= t. The binomial counts are tilted so that t is their mean (the saddlepoint) and
    convolved as far as they have any mass. The tail is the sum of the tilted shares, tilted back.
    All terms are positive and only negligible ones are dropped, so the relative error stays near
    1e-15 times the logarithm of the tail.

    Examples
    --------
    Five of the 2^5 sign flips of 2, 1, 1, 1, 1 have a sum of at least 4:

    >>> (flipped_tails(np.array([[4, 1]]), np.array([4])) * 2**5).round(9)
    array([5.])
    """
    sizes = np.arange(1, numbers.shape[1] + 1)
    reach = numbers @ sizes
    # sums have the parity of `reach`; a total may lie between two of them
    least = -((-(totals + reach)) // 2)
    tilts = _tilts(numbers, least, reach)
    with np.errstate(under="ignore"):
        moments = (numbers * (np.logaddexp(0.0, tilts[:, None] * sizes) - np.log(2.0))).sum(axis=1)
    drawn = [
        (size, *_tilted_binomials(numbers[:, size - 1], tilts * size))
        for size in range(1, numbers.shape[1] + 1)
        if numbers[:, size - 1].any()
    ]
    tails = np.ones(len(numbers))
    for row in np.flatnonzero(totals > -reach).tolist():
        if totals[row] > reach[row]:
            tails[row] = 0.0
            continue
        log = moments[row] - tilts[row] * least[row]
        part = _tilted_tail(drawn, row, float(tilts[row]), int(least[row]))
        tails[row] = max(np.exp(min(log + np.log(part), 0.0)) if part > 0 else 0.0, SMALLEST)
    return tails


def _tilted_tail(
    drawn: list[tuple[int, Whole, list[Floats]]], row: int, tilt: float, least: int
) -> float:
    """Return the sum over x >= least of P(X = x) exp(-tilt (x - least)) for the tilted X."""
    shares = np.ones(1)
    start = 0
    for size, firsts, counts in drawn[:-1]:
        start += size * int(firsts[row])
        shares = _spread_out(shares, counts[row], size)
    largest, firsts, counts = drawn[-1]
    last = counts[row]
    # for each count of the largest size, the other sizes must reach the remainder
    left = least - start - largest * (int(firsts[row]) + np.arange(last.size))
    tails = np.append(_weighted_tails(shares, tilt), 0.0)
    with np.errstate(under="ignore"):
        reached = tails[np.clip(left, 0, shares.size)] * np.exp(tilt * np.minimum(left, 0))
        return float(np.einsum("i,i->", last, reached))


def _weighted_tails(shares: Floats, tilt: float) -> Floats:
    """Return for each t the sum over y >= t of shares[y] exp(-tilt (y - t))."""
    steps = np.arange(shares.size)
    with np.errstate(under="ignore"):
        if tilt * shares.size <= _MAX_EXPONENT:
            weights = np.exp(-tilt * steps)
            return np.asarray(np.cumsum((shares * weights)[::-1])[::-1] / weights)
        weights = np.exp(-tilt * steps[: int(_NEGLIGIBLE_EXPONENT / tilt) + 1])
        return np.convolve(shares[::-1], weights)[: shares.size][::-1]


def _tilts(numbers: Whole, least: Whole, reach: Whole) -> Floats:
    """Solve sum s n_s / (1 + exp(-tilt s)) = least for the tilts; 0 if the mean is above it."""
    sizes = np.arange(1, numbers.shape[1] + 1)
    tilt = np.zeros(len(numbers))
    goal = np.minimum(least, reach - 0.5)
    open_ = 2 * least > reach
    low, high = np.zeros(len(numbers)), np.full(len(numbers), 64.0)
    with np.errstate(all="ignore"):
        for _ in range(60):
            chance = 1.0 / (1.0 + np.exp(-tilt[:, None] * sizes))
            gap = (sizes * numbers * chance).sum(axis=1) - goal
            open_ &= np.abs(gap) > 1e-4 * np.sqrt(np.maximum(reach, 1))
            if not open_.any():
                break
            low, high = np.where(gap < 0, tilt, low), np.where(gap < 0, high, tilt)
            slope = (sizes**2 * numbers * chance * (1.0 - chance)).sum(axis=1)
            step = tilt - gap / slope
            inside = (step > low) & (step < high)
            tilt = np.where(open_, np.where(inside, step, (low + high) / 2), tilt)
    return tilt


def _tilted_binomials(counts: Whole, logits: Floats) -> tuple[Whole, list[Floats]]:
    """Return for each row the first count and the shares of Bin(count, 1 / (1 + exp(-logit)))."""
    chance = 1.0 / (1.0 + np.exp(-logits))
    width = _BINOMIAL_SDS * np.sqrt(counts * chance * (1.0 - chance)) + 16.0
    mode = np.minimum(((counts + 1) * chance).astype(np.int64), counts)
    first = np.maximum((mode - width).astype(np.int64), 0)
    last = np.minimum((mode + width).astype(np.int64), counts)
    odds = np.exp(logits)[:, None]
    up = mode[:, None] + np.arange(int((last - mode).max()))
    down = mode[:, None] - np.arange(int((mode - first).max()))
    with np.errstate(under="ignore"):
        # beyond the last count, and below 0, a factor is 0
        above = np.cumprod(np.maximum(counts[:, None] - up, 0) / (up + 1.0) * odds, axis=1)
        below = np.cumprod(np.maximum(down, 0) / (counts[:, None] - down + 1.0) / odds, axis=1)
    every = np.concatenate([below[:, ::-1], np.ones((len(counts), 1)), above], axis=1)
    start = below.shape[1]
    rows = [
        shares[start + low - at : start + high - at + 1]
        for shares, at, low, high in zip(
            every, mode.tolist(), first.tolist(), last.tolist(), strict=True
        )
    ]
    return first, [shares / shares.sum() for shares in rows]


def _spread_out(shares: Floats, drawn: Floats, step: int) -> Floats:
    """Return the shares of the sum plus `step` times a random count with the shares `drawn`."""
    if step == 1:
        return np.convolve(shares, drawn)
    grown = np.zeros(shares.size + step * (drawn.size - 1))
    for rest in range(min(step, shares.size)):
        part = shares[rest::step]
        grown[rest::step][: part.size + drawn.size - 1] = np.convolve(part, drawn)
    return grown
