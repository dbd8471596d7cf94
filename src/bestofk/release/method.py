"""The statistics of the gate, under a version number that the ledger records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import expm1, inf, sqrt
from typing import Any

import numpy as np
from scipy import optimize, special, stats

from bestofk._base.checks import Floats
from bestofk.stats.pairwise.clustered import cluster_t, clusters_of
from bestofk.stats.pairwise.mcnemar_tests import mcnemar
from bestofk.stats.pairwise.result import PairwiseResult

LATEST_METHOD = 1
"""A change of any number that this module computes needs a new method."""
MAX_ANCHOR_BUILDS = 10
"""Builds that are averaged into the anchor."""
MIN_NEXT_BUILDS = 3
"""Builds that must pass after a better build before they replace the anchor."""
_OFFSET, _POWER = 100, 1.5
_TOTAL = float(special.zeta(_POWER, _OFFSET + 1))


def level_of_look(look: int, alpha: float) -> float:
    """Return the level of the test number `look`, counted from 1.

    The levels of all looks add up to `alpha`, so by Bonferroni's inequality the chance of any
    false rejection is at most `alpha`, whatever the dependence between the builds. They fall
    slowly, as (look + 100) to the power of -1.5.

    Examples
    --------
    >>> round(level_of_look(1, 0.05), 6), round(level_of_look(200, 0.05), 6)
    (0.000247, 4.8e-05)
    """
    return float(alpha * (look + _OFFSET) ** -_POWER / _TOTAL)


def sum_of_levels(looks: int, alpha: float) -> float:
    """Return the sum of the levels of the first `looks` looks."""
    return float(alpha * (1.0 - special.zeta(_POWER, _OFFSET + 1 + looks) / _TOTAL))


def next_look(spent: float, alpha: float, looks: int) -> int:
    """Return the number of the next look, given the looks so far and the alpha that they spent.

    Two branches that were merged may have spent the same looks twice. The next look then comes
    later in the sequence, so that the levels still add up to `alpha`.

    Examples
    --------
    >>> next_look(0.0, 0.05, 0), next_look(2 * level_of_look(1, 0.05), 0.05, 1)
    (1, 4)
    """
    look = looks + 1
    while sum_of_levels(look - 1, alpha) < spent * (1 - 1e-12):
        look += 1
    return look


@dataclass(frozen=True, slots=True)
class Comparison:
    """The two one-sided tests of a build against the anchor, in losses."""

    worse: PairwiseResult
    better: PairwiseResult
    p_exchangeable: float = 0.0
    """The p-value of *worse* if all builds are exchangeable; see `exchangeable_pvalue`."""

    @property
    def p_worse(self) -> float:
        """The larger p-value of *worse*."""
        return max(float(self.worse.pvalue), self.p_exchangeable)

    @property
    def p_better(self) -> float:
        """The p-value of *better*."""
        return float(self.better.pvalue)

    @property
    def excess(self) -> float:
        """Mean loss of the build minus that of the anchor."""
        return float(self.worse.estimate)

    def interval(self, tail: float) -> tuple[float, float]:
        """Return bounds of the excess, each of which fails with probability `tail`."""
        low = float(self.worse.confidence_interval(1.0 - tail).low)
        if self.p_worse > tail:
            low = min(low, 0.0)  # as the p-value says
        return low, float(self.better.confidence_interval(1.0 - tail).high)


def compare(losses: Floats, anchor: Sequence[Floats], clusters: Any) -> Comparison:
    """Compare a build with the mean of the anchor's builds over the same items.

    One build against one on independent items that are right or wrong: McNemar's exact test.
    Otherwise the larger p-value of two tests. The t test over clusters with correction for skewness
    covers builds that are good at different items. The test of exchangeable builds covers
    scores close to 0 or 1, for which the t test errs in the far tail.

    Parameters
    ----------
    losses : ndarray of shape (n,)
    anchor : sequence of ndarray of shape (n,)
    clusters : ndarray of shape (n,)
        Cluster of each item.
    """
    mean = np.mean(anchor, axis=0)
    both = np.stack([losses, *anchor])
    grouping = clusters_of(clusters, losses.size)
    if len(anchor) == 1 and len(grouping) == losses.size and np.isin(both, (0.0, 1.0)).all():
        test = partial(mcnemar, losses, mean, exact=True)
        return Comparison(test(alternative="greater"), test(alternative="less"))
    unit = 1.0 if both.min() >= 0 and both.max() <= 1 else None
    test = partial(cluster_t, losses, mean, clusters=clusters, unit=unit)
    exchangeable = exchangeable_pvalue(grouping.totals(both))
    return Comparison(test(alternative="greater"), test(alternative="less"), exchangeable)


def exchangeable_pvalue(totals: Floats) -> float:
    """Return the p-value of *worse* under the hypothesis that all builds are exchangeable.

    Within each cluster, every build then is equally likely to have any of the observed losses. For
    two builds with right and wrong answers this is McNemar's exact test. The tail probability of
    the sum over clusters is Lugannani and Rice's saddlepoint approximation, with Daniels'
    correction if the losses are whole numbers.

    - `totals` (builds, clusters): Sums of losses; the first row is the tested build.

    References
    ----------
    H. E. Daniels (1987). Tail probability approximations. International Statistical Review 55,
    37-48. doi:10.2307/1403269

    Examples
    --------
    >>> round(exchangeable_pvalue(np.array([[1] * 16 + [0] * 4, [0] * 16 + [1] * 4])), 4)
    0.006
    >>> round(float(stats.binom.sf(15, 20, 0.5)), 4)
    0.0059
    """
    centred = totals - totals.mean(axis=0)
    excess = float(centred[0].sum())
    largest = centred.max(axis=0)
    span = float((largest - centred.min(axis=0)).max())
    if excess <= 1e-9 * span * centred.shape[1]:
        return 0.5
    if excess >= largest.sum() - 1e-9 * span:
        return float(np.prod((centred >= largest - 1e-9 * span).mean(axis=0)))
    centred = centred[:, largest > 0]

    def moments(t: float) -> tuple[float, float, float]:
        """Return the cumulant generating function and its first two derivatives."""
        top = t * largest[largest > 0]
        weights = np.exp(t * centred - top)
        total = weights.sum(axis=0)
        first = (weights * centred).sum(axis=0) / total
        second = (weights * np.square(centred)).sum(axis=0) / total - np.square(first)
        value = float((np.log(total / len(weights)) + top).sum())
        return value, float(first.sum()), float(second.sum())

    high = 1.0 / span
    while moments(high)[1] < excess and high < 1e6 / span:
        high *= 2.0
    t = float(optimize.brentq(lambda t: moments(t)[1] - excess, 0.0, high, xtol=1e-12 / span))
    value, _, variance = moments(t)
    w = sqrt(max(2.0 * (t * excess - value), 0.0))
    whole = bool((totals == np.round(totals)).all())
    u = (-expm1(-t) if whole else t) * sqrt(variance)
    if w < 1e-3 or u <= 0:
        return 0.5
    return float(np.clip(stats.norm.sf(w) + stats.norm.pdf(w) * (1.0 / u - 1.0 / w), 0.0, 1.0))


def units_for_margin(
    bound: float | None, difference: float, units: int, margin: float, alpha: float
) -> float:
    """Return how many units show that an equally good build is within the margin.

    They do so with probability 0.8. `bound` is the bound of `difference` with confidence 1 - alpha
    from `units` units.
    """
    if bound is None or bound == difference:
        return inf
    half = abs(bound - difference) * (1 + stats.norm.isf(0.2) / stats.norm.isf(alpha))
    return float(units * (half / margin) ** 2)
