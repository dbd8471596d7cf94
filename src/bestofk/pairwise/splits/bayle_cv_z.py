"""The central limit theorem for cross-validation of Bayle et al. as a test."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Alternative, Floats, side
from bestofk.errors import ArgumentError
from bestofk.pairwise.differences import over_pairs, paired_losses, without_noise
from bestofk.pairwise.result import PairwiseResult
from bestofk.pairwise.z_values import z_from_variance, z_result


def bayle_cv_z(
    a: Any, b: Any, *, fold_of: Any = None, alternative: str = "two-sided"
) -> PairwiseResult:
    """Z test from the central limit theorem for cross-validation.

    Tests the hypothesis that the *fitted models* of the folds have, on average, the same expected
    loss (``alternative="greater"``: that the loss of `a` is at most that of `b`); not whether the
    learners would have over other data sets.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        The loss of each of n rows, each predicted once, by the model of the fold that tests it.
        Leading axes broadcast.
    fold_of : array_like of int, shape (n,), optional
        The fold of each row; None: every row is a fold of its own (leave-one-out).
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is the greater one.

    Returns
    -------
    PairwiseResult

    Notes
    -----
    ``Z = sqrt(n) m / s``, standard normal, with m the mean of the n differences and s^2 the mean
    over the folds of the unbiased variance inside a fold; with leave-one-out the variance of all
    differences (the paper's two estimators). It holds for learners that are stable enough: when
    leaving out one row changes their predictions by little more than chance.

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
    """The rows of every fold."""
    if fold_of is None:
        if n < 2:
            raise ArgumentError(f"a must hold the losses of at least 2 rows; got {n}.")
        return None
    marks = np.asarray(fold_of)
    if marks.shape != (n,):
        raise ArgumentError(
            f"fold_of must hold the fold of each of the {n} rows; got shape {marks.shape}."
        )
    rows = [np.flatnonzero(marks == fold) for fold in np.unique(marks)]
    if min(map(len, rows)) < 2:
        raise ArgumentError(
            "fold_of must put at least 2 rows into every fold; leave it out for leave-one-out."
        )
    return rows
