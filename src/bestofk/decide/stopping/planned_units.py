"""A test that is planned on so many data sets: what those that are left can still change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from bestofk._base.checks import Floats, Ints
from bestofk.decide.stopping.bounds import (
    SLACK,
    Bounds,
    TiePatterns,
    largest_shift,
    pattern_count,
    tie_patterns,
)
from bestofk.stats.pairwise.paired_tests import sign
from bestofk.stats.pairwise.signed_ranks import EXACT_UP_TO, doubled_midranks, untied_cdf, wilcoxon
from bestofk.stats.tails import binomial_at_most

UnitTest = Literal["ranks", "signs"]
MOST_UNITS = EXACT_UP_TO
"""Beyond, the signed rank test is approximated, and its approximation is not bounded here."""
_MOST_PATTERNS = 2_000
_MOST_CELLS = 4_000_000
"""More ways of ranking the rest than these, or more sums of them, are not gone through."""
_NOISE = 8.0 * float(np.finfo(np.float64).eps)
_TESTS = {"ranks": wilcoxon, "signs": sign}


class SoFar(NamedTuple):
    """The test on the units that both learners have; one number of each for every pair."""

    statistic: Floats
    evidence: Floats
    greater: Floats
    less: Floats
    two_sided: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedUnits:
    """A signed rank test or sign test that is planned on `runs` units, such as data sets.

    What is bounded in place of a statistic is the evidence, -log p of the two-sided test with
    the sign of its direction: with ties and zeros the p-value is no function of the sum of ranks.

    Attributes
    ----------
    kind : {"ranks", "signs"}
        Wilcoxon's signed rank test, or the sign test.
    runs : int
        Units of the plan.
    span : float or None
        Losses lie between 0 and this; None: they may be any number.
    """

    kind: UnitTest
    runs: int
    span: float | None = None

    @property
    def folds(self) -> int:
        """A unit has one loss."""
        return 1

    @property
    def n(self) -> int:
        """Differences of the full plan."""
        return self.runs

    def exact(self, a: Floats, b: Floats) -> Bounds:
        """What the rest of the plan cannot change, whatever it brings.

        Parameters
        ----------
        a, b : (P, runs, 1) arrays
            The losses of both learners of every pair, NaN where a unit is not done.

        Notes
        -----
        With given ranks the evidence grows with every unit that speaks for it, so that its ends
        are those where all units that are left have one sign. The ranks that they may have are
        gone through, ties with those that are done and with each other and differences of 0
        among them. Where these are too many: ranks among all units are at least those among
        the units that are done, and ties shift a sum of ranks by so much at the most.
        """
        first, second = (one[:, :, 0] for one in (a, b))
        gap = np.isnan(first) | np.isnan(second)
        left = gap.sum(axis=1)
        d = np.where(gap, 0.0, first - second)
        total = d.sum(axis=1)
        total = np.where(np.abs(total) <= SLACK * np.abs(d).max(axis=1, initial=0.0), 0.0, total)
        reach = np.where(left > 0, np.inf if self.span is None else left * self.span, 0.0)
        low, high = np.zeros(len(d)), np.zeros(len(d))
        bounded = self._ranked if self.kind == "ranks" else self._counted
        for pair in np.flatnonzero(left > 0).tolist():
            known = ~gap[pair]
            low[pair], high[pair] = bounded(first[pair, known], second[pair, known])
        whole = left == 0
        low[whole] = high[whole] = self.so_far(a[whole], b[whole]).evidence
        return Bounds(
            t_low=low,
            t_high=high,
            mean_low=(total - reach) / self.n,
            mean_high=(total + reach) / self.n,
        )

    def so_far(self, a: Floats, b: Floats) -> SoFar:
        """The test on what is there."""
        first, second = (one[:, :, 0] for one in (a, b))
        gap = np.isnan(first) | np.isnan(second)
        found = np.zeros((5, len(first)))
        found[2:] = 1.0
        test = _TESTS[self.kind]
        patterns, which = np.unique(gap, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(np.reshape(which, -1) == number)
            if pattern.all():
                continue
            one, other = first[rows][:, ~pattern], second[rows][:, ~pattern]
            results = {
                side: test(one, other, alternative=side)
                for side in ("greater", "less", "two-sided")
            }
            both = results["two-sided"]
            found[0, rows] = results["greater"].statistic
            found[1, rows] = -np.sign(np.asarray(both.direction)) * np.log(both.pvalue)
            for at, side in enumerate(results, start=2):
                found[at, rows] = results[side].pvalue
        return SoFar(*found)

    def pvalues(self, bounds: Bounds, alternative: str) -> tuple[Floats, Floats]:
        """The smallest and the largest p-value that the bounds leave open."""
        low, high = bounds.t_low, bounds.t_high
        if alternative == "two-sided":
            far = np.maximum(np.abs(low), np.abs(high))
            near = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
            smallest, largest = np.exp(-far), np.exp(-near)
        else:
            smallest = self.pvalue(high, alternative)
            # with the evidence on the other side the one-sided p-value is at least 1/2
            largest = np.where(low > 0, np.exp(-np.maximum(low, 0.0)) / 2.0, 1.0)
        return smallest * (1.0 - SLACK), np.minimum(largest * (1.0 + SLACK), 1.0)

    def pvalue(self, evidence: Floats, alternative: str) -> Floats:
        """The p-value of evidence; one-sided, the smallest that it may have."""
        if alternative == "two-sided":
            return np.asarray(np.exp(-np.abs(evidence)))
        return np.asarray(np.exp(-np.maximum(evidence, 0.0)) / 2.0)

    def _counted(self, a: Floats, b: Floats) -> tuple[float, float]:
        """The least and the most evidence of a sign test."""
        d, differs = a - b, np.abs(a - b) > _NOISE * np.hypot(a, b)
        more, less = int((differs & (d > 0)).sum()), int((differs & (d < 0)).sum())
        left = self.runs - len(d)

        def evidence(for_it: int, against: int) -> float:
            tail = binomial_at_most(min(for_it, against), for_it + against)
            size = -np.log(min(2.0 * float(tail), 1.0))
            return float(size if for_it > against else -size)

        return evidence(more, less + left), evidence(more + left, less)

    def _ranked(self, a: Floats, b: Floats) -> tuple[float, float]:
        """The least and the most evidence of a signed rank test."""
        d, tolerance = a - b, _NOISE * np.hypot(a, b)
        ranks, signs = doubled_midranks(d[np.newaxis], np.square(tolerance)[np.newaxis])
        differs = signs[0] != 0
        ranks, signs = ranks[0][differs], signs[0][differs]
        size = np.abs(d[differs])
        left = self.runs - len(d)
        levels, group, counts = np.unique(ranks, return_inverse=True, return_counts=True)
        group = np.reshape(group, -1)
        if _nearly_tied(size, group, len(levels), float(np.abs([a, b]).max(initial=0.0))):
            # another unit between two of them might tie them
            return -np.inf, np.inf
        sizes = tuple(counts.tolist())
        more, less = (
            np.bincount(group[signs == one], minlength=len(sizes)).astype(np.int64)
            for one in (1, -1)
        )
        n = len(signs) + left
        ways = pattern_count(len(sizes), left)
        if ways <= _MOST_PATTERNS and ways * n * (n + 1) <= _MOST_CELLS:
            patterns = [tie_patterns(sizes, added) for added in range(left + 1)]
            high = max(_most_evidence(one, less) for one in patterns)
            low = -max(_most_evidence(one, more) for one in patterns)
        else:
            high = _evidence_bound(sizes, float(ranks[signs < 0].sum()) / 2.0, left)
            low = -_evidence_bound(sizes, float(ranks[signs > 0].sum()) / 2.0, left)
        return low, high


def _nearly_tied(size: Floats, group: Ints, groups: int, largest: float) -> bool:
    """Whether two groups are so near to each other that rounding may tie them."""
    if groups < 2:
        return False
    low, high = (np.zeros(groups) for _ in range(2))
    low[:] = np.inf
    np.minimum.at(low, group, size)
    np.maximum.at(high, group, size)
    return bool((low[1:] - high[:-1] <= SLACK * largest).any())


def _most_evidence(patterns: TiePatterns, against: Ints) -> float:
    """The most evidence for one side, where all that is left speaks for it.

    `against` are the units on the other side, in every group.
    """
    other = patterns.ranks @ against
    total = patterns.tails.shape[1] - 1
    # sums are doubled, and so is n (n + 1) / 2
    own = total - other
    tail = patterns.tails[patterns.alike, np.minimum(own, other)]
    size = -np.log(np.minimum(2.0 * tail, 1.0))
    return float(np.where(own >= other, size, -size).max())


def _evidence_bound(sizes: tuple[int, ...], against: float, left: int) -> float:
    """At least the most evidence for one side, from the ranks against it that are sure."""
    done = sum(sizes)
    n = done + left
    least = int(np.floor(against - largest_shift(sizes, left)))
    tail = float(untied_cdf(n)[min(least, n * (n + 1) // 2)]) if least >= 0 else 0.0
    tail = max(tail, 0.5**n)
    if 2.0 * tail < 1.0:
        return float(-np.log(2.0 * tail))
    # the evidence is on the other side: how much of it is sure?
    most = 0.0
    for added in range(left + 1):
        m = done + added
        own = int(np.floor(m * (m + 1) / 2.0 - against + largest_shift(sizes, added)))
        most = max(most, float(untied_cdf(m)[min(max(own, 0), m * (m + 1) // 2)]))
    return float(np.log(min(2.0 * most, 1.0)))
