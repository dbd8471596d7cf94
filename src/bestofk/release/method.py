"""The statistics of the gate, under a version number that the ledger records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from scipy import special, stats

from bestofk._base.checks import Floats
from bestofk.stats.pairwise.clustered import Clusters

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


def sum_of_levels(looks: int, alpha: float) -> float:
    """Return the sum of the levels of the first `looks` looks."""
    return float(alpha * (1.0 - special.zeta(_POWER, _OFFSET + 1 + looks) / _TOTAL))


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTest:
    """The comparison of a build with the anchor, item by item; positive means better."""

    difference: float
    """Mean score of the build minus that of the anchor; higher is better."""
    p_worse: float
    p_better: float
    error: float
    """Standard error of the difference."""
    df: float
    acceleration: float
    """Skewness of the units over the square root of their number."""
    exact: bool

    def bound(self, tail: float, *, upper: bool) -> float:
        """Return the one-sided confidence bound that fails with probability `tail`."""
        if self.error == 0:
            return self.difference
        quantile = float(stats.t.isf(tail, self.df)) * (-1.0 if upper else 1.0)
        shifts = quantile, _inverse(quantile, self.acceleration)
        return self.difference - (min(shifts) if upper else max(shifts)) * self.error


def item_test(build: Floats, anchor: Sequence[Floats], clusters: Clusters) -> ItemTest:
    """Compare a build with the mean of the anchor's builds over the same items.

    One build against one on independent items that are right or wrong: the exact test of McNemar.
    Otherwise the studentised mean over the clusters, with and without Hall's correction for
    skewness; the larger p-value counts. The correction alone errs if few items differ, and the
    plain t test errs if the differences are skewed.

    References
    ----------
    P. Hall (1992). On the removal of skewness by transformation. Journal of the Royal Statistical
    Society B 54, 221-228. doi:10.1111/j.2517-6161.1992.tb01876.x
    """
    differences = build - np.mean(anchor, axis=0)
    mean = float(differences.mean())
    totals = clusters.totals(differences)
    error, df = (float(part) for part in clusters.standard_error(totals, unit=1.0))
    residuals = totals - clusters.sizes * mean
    squares = float(np.square(residuals).sum())
    cubes = float((residuals**3).sum())
    acceleration = cubes / squares**1.5 if squares > 0 else 0.0
    independent = len(clusters) == build.size
    binary = all(np.isin(scores, (0.0, 1.0)).all() for scores in (build, *anchor))
    exact = len(anchor) == 1 and independent and binary
    if exact:
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        p_worse = float(stats.binom.cdf(wins, wins + losses, 0.5))
        p_better = float(stats.binom.cdf(losses, wins + losses, 0.5))
    elif error == 0 or not np.isfinite(error):
        p_worse = p_better = 1.0
    else:
        t = mean / error
        statistics = np.array([t, _transformed(t, acceleration)])
        p_worse, p_better = (float(stats.t.cdf(side * statistics, df).max()) for side in (1, -1))
    return ItemTest(
        difference=mean, p_worse=p_worse, p_better=p_better, error=error, df=df,
        acceleration=acceleration, exact=exact,
    )  # fmt: skip


def _transformed(t: float, a: float) -> float:
    """Return Hall's cubic transformation of a studentised mean."""
    return t + a * (t * t / 3 + 1 / 6) + a * a * t**3 / 27


def _inverse(value: float, a: float) -> float:
    """Return the studentised mean whose transformation is `value`."""
    if abs(a) < 1e-8:
        return value
    return float(3 / a * (np.cbrt(1 + a * (value - a / 6)) - 1))


def units_for_margin(test: ItemTest, units: int, margin: float, alpha: float) -> float:
    """Return how many units would show a build within the margin with probability 0.8.

    The true difference is assumed to be the observed one, or 0 if that is not within the margin.
    """
    distance = margin + test.difference
    if distance <= 0:
        distance = margin
    if test.error == 0 or not np.isfinite(test.error):
        return inf
    wanted = float(stats.norm.isf(alpha) + stats.norm.isf(0.2))
    return (wanted * test.error * sqrt(units) / distance) ** 2
