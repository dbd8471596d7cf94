"""Durkalski's test: every cluster counts the same, whatever its size."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Floats, side
from bestofk.pairwise.clustered.cluster_chi_squared import cluster_chi_squared
from bestofk.pairwise.result import PairwiseResult


def durkalski(
    a: Any,
    b: Any,
    *,
    clusters: Any = None,
    strata: Any = None,
    unit: float | None = None,
    alternative: str = "two-sided",
) -> PairwiseResult:
    """Durkalski's test of two learners on clusters of instances.

    Tests the hypothesis that the two learners have the same expected loss; every cluster counts
    the same, whatever its size.

    Parameters
    ----------
    a, b, clusters, strata, unit, alternative
        As for `cluster_sign_flip`.

    Returns
    -------
    PairwiseResult
        As for `obuchowski`. The direction is that of the mean over clusters, which `estimate`, the
        mean over instances, may contradict.

    Notes
    -----
    (sum D_c / n_c)^2 / sum (D_c / n_c)^2 with n_c the size of cluster c.

    References
    ----------
    V. L. Durkalski, Y. Y. Palesch, S. R. Lipsitz and P. F. Rust (2003). Analysis of clustered
    matched-pair data. Statistics in Medicine 22, 2417-2428. doi:10.1002/sim.1438

    Examples
    --------
    >>> r = durkalski([1, 1, 1, 0, 0, 1], [0, 0, 1, 0, 0, 0], clusters=[1, 1, 2, 2, 3, 3])
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (1.8, 0.1797)
    """

    def parts(totals: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        means = totals / sizes
        return means.sum(axis=-1), np.square(means).sum(axis=-1)

    return cluster_chi_squared("durkalski", parts, a, b, clusters, strata, unit, side(alternative))
