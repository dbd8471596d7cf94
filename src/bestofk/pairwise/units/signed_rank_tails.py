"""Tails of a sum of ranks of which each bears a random sign: exact, by saddlepoint, normal.

Ranks come doubled, so that midranks are whole numbers too; W is the sum of those that are drawn,
each with probability 1/2. Its distribution is symmetric, so that lower tails are enough.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.pairwise.smallest_pvalue import SMALLEST, never_zero
from bestofk.tails import normal_quantile, normal_sf

Ranks = npt.NDArray[np.int64]

_STEPS = 60
_NEAR_THE_MIDDLE = 1e-2
_SUMS_LISTED = 1e6


def exact_tails(ranks: Ranks, at: Ranks) -> Floats:
    """P(W <= at) for every row of ranks; rows with the same ranks are counted once.

    Parameters
    ----------
    ranks : ndarray of int, shape (rows, n)
        Doubled ranks; those that are 0 count for nothing.
    at : ndarray of int, shape (rows,)
        Where, from 0 to the sum of the ranks.
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
            p[rows] = _counted(pattern, at[rows])
    return p


def _counted(ranks: Ranks, at: Ranks) -> Floats:
    """P(W <= at) of one row of ranks, from the number of ways to each sum up to the largest."""
    total, m = int(ranks.sum()), int(np.count_nonzero(ranks))
    # the tail beyond the middle is the smaller one mirrored
    mirrored = 2 * at > total
    below = np.where(mirrored, total - at - 1, at)
    most = max(int(below.max()), 0)
    ways = np.zeros(most + 1)
    ways[0] = 1.0
    reach = 0
    for rank in ranks[(ranks > 0) & (ranks <= most)].tolist():
        reach = min(reach + rank, most)
        ways[rank : reach + 1] += ways[: reach - rank + 1]
    tail = np.concatenate([[0.0], np.cumsum(ways)])[below + 1] * 0.5**m
    return np.asarray(np.where(mirrored, 1.0 - tail, tail))


