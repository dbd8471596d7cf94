"""Races: run only the learners whose results can still change the verdict of the full plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints
from bestofk.decide.best import sort_by_overrides
from bestofk.decide.evidence import Family
from bestofk.decide.stopping.bounds import SLACK, Bounds, PlannedT, PlannedTest, PredictionBands
from bestofk.decide.stopping.rule import StopRule

_BATCH_PAIRS = 256


@lru_cache(maxsize=32)
def pairs_of(learners: int) -> tuple[Ints, Ints]:
    """Return the two learners of every pair, in the order of the bounds."""
    return np.triu_indices(learners, 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalVerdict:
    """Certain and possible claims about K learners.

    Attributes
    ----------
    sure, possible : (K, K) arrays of bool
        ``sure[i, j]``: the full plan will show j to be better than i; ``possible``: it may.
    mean_low, mean_high : (K, K) arrays
        Bounds of the mean of i minus that of j at the end of the plan.
    ranks : (K,) array
        The preference rank of every learner, smallest first. Equal ones, and all without a
        preference, are ordered by their means at the end of the plan, which may still be open.
    stated : bool
        Whether there is a preference.
    any_winner : bool
        Any learner that is shown to be better strikes out a candidate, as in the rule of the best;
        False: only one that is less preferred, as in MultiTest, or none without a preference.
    """

    sure: Bools
    possible: Bools
    mean_low: Floats
    mean_high: Floats
    ranks: Floats
    stated: bool
    any_winner: bool

    @property
    def learners(self) -> int:
        """Number of learners, K."""
        return len(self.sure)

    def candidates(self, among: Bools | None = None) -> Bools:
        """Return a (K,) mask of the learners that the full plan may still recommend."""
        left = np.ones(self.learners, dtype=bool) if among is None else among
        earlier = self.ranks[:, np.newaxis] < self.ranks
        alike = self.alike()
        before = earlier | (alike & (self.mean_high < 0))
        may_be_before = earlier | (alike & (self.mean_low <= 0))
        # without a preference, learners below the first are ordered by their means alone
        strikes = self.stated or (self.any_winner and left.all())
        struck = strikes & (self.sure & (self.any_winner | before) & left).any(axis=1)
        may_be_struck = strikes & (self.possible & (self.any_winner | may_be_before) & left).any(
            axis=1
        )
        ends = left & ~may_be_struck
        return np.asarray(left & ~struck & ~(before & ends[:, np.newaxis]).any(axis=0))

    def only_candidate(self) -> int | None:
        """Return the learner that the full plan will recommend; None if that is open."""
        candidates = np.flatnonzero(self.candidates())
        return int(candidates[0]) if len(candidates) == 1 else None

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

    def reordered(self, order: Ints) -> IntervalVerdict:
        """Return the verdict with the learners in another order."""
        both = np.ix_(order, order)
        arrays = ("sure", "possible", "mean_low", "mean_high")
        return replace(
            self, ranks=self.ranks[order], **{name: getattr(self, name)[both] for name in arrays}
        )

    def alike(self) -> Bools:
        """Return a (K, K) mask of different learners of equal preference."""
        alike: Bools = self.ranks[:, np.newaxis] == self.ranks
        return alike & ~np.eye(self.learners, dtype=bool)

    def open_pairs(self) -> Bools:
        """Return a (K, K) mask of pairs with a claim that is possible but not certain."""
        undecided = self.possible & ~self.sure
        return undecided | undecided.T

    def unranked_pairs(self) -> Bools:
        """Return a (K, K) mask of pairs that may end in either order, or with equal means."""
        return (self.mean_low <= 0) & (self.mean_high >= 0)

    def still_open(self, family: Family, target: str) -> tuple[Bools, Bools, bool]:
        """Return unranked learners, candidates for the first open rank, and whether none is open.

        With a control, every claim about it counts.
        """
        left = np.ones(self.learners, dtype=bool)
        if family.control is not None:
            undecided = self.open_pairs()[family.control].copy()
            undecided[family.control] = bool(undecided.any())
            if undecided.any():
                return left, undecided, False
        if target == "order":
            ranking, settled = self.order()
            left[ranking] = False
            return left, left if settled else self.candidates(left), settled
        return left, self.candidates(), self.only_candidate() is not None


def interval_verdict(
    bounds: Bounds,
    test: PlannedTest,
    family: Family,
    *,
    stated: bool = True,
    ranks: Floats | None = None,
) -> IntervalVerdict:
    """Return the claims that the full plan is certain to make, and those that it may make.

    `bounds` holds all pairs in the order of ``numpy.triu_indices(K, 1)``. By default, learners are
    in the order of preference; `ranks` describes one with equal ranks. Corrections are monotone in
    every p-value: the full plan rejects whatever the largest p-values reject, and nothing that the
    smallest do not reject.
    """
    K = family.learners
    if ranks is None:
        ranks = np.arange(float(K)) if stated else np.zeros(K)
    rows, columns = pairs_of(K)
    first, second = family.pairs()
    tested = np.searchsorted(rows * K + columns, first * K + second)
    one_sided = family.alternative != "two-sided"
    low, high = bounds.t_low[tested], bounds.t_high[tested]
    alike = stated & one_sided & (ranks[first] == ranks[second])
    if alike.any():
        # the side of two equally preferred learners is known only at the end
        far = np.maximum(np.abs(low), np.abs(high))
        low, high = np.where(alike, -far, low), np.where(alike, far, high)
    smallest, largest = test.pvalues(Bounds(low, high, low, high), family.alternative)
    must = family.adjust(largest) <= family.alpha
    sure, possible = (np.zeros((K, K), dtype=bool) for _ in range(2))
    sure[first, second] = must & (low > 0)
    possible[first, second] = _may(test, family, smallest, high)
    if not one_sided:
        sure[second, first] = must & (high < 0)
    if not one_sided or alike.any():
        possible[second, first] = _may(test, family, smallest, -low) & (alike | (not one_sided))
    mean_low, mean_high = np.zeros((K, K)), np.zeros((K, K))
    mean_low[rows, columns], mean_high[rows, columns] = bounds.mean_low, bounds.mean_high
    mean_low[columns, rows], mean_high[columns, rows] = -bounds.mean_high, -bounds.mean_low
    return IntervalVerdict(
        sure=sure,
        possible=possible,
        mean_low=mean_low,
        mean_high=mean_high,
        ranks=ranks,
        stated=stated,
        # without a preference, a test of means never strikes out the smallest mean
        any_winner=family.of_best and (stated or not isinstance(test, PlannedT)),
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """The state of the verdict after a part of the plan.

    Attributes
    ----------
    verdict : IntervalVerdict
    bounds, exact_bounds : Bounds
        Bounds of all pairs, with the risk of the rule and without any.
    settled : bool
    open_pairs : tuple of (int, int)
        Pairs on which the verdict depends, the preferred learner first.
    """

    verdict: IntervalVerdict
    bounds: Bounds
    exact_bounds: Bounds
    settled: bool
    open_pairs: tuple[tuple[int, int], ...]

    @property
    def go_on(self) -> Bools:
        """A (K,) mask of the learners that the verdict needs more runs of."""
        return np.isin(np.arange(self.verdict.learners), self.open_pairs)


def look(
    losses: Floats,
    test: PlannedTest,
    family: Family,
    rule: StopRule,
    *,
    stated: bool = True,
    ranks: Floats | None = None,
    floor: float = 0.0,
    earlier: PredictionBands | None = None,
) -> Look:
    """Look at losses (K, runs, folds) in order of preference, with NaN for missing cells.

    The prediction of a pair uses the leading runs that both learners have completed; exact bounds
    use every fold. `ranks` describes a preference with equal ranks. `earlier` holds the
    predictions of earlier looks; without it they are computed again.
    """
    rows, columns = pairs_of(len(losses))
    bounds = exact = test.exact(losses[rows], losses[columns])
    if rule.risk > 0 and isinstance(test, PlannedT):
        predictions = earlier or PredictionBands(len(rows), test, rule.risk, floor)
        bounds = predictions.bounds(losses[rows] - losses[columns]).within(exact)
    verdict = interval_verdict(bounds, test, family, stated=stated, ranks=ranks)
    left, candidates, settled = verdict.still_open(family, rule.target)
    pairs = () if settled else _deciding(losses, verdict, left, candidates, test, family)
    return Look(
        verdict=verdict, bounds=bounds, exact_bounds=exact, settled=settled, open_pairs=pairs
    )


def _deciding(
    losses: Floats,
    verdict: IntervalVerdict,
    among: Bools,
    candidates: Bools,
    test: PlannedTest,
    family: Family,
) -> tuple[tuple[int, int], ...]:
    """Return the pairs to continue: incomplete pairs that decide about a candidate.

    If all of these are complete, only the number of claims in the correction is open, so continue
    the other open pairs.
    """
    K = verdict.learners
    incomplete: Bools = np.logical_or.reduce(np.isnan(losses), axis=(1, 2))
    undecided, unranked = verdict.open_pairs(), verdict.unranked_pairs()
    deciding = np.zeros((K, K), dtype=bool)
    if family.control is not None:
        deciding[family.control] = undecided[family.control]
    if not deciding.any():
        against, overrides = _so_far(losses, test, family)
        for learner in np.flatnonzero(candidates).tolist():
            # learners that are already ranked override no other
            rivals = verdict.possible[learner] & ~verdict.sure[learner] & among
            if not verdict.any_winner:
                rivals &= verdict.stated & (np.arange(K) > learner)
            seems_free = True
            if verdict.stated:
                seems = rivals & overrides[learner]
                seems_free = not seems.any()
                if not seems_free:
                    # once the strongest overrides it, the other rivals do not matter
                    rivals = np.arange(K) == np.where(seems, against[learner], -np.inf).argmax()
            deciding[learner] |= rivals | (
                unranked[learner] & candidates & verdict.alike()[learner]
            )
            if verdict.stated and seems_free:
                # later candidates count only if this one is overridden after all
                break
    for pairs in (deciding, undecided, unranked):
        left = np.triu((pairs | pairs.T) & (incomplete | incomplete[:, np.newaxis]), 1)
        if left.any():
            return tuple((int(i), int(j)) for i, j in np.argwhere(left))
    return ()


def _so_far(losses: Floats, test: PlannedTest, family: Family) -> tuple[Floats, Bools]:
    """Return (K, K): how clearly j seems better than i, and whether that seems to be shown.

    This only selects the learners to run next.
    """
    first, second = family.pairs()
    found = test.so_far(losses[first], losses[second], family.alternative)
    shown = family.adjust(found.pvalue) <= family.alpha
    against = np.zeros((family.learners, family.learners))
    against[first, second], against[second, first] = found.evidence, -found.evidence
    overrides = np.zeros(against.shape, dtype=bool)
    overrides[first, second] = shown & (found.evidence > 0)
    if family.of_best:
        overrides[second, first] = shown & (found.evidence < 0)
    return against, overrides


Fill = Callable[[Ints], Floats]
"""Function from the number of runs per learner to losses (K, runs, folds), NaN beyond."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Raced:
    """The last look, with the runs and losses of every learner at that time.

    Attributes
    ----------
    look : Look
    runs : (K,) array of int
        Number of runs of every learner.
    losses : (K, runs, folds) array
        The losses used, NaN beyond.
    """

    look: Look
    runs: Ints
    losses: Floats

    @property
    def settled(self) -> bool:
        """True if the last look is settled."""
        return self.look.settled


