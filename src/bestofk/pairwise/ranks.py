"""Wilcoxon's signed rank test, exact with ties."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Alternative, Floats, one_of, side
from bestofk.pairwise.differences import over_pairs, paired_losses
from bestofk.pairwise.result import (
    Interval,
    PairwiseResult,
    one_sided,
    scalar_or_array,
    tail_level,
)
from bestofk.pairwise.walsh import nth_walsh_average
from bestofk.tails import normal_quantile, pvalue_of_z

EXACT_UP_TO = 50
"""Differences up to which ``method="auto"`` is exact."""


def wilcoxon(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    zeros: str = "drop",
    method: str = "auto",
) -> PairwiseResult:
    """Signed rank test of Wilcoxon.

    Tests the hypothesis that the differences ``a - b`` are symmetric about 0
    (``alternative="greater"``: about a point at most 0).

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n data sets (or instances); leading axes broadcast. Differences at
        the level of rounding error are ties.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is the greater one.
    zeros : {"drop", "pratt"}
        What becomes of differences of 0: dropped before ranking (Wilcoxon), or ranked and then
        dropped (Pratt).
    method : {"auto", "exact", "normal"}
        The null distribution: exact given the ties, or the normal approximation with the
        correction for ties and none for continuity. ``"auto"``: exact up to 50 differences.

    Returns
    -------
    PairwiseResult
        `statistic` is the smaller of the two rank sums when two-sided, else W+, the sum of
        ranks of positive differences. The interval is Hodges and Lehmann's, from the Walsh
        averages.

    Notes
    -----
    Under the null hypothesis each rank bears a sign of its own with probability 1/2. The exact
    distribution of W+ comes from dynamic programming over the doubled midranks, which are whole
    numbers also with ties. Two-sided p is twice the smaller tail, at most 1; without any
    difference p = 1.

    References
    ----------
    F. Wilcoxon (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1, 80-83.
    doi:10.2307/3001968

    J. W. Pratt (1959). Remarks on zeros and ties in the Wilcoxon signed rank procedures. Journal
    of the American Statistical Association 54, 655-667. doi:10.1080/01621459.1959.10501526

    Examples
    --------
    >>> a = [0.31, 0.22, 0.45, 0.18, 0.27, 0.40]
    >>> b = [0.29, 0.20, 0.41, 0.19, 0.22, 0.40]
    >>> r = wilcoxon(a, b, alternative="greater")
    >>> r.statistic, r.pvalue
    (14.0, 0.0625)
    """
    sides: Alternative = side(alternative)
    one_of(zeros, "zeros", ("drop", "pratt"))
    one_of(method, "method", ("auto", "exact", "normal"))
    a, b = paired_losses(a, b, axes=1)
    n = a.shape[-1]
    exact = method == "exact" or (method == "auto" and n <= EXACT_UP_TO)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        block = d.shape[1:]
        flat, flat_noise = (np.reshape(x, (n, -1)).T for x in (d, noise))
        ranks, signs = doubled_midranks(flat, flat_noise, pratt=zeros == "pratt")
        plus = np.where(signs > 0, ranks, 0).sum(axis=1)
        minus = np.where(signs < 0, ranks, 0).sum(axis=1)
        if exact:
            p = _exact_pvalues(ranks, plus, minus, sides)
        else:
            p = _normal_pvalues(ranks, plus, minus, sides)
        mean = d.mean(axis=0)
        mean = np.where(mean * mean <= noise.mean(axis=0), 0.0, mean)
        statistic = np.minimum(plus, minus) if sides == "two-sided" else plus
        parts = (statistic / 2.0, p, (plus - minus) / 2.0)
        statistic, p, direction = (np.reshape(x, block) for x in parts)
        return statistic, p, mean, direction

    statistic, p, estimate, direction = over_pairs(
        a, b, kernel, axes=1, units=(0, 0, 1, 0), each=True
    )
    return PairwiseResult(
        test="wilcoxon",
        statistic=scalar_or_array(statistic),
        pvalue=scalar_or_array(p),
        df=None,
        estimate=scalar_or_array(estimate),
        alternative=sides,
        direction=scalar_or_array(direction),
        losses=(a, b),
        interval_rule=_hodges_lehmann_interval,
    )


def doubled_midranks(
    d: Floats, noise: Floats, *, pratt: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Twice the midranks of |d| in each row (0 for zeros) and the signs.

    Neighbours in order that differ by no more than their rounding error are tied.
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
    # first and last position of each group of ties, zeros a group of their own
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
    if not pratt:
        doubled = doubled - 2 * zero.sum(axis=1, keepdims=True)
    doubled = np.where(zero, 0, doubled)
    ranks = np.empty_like(doubled)
    np.put_along_axis(ranks, order, doubled, axis=1)
    return ranks, signs


def _null_cdf(ranks: Iterable[int]) -> Floats:
    """P(W+ <= w), w = 0, 1, ..., when each of these whole ranks bears a random sign."""
    ranks = [rank for rank in ranks if rank]
    p = np.zeros(sum(ranks) + 1)
    p[0] = 1.0
    reach = 0
    for rank in ranks:
        reach += rank
        p[rank : reach + 1] += p[: reach - rank + 1].copy()
        p[: reach + 1] *= 0.5
    return np.minimum(np.cumsum(p), 1.0)


@lru_cache(maxsize=256)
def _untied_cdf(m: int) -> Floats:
    """The null distribution of the ranks 1..m."""
    cdf = _null_cdf(range(1, m + 1))
    cdf.flags.writeable = False
    return cdf


def _at_most(ranks: npt.NDArray[np.int64], at: npt.NDArray[np.int64]) -> Floats:
    """P(2 W+ <= at) for every row; rows with the same ranks are computed once."""
    ordered = np.sort(ranks, axis=1)
    m = np.count_nonzero(ordered, axis=1)
    n = ranks.shape[1]
    # the k-th smallest of m untied ranks, doubled, is 2k
    untied = np.maximum(2 * (np.arange(n) - (n - m)[:, np.newaxis] + 1), 0)
    simple = (ordered == untied).all(axis=1)
    p = np.empty(len(ranks))
    for count in np.unique(m[simple]):
        rows = simple & (m == count)
        p[rows] = _untied_cdf(int(count))[at[rows] // 2]
    rest = np.flatnonzero(~simple)
    if rest.size:
        patterns, back = np.unique(ordered[rest], axis=0, return_inverse=True)
        by_pattern = np.argsort(back.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(back.reshape(-1), minlength=len(patterns)))
        for pattern, rows in zip(patterns, np.split(rest[by_pattern], ends[:-1]), strict=True):
            p[rows] = _null_cdf(pattern.tolist())[at[rows]]
    return p


def _exact_pvalues(
    ranks: npt.NDArray[np.int64],
    plus: npt.NDArray[np.int64],
    minus: npt.NDArray[np.int64],
    alternative: Alternative,
) -> Floats:
    # the null distribution is symmetric: P(W+ >= w) = P(W+ <= total - w) = P(W+ <= minus)
    if alternative == "greater":
        return _at_most(ranks, minus)
    if alternative == "less":
        return _at_most(ranks, plus)
    return np.minimum(2.0 * _at_most(ranks, np.minimum(plus, minus)), 1.0)


def _normal_pvalues(
    ranks: npt.NDArray[np.int64],
    plus: npt.NDArray[np.int64],
    minus: npt.NDArray[np.int64],
    alternative: Alternative,
) -> Floats:
    # W+ - E W+ = (W+ - W-) / 2; its variance is a quarter of the sum of squared ranks, which
    # holds the corrections for ties and for Pratt's zeros
    sd = np.sqrt(np.square(ranks.astype(np.float64)).sum(axis=1))
    nothing = sd == 0
    z = (plus - minus) / np.where(nothing, 1.0, sd)
    return np.where(nothing, 1.0, pvalue_of_z(z, alternative))


def _hodges_lehmann_interval(result: PairwiseResult, level: float) -> Interval:
    a, b = result.losses
    n = a.shape[-1]
    total = n * (n + 1) // 2
    tail = tail_level(level, result.alternative)
    if n <= EXACT_UP_TO:
        cut = int(np.searchsorted(_untied_cdf(n), tail * (1 + 1e-12), side="right")) - 1
    else:
        sd = np.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
        cut = int(np.floor(total / 2.0 + sd * float(normal_quantile(tail))))

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, Floats]:  # noqa: ARG001
        flat = np.sort(np.reshape(d, (n, -1)), axis=0)
        low, high = np.full(flat.shape[1], -np.inf), np.full(flat.shape[1], np.inf)
        if 0 <= cut < total:
            for pair in range(flat.shape[1]):
                low[pair] = nth_walsh_average(flat[:, pair], cut)
                high[pair] = nth_walsh_average(flat[:, pair], total - 1 - cut)
        return np.reshape(low, d.shape[1:]), np.reshape(high, d.shape[1:])

    low, high = over_pairs(a, b, kernel, axes=1, units=(1, 1))
    return one_sided(low, high, result.alternative)
