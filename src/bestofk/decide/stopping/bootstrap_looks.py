"""What intervals of the pairs leave open of a verdict: who may still be recommended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints
from bestofk.decide.evidence import Family
from bestofk.decide.stopping.bounds import SLACK, Bounds, PlannedT
from bestofk.decide.stopping.planned_units import PlannedUnits

PlannedTest = PlannedT | PlannedUnits
"""A test of a plan whose rest can be bounded."""
_AT_A_TIME = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalVerdict:
    """What is sure and what is possible, by places in the order of preference.

    Attributes
    ----------
    sure, possible : (K, K) arrays of bool
        ``sure[i, j]``: the full plan will show j to be better than i; ``possible``: it may.
    mean_low, mean_high : (K, K) arrays
        The mean of i less that of j at the end of the plan.
    guard : bool
        As for MultiTest: a candidate is passed over while a learner preferred to it that was
        struck out has the smaller mean.
    stated : bool
        There is a preference; without one the smallest mean is recommended.
    ranks : (K,) array or None
        What the preference says of every learner, the smallest preferred, where it leaves some
        alike: those come in the order of their means at the end of the plan, which may be open.
    """

    sure: Bools
    possible: Bools
    mean_low: Floats
    mean_high: Floats
    guard: bool
    stated: bool
    ranks: Floats | None = None

    @property
    def learners(self) -> int:
        """K."""
        return len(self.sure)

    def candidates(self, among: Bools | None = None) -> Bools:
        """(K,): who may still be recommended by the full plan, of those that are left."""
        left = np.ones(self.learners, dtype=bool) if among is None else among
        if not self.stated:
            return left & ~((self.mean_high < 0) & left[:, np.newaxis]).any(axis=0)
        if self.ranks is not None:
            return self._candidates_of_ranks(left, self.ranks)
        sure, possible = (
            np.triu(edges) & left[np.newaxis, :] for edges in (self.sure, self.possible)
        )
        struck, may_be_struck = left & sure.any(axis=1), left & possible.any(axis=1)
        found = np.zeros(self.learners, dtype=bool)
        for place in np.flatnonzero(left).tolist():
            if struck[place]:
                continue
            before = np.arange(self.learners) < place
            passed = self.guard and bool((self.mean_high[:, place] < 0)[before & struck].any())
            found[place] = not passed
            may_be_passed = self.guard and bool(
                (self.mean_low[:, place] < 0)[before & may_be_struck].any()
            )
            if not may_be_struck[place] and not may_be_passed:
                return found
        # nobody is sure to end the walk, so that of those passed over one may be taken too
        return left & ~struck

    def _candidates_of_ranks(self, left: Bools, ranks: Floats) -> Bools:
        """The same where the preference leaves some alike, whose order is that of their means."""
        earlier = ranks[:, np.newaxis] < ranks
        alike = ranks[:, np.newaxis] == ranks
        np.fill_diagonal(alike, False)
        before = earlier | (alike & (self.mean_high < 0))
        may_be_before = earlier | (alike & (self.mean_low <= 0))
        struck = left & (self.sure & before & left).any(axis=1)
        may_be_struck = left & (self.possible & may_be_before & left).any(axis=1)
        passed, may_be_passed = (np.zeros(self.learners, dtype=bool) for _ in range(2))
        if self.guard:
            passed = ((self.mean_high < 0) & before & struck[:, np.newaxis]).any(axis=0)
            may_be_passed = (
                (self.mean_low < 0) & may_be_before & may_be_struck[:, np.newaxis]
            ).any(axis=0)
        ends = left & ~may_be_struck & ~may_be_passed
        if not ends.any():
            return np.asarray(left & ~struck)
        return np.asarray(left & ~struck & ~passed & ~(before & ends[:, np.newaxis]).any(axis=0))

    def order(self) -> tuple[Ints, bool]:
        """The learners whose place is settled, best first, and whether all of them are."""
        left = np.ones(self.learners, dtype=bool)
        found: list[int] = []
        while left.any():
            candidates = np.flatnonzero(self.candidates(left))
            if len(candidates) != 1:
                return np.array(found, dtype=np.int64), False
            found.append(int(candidates[0]))
            left[candidates[0]] = False
        return np.array(found, dtype=np.int64), True

    def open_pairs(self) -> Bools:
        """(K, K): whether a claim about the pair is possible in some direction and not sure."""
        return (self.possible & ~self.sure) | (self.possible & ~self.sure).T

    def unranked_pairs(self) -> Bools:
        """(K, K): whether either of the two may have the smaller mean in the end."""
        return (self.mean_low < 0) & (self.mean_high > 0)


@lru_cache(maxsize=32)
def pairs_of(learners: int) -> tuple[Ints, Ints]:
    """The two learners of every pair, in the order that bounds have."""
    return np.triu_indices(learners, 1)


def interval_verdict(
    bounds: Bounds,
    test: PlannedTest,
    family: Family,
    *,
    guard: bool = True,
    stated: bool = True,
    ranks: Floats | None = None,
) -> IntervalVerdict:
    """The claims that the full plan is sure to make, and those that it may make.

    `bounds` are of all pairs, in the order of ``numpy.triu_indices(K, 1)``; `ranks` are for a
    preference that leaves some learners alike. The corrections
    reject more the smaller the p-values are, each of them: what the largest p-values reject is
    rejected by the full plan, and that is within what the smallest reject.
    """
    K = family.learners
    rows, columns = pairs_of(K)
    first, second = family.pairs()
    place = np.zeros((K, K), dtype=np.int64)
    place[rows, columns] = np.arange(len(rows))
    tested = place[first, second]
    one_sided = family.alternative != "two-sided"
    if one_sided and ranks is not None:
        # which of two that are alike goes first, and so the side, is known at the end
        bounds = _either_way(bounds, ranks[rows] == ranks[columns])
    smallest, largest = test.pvalues(bounds, family.alternative)
    must = family.adjust(largest[tested]) <= family.alpha
    low, high = bounds.t_low[tested], bounds.t_high[tested]
    sure, possible = (np.zeros((K, K), dtype=bool) for _ in range(2))
    sure[first, second] = must & (low > 0)
    possible[first, second] = _may(test, family, smallest[tested], high)
    if not one_sided:
        sure[second, first] = must & (high < 0)
    if not one_sided or ranks is not None:
        possible[second, first] = _may(test, family, smallest[tested], -low)
    if one_sided and ranks is not None:
        possible[second, first] &= ranks[first] == ranks[second]
    mean_low, mean_high = np.zeros((K, K)), np.zeros((K, K))
    mean_low[rows, columns], mean_high[rows, columns] = bounds.mean_low, bounds.mean_high
    mean_low[columns, rows], mean_high[columns, rows] = -bounds.mean_high, -bounds.mean_low
    return IntervalVerdict(
        sure=sure,
        possible=possible,
        mean_low=mean_low,
        mean_high=mean_high,
        guard=guard,
        stated=stated,
        ranks=ranks,
    )


def _either_way(bounds: Bounds, alike: Bools) -> Bounds:
    """The statistics of some pairs, whichever of the two goes first."""
    far = np.maximum(np.abs(bounds.t_low), np.abs(bounds.t_high))
    return replace(
        bounds,
        t_low=np.where(alike, -far, bounds.t_low),
        t_high=np.where(alike, far, bounds.t_high),
    )


def _may(test: PlannedTest, family: Family, smallest: Floats, farthest: Floats) -> Bools:
    """Whether a pair may be claimed in one direction, where its statistic reaches `farthest`.

    The other pairs have their smallest p-values, this one the smallest in that direction.
    """
    found = (farthest > 0) & (family.adjust(smallest) <= family.alpha)
    asked = np.flatnonzero(found)
    own = test.pvalue(farthest[asked], family.alternative) * (1.0 - SLACK)
    for at in range(0, len(asked), _AT_A_TIME):
        part = asked[at : at + _AT_A_TIME]
        each = np.repeat(smallest[np.newaxis], len(part), axis=0)
        each[np.arange(len(part)), part] = own[at : at + _AT_A_TIME]
        adjusted = family.adjust(each)[np.arange(len(part)), part]
        found[part] = adjusted <= family.alpha
    return found


def settled_by_others(bounds: Bounds, test: PlannedTest, family: Family) -> Bools:
    """(K, K): whether a pair may be settled, or is, by what the other pairs bring alone.

    A claim is the surer the smaller the p-values of the others are, and the less possible the
    larger they are.
    """
    first, second = family.pairs()
    place = np.zeros((family.learners, family.learners), dtype=np.int64)
    place[pairs_of(family.learners)] = np.arange(len(bounds.t_low))
    smallest, largest = (
        each[place[first, second]] for each in test.pvalues(bounds, family.alternative)
    )
    found = np.ones((family.learners, family.learners), dtype=bool)
    for at, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        claimed, not_claimed = smallest.copy(), largest.copy()
        claimed[at], not_claimed[at] = largest[at], smallest[at]
        sure = family.adjust(claimed)[at] <= family.alpha
        never = family.adjust(not_claimed)[at] > family.alpha
        found[i, j] = found[j, i] = sure or never
    return found
