"""Tests of metrics on one test set that are not means over its rows: AUC, F1, R2, ...

Such a metric becomes one *component* per row (or group of rows). The mean of the components of a
model is its metric, and their spread gives the standard error. Differences of components of two
models are paired by row, so that everything the models have in common cancels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Alternative, Floats, finite_array, side
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.differences import over_pairs, paired_losses, ratio, without_noise
from bestofk.stats.pairwise.result import PairwiseResult
from bestofk.stats.pairwise.skew_corrected import mean_result

MIN_OF_CLASS = 2
"""Minimum number of rows (or groups) of each class for a variance."""


def auc_components(
    positive: Any, scores: Any, *, sample_weight: Any = None, groups: Any = None
) -> Floats:
    """Return the components of 1 - AUC of K models, for `delong`.

    Parameters
    ----------
    positive : array_like of bool, shape (n,)
        Whether each row belongs to the positive class.
    scores : array_like, shape (..., n)
        Scores of the rows; larger means more likely positive. Tied scores count half. Only their
        order matters, so probabilities and decision values are both accepted.
    sample_weight : array_like, shape (n,), optional
        Weight of each row; the weight of a pair of rows is the product.
    groups : array_like, shape (n,), optional
        Group of each row. Rows of one group may depend on each other; the result then has one
        component per group, in the sorted order of the groups.

    Returns
    -------
    ndarray, shape (..., units)
        One component per row or group. Their mean is 1 - AUC.

    Notes
    -----
    Let V_i be the share of negatives with a smaller score than positive i, and V_j the share of
    positives with a larger score than negative j. Both have the mean AUC. DeLong's variance of
    the AUC is ``S1 / m + S0 / n``, from the variances of V_i over the m positives and of V_j over
    the n negatives. The component of a positive is 1 - AUC - (N / m) c (V_i - AUC) with
    N = m + n and c^2 = m / (m - 1), and that of a negative is the same with n. The sum of squared
    deviations of the components, divided by N^2, is then DeLong's variance. With groups, the
    deviations are added up within each of the G groups and multiplied by c^2 = G / (G - 1), as
    Obuchowski does for clustered rows. All K models take O(K N log N) time.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). Comparing the areas under two or
    more correlated receiver operating characteristic curves. Biometrics 44, 837-845.
    doi:10.2307/2531595

    N. A. Obuchowski (1997). Nonparametric analysis of clustered ROC curve data. Biometrics 53,
    567-578. doi:10.2307/2533958

    X. Sun and W. Xu (2014). Fast implementation of DeLong's algorithm for comparing the areas
    under correlated receiver operating characteristic curves. IEEE Signal Processing Letters 21,
    1389-1393. doi:10.1109/LSP.2014.2337313

    Examples
    --------
    >>> components = auc_components([True, True, False, False], [0.9, 0.4, 0.6, 0.1])
    >>> round(float(components.mean()), 12)
    0.25
    """
    truth = np.asarray(positive)
    if truth.ndim != 1 or truth.dtype != np.bool_:
        raise ArgumentError(
            f"positive must be an array of bool with one axis; got {truth.dtype} of shape "
            f"{truth.shape}."
        )
    array = finite_array(scores, "scores")
    if array.shape[-1] != len(truth):
        raise ArgumentError(
            f"scores must have {len(truth)} values on the last axis, one per row; got shape "
            f"{array.shape}."
        )
    weights = np.ones(len(truth))
    if sample_weight is not None:
        weights = finite_array(sample_weight, "sample_weight")
    units, counts = _units(truth, groups)
    flat = array.reshape(-1, len(truth))
    components = np.empty((len(flat), len(counts)))
    for model, row in enumerate(flat):
        area, deviations = _deviations(truth, row, weights)
        if groups is None:
            scaled = deviations * np.where(truth, *(np.sqrt(c / (c - 1.0)) for c in _sizes(truth)))
        else:
            scaled = np.bincount(units, weights=deviations, minlength=len(counts))
            scaled *= np.sqrt(len(counts) / (len(counts) - 1.0))
        components[model] = 1.0 - area - len(counts) * scaled
    return components.reshape(*array.shape[:-1], len(counts))


def _sizes(truth: npt.NDArray[np.bool_]) -> tuple[int, int]:
    positives = int(np.count_nonzero(truth))
    return positives, len(truth) - positives


def _units(
    truth: npt.NDArray[np.bool_], groups: Any
) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any]]:
    """Return the unit of each row and the unit sizes; refuse too few rows or groups of a class."""
    if groups is None:
        units = np.arange(len(truth))
    else:
        marks = np.asarray(groups)
        if marks.shape != truth.shape:
            raise ArgumentError(
                f"groups must hold the group of each of the {len(truth)} rows; got shape "
                f"{marks.shape}."
            )
        _, units = np.unique(marks.astype(str), return_inverse=True)
    what = "rows" if groups is None else "groups"
    for chosen, name in ((truth, "positive"), (~truth, "negative")):
        count = len(np.unique(units[chosen]))
        if count < MIN_OF_CLASS:
            raise ArgumentError(
                f"The AUC needs at least {MIN_OF_CLASS} {what} of each class among the test "
                f"rows; got {count} with the {name} class."
            )
    return units, np.bincount(units)


def _deviations(
    truth: npt.NDArray[np.bool_], scores: Floats, weights: Floats
) -> tuple[float, Floats]:
    """Return the AUC and the influence of each row on it, which add up to 0."""
    levels, level = np.unique(scores, return_inverse=True)
    up, down = (
        np.bincount(level[chosen], weights=weights[chosen], minlength=len(levels))
        for chosen in (truth, ~truth)
    )
    total_up, total_down = up.sum(), down.sum()
    if not (total_up > 0 and total_down > 0):
        raise ArgumentError("The AUC needs rows of both classes with weights above 0.")
    below = (np.cumsum(down) - down / 2) / total_down
    above = 1.0 - (np.cumsum(up) - up / 2) / total_up
    area = float((up * below).sum() / total_up)
    placement = np.where(truth, below[level], above[level])
    shares = weights / np.where(truth, total_up, total_down)
    return area, shares * (placement - area)


def delong(a: Any, b: Any, *, alternative: str = "two-sided") -> PairwiseResult:
    """DeLong's test of two correlated areas under the ROC curve.

    Test the null hypothesis that two *fitted models* have the same AUC on rows like those of the
    test set (``alternative="greater"``: that 1 - AUC of `a` is at most that of `b`). The
    hypothesis is not about the learners, which other training rows would lead to other models.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Components of 1 - AUC from `auc_components`, for the same rows or groups; leading axes
        broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: 1 - AUC of `a` is greater.

    Returns
    -------
    PairwiseResult
        `statistic` is t, with the degrees of freedom of `effective_df`; the interval is a t
        interval. `df` is None if the pairs have different degrees of freedom.

    Notes
    -----
    ``t = (AUC_b - AUC_a) / se`` with ``se^2`` the sum of the squared deviations of the n
    differences, divided by n^2. That is DeLong's variance of the difference, with the covariance
    of the two areas. DeLong et al. use the normal distribution. With 6 positives among 200 rows
    it finds a difference between equal models in 9 to 14 percent of the test sets, because the
    variance comes from the few positives alone. If all differences are equal and not 0 (a perfect
    and a constant score), the variance is 0. The data then show only that n rows agree: p is that
    of the sign test.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988). Comparing the areas under two or
    more correlated receiver operating characteristic curves. Biometrics 44, 837-845.
    doi:10.2307/2531595

    Examples
    --------
    >>> positive = np.array([True] * 4 + [False] * 5)
    >>> scores = [[8, 7, 6, 3, 5, 4, 2, 1, 0], [8, 5, 4, 3, 7, 6, 2, 1, 0]]
    >>> a, b = auc_components(positive, scores)
    >>> result = delong(a, b)
    >>> round(result.estimate, 4), round(result.statistic, 4), round(result.df, 1)
    (-0.2, -1.1882, 8.0)
    """
    return _component_test("delong", a, b, side(alternative), unbiased=True)


def effective_df(squares: Floats) -> Floats:
    """Return the degrees of freedom of a sum of squared deviations along the first axis.

    If few units, such as the rows of a rare class, have most of the sum, it varies as a sum over
    those units alone. With S the sum of the squares and Q that of their squares, the result is
    2 S^2 / Q - 1, rounded down, at least 1 and at most n - 1. For m normal deviations next to much
    smaller ones, that is about 2 m / 3. The factor 3, which is right for many normal deviations,
    does not keep the level with few (``python studies/level_holes.py auc``).

    Examples
    --------
    >>> effective_df(np.array([1.0] * 6 + [0.0] * 194)).item(), effective_df(np.ones(5)).item()
    (11.0, 4.0)
    """
    # in units of the largest square, whose own square might underflow
    squares, _ = ratio(squares, np.broadcast_to(squares.max(axis=0), squares.shape))
    share, _ = ratio(np.square(squares.sum(axis=0)), np.square(squares).sum(axis=0))
    df: Floats = np.clip(np.floor(2.0 * share - 1.0), 1.0, max(len(squares) - 1.0, 1.0))
    return df


def _component_test(
    name: str, a: Any, b: Any, sides: Alternative, *, unbiased: bool
) -> PairwiseResult:
    """Return the t test of the mean difference of components.

    `unbiased`: whether the components contain the factor that makes their variance unbiased.
    """
    first, second = paired_losses(a, b, axes=1, shape_text="(rows,)", at_least=2)
    n = first.shape[-1]

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean = d.mean(axis=0)
        squares = np.square(d - mean)
        variance = squares.sum(axis=0) / (n**2 if unbiased else n * (n - 1))
        df = effective_df(squares)
        mean, variance = without_noise(mean, variance, noise)
        return mean, np.sqrt(variance), df

    mean, error, df = over_pairs(first, second, kernel, axes=1, outputs=3)
    return mean_result(name, (first, second), mean, error, df, sides, count=n)


def jackknife_components(metric: float, left_out: Any) -> Floats:
    """Return one component per unit of any metric, for `jackknife_t`.

    Parameters
    ----------
    metric : float
        The metric on all rows.
    left_out : array_like, shape (n,)
        The metric without unit i, for each of n units: single rows, groups of rows, or blocks.

    Returns
    -------
    ndarray, shape (n,)
        ``metric + (n - 1) (mean of left_out - left_out)``. Their mean is the metric.

    Examples
    --------
    The components of a mean are the values themselves:

    >>> values = np.array([3.0, 5.0, 10.0])
    >>> jackknife_components(values.mean(), (values.sum() - values) / 2).tolist()
    [3.0, 5.0, 10.0]
    """
    without = finite_array(left_out, "left_out")
    components: Floats = metric + (len(without) - 1) * (without.mean() - without)
    return components


def jackknife_t(a: Any, b: Any, *, alternative: str = "two-sided") -> PairwiseResult:
    """T test of two values of any metric on one test set, with jackknife standard errors.

    Test the null hypothesis that two *fitted models* have the same metric on rows like those of
    the test set (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Components from `jackknife_components`, for the same rows or groups; leading axes
        broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.

    Returns
    -------
    PairwiseResult
        `statistic` is t, with the degrees of freedom of `effective_df`; the interval is a t
        interval. `df` is None if the pairs have different degrees of freedom.

    Notes
    -----
    The standard error of the difference is the jackknife standard error: that of the mean of the
    differences of the components.

    References
    ----------
    J. W. Tukey (1958). Bias and confidence in not quite large samples. Annals of Mathematical
    Statistics 29, 614. doi:10.1214/aoms/1177706647

    B. Efron and C. Stein (1981). The jackknife estimate of variance. Annals of Statistics 9,
    586-596. doi:10.1214/aos/1176345462

    Examples
    --------
    >>> a = jackknife_components(0.50, [0.52, 0.47, 0.50, 0.51])
    >>> b = jackknife_components(0.40, [0.43, 0.38, 0.38, 0.41])
    >>> result = jackknife_t(a, b)
    >>> round(result.estimate, 4), result.df, round(result.pvalue, 4)
    (0.1, 3.0, 0.0181)
    """
    return _component_test("jackknife-t", a, b, side(alternative), unbiased=False)
