"""Paired tests over data sets or instances: t, skewness-corrected t, and signs."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Bools, Floats, side
from bestofk.stats.pairwise.differences import (
    agreeing_interval,
    moments_of,
    never_zero,
    over_pairs,
    paired_losses,
    ratio,
    resolution_step,
    widening,
)
from bestofk.stats.pairwise.result import (
    Interval,
    PairwiseResult,
    scalar_or_array,
    tail_level,
)
from bestofk.stats.pairwise.skew_corrected import mean_result, sample_skewness
from bestofk.stats.tails import binomial_at_most, pvalue_of_count

MIN_PRODUCTS = 1 << 24
"""Differences above which the moments of all pairs come from matrix products."""
MIN_SHARE = 1e-4
"""Smallest variance of a difference, relative to that of both losses, that products give."""
UNCERTAIN_STEPS = 2.0
"""Uncertainty of the sum of the differences, in steps of the resolution."""


def paired_t(
    a: Any, b: Any, *, alternative: str = "two-sided", resolution: float | None = None
) -> PairwiseResult:
    """Paired t test over n data sets (or instances).

    Test the null hypothesis that the expected difference of the losses of two learners is 0
    (``alternative="greater"``: that the loss of `a` is at most that of `b`). The test assumes that
    the differences are independent and roughly normal. The data sets should be on one scale.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n data sets (or instances), at least 2; leading axes broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    resolution : float, optional
        The step r of which all losses are multiples, such as 1 / n_test for error rates. None: the
        step is unknown and adds no variance.

    Returns
    -------
    PairwiseResult
        `statistic` is t with n - 1 degrees of freedom; the interval is a t interval. If the
        learners never differ, p = 1, and the interval is the whole line.

    Notes
    -----
    With m the mean of the n differences and S^2 their unbiased variance::

        t = m / se,    se^2 = S^2 / n + (2 r / n)^2

    The second term allows for coarse losses. Differences that are whole steps of r agree by
    chance more often than in a normal model, and then S^2 is too small or 0. Therefore the sum of
    the n differences counts as uncertain by two steps, whatever their spread. Without this term,
    the test rejects equal learners whose losses have few distinct values in up to 13 percent at
    level 0.05 (seven data sets) and in up to 4 percent at level 0.005 (five data sets). With it,
    the rates are at most 5.1 and 0.6 percent for 3 to 30 data sets
    (``python benchmarks/coarse_means.py``). For fine losses it costs almost nothing: if the step
    is a tenth of the standard deviation of the differences, less than half a percentage point of
    power on seven data sets.

    If the resolution is unknown and all differences are equal and not 0, t is infinite. The data
    then show only that n signs agree: p is that of the sign test, 2 / 2^n (1 / 2^n one-sided), and
    the interval is that single difference, or the whole line if p is above 1 - level. No p-value
    is 0.

    References
    ----------
    Student (1908). The probable error of a mean. Biometrika 6, 1-25. doi:10.2307/2331554

    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 1-30.

    Examples
    --------
    >>> a = [0.31, 0.22, 0.45, 0.18, 0.27, 0.40]
    >>> b = [0.29, 0.20, 0.41, 0.19, 0.22, 0.40]
    >>> r = paired_t(a, b)
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (2.1483, 5.0, 0.0844)

    A difference of one step on each of seven data sets:

    >>> r = paired_t([0.5] * 7, [0.4] * 7, resolution=0.1)
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (3.5, 0.0128)
    >>> paired_t([0.5] * 7, [0.4] * 7).pvalue
    0.015625
    """
    return _paired("paired-t", a, b, alternative, resolution, None)


def skew_corrected_t(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    resolution: float | None = None,
    widened: float = 1.0,
) -> PairwiseResult:
    """Test the mean difference over n data sets (or instances), corrected for skewness.

    The null hypothesis is that the expected difference of the losses of two learners is 0
    (``alternative="greater"``: that the loss of `a` is at most that of `b`). The test assumes that
    the differences are independent. They may be skewed.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n data sets (or instances), at least 2; leading axes broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    resolution : float, optional
        As for `paired_t`.
    widened : float
        Factor of the standard error, at least 1. A decision passes more than 1 so that the test
        keeps its level on few and skewed differences, too.

    Returns
    -------
    PairwiseResult
        `statistic` is compared with t with n - 1 degrees of freedom. The interval contains the
        differences that the test does not reject. If the learners never differ, p = 1.

    Notes
    -----
    With t the statistic of `paired_t`, g the bias-corrected skewness of the differences and
    W = t / sqrt(n), Hall's statistic is::

        h = sqrt(n) (W + g W^2 / 3 + g^2 W^3 / 27 + g / (6 n))

    The statistic is t or h, whichever is closer to 0, and 0 if their signs differ. h alone rejects
    equal learners in 8 percent if the differences have heavy tails, and t alone in up to 19 percent
    if they are skewed. `python studies/skewed_differences.py` measures both and this test.

    If all differences are equal, the test treats them as `paired_t` does.

    References
    ----------
    P. Hall (1992). On the removal of skewness by transformation. Journal of the Royal Statistical
    Society, Series B 54, 221-228. doi:10.1111/j.2517-6161.1992.tb01876.x

    Examples
    --------
    >>> a = [0.31, 0.22, 0.45, 0.18, 0.27, 0.40]
    >>> b = [0.29, 0.20, 0.41, 0.19, 0.22, 0.40]
    >>> r = skew_corrected_t(a, b)
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (2.1483, 5.0, 0.0844)

    The same mean difference, because of one data set:

    >>> r = skew_corrected_t([0.02, 0.02, 0.02, 0.02, 0.02, 0.20], [0.0] * 6, alternative="less")
    >>> round(r.pvalue, 4)
    0.9218
    """
    return _paired("skew-corrected-t", a, b, alternative, resolution, widening(widened))


def _paired(
    test: str, a: Any, b: Any, alternative: str, resolution: float | None, factor: float | None
) -> PairwiseResult:
    """Return the t test of the mean; with a factor of its error, corrected for skewness."""
    sides: Alternative = side(alternative)
    step = resolution_step(resolution)
    a, b = paired_losses(a, b, axes=1, shape_text="(data sets,)", at_least=2)
    n = a.shape[-1]

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean, variance, centred = moments_of(d, noise)
        error = np.sqrt(variance / n)
        if factor is None:
            return mean, error, np.zeros_like(mean)
        return mean, error, sample_skewness(centred, axis=0)

    crossed = a.ndim == b.ndim == 3 and a.shape[1] == b.shape[0] == 1
    many = crossed and a.size * b.shape[1] > MIN_PRODUCTS
    if many and factor is not None:
        columns, close = _moments(a[:, 0], b[0])
        for i, j in zip(*np.nonzero(close), strict=True):
            one = over_pairs(a[i, 0], b[0, j], kernel, axes=1, outputs=3)
            for column, value in zip(columns, one, strict=True):
                column[i, j] = value
    else:
        columns = over_pairs(a, b, kernel, axes=1, outputs=3)
    mean, plain, skewness = columns
    equal = (plain == 0) & (mean == 0)
    error = np.where(equal, 0.0, np.hypot(plain, UNCERTAIN_STEPS / n * step))
    # an error above that of the spread makes the skewness count less
    share, _ = ratio(plain, error)
    return mean_result(
        test,
        (a, b),
        mean,
        error * (factor or 1.0),
        n - 1.0,
        sides,
        count=n,
        skewness=skewness * share**3,
    )


def _moments(a: Floats, b: Floats) -> tuple[tuple[Floats, ...], Bools]:
    """Return mean, standard error and skewness of the differences of all rows, by products.

    The second result marks pairs whose losses are too close, or too large or small, for this.
    """
    n = a.shape[1]
    means = a.mean(axis=1), b.mean(axis=1)
    a, b = (x - mean[:, np.newaxis] for x, mean in zip((a, b), means, strict=True))
    a2, b2 = np.square(a), np.square(b)
    total = a2.sum(axis=1)[:, np.newaxis] + b2.sum(axis=1)
    squares = total - 2.0 * (a @ b.T)
    close = ~(squares > MIN_SHARE * total)
    squares = np.where(close, 1.0, squares)
    third_a, third_b = (np.einsum("ij,ij->i", x2, x) for x2, x in ((a2, a), (b2, b)))
    cubes = third_a[:, np.newaxis] - third_b - 3.0 * (a2 @ b.T - a @ b2.T)
    skewness = n * np.sqrt(n - 1.0) / (n - 2.0) * cubes / squares**1.5
    close |= ~np.isfinite(skewness)
    return (np.subtract.outer(*means), np.sqrt(squares / (n - 1) / n), skewness), close


def sign(a: Any, b: Any, *, alternative: str = "two-sided") -> PairwiseResult:
    """Exact sign test.

    Test the null hypothesis that both learners are equally likely to win
    (``alternative="greater"``: that `b` is not more likely to win than `a`).

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n data sets (or instances); leading axes broadcast. Differences at
        the level of rounding error are ties.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.

    Returns
    -------
    PairwiseResult
        `statistic` is the number of wins of `a` (smaller losses). `estimate` is the median
        difference, and the interval is between order statistics; it excludes 0 if and only if p is
        at most 1 - level.

    Notes
    -----
    Ties are dropped; the number of wins is then binomial with probability 1/2. If there are no
    differences, p = 1. With many wins p is tiny, but never 0.

    References
    ----------
    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 1-30.

    Examples
    --------
    >>> a = [0.31, 0.22, 0.45, 0.18, 0.27, 0.40]
    >>> b = [0.29, 0.20, 0.41, 0.19, 0.22, 0.40]
    >>> r = sign(a, b, alternative="greater")
    >>> r.statistic, r.pvalue
    (1.0, 0.1875)
    """
    sides: Alternative = side(alternative)
    a, b = paired_losses(a, b, axes=1)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        differs = d * d > noise
        wins_b = (differs & (d > 0)).sum(axis=0)
        wins_a = (differs & (d < 0)).sum(axis=0)
        median = np.median(d, axis=0)
        median = np.where(median * median <= noise.mean(axis=0), 0.0, median)
        return (
            wins_a,
            never_zero(pvalue_of_count(wins_b, wins_a + wins_b, sides)),
            median,
            np.asarray(wins_b - wins_a, dtype=np.float64),
        )

    wins, p, estimate, direction = over_pairs(a, b, kernel, axes=1, outputs=4, each=True)
    return PairwiseResult(
        test="sign",
        statistic=scalar_or_array(wins),
        pvalue=scalar_or_array(p),
        df=None,
        estimate=scalar_or_array(estimate),
        alternative=sides,
        direction=scalar_or_array(direction),
        estimand="typical",
        losses=(a, b),
        interval_rule=_median_interval,
    )


def _median_interval(result: PairwiseResult, level: float) -> Interval:
    """Return the (k+1)-th smallest and (k+1)-th largest difference, P(X <= k) being in the tail."""
    n = result.losses[0].shape[-1]
    tail = tail_level(level, result.alternative)
    k = int((binomial_at_most(np.arange(n), n) <= tail).sum()) - 1

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:  # noqa: ARG001
        ordered = np.sort(d, axis=0)
        if k < 0:
            ends = np.full(d.shape[1:], -np.inf), np.full(d.shape[1:], np.inf)
        else:
            ends = ordered[k], ordered[n - 1 - k]
        return *ends, ordered[0], ordered[-1]

    a, b = result.losses
    low, high, least, most = over_pairs(a, b, kernel, axes=1, outputs=4)
    return agreeing_interval(result, level, low, high, least=least, most=most)
