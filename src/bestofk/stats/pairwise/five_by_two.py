"""Tests on five halvings of the data: Dietterich's 5x2cv t and Alpaydin's combined F."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Floats, side
from bestofk.stats.pairwise.differences import (
    least_variance,
    over_pairs,
    paired_losses,
    ratio,
    resolution_step,
)
from bestofk.stats.pairwise.resampled import t_from_variance, t_result
from bestofk.stats.pairwise.result import Interval, PairwiseResult, one_sided, scalar_or_array
from bestofk.stats.tails import f_sf, f_upper_quantile

ORDER_DECIDES = (
    "The first fold listed is the numerator, so a different order of runs and folds may change the "
    "verdict; 5x2cv-f does not depend on the order."
)


NO_ONE_SIDED_F = (
    "Yildiz and Alpaydin (2006) rule out a one-sided 5x2cv-f test, because F has no sign; here the "
    "mean difference gives the side."
)


def five_by_two_t(
    a: Any, b: Any, *, alternative: str = "two-sided", resolution: float | None = None
) -> PairwiseResult:
    """5x2cv paired t test of Dietterich.

    Test the null hypothesis that the two learners have the same expected loss
    (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., 5, 2)
        Losses in five replications of 2-fold cross-validation, on the same halves; leading
        axes broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    resolution : float, optional
        As for `kfold_t`.

    Returns
    -------
    PairwiseResult
        `statistic` is t with 5 degrees of freedom. `estimate` is the mean of all ten differences.
        Like the statistic, the interval is centred on the first difference. `note` warns that the
        order of runs and folds matters: reversing both changes most verdicts that find a
        difference. `five_by_two_f` does not depend on the order.

    Notes
    -----
    With p_i^(j) the difference on fold j of replication i and
    ``s_i^2 = (p_i^(1) - m_i)^2 + (p_i^(2) - m_i)^2``, the statistic is
    ``t = p_1^(1) / sqrt(sum_i s_i^2 / 5)``. 0/0 counts as 0 with p = 1; x/0 is infinite. With a
    resolution r, sum_i s_i^2 is at least r^2.

    References
    ----------
    T. G. Dietterich (1998). Approximate statistical tests for comparing supervised
    classification learning algorithms. Neural Computation 10, 1895-1923.
    doi:10.1162/089976698300017197

    Examples
    --------
    >>> a = [[0.30, 0.28], [0.33, 0.29], [0.31, 0.30], [0.29, 0.34], [0.32, 0.30]]
    >>> b = [[0.25, 0.26], [0.27, 0.25], [0.28, 0.24], [0.26, 0.27], [0.25, 0.28]]
    >>> r = five_by_two_t(a, b, alternative="greater")
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (1.992, 5.0, 0.0515)
    """
    sides: Alternative = side(alternative)
    a, b = paired_losses(a, b, axes=2, trailing=(5, 2))
    least = least_variance(resolution_step(resolution), 2)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        first, spread = d[0, 0], _spread(d, noise)
        quiet = spread == 0
        if quiet.any():
            first = np.where(quiet & (first * first <= noise[0]), 0.0, first)
        return (*t_from_variance(first, spread / 5.0, 5.0, sides, least / 5.0), _mean(d, noise))

    t, p, first, se, estimate = over_pairs(a, b, kernel, axes=2, outputs=5)
    return t_result("5x2cv-t", t, p, 5.0, estimate, se, sides, pivot=first, note=ORDER_DECIDES)


def five_by_two_f(
    a: Any, b: Any, *, alternative: str = "two-sided", resolution: float | None = None
) -> PairwiseResult:
    """Combined 5x2cv F test of Alpaydin; the sign of the mean difference gives the side.

    Test the null hypothesis that the two learners have the same expected loss
    (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b, alternative, resolution
        As for `five_by_two_t`.

    Returns
    -------
    PairwiseResult
        `statistic` is F with 10 and 5 degrees of freedom; `direction` is the sign of the mean
        difference. The interval contains every delta that the test accepts as the difference; if
        it accepts none, the interval is the point estimate.

    Notes
    -----
    ``f = sum_ij (p_i^(j))^2 / (2 sum_i s_i^2)``, s_i^2 as in `five_by_two_t`. Neither the order
    of the runs nor that of the two folds of a run matters. 0/0 counts as 0 with p = 1; x/0 is
    infinite with p = 0. With a resolution r, sum_i s_i^2 is at least r^2.

    F has no direction; the sign of the mean of the ten differences gives it. With p_F the tail of
    F, the one-sided p-value is p_F / 2 on the side of the mean and 1 - p_F / 2 on the other. A
    mean of 0 favours neither side, however large F is: both one-sided p-values are then 1/2 and
    the two-sided one is 1 (for 0/0 all three are 1).

    References
    ----------
    E. Alpaydin (1999). Combined 5x2 cv F test for comparing supervised classification learning
    algorithms. Neural Computation 11, 1885-1892. doi:10.1162/089976699300016007

    Examples
    --------
    >>> a = [[0.30, 0.28], [0.33, 0.29], [0.31, 0.30], [0.29, 0.34], [0.32, 0.30]]
    >>> b = [[0.25, 0.26], [0.27, 0.25], [0.28, 0.24], [0.26, 0.27], [0.25, 0.28]]
    >>> r = five_by_two_f(a, b)
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (3.7619, (10.0, 5.0), 0.0783)
    >>> round(five_by_two_f(a, b, alternative="greater").pvalue, 4)
    0.0391
    """
    sides: Alternative = side(alternative)
    a, b = paired_losses(a, b, axes=2, trailing=(5, 2))
    least = least_variance(resolution_step(resolution), 2)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        squares, spread, estimate = _f_parts(d, noise)
        f, _ = ratio(squares, 2.0 * np.maximum(spread, least))
        p = _directed(f_sf(f, 10.0, 5.0), estimate, sides)
        return f, np.where(squares == 0, 1.0, p), estimate

    f, p, estimate = over_pairs(a, b, kernel, axes=2, outputs=3)
    return PairwiseResult(
        test="5x2cv-f",
        statistic=scalar_or_array(f),
        pvalue=scalar_or_array(p),
        df=(10.0, 5.0),
        estimate=scalar_or_array(estimate),
        alternative=sides,
        direction=scalar_or_array(np.sign(estimate)),
        note="" if sides == "two-sided" else NO_ONE_SIDED_F,
        losses=(a, b),
        interval_rule=partial(_f_interval, least=least),
    )


def _spread(d: Floats, noise: Floats) -> Floats:
    """Return the sum of s_i^2; s_i^2 is half the squared difference of the two folds."""
    total: Floats = np.zeros(d.shape[2:])
    for i in range(5):
        s_squared = d[i, 0] - d[i, 1]
        s_squared = 0.5 * (s_squared * s_squared)
        flat = s_squared <= noise[i]
        if flat.any():
            s_squared = np.where(flat, 0.0, s_squared)
        total += s_squared
    return total


def _mean(d: Floats, noise: Floats) -> Floats:
    mean = d.sum(axis=(0, 1)) / 10.0
    return np.asarray(np.where(mean * mean <= noise.mean(axis=0), 0.0, mean))


def _f_parts(d: Floats, noise: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the sum of squares, the sum of s_i^2, and the mean."""
    squares = np.square(d)
    squares = np.where(squares <= noise[:, np.newaxis], 0.0, squares).sum(axis=(0, 1))
    return squares, _spread(d, noise), _mean(d, noise)


def _directed(p: Floats, mean: Floats, alternative: Alternative) -> Floats:
    """Return the p-value for the alternative from that of F and the sign of the mean."""
    if alternative == "two-sided":
        return np.asarray(np.where(mean == 0, 1.0, p))
    towards = mean if alternative == "greater" else -mean
    half = 0.5 * p
    return np.asarray(np.where(towards > 0, half, np.where(towards < 0, 1.0 - half, 0.5)))


def _f_interval(result: PairwiseResult, level: float, *, least: float) -> Interval:
    # sum (d_ij - delta)^2 = SS + 10 (m - delta)^2 <= 2 S f: a quadratic in delta
    two_sided = result.alternative == "two-sided"
    outside = 1.0 - level if two_sided else 2.0 * min(level, 1.0 - level)
    critical = f_upper_quantile(outside, 10.0, 5.0)
    # a one-sided interval of a level below 1/2 ends on the other side of the mean
    outwards = 1.0 if two_sided or level >= 0.5 else -1.0

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, Floats]:
        mean, spread = _mean(d, noise), np.maximum(_spread(d, noise), least)
        around = np.square(d - mean).sum(axis=(0, 1))
        half = np.sqrt(np.maximum(2.0 * spread * critical - around, 0.0) / 10.0)
        return mean - outwards * half, mean + outwards * half

    a, b = result.losses
    low, high = over_pairs(a, b, kernel, axes=2, outputs=2)
    return one_sided(low, high, result.alternative)
