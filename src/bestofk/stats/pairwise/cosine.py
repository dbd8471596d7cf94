"""A t test of the mean difference over a series of losses in order of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, at_least_zero, side, whole
from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.differences import moments_of, over_pairs, paired_losses, ratio
from bestofk.stats.pairwise.result import PairwiseResult
from bestofk.stats.pairwise.skew_corrected import mean_result
from bestofk.stats.tails import f_sf

MIN_COSINES = 4
"""Fewest cosines; fewer would leave hardly any power."""
_BIAS = 0.08
"""Bias of the long-run variance that the number of cosines allows, for an AR(1) series."""
_MIN_EQUAL_POWER = 0.4
"""Level of the F test, measured: 0.3 finds too few slow changes, and more costs power."""


def lag_one(centred: Floats) -> Floats:
    """Return the lag-1 autocorrelation along the first axis, corrected for its bias.

    Examples
    --------
    >>> d = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    >>> round(float(lag_one(d)), 4)
    0.99
    """
    n = len(centred)
    rho, _ = ratio((centred[1:] * centred[:-1]).sum(axis=0), np.square(centred).sum(axis=0))
    # the estimate is too small by about (1 + 4 rho) / n
    return np.asarray(np.clip(rho + (1.0 + 4.0 * rho) / n, -0.99, 0.99))


def variance_inflation(centred: Floats) -> Floats:
    """Return by how much dependence multiplies the variance of the mean along the first axis.

    This is the largest sum of the autocorrelations up to a lag, of all lags up to n / 4. Unlike the
    lag-1 autocorrelation, it shows a slow change that is hidden in noise.

    Examples
    --------
    >>> slow = np.repeat([1.0, -1.0, -1.0, 1.0], 10)
    >>> round(float(variance_inflation(slow)), 3)
    7.475
    """
    n = len(centred)
    lags = np.arange(1, max(n // 4, 1) + 1).reshape(-1, *([1] * (centred.ndim - 1)))
    spectrum = np.fft.rfft(centred, 2 * n, axis=0)
    covariances = np.fft.irfft(np.square(np.abs(spectrum)), 2 * n, axis=0)
    correlations, _ = ratio(covariances[lags.ravel()], covariances[0])
    sums = np.cumsum(2.0 * (1.0 - lags / n) * correlations, axis=0)
    return np.asarray(1.0 + np.maximum(sums.max(axis=0), 0.0))


def least_information(centred: Floats) -> Floats:
    """Return the number of independent differences that surely have no more information.

    The lag-1 autocorrelation may be larger than it looks by two standard errors.
    """
    n = len(centred)
    rho = lag_one(centred)
    rho = np.clip(rho + 2.0 * np.sqrt((1.0 - np.maximum(rho, 0.0) ** 2) / n), 0.0, 0.99)
    return n / np.maximum((1.0 + rho) / (1.0 - rho), variance_inflation(centred))


def number_of_cosines(autocorrelation: Any, n: int) -> Floats:
    """Return the largest number of cosines for series with this autocorrelation.

    Examples
    --------
    >>> number_of_cosines([0.0, 0.5, 0.9], 200).tolist()
    [13.0, 13.0, 4.0]
    """
    rho = np.maximum(np.asarray(autocorrelation, dtype=float), 1e-3)
    unbiased = n / np.pi * (1.0 - rho) * np.sqrt(3.0 * _BIAS / rho)
    most = max(np.floor(0.4 * n ** (2.0 / 3.0)), 1.0)
    least = min(MIN_COSINES, most)
    return np.asarray(np.clip(np.floor(unbiased), least, most))


def long_run_variance(centred: Floats) -> tuple[Floats, Floats]:
    """Return the long-run variance of series along the first axis, and the cosines it is made of.

    Start from `number_of_cosines`. Halve the number as long as the lower half of the frequencies
    has more power than the upper half (F test at level 0.4): the variance of the mean is the power
    at frequency 0.
    """
    n = len(centred)
    count = number_of_cosines(lag_one(centred), n).astype(np.int64)
    most = int(count.max(initial=1))
    powers = np.empty((most, *centred.shape[1:]))
    for j in range(most):
        weights = np.sqrt(2.0 / n) * np.cos(np.pi * (j + 1) * (np.arange(n) + 0.5) / n)
        # plain sums: those of a matrix product depend on the number of pairs
        powers[j] = np.square((weights.reshape(-1, *[1] * count.ndim) * centred).sum(axis=0))
    totals = np.cumsum(powers, axis=0)

    def total(first: Any) -> Floats:
        power: Floats = np.take_along_axis(totals, first[np.newaxis] - 1, axis=0)[0]
        return power

    while True:
        half = np.maximum(-(-count // 2), min(MIN_COSINES, most))
        rest = np.maximum(count - half, 1)
        share, _ = ratio(total(half) * rest, (total(count) - total(half)) * half)
        fewer = (count > half) & (f_sf(share, half, rest) < _MIN_EQUAL_POWER)
        if not fewer.any():
            return total(count) / count, count.astype(float)
        count = np.where(fewer, half, count)


def ewc_t(
    a: Any, b: Any, *, alternative: str = "two-sided", allowance: float = 0.0
) -> PairwiseResult:
    """Test the mean difference over n losses in order of time by equal-weighted cosines.

    The null hypothesis is that the expected difference of the losses of two learners is 0
    (``alternative="greater"``: that the loss of `a` is at most that of `b`). Successive
    differences may depend on each other.

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses in order of time, at least 4; leading axes broadcast.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.
    allowance : float
        Multiply the standard error by ``1 + allowance / m``, with m the number of independent
        differences that surely have no more information, and use the largest variance of the first
        4 to B cosines. A decision uses 15, so that the test keeps its level on short series that
        depend more than they show. 0: the test as published.

    Returns
    -------
    PairwiseResult
        `statistic` is compared with t with B degrees of freedom, B being the number of cosines;
        `df` is None if the pairs have different numbers. If the learners never differ, p = 1.

    Notes
    -----
    With d_t the differences and ``L_j = sqrt(2 / n) sum_t d_t cos(pi j (t - 1/2) / n)``, the
    long-run variance is the mean of L_1^2 to L_B^2, and t = mean(d) / sqrt(variance / n). B is at
    most 0.4 n^(2/3). It is smaller if the lag-1 autocorrelation of the differences is large: the
    bias of the variance of an AR(1) series must not exceed 8 percent. It is halved as long as the
    lower half of the frequencies has more power than the upper half (F test at level 0.4), because
    a dependence over many steps shows only there. B is at least 4.

    References
    ----------
    E. Lazarus, D. J. Lewis, J. H. Stock and M. W. Watson (2018). HAR inference: recommendations
    for practice. Journal of Business and Economic Statistics 36, 541-559.
    doi:10.1080/07350015.2018.1506926

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> r = ewc_t(rng.normal(0.5, 1, 100), np.zeros(100))
    >>> r.df, bool(r.pvalue < 0.01)
    (8.0, True)
    """
    a, b = _series(a, b)
    extra = at_least_zero(allowance, "allowance", "a number of at least 0")

    def widened_variance(centred: Floats) -> tuple[Floats, Floats]:
        variance, count = long_run_variance(centred)
        if extra:
            variance = variance * np.square(1.0 + extra / least_information(centred))
        return variance, count

    return _series_test("ewc-t", a, b, alternative, widened_variance)


def diebold_mariano(
    a: Any, b: Any, *, horizon: int | None = None, alternative: str = "two-sided"
) -> PairwiseResult:
    """Diebold and Mariano's test of two forecasts, corrected by Harvey, Leybourne and Newbold.

    The null hypothesis is that the expected difference of the losses is 0
    (``alternative="greater"``: that the loss of `a` is at most that of `b`).

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses in order of time, at least 4; leading axes broadcast.
    horizon : int, optional
        Steps ahead of the forecasts; differences `horizon` or more apart count as independent.
        None: the cube root of n, rounded.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is greater.

    Returns
    -------
    PairwiseResult
        `statistic` is compared with t with n - 1 degrees of freedom.

    Notes
    -----
    The long-run variance is the sum of the autocovariances up to lag ``horizon - 1``. If it is not
    positive, the variance of the differences is used. The statistic is multiplied by
    ``sqrt((n + 1 - 2 h + h (h - 1) / n) / n)`` with h the horizon.

    References
    ----------
    F. X. Diebold and R. S. Mariano (1995). Comparing predictive accuracy. Journal of Business and
    Economic Statistics 13, 253-263. doi:10.1080/07350015.1995.10524599

    D. Harvey, S. Leybourne and P. Newbold (1997). Testing the equality of prediction mean squared
    errors. International Journal of Forecasting 13, 281-291. doi:10.1016/S0169-2070(96)00719-4

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> r = diebold_mariano(rng.normal(0.5, 1, 100), np.zeros(100), horizon=2)
    >>> r.df, bool(r.pvalue < 0.01)
    (99.0, True)
    """
    a, b = _series(a, b)
    n = a.shape[-1]
    h = round(n ** (1 / 3)) if horizon is None else whole(horizon, "horizon", at_least=1)
    if h > n // 2:
        raise ArgumentError(f"horizon must be at most half of the {n} differences; got {h}.")
    correction = (n + 1 - 2 * h + h * (h - 1) / n) / n

    def sum_of_autocovariances(centred: Floats) -> tuple[Floats, Floats]:
        flat = np.square(centred).mean(axis=0)
        variance = flat.copy()
        for lag in range(1, h):
            variance += 2.0 / n * (centred[lag:] * centred[:-lag]).sum(axis=0)
        variance = np.where(variance > 0, variance, flat)
        return variance / correction, np.full(flat.shape, n - 1.0)

    return _series_test("diebold-mariano", a, b, alternative, sum_of_autocovariances)


def _series(a: Any, b: Any) -> tuple[Floats, Floats]:
    return paired_losses(a, b, axes=1, shape_text="(times,)", at_least=MIN_COSINES)


def _series_test(
    name: str,
    a: Floats,
    b: Floats,
    alternative: str,
    variance_of: Callable[[Floats], tuple[Floats, Floats]],
) -> PairwiseResult:
    """Return the t test of the mean with this variance of sqrt(n) times the mean, and its df."""
    n = a.shape[-1]

    def kernel(d: Floats, noise: Floats) -> tuple[Floats, ...]:
        mean, flat, centred = moments_of(d, noise)
        variance, df = variance_of(centred)
        return mean, np.sqrt(np.where(flat == 0, 0.0, variance) / n), df

    mean, error, df = over_pairs(a, b, kernel, axes=1, outputs=3)
    return mean_result(name, (a, b), mean, error, df, side(alternative), count=n)
