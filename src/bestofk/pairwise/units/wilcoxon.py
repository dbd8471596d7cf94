"""Wilcoxon's signed rank test, exact with ties and zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Alternative, Floats, one_of, side
from bestofk.pairwise.agreeing_interval import agreeing_interval
from bestofk.pairwise.differences import over_pairs, paired_losses
from bestofk.pairwise.result import (
    Interval,
    PairwiseResult,
    scalar_or_array,
    tail_level,
)
from bestofk.pairwise.units.signed_rank_tails import (
    Ranks,
    close_tails,
    exact_tails,
    largest_within,
    normal_tails,
)
from bestofk.pairwise.units.walsh import walsh_averages_at

EXACT_UP_TO = 100
"""Differences up to which ``method="auto"`` is exact."""

_ZEROS = {"wilcox": "wilcox", "drop": "wilcox", "pratt": "pratt", "split": "split"}


def wilcoxon(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    zeros: str = "wilcox",
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
    zeros : {"wilcox", "pratt", "split"}
        What becomes of differences of 0: dropped before ranking (Wilcoxon); ranked and then
        dropped (Pratt); or ranked, half of their ranks going to each side, one of them being
        dropped if their number is odd (Demsar). ``"drop"`` is another name of ``"wilcox"``.
    method : {"auto", "exact", "normal"}
        The null distribution. ``"exact"``: counted out, given the ties. ``"normal"``: the normal
        approximation, corrected for ties and for continuity. ``"auto"``: exact up to 100
        differences, a saddlepoint approximation beyond.

    Returns
    -------
    PairwiseResult
        `statistic` is the smaller of the two rank sums when two-sided, else W+, the sum of
        ranks of positive differences. The interval is Hodges and Lehmann's, from the Walsh
        averages of all differences; it excludes 0 exactly where p is at most 1 - level.

    Notes
    -----
    Under the null hypothesis each rank bears a sign of its own with probability 1/2. The exact
    distribution of W+ comes from dynamic programming over the doubled midranks, which are whole
    numbers also with ties. Two-sided p is twice the smaller tail, at most 1; without any
    difference p = 1. With ``zeros="split"`` the ranks of the zeros bear random signs too, as in
    printed tables for n differences: the zeros then speak for equality, where the other two
    rules take no notice of them.

    From 101 differences on, ``"auto"`` is right to a tenth of a percent of the p-value where the
    absolute differences have ten or more distinct values, or at most three (p from 1e-6 to 1);
    with four to nine it is right to a few percent. The normal approximation is up to 5 percent
    off there for p above 0.01, and doubles a p-value near 1e-6.

    The Walsh averages know nothing of ties and zeros. Where they would put 0 on the other side
    of an end than the test does, that end is moved to 0 or, where the test rejects, a hair
    beyond it.

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
    rule = _ZEROS[one_of(zeros, "zeros", tuple(_ZEROS))]
    one_of(method, "method", ("auto", "exact", "normal"))
    a, b = paired_losses(a, b, axes=1)
    n = a.shape[-1]
    if method == "auto":
        method = "exact" if n <= EXACT_UP_TO else "close"

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        ranks, plus, minus = _rank_sums(d, noise, rule)
        p = _tail(ranks, plus, minus, sides, method)
        if sides == "two-sided":
            p = np.minimum(2.0 * p, 1.0)
        mean = d.mean(axis=0)
        mean = np.where(mean * mean <= noise.mean(axis=0), 0.0, mean)
        smaller = np.minimum(plus, minus) if sides == "two-sided" else plus
        parts = (smaller / 2.0, p, (plus - minus) / 2.0)
        statistic, p, direction = (np.reshape(x, d.shape[1:]) for x in parts)
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


def _rank_sums(d: Floats, noise: Floats, zeros: str) -> tuple[Ranks, Ranks, Ranks]:
    """The doubled ranks of every pair, one row each, and twice W+ and W-."""
    n = len(d)
    flat, flat_noise = (np.reshape(x, (n, -1)).T for x in (d, noise))
    ranks, signs = doubled_midranks(flat, flat_noise, zeros=zeros)
    # the ranks of zeros, if they have any, are shared; their sum is even
    shared = np.where(signs == 0, ranks, 0).sum(axis=1) // 2
    plus = np.where(signs > 0, ranks, 0).sum(axis=1) + shared
    return ranks, plus, ranks.sum(axis=1) - plus


def _tail(ranks: Ranks, plus: Ranks, minus: Ranks, sides: Alternative, method: str) -> Floats:
    """The tail of the alternative, or the smaller one of both, with what lies at its end."""
    # the null distribution is symmetric: P(W+ >= w) = P(W+ <= total - w) = P(W+ <= minus)
    at = {"greater": minus, "less": plus, "two-sided": np.minimum(plus, minus)}[sides]
    tails = {"exact": exact_tails, "close": close_tails, "normal": normal_tails}[method]
    return np.asarray(np.minimum(tails(ranks, at), 1.0))


def doubled_midranks(d: Floats, noise: Floats, *, zeros: str = "wilcox") -> tuple[Ranks, Ranks]:
    """Twice the midranks of |d| in each row and the signs.

    Neighbours in order that differ by no more than their rounding error are tied. Zeros have
    rank 0 unless they are to be split; then they have midranks, but for one of an odd number.
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
    count = zero.sum(axis=1, keepdims=True)
    if zeros == "wilcox":
        doubled = np.where(zero, 0, doubled - 2 * count)
    elif zeros == "pratt":
        doubled = np.where(zero, 0, doubled)
    else:
        odd = count % 2
        # the zeros come first in order; one of an odd number leaves, and the others move up
        doubled = np.where(zero, count - odd + 1, doubled - 2 * odd)
        doubled[:, :1] = np.where(odd, 0, doubled[:, :1])
    ranks = np.empty_like(doubled)
    np.put_along_axis(ranks, order, doubled, axis=1)
    return ranks, signs


def _hodges_lehmann_interval(result: PairwiseResult, level: float) -> Interval:
    a, b = result.losses
    n = a.shape[-1]
    total = n * (n + 1) // 2
    cut = largest_within(n, tail_level(level, result.alternative), EXACT_UP_TO)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:  # noqa: ARG001
        flat = np.sort(np.reshape(d, (n, -1)), axis=0)
        low, high = np.full(flat.shape[1], -np.inf), np.full(flat.shape[1], np.inf)
        if 0 <= cut < total:
            low, high = walsh_averages_at(flat, (cut, total - 1 - cut))
        return tuple(np.reshape(x, d.shape[1:]) for x in (low, high, flat[0], flat[-1]))

    low, high, least, most = over_pairs(a, b, kernel, axes=1, units=(1, 1, 1, 1))
    return agreeing_interval(result, level, low, high, least=least, most=most)
