"""Corrections of any family of tests: they see the p-values and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats, finite_array
from bestofk.errors import ArgumentError


def none(pvalues: npt.ArrayLike) -> Floats:
    """The p-values as they are: each test for itself, no control over the family.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        A copy of the p-values.

    Examples
    --------
    >>> none([0.01, 0.04])
    array([0.01, 0.04])
    """
    return family(pvalues).copy()


def bonferroni(pvalues: npt.ArrayLike) -> Floats:
    """Family-wise error under any dependence, one threshold for all.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values, min(1, m p).

    Notes
    -----
    With two-sided p-values and the direction of each claim by the sign of its statistic, claims
    in the wrong direction are bounded too: they are 2 m one-sided tests at alpha / (2 m).

    References
    ----------
    Dunn, O. J. (1961). Multiple comparisons among means. Journal of the American Statistical
    Association 56, 52-64. doi:10.1080/01621459.1961.10482090

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.5])
    array([0.03, 0.12, 1.  ])
    """
    p = family(pvalues)
    return np.asarray(np.minimum(p * p.shape[-1], 1.0), dtype=np.float64)


def holm(pvalues: npt.ArrayLike) -> Floats:
    """Family-wise error under any dependence, step-down; never worse than Bonferroni.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values.

    Notes
    -----
    With p_(1) <= ... <= p_(m), the i-th adjusted p-value is the largest of
    min(1, (m - j + 1) p_(j)) over j <= i: the first hypothesis that is kept keeps all the
    later ones, whatever their own thresholds.

    With two-sided p-values and the direction of each claim by the sign of its statistic, claims
    in the wrong direction are bounded too, under any dependence: let the j-th rejection be the
    first wrong one. The opposite directions of the j - 1 pairs before it have p > 1/2 and cannot
    be rejected, so that with E equal and N unequal pairs left, E + N = m - j + 1, at most
    2 E + N true one-sided hypotheses can be, each with threshold alpha / (2 (m - j + 1)).

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
    Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> holm([0.03, 0.01, 0.031])
    array([0.06, 0.03, 0.06])
    """
    p = family(pvalues)
    return step_down(p, np.arange(p.shape[-1], 0, -1.0))


def hochberg(pvalues: npt.ArrayLike) -> Floats:
    """Family-wise error for independent or positively dependent tests, step-up.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values.

    Notes
    -----
    With p_(1) <= ... <= p_(m), the i-th adjusted p-value is the smallest of (m - j + 1) p_(j)
    over j >= i. It is never above Holm's. For claims in the wrong direction there is no proof as
    there is for Holm's.

    References
    ----------
    Hochberg, Y. (1988). A sharper Bonferroni procedure for multiple tests of significance.
    Biometrika 75, 800-802. doi:10.1093/biomet/75.4.800

    Examples
    --------
    >>> hochberg([0.03, 0.01, 0.031])
    array([0.031, 0.03 , 0.031])
    """
    p = family(pvalues)
    return _step_up(p, np.arange(p.shape[-1], 0, -1.0))


def benjamini_hochberg(pvalues: npt.ArrayLike) -> Floats:
    """False discovery rate for independent or positively dependent tests, step-up.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values.

    Notes
    -----
    With p_(1) <= ... <= p_(m), the i-th adjusted p-value is the smallest of p_(j) m / j over
    j >= i. It bounds the expected share of false rejections, not the chance of a single one. A
    rejection with the wrong sign is not counted among them.

    References
    ----------
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57, 289-300. doi:10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> benjamini_hochberg([0.04, 0.01, 0.5, 0.02])
    array([0.05333333, 0.04      , 0.5       , 0.04      ])
    """
    p = family(pvalues)
    m = p.shape[-1]
    return _step_up(p, m / np.arange(1.0, m + 1.0))


def benjamini_yekutieli(pvalues: npt.ArrayLike) -> Floats:
    """False discovery rate under any dependence, step-up.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values: those of Benjamini and Hochberg before they are cut at 1, times
        1 + 1/2 + ... + 1/m.

    Notes
    -----
    What is held is the expected share of rejected hypotheses that are true. A rejection with
    the wrong sign is not counted among them.

    References
    ----------
    Benjamini, Y. and Yekutieli, D. (2001). The control of the false discovery rate in multiple
    testing under dependency. Annals of Statistics 29, 1165-1188. doi:10.1214/aos/1013699998

    Examples
    --------
    >>> benjamini_yekutieli([0.04, 0.01, 0.5, 0.02]).round(4)
    array([0.1111, 0.0833, 1.    , 0.0833])
    """
    p = family(pvalues)
    m = p.shape[-1]
    place = np.arange(1.0, m + 1.0)
    return _step_up(p, m / place * np.sum(1.0 / place))


def family(pvalues: Any) -> Floats:
    """The p-values as an array, each between 0 and 1."""
    p = finite_array(pvalues, "pvalues")
    if p.size and not (p.min() >= 0.0 and p.max() <= 1.0):
        outside = p[(p < 0.0) | (p > 1.0)][0]
        raise ArgumentError(f"pvalues must lie between 0 and 1; got {outside}.")
    return p


def step_down(p: Floats, factors: Floats) -> Floats:
    """The i-th smallest gets the largest of factor times p up to its place."""
    order = np.argsort(p, axis=-1)
    ranked = np.take_along_axis(p, order, axis=-1)
    ranked *= factors
    np.maximum.accumulate(ranked, axis=-1, out=ranked)
    return in_given_order(ranked, order)


def _step_up(p: Floats, factors: Floats) -> Floats:
    order = np.argsort(p, axis=-1)
    ranked = np.take_along_axis(p, order, axis=-1)
    ranked *= factors
    backwards = ranked[..., ::-1]
    np.minimum.accumulate(backwards, axis=-1, out=backwards)
    return in_given_order(ranked, order)


def in_given_order(ranked: Floats, order: npt.NDArray[np.intp]) -> Floats:
    """Sorted adjusted p-values, cut at 1, where their p-values stood."""
    np.minimum(ranked, 1.0, out=ranked)
    adjusted = np.empty_like(ranked)
    np.put_along_axis(adjusted, order, ranked, axis=-1)
    return adjusted
