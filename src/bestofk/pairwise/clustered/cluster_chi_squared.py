"""McNemar's test for clusters of instances: the statistics of Obuchowski, Durkalski and Yang."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk.checks import Alternative, Floats, side
from bestofk.pairwise.clustered.cluster_sign_flip import clustered_rule
from bestofk.pairwise.clustered.cluster_totals import clusters_of
from bestofk.pairwise.differences import paired_losses
from bestofk.pairwise.result import PairwiseResult, scalar_or_array
from bestofk.pairwise.smallest_pvalue import never_zero
from bestofk.tails import chi2_sf, pvalue_of_z

Variance = Callable[[Floats, Floats], tuple[Floats, Floats]]


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

    return _tested("obuchowski", parts, a, b, clusters, strata, unit, side(alternative))


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

    return _tested("durkalski", parts, a, b, clusters, strata, unit, side(alternative))


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

    return _tested("yang", parts, a, b, clusters, strata, unit, side(alternative))


def _tested(
    name: str, parts: Variance, a: Any, b: Any, clusters: Any, strata: Any, unit: float | None,
    alternative: Alternative,
) -> PairwiseResult:  # fmt: skip
    first, second = paired_losses(a, b, axes=1)
    held = clusters_of(clusters, first.shape[-1], strata)
    d = first - second
    # differences that rounding alone can make are none
    scale = np.maximum(np.abs(first), np.abs(second))
    d = np.where(np.abs(d) <= 1e-12 * scale, 0.0, d)
    totals = held.totals(d)
    largest = np.abs(d).max(axis=-1, keepdims=True)
    totals = np.where(np.abs(totals) <= 1e-12 * held.sizes * largest, 0.0, totals)
    # in units of the largest difference, so that no square leaves the range of numbers
    scaled = totals / np.where(largest > 0, largest, 1.0)
    excess, variance = parts(scaled, held.sizes)
    empty = (variance <= 0) | (len(held) < 2)
    chi_squared = np.where(empty, 0.0, np.square(excess) / np.where(variance > 0, variance, 1.0))
    root = np.sign(excess) * np.sqrt(chi_squared)
    if alternative == "two-sided":
        statistic, p = chi_squared, chi2_sf(chi_squared, 1.0)
    else:
        statistic, p = root, pvalue_of_z(root, alternative)
    return PairwiseResult(
        test=name,
        statistic=scalar_or_array(statistic),
        pvalue=scalar_or_array(np.where(empty, 1.0, never_zero(p))),
        df=1.0,
        estimate=scalar_or_array(totals.sum(axis=-1) / d.shape[-1]),
        alternative=alternative,
        direction=scalar_or_array(np.where(empty, 0.0, excess)),
        losses=(first, second),
        interval_rule=clustered_rule(held, unit),
    )
