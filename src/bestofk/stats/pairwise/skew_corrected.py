"""The t test of a mean difference from its standard error, with a correction for skewness.

Student's t rejects too often if the differences are skewed: mean and standard deviation then depend
on each other. Hall's transformation of t removes most of this. The test uses whichever of the two
statistics is closer to 0, so it never rejects more often than Student's t.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Floats
from bestofk.stats.pairwise.differences import never_zero, ratio, smallest_pvalue
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
    squares = np.square(unit)
    cubes = (squares * unit).mean(axis=axis)
    squares = squares.mean(axis=axis)
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


def mean_result(
    test: str,
    losses: tuple[Floats, ...],
    mean: Floats,
    error: Floats,
    df: float | Floats,
    sides: Alternative,
    *,
    count: Any,
    skewness: Any = 0.0,
    least: Any = None,
    identical: Any = None,
    unit: float | None = None,
) -> PairwiseResult:
    """Return the skewness-corrected t test of mean differences with these standard errors.

    - `mean`, `error`, `df` (...): Mean differences, standard errors and degrees of freedom.
    - `skewness`: That of `count` independent units.
    - `least`: The p-value if the units differ by the same number; by default that of their signs.
    - `identical`: Whether the learners never differ; by default without a mean and an error.
    - `unit`: The largest possible difference, which bounds the interval.
    """
    t, _ = ratio(mean, error)
    statistic = skew_corrected(t, skewness, count)
    p = never_zero(pvalue_of_t(statistic, df, sides))
    never_differ = (error == 0) & (mean == 0) if identical is None else identical
    p = np.where(never_differ, 1.0, p)
    if least is None:
        least = smallest_pvalue(int(np.min(count)), sides)
    p = np.where(np.isinf(t), np.maximum(p, least), p)

    def rule(result: PairwiseResult, level: float) -> Interval:
        q = -t_quantile(tail_level(level, result.alternative), df)
        ends = skew_corrected_ends(q, skewness, count)
        with np.errstate(invalid="ignore"):
            low, high = (np.where(error == 0, mean, mean - end * error) for end in ends)
        if unit is not None:
            # no mean difference exceeds the largest possible difference
            low, high = np.clip(low, -unit, unit), np.clip(high, -unit, unit)
        return one_sided(low, high, result.alternative)

    common = isinstance(df, float) or (df.size > 0 and np.ptp(df) == 0)
    return PairwiseResult(
        test=test,
        statistic=scalar_or_array(statistic),
        pvalue=scalar_or_array(p),
        df=float(np.ravel(df)[0]) if common else None,
        estimate=scalar_or_array(mean),
        alternative=sides,
        pivot=scalar_or_array(mean),
        standard_error=scalar_or_array(error),
        losses=losses,
        interval_rule=rule,
    )
