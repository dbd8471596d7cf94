"""Adjusted p-values for a family of tests.

Every function takes p-values whose last axis is the family and broadcasts over the leading
axes. An adjusted p-value is the smallest level for the whole family at which that hypothesis
is rejected, so that ``adjusted <= alpha`` is the verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats, finite_array, one_of
from bestofk.errors import ArgumentError

__all__ = [
    "CORRECTIONS",
    "adjust",
    "benjamini_hochberg",
    "bonferroni",
    "hochberg",
    "holm",
    "none",
]


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
    return _family(pvalues).copy()


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

    References
    ----------
    Dunn, O. J. (1961). Multiple comparisons among means. Journal of the American Statistical
    Association 56, 52-64. doi:10.1080/01621459.1961.10482090

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.5])
    array([0.03, 0.12, 1.  ])
    """
    p = _family(pvalues)
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

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
    Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> holm([0.03, 0.01, 0.031])
    array([0.06, 0.03, 0.06])
    """
    p = _family(pvalues)
    m = p.shape[-1]
    order = np.argsort(p, axis=-1)
    ranked = np.take_along_axis(p, order, axis=-1)
    ranked *= np.arange(m, 0, -1.0)
    np.maximum.accumulate(ranked, axis=-1, out=ranked)
    return _back(ranked, order)


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
    over j >= i. It is never above Holm's.

    References
    ----------
    Hochberg, Y. (1988). A sharper Bonferroni procedure for multiple tests of significance.
    Biometrika 75, 800-802. doi:10.1093/biomet/75.4.800

    Examples
    --------
    >>> hochberg([0.03, 0.01, 0.031])
    array([0.031, 0.03 , 0.031])
    """
    p = _family(pvalues)
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
    j >= i. It bounds the expected share of false rejections, not the chance of a single one.

    References
    ----------
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57, 289-300. doi:10.1111/j.2517-6161.1995.tb02031.x

    Examples
    --------
    >>> benjamini_hochberg([0.04, 0.01, 0.5, 0.02])
    array([0.05333333, 0.04      , 0.5       , 0.04      ])
    """
    p = _family(pvalues)
    m = p.shape[-1]
    return _step_up(p, m / np.arange(1.0, m + 1.0))


CORRECTIONS: dict[str, Callable[[npt.ArrayLike], Floats]] = {
    "bonferroni": bonferroni,
    "holm": holm,
    "hochberg": hochberg,
    "benjamini-hochberg": benjamini_hochberg,
    "none": none,
}


def adjust(pvalues: npt.ArrayLike, method: str = "holm") -> Floats:
    """Adjusted p-values by the name of the correction.

    Parameters
    ----------
    pvalues : array_like of shape (..., m)
        P-values, the last axis being the family.
    method : {"bonferroni", "holm", "hochberg", "benjamini-hochberg", "none"}
        The correction.

    Returns
    -------
    numpy.ndarray of shape (..., m)
        Adjusted p-values; reject where they are at most the level of the family.

    Examples
    --------
    >>> adjust([0.01, 0.04], "bonferroni")
    array([0.02, 0.08])
    """
    return CORRECTIONS[one_of(method, "correction", tuple(CORRECTIONS))](pvalues)


def _family(pvalues: Any) -> Floats:
    p = finite_array(pvalues, "pvalues")
    if p.size and not (p.min() >= 0.0 and p.max() <= 1.0):
        outside = p[(p < 0.0) | (p > 1.0)][0]
        raise ArgumentError(f"pvalues must lie between 0 and 1; got {outside}.")
    return p


def _step_up(p: Floats, factors: Floats) -> Floats:
    order = np.argsort(p, axis=-1)
    ranked = np.take_along_axis(p, order, axis=-1)
    ranked *= factors
    backwards = ranked[..., ::-1]
    np.minimum.accumulate(backwards, axis=-1, out=backwards)
    return _back(ranked, order)


def _back(ranked: Floats, order: npt.NDArray[np.intp]) -> Floats:
    np.minimum(ranked, 1.0, out=ranked)
    adjusted = np.empty_like(ranked)
    np.put_along_axis(adjusted, order, ranked, axis=-1)
    return adjusted
