"""Looks at a part of the plan: whether the verdict is settled, and which learners continue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk.decide.evidence import Family
from bestofk.decide.stopping.bounds import Bounds, Predictions
from bestofk.decide.stopping.planned_units import PlannedUnits
from bestofk.decide.stopping.rule import StopRule, Target
from bestofk.decide.stopping.verdicts import (
    IntervalVerdict,
    PlannedTest,
    interval_verdict,
    pair_numbers,
    pairs_of,
)
from bestofk.stats.tails import pvalue_of_t


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """The state of the verdict after a part of the plan.

    Attributes
    ----------
    verdict : IntervalVerdict
    settled : bool
    go_on : (K,) array of bool
        Learners that the verdict needs more runs of.
    open_pairs : tuple of (int, int)
        Pairs on which the verdict depends, the preferred learner first.
    bounds, exact_bounds : Bounds
        Bounds of all pairs, with the risk and without any.
    test, family
        The planned test and its family of pairs.
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
            self.exact_bounds, self.test, self.family, stated=like.stated,
            ranks=like.ranks,
        )  # fmt: skip


def look(
    losses: Floats,
    test: PlannedTest,
    family: Family,
    rule: StopRule,
    *,
    stated: bool = True,
    floor: float = 0.0,
    ranks: Floats | None = None,
    earlier: Predictions | None = None,
) -> Look:
    """Look at losses (K, runs, folds) in order of preference, with NaN for missing cells.

    The prediction of a pair uses the leading runs that both learners have completed; exact bounds
    use every fold. `ranks` describes a preference with equal ranks. `earlier` holds the
    predictions of earlier looks; without it they are computed again.
    """
    K = len(losses)
    rows, columns = pairs_of(K)
    differences = losses[rows] - losses[columns]
    if isinstance(test, PlannedUnits):
        exact = test.exact(losses[rows], losses[columns])
    else:
        exact = test.exact(differences)
    bounds = exact
    if rule.risk > 0 and not isinstance(test, PlannedUnits):
        predictions = Predictions(len(rows), test, rule, floor) if earlier is None else earlier
        bounds = predictions.bounds(differences).within(exact)
    verdict = interval_verdict(bounds, test, family, stated=stated, ranks=ranks)
    left, candidates, settled = still_open(verdict, family, rule.target)
    pairs: tuple[tuple[int, int], ...] = ()
    if not settled:
        gaps = np.logical_or.reduce(np.isnan(differences), axis=(1, 2))
        now = _now(losses, differences, test, family)
        pairs = _deciding(verdict, now, left, candidates, family, ~gaps)
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


def still_open(
    verdict: IntervalVerdict, family: Family, target: Target
) -> tuple[Bools, Bools, bool]:
    """Return unranked learners, candidates for the first open rank, and whether none is open."""
    everybody = np.ones(verdict.learners, dtype=bool)
    if family.name == "control":
        # every claim about the control counts
        pairs = verdict.open_pairs()
        control = family.control or 0
        undecided = pairs[control].copy()
        undecided[control] = bool(undecided.any())
        if undecided.any():
            return everybody, undecided, False
    if target == "order":
        ranking, settled = verdict.order()
        left = everybody.copy()
        left[ranking] = False
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
) -> tuple[tuple[int, int], ...]:
    """Return the pairs to continue: incomplete pairs that decide about a candidate.

    If all of these are complete, only the number of claims in the correction is open, so continue
    the other open pairs.
    """
    K = verdict.learners
    unfinished = np.zeros((K, K), dtype=bool)
    unfinished[pairs_of(K)] = ~complete
    unfinished |= unfinished.T
    undecided = verdict.open_pairs()
    deciding = np.zeros((K, K), dtype=bool)
    if family.name == "control":
        control = family.control or 0
        deciding[control] = undecided[control]
    if not deciding.any():
        for learner in np.flatnonzero(candidates).tolist():
            rivals, free = _rivals(verdict, now, among, candidates, learner)
            deciding[learner] |= rivals
            if verdict.stated and free:
                # later candidates count only if this one is overridden after all
                break
    for pairs in (deciding, undecided, verdict.unranked_pairs()):
        left = np.triu((pairs | pairs.T) & unfinished)
        if left.any():
            return tuple((int(i), int(j)) for i, j in np.argwhere(left))
    return ()


def _rivals(
    verdict: IntervalVerdict, now: PointVerdict, among: Bools, candidates: Bools, learner: int
) -> tuple[Bools, bool]:
    """Return the learners to compare a candidate with, and whether it seems not overridden."""
    unranked = verdict.unranked_pairs()[learner]
    # learners that are already ranked override no other
    rivals = verdict.possible[learner] & ~verdict.sure[learner] & among
    if not verdict.stated:
        return (unranked & candidates) | (rivals & verdict.any_winner), True
    if not verdict.any_winner:
        rivals[: learner + 1] = False
    against = np.where(rivals & now.overrides[learner], now.t[learner], -np.inf)
    strongest = int(against.argmax())
    free = against[strongest] == -np.inf
    if not free:
        # it seems overridden: once that is certain, the other rivals do not matter
        rivals[:] = False
        rivals[strongest] = True
    if verdict.ranks is not None:
        rivals |= unranked & candidates & (verdict.ranks == verdict.ranks[learner])
    return rivals, free


class PointVerdict(NamedTuple):
    """The verdict on the results so far, which only selects the learners to run next."""

    t: Floats
    """(K, K): how clearly j seems better than i."""
    overrides: Bools
    """(K, K): j seems to be shown to be better than i."""


def _now(losses: Floats, differences: Floats, test: PlannedTest, family: Family) -> PointVerdict:
    """Apply the planned test to the results so far."""
    K = family.learners
    if isinstance(test, PlannedUnits):
        rows, columns = pairs_of(K)
        t = test.so_far(losses[rows], losses[columns]).evidence
        p = test.pvalue(t, family.alternative)
    else:
        t = test.t_so_far(differences)
        p = np.asarray(pvalue_of_t(t, test.degrees, family.alternative))  # type: ignore[arg-type]
    first, second = family.pairs()
    tested = pair_numbers(K)[first, second]
    overrides = np.zeros((K, K), dtype=bool)
    shown = family.adjust(p[tested]) <= family.alpha
    overrides[first, second] = shown & (t[tested] > 0)
    if family.of_best:
        overrides[second, first] = shown & (t[tested] < 0)
    square = np.zeros((K, K))
    square[pairs_of(K)] = t
    square -= square.T
    return PointVerdict(t=square, overrides=overrides)
