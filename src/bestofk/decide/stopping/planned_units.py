"""Signed rank and sign tests that are planned on data sets: bounds of their final result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Literal, NamedTuple

import numpy as np

from bestofk._base.checks import Floats, Ints
from bestofk.decide.stopping.bounds import SLACK, Bounds
from bestofk.stats.pairwise.paired_tests import sign
from bestofk.stats.pairwise.signed_ranks import EXACT_UP_TO, doubled_midranks, untied_cdf, wilcoxon
from bestofk.stats.tails import binomial_at_most

UnitTest = Literal["ranks", "signs"]
MAX_UNITS = EXACT_UP_TO
"""Beyond this the signed rank test is approximated, and bounds do not cover the approximation."""
_MAX_PATTERNS = 2_000
_MAX_CELLS = 4_000_000
"""Limits of the enumeration of the ranks of the remaining units."""
_NOISE = 8.0 * float(np.finfo(np.float64).eps)
_TESTS = {"ranks": wilcoxon, "signs": sign}


class SoFar(NamedTuple):
    """The test on the units that both learners have, for every pair."""

    statistic: Floats
    evidence: Floats
    greater: Floats
    less: Floats
    two_sided: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedUnits:
    """A signed rank test or sign test that is planned on `runs` units, such as data sets.

    The bounded quantity is not a statistic but the evidence: -log p of the two-sided test with
    the sign of its direction. With ties and zeros the p-value is no function of the rank sum.

    - `kind` {"ranks", "signs"}: Wilcoxon's signed rank test, or the sign test.
    - `runs`: Number of planned units.
    - `span`: Losses lie between 0 and this; None if they are unbounded.
    """

    kind: UnitTest
    runs: int
    span: float | None = None

    @property
    def folds(self) -> int:
        """Number of losses per unit."""
        return 1

    @property
    def outer(self) -> int:
        """Number of losses of a unit that enter the reported means."""
        return 1

    @property
    def n(self) -> int:
        """Number of differences of the full plan."""
        return self.runs

    def exact(self, a: Floats, b: Floats) -> Bounds:
        """Bound the result of the full plan for any outcome of the rest.

        Parameters
        ----------
        a, b : (P, runs, 1) arrays
            The losses of both learners of every pair, NaN for units that are not done.

        Notes
        -----
        For fixed ranks the evidence is extreme if all remaining units have the same sign. All
        possible ranks of these units are enumerated, including ties with finished units, ties
        among themselves and differences of 0. If there are too many, a bound is used: ranks among
        all units are at least those among the finished units, and ties shift a rank sum by a
        bounded amount.
        """
        first, second = a[:, :, 0], b[:, :, 0]
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
        complete = left == 0
        low[complete] = high[complete] = self.so_far(a[complete], b[complete]).evidence
        return Bounds(
            t_low=low,
            t_high=high,
            mean_low=(total - reach) / self.n,
            mean_high=(total + reach) / self.n,
        )

    def so_far(self, a: Floats, b: Floats) -> SoFar:
        """Apply the test to the finished units."""
        first, second = a[:, :, 0], b[:, :, 0]
        gap = np.isnan(first) | np.isnan(second)
        columns = np.zeros((5, len(first)))
        columns[2:] = 1.0
        test = _TESTS[self.kind]
        patterns, which = np.unique(gap, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(np.reshape(which, -1) == number)
            if pattern.all():
                continue
            pair = first[rows][:, ~pattern], second[rows][:, ~pattern]
            results = {
                side: test(*pair, alternative=side) for side in ("greater", "less", "two-sided")
            }
            both = results["two-sided"]
            columns[0, rows] = results["greater"].statistic
            columns[1, rows] = -np.sign(np.asarray(both.direction)) * np.log(both.pvalue)
            for column, side in enumerate(results, start=2):
                columns[column, rows] = results[side].pvalue
        return SoFar(*columns)

    def pvalues(self, bounds: Bounds, alternative: str) -> tuple[Floats, Floats]:
        """Return the smallest and the largest p-value within the bounds."""
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
        """Return the p-value of evidence; for one side the smallest possible one."""
        if alternative == "two-sided":
            return np.asarray(np.exp(-np.abs(evidence)))
        return np.asarray(np.exp(-np.maximum(evidence, 0.0)) / 2.0)

    def _counted(self, a: Floats, b: Floats) -> tuple[float, float]:
        """Return the least and the most evidence of a sign test."""
        d, differs = a - b, np.abs(a - b) > _NOISE * np.hypot(a, b)
        more, less = int((differs & (d > 0)).sum()), int((differs & (d < 0)).sum())
        left = self.runs - len(d)

        def evidence(wins: int, losses: int) -> float:
            tail = binomial_at_most(min(wins, losses), wins + losses)
            size = -np.log(min(2.0 * float(tail), 1.0))
            return float(size if wins > losses else -size)

        return evidence(more, less + left), evidence(more + left, less)

    def _ranked(self, a: Floats, b: Floats) -> tuple[float, float]:
        """Return the least and the most evidence of a signed rank test."""
        d, tolerance = a - b, _NOISE * np.hypot(a, b)
        ranks, signs = doubled_midranks(d[np.newaxis], np.square(tolerance)[np.newaxis])
        differs = signs[0] != 0
        ranks, signs = ranks[0][differs], signs[0][differs]
        size = np.abs(d[differs])
        left = self.runs - len(d)
        levels, group, counts = np.unique(ranks, return_inverse=True, return_counts=True)
        group = np.reshape(group, -1)
        if _nearly_tied(size, group, len(levels), float(np.abs([a, b]).max(initial=0.0))):
            # a remaining unit between two groups might tie them
            return -np.inf, np.inf
        sizes = tuple(counts.tolist())
        more, less = (
            np.bincount(group[signs == sign], minlength=len(sizes)).astype(np.int64)
            for sign in (1, -1)
        )
        n = len(signs) + left
        ways = pattern_count(len(sizes), left)
        if ways <= _MAX_PATTERNS and ways * n * (n + 1) <= _MAX_CELLS:
            patterns = [tie_patterns(sizes, added) for added in range(left + 1)]
            high = max(_most_evidence(pattern, less) for pattern in patterns)
            low = -max(_most_evidence(pattern, more) for pattern in patterns)
        else:
            high = _evidence_bound(sizes, float(ranks[signs < 0].sum()) / 2.0, left)
            low = -_evidence_bound(sizes, float(ranks[signs > 0].sum()) / 2.0, left)
        return low, high


def _nearly_tied(size: Floats, group: Ints, groups: int, largest: float) -> bool:
    """Return whether rounding may tie two neighbouring groups."""
    if groups < 2:
        return False
    low, high = np.full(groups, np.inf), np.zeros(groups)
    np.minimum.at(low, group, size)
    np.maximum.at(high, group, size)
    return bool((low[1:] - high[:-1] <= SLACK * largest).any())


def _most_evidence(patterns: TiePatterns, against: Ints) -> float:
    """Return the most evidence for one side, with all remaining units on that side.

    `against` counts the units on the other side, in every group.
    """
    other_sum = patterns.ranks @ against
    # rank sums are doubled, and so is n (n + 1) / 2
    total = patterns.tails.shape[1] - 1
    side_sum = total - other_sum
    tail = patterns.tails[patterns.alike, np.minimum(side_sum, other_sum)]
    size = -np.log(np.minimum(2.0 * tail, 1.0))
    return float(np.where(side_sum >= other_sum, size, -size).max())


def _evidence_bound(sizes: tuple[int, ...], against: float, left: int) -> float:
    """Return an upper bound of the evidence for one side, from the certain ranks against it."""
    done = sum(sizes)
    n = done + left
    least = int(np.floor(against - largest_shift(sizes, left)))
    tail = float(untied_cdf(n)[min(least, n * (n + 1) // 2)]) if least >= 0 else 0.0
    tail = max(tail, 0.5**n)
    if 2.0 * tail < 1.0:
        return float(-np.log(2.0 * tail))
    # the evidence is on the other side: return its certain part
    most = 0.0
    for added in range(left + 1):
        m = done + added
        side_sum = int(np.floor(m * (m + 1) / 2.0 - against + largest_shift(sizes, added)))
        most = max(most, float(untied_cdf(m)[min(max(side_sum, 0), m * (m + 1) // 2)]))
    return float(np.log(min(2.0 * most, 1.0)))


# Ranks of the units that are left


class TiePatterns(NamedTuple):
    """All possible rankings of the remaining units among the finished ones.

    - `ranks` (patterns, groups): Twice the midrank of every group of tied finished units.
    - `alike` (patterns,): The row of `tails` of every pattern.
    - `tails` (kinds, sums): P(W <= w), w = 0, 1, ... in halves of a rank, under random signs of all
      units.
    """

    ranks: Ints
    alike: Ints
    tails: Floats


def pattern_count(groups: int, left: int) -> int:
    """Return the number of rankings of up to `left` more units among `groups` groups of ties.

    Examples
    --------
    One more unit among two different ones: it has a difference of 0, is tied with either, or
    takes one of the three ranks around them.

    >>> pattern_count(2, 1)
    6
    """
    return comb(left + groups, groups) << left


@lru_cache(maxsize=16)
def tie_patterns(sizes: tuple[int, ...], more: int) -> TiePatterns:
    """Enumerate the rankings of `more` units among groups of `sizes` tied units."""
    ranks, rows = [], []
    for ordered in _orderings(sizes, more):
        below, group_ranks, row = 0, [], []
        for done, added in ordered:
            count = done + added
            rank = 2 * below + count + 1
            if done:
                group_ranks.append(rank)
            row += [rank] * count
            below += count
        ranks.append(group_ranks)
        rows.append(row)
    n = sum(sizes) + more
    kinds, alike = np.unique(
        np.array(rows, dtype=np.int64).reshape(len(rows), n), axis=0, return_inverse=True
    )
    return TiePatterns(
        ranks=np.array(ranks, dtype=np.int64).reshape(len(rows), len(sizes)),
        alike=np.asarray(alike).reshape(-1),
        tails=_tails(kinds),
    )


def _tails(ranks: Ints) -> Floats:
    """Return P(W <= w) for all w, for every row of doubled ranks."""
    n = ranks.shape[1]
    sums = np.arange(n * (n + 1) + 1)
    chance = np.zeros((len(ranks), len(sums)))
    chance[:, 0] = 1.0
    for rank in ranks.T[:, :, np.newaxis]:
        before = sums - rank
        with_it = np.take_along_axis(chance, np.maximum(before, 0), axis=1)
        chance = (chance + np.where(before < 0, 0.0, with_it)) / 2.0
    return np.cumsum(chance, axis=1)


def _orderings(sizes: tuple[int, ...], more: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield groups of ties in ascending order, as counts of finished and remaining units."""
    if not sizes:
        for new in _compositions(more):
            yield tuple((0, count) for count in new)
        return
    for before in range(more + 1):
        for tied in range(more - before + 1):
            for rest in _orderings(sizes[1:], more - before - tied):
                for new in _compositions(before):
                    yield (*((0, count) for count in new), (sizes[0], tied), *rest)


@lru_cache(maxsize=64)
def _compositions(total: int) -> tuple[tuple[int, ...], ...]:
    """Return all sequences of positive whole numbers with this sum."""
    if total == 0:
        return ((),)
    return tuple(
        (first, *rest) for first in range(1, total + 1) for rest in _compositions(total - first)
    )


def largest_shift(sizes: tuple[int, ...], more: int) -> float:
    """Return the largest distance of a rank sum from that with broken ties, given `more` units.

    The ranks of a group of c ties lie up to (c - 1) / 2 from their mean, and those above it add up
    to floor(c^2 / 4) / 2. That is convex in c, so the distance is largest if all new units are
    tied with the largest group.
    """
    groups = sorted(sizes) or [0]
    groups[-1] += more
    return sum(count * count // 4 for count in groups) / 2.0
