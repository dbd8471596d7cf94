"""Sign flips of differences that are multiples of one unit: tails from counts of the sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.stats.null_distributions.sums import NOISE, common_unit

Whole = npt.NDArray[np.int64]

MOST_STEPS = 64
"""The largest difference, in units, for which counting sizes is worth while."""
_LOOKED_AT = 64
"""Differences of each pair by which the unit is found."""
_WIDTH = 8.5
"""Standard deviations beyond which a binomial count is left out: less than 1e-16 of its mass."""
_EXPONENT = 500.0
"""The largest exponent by which shares may be scaled: their product still is a number."""
_NOTHING = 45.0
"""Of e to the minus this nothing is left in a sum of shares."""
SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Differences of many pairs as counts of whole steps.

    Attributes
    ----------
    unit : float
        The size of a step.
    counts : ndarray of int, shape (pairs, 2 m + 1)
        How many differences of a pair are -m, ..., 0, ..., m steps.
    """

    unit: float
    counts: Whole

    def totals(self) -> Whole:
        """(pairs,): the sum of the differences, in steps."""
        m = self.counts.shape[1] // 2
        totals: Whole = self.counts @ np.arange(-m, m + 1)
        return totals

    def mean(self) -> Floats:
        """(pairs,): the mean difference."""
        found: Floats = self.totals() * self.unit / self.counts.sum(axis=1)
        return found

    def upper_tail(self, *, swapped: bool | npt.NDArray[np.bool_] = False) -> Floats:
        """(pairs,): P(T* >= T) over all sign flips; of the negated differences where `swapped`."""
        m = self.counts.shape[1] // 2
        sizes = self.counts[:, m + 1 :] + self.counts[:, :m][:, ::-1]
        totals = np.where(swapped, -self.totals(), self.totals())
        return flipped_tails(sizes, totals)


