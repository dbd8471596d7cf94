"""A look at a part of the plan: is the verdict settled, and who must go on?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk.decide.evidence import Family
from bestofk.decide.stopping.bootstrap_looks import (
    IntervalVerdict,
    PlannedTest,
    interval_verdict,
    pairs_of,
    settled_by_others,
)
from bestofk.decide.stopping.bounds import Bounds, Predictions
from bestofk.decide.stopping.planned_units import PlannedUnits
from bestofk.decide.stopping.rule import StopRule, Target
from bestofk.stats.tails import pvalue_of_t


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """What a part of the plan says.

    Attributes
    ----------
    verdict : IntervalVerdict
    settled : bool
    go_on : (K,) array of bool
        Who must run more for the verdict.
    open_pairs : tuple of (int, int)
        Pairs of which the verdict depends, the preferred one first.
    bounds, exact_bounds : Bounds
        Of all pairs, and without any risk.
    test, family
        What was looked at.
    """

    verdict: IntervalVerdict
    settled: bool
    go_on: Bools
    open_pairs: tuple[tuple[int, int], ...]
    bounds: Bounds
    exact_bounds: Bounds
    test: PlannedTest
    family: Family

    @property
    def exact(self) -> IntervalVerdict:
        """The verdict without any risk."""
        if self.exact_bounds is self.bounds:
            return self.verdict
        like = self.verdict
        return interval_verdict(
            self.exact_bounds, self.test, self.family, guard=like.guard, stated=like.stated,
            ranks=like.ranks,
        )  # fmt: skip


def look(
    losses: Floats,
    test: PlannedTest,
    family: Family,
    rule: StopRule,
    *,
    guard: bool = True,
    stated: bool = True,
    floor: float = 0.0,
    ranks: Floats | None = None,
    earlier: Predictions | None = None,
) -> Look:
    """Look at losses (K, runs, folds) in order of preference, NaN where nothing is known yet.

    A run counts for the prediction of a pair when both learners have all its folds, and all
    runs before it; every single fold counts for what is beyond doubt. `ranks` are what a
    preference says that leaves some learners alike. `earlier` keeps what looks at fewer runs
    predicted, which is computed again where it is not given.
    """
    K = len(losses)
    rows, columns = pairs_of(K)
    differences = losses[rows] - losses[columns]
    of_plan = differences[:, : test.runs]
    if isinstance(test, PlannedUnits):
        exact = test.exact(losses[rows], losses[columns])
    else:
        exact = test.exact(of_plan)
    if rule.settle == "limit":
        # more runs may always change the verdict of a plan that has no end
        exact = unbounded(len(rows))
    bounds = exact
    if rule.risk > 0 and not isinstance(test, PlannedUnits):
        kept = Predictions(len(rows), test, rule, floor) if earlier is None else earlier
        bounds = kept.bounds(differences).within(exact)
    verdict = interval_verdict(bounds, test, family, guard=guard, stated=stated, ranks=ranks)
    left, candidates, settled = still_open(verdict, family, rule.target)
    pairs: tuple[tuple[int, int], ...] = ()
    if not settled:
        endless = rule.settle == "limit"
        # with no end to the plan, as many runs as there may be
        gaps = np.logical_or.reduce(np.isnan(differences if endless else of_plan), axis=(1, 2))
        now = _now(losses, differences, test, family)
        hopeless = None
        if endless:
            # what all the runs that there may be leave open, whatever the other pairs bring
            hopeless = ~settled_by_others(bounds, test, family)
        pairs = _deciding(verdict, now, left, candidates, family, ~gaps, hopeless)
    go_on = np.zeros(K, dtype=bool)
    for pair in pairs:
        go_on[list(pair)] = True
    return Look(
        verdict=verdict,
        settled=settled,
        go_on=go_on,
        open_pairs=pairs,
        bounds=bounds,
        exact_bounds=exact,
        test=test,
        family=family,
    )


def unbounded(pairs: int) -> Bounds:
    """Nothing is known."""
    least, most = np.full(pairs, -np.inf), np.full(pairs, np.inf)
    return Bounds(t_low=least, t_high=most, mean_low=least, mean_high=most)


def still_open(
    verdict: IntervalVerdict, family: Family, target: Target
) -> tuple[Bools, Bools, bool]:
    """Who has no place yet, the candidates of the first place that is open, and whether none is."""
    everybody = np.ones(verdict.learners, dtype=bool)
    if family.name == "control":
        # every claim about the control counts
        pairs = verdict.open_pairs()
        place = family.control or 0
        touched = pairs[place].copy()
        touched[place] = bool(touched.any())
        if touched.any():
            return everybody, touched, False
    if target == "order":
        found, settled = verdict.order()
        left = everybody.copy()
        left[found] = False
        return left, left if settled else verdict.candidates(left), settled
    candidates = verdict.candidates()
    return everybody, candidates, int(candidates.sum()) == 1


def _deciding(
    verdict: IntervalVerdict,
    now: PointVerdict,
    among: Bools,
    candidates: Bools,
    family: Family,
    complete: Bools,
    hopeless: Bools | None,
) -> tuple[tuple[int, int], ...]:
    """The pairs to go on with: those that decide about a candidate and are not complete.

    Where all of them are, only how many claims the correction counts is open, and the other open
    pairs are finished. `hopeless` are (K, K) pairs that stay open if they are complete, where
    there are such: candidates are then settled one after the other, and one that cannot be ends
    it all.
    """
    K = verdict.learners
    unfinished = np.zeros((K, K), dtype=bool)
    unfinished[pairs_of(K)] = ~complete
    unfinished |= unfinished.T
    undecided = verdict.open_pairs()
    wanted = np.zeros((K, K), dtype=bool)
    if family.name == "control":
        at = family.control or 0
        wanted[at] = undecided[at]
    if not wanted.any():
        for one in np.flatnonzero(candidates).tolist():
            rivals, free = _rivals(verdict, now, among, candidates, one)
            wanted[one] |= rivals
            if hopeless is not None and (rivals & ~unfinished[one] & hopeless[one]).any():
                return ()
            if verdict.stated and (free or (hopeless is not None and rivals.any())):
                # those after it count only if it is overridden after all
                break
    for pairs in (wanted, undecided, verdict.unranked_pairs()):
        left = np.triu((pairs | pairs.T) & unfinished)
        if left.any():
            return tuple((int(i), int(j)) for i, j in np.argwhere(left))
    return ()


def _rivals(
    verdict: IntervalVerdict, now: PointVerdict, among: Bools, candidates: Bools, one: int
) -> tuple[Bools, bool]:
    """(K,): with whom a candidate must be compared further; and whether it looks free."""
    unranked = verdict.unranked_pairs()[one]
    if not verdict.stated:
        return unranked & candidates, True
    # those that have their place already override nobody any more
    found = verdict.possible[one] & ~verdict.sure[one] & among
    found[: one + 1] = False
    against = np.where(found & now.overrides[one], now.t[one], -np.inf)
    strongest = int(against.argmax())
    free = against[strongest] == -np.inf
    if not free:
        # it looks overridden: once that is sure, the others need not be asked
        found[:] = False
        found[strongest] = True
    if verdict.ranks is not None:
        found |= unranked & candidates & (verdict.ranks == verdict.ranks[one])
    if verdict.guard and free:
        struck = among & (np.triu(verdict.possible) & among).any(axis=1)
        found |= unranked & struck & (np.arange(len(found)) < one)
    return found, free


class PointVerdict(NamedTuple):
    """How it looks now, for the choice of whom to run: nothing is claimed by it."""

    t: Floats
    """(K, K), pairs i < j."""
    overrides: Bools
    """(K, K): j looks better than i, which is preferred."""


def _now(losses: Floats, differences: Floats, test: PlannedTest, family: Family) -> PointVerdict:
    """The test of the plan on what is there."""
    K = family.learners
    if isinstance(test, PlannedUnits):
        rows, columns = pairs_of(K)
        t = test.so_far(losses[rows], losses[columns]).evidence
        p = test.pvalue(t, family.alternative)
    else:
        n = (~np.isnan(differences)).sum(axis=(1, 2))
        known = np.where(np.isnan(differences), 0.0, differences)
        mean = known.sum(axis=(1, 2)) / np.maximum(n, 1)
        squares = np.square(known).sum(axis=(1, 2)) / np.maximum(n, 1) - np.square(mean)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.nan_to_num(mean / np.sqrt(test.factor * np.maximum(squares, 0.0)), nan=0.0)
        p = np.asarray(pvalue_of_t(t, test.degrees, family.alternative))  # type: ignore[arg-type]
    first, second = family.pairs()
    place = square(np.arange(float(len(t))), K).astype(np.int64)[first, second]
    overrides = np.zeros((K, K), dtype=bool)
    overrides[first, second] = (family.adjust(p[place]) <= family.alpha) & (t[place] > 0)
    return PointVerdict(t=square(t, K), overrides=overrides)


def square(values: Floats, learners: int) -> Floats:
    """(K, K) of the pairs i < j; nothing below the diagonal."""
    made = np.zeros((learners, learners))
    made[pairs_of(learners)] = values
    return made
