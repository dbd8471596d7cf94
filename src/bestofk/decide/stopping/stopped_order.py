"""The decision of a race that was stopped: what is settled is claimed, and nothing more."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints
from bestofk._base.formatting import counted, number
from bestofk.decide.decision import Decision, Standing
from bestofk.decide.evidence import Evidence, Family, Pair
from bestofk.decide.preference import Name, Preference
from bestofk.decide.procedures.multitest import Step, sort_by_overrides
from bestofk.decide.statements.stopped import NOT_SETTLED
from bestofk.decide.statements.wording import listing
from bestofk.decide.stopping.bootstrap_looks import IntervalVerdict, PlannedTest
from bestofk.decide.stopping.planned_units import PlannedUnits
from bestofk.decide.stopping.races import Race
from bestofk.stats.tails import pvalue_of_t


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedPair(Pair):
    """One pair, on the runs that both learners have."""

    settled: bool = True
    """Whether the full plan would make this claim, or none."""

    @property
    def verdict(self) -> str:
        """The claim in words."""
        return f"{self.better} is better" if self.rejected else self._unclaimed()

    def _unclaimed(self) -> str:
        return "no evidence" if self.settled else NOT_SETTLED

    def explain(self) -> str:
        """Return the pair in a sentence."""
        if self.settled:
            return Pair.explain(self)
        return (
            f"Whether {self.a} and {self.b} differ is not settled (so far they do by "
            f"{number(abs(self.estimate))} in {self.metric.mean})."
        )

    def to_dict(self) -> dict[str, Any]:
        """The row for strict JSON, in the user's metric."""
        return {**Pair.to_dict(self), "settled": self.settled}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoppedEvidence(Evidence):
    """The pairs of a race that was stopped.

    Attributes
    ----------
    unsettled : (P,) array of bool
        A claim about the pair is possible, and not sure.
    """

    unsettled: Bools

    def pair(self, row: int) -> StoppedPair:
        """One row."""
        one = Evidence.pair(self, row)
        held = {name.name: getattr(one, name.name) for name in fields(one)}
        return StoppedPair(**held, settled=not self.unsettled[row])

    def explain(self) -> str:
        """Which pairs are settled to differ, and how many are not settled."""
        found = [f"{better} is better than {worse}" for better, worse in
                 self.claims()]  # fmt: skip
        shown = f"Settled: {listing(found)}." if found else "No claim is settled."
        left = int(self.unsettled.sum())
        return f"{counted(len(self), 'pair')}. {shown} Not settled: {counted(left, 'pair')}."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoppedDecision(Decision):
    """What was decided before the plan was at its end.

    Claims are those that the full plan is sure to make, given the risk of the race; the numbers
    of a pair are of the runs that both of its learners have, under the test of the plan. Means of
    learners with different numbers of runs are not ranked.

    Attributes
    ----------
    race : Race
        Who ran how far, and why.
    """

    race: Race

    @property
    def smallest_mean(self) -> Name:
        """The smallest mean among the learners with as many runs as the recommended one."""
        runs = self.race.runs
        best = self.recommended
        most = runs[str(best)] if best is not None else max(runs.values())
        alike = [name for name in self.by_preference if runs[str(name)] == most]
        if best is not None and not self.preference.stated:
            return best
        return min(alike, key=lambda name: self.means[name])

    @property
    def steps(self) -> tuple[Step, ...]:
        """None: further steps are not settled."""
        return ()

    @property
    def standings(self) -> tuple[Standing, ...]:
        """How every other learner stands to the recommended one; more runs first."""
        best = self.recommended
        if best is None:
            return ()
        runs = self.race.runs
        others = [name for name in self.by_preference if name != best]
        others.sort(key=lambda name: (-runs[str(name)], self.means[name]))
        return tuple(self.against(name, best) for name in others)

    def against(self, name: Name, other: Name) -> Standing:
        """How `name` stands to `other`; without p-values where that is not settled."""
        found = Decision.against(self, name, other)
        evidence, row = self.evidence, self.evidence.row(name, other)
        if row is None or not isinstance(evidence, StoppedEvidence):
            return found
        if found.verdict != "no evidence" or not evidence.unsettled[row]:
            return found
        return replace(found, verdict=NOT_SETTLED, pvalue=None, adjusted_pvalue=None)

    @property
    def run_noun(self) -> str:
        """``"run"``, or ``"data set"`` for a race over data sets."""
        return self.race.unit

    def runs_of(self, name: Name) -> int | None:
        """Runs (or data sets) that the mean of a learner is taken over."""
        return self.race.runs[str(name)]

    def to_dict(self) -> dict[str, Any]:
        """The decision for strict JSON."""
        return {**Decision.to_dict(self), "race": self.race.to_dict()}


