"""Verdicts from intervals of the pairs: which claims are certain, and which are possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints
from bestofk.decide.evidence import Family
from bestofk.decide.stopping.bounds import SLACK, Bounds, PlannedT
from bestofk.decide.stopping.planned_units import PlannedUnits

PlannedTest = PlannedT | PlannedUnits
"""A planned test whose remaining results can be bounded."""
_BATCH_PAIRS = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalVerdict:
    """Certain and possible claims about K learners in order of preference.

    Attributes
    ----------
    sure, possible : (K, K) arrays of bool
        ``sure[i, j]``: the full plan will show j to be better than i; ``possible``: it may.
    mean_low, mean_high : (K, K) arrays
        Bounds of the mean of i minus that of j at the end of the plan.
    any_winner : bool
        Any learner that is shown to be better strikes out a candidate, as in the rule of the best;
        False: only one that is less preferred, as in MultiTest, or none without a preference.
    stated : bool
        Whether there is a preference; without one the smallest mean is recommended.
    ranks : (K,) array or None
        The preference rank of every learner, smallest first, if some ranks are equal. Equal
        learners are ordered by their means at the end of the plan, which may still be open.
    """

    sure: Bools
    possible: Bools
    mean_low: Floats
    mean_high: Floats
    any_winner: bool
    stated: bool
    ranks: Floats | None = None

    @property
    def learners(self) -> int:
        """Number of learners, K."""
        return len(self.sure)

    def candidates(self, among: Bools | None = None) -> Bools:
        """Return a (K,) mask of the learners that the full plan may still recommend."""
        left = np.ones(self.learners, dtype=bool) if among is None else among
        if not self.stated:
            return self._candidates_by_means(left)
        if self.ranks is not None:
            return self._candidates_of_ranks(left, self.ranks)
        sure, possible = (
            (edges if self.any_winner else np.triu(edges)) & left[np.newaxis, :]
            for edges in (self.sure, self.possible)
        )
        struck, may_be_struck = left & sure.any(axis=1), left & possible.any(axis=1)
        candidates = np.zeros(self.learners, dtype=bool)
        for index in np.flatnonzero(left).tolist():
            candidates[index] = not struck[index]
            if not may_be_struck[index]:
                break
        return candidates

    def _candidates_by_means(self, left: Bools) -> Bools:
        """Return the candidates without a preference: the best mean of those not struck out."""
        ahead = left
        if self.any_winner and left.all():
            # the others are ordered by their means alone
            ahead = np.asarray(~self.possible.any(axis=1))
            left = np.asarray(~self.sure.any(axis=1))
        return left & ~((self.mean_high < 0) & ahead[:, np.newaxis]).any(axis=0)

    def _candidates_of_ranks(self, left: Bools, ranks: Floats) -> Bools:
        """Return the candidates if equally preferred learners are ordered by their means."""
        earlier = ranks[:, np.newaxis] < ranks
        alike = ranks[:, np.newaxis] == ranks
        np.fill_diagonal(alike, False)
        before = earlier | (alike & (self.mean_high < 0))
        may_be_before = earlier | (alike & (self.mean_low <= 0))
        struck = left & (self.sure & (self.any_winner | before) & left).any(axis=1)
        may_be_struck = left & (self.possible & (self.any_winner | may_be_before) & left).any(
            axis=1
        )
        ends = left & ~may_be_struck
        return np.asarray(left & ~struck & ~(before & ends[:, np.newaxis]).any(axis=0))

    def order(self) -> tuple[Ints, bool]:
        """Return the learners whose rank is settled, best first, and whether all of them are."""
        left = np.ones(self.learners, dtype=bool)
        ranking: list[int] = []
        while left.any():
            candidates = np.flatnonzero(self.candidates(left))
            if len(candidates) != 1:
                break
            ranking.append(int(candidates[0]))
            left[candidates[0]] = False
        return np.array(ranking, dtype=np.int64), not left.any()

    def open_pairs(self) -> Bools:
        """Return a (K, K) mask of pairs with a claim that is possible but not certain."""
        undecided = self.possible & ~self.sure
        return undecided | undecided.T

    def unranked_pairs(self) -> Bools:
        """Return a (K, K) mask of pairs that may end in either order, or with equal means."""
        return (self.mean_low <= 0) & (self.mean_high >= 0)


@lru_cache(maxsize=32)
def pairs_of(learners: int) -> tuple[Ints, Ints]:
    """Return the two learners of every pair, in the order of the bounds."""
    return np.triu_indices(learners, 1)


@lru_cache(maxsize=32)
def pair_numbers(learners: int) -> Ints:
    """Return a (K, K) table of the numbers of the pairs i < j; 0 elsewhere."""
    numbers = np.zeros((learners, learners), dtype=np.int64)
    rows, columns = pairs_of(learners)
    numbers[rows, columns] = np.arange(len(rows))
    return numbers


def interval_verdict(
    bounds: Bounds,
    test: PlannedTest,
    family: Family,
    *,
    stated: bool = True,
    ranks: Floats | None = None,
) -> IntervalVerdict:
    """Return the claims that the full plan is certain to make, and those that it may make.

    `bounds` holds all pairs in the order of ``numpy.triu_indices(K, 1)``; `ranks` describes a
    preference with equal ranks. Corrections are monotone in every p-value: the full plan rejects
    whatever the largest p-values reject, and nothing that the smallest do not reject.
    """
    K = family.learners
    rows, columns = pairs_of(K)
    first, second = family.pairs()
    tested = pair_numbers(K)[first, second]
    one_sided = family.alternative != "two-sided"
    if one_sided and ranks is not None:
        # the side of two equally preferred learners is known only at the end
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
        # without a preference, a test of means never strikes out the smallest mean
        any_winner=family.of_best and (stated or isinstance(test, PlannedUnits)),
        stated=stated,
        ranks=ranks,
    )


def _either_way(bounds: Bounds, alike: Bools) -> Bounds:
    """Return bounds that hold for both directions of the pairs that are `alike`."""
    far = np.maximum(np.abs(bounds.t_low), np.abs(bounds.t_high))
    return replace(
        bounds,
        t_low=np.where(alike, -far, bounds.t_low),
        t_high=np.where(alike, far, bounds.t_high),
    )


def _may(test: PlannedTest, family: Family, smallest: Floats, farthest: Floats) -> Bools:
    """Return whether pairs may be claimed in the direction in which they reach `farthest`.

    The other pairs have their smallest p-values, this one the smallest in that direction.
    """
    possible = (farthest > 0) & (family.adjust(smallest) <= family.alpha)
    pairs = np.flatnonzero(possible)
    pvalues = test.pvalue(farthest[pairs], family.alternative) * (1.0 - SLACK)
    for start in range(0, len(pairs), _BATCH_PAIRS):
        part = pairs[start : start + _BATCH_PAIRS]
        each = np.repeat(smallest[np.newaxis], len(part), axis=0)
        each[np.arange(len(part)), part] = pvalues[start : start + _BATCH_PAIRS]
        adjusted = family.adjust(each)[np.arange(len(part)), part]
        possible[part] = adjusted <= family.alpha
    return possible
