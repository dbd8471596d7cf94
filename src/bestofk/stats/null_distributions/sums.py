"""Both tails of a sum of independent draws, one from each block, every value equally likely.

`step_grid` puts the values on whole steps if they have a common unit, so that equal sums tie, and
chooses the method. `sum_tails` computes the tails: by enumeration, by convolution, or by inverting
the transform of the sum.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import comb, lgamma, log
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.stats.null_distributions.inversion import Inversion

Whole = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]

NOISE = 2.0**-50
"""Rounding error of a mean of losses, relative to the largest loss."""
TIE = 4
"""Sums of n terms are ties if they differ by at most TIE * n times the noise."""
SNAP = 2.0**-48
"""Values of a block that differ by less than this, relative to the largest, are equal."""
SMALLEST = float(np.finfo(np.float64).tiny)
"""Smallest probability of a tail that is not empty."""
MAX_LATTICE_WORK = 2**28
MAX_MEETING_WORK = 2**18
FINEST_UNIT = 2.0**-17
"""A common unit below this share of the root of the sum of squares makes no difference."""
MAX_ARRANGEMENTS = 2**20
"""Do not enumerate tails of more arrangements; they are smooth enough for their transform."""
MAX_WORK = 2**23
MAX_HALF_SUMS, MAX_SUMS = 2**20, 2**36
"""Most distinct sums of one half of the sizes, and of all sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepGrid:
    """Rows of values in steps, block by block.

    - `positions` (rows, blocks): The steps. Only differences within a block are meaningful.
    - `slack`: Sums that differ by at most this many steps are ties.
    - `method` {"meet", "convolve", "invert"}: How to compute the distribution of sums.
    - `exact`: Whether the steps are whole numbers that represent the values without rounding.
    """

    positions: Whole | Floats
    slack: float = 0
    method: Literal["meet", "convolve", "invert"]
    exact: bool = True


def levelled(values: Floats) -> tuple[Floats, float]:
    """Shift each block to start at 0, rescale, and return the values and the rounding noise.

    `values` has shape (rows, blocks). The scale is a power of 2, so that it rounds nothing and no
    sum can overflow. Within a block, values that differ from the smallest by no more than the
    rounding of a mean become equal to it.
    """
    values = np.ldexp(values, -_exponent(values))
    scale = np.abs(values).max(axis=0)
    heights = values - values.min(axis=0)
    heights[heights <= SNAP * scale] = 0.0
    alive = heights.max(axis=0) > 0
    noise = NOISE * float(scale[alive].max()) if alive.any() else NOISE
    return heights, noise