def on_a_lattice(a: Floats, b: Floats) -> Lattice | None:
    """The differences of `a` and `b`, of shape (pairs, n), where all are multiples of one unit."""
    d = a - b
    pairs, n = d.shape
    largest = _furthest(d)
    scale = max(_furthest(a), _furthest(b))
    if not 0.0 < largest < np.inf or not n:
        return None
    noise = 2 * NOISE * scale
    some = np.abs(d[:: max(pairs // _LOOKED_AT, 1), :: max(n // _LOOKED_AT, 1)])
    some = np.append(some[some > noise], largest)
    unit = common_unit(some, smallest=largest / (2 * MOST_STEPS), noise=noise)
    if unit is None or largest > MOST_STEPS * unit:
        return None
    d /= unit
    steps = np.rint(d)
    d -= steps
    if _furthest(d) * unit > 4 * noise:
        return None
    m = int(np.rint(largest / unit))
    steps += m + np.arange(pairs)[:, None] * (2 * m + 1)
    places = steps.astype(np.intp)
    counts = np.bincount(places.ravel(), minlength=pairs * (2 * m + 1))
    return Lattice(unit=unit, counts=counts.reshape(pairs, 2 * m + 1))


def _furthest(values: Floats) -> float:
    """The largest size, without an array of sizes."""
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def flipped_tails(numbers: Whole, totals: Whole) -> Floats:
    """P(sum of s e_i over sizes and signs >= total) for each pair.

    Parameters
    ----------
    numbers : ndarray of int, shape (pairs, m)
        How many differences have the size 1, ..., m.
    totals : ndarray of int, shape (pairs,)
        The sums.

    Notes
    -----
    With B_s of the n_s differences of size s positive, the sum is at least `total` where
    sum s B_s >= t. The binomial counts are tilted so that t is their mean (by the saddlepoint), and
    convolved as far as they have any mass; the tail is the sum of the tilted shares, tilted back.
    All terms are positive and none that counts is left out, so that the relative error stays near
    1e-15 times the logarithm of the tail.

    Examples
    --------
    Of the 2^5 flips of 2, 1, 1, 1, 1 five have a sum of 4 and more:

    >>> (flipped_tails(np.array([[4, 1]]), np.array([4])) * 2**5).round(9)
    array([5.])
    """
    sizes = np.arange(1, numbers.shape[1] + 1)
    reach = numbers @ sizes
    # sums have the parity of the reach; `total` may lie between two
    least = -((-(totals + reach)) // 2)
    tilts = _tilts(numbers, least, reach)
    with np.errstate(under="ignore"):
        moments = (numbers * (np.logaddexp(0.0, tilts[:, None] * sizes) - np.log(2.0))).sum(axis=1)
    drawn = [
        (size, *_tilted_binomials(numbers[:, size - 1], tilts * size))
        for size in range(1, numbers.shape[1] + 1)
        if numbers[:, size - 1].any()
    ]
    found = np.ones(len(numbers))
    for row in np.flatnonzero(totals > -reach).tolist():
        if totals[row] > reach[row]:
            found[row] = 0.0
            continue
        log = moments[row] - tilts[row] * least[row]
        part = _tilted_tail(drawn, row, float(tilts[row]), int(least[row]))
        found[row] = max(np.exp(min(log + np.log(part), 0.0)) if part > 0 else 0.0, SMALLEST)
    return found


def _tilted_tail(
    drawn: list[tuple[int, Whole, list[Floats]]], row: int, tilt: float, least: int
) -> float:
    """The sum over x >= least of P(X = x) exp(-tilt (x - least)), X = sum s B_s being tilted."""
    shares = np.ones(1)
    start = 0
    for size, firsts, counts in drawn[:-1]:
        start += size * int(firsts[row])
        shares = _spread_out(shares, counts[row], size)
    largest, firsts, counts = drawn[-1]
    last = counts[row]
    # whatever the count of the largest size, the rest must reach what it leaves
    left = least - start - largest * (int(firsts[row]) + np.arange(last.size))
    tails = np.append(_weighted_tails(shares, tilt), 0.0)
    with np.errstate(under="ignore"):
        reached = tails[np.clip(left, 0, shares.size)] * np.exp(tilt * np.minimum(left, 0))
        return float(np.einsum("i,i->", last, reached))


def _weighted_tails(shares: Floats, tilt: float) -> Floats:
    """For every t, the sum over y >= t of shares[y] exp(-tilt (y - t))."""
    steps = np.arange(shares.size)
    with np.errstate(under="ignore"):
        if tilt * shares.size <= _EXPONENT:
            weights = np.exp(-tilt * steps)
            found: Floats = np.cumsum((shares * weights)[::-1])[::-1] / weights
            return found
        weights = np.exp(-tilt * steps[: int(_NOTHING / tilt) + 1])
        return np.convolve(shares[::-1], weights)[: shares.size][::-1]


def _tilts(numbers: Whole, least: Whole, reach: Whole) -> Floats:
    """At which sum s n_s / (1 + exp(-tilt s)) is `least`; 0 where the mean is above it."""
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
    """For each row the first count and the shares of Bin(count, 1 / (1 + exp(-logit)))."""
    chance = 1.0 / (1.0 + np.exp(-logits))
    room = _WIDTH * np.sqrt(counts * chance * (1.0 - chance)) + 16.0
    mode = np.minimum(((counts + 1) * chance).astype(np.int64), counts)
    first = np.maximum((mode - room).astype(np.int64), 0)
    last = np.minimum((mode + room).astype(np.int64), counts)
    odds, places = np.exp(logits)[:, None], mode[:, None]
    up = places + np.arange(int((last - mode).max()))
    down = places - np.arange(int((mode - first).max()))
    with np.errstate(under="ignore"):
        # beyond the last count, and below 0, a factor is 0
        above = np.cumprod(np.maximum(counts[:, None] - up, 0) / (up + 1.0) * odds, axis=1)
        below = np.cumprod(np.maximum(down, 0) / (counts[:, None] - down + 1.0) / odds, axis=1)
    every = np.concatenate([below[:, ::-1], np.ones((len(counts), 1)), above], axis=1)
    start = below.shape[1]
    rows = [
        one[start + low - at : start + high - at + 1]
        for one, at, low, high in zip(
            every, mode.tolist(), first.tolist(), last.tolist(), strict=True
        )
    ]
    return first, [shares / shares.sum() for shares in rows]


def _spread_out(shares: Floats, drawn: Floats, step: int) -> Floats:
    """The shares of a sum with `step` times a count that is drawn."""
    if step == 1:
        return np.convolve(shares, drawn)
    grown = np.zeros(shares.size + step * (drawn.size - 1))
    for rest in range(min(step, shares.size)):
        part = shares[rest::step]
        grown[rest::step][: part.size + drawn.size - 1] = np.convolve(part, drawn)
    return grown
