"""Exact power: of t tests by the noncentral t distribution, of McNemar's test by a sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk.stats.pairwise.differences import EXACT_BELOW
from bestofk.stats.tails import binomial_at_least, normal_quantile, t_quantile

_NORMAL_MIN_DF = 1e6


def t_power(ncp: Any, df: Any, level: float) -> Floats:
    """Return the probability that a two-sided t test rejects.

    Parameters
    ----------
    ncp : array_like
        Noncentrality: the true difference over the standard error of its estimate.
    df : array_like
        Degrees of freedom; infinite for a test with a known standard error. Without degrees of
        freedom the test never rejects.
    level : float
        Two-sided level of the test.

    Returns
    -------
    ndarray
        The power, of the broadcast shape of `ncp` and `df`.

    Examples
    --------
    >>> round(float(t_power(0.0, 9, 0.05)), 8), round(float(t_power(3.0, 99, 0.05)), 4)
    (0.05, 0.8439)
    """
    from scipy import special

    ncp, df = np.broadcast_arrays(np.abs(np.asarray(ncp, dtype=float)), np.asarray(df, dtype=float))
    z = -float(normal_quantile(level / 2.0))
    known = special.ndtr(ncp - z) + special.ndtr(-ncp - z)
    few = np.where((df > 0.0) & (df < _NORMAL_MIN_DF), df, 1.0)
    c = -np.asarray(t_quantile(level / 2.0, few))
    # the probabilities are NaN in the far tails, where nothing is left
    below, above = (np.nan_to_num(special.nctdtr(few, ncp, end)) for end in (-c, c))
    power = np.where(df < _NORMAL_MIN_DF, 1.0 - above + below, known)
    return np.clip(np.where(df > 0.0, power, 0.0), 0.0, 1.0)


def mcnemar_power(n: int, discordance: float, difference: float, level: float) -> float:
    """Return the probability that the two-sided McNemar test rejects.

    Parameters
    ----------
    n : int
        Number of instances of the test set.
    discordance : float
        Probability that exactly one of the two learners is wrong on an instance.
    difference : float
        Difference of the two error rates, at most `discordance`.
    level : float
        Level of the test.

    Returns
    -------
    float

    Notes
    -----
    The power is unconditional: the number of disagreements M is binomial with n trials, and the
    number of errors of the first learner among them is binomial with
    p = (1 + difference / discordance) / 2. The test is ``mcnemar(exact="auto")``: binomial below
    25 disagreements, chi-squared with continuity correction from 25 on.

    References
    ----------
    S. W. Duffy (1984). Asymptotic and exact power for the McNemar test and its analogue with R
    controls per case. Biometrics 40, 1005-1015. doi:10.2307/2531151

    Examples
    --------
    >>> round(mcnemar_power(200, 0.2, 0.1, 0.05), 3)
    0.873
    >>> mcnemar_power(200, 0.0, 0.0, 0.05)
    0.0
    """
    if discordance <= 0.0 or n < 1:
        return 0.0
    from scipy import special

    # numbers of disagreements outside this range have a negligible chance; many are put together,
    # by odd steps, since the smallest rejected counts of even and odd numbers differ
    mean, sd = n * discordance, np.sqrt(n * discordance * max(1.0 - discordance, 0.0))
    low, high, step = max(0, int(mean - 7 * sd - 8)), min(n, int(mean + 7 * sd + 8)), 1
    step += 2 * ((high - low) // 800)
    ends = np.minimum(np.arange(low, high + 1 + step, step) - 1, n)
    weight = np.diff(special.bdtr(ends, n, min(discordance, 1.0)))
    m = ends[1:] - float(step // 2)
    # the smallest rejected count: (|2 k - m| - 1)^2 / m >= z^2, rounding on the side of the test
    z = -float(normal_quantile(level / 2.0))
    k = np.maximum(np.ceil(0.5 * (m + 1.0 + z * np.sqrt(m)) * (1.0 - 1e-14)), 1.0)
    few = m < EXACT_BELOW
    tails = 2.0 * np.asarray(binomial_at_least(np.arange(EXACT_BELOW), m[few, np.newaxis]))
    k[few] = (tails > level).sum(axis=1)
    # P(X >= k) and P(X <= m - k) = P(m - X >= k) for X binomial (m, p)
    p = min(0.5 * (1.0 + abs(difference) / discordance), 1.0)
    k, m, weight = k[k <= m], m[k <= m], weight[k <= m]
    tail = special.betainc(k, m - k + 1.0, p) + special.betainc(k, m - k + 1.0, 1.0 - p)
    return float(np.minimum(tail @ weight, 1.0))