def step_grid(values: Floats, *, choices: int, queries: int, tables: int = 1) -> StepGrid:
    """Express `values` of shape (rows, blocks) in steps, in whole ones if the values allow it.

    - `values` (rows, blocks): All values that will be summed or compared with a sum.
    - `choices`: Number of values to draw from in each block.
    - `queries`: Number of sums whose tails are needed.
    - `tables`: Number of sets of rows to draw from; with many, a fine common unit costs too much.

    Notes
    -----
    The first method that applies is used:

    1. Convolve values that share a unit, such as error rates on test sets whose sizes have a small
       common multiple.
    2. Count the arrangements of few blocks by meeting in the middle. Sums within rounding noise
       are ties.
    3. Invert the transform of the sum; for multiples of a unit without rounding.
    """
    heights, noise = levelled(values)
    reach = heights.max(axis=0)
    blocks = int((reach > 0).sum())
    if blocks == 0:
        return StepGrid(positions=np.zeros(heights.shape, dtype=np.int64), method="convolve")
    meet_work = choices ** ((blocks + 1) // 2) * queries
    most = MAX_LATTICE_WORK // (choices * blocks * tables)
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
        if length <= most and (meet_work > MAX_MEETING_WORK or lattice_work <= meet_work):
            return StepGrid(positions=positions, method="convolve")
        if meet_work > MAX_MEETING_WORK:
            return StepGrid(positions=positions, method="invert")
    if meet_work <= MAX_MEETING_WORK:
        positions = np.rint(heights / noise).astype(np.int64)
        return StepGrid(positions=positions, slack=TIE * blocks, method="meet")
    return StepGrid(positions=heights, slack=TIE * blocks * noise, method="invert", exact=False)


def common_unit(heights: Floats, *, smallest: float, noise: float) -> float | None:
    """Return the largest unit of which all positive `heights` are multiples, or None.

    Use Euclid's algorithm on floating-point numbers. Remainders below a quarter of the smallest
    useful unit count as 0. Refine the unit by least squares, and accept it only if it fits every
    height to within `noise`.
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


# Enumeration of few arrangements, or of few distinct sums


def tail_by_enumeration(costs: Floats, deficit: float) -> float | None:
    """Return P(Y <= deficit) for Y the sum of one draw from each column; None if it takes long.

    - `costs` (choices, blocks): Equally likely values; the smallest in each block is 0.
    - `deficit`: The bound, including the slack for ties.

    Notes
    -----
    The function lists the sums up to `deficit` block by block, starting with the block of the
    highest costs. No list is longer than the last one, which holds the tail.
    """
    choices, blocks = costs.shape
    if blocks * log(choices) > 743.0:
        return None
    paid = np.where(costs > 0, costs, np.inf)
    cheapest = paid.min(axis=0)
    order = np.argsort(-cheapest, kind="stable")
    order = order[cheapest[order] <= deficit]
    # choosing any k blocks whose cheapest cost is at most deficit / k stays in the tail
    for k in range(1, MAX_ARRANGEMENTS.bit_length()):
        if comb(int((k * cheapest <= deficit).sum()), k) > MAX_ARRANGEMENTS:
            return None
    free = (costs == 0).sum(axis=0) / choices
    sums, shares, work = np.zeros(1), np.ones(1), 0
    for block in order:
        dear = np.sort(paid[:, block])
        within = np.searchsorted(sums, deficit - dear, side="right")
        size = sums.size + int(within.sum())
        work += size
        if size > MAX_ARRANGEMENTS or work > MAX_WORK:
            return None
        options, weights = [sums], [shares * free[block]]
        for cost, number in zip(dear[within > 0], within[within > 0], strict=True):
            options.append(sums[:number] + cost)
            weights.append(shares[:number] / choices)
        sums, shares = np.concatenate(options), np.concatenate(weights)
        ranks = np.argsort(sums, kind="stable")
        sums, shares = sums[ranks], shares[ranks]
    return float(shares.sum() * np.prod(np.delete(free, order)))


def tails_by_distinct_sums(sizes: Floats, at: float, slack: float) -> tuple[float, float] | None:
    """Return P(X <= at) and P(X >= at) for X the sum of each size or 0, with equal chances.

    Return None if X has too many distinct values. Sums within `slack` of `at` are ties.

    Notes
    -----
    The sum of c equal sizes h is h times a binomial count. The sums of one half of the sizes are
    looked up in the sums of the other half.
    """
    values, numbers = np.unique(sizes, return_counts=True)
    counts = numbers.astype(np.int64)
    if np.log2(counts + 1.0).sum() > np.log2(MAX_SUMS):
        return None
    halves: list[list[int]] = [[], []]
    lengths = [1.0, 1.0]
    for i in np.argsort(-counts, kind="stable"):
        half = int(lengths[1] < lengths[0])
        halves[half].append(int(i))
        lengths[half] *= counts[i] + 1.0
    if max(lengths) > MAX_HALF_SUMS:
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
    """Return all sums of 0 to `count` copies of each value, and their probabilities."""
    sums, chances = np.zeros(1), np.ones(1)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        number = np.arange(count + 1.0)
        sums = np.add.outer(sums, value * number).ravel()
        chances = np.multiply.outer(chances, _fair_coins(count)).ravel()
    return sums, chances


def _fair_coins(count: int) -> Floats:
    """Return the probabilities of 0 to `count` heads, with nearly full relative accuracy."""
    if count <= 1000:
        # exact products of small ratios
        ratios = np.arange(count, 0.0, -1.0) / np.arange(1.0, count + 1.0)
        return np.asarray(np.ldexp(np.concatenate([[1.0], np.cumprod(ratios)]), -count))
    k = np.arange(count + 1.0)
    from scipy.special import gammaln

    return np.asarray(
        np.exp(lgamma(count + 1.0) - gammaln(k + 1.0) - gammaln(count - k + 1.0) - count * log(2))
    )


# Tails of the sums of a grid


@dataclass(frozen=True, slots=True, kw_only=True)
class Tails:
    """Probabilities that the sum is at most, or at least, each queried value.

    - `lower`, `upper` (queries,): P(S* <= s) and P(S* >= s), both with equality.
    - `lower_bounds`, `upper_bounds` (queries, 2): Bounds of the two; both bounds are the
      probability itself if it was counted exactly.
    """

    lower: Floats
    upper: Floats
    lower_bounds: Floats
    upper_bounds: Floats

    @classmethod
    def without_error(cls, lower: Floats, upper: Floats) -> Tails:
        """Return tails whose bounds are the tails themselves."""
        return cls(
            lower=lower,
            upper=upper,
            lower_bounds=np.stack([lower, lower], axis=1),
            upper_bounds=np.stack([upper, upper], axis=1),
        )

    def two_sided(self) -> tuple[Floats, Floats]:
        """Return min(1, 2 min(lower, upper)), and its bounds of shape (queries, 2)."""
        p = np.minimum(2 * np.minimum(self.lower, self.upper), 1.0)
        bounds = np.minimum(2 * np.minimum(self.lower_bounds, self.upper_bounds), 1.0)
        return p, bounds


def sum_tails(grid: StepGrid, members: Rows, queries: Rows) -> Tails:
    """Return tails of the sum of one draw per block from the `members`, at sums of the `queries`.

    Both are row numbers of `grid`. If the arrangements can be counted, or the probability is a
    sum of positive numbers, the relative error stays near 1e-15 times the number of blocks,
    however small the tail. Otherwise the transform of the sum is inverted, with a relative error
    within the bounds. A tail that is not empty is never 0.
    """
    table = grid.positions[members]
    floor = table.min(axis=0)
    at = (grid.positions[queries] - floor).sum(axis=1)
    table = table - floor
    moving = table.max(axis=0) > 0
    table = table[:, moving]
    if grid.method == "invert":
        return _inverted(table.astype(np.float64), at.astype(np.float64), grid)
    if grid.method == "meet":
        return Tails.without_error(*_meet(table, at, int(grid.slack)))
    sums = _Halves.of(table)
    return Tails.without_error(sums.at_most(at), sums.at_least(at))


def _inverted(table: Floats, at: Floats, grid: StepGrid) -> Tails:
    """Return both tails at each sum: compute the smaller one, and the larger as its complement."""
    reach = table.max(axis=0)
    middle = float(table.mean(axis=0).sum())
    tails = np.empty((2, at.size, 3))
    sides = (_Costs(table, grid), _Costs(reach - table, grid))
    # go from the far tail inwards, so that neighbouring sums share a contour
    for i in np.argsort(np.minimum(at, float(reach.sum()) - at), kind="stable"):
        counted = tails_by_distinct_sums(reach, at[i], grid.slack) if len(table) == 2 else None
        if counted is not None:
            tails[:, i] = np.maximum(np.array(counted), SMALLEST)[:, None]
            continue
        smaller = int(at[i] >= middle)
        deficit = float(reach.sum()) - at[i] if smaller else at[i]
        small = sides[smaller].at_most(deficit)
        # for whole numbers, the tail strictly beyond the sum
        beyond = sides[smaller].at_most(deficit - 1.0) if grid.exact else small
        tails[smaller, i], tails[1 - smaller, i] = small, 1.0 - beyond[[0, 2, 1]]
    lower, upper = tails
    return Tails(
        lower=lower[:, 0], upper=upper[:, 0], lower_bounds=lower[:, 1:], upper_bounds=upper[:, 1:]
    )


class _Costs:
    """Tails of the sum of one cost from each column, in steps of a grid."""

    def __init__(self, costs: Floats, grid: StepGrid) -> None:
        self.costs, self.grid = costs, grid
        dear, counts = costs, np.ones(costs.shape[1])
        if len(costs) == 2:
            # merge equal columns
            sizes, numbers = np.unique(costs.max(axis=0), return_counts=True)
            dear, counts = np.stack([np.zeros_like(sizes), sizes]), numbers.astype(np.float64)
        self.transform = Inversion(costs=dear, counts=counts, unit=float(grid.exact))
        self.uncounted = np.inf

    def at_most(self, deficit: float) -> Floats:
        """Return P(Y <= deficit) and its bounds."""
        slack = self.grid.slack
        if deficit < -slack:
            return np.zeros(3)
        if deficit < self.uncounted:
            counted = tail_by_enumeration(self.costs, deficit + slack)
            if counted is not None:
                return np.full(3, max(counted, SMALLEST))
            self.uncounted = deficit
        p = self.transform.at_most(deficit)
        return np.clip([p.value, p.low, p.high], SMALLEST, 1.0)


def _meet(table: Whole, at: Whole, slack: int) -> tuple[Floats, Floats]:
    """Count all arrangements: look up the sums of one half of the blocks in those of the other."""
    choices, blocks = table.shape
    halves = table[:, : blocks // 2], table[:, blocks // 2 :]
    first, second = (np.sort(all_sums(half)) for half in halves)
    everything = choices**blocks
    lower, upper = np.empty(at.shape), np.empty(at.shape)
    for i, s in enumerate(at):
        lower[i] = (everything - _pairs_from(first, second, s + slack + 1)) / everything
        upper[i] = _pairs_from(first, second, s - slack) / everything
    return lower, upper


def _pairs_from(first: Whole, second: Whole, least: int) -> int:
    """Count the pairs, one number of each sorted array, with a sum of at least `least`.

    Merge thresholds and sums (a stable sort of two runs is a merge); the lowest bit tells them
    apart. The position of a sum minus its rank among the sums is the number of thresholds that
    it reaches.
    """
    both = np.concatenate([least - first[::-1], second]) << 1
    both[first.size :] |= 1
    both.sort(kind="stable")
    positions = np.flatnonzero(both & 1)
    return int(positions.sum()) - second.size * (second.size - 1) // 2


def all_sums(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sums of all combinations of one value from each column."""
    sums = np.zeros(1, dtype=table.dtype)
    for values in table.T:
        sums = np.add.outer(sums, values).ravel()
    return sums


@dataclass(frozen=True, slots=True, kw_only=True)
class _Halves:
    """The distributions of the two halves of a sum, which is all that a tail needs.

    - `first`, `below`, `above`: Number of ways to reach each step with the first half of the
      blocks, and to reach at most and at least that step.
    - `second_below`, `second_above`: The same for the second half, last step first.
    - `everything`: Number of ways of both halves together.
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
        # counts are exact up to 2^53; use shares instead only if counts could overflow
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
        """Return P(S* <= t) for each t."""
        m, n = self.first.size, self.second_below.size
        ways = np.zeros(at.size)
        for i, t in enumerate(at.tolist()):
            # with at most `sure` steps in the first half, every second half is in the tail
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
        """Return P(S* >= t) for each t."""
        m, n = self.first.size, self.second_above.size
        ways = np.zeros(at.size)
        for i, t in enumerate(at.tolist()):
            # with at least `sure` steps in the first half, every second half is in the tail
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
    # einsum instead of BLAS: waiting for threads takes longer than the sum
    return float(np.einsum("i,i->", x[i : i + count], y[j : j + count]))


def _ways(table: Whole, *, shares: bool) -> Floats:
    """Count the ways to reach each sum by adding shifted copies, block by block."""
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
    """Return the shares of each sum if every block adds its steps or 0.

    Equal blocks together add a binomial count times their steps. All terms are positive, so no
    digit is lost in a tail. If there are only few equal blocks, add them one by one.
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
    """Return P(k heads of n fair coins) for k = 0..n, computed from the middle outwards.

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
    return np.asarray(shares / shares.sum())
