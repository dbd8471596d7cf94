"""A t test of the mean difference that allows for skewed differences.

Student's t rejects too often if the differences are skewed: mean and standard deviation then depend
on each other. Hall's transformation of t removes most of this. The test uses whichever of the two
statistics is closer to 0, so it never rejects more often than Student's t.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Bools, Floats, side
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.differences import (
    loss_unit,
    over_pairs,
    paired_losses,
    ratio,
    widening,
    without_noise,
)
from bestofk.stats.pairwise.paired_tests import UNCERTAIN_STEPS
from bestofk.stats.pairwise.resolution import never_zero, resolution_step, smallest_pvalue
from bestofk.stats.pairwise.result import (
    Interval,
    PairwiseResult,
    one_sided,
    scalar_or_array,
    tail_level,
)
from bestofk.stats.tails import pvalue_of_t, t_quantile

UNITS_ALLOWANCE = 2.5
"""Chosen so that lognormal differences of 3 to 60 units keep the level."""
MIN_PRODUCTS = 1 << 24
"""Differences above which the moments of all pairs come from matrix products."""
MIN_SHARE = 1e-4
"""Smallest variance of a difference, relative to that of both losses, that products give."""


def unit_widening(n: int, times: float = 1.0) -> float:
    """Return by how much a decision on n units multiplies the standard error.

    The rates with this factor are measured by ``python studies/caution_rates.py``.

    Examples
    --------
    >>> unit_widening(10), unit_widening(10, times=2.0)
    (1.25, 1.5)
    """
    return 1.0 + UNITS_ALLOWANCE * times / n


def sample_skewness(centred: Floats, *, axis: int) -> Floats:
    """Return the bias-corrected skewness of differences minus their mean; 0 if they are equal.

    Examples
    --------
    >>> d = np.array([1.0, 2.0, 6.0])
    >>> round(float(sample_skewness(d - d.mean(), axis=0)), 6)
    1.457863
    """
    n = centred.shape[axis]
    largest = np.abs(centred).max(axis=axis, keepdims=True)
    unit = centred / np.where(largest > 0, largest, 1.0)
    squares = np.square(unit).mean(axis=axis)
    cubes = (unit * unit * unit).mean(axis=axis)
    return skewness_of(squares, cubes, n)


def skewness_of(squares: Floats, cubes: Floats, n: int) -> Floats:
    """Return the bias-corrected skewness of n numbers with these central moments; 0 for n < 3."""
    if n < 3:
        return np.zeros(np.shape(squares))
    skewness, _ = ratio(cubes, squares**1.5)
    return np.asarray(np.sqrt(n * (n - 1.0)) / (n - 2.0) * skewness)


def skew_corrected(t: Any, skewness: Any, n: Any) -> Floats:
    """Return Student's t or Hall's transformation of it, whichever is closer to 0.

    Parameters
    ----------
    t : array_like
        The mean over its standard error.
    skewness : array_like
        Skewness of the n differences, in units of n times the squared standard error.
    n : array_like
        Number of differences.

    Notes
    -----
    With W = t / sqrt(n) and skewness g, Hall's statistic is
    ``sqrt(n) (W + g W^2 / 3 + g^2 W^3 / 27 + g / (6 n))``. It increases with W. If the two
    statistics have different signs, the result is 0.

    Examples
    --------
    >>> [round(float(skew_corrected(t, 1.0, 16)), 3) for t in (-3, 0, 3)]
    [-2.271, 0.0, 3.0]
    """
    t, g = np.asarray(t, dtype=float), np.asarray(skewness, dtype=float)
    root = np.sqrt(n)
    with np.errstate(invalid="ignore", over="ignore"):
        w = t / root
        hall = t + root * (g * w * w / 3.0 + g * g * w**3 / 27.0) + g / (6.0 * root)
    # both have the sign of t, or the evidence is 0
    hall = np.where(np.isinf(t), t, np.where(t > 0, np.maximum(hall, 0.0), np.minimum(hall, 0.0)))
    return np.asarray(np.where(np.abs(hall) < np.abs(t), hall, t))


def skew_corrected_ends(quantile: Any, skewness: Any, n: Any) -> tuple[Floats, Floats]:
    """Return both ends of the interval of the mean, as (mean - end) / standard error.

    - `quantile`: Upper quantile of the reference distribution, at least 0.
    - `skewness`, `n`: As for `skew_corrected`.

    Examples
    --------
    >>> above, below = skew_corrected_ends(2.0, 0.0, 16)
    >>> float(above), float(below)
    (2.0, -2.0)
    >>> above, below = skew_corrected_ends(2.0, 1.0, 16)
    >>> round(float(above), 3), round(float(below), 3)
    (2.0, -2.542)
    """
    q, g = np.broadcast_arrays(np.asarray(quantile, float), np.asarray(skewness, float))
    root = np.sqrt(n)
    small = np.where(g == 0, 1.0, g)

    def inverse(value: Floats) -> Floats:
        # solve Hall's statistic = value: W = (3 / g) ((1 + g c)^(1/3) - 1)
        x = g * (value / root - g / (6.0 * root * root))
        near = np.abs(x) < 0.5
        # keep all digits of the cube root of 1 + x, minus 1, for small x
        grown = np.where(near, np.expm1(np.log1p(np.where(near, x, 0.0)) / 3.0), np.cbrt(1 + x) - 1)
        return np.where(g == 0, value, root * 3.0 / small * grown)

    return np.maximum(q, inverse(q)), np.minimum(-q, inverse(-q))


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
        The step of which all losses are multiples, such as 1 / n_test for error rates; as for
        `paired_t`. None: the step is unknown and adds no variance.
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
    sides: Alternative = side(alternative)
    step = resolution_step(resolution)
    factor = widening(widened)
    a, b = paired_losses(a, b, axes=1, shape_text="(data sets,)")
    n = a.shape[-1]
    if n < 2:
        raise ArgumentError(f"a must contain at least 2 differences; got {n}.")
    df = float(n - 1)
    unit = loss_unit(a, b)
    uncertainty = UNCERTAIN_STEPS / n * min(step / unit, 1e300)
    agreeing = smallest_pvalue(n, sides)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean = d.mean(axis=0)
        centred = d - mean
        variance = np.square(centred).sum(axis=0) / (n - 1)
        mean, variance = without_noise(mean, variance, noise)
        return judged(mean, variance, sample_skewness(centred, axis=0))

    def judged(mean: Floats, variance: Floats, skewness: Floats) -> tuple[Floats, ...]:
        plain = np.sqrt(variance / n)
        se = np.hypot(plain, uncertainty)
        share, _ = ratio(plain, se)
        skewness = np.where(variance > 0, skewness * share**3, 0.0)
        se = factor * se
        t, _ = ratio(mean, se)
        statistic = skew_corrected(t, skewness, n)
        p = never_zero(pvalue_of_t(statistic, df, sides))
        p = np.where((variance == 0) & (mean == 0), 1.0, p)
        p = np.where(np.isinf(t), np.maximum(p, agreeing), p)
        return statistic, p, mean, se, skewness

    columns: tuple[Floats, ...]
    crossed = a.ndim == b.ndim == 3 and a.shape[1] == b.shape[0] == 1
    if crossed and unit == 1.0 and a.size * b.shape[1] > MIN_PRODUCTS:
        moments, close = _moments(a[:, 0], b[0])
        columns = judged(*moments)
        for i, j in zip(*np.nonzero(close), strict=True):
            one = over_pairs(a[i, 0], b[0, j], kernel, axes=1, units=(0, 0, 1, 1, 0))
            for column, value in zip(columns, one, strict=True):
                column[i, j] = value
    else:
        columns = over_pairs(a, b, kernel, axes=1, units=(0, 0, 1, 1, 0))
    statistic, p, estimate, se, skewness = columns
    return PairwiseResult(
        test="skew-corrected-t",
        statistic=scalar_or_array(statistic),
        pvalue=scalar_or_array(p),
        df=df,
        estimate=scalar_or_array(estimate),
        alternative=sides,
        pivot=scalar_or_array(estimate),
        standard_error=scalar_or_array(se),
        losses=(a, b),
        interval_rule=_rule(skewness, n),
    )


def _moments(a: Floats, b: Floats) -> tuple[tuple[Floats, Floats, Floats], Bools]:
    """Return mean, variance and skewness of the differences of all rows, by matrix products.

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
    return (np.subtract.outer(*means), squares / (n - 1), skewness), close


def _rule(skewness: Floats, n: int) -> Any:
    def rule(result: PairwiseResult, level: float) -> Interval:
        q = -t_quantile(tail_level(level, result.alternative), n - 1.0)
        above, below = skew_corrected_ends(q, skewness, n)
        centre, error = np.asarray(result.pivot), np.asarray(result.standard_error)
        return one_sided(centre - above * error, centre - below * error, result.alternative)

    return rule
