"""Chi-squared statistics over clusters: an excess, and its variance under the hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk.checks import Alternative, Floats
from bestofk.pairwise.clustered.cluster_sign_flip import clustered_rule
from bestofk.pairwise.clustered.cluster_totals import clusters_of
from bestofk.pairwise.differences import paired_losses
from bestofk.pairwise.result import PairwiseResult, scalar_or_array
from bestofk.pairwise.smallest_pvalue import never_zero
from bestofk.tails import chi2_sf, pvalue_of_z

Parts = Callable[[Floats, Floats], tuple[Floats, Floats]]


def cluster_chi_squared(
    name: str, parts: Parts, a: Any, b: Any, clusters: Any, strata: Any, unit: float | None,
    alternative: Alternative,
) -> PairwiseResult:  # fmt: skip
    """The result; `parts` gives excess and variance of sums (..., C) of clusters of sizes (C,)."""
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
