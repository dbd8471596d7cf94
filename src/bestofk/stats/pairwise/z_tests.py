"""Z tests, with a standard normal statistic."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Alternative, Floats, side
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.differences import over_pairs, paired_losses, ratio, without_noise
from bestofk.stats.pairwise.result import (
    Interval,
    PairwiseResult,
    one_sided,
    scalar_or_array,
    tail_level,
)
from bestofk.stats.tails import normal_quantile, pvalue_of_z


def z_from_variance(
    mean: Floats, variance: Floats, alternative: Alternative
) -> tuple[Floats, Floats, Floats]:
    """Return statistic, p-value and standard error; 0/0 gives a statistic of 0 and p = 1."""
    se = np.sqrt(variance)
    z, empty = ratio(mean, se)
    p = pvalue_of_z(z, alternative)
    if np.any(empty):
        p = np.where(empty, 1.0, p)
    return z, p, se


def z_result(
    test: str,
    z: Floats,
    p: Floats,
    estimate: Floats,
    pivot: Floats,
    se: Floats,
    alternative: Alternative,
) -> PairwiseResult:
    """Return a result whose interval is ``pivot +- q se`` with a normal quantile q."""
    return PairwiseResult(
        test=test,
        statistic=scalar_or_array(z),
        pvalue=scalar_or_array(p),
        df=None,
        estimate=scalar_or_array(estimate),
        alternative=alternative,
        pivot=scalar_or_array(pivot),
        standard_error=scalar_or_array(se),
        direction=scalar_or_array(pivot),
        interval_rule=_interval,
    )


def _interval(result: PairwiseResult, level: float) -> Interval:
    q = -float(normal_quantile(tail_level(level, result.alternative)))
    assert result.pivot is not None
    half = q * np.asarray(result.standard_error, dtype=np.float64)
    return one_sided(result.pivot - half, result.pivot + half, result.alternative)


def bayle_cv_z(
    a: Any, b: Any, *, fold_of: Any = None, alternative: str = "two-sided"
) -> PairwiseResult:
    """Z test from the central limit theorem for cross-validation.

    Test the null hypothesis that the *fitted models* of the folds have, on average, the same
    expected loss (``alternative="greater"``: that the loss of `a` is at most that of `b`). The
    hypothesis is not about the learners on other data sets.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        The loss of each of n rows. The model of the fold that tests a row predicts it. Leading
        axes broadcast.
    fold_of : array_like of int, shape (n,), optional
        The fold of each row; None: each row is its own fold (leave-one-out).
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    ``Z = sqrt(n) m / s`` is standard normal, with m the mean of the n differences. s^2 is the mean
    over the folds of the unbiased variance within a fold, or with leave-one-out the variance of
    all differences (the paper's two estimators). The test holds for learners that are stable
    enough: leaving out one row changes their predictions only slightly.

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
    >>> round(bayle_cv_z(a, b, fold_of=[0, 0, 0, 0, 0, 1, 1, 1, 1, 1]).statistic, 4)
    1.8974
    """
    sides: Alternative = side(alternative)
    a, b = paired_losses(a, b, axes=1)
    n = a.shape[-1]
    folds = _folds(fold_of, n)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        if folds is None:
            s_squared = d.var(axis=0)
        else:
            s_squared = np.mean([d[rows].var(axis=0, ddof=1) for rows in folds], axis=0)
        mean, variance = without_noise(d.mean(axis=0), s_squared / n, noise)
        return (*z_from_variance(mean, variance, sides), mean)

    z, p, se, estimate = over_pairs(a, b, kernel, axes=1, units=(0, 0, 1, 1))
    return z_result("bayle-cv-z", z, p, estimate, estimate, se, sides)


def _folds(fold_of: Any, n: int) -> list[Any] | None:
    """Return the rows of each fold; None for leave-one-out."""
    if fold_of is None:
        if n < 2:
            raise ArgumentError(f"a must contain the losses of at least 2 rows; got {n}.")
        return None
    marks = np.asarray(fold_of)
    if marks.shape != (n,):
        raise ArgumentError(
            f"fold_of must contain the fold of each of the {n} rows; got shape {marks.shape}."
        )
    rows = [np.flatnonzero(marks == fold) for fold in np.unique(marks)]
    if min(map(len, rows)) < 2:
        raise ArgumentError(
            "fold_of must put at least 2 rows into every fold; omit it for leave-one-out."
        )
    return rows
