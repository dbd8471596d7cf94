"""Obuchowski's test: McNemar's statistic with the variance of sums over clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Floats, side
from bestofk.pairwise.clustered.cluster_chi_squared import cluster_chi_squared
from bestofk.pairwise.result import PairwiseResult


def obuchowski(
    a: Any,
    b: Any,
    *,
    clusters: Any = None,
    strata: Any = None,
    unit: float | None = None,
    alternative: str = "two-sided",
) -> PairwiseResult:
    """Obuchowski's test of two learners on clusters of instances.

    Tests the hypothesis that the two learners have the same expected loss.

    Parameters
    ----------
    a, b, clusters, strata, unit, alternative
        As for `cluster_sign_flip`.

    Returns
    -------
    PairwiseResult
        `statistic` is chi-squared with 1 df (one-sided: its root, with the sign of the difference).

    Notes
    -----
    With D_c the sum of the differences of cluster c, of C clusters,
    (C - 1) / C (sum D_c)^2 / sum D_c^2 is referred to chi-squared. It is trustworthy for some 30
    clusters and more; `cluster_sign_flip` is the same test made exact.

    References
    ----------
    N. A. Obuchowski (1998). On the comparison of correlated proportions for clustered data.
    Statistics in Medicine 17, 1495-1507.

    Examples
    --------
    >>> r = obuchowski([1, 1, 1, 0, 0, 1], [0, 0, 1, 0, 0, 0], clusters=[1, 1, 2, 2, 3, 3])
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (1.2, 0.2733)
    """

    def parts(totals: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        count = len(sizes)
        squares = np.square(totals).sum(axis=-1)
        return totals.sum(axis=-1), squares * count / max(count - 1, 1)

    return cluster_chi_squared("obuchowski", parts, a, b, clusters, strata, unit, side(alternative))
