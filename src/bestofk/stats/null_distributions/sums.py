"""Values on whole steps, where they have any: sums of whole numbers tie when they should."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import comb, lgamma, log
from typing import Literal

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.stats.null_distributions.inversion import Inversion

Whole = npt.NDArray[np.int64]

NOISE = 2.0**-50
"""What a mean of losses may be wrong by, as a share of the largest of them."""
TIE = 4
"""Sums of n terms are ties when they differ by at most so many times n noises."""
SNAP = 2.0**-48
LATTICE_WORK = 2**28
MEET_WORK = 2**18
FINEST_UNIT = 2.0**-17
"""A common unit below this share of the root of the sum of squares makes no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Rows of values in whole steps, block by block.

    Attributes
    ----------
    positions : ndarray, shape (rows, blocks)
        The steps. Only differences inside a block mean anything.
    slack : float
        Sums that differ by at most so many steps are ties.
    count : {"meet", "convolve", "invert"}
        How the distribution of sums is to be had from here.
    exact : bool
        Whether the steps are whole numbers that stand for the values without rounding.
    """

    positions: Whole | Floats
    slack: float = 0
    count: Literal["meet", "convolve", "invert"]
    exact: bool = True


def levelled(values: Floats) -> tuple[Floats, float]:
    """Every block from 0 upwards in a unit of its own, and what counts as rounding noise.

    `values` has shape (rows, blocks). The unit is a power of 2, so nothing is rounded by it, and
    no sum can overflow. Within a block, values that differ from the smallest by no more than the
    rounding of a mean become equal to it.
    """
    values = np.ldexp(values, -_exponent(values))
    scale = np.abs(values).max(axis=0)
    heights = values - values.min(axis=0)
    heights[heights <= SNAP * scale] = 0.0
    alive = heights.max(axis=0) > 0
    noise = NOISE * float(scale[alive].max()) if alive.any() else NOISE
    return heights, noise


def place(values: Floats, *, choices: int, queries: int, tables: int = 1) -> Placement:
    """Steps for `values` of shape (rows, blocks), whole ones wherever the values allow.

    Parameters
    ----------
    values : ndarray of shape (rows, blocks)
        Everything that will be summed or compared with a sum.
    choices : int
        How many values are drawn from in a block.
    queries : int
        How many sums will be asked for.
    tables : int
        How many sets of rows will be drawn from; with many, a fine common unit costs too much.

    Notes
    -----
    In this order: values that share a unit (error rates of test sets whose sizes have a small
    common multiple) become multiples of it and are convolved; few blocks are counted out by
    meeting in the middle, sums within rounding noise being ties; of all else the transform is
    inverted, for multiples of a unit without rounding.
    """
    heights, noise = levelled(values)
    reach = heights.max(axis=0)
    blocks = int((reach > 0).sum())
    if blocks == 0:
        still = np.zeros(heights.shape, dtype=np.int64)
        return Placement(positions=still, count="convolve")
    meet_work = choices ** ((blocks + 1) // 2) * queries
    most = LATTICE_WORK // (choices * blocks * tables)
    unit = common_unit(
        heights[heights > 0],
        smallest=min(
            float(reach.sum()) / max(most, 1), FINEST_UNIT * float(np.sqrt(reach @ reach))
        ),
        noise=noise,
    )
    if unit is not None:
        positions = np.rint(heights / unit).astype(np.int64)
        length = int(positions.max(axis=0).sum())
        lattice_work = choices * blocks * length // 128
        if length <= most and (meet_work > MEET_WORK or lattice_work <= meet_work):
            return Placement(positions=positions, count="convolve")
        if meet_work > MEET_WORK:
            return Placement(positions=positions, count="invert")
    if meet_work <= MEET_WORK:
        positions = np.rint(heights / noise).astype(np.int64)
        return Placement(positions=positions, slack=TIE * blocks, count="meet")
    return Placement(positions=heights, slack=TIE * blocks * noise, count="invert", exact=False)


def common_unit(heights: Floats, *, smallest: float, noise: float) -> float | None:
    """The largest unit of which all positive `heights` are multiples, or None.

    Euclid's algorithm on floating-point numbers: remainders below a quarter of the smallest unit
    that is of use count as 0, and the unit found is accepted only if it fits every height to
    within `noise`, after a least-squares polish.
    """
    heights = np.unique(heights)
    rest = heights
    unit = float(rest[0])
    while unit >= smallest:
        remainders = np.abs(rest - unit * np.rint(rest / unit))
        remainders = np.unique(remainders[remainders > smallest / 4])
        if remainders.size == 0:
            break
        rest = np.append(remainders, unit)
        unit = float(remainders[0])
    if unit < smallest:
        return None
    multiples = np.rint(heights / unit)
    unit = float(heights @ multiples / (multiples @ multiples))
    fits = np.abs(heights - unit * multiples) <= 4 * noise
    return unit if fits.all() else None


def _exponent(values: Floats) -> int:
    largest = float(np.abs(values).max(initial=0.0))
    return int(np.frexp(largest)[1]) + 1 if largest > 0 else 0


# Tails counted out where few arrangements, or few different sums, make them.


MOST_ARRANGEMENTS = 2**20
"""A tail of more arrangements than these is smooth enough for its transform."""
MOST_WORK = 2**23
MOST_SUMS, MOST_TOGETHER = 2**20, 2**36
"""Different sums of one half of the sizes, and of all of them."""


def few_arrangements(costs: Floats, deficit: float) -> float | None:
    """P(Y <= deficit) for Y the sum of one draw from each column, or None where it takes long.

    Parameters
    ----------
    costs : ndarray of shape (choices, blocks)
        Equally likely values, 0 the smallest in each block.
    deficit : float
        With whatever counts as a tie.

    Notes
    -----
    Lists the sums up to `deficit`, block by block, the dearest first: the lists never get
    longer than the last one, which holds the tail.
    """
    choices, blocks = costs.shape
    if blocks * log(choices) > 743.0:
        return None
    paid = np.where(costs > 0, costs, np.inf)
    cheapest = paid.min(axis=0)
    order = np.argsort(-cheapest, kind="stable")
    order = order[cheapest[order] <= deficit]
    # any k of the blocks whose cheapest step is at most a k-th of the deficit are in the tail
    for k in range(1, MOST_ARRANGEMENTS.bit_length()):
        if comb(int((k * cheapest <= deficit).sum()), k) > MOST_ARRANGEMENTS:
            return None
    free = (costs == 0).sum(axis=0) / choices
    sums, shares, work = np.zeros(1), np.ones(1), 0
    for block in order:
        dear = np.sort(paid[:, block])
        within = np.searchsorted(sums, deficit - dear, side="right")
        size = sums.size + int(within.sum())
        work += size
        if size > MOST_ARRANGEMENTS or work > MOST_WORK:
            return None
        options, weights = [sums], [shares * free[block]]
        for cost, number in zip(dear[within > 0], within[within > 0], strict=True):
            options.append(sums[:number] + cost)
            weights.append(shares[:number] / choices)
        sums, shares = np.concatenate(options), np.concatenate(weights)
        ranks = np.argsort(sums, kind="stable")
        sums, shares = sums[ranks], shares[ranks]
    return float(shares.sum() * np.prod(np.delete(free, order)))


def few_sums(sizes: Floats, at: float, slack: float) -> tuple[float, float] | None:
    """P(X <= at) and P(X >= at) for X the sum of each size or 0, with equal chances.

    None where X has too many different values. Sums within `slack` of `at` are ties.

    Notes
    -----
    Of c equal sizes h the sum is h times a binomial number; the sums of one half of the sizes
    are looked up in those of the other.
    """
    values, numbers = np.unique(sizes, return_counts=True)
    counts = numbers.astype(np.int64)
    if np.log2(counts + 1.0).sum() > np.log2(MOST_TOGETHER):
        return None
    halves: list[list[int]] = [[], []]
    lengths = [1.0, 1.0]
    for i in np.argsort(-counts, kind="stable"):
        half = int(lengths[1] < lengths[0])
        halves[half].append(int(i))
        lengths[half] *= counts[i] + 1.0
    if max(lengths) > MOST_SUMS:
        return None
    (x, p), (y, q) = (_weighted_sums(values[half], counts[half]) for half in halves)
    order = np.argsort(y, kind="stable")
    y, q = y[order], q[order]
    below = np.concatenate([[0.0], np.cumsum(q)])
    above = np.concatenate([np.cumsum(q[::-1])[::-1], [0.0]])
    lower = p @ below[np.searchsorted(y, at - x + slack, side="right")]
    upper = p @ above[np.searchsorted(y, at - x - slack, side="left")]
    return float(lower), float(upper)


def _weighted_sums(values: Floats, counts: Whole) -> tuple[Floats, Floats]:
    """All sums of so many of each of the values, and their chances."""
    sums, chances = np.zeros(1), np.ones(1)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        number = np.arange(count + 1.0)
        sums = np.add.outer(sums, value * number).ravel()
        chances = np.multiply.outer(chances, _fair_coins(count)).ravel()
    return sums, chances


def _fair_coins(count: int) -> Floats:
    """Chances of 0 to `count` heads, each to nearly full relative accuracy."""
    if count <= 1000:
        # exact products of small ratios
        ratios = np.arange(count, 0.0, -1.0) / np.arange(1.0, count + 1.0)
        return np.asarray(np.ldexp(np.concatenate([[1.0], np.cumprod(ratios)]), -count))
    k = np.arange(count + 1.0)
    from scipy.special import gammaln

    return np.asarray(
        np.exp(lgamma(count + 1.0) - gammaln(k + 1.0) - gammaln(count - k + 1.0) - count * log(2))
    )


# Both tails of a sum of independent draws, one from each block, every value equally likely.


Rows = npt.NDArray[np.intp]
SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tails:
    """Probabilities that the sum is at most, or at least, what was asked for.

    Attributes
    ----------
    lower, upper : ndarray of shape (queries,)
        P(S* <= s) and P(S* >= s), both with equality.
    lower_bounds, upper_bounds : ndarray of shape (queries, 2)
        Between which the two lie; both ends are the probability itself where it was counted out.
    """

    lower: Floats
    upper: Floats
    lower_bounds: Floats
    upper_bounds: Floats

    def two_sided(self) -> tuple[Floats, Floats]:
        """min(1, 2 min(lower, upper)), and its bounds of shape (queries, 2)."""
        p = np.minimum(2 * np.minimum(self.lower, self.upper), 1.0)
        bounds = np.minimum(2 * np.minimum(self.lower_bounds, self.upper_bounds), 1.0)
        return p, bounds


def sum_tails(placed: Placement, members: Rows, queries: Rows) -> Tails:
    """Tails of the sum of one draw per block from the `members`, at the sums of the `queries`.

    Both are numbers of rows of `placed`. Probabilities are counts over n^blocks where these can
    be counted out, or sums of positive numbers: the relative error stays near 1e-15 times the
    number of blocks, however small the tail. Else the transform of the sum is inverted, with a
    relative error within the bounds. A tail that is not empty is never given as 0.
    """
    table = placed.positions[members]
    floor = table.min(axis=0)
    at = (placed.positions[queries] - floor).sum(axis=1)
    table = table - floor
    moving = table.max(axis=0) > 0
    table = table[:, moving]
    if placed.count == "invert":
        return _inverted(table.astype(np.float64), at.astype(np.float64), placed)
    if placed.count == "meet":
        return _certain(*_meet(table, at, int(placed.slack)))
    sums = _Halves.of(table)
    return _certain(sums.at_most(at), sums.at_least(at))


def _inverted(table: Floats, at: Floats, placed: Placement) -> Tails:
    """Both tails at each sum, the smaller one by itself and the larger as what it leaves."""
    reach = table.max(axis=0)
    middle = float(table.mean(axis=0).sum())
    found = np.empty((2, at.size, 3))
    sides = (_Costs(table, placed), _Costs(reach - table, placed))
    # from the far tail inwards, so that neighbours share a contour
    for i in np.argsort(np.minimum(at, float(reach.sum()) - at), kind="stable"):
        counted = few_sums(reach, at[i], placed.slack) if len(table) == 2 else None
        if counted is not None:
            found[:, i] = np.maximum(np.array(counted), SMALLEST)[:, None]
            continue
        smaller = int(at[i] >= middle)
        deficit = float(reach.sum()) - at[i] if smaller else at[i]
        small = sides[smaller].at_most(deficit)
        # of whole numbers, what is strictly beyond
        beyond = sides[smaller].at_most(deficit - 1.0) if placed.exact else small
        found[smaller, i], found[1 - smaller, i] = small, 1.0 - beyond[[0, 2, 1]]
    lower, upper = found
    return Tails(
        lower=lower[:, 0], upper=upper[:, 0], lower_bounds=lower[:, 1:], upper_bounds=upper[:, 1:]
    )


class _Costs:
    """Tails of the sum of one cost from each column, all in steps of a placement."""

    def __init__(self, costs: Floats, placed: Placement) -> None:
        self.costs, self.placed = costs, placed
        dear, counts = costs, np.ones(costs.shape[1])
        if len(costs) == 2:
            # equal columns together
            sizes, numbers = np.unique(costs.max(axis=0), return_counts=True)
            dear, counts = np.stack([np.zeros_like(sizes), sizes]), numbers.astype(np.float64)
        self.transform = Inversion(costs=dear, counts=counts, unit=float(placed.exact))
        self.uncounted = np.inf

    def at_most(self, deficit: float) -> Floats:
        """P(Y <= deficit) and its bounds."""
        slack = self.placed.slack
        if deficit < -slack:
            return np.zeros(3)
        if deficit < self.uncounted:
            counted = few_arrangements(self.costs, deficit + slack)
            if counted is not None:
                return np.full(3, max(counted, SMALLEST))
            self.uncounted = deficit
        p = self.transform.at_most(deficit)
        return np.clip([p.value, p.low, p.high], SMALLEST, 1.0)


def _certain(lower: Floats, upper: Floats) -> Tails:
    return Tails(
        lower=lower,
        upper=upper,
        lower_bounds=np.stack([lower, lower], axis=1),
        upper_bounds=np.stack([upper, upper], axis=1),
    )


def _meet(table: Whole, at: Whole, slack: int) -> tuple[Floats, Floats]:
    """Counts over all arrangements: sums of one half of the blocks looked up in the other's."""
    choices, blocks = table.shape
    first, second = _all_sums(table[:, : blocks // 2]), _all_sums(table[:, blocks // 2 :])
    everything = choices**blocks
    lower, upper = np.empty(at.shape), np.empty(at.shape)
    for i, s in enumerate(at):
        lower[i] = (everything - _pairs_from(first, second, s + slack + 1)) / everything
        upper[i] = _pairs_from(first, second, s - slack) / everything
    return lower, upper


def _pairs_from(first: Whole, second: Whole, least: int) -> int:
    """How many pairs, one of each sorted array, have a sum of at least `least`.

    Thresholds and sums are merged (a stable sort of two runs is a merge), the lowest bit telling
    them apart: the place of a sum less its rank among the sums counts the thresholds it reaches.
    """
    both = np.concatenate([least - first[::-1], second]) << 1
    both[first.size :] |= 1
    both.sort(kind="stable")
    places = np.flatnonzero(both & 1)
    return int(places.sum()) - second.size * (second.size - 1) // 2


def _all_sums(table: Whole) -> Whole:
    sums = np.zeros(1, dtype=np.int64)
    for values in table.T:
        sums = np.add.outer(sums, values).ravel()
    sums.sort()
    return sums


@dataclass(frozen=True, slots=True, kw_only=True)
class _Halves:
    """The distribution of a sum as those of its two halves, which is all that a tail needs.

    Attributes
    ----------
    first, below, above : ndarray
        Ways to reach each step with the first half of the blocks, and ways to reach at most and
        at least that step.
    second_below, second_above : ndarray
        The same for the second half, last step first.
    everything : float
        All ways, of both halves together.
    """

    first: Floats
    below: Floats
    above: Floats
    second_below: Floats
    second_above: Floats
    everything: float

    @classmethod
    def of(cls, table: Whole) -> _Halves:
        choices, blocks = table.shape
        # counts are whole and exact up to 2^53; only where they could overflow are they shares
        shares = blocks * np.log2(choices) > 1000
        order = np.argsort(table.max(axis=0, initial=0), kind="stable")
        first, second = (_ways(table[:, order[half::2]], shares=shares) for half in (0, 1))
        return cls(
            first=first,
            below=np.cumsum(first),
            above=np.cumsum(first[::-1])[::-1],
            second_below=np.cumsum(second)[::-1],
            second_above=np.cumsum(second[::-1]),
            everything=1.0 if shares else float(choices) ** blocks,
        )

    def at_most(self, at: Whole) -> Floats:
        """P(S* <= t) for each t."""
        m, n = self.first.size, self.second_below.size
        ways = np.zeros(at.size)
        for i, t in enumerate(at.tolist()):
            # with up to `sure` steps in the first half any second half will do
            sure, last = min(t - n + 1, m - 1), min(t, m - 1)
            if sure >= 0:
                ways[i] = self.below[sure] * self.second_below[0]
            start = max(sure + 1, 0)
            if start <= last:
                # the second half may have up to t - start, ..., t - last steps
                offset = n - 1 - (t - start)
                ways[i] += _dot(self.first, start, self.second_below, offset, last + 1 - start)
        return self._probability(ways, at >= 0)

    def at_least(self, at: Whole) -> Floats:
        """P(S* >= t) for each t."""
        m, n = self.first.size, self.second_above.size
        ways = np.zeros(at.size)
        for i, t in enumerate(at.tolist()):
            # from `sure` steps in the first half on any second half will do
            start, sure = max(t - n + 1, 0), max(t, 0)
            if sure < m:
                ways[i] = self.above[sure] * self.second_above[-1]
            stop = min(sure, m)
            if start < stop:
                offset = n - 1 - (t - start)
                ways[i] += _dot(self.first, start, self.second_above, offset, stop - start)
        return self._probability(ways, at <= m + n - 2)

    def _probability(self, ways: Floats, possible: npt.NDArray[np.bool_]) -> Floats:
        p = np.clip(ways / self.everything, SMALLEST, 1.0)
        return np.where(possible, p, 0.0)


def _dot(x: Floats, i: int, y: Floats, j: int, count: int) -> float:
    # not by a threaded library: waiting for threads takes longer than the sum
    return float(np.einsum("i,i->", x[i : i + count], y[j : j + count]))


def _ways(table: Whole, *, shares: bool) -> Floats:
    """In how many ways each sum comes about, by adding shifted copies, block by block."""
    choices = table.shape[0]
    if choices == 2 and shares:
        return _ways_of_two(table.max(axis=0, initial=0))
    reach = table.max(axis=0, initial=0).tolist()
    size = sum(reach) + 1
    ways, grown = np.zeros(size), np.zeros(size)
    ways[0] = 1.0
    filled = 1
    for column, longest in zip(table.T.tolist(), reach, strict=True):
        wider = filled + longest
        if choices == 2 and not shares:
            ways[longest:wider] += ways[:filled]
            filled = wider
            continue
        repeats = Counter(column)
        np.multiply(ways[:filled], repeats.pop(0), out=grown[:filled])
        grown[filled:wider] = 0.0
        for shift, repeat in repeats.items():
            copy = ways[:filled] if repeat == 1 else ways[:filled] * repeat
            grown[shift : shift + filled] += copy
        if shares:
            grown[:wider] /= choices
        ways, grown, filled = grown, ways, wider
    return ways


def _ways_of_two(steps: Whole) -> Floats:
    """The shares of each sum where every block adds its steps or none: equal blocks together.

    Blocks of the same number of steps add a binomial number of times that; terms are positive, so
    that no digit is lost in a tail. Where equal blocks are few, they are added one by one.
    """
    ways = np.ones(1)
    for longest, count in zip(*np.unique(steps[steps > 0], return_counts=True), strict=True):
        step, times = int(longest), int(count)
        grown = np.zeros(ways.size + step * times)
        if step <= times:
            drawn = _binomial_shares(times)
            for rest in range(min(step, ways.size)):
                part = ways[rest::step]
                grown[rest::step][: part.size + times] = np.convolve(part, drawn)
        else:
            grown[: ways.size] = ways
            filled = ways.size
            for _ in range(times):
                grown[: filled + step] *= 0.5
                grown[step : filled + step] += grown[:filled].copy()
                filled += step
        ways = grown
    return ways


def _binomial_shares(n: int) -> Floats:
    """P(k of n fair coins) for k = 0..n, from the middle outwards.

    Examples
    --------
    >>> _binomial_shares(3).tolist()
    [0.125, 0.375, 0.375, 0.125]
    """
    middle = n // 2
    k = np.arange(middle, n, dtype=np.float64)
    with np.errstate(under="ignore"):
        upper = np.concatenate([[1.0], np.cumprod((n - k) / (k + 1.0))])
    shares = np.concatenate([upper[::-1][:middle], upper])
    found: Floats = shares / shares.sum()
    return found
