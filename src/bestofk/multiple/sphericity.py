"""How far K repeated measures are from equal variances of all differences."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bestofk.checks import Floats
from bestofk.multiple.learners_table import centred, exponent, sum_of_squares

__all__ = ["Epsilons", "Mauchly", "epsilons", "greenhouse_geisser", "mauchly"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Epsilons:
    """Factors for both degrees of freedom; 1 where sphericity holds."""

    greenhouse_geisser: float
    huynh_feldt: float
    lower_bound: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mauchly:
    """Mauchly's W, its chi-squared approximation and the p-value of sphericity."""

    w: float
    statistic: float
    df: float
    pvalue: float


def greenhouse_geisser(table: Floats) -> float:
    """Greenhouse and Geisser's epsilon of a (K, n) table, between 1 / (K - 1) and 1.

    Notes
    -----
    With S the K x K covariance of the learners, centred over rows and columns, epsilon is
    tr(S)^2 / ((K - 1) tr(S^2)). Without any interaction it is 1.

    References
    ----------
    Greenhouse, S. W. and Geisser, S. (1959). On methods in the analysis of profile data.
    Psychometrika 24, 95-112. doi:10.1007/BF02289823

    Examples
    --------
    >>> import numpy as np
    >>> round(greenhouse_geisser(np.array([[1.0, 2, 4], [2, 2, 1], [3, 1, 2]])), 6)
    0.735294
    """
    K, n = table.shape
    R = _interaction(table)
    # tr(S^2) from the smaller of the two Gram matrices, which share their eigenvalues
    gram = R @ R.T if n >= K else R.T @ R
    square = float(np.square(gram).sum())
    if square == 0.0:
        return 1.0
    epsilon = float(np.trace(gram)) ** 2 / ((K - 1) * square)
    return float(min(max(epsilon, 1.0 / (K - 1)), 1.0))


def epsilons(table: Floats) -> Epsilons:
    """The three epsilons of a (K, n) table.

    Notes
    -----
    Huynh and Feldt's is (n (K - 1) e - 2) / ((K - 1) (n - 1 - (K - 1) e)) with e that of
    Greenhouse and Geisser, and at most 1.

    References
    ----------
    Huynh, H. and Feldt, L. S. (1976). Estimation of the Box correction for degrees of freedom
    from sample data in randomized block and split-plot designs. Journal of Educational
    Statistics 1, 69-82. doi:10.3102/10769986001001069

    Examples
    --------
    >>> import numpy as np
    >>> epsilons(np.array([[1.0, 2, 4], [2, 2, 3]])).huynh_feldt
    1.0
    """
    K, n = table.shape
    gg = greenhouse_geisser(table)
    numerator, denominator = n * (K - 1) * gg - 2.0, (K - 1) * (n - 1 - (K - 1) * gg)
    tiny = 1e-9 * K * n
    if denominator > tiny:
        hf = min(numerator / denominator, 1.0)
    else:
        hf = 1.0 if numerator > tiny else gg
    return Epsilons(greenhouse_geisser=gg, huynh_feldt=max(hf, gg), lower_bound=1.0 / (K - 1))


def mauchly(table: Floats) -> Mauchly | None:
    """Mauchly's test of sphericity on a (K, n) table; None where n < K leaves no determinant.

    Notes
    -----
    W is the determinant of the covariance of K - 1 orthonormal contrasts over the (K - 1)-th
    power of its mean eigenvalue; the p-value is Box's two-term chi-squared expansion.

    References
    ----------
    Mauchly, J. W. (1940). Significance test for sphericity of a normal n-variate distribution.
    Annals of Mathematical Statistics 11, 204-209. doi:10.1214/aoms/1177731915

    Examples
    --------
    >>> import numpy as np
    >>> mauchly(np.array([[1.0, 2, 4], [2, 2, 3]])).pvalue
    1.0
    """
    from bestofk.tails import chi2_sf

    K, n = table.shape
    p, degrees = K - 1, n - 1
    if n < K:
        return None
    R = _interaction(table)
    if p == 1 or not R.any():
        return Mauchly(w=1.0, statistic=0.0, df=max(p * (p + 1) / 2 - 1, 0.0), pvalue=1.0)
    # R has one zero eigenvalue (the constant vector); the others are those of the contrasts.
    roots = np.maximum(np.linalg.eigvalsh(R @ R.T)[1:], 0.0)
    f = p * (p + 1) / 2.0 - 1.0
    if roots[0] <= 1e-14 * roots[-1]:
        return Mauchly(w=0.0, statistic=math.inf, df=f, pvalue=0.0)
    log_w = float(np.log(roots).sum() - p * math.log(float(roots.mean())))
    rho = 1.0 - (2.0 * p * p + p + 2.0) / (6.0 * p * degrees)
    z = max(-degrees * rho * log_w, 0.0)
    second = (p + 2) * (p - 1) * (p - 2) * (2.0 * p**3 + 6.0 * p**2 + 3.0 * p + 2.0)
    second /= 288.0 * (degrees * p * rho) ** 2
    first_tail, second_tail = float(chi2_sf(z, f)), float(chi2_sf(z, f + 4.0))
    pvalue = first_tail + second * (second_tail - first_tail)
    return Mauchly(w=math.exp(log_w), statistic=z, df=f, pvalue=min(max(pvalue, 0.0), 1.0))


def _interaction(table: Floats) -> Floats:
    """The table less the effects of rows and columns, in units of a power of two."""
    R = centred(centred(np.ldexp(table, -exponent(table)), -1), -2)
    if float(sum_of_squares(R)) == 0.0:
        return np.zeros_like(R)
    return np.asarray(R / np.abs(R).max(), dtype=np.float64)
