"""Both tails of a sum of independent draws, one from each block, every value equally likely.

`step_grid` puts the values on whole steps if they have a common unit, so that equal sums tie, and
chooses the method:

============  ================================================================================
``meet``      exact: all arrangements of few blocks are counted
``convolve``  exact: the distribution on whole steps, with the rounding of positive sums
``invert``    approximate with bounds: few arrangements in the tail are counted, for others the
              transform of the sum is inverted
============  ================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, log
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.stats.null_distributions.inversion import inverted_tail

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
MAX_ARRANGEMENTS, MAX_WORK = 2**20, 2**23
"""Do not count tails of more arrangements; they are smooth enough for their transform."""


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
    values = np.ldexp(values, -int(np.frexp(np.abs(values).max(initial=0.0))[1]) - 1)
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


def sum_tails(grid: StepGrid, members: Rows, queries: Rows) -> Tails:
    """Return tails of the sum of one draw per block from the `members`, at sums of the `queries`.

    Both are row numbers of `grid`. Counted and convolved tails have a relative error near 1e-15
    times the number of blocks, however small the tail; inverted ones have bounds. A tail that is
    not empty is never 0.
    """
    table = grid.positions[members]
    floor = table.min(axis=0)
    at = (grid.positions[queries] - floor).sum(axis=1)
    table = table - floor
    table = table[:, table.max(axis=0) > 0]
    if grid.method == "meet":
        some, slack = table[None], int(grid.slack)
        lower, upper = (
            np.array([counted_tails(some, np.array([t]), side=side, slack=slack)[0] for t in at])
            for side in ("lower", "upper")
        )
        return Tails.without_error(lower, upper)
    if grid.method == "convolve":
        return Tails.without_error(*convolved_tails(table, at))
    return _inverted(table.astype(np.float64), at.astype(np.float64), grid)


# The exact methods


def counted_tails(
    tables: Whole, at: Whole, *, side: Literal["lower", "upper"], slack: int
) -> Floats:
    """Return P(S* <= at) or P(S* >= at) for each of many tables, by meeting in the middle.

    - `tables` (tables, choices, blocks): Whole steps.
    - `at` (tables,): The sums; those within `slack` steps are ties.

    Notes
    -----
    Split the blocks into two halves. A pair of half sums (f, s) lies in the upper tail if s >=
    at - slack - f. Sort these thresholds and the sums together; the lowest bit tells them apart
    and puts a threshold before an equal sum. The position of a sum minus its rank among the sums
    is the number of thresholds that it reaches.
    """
    if side == "lower":
        tables, at = -tables, -at
    half = tables.shape[2] // 2
    first, second = all_sums(tables[:, :, :half]), all_sums(tables[:, :, half:])
    m, n = first.shape[1], second.shape[1]
    both = np.concatenate([(at - slack)[:, None] - first, second], axis=1)
    both <<= 1
    both[:, m:] |= 1
    both.sort(axis=1)
    both &= 1
    position_sums = np.einsum("ij,j->i", both, np.arange(m + n))
    return np.asarray((position_sums - n * (n - 1) // 2) / float(m * n))


def all_sums(tables: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sums of all combinations of one value per block, of shape (tables, sums)."""
    sums = np.zeros((len(tables), 1), dtype=tables.dtype)
    for values in np.moveaxis(tables, 2, 0):
        sums = (sums[:, :, None] + values[:, None, :]).reshape(len(tables), -1)
    return sums


def convolved_tails(table: Whole, at: Whole) -> tuple[Floats, Floats]:
    """Return P(S* <= t) and P(S* >= t) for each t, from the distribution on whole steps.

    - `table` (choices, blocks): Whole steps; the smallest in each block is 0.
    - `at` (queries,): Whole steps.

    All terms are positive, so no digit is lost in a tail. The distributions of two halves of the
    blocks are enough.

    Examples
    --------
    >>> lower, upper = convolved_tails(np.array([[0, 0, 0], [1, 1, 2]]), np.array([0, 3]))
    >>> lower * 8, upper * 8
    (array([1., 7.]), array([8., 3.]))
    """
    order = np.argsort(table.max(axis=0, initial=0), kind="stable")
    first, second = (step_shares(table[:, order[half::2]]) for half in (0, 1))
    below = np.concatenate([[0.0], np.cumsum(second)])
    above = np.concatenate([np.cumsum(second[::-1])[::-1], [0.0]])
    tails = np.empty((2, at.size))
    for i, t in enumerate(at.tolist()):
        left = t - np.arange(first.size)
        # einsum instead of BLAS: waiting for threads takes longer than the sum
        tails[0, i] = np.einsum("i,i->", first, below[np.clip(left + 1, 0, second.size)])
        tails[1, i] = np.einsum("i,i->", first, above[np.clip(left, 0, second.size)])
    possible = np.stack([at >= 0, at <= first.size + second.size - 2])
    lower, upper = np.where(possible, np.clip(tails, SMALLEST, 1.0), 0.0)
    return lower, upper


