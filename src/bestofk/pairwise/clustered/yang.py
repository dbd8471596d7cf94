"""Yang's test: Obuchowski's with the mean of two variances."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Floats, side
from bestofk.pairwise.clustered.cluster_chi_squared import cluster_chi_squared
from bestofk.pairwise.result import PairwiseResult


def yang(
    a: Any,
    b: Any,
    *,
    clusters: Any = None,
    strata: Any = None,
    unit: float | None = None,
    alternative: str = "two-sided",
) -> PairwiseResult:
    """Yang's modification of Obuchowski's test.

    Tests the hypothesis that the two learners have the same expected loss.

    Parameters
    ----------
    a, b, clusters, strata, unit, alternative
        As for `cluster_sign_flip`.

    Returns
    -------
    PairwiseResult
        As for `obuchowski`.

    Notes
    -----
    The variance is the mean of those with and without the hypothesis: with d the mean difference,
    (C - 1) / C (sum D_c)^2 / (1/2 sum ((D_c - n_c d)^2 + D_c^2)). It rejects more often than
    `obuchowski`, and where clusters are few more often than it should.

    References
    ----------
    Z. Yang, X. Sun and J. W. Hardin (2010). A note on the tests for clustered matched-pair binary
    data. Biometrical Journal 52, 638-652. doi:10.1002/bimj.201000035

    Examples
    --------
    >>> r = yang([1, 1, 1, 0, 0, 1], [0, 0, 1, 0, 0, 0], clusters=[1, 1, 2, 2, 3, 3])
    >>> round(r.statistic, 4), round(r.pvalue, 4)
    (1.7143, 0.1904)
    """

    def parts(totals: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        count = len(sizes)
        total = totals.sum(axis=-1)
        centred = totals - sizes * (total / sizes.sum())[..., np.newaxis]
        squares = (np.square(centred) + np.square(totals)).sum(axis=-1) / 2.0
        return total, squares * count / max(count - 1, 1)

    return cluster_chi_squared("yang", parts, a, b, clusters, strata, unit, side(alternative))
