"""Bayesian correlated t test with a region of practical equivalence."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Alternative, Floats, refuse, side
from bestofk.errors import ArgumentError
from bestofk.pairwise.bayesian.posterior import PosteriorResult, posterior_pvalue, rope_half_width
from bestofk.pairwise.differences import loss_unit, over_pairs, paired_losses, ratio, without_noise
from bestofk.pairwise.resolution import least_variance, step_of
from bestofk.pairwise.result import scalar_or_array
from bestofk.pairwise.splits.resampled_t import rows_ratio
from bestofk.tails import t_sf


def correlated_t(
    a: Any,
    b: Any,
    *,
    rope: float = 0.0,
    rho: float | None = None,
    n_train: Any = None,
    n_test: Any = None,
    alternative: str = "two-sided",
    resolution: float | None = None,
) -> PosteriorResult:
    """Bayesian correlated t test of Corani and Benavoli.

    No null hypothesis is tested: the posterior of the expected difference of losses is divided
    into *a is better*, *practically equivalent* and *b is better*.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n splits (all folds of all runs in one axis); leading axes broadcast.
    rope : float
        Differences from -rope to rope count as none.
    rho : float, optional
        Correlation of the differences; by default ``n_test / (n_train + n_test)``.
    n_train, n_test : number, or sequence of numbers
        Rows in the training and in the test part, needed without `rho`; of several, the means
        count.
    alternative : {"two-sided", "greater", "less"}
        Only for `pvalue`; see `PosteriorResult`.
    resolution : float, optional
        The step between two losses, such as 1 / n_test for error rates: no variance is then
        taken to be smaller than what one instance of each learner makes in one fold (see
        `bestofk.pairwise.resolution`). None: as published.

    Returns
    -------
    PosteriorResult
        `confidence_interval` gives the credible interval.

    Notes
    -----
    With m and S^2 the mean and unbiased variance of the n differences, the posterior is
    ``St(m, (1/n + rho / (1 - rho)) S^2, n - 1)``. With ``rope=0`` its tails are the p-values of
    the corrected resampled t test. Without any spread the whole mass lies on m; of learners
    that never differ it lies in the region of equivalence, and p = 1. With a resolution r, S^2
    is at least 2 r^2 / n, but for learners that never differ.

    References
    ----------
    G. Corani and A. Benavoli (2015). A Bayesian approach for comparing cross-validated
    algorithms on multiple data sets. Machine Learning 100, 285-304.
    doi:10.1007/s10994-015-5486-z

    Examples
    --------
    >>> r = correlated_t(
    ...     [0.30, 0.25, 0.28, 0.27], [0.26, 0.24, 0.23, 0.25], rope=0.01, rho=0.25)
    >>> round(r.left, 4), round(r.rope, 4), round(r.right, 4)
    (0.0321, 0.0914, 0.8765)
    """
    sides: Alternative = side(alternative)
    width = rope_half_width(rope)
    a, b = paired_losses(a, b, axes=1)
    n = a.shape[-1]
    if n < 2:
        raise ArgumentError(f"a must hold at least 2 differences; got {n}.")
    df = float(n - 1)
    region = width / loss_unit(a, b)
    least = least_variance(step_of(resolution, a, b), n)
    factor = 1.0 / n + _test_over_train(rho, n_train, n_test)

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean = d.mean(axis=0)
        variance = np.square(d - mean).sum(axis=0) / (n - 1)
        mean, variance = without_noise(mean, variance, noise)
        if least:
            alike = (variance == 0) & (mean == 0)
            variance = np.where(alike, 0.0, np.maximum(variance, least))
        se = np.sqrt(variance * factor)
        sure = se == 0
        t, _ = ratio(mean, se)
        scale = np.where(sure, 1.0, se)
        # each probability and its complement come from their own tail, so that both are exact
        over, under = (mean - region) / scale, (mean + region) / scale
        right = np.where(sure, mean > region, t_sf(-over, df))
        left = np.where(sure, mean < -region, t_sf(under, df))
        not_right = np.where(sure, mean <= region, t_sf(over, df))
        not_left = np.where(sure, mean >= -region, t_sf(-under, df))
        equivalent = np.where(sure, np.abs(mean) <= region, np.maximum(1.0 - left - right, 0.0))
        if width == 0:
            equivalent = np.where(sure, equivalent, 0.0)
        return t, mean, se, left, equivalent, right, not_right, not_left

    t, mean, se, left, equivalent, right, not_right, not_left = over_pairs(
        a, b, kernel, axes=1, units=(0, 1, 1, 0, 0, 0, 0, 0)
    )
    return PosteriorResult(
        test="correlated-t",
        statistic=scalar_or_array(t),
        pvalue=posterior_pvalue(not_right, not_left, sides),
        df=df,
        estimate=scalar_or_array(mean),
        alternative=sides,
        pivot=scalar_or_array(mean),
        standard_error=scalar_or_array(se),
        left=scalar_or_array(left),
        rope=scalar_or_array(equivalent),
        right=scalar_or_array(right),
        rope_width=width,
        losses=(a, b),
    )


def _test_over_train(rho: float | None, n_train: Any, n_test: Any) -> float:
    """The ratio rho / (1 - rho), which is n_test / n_train for the default rho."""
    if rho is None:
        if n_train is None or n_test is None:
            raise ArgumentError("correlated_t must be given rho, or both n_train and n_test.")
        return rows_ratio(n_train, n_test)
    try:
        share = float(rho)
    except (TypeError, ValueError):
        raise refuse("rho", "a number from 0 to below 1", rho) from None
    if not 0.0 <= share < 1.0:
        raise refuse("rho", "a number from 0 to below 1", rho)
    return share / (1.0 - share)