def step_shares(table: Whole) -> Floats:
    """Return P(S* = 0), P(S* = 1), ... for the sum of one draw per block, equal blocks together.

    Examples
    --------
    >>> step_shares(np.array([[0, 0, 0], [1, 1, 2]])) * 8
    array([1., 2., 2., 2., 1.])
    """
    shares = np.ones(1)
    table = np.sort(table[:, table.any(axis=0)], axis=0)
    columns, counts = np.unique(table, axis=1, return_counts=True)
    for column, count in zip(columns.T, counts.tolist(), strict=True):
        step = int(np.gcd.reduce(column))
        chances = np.bincount(column // step) / len(column)
        if len(column) == 2:
            shares = _plus(shares, fair_coins(count), step)
            continue
        for _ in range(count):
            shares = _plus(shares, chances, step)
    return shares


def _plus(shares: Floats, drawn: Floats, step: int) -> Floats:
    """Return the shares of the sum plus `step` times a random count with the shares `drawn`."""
    grown = np.zeros(shares.size + step * (drawn.size - 1))
    if 2 * np.count_nonzero(drawn) > drawn.size > 4 * step:
        for rest in range(min(step, shares.size)):
            part = shares[rest::step]
            grown[rest::step][: part.size + drawn.size - 1] = np.convolve(part, drawn)
        return grown
    for k in np.flatnonzero(drawn).tolist():
        grown[k * step : k * step + shares.size] += drawn[k] * shares
    return grown


def fair_coins(n: int) -> Floats:
    """Return P(k heads of n fair coins) for k = 0..n, computed from the middle outwards.

    Examples
    --------
    >>> fair_coins(3).tolist()
    [0.125, 0.375, 0.375, 0.125]
    """
    middle = n // 2
    k = np.arange(middle, n, dtype=np.float64)
    with np.errstate(under="ignore"):
        upper = np.concatenate([[1.0], np.cumprod((n - k) / (k + 1.0))])
    shares = np.concatenate([upper[::-1][:middle], upper])
    return np.asarray(shares / shares.sum())


# The approximate method


def _inverted(table: Floats, at: Floats, grid: StepGrid) -> Tails:
    """Return both tails at each sum: compute the smaller one, and the larger as its complement."""
    reach = table.max(axis=0)
    middle = float(table.mean(axis=0).sum())
    tails = np.empty((2, at.size, 3))
    for i, t in enumerate(at.tolist()):
        smaller = int(t >= middle)
        costs, deficit = (reach - table, float(reach.sum()) - t) if smaller else (table, t)
        small = _at_most(costs, deficit, grid)
        # for whole numbers, the tail strictly beyond the sum
        beyond = _at_most(costs, deficit - 1.0, grid) if grid.exact else small
        tails[smaller, i], tails[1 - smaller, i] = small, 1.0 - beyond[[0, 2, 1]]
    lower, upper = tails
    return Tails(
        lower=lower[:, 0], upper=upper[:, 0], lower_bounds=lower[:, 1:], upper_bounds=upper[:, 1:]
    )


def _at_most(costs: Floats, deficit: float, grid: StepGrid) -> Floats:
    """Return P(Y <= deficit) for the sum Y of one cost from each column, and its bounds."""
    if deficit < -grid.slack:
        return np.zeros(3)
    counted = tail_by_enumeration(costs, deficit + grid.slack)
    if counted is not None:
        return np.full(3, max(counted, SMALLEST))
    p = inverted_tail(costs, deficit, unit=float(grid.exact))
    return np.clip([p.value, p.low, p.high], SMALLEST, 1.0)


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
