"""Wilcoxon's signed rank test, its null distribution, and the intervals of shifts.

The tails of the rank sum are exact, by saddlepoint, or normal. Ranks are doubled, so that midranks
are whole numbers. W is the sum of the ranks drawn, each with probability 1/2. Its distribution is
symmetric, so lower tails are enough.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Alternative, Floats, one_of, side
from bestofk.stats.null_distributions.saddlepoint import flipped_tail
from bestofk.stats.null_distributions.sums import convolved_tails, fair_coins, step_shares
from bestofk.stats.pairwise.differences import (
    agreeing_interval,
    never_zero,
    over_pairs,
    paired_losses,
)
from bestofk.stats.pairwise.result import Interval, PairwiseResult, scalar_or_array, tail_level
from bestofk.stats.tails import normal_quantile

Ranks = npt.NDArray[np.int64]

_MAX_LISTED_SUMS = 1e6
_MAX_LISTED = 1000
"""Numbers up to which all Walsh averages are listed."""
_AVERAGES_AT_ONCE = 1 << 21
BISECTION_STEPS = 36
NORMAL_FROM = 2000
"""Differences from which the studentized sum counts as normal."""
EXACT_UP_TO = 100
"""Differences up to which p-values are exact."""


def exact_tails(ranks: Ranks, at: Ranks) -> Floats:
    """Return P(W <= at) for each row of ranks; compute rows with the same ranks once.

    - `ranks` (rows, n): Doubled ranks; ranks of 0 are ignored.
    - `at` (rows,): Values from 0 to the sum of the ranks.
    """
    ordered = np.sort(ranks, axis=1)
    m = np.count_nonzero(ordered, axis=1)
    n = ranks.shape[1]
    # the k-th smallest of m untied ranks, doubled, is 2 k
    untied = np.maximum(2 * (np.arange(n) - (n - m)[:, np.newaxis] + 1), 0)
    simple = (ordered == untied).all(axis=1)
    p = np.empty(len(ranks))
    for count in np.unique(m[simple]):
        rows = simple & (m == count)
        p[rows] = untied_cdf(int(count))[at[rows] // 2]
    rest = np.flatnonzero(~simple)
    if rest.size:
        patterns, back = np.unique(ordered[rest], axis=0, return_inverse=True)
        by_pattern = np.argsort(back.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(back.reshape(-1), minlength=len(patterns)))
        for pattern, rows in zip(patterns, np.split(rest[by_pattern], ends[:-1]), strict=True):
            p[rows] = convolved_tails(np.stack([0 * pattern, pattern]), at[rows])[0]
    return p


@lru_cache(maxsize=256)
def untied_cdf(m: int) -> Floats:
    """Return P(W <= w), w = 0, 1, ..., for the ranks 1, ..., m (not doubled)."""
    ranks = np.arange(1, m + 1)
    cdf = np.minimum(np.cumsum(step_shares(np.stack([0 * ranks, ranks]))), 1.0)
    cdf.flags.writeable = False
    return cdf


def close_tails(ranks: Ranks, at: Ranks) -> Floats:
    """Approximate P(W <= at) for each row of many ranks.

    Use the saddlepoint approximation, whose relative error is a few thousandths if the ranks have
    many sizes. Compute rows with two or three sizes exactly, because their sums leave gaps.
    """
    ordered = np.sort(ranks, axis=1)
    sizes = (np.diff(ordered, axis=1, prepend=0) > 0).sum(axis=1)
    p = saddlepoint_tails(ranks, at)
    for row in np.flatnonzero((sizes == 2) | (sizes == 3)):
        ways, counts = np.unique(ordered[row][ordered[row] > 0], return_counts=True)
        if np.prod(np.sort(counts)[:-1] + 1.0) <= _MAX_LISTED_SUMS:
            p[row] = _of_few_sizes(ways, counts, int(at[row]))
    return p


def _of_few_sizes(sizes: Ranks, counts: Ranks, at: int) -> float:
    """Return P(sum of sizes times binomial counts <= at); add the most frequent size last."""
    total = int((sizes * counts).sum())
    if 2 * at > total:
        return 1.0 - _of_few_sizes(sizes, counts, total - at - 1)
    order = np.argsort(counts, kind="stable")
    sums, chance = np.zeros(1, dtype=np.int64), np.ones(1)
    for size, count in zip(sizes[order][:-1], counts[order][:-1], strict=True):
        sums = np.add.outer(sums, size * np.arange(count + 1)).ravel()
        chance = np.multiply.outer(chance, fair_coins(int(count))).ravel()
        chance, sums = chance[sums <= at], sums[sums <= at]
    last = np.cumsum(fair_coins(int(counts[order][-1])))
    left = np.minimum((at - sums) // sizes[order][-1], len(last) - 1)
    return float(never_zero((chance * last[left]).sum()))


def saddlepoint_tails(ranks: Ranks, at: Ranks) -> Floats:
    """Return P(W <= at) for each row of ranks by the saddlepoint approximation on a lattice."""
    step = np.gcd.reduce(ranks, axis=1).astype(np.float64)
    total = ranks.sum(axis=1).astype(np.float64)
    # beyond the middle use the mirrored tail
    below = total / 2 - at - step / 2
    beyond_all = (at >= total) | (total == 0)
    tail = np.where(beyond_all, 0.0, flipped_tail(ranks / 2, np.abs(below), step))
    return np.asarray(never_zero(np.where((below >= 0) & ~beyond_all, tail, 1.0 - tail)))


def largest_within(n: int, tail: float) -> int:
    """Return the largest w with P(W <= w) <= `tail` for the ranks 1, ..., n; -1 if there is none.

    Examples
    --------
    >>> largest_within(7, 0.025), largest_within(5, 0.025)
    (2, -1)
    """
    if n <= EXACT_UP_TO:
        return int(np.searchsorted(untied_cdf(n), tail * (1 + 1e-12), side="right")) - 1
    ranks = 2 * np.arange(1, n + 1)[np.newaxis]
    total = n * (n + 1) // 2
    sd = np.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
    guess = int(total / 2 + sd * float(normal_quantile(tail)))
    low, high = max(guess - int(sd), -1), min(guess + int(sd), total)
    while high - low > 1:
        middle = (low + high) // 2
        if saddlepoint_tails(ranks, np.array([2 * middle]))[0] <= tail:
            low = middle
        else:
            high = middle
    return low


# Order statistics of the Walsh averages (x_i + x_j) / 2, i <= j


def walsh_averages_at(ordered: Floats, ranks: tuple[int, int]) -> tuple[Floats, Floats]:
    """Return two order statistics of the Walsh averages of each column of ascending numbers.

    Examples
    --------
    >>> low, high = walsh_averages_at(np.array([[0.0, 1.0], [1.0, 2.0], [4.0, 3.0]]), (0, 3))
    >>> low.tolist(), high.tolist()
    ([0.0, 1.0], [2.0, 2.0])
    """
    n, columns = ordered.shape
    values = np.empty((2, columns))
    if n > _MAX_LISTED:
        for column in range(columns):
            numbers = np.ascontiguousarray(ordered[:, column])
            by_rank = {k: nth_walsh_average(numbers, k) for k in set(ranks)}
            values[:, column] = [by_rank[k] for k in ranks]
        return values[0], values[1]
    i, j = np.triu_indices(n)
    step = max(1, _AVERAGES_AT_ONCE // len(i))
    for start in range(0, columns, step):
        rows = np.ascontiguousarray(ordered[:, start : start + step].T)
        averages = (rows[:, i] + rows[:, j]) / 2
        averages.partition(sorted(ranks), axis=1)
        values[:, start : start + step] = averages[:, list(ranks)].T
    return values[0], values[1]


def nth_walsh_average(ordered: Floats, rank: int) -> float:
    """Return the Walsh average of ascending numbers with `rank` smaller or equal ones before it.

    List all averages of few numbers. For many numbers, use bisection: it counts the averages below
    a bound in O(n log n) and avoids n^2 numbers in memory. Once few averages lie between the
    bounds, count only these.

    Examples
    --------
    >>> [nth_walsh_average(np.array([0.0, 1.0, 4.0]), k) for k in range(6)]
    [0.0, 0.5, 1.0, 2.0, 2.5, 4.0]
    """
    n = len(ordered)
    if n <= _MAX_LISTED:
        i, j = np.triu_indices(n)
        averages = (ordered[i] + ordered[j]) / 2
        return float(np.partition(averages, rank)[rank])
    low, high = float(ordered[0]), float(ordered[-1])
    position = np.arange(n)
    before, after = np.zeros(n, dtype=np.int64), n - position
    left: tuple[Floats, Floats] | None = None
    base = 0
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        # pairs j >= i with x_j <= 2 middle - x_i
        if left is not None:
            count = base + np.count_nonzero(left[1] <= 2 * middle - left[0])
        else:
            below = np.searchsorted(ordered, 2 * middle - ordered, side="right") - position
            below = np.maximum(below, 0)
            count = below.sum()
        if count > rank:
            high, after = middle, after if left else below
        else:
            low, before = middle, before if left else below
        if left is None and (sizes := after - before).sum() <= 4 * n:
            base = int(before.sum())
            first = np.repeat(position, sizes)
            nth = np.arange(len(first)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            left = ordered[first], ordered[first + before[first] + nth]
    return high


def pseudomedian(d: Floats) -> Floats:
    """Return the median of the Walsh averages of each column (Hodges and Lehmann).

    Examples
    --------
    >>> pseudomedian(np.array([[0.0], [1.0], [4.0]])).tolist()
    [1.5]
    """
    last = len(d) * (len(d) + 1) // 2 - 1
    low, high = walsh_averages_at(np.sort(d, axis=0), (last // 2, (last + 1) // 2))
    return np.asarray((low + high) / 2)


# The smallest shift that a permutation test accepts, for many differences


def upper_tail_by_saddlepoint(d: Floats) -> Floats:
    """Approximate P(sum of sign-flipped d >= sum of d) for rows of differences."""
    total, sizes = d.sum(axis=1), np.abs(d)
    largest = sizes.sum(axis=1)
    tail = np.where(np.abs(total) < largest * (1 - 1e-9), flipped_tail(sizes, np.abs(total)), 0.0)
    # no tail is smaller than the probability of a single pattern of signs
    tail = np.clip(tail, 0.5 ** np.minimum((sizes > 0).sum(axis=1), 1000), 1.0)
    tail = np.where(total >= 0, tail, 1.0 - tail)
    return np.asarray(np.where(largest == 0, 1.0, tail))


def least_shift(d: Floats, alpha: float) -> Floats:
    """Return for each row of d the smallest shift with an upper tail of d - shift above alpha."""
    from scipy.special import ndtri

    n = d.shape[1]
    mean, z = d.mean(axis=1), -float(ndtri(alpha))
    # (sum d - n shift) / sqrt(sum (d - shift)^2) = z
    reach = z * d.std(axis=1) / np.sqrt(max(n - z * z, 0.25))
    if n >= NORMAL_FROM:
        return np.asarray(mean - reach)
    spread = np.maximum(np.ptp(d, axis=1), np.abs(d).max(axis=1))
    low, high = mean - 2.0 * np.abs(reach), mean + 0.5 * np.abs(reach)
    outside = (upper_tail_by_saddlepoint(d - low[:, None]) > alpha) | (
        upper_tail_by_saddlepoint(d - high[:, None]) <= alpha
    )
    low = np.where(outside, d.min(axis=1) - spread, low)
    high = np.where(outside, d.max(axis=1), high)
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        accepted = upper_tail_by_saddlepoint(d - middle[:, None]) > alpha
        high = np.where(accepted, middle, high)
        low = np.where(accepted, low, middle)
    return np.asarray(high)


# The test


def wilcoxon(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    zeros: str = "wilcox",
) -> PairwiseResult:
    """Wilcoxon's signed rank test.

    Test the null hypothesis that the differences ``a - b`` are symmetric about 0
    (``alternative="greater"``: about a point at most 0).

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n data sets (or instances); leading axes broadcast. Differences at
        the level of rounding error are ties.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    zeros : {"wilcox", "pratt", "split"}
        How to treat differences of 0: drop them before ranking (Wilcoxon); rank and then drop them
        (Pratt); or rank them and give half of their ranks to each side, dropping one of them if
        their number is odd (Demsar).

    Returns
    -------
    PairwiseResult
        `statistic` is the smaller of the two rank sums when two-sided, else W+, the sum of
        ranks of positive differences. `estimate` is the pseudomedian of the differences, the
        median of their Walsh averages, which is the mean only if the differences are symmetric.
        The interval is Hodges and Lehmann's, from the same averages; it excludes 0 if and only if
        p is at most 1 - level.

    Notes
    -----
    Under the null hypothesis each rank has an independent sign with probability 1/2. The exact
    distribution of W+ comes from dynamic programming over the doubled midranks, which are whole
    numbers even with ties. The two-sided p-value is twice the smaller tail, at most 1. Without
    any difference p = 1. With ``zeros="split"`` the ranks of the zeros have random signs too, as
    in printed tables for n differences: the zeros are then evidence for equality, while the other
    two rules ignore them.

    The p-value is exact up to 100 differences. Beyond, a saddlepoint approximation is accurate to
    a tenth of a percent if the absolute differences have ten or more distinct values, or at most
    three (p from 1e-6 to 1); with four to nine it is accurate to a few percent.

    The Walsh averages ignore ties and zeros. If they put 0 on the other side of an end than the
    test does, that end is moved to 0 or, if the test rejects, just beyond it.

    References
    ----------
    F. Wilcoxon (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1, 80-83.
    doi:10.2307/3001968

    J. W. Pratt (1959). Remarks on zeros and ties in the Wilcoxon signed rank procedures. Journal
    of the American Statistical Association 54, 655-667. doi:10.1080/01621459.1959.10501526

    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 1-30.

    R. Lugannani and S. Rice (1980). Saddle point approximation for the distribution of the sum
    of independent random variables. Advances in Applied Probability 12, 475-490.
    doi:10.2307/1426607

    Examples
    --------
    >>> a = [0.31, 0.22, 0.45, 0.18, 0.27, 0.40]
    >>> b = [0.29, 0.20, 0.41, 0.19, 0.22, 0.40]
    >>> r = wilcoxon(a, b, alternative="greater")
    >>> r.statistic, r.pvalue
    (14.0, 0.0625)
    """
    sides: Alternative = side(alternative)
    one_of(zeros, "zeros", ("wilcox", "pratt", "split"))
    a, b = paired_losses(a, b, axes=1)
    n = a.shape[-1]

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        ranks, plus, minus = _rank_sums(d, noise, zeros)
        p = _tail(ranks, plus, minus, sides)
        if sides == "two-sided":
            p = np.minimum(2.0 * p, 1.0)
        typical = pseudomedian(d.reshape(n, -1)).reshape(d.shape[1:])
        typical = np.where(typical * typical <= noise.mean(axis=0), 0.0, typical)
        smaller = np.minimum(plus, minus) if sides == "two-sided" else plus
        parts = (smaller / 2.0, p, (plus - minus) / 2.0)
        statistic, p, direction = (np.reshape(x, d.shape[1:]) for x in parts)
        return statistic, p, typical, direction

    statistic, p, estimate, direction = over_pairs(a, b, kernel, axes=1, outputs=4, each=True)
    return PairwiseResult(
        test="wilcoxon",
        statistic=scalar_or_array(statistic),
        pvalue=scalar_or_array(p),
        df=None,
        estimate=scalar_or_array(estimate),
        alternative=sides,
        direction=scalar_or_array(direction),
        estimand="typical",
        losses=(a, b),
        interval_rule=_hodges_lehmann_interval,
    )


def _rank_sums(d: Floats, noise: Floats, zeros: str) -> tuple[Ranks, Ranks, Ranks]:
    """Return the doubled ranks of each pair, one row each, and twice W+ and W-."""
    n = len(d)
    flat, flat_noise = (np.reshape(x, (n, -1)).T for x in (d, noise))
    ranks, signs = doubled_midranks(flat, flat_noise, zeros=zeros)
    # the two sides share the ranks of zeros, whose sum is even
    shared = np.where(signs == 0, ranks, 0).sum(axis=1) // 2
    plus = np.where(signs > 0, ranks, 0).sum(axis=1) + shared
    return ranks, plus, ranks.sum(axis=1) - plus


def _tail(ranks: Ranks, plus: Ranks, minus: Ranks, sides: Alternative) -> Floats:
    """Return the tail of the alternative, or the smaller tail, including its end."""
    # the null distribution is symmetric: P(W+ >= w) = P(W+ <= total - w) = P(W+ <= minus)
    at = {"greater": minus, "less": plus, "two-sided": np.minimum(plus, minus)}[sides]
    tails = exact_tails if ranks.shape[1] <= EXACT_UP_TO else close_tails
    return np.asarray(np.minimum(tails(ranks, at), 1.0))


def doubled_midranks(d: Floats, noise: Floats, *, zeros: str = "wilcox") -> tuple[Ranks, Ranks]:
    """Return twice the midranks of |d| in each row, and the signs.

    Neighbours in the sorted order that differ by no more than their rounding error are tied.
    Zeros have rank 0. With ``zeros="split"`` they have midranks, except one of an odd number.
    """
    size, n = d.shape
    tolerance = np.sqrt(noise)
    size_of = np.abs(d)
    signs = np.where(size_of <= tolerance, 0, np.sign(d)).astype(np.int64)
    size_of = np.where(signs == 0, 0.0, size_of)
    order = np.argsort(size_of, axis=1, kind="stable")
    ordered = np.take_along_axis(size_of, order, axis=1)
    slack = np.take_along_axis(tolerance, order, axis=1)
    zero = np.take_along_axis(signs == 0, order, axis=1)
    # first and last position of each group of ties; zeros are a separate group
    starts = np.ones((size, n), dtype=bool)
    starts[:, 1:] = np.diff(ordered, axis=1) > slack[:, 1:] + slack[:, :-1]
    starts[:, 1:] |= zero[:, 1:] != zero[:, :-1]
    starts[:, 1:] &= ~(zero[:, 1:] & zero[:, :-1])
    position = np.broadcast_to(np.arange(1, n + 1), (size, n))
    first = np.maximum.accumulate(np.where(starts, position, 0), axis=1)
    ends = np.ones((size, n), dtype=bool)
    ends[:, :-1] = starts[:, 1:]
    last = np.where(ends, position, n)
    last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    doubled = first + last
    count = zero.sum(axis=1, keepdims=True)
    if zeros == "wilcox":
        doubled = np.where(zero, 0, doubled - 2 * count)
    elif zeros == "pratt":
        doubled = np.where(zero, 0, doubled)
    else:
        odd = count % 2
        # the zeros come first; drop one of an odd number and move the others up
        doubled = np.where(zero, count - odd + 1, doubled - 2 * odd)
        doubled[:, :1] = np.where(odd, 0, doubled[:, :1])
    ranks = np.empty_like(doubled)
    np.put_along_axis(ranks, order, doubled, axis=1)
    return ranks, signs


def _hodges_lehmann_interval(result: PairwiseResult, level: float) -> Interval:
    a, b = result.losses
    n = a.shape[-1]
    total = n * (n + 1) // 2
    cut = largest_within(n, tail_level(level, result.alternative))

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:  # noqa: ARG001
        flat = np.sort(np.reshape(d, (n, -1)), axis=0)
        low, high = np.full(flat.shape[1], -np.inf), np.full(flat.shape[1], np.inf)
        if 0 <= cut < total:
            low, high = walsh_averages_at(flat, (cut, total - 1 - cut))
        return tuple(np.reshape(x, d.shape[1:]) for x in (low, high, flat[0], flat[-1]))

    low, high, least, most = over_pairs(a, b, kernel, axes=1, outputs=4)
    return agreeing_interval(result, level, low, high, least=least, most=most)
