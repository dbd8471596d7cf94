"""Results whose statistic is standard normal."""

from __future__ import annotations

import numpy as np

from bestofk.checks import Alternative, Floats
from bestofk.pairwise.differences import ratio
from bestofk.pairwise.result import (
    Interval,
    PairwiseResult,
    one_sided,
    scalar_or_array,
    tail_level,
)
from bestofk.tails import normal_quantile, pvalue_of_z


def z_from_variance(
    mean: Floats, variance: Floats, alternative: Alternative
) -> tuple[Floats, Floats, Floats]:
    """Statistic, p-value and standard error, degenerate cases settled."""
    se = np.sqrt(variance)
    z, empty = ratio(mean, se)
    p = pvalue_of_z(z, alternative)
    if np.any(empty):
        p = np.where(empty, 1.0, p)
    return z, p, se


def z_result(
    test: str,
    z: Floats,
    p: Floats,
    estimate: Floats,
    pivot: Floats,
    se: Floats,
    alternative: Alternative,
) -> PairwiseResult:
    """A result whose interval is ``pivot +- q se`` with a normal quantile."""
    return PairwiseResult(
        test=test,
        statistic=scalar_or_array(z),
        pvalue=scalar_or_array(p),
        df=None,
        estimate=scalar_or_array(estimate),
        alternative=alternative,
        pivot=scalar_or_array(pivot),
        standard_error=scalar_or_array(se),
        direction=scalar_or_array(pivot),
        interval_rule=_interval,
    )


def _interval(result: PairwiseResult, level: float) -> Interval:
    q = -float(normal_quantile(tail_level(level, result.alternative)))
    assert result.pivot is not None
    half = q * np.asarray(result.standard_error, dtype=np.float64)
    return one_sided(result.pivot - half, result.pivot + half, result.alternative)
