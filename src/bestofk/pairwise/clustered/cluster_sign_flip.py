"""Cluster sign-flip test: the differences of a cluster keep or change their signs together."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Alternative, Floats, RandomState, side
from bestofk.pairwise.agreeing_interval import agreeing_interval
from bestofk.pairwise.clustered.cluster_totals import Clusters, clusters_of
from bestofk.pairwise.differences import paired_losses
from bestofk.pairwise.result import Interval, PairwiseResult, scalar_or_array, tail_level
from bestofk.pairwise.smallest_pvalue import smallest_pvalue
from bestofk.pairwise.units.permutation import permutation
from bestofk.wording import counted

FEW = 12
"""Of fewer clusters that differ, the note says what p-value is possible at all."""


def cluster_sign_flip(
    a: Any,
    b: Any,
    *,
    clusters: Any = None,
    strata: Any = None,
    unit: float | None = None,
    alternative: str = "two-sided",
    method: str = "exact",
    resamples: int = 100_000,
    random_state: RandomState = 0,
) -> PairwiseResult:
    """Sign-flip test of the mean difference over clusters of instances.

    Tests the hypothesis that the two learners are exchangeable on every cluster, so that all of
    its differences together might as well have had the other sign (``alternative="greater"``:
    against a greater loss of `a`).

    Parameters
    ----------
    a, b : array_like, shape (..., n)
        Losses on the same n instances; leading axes broadcast. Epochs are averaged before.
    clusters : array_like, shape (n,), optional
        The cluster of each instance; None: each is one of its own.
    strata : array_like, shape (n,), optional
        Tasks that are no sample of tasks: the interval leaves out the variance between them. The
        p-value is the same.
    unit : float, optional
        The largest difference that an instance can make, such as 1 for right or wrong; the
        largest of this pair by default. It bounds the interval where hardly any cluster differs.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the loss of `a` is the greater one.
    method, resamples, random_state
        As for `permutation`: all sign flips, or random ones counted as (b + 1) / (m + 1).

    Returns
    -------
    PairwiseResult
        `statistic` is the mean difference. The interval is the clustered t interval, moved to 0
        where it says another thing of 0 than the p-value.

    Notes
    -----
    With D_c the sum of the differences of cluster c, the sum of D_c is referred to that of
    e_c D_c over independent signs e_c. No p-value below 2^(1-C) can come out when C clusters
    differ. The standard error of the interval is sqrt(sum_c (D_c - n_c d)^2 / (1 - n_c / n)) / n
    with d the mean difference and n_c of the n instances in cluster c, by t with `C - 1` degrees
    of freedom, fewer where clusters are of unequal sizes (of several strata: the root of the sum
    of their variances, with Welch's degrees of freedom).

    References
    ----------
    R. A. Fisher (1935). The Design of Experiments. Oliver and Boyd, Edinburgh.

    R. M. Bell and D. F. McCaffrey (2002). Bias reduction in standard errors for linear regression
    with multi-stage samples. Survey Methodology 28, 169-181.

    Examples
    --------
    Two questions on each of six passages: the second learner is better on five of the passages.

    >>> a = [1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 0]
    >>> b = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    >>> cluster_sign_flip(a, b, clusters=[1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]).pvalue
    0.0625
    """
    sides: Alternative = side(alternative)
    first, second = paired_losses(a, b, axes=1)
    held = clusters_of(clusters, first.shape[-1], strata)
    sums = held.totals(first), held.totals(second)
    flipped = permutation(
        *sums, alternative=sides, method=method, resamples=resamples, random_state=random_state
    )
    estimate = np.asarray(flipped.estimate) * (len(held) / first.shape[-1])
    return PairwiseResult(
        test="cluster-sign-flip",
        statistic=scalar_or_array(estimate),
        pvalue=flipped.pvalue,
        df=None,
        estimate=scalar_or_array(estimate),
        alternative=sides,
        note=_note(sums, len(held), sides, flipped.note),
        bounds=flipped.bounds,
        losses=(first, second),
        interval_rule=clustered_rule(held, unit),
    )


def differing(a: Floats, b: Floats) -> Any:
    """(...): how many of the (..., C) sums differ by more than rounding."""
    apart = np.abs(a - b) > 1e-12 * np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-300)
    return apart.sum(axis=-1)


def clustered_rule(held: Clusters, unit: float | None) -> Any:
    """The rule of the clustered t interval, for `PairwiseResult.interval_rule`."""

    def rule(result: PairwiseResult, level: float) -> Interval:
        low, high = clustered_t_interval(
            result.losses[0], result.losses[1], held, unit=unit,
            outside=tail_level(level, result.alternative),
        )  # fmt: skip
        if unit is not None:
            # no mean of differences is further from 0 than the largest of them
            low, high = np.clip(low, -unit, unit), np.clip(high, -unit, unit)
        d = result.losses[0] - result.losses[1]
        return agreeing_interval(
            result, level, low, high, least=d.min(axis=-1), most=d.max(axis=-1)
        )

    return rule


def clustered_t_interval(
    a: Floats, b: Floats, held: Clusters, *, outside: float, unit: float | None = None
) -> tuple[Floats, Floats]:
    """Ends (...) that each leave out `outside` of the probability, by t over the clusters."""
    from scipy.special import stdtrit

    d = a - b
    totals = held.totals(d)
    largest = np.abs(d).max(axis=-1) if unit is None else float(unit)
    error, df = held.standard_error(totals, unit=largest)
    mean = totals.sum(axis=-1) / d.shape[-1]
    half = -stdtrit(df, outside) * error
    return np.asarray(mean - half), np.asarray(mean + half)


def _note(sums: tuple[Floats, Floats], count: int, alternative: Alternative, said: str) -> str:
    one = sums[0].ndim == sums[1].ndim == 1
    found = int(differing(*sums)) if one else FEW
    if found >= FEW:
        return said if count >= FEW else ""
    least = smallest_pvalue(found, alternative)
    verb = "differs" if found == 1 else "differ"
    return (
        f"{counted(found, 'cluster')} of {count} {verb}: no {alternative} p-value below "
        f"{least:.2g} can come out."
    )
