"""Power of McNemar's test, over all numbers of disagreements that may come out."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bestofk.pairwise.smallest_pvalue import EXACT_BELOW

_MOST_TERMS = 401


def mcnemar_power(n: int, discordance: float, difference: float, level: float) -> float:
    """The probability that McNemar's test rejects, two-sided.

    Parameters
    ----------
    n : int
        Instances of the test set.
    discordance : float
        Probability that exactly one of the two learners gets an instance wrong.
    difference : float
        Difference of the two error rates, at most `discordance`.
    level : float
        Level of the test.

    Returns
    -------
    float

    Notes
    -----
    Unconditional: the number of disagreements M is binomial with n trials, and of M the first
    learner gets wrong a binomial number with p = (1 + difference / discordance) / 2. The test is
    the one of ``mcnemar(exact="auto")``: binomial below 25 disagreements, chi-squared with
    continuity correction from there on.

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

    m, weight = _disagreements(n, min(discordance, 1.0))
    p = min(0.5 * (1.0 + abs(difference) / discordance), 1.0)
    k = _critical_counts(m, level)
    reachable = k <= m
    k, m, weight = k[reachable], m[reachable], weight[reachable]
    # P(X >= k) and P(X <= m - k) = P(m - X >= k) for X binomial (m, p)
    upper = special.betainc(k, m - k + 1.0, p)
    lower = special.betainc(k, m - k + 1.0, 1.0 - p)
    return float(np.minimum((upper + lower) @ weight, 1.0))


def _disagreements(
    n: int, discordance: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Numbers of disagreements that may come out (a grid of them where they are many)."""
    from scipy import special

    mean, sd = n * discordance, np.sqrt(n * discordance * (1.0 - discordance))
    low, high = max(0, int(mean - 7 * sd - 8)), min(n, int(mean + 7 * sd + 8))
    # an odd step, so that even and odd numbers, whose critical counts differ, are both taken
    step = 2 * (max(1, (high - low) // _MOST_TERMS) // 2) + 1
    m = np.arange(low, high + 1, step, dtype=np.float64)
    log_weight = (
        special.gammaln(n + 1.0)
        - special.gammaln(m + 1.0)
        - special.gammaln(n - m + 1.0)
        + special.xlogy(m, discordance)
        + special.xlog1py(n - m, -discordance)
    )
    weight = np.exp(log_weight - log_weight.max())
    return m, weight / weight.sum()


def _critical_counts(m: npt.NDArray[np.float64], level: float) -> npt.NDArray[np.float64]:
    """The smallest count of M that is rejected; above M: none is."""
    from scipy import special

    z = -special.ndtri(level / 2.0)
    # (|2 k - m| - 1)^2 / m >= z^2, rounding on the side of the test
    k = np.ceil(0.5 * (m + 1.0 + z * np.sqrt(m)) * (1.0 - 1e-14))
    few = m < EXACT_BELOW
    k[few] = _exact_counts(level)[m[few].astype(np.intp)]
    return np.maximum(k, 1.0)


@lru_cache(maxsize=64)
def _exact_counts(level: float) -> npt.NDArray[np.float64]:
    """For M = 0, 1, ..., the smallest k with 2 P(X >= k) at most the level; M + 1 if none."""
    from bestofk.tails import binomial_at_least

    counts = []
    for m in range(EXACT_BELOW):
        p = 2.0 * np.asarray(binomial_at_least(np.arange(m + 2), m))
        rejected = np.flatnonzero(p[: m + 1] <= level)
        counts.append(float(rejected[0]) if rejected.size else m + 1.0)
    return np.array(counts)
