"""Nested cross-validation of Bates, Hastie and Tibshirani."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Alternative, Floats, side
from bestofk.errors import ArgumentError
from bestofk.pairwise.differences import without_noise
from bestofk.pairwise.result import PairwiseResult
from bestofk.pairwise.subset_parts import two_parts
from bestofk.pairwise.z_values import z_from_variance, z_result


def nested_cv_z(
    a: Any, b: Any, *, runs: int, folds: int, alternative: str = "two-sided"
) -> PairwiseResult:
    """Z test from nested cross-validation.

    Tests the hypothesis that the two *fitted models*, those that all rows give, have the same
    expected loss on new rows (``alternative="greater"``: that the loss of `a` is at most that of
    `b`); not whether the learners would have over other data sets.

    Parameters
    ----------
    a, b : array_like, shape (..., runs * folds + runs * folds * (folds - 1))
        Losses of every fold of every run; then, for every run and every fold that it leaves out,
        the losses of the other folds, each predicted without itself and without that fold.
        Leading axes broadcast.
    runs, folds : int
        Of the cross-validation; at least three folds.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is the greater one.

    Returns
    -------
    PairwiseResult
        `estimate` is the mean difference of the cross-validation; the statistic and the interval
        are about it without its bias (`pivot`).

    Notes
    -----
    With K folds, o_ri the mean difference on fold i of run r and n_ri that of the inner
    cross-validation without this fold::

        MSE = mean_ri (n_ri - o_ri)^2 - mean_r s_r^2,    SE = sqrt((K - 1) / K MSE)

    where s_r^2 is the variance between the folds of run r, which stands for the variance of o_ri
    given its model (the paper takes it from the single rows). SE is kept between the naive
    ``s / sqrt(K)`` and ``s``, as in the paper. The difference is taken without its bias, which is
    ``(1 + (K - 2) / K) (mean n - mean o)`` from ``mean n``. The paper takes 200 runs; with few,
    SE is often far too small.

    References
    ----------
    S. Bates, T. Hastie and R. Tibshirani (2023). Cross-validation: what does it estimate and how
    well does it do it? Journal of the American Statistical Association 119, 1434-1445,
    algorithm 1. doi:10.1080/01621459.2023.2197686

    Examples
    --------
    One run of three folds, and the two folds that remain without each of them:

    >>> a = [0.30, 0.28, 0.35] + [0.31, 0.33, 0.29, 0.36, 0.32, 0.30]
    >>> b = [0.26, 0.24, 0.25] + [0.26, 0.30, 0.28, 0.30, 0.24, 0.29]
    >>> r = nested_cv_z(a, b, runs=1, folds=3)
    >>> round(r.statistic, 4), round(r.pivot, 4), round(r.standard_error, 4)
    (3.3333, 0.0667, 0.02)
    """
    sides: Alternative = side(alternative)
    if not isinstance(folds, int | np.integer) or folds < 3:
        raise ArgumentError(f"folds must be a whole number of at least 3; got {folds!r}.")
    apply = two_parts(
        a, b, runs=runs, folds=folds, subset_runs=runs * folds, subset_folds=folds - 1
    )
    K = int(folds)

    def kernel(outer: Floats, inner: Floats, noise: Floats) -> tuple[Floats, ...]:
        within = inner.mean(axis=1).reshape(outer.shape)
        between = outer.var(axis=1, ddof=1).mean(axis=0)
        mse = np.square(within - outer).mean(axis=(0, 1)) - between
        naive = between / K
        variance = np.clip((K - 1) / K * mse, naive, K * naive)
        mean = outer.mean(axis=(0, 1))
        nested = within.mean(axis=(0, 1))
        pivot = nested - (1.0 + (K - 2) / K) * (nested - mean)
        mean, _ = without_noise(mean, variance, noise)
        pivot, variance = without_noise(pivot, variance, noise)
        return (*z_from_variance(pivot, variance, sides), mean, pivot)

    z, p, se, estimate, pivot = apply(kernel, (0, 0, 1, 1, 1))
    return z_result("nested-cv-z", z, p, estimate, pivot, se, sides)