def race(
    fill: Fill,
    test: PlannedTest,
    family: Family,
    rule: StopRule,
    *,
    floor: float = 0.0,
    watch: Callable[[Look, Ints, Floats], None] | None = None,
    **preference: Any,
) -> Raced:
    """Run round by round, only the learners whose results can still matter.

    The choice of cells depends only on losses, never on time. So a race that is interrupted and
    resumed, or run on more processors, uses the same runs. `watch` is called after every look with
    the runs and losses. `floor` and the `preference` are those of `look`.
    """
    K = family.learners
    earlier = None
    if isinstance(test, PlannedT):
        earlier = PredictionBands(K * (K - 1) // 2, test, rule.risk, floor)
    next_runs = np.ones(K, dtype=np.int64)
    while True:
        runs = next_runs
        losses = fill(runs)
        latest = look(losses, test, family, rule, earlier=earlier, **preference)
        if watch is not None:
            watch(latest, runs, losses)
        next_runs = runs.copy()
        for pair in latest.open_pairs:
            # the learner with fewer runs catches up first, by one run
            both = list(pair)
            next_runs[both] = np.maximum(next_runs[both], min(runs[both].min() + 1, test.runs))
        if latest.settled or (next_runs == runs).all():
            return Raced(look=latest, runs=runs, losses=losses)


def replay(
    losses: Floats, test: PlannedTest, family: Family, rule: StopRule, **options: Any
) -> Raced:
    """Run a race on complete losses (K, runs, folds), to see how much of them the rule uses."""

    def fill(runs: Ints) -> Floats:
        known = np.arange(losses.shape[1]) < runs[:, np.newaxis]
        return np.where(known[:, :, np.newaxis], losses, np.nan)

    return race(fill, test, family, rule, **options)


def order_so_far(
    losses: Floats, verdict: IntervalVerdict, test: PlannedTest, family: Family
) -> Ints:
    """Return the learners whose rank is settled, best first: all, or only the best.

    If none is settled, return the learner that the test would pick from the losses so far.
    """
    ranking, complete = verdict.order()
    best = verdict.only_candidate()
    if complete:
        return ranking
    if best is None and verdict.stated:
        best = int(sort_by_overrides(_so_far(losses, test, family)[1])[0])
    elif best is None:
        candidates = np.flatnonzero(verdict.candidates())
        of_candidates = losses[candidates, :, : test.outer]
        common = ~np.isnan(of_candidates).any(axis=0)
        means = of_candidates[:, common].mean(axis=1) if common.any() else np.zeros(1)
        best = int(candidates[int(np.argmin(means))])
    return np.array([best])
