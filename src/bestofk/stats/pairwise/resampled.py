"""Tests on the splits of one data set: paired t, plain and corrected for shared rows, and z."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Floats, finite_array, positive, refuse, side, whole
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.differences import (
    least_variance,
    moments_of,
    over_pairs,
    paired_losses,
    ratio,
    resolution_step,
    widening,
    without_noise,
)
from bestofk.stats.pairwise.result import PairwiseResult, scalar_or_array
from bestofk.stats.tails import pvalue_of_t, pvalue_of_z


def kfold_t(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    df: float | None = None,
    resolution: float | None = None,
) -> PairwiseResult:
    """Paired t test on the k folds of one cross-validation.

    Test the null hypothesis that the two learners have the same expected loss
    (``alternative="greater"``: that the loss of `a` is at most that of `b`). The folds share
    training rows, so the test rejects somewhat too often with its default df.

    Parameters
    ----------
    a, b : array_like, shape (..., folds)
        Losses on the same folds; leading axes broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    df : float, optional
        Calibrated degrees of freedom; they replace the default k - 1 in the statistic and in
        the t distribution.
    resolution : float, optional
        The step between two losses, such as 1 / n_test for error rates. It bounds the variance
        from below by what one instance of each learner contributes in one fold (see
        `bestofk.stats.pairwise.differences`). None: the test as published.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    ``t = m / (S / sqrt(df + 1))`` with m the mean of the differences and S^2 their unbiased
    variance. 0/0 counts as 0 with p = 1; x/0 is infinite. With a resolution r, S^2 is at least
    2 r^2 / k.

    References
    ----------
    T. G. Dietterich (1998). Approximate statistical tests for comparing supervised
    classification learning algorithms. Neural Computation 10, 1895-1923.
    doi:10.1162/089976698300017197

    R. R. Bouckaert (2003). Choosing between two learning algorithms based on calibrated tests.
    Proceedings of ICML 2003, 51-58.

    Examples
    --------
    >>> r = kfold_t([0.30, 0.25, 0.28, 0.27], [0.26, 0.24, 0.23, 0.25])
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (3.2863, 3.0, 0.0462)
    >>> kfold_t([0.2, 0.3], [0.2, 0.3]).pvalue
    1.0
    """
    return _paired_t("kfold-t", a, b, alternative, df, resolution)


def corrected_resampled_t(
    a: Any,
    b: Any,
    *,
    n_train: Any,
    n_test: Any,
    alternative: str = "two-sided",
    df: float | None = None,
    units: int | None = None,
    resolution: float | None = None,
    widened: float = 1.0,
) -> PairwiseResult:
    """Corrected resampled t test of Nadeau and Bengio.

    Test the null hypothesis that the two learners have the same expected loss
    (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n random splits; leading axes broadcast.
    n_train, n_test : number, or sequence of numbers
        Rows in the training and in the test part of a split; sequences are averaged.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    df : float, optional
        Calibrated degrees of freedom; they replace the default n - 1 in the statistic and in
        the t distribution.
    units : int, optional
        Number of groups of rows that stay together, if there are any. The t distribution has at
        most `units` - 1 degrees of freedom. The ratio of the test part to the training part may be
        that of rows or of groups; over folds that test each of them once, both are
        1 / (folds - 1).
    resolution : float, optional
        As for `kfold_t`.
    widened : float
        Factor of the standard error, at least 1. A decision passes more than 1 so that the test
        keeps its level on few rows with skewed losses, too.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    ``t = m / sqrt((1/n + n_2/n_1) S^2) * sqrt((df + 1) / n)`` with n_1 training and n_2 test
    rows; the last factor is 1 for the default df.

    References
    ----------
    C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning
    52, 239-281. doi:10.1023/A:1024068626366

    Examples
    --------
    >>> r = corrected_resampled_t(
    ...     [0.30, 0.25, 0.28], [0.26, 0.24, 0.23], n_train=270, n_test=30)
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (2.4019, 0.1383)
    """
    return _paired_t(
        "corrected-resampled-t",
        a,
        b,
        alternative,
        df,
        resolution,
        test_ratio=rows_ratio(n_train, n_test),
        units=units,
        widened=widened,
    )


def corrected_repeated_kfold_t(
    a: Any,
    b: Any,
    *,
    alternative: str = "two-sided",
    df: float | None = None,
    test_share: float | None = None,
    units: int | None = None,
    resolution: float | None = None,
    widened: float = 1.0,
) -> PairwiseResult:
    """Corrected repeated k-fold cv t test of Bouckaert and Frank.

    Test the null hypothesis that the two learners have the same expected loss
    (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., runs, folds) or (folds,)
        Losses on the same folds; leading axes broadcast. A single axis is one run.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    df : float, optional
        Calibrated degrees of freedom instead of runs * folds - 1.
    test_share : float, optional
        Rows in the test part over rows in the training part. By default 1 / (folds - 1), which is
        right only if no fold was dropped: nine folds out of ten still have the ratio 1/9 (see
        `bestofk.splits.Design.test_share`).
    units, resolution, widened
        As for `corrected_resampled_t`.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    The statistic is that of `corrected_resampled_t` over all n = runs * folds differences.

    References
    ----------
    R. R. Bouckaert and E. Frank (2004). Evaluating the replicability of significance tests for
    comparing learning algorithms. PAKDD 2004, LNCS 3056, 3-12.
    doi:10.1007/978-3-540-24775-3_3

    Examples
    --------
    >>> a = [[0.30, 0.25, 0.28], [0.27, 0.29, 0.26]]
    >>> b = [[0.26, 0.24, 0.23], [0.25, 0.26, 0.24]]
    >>> r = corrected_repeated_kfold_t(a, b)
    >>> round(r.statistic, 4), r.df, round(r.pvalue, 4)
    (2.3575, 5.0, 0.065)
    """
    a, b = finite_array(a, "a"), finite_array(b, "b")
    if a.ndim == 1 and b.ndim == 1:
        a, b = a[np.newaxis], b[np.newaxis]
    a, b = paired_losses(a, b, axes=2)
    runs, folds = a.shape[-2:]
    if test_share is None:
        if folds < 2:
            raise refuse("folds (the last axis)", "at least 2", folds)
        test_share = 1.0 / (folds - 1)
    flat_a, flat_b = (array.reshape(*array.shape[:-2], runs * folds) for array in (a, b))
    return _paired_t(
        "corrected-repeated-kfold-t",
        flat_a,
        flat_b,
        alternative,
        df,
        resolution,
        test_ratio=positive(test_share, "test_share"),
        units=units,
        widened=widened,
    )


def rows_ratio(n_train: Any, n_test: Any) -> float:
    """Return the mean number of test rows over the mean number of training rows."""
    means = []
    for value, name in ((n_train, "n_train"), (n_test, "n_test")):
        if np.ndim(value) == 0:
            means.append(positive(value, name))
        else:
            sizes = finite_array(value, name)
            means.append(positive(sizes.mean() if sizes.size and (sizes > 0).all() else 0, name))
    return means[1] / means[0]


def degrees_of_freedom(df: Any, default: int, *, where: str) -> float:
    """Return `df`, or the default of the design, which must then be at least 1."""
    if df is not None:
        return positive(df, "df")
    if default < 1:
        raise ArgumentError(f"{where} must leave at least 1 degree of freedom; got {default}.")
    return float(default)


def _paired_t(
    test: str,
    a: Any,
    b: Any,
    alternative: str,
    df: float | None,
    resolution: float | None,
    *,
    test_ratio: float = 0.0,
    units: int | None = None,
    widened: float = 1.0,
) -> PairwiseResult:
    sides: Alternative = side(alternative)
    a, b = paired_losses(a, b, axes=1, at_least=2)
    n = a.shape[-1]
    degrees = degrees_of_freedom(df, n - 1, where=f"the {n} differences")
    # the variance of the mean divided by S^2 is 1 / (df + 1) without correction
    factor = (1.0 + n * test_ratio) / (degrees + 1.0) * widening(widened) ** 2
    least = least_variance(resolution_step(resolution), n)
    if units is not None and df is None:
        degrees = min(degrees, float(whole(units, "units", at_least=2) - 1))

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean, variance, _ = moments_of(d, noise)
        return t_from_variance(mean, variance * factor, degrees, sides, least * factor)

    t, p, estimate, se = over_pairs(a, b, kernel, axes=1, outputs=4)
    return t_result(test, t, p, degrees, estimate, se, sides)


def bayle_cv_z(a: Any, b: Any, *, alternative: str = "two-sided") -> PairwiseResult:
    """Z test from the central limit theorem for cross-validation, for leave-one-out.

    Test the null hypothesis that the *fitted models* of the folds have, on average, the same
    expected loss (``alternative="greater"``: that the loss of `a` is at most that of `b`). The
    hypothesis is not about the learners on other data sets.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        The loss of each of n rows, each predicted by a model trained on the others. Leading axes
        broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    ``Z = sqrt(n) m / s`` is standard normal, with m the mean of the n differences and s^2 their
    variance. The test holds for learners that are stable enough: leaving out one row changes their
    predictions only slightly.

    References
    ----------
    P. Bayle, A. Bayle, L. Janson and L. Mackey (2020). Cross-validation confidence intervals for
    test error. Advances in Neural Information Processing Systems 33, section 4.
    doi:10.48550/arXiv.2007.12671

    Examples
    --------
    >>> a = [1, 0, 1, 1, 0, 1, 0, 1, 1, 0]
    >>> b = [0, 0, 1, 0, 0, 1, 0, 0, 1, 0]
    >>> r = bayle_cv_z(a, b)
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (2.0702, 0.0384)
    """
    sides: Alternative = side(alternative)
    a, b = paired_losses(a, b, axes=1, at_least=2)
    n = a.shape[-1]

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean, variance = without_noise(d.mean(axis=0), d.var(axis=0) / n, noise)
        return t_from_variance(mean, variance, None, sides)

    z, p, estimate, se = over_pairs(a, b, kernel, axes=1, outputs=4)
    return t_result("bayle-cv-z", z, p, None, estimate, se, sides)


def t_from_variance(
    mean: Floats, variance: Floats, df: float | None, alternative: Alternative, least: float = 0.0
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return statistic, p-value, mean and standard error; without `df`, the statistic is normal.

    The variance is at least `least`. If the learners never differ, p = 1.
    """
    se = np.sqrt(np.maximum(variance, least) if least else variance)
    t, empty = ratio(mean, se)
    if least:
        empty = (variance == 0) & (mean == 0)
    p = pvalue_of_z(t, alternative) if df is None else pvalue_of_t(t, df, alternative)
    if np.any(empty):
        p = np.where(empty, 1.0, p)
    return t, p, mean, se


def t_result(
    test: str,
    t: Floats,
    p: Floats,
    df: float | None,
    estimate: Floats,
    se: Floats,
    alternative: Alternative,
    *,
    pivot: Floats | None = None,
    note: str = "",
) -> PairwiseResult:
    """Return a result whose interval is ``estimate +- q se``, or ``pivot +- q se``."""
    return PairwiseResult(
        test=test,
        statistic=scalar_or_array(t),
        pvalue=scalar_or_array(p),
        df=df,
        estimate=scalar_or_array(estimate),
        alternative=alternative,
        pivot=scalar_or_array(estimate if pivot is None else pivot),
        standard_error=scalar_or_array(se),
        direction=None if pivot is None else scalar_or_array(pivot),
        note=note,
    )