@lru_cache(maxsize=256)
def untied_cdf(m: int) -> Floats:
    """P(W <= w), w = 0, 1, ..., of the ranks 1, ..., m (not doubled)."""
    ranks = np.arange(1, m + 1)
    p = np.zeros(m * (m + 1) // 2 + 1)
    p[0] = 1.0
    reach = 0
    for rank in ranks.tolist():
        reach += rank
        p[rank : reach + 1] += p[: reach - rank + 1]
        p[: reach + 1] *= 0.5
    cdf = np.minimum(np.cumsum(p), 1.0)
    cdf.flags.writeable = False
    return cdf


def close_tails(ranks: Ranks, at: Ranks) -> Floats:
    """P(W <= at) for every row of many ranks.

    By saddlepoint, which is right to a few thousandths of the probability if the ranks have many
    sizes; rows with two or three sizes, whose sums leave gaps, are added up exactly.
    """
    ordered = np.sort(ranks, axis=1)
    sizes = (np.diff(ordered, axis=1, prepend=0) > 0).sum(axis=1)
    p = saddlepoint_tails(ranks, at)
    for row in np.flatnonzero((sizes == 2) | (sizes == 3)):
        ways, counts = np.unique(ordered[row][ordered[row] > 0], return_counts=True)
        if np.prod(np.sort(counts)[:-1] + 1.0) <= _SUMS_LISTED:
            p[row] = _of_few_sizes(ways, counts, int(at[row]))
    return p


def _of_few_sizes(sizes: Ranks, counts: Ranks, at: int) -> float:
    """P(sum of sizes times binomial counts <= at); the commonest size is summed last."""
    total = int((sizes * counts).sum())
    if 2 * at > total:
        return 1.0 - _of_few_sizes(sizes, counts, total - at - 1)
    order = np.argsort(counts, kind="stable")
    sums, chance = np.zeros(1, dtype=np.int64), np.ones(1)
    for size, count in zip(sizes[order][:-1], counts[order][:-1], strict=True):
        k = np.arange(count + 1)
        sums = np.add.outer(sums, size * k).ravel()
        chance = np.multiply.outer(chance, binomial_chances(int(count))).ravel()
        chance, sums = chance[sums <= at], sums[sums <= at]
    last = np.cumsum(binomial_chances(int(counts[order][-1])))
    left = np.minimum((at - sums) // sizes[order][-1], len(last) - 1)
    return max(float((chance * last[left]).sum()), SMALLEST)


@lru_cache(maxsize=64)
def binomial_chances(n: int) -> Floats:
    """P(X = k), k = 0, ..., n, of n fair coins.

    Examples
    --------
    >>> binomial_chances(2).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    from scipy.special import gammaln

    k = np.arange(n + 1)
    logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) - n * np.log(2.0)
    chances: Floats = np.asarray(np.exp(logs))
    chances.flags.writeable = False
    return chances


def saddlepoint_tails(ranks: Ranks, at: Ranks) -> Floats:
    """P(W <= at) for every row of ranks by Lugannani and Rice, for sums on a lattice.

    With K the cumulant generating function of the sum, s where K'(s) is the mirrored place less
    half a step, w = sqrt(2 (s x - K(s))) and u = 2 sinh(s step / 2) / step sqrt(K''(s)), the
    tail is Phi(-w) + phi(w) (1 / u - 1 / w).
    """
    step = np.gcd.reduce(ranks, axis=1).astype(np.float64)
    total = ranks.sum(axis=1).astype(np.float64)
    sd = np.sqrt(np.square(ranks.astype(np.float64)).sum(axis=1)) / 2
    nothing = sd == 0
    sd = np.where(nothing, 1.0, sd)
    # in units of sd, seen from the middle; the tail beyond the middle is the mirrored one
    z = (total / 2 - at - step / 2) / sd
    r, x, g = ranks / sd[:, np.newaxis], np.abs(z), step / sd
    beyond_all = (at >= total) | nothing
    far = (x > _NEAR_THE_MIDDLE) & ~beyond_all
    tail = np.where(beyond_all, 0.0, normal_sf(x))
    tail[far] = _beyond(r[far], x[far], g[far])
    return np.asarray(never_zero(np.where((z >= 0) & ~beyond_all, tail, 1.0 - tail)))


def _beyond(r: Floats, x: Floats, step: Floats) -> Floats:
    """P(sum of +-r/2 with random signs is x or more, x half a step below what is asked)."""
    # K(s) = sum log cosh(r s / 2), K' = sum r/2 tanh(r s / 2): concave for s > 0, so that
    # Newton's steps from the left never pass the root
    half = r / 2
    s = x.copy()
    for _ in range(_STEPS):
        e = np.exp(-2 * half * s[:, np.newaxis])
        slope = (np.square(half) * 4 * e / np.square(1 + e)).sum(axis=1)
        move = (x - (half * (1 - e) / (1 + e)).sum(axis=1)) / slope
        s += move
        if (np.abs(move) <= 1e-12 * s).all():
            break
    y = half * s[:, np.newaxis]
    e = np.exp(-2 * y)
    # log cosh y = y + log1p(exp(-2 y)) - log 2
    K = (y + np.log1p(e) - np.log(2.0)).sum(axis=1)
    K2 = (np.square(half) * 4 * e / np.square(1 + e)).sum(axis=1)
    w = np.sqrt(2 * (s * x - K))
    u = 2 * np.sinh(s * step / 2) / step * np.sqrt(K2)
    density = np.exp(-w * w / 2) / np.sqrt(2 * np.pi)
    return np.asarray(normal_sf(w) + density * (1 / u - 1 / w))


def normal_tails(ranks: Ranks, at: Ranks) -> Floats:
    """P(W <= at) for every row of ranks by the normal distribution.

    The variance is a quarter of the sum of squared ranks, which holds the corrections for ties
    and for zeros; the correction for continuity is half of the step of which all ranks are
    multiples (1/2 without ties).
    """
    step = np.gcd.reduce(ranks, axis=1)
    sd = np.sqrt(np.square(ranks.astype(np.float64)).sum(axis=1)) / 2
    nothing = sd == 0
    z = (at - ranks.sum(axis=1) / 2 + step / 2) / np.where(nothing, 1.0, sd)
    return np.asarray(np.where(nothing, 1.0, never_zero(normal_sf(-z))))


def largest_within(n: int, tail: float, exact_up_to: int) -> int:
    """The largest w with P(W <= w) at most `tail` for the ranks 1, ..., n; -1 where there is none.

    Examples
    --------
    >>> largest_within(7, 0.025, 50), largest_within(5, 0.025, 50)
    (2, -1)
    """
    if n <= exact_up_to:
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
