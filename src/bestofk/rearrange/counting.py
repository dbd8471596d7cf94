"""Tails counted out where few arrangements, or few different sums, make them."""

from __future__ import annotations

from math import comb, lgamma, log

import numpy as np

from bestofk.checks import Floats
from bestofk.rearrange.grid import Whole

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
