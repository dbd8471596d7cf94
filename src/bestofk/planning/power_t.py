"""Power of a two-sided t test: the noncentral t distribution, integrated."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bestofk.checks import Floats

_NODES = 128
_FEW = 40.0
"""Degrees of freedom up to which the mean is integrated over, beyond it the spread."""
_NORMAL_FROM = 1e7
_REACH = 9.0
"""Standard deviations of the normal distribution beyond which nothing is left (1e-19)."""


def t_power(ncp: Any, df: Any, level: float) -> Floats:
    """The probability that a two-sided t test rejects.

    Parameters
    ----------
    ncp : array_like
        Noncentrality: the true difference over the standard error of its estimate.
    df : array_like
        Degrees of freedom, above 0; infinite for a test with a known standard error.
    level : float
        Level of the test, both sides together.

    Returns
    -------
    ndarray
        Of the shape that `ncp` and `df` broadcast to.

    Notes
    -----
    With c the critical value, Z standard normal and S^2 = chi2(df) / df independent of it, the
    test rejects when ``|Z + ncp| > c S``. For few degrees of freedom that is
    ``E P(S < |Z + ncp| / c)``, an integral over Z, for many
    ``E [Phi(ncp - c S) + Phi(-ncp - c S)]``, one over S: each is smooth where it is used, and
    Gauss-Legendre quadrature gives at least eight digits.

    Examples
    --------
    >>> round(float(t_power(0.0, 9, 0.05)), 8), round(float(t_power(3.0, 99, 0.05)), 4)
    (0.05, 0.8439)
    """
    ncp, df = np.broadcast_arrays(np.abs(np.asarray(ncp, dtype=float)), np.asarray(df, dtype=float))
    power = np.ones(ncp.shape)
    finite = np.isfinite(ncp)
    for degrees in np.unique(df[finite]):
        at = finite & (df == degrees)
        power[at] = _power(ncp[at], float(degrees), level)
    return power


@lru_cache(maxsize=1024)
def t_noncentrality(power: float, df: float, level: float) -> float:
    """The noncentrality at which a two-sided t test has this power (above its level).

    Examples
    --------
    >>> round(t_noncentrality(0.8, 99, 0.05), 4)
    2.8291
    """
    low, high = 0.0, 8.0
    while t_power(high, df, level) < power:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        if t_power(middle, df, level) < power:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@lru_cache(maxsize=4)
def legendre(nodes: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss and Legendre on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    return 0.5 * (x + 1.0), 0.5 * w


def _power(ncp: Floats, df: float, level: float) -> Floats:
    from scipy import special

    if df >= _NORMAL_FROM:
        c = -float(special.ndtri(level / 2.0))
        return np.asarray(special.ndtr(ncp - c) + special.ndtr(-ncp - c))
    c = -float(special.stdtrit(df, level / 2.0))
    if df <= _FEW:
        both = _over_mean(ncp, df, c) + _over_mean(-ncp, df, c)
    else:
        both = _over_spread(ncp, df, c)
    return np.minimum(both, 1.0)


def _over_mean(ncp: Floats, df: float, c: float) -> Floats:
    """P(Z + ncp > c S), over x = Z + ncp above 0."""
    from scipy import special

    u, w = legendre(_NODES)
    start = np.maximum(ncp - _REACH, 0.0)[..., np.newaxis]
    width = np.maximum(ncp[..., np.newaxis] + _REACH - start, 0.0)
    x = start + width * u
    density = np.exp(-0.5 * np.square(x - ncp[..., np.newaxis])) / np.sqrt(2.0 * np.pi)
    inside = density * special.chdtr(df, df * np.square(x / c))
    return np.asarray((inside * w).sum(axis=-1) * width[..., 0])


def _over_spread(ncp: Floats, df: float, c: float) -> Floats:
    from scipy import special

    u, w = legendre(_NODES)
    low, high = np.sqrt(special.chdtri(df, np.array([1.0 - 1e-14, 1e-14])) / df)
    s = low + (high - low) * u
    log_density = (
        np.log(2.0)
        + 0.5 * df * np.log(0.5 * df)
        - special.gammaln(0.5 * df)
        + (df - 1.0) * np.log(s)
        - 0.5 * df * np.square(s)
    )
    weights = w * (high - low) * np.exp(log_density)
    gap = ncp[..., np.newaxis]
    tails = special.ndtr(gap - c * s) + special.ndtr(-gap - c * s)
    return np.asarray((tails * weights).sum(axis=-1))