def evidence_so_far(
    losses: Floats,
    names: tuple[Name, ...],
    test: PlannedTest,
    family: Family,
    verdict: IntervalVerdict,
    **kept: Any,
) -> StoppedEvidence:
    """Every pair on the runs that both learners have; claimed is only what is sure.

    `losses` are (K, runs, folds) in the order of `names`, NaN where nothing was run.
    """
    first, second = family.pairs()
    differences = (losses[first] - losses[second]).reshape(len(first), -1)
    n = (~np.isnan(differences)).sum(axis=1)
    known = np.where(np.isnan(differences), 0.0, differences)
    estimate = known.sum(axis=1) / np.maximum(n, 1)
    scale = np.nanmax(np.abs(losses), initial=0.0)
    estimate = np.where(np.abs(estimate) <= 1e-12 * scale, 0.0, estimate)
    if isinstance(test, PlannedUnits):
        so_far = test.so_far(losses[first], losses[second])
        direction, t = np.sign(so_far.evidence), so_far.statistic
        error = np.full(len(first), np.nan)
        pvalues = {
            "two-sided": so_far.two_sided,
            "greater": so_far.greater,
            "less": so_far.less,
        }
    else:
        direction = np.sign(estimate)
        off = np.where(np.isnan(differences), 0.0, differences - estimate[:, np.newaxis])
        variance = np.square(off).sum(axis=1) / np.maximum(n - 1, 1)
        if test.step:
            variance = np.maximum(variance, 2.0 * test.step * test.step / np.maximum(n, 1))
        error = np.sqrt(test.factor * variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(estimate == 0, 0.0, estimate / error)
        t = np.where(n < 2, 0.0, t)
        pvalues = {
            side: np.asarray(pvalue_of_t(t, test.degrees, side))
            for side in ("two-sided", "greater", "less")
        }
    sure = verdict.sure
    better = sure[first, second].astype(np.int8) - sure[second, first].astype(np.int8)
    p = pvalues[family.alternative]
    one_sided = {side: pvalues[side] for side in ("greater", "less")}
    unsettled = verdict.open_pairs()[first, second]
    return StoppedEvidence(
        names=names,
        first=first,
        second=second,
        estimate=estimate,
        statistic=t,
        pvalue=p,
        adjusted_pvalue=family.adjust(p),
        direction=direction.astype(np.int8),
        better=better,
        family=family,
        alternative=family.alternative,
        cache={"standard_error": error, **one_sided},
        unsettled=unsettled,
        **kept,
    )


def order_so_far(
    evidence: Evidence, verdict: IntervalVerdict, losses: Floats, *, settled: bool
) -> Ints:
    """Places of the learners whose rank is settled, best first: all, or the best one alone.

    Where nothing is settled, the one that the test would take on what is there.
    """
    found, whole = verdict.order()
    if whole:
        return found
    candidates = np.flatnonzero(verdict.candidates())
    if settled or len(candidates) == 1:
        return candidates[:1]
    if not verdict.stated:
        common = ~np.isnan(losses[candidates]).any(axis=0)
        means = losses[candidates][:, common].mean(axis=1) if common.any() else np.zeros(1)
        return candidates[[int(np.argmin(means))]]
    K = verdict.learners
    overrides = np.zeros((K, K), dtype=bool)
    looks_better = (evidence.adjusted_pvalue <= evidence.family.alpha) & (evidence.direction > 0)
    overrides[evidence.first, evidence.second] = looks_better
    return np.asarray(sort_by_overrides(overrides, None))[:1]


def stated_order(preference: Preference, prefer: Ints, best: Ints) -> Ints:
    """Places in the order of preference; without one the recommended learner goes first."""
    if preference.stated or not len(best):
        return prefer
    rest = prefer[~np.isin(prefer, best)]
    return np.concatenate([best, rest])
