"""The decision of a race that stopped early, which claims only what is settled."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints
from bestofk._base.formatting import counted, number
from bestofk.decide.best import sort_by_overrides
from bestofk.decide.decision import (
    MAY_BE_BEST,
    NOT_SHOWN,
    RECOMMENDED,
    RULED_OUT,
    Decision,
    Standing,
)
from bestofk.decide.evidence import Evidence, Family, Pair
from bestofk.decide.preference import Name, Preference
from bestofk.decide.procedures.multitest import Step
from bestofk.decide.statements import Statement
from bestofk.decide.statements.stopped import NOT_SETTLED, stopped_statements
from bestofk.decide.statements.wording import listing
from bestofk.decide.stopping.planned_units import PlannedUnits
from bestofk.decide.stopping.races import Race
from bestofk.decide.stopping.verdicts import IntervalVerdict, PlannedTest


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedPair(Pair):
    """One pair, on the runs that both learners completed."""

    settled: bool = True
    """True if the claim of the full plan about this pair is settled."""

    @property
    def verdict(self) -> str:
        """The claim in words."""
        if self.rejected:
            return f"{self.better} is better"
        return "no difference shown" if self.settled else NOT_SETTLED

    def explain(self) -> str:
        """Return the pair in a sentence."""
        if self.settled:
            return Pair.explain(self)
        return (
            f"It is not settled whether {self.a} and {self.b} differ (so far they differ by "
            f"{number(abs(self.estimate))} in {self.metric.mean})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the row for strict JSON, in the user's metric."""
        return {**Pair.to_dict(self), "settled": self.settled}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoppedEvidence(Evidence):
    """The pairs of a race that stopped early.

    Attributes
    ----------
    unsettled : (P,) array of bool
        Whether a claim about the pair is possible but not certain.
    """

    unsettled: Bools

    def pair(self, row: int) -> StoppedPair:
        """Return one row."""
        pair = Evidence.pair(self, row)
        values = {field.name: getattr(pair, field.name) for field in fields(pair)}
        return StoppedPair(**values, settled=not self.unsettled[row])

    def explain(self) -> str:
        """State which claims are settled, and how many pairs are not settled."""
        claims = [f"{better} is better than {worse}" for better, worse in self.claims()]
        shown = f"Settled: {listing(claims)}." if claims else "No claim is settled."
        left = int(self.unsettled.sum())
        return f"{counted(len(self), 'pair')}. {shown} Not settled: {counted(left, 'pair')}."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoppedDecision(Decision):
    """The decision of a race that stopped before the end of the plan.

    Its claims are those that the full plan will make, up to the risk of the race. The numbers of
    a pair use the runs that both learners completed, under the test of the plan. Means of
    learners with different numbers of runs are not ranked.

    Attributes
    ----------
    race : Race
        How far each learner ran, and why it stopped.
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
        return min(alike, key=lambda name: self.mean_losses[name])

    @property
    def by_mean(self) -> tuple[Name, ...]:
        """The recommended learner, then the others; more runs first, and equal runs by mean."""
        runs, best = self.race.runs, self.recommended
        return tuple(
            sorted(
                self.by_preference,
                key=lambda name: (name != best, -runs[str(name)], self.mean_losses[name]),
            )
        )

    @property
    def steps(self) -> tuple[Step, ...]:
        """Empty: further steps are not settled."""
        return ()

    @property
    def pair_evidence(self) -> Evidence:
        """The pairs of the decision; those of another family are not settled."""
        return self.evidence

    @property
    def candidates(self) -> tuple[Name, ...]:
        """The learners that may be the best, as far as that is settled."""
        verdicts = {row.name: row.verdict for row in self.standings}
        may_be = (RECOMMENDED, MAY_BE_BEST, NOT_SETTLED)
        return tuple(name for name in self.by_mean if verdicts[name] in may_be)

    @property
    def standings(self) -> tuple[Standing, ...]:
        """One row per learner, without bounds: the recommended one first, then more runs first."""
        return tuple(
            Standing(
                name=name,
                mean=self.metric.shown(self.mean_losses[name]),
                difference=0.0,
                at_least=None,
                at_most=None,
                verdict=self._verdict(name, self.by_preference.index(name)),
                metric=self.metric,
            )
            for name in self.by_mean
        )

    def _verdict(self, name: Name, place: int) -> str:
        evidence = self.evidence
        if name == self.recommended or not isinstance(evidence, StoppedEvidence):
            return Decision._verdict(self, name, place)
        if evidence.family.of_best:
            rows = evidence.rows_of(name)
            if evidence.shown()[:, place].any():
                return RULED_OUT
            return NOT_SETTLED if evidence.unsettled[rows].any() else MAY_BE_BEST
        verdict = Decision._verdict(self, name, place)
        row = None if self.recommended is None else evidence.row(name, self.recommended)
        open_pair = row is not None and verdict == NOT_SHOWN and evidence.unsettled[row]
        return NOT_SETTLED if open_pair else verdict

    @property
    def run_noun(self) -> str:
        """``"run"``, or ``"data set"`` for a race over data sets."""
        return self.race.unit

    def runs_of(self, name: Name) -> int | None:
        """Return the number of runs (or data sets) in the mean of a learner."""
        return self.race.runs[str(name)]

    def _statements(self) -> tuple[Statement, ...]:
        return stopped_statements(self)

    def to_dict(self, *, pairs: bool = False) -> dict[str, Any]:
        """Return the decision for strict JSON."""
        return {**Decision.to_dict(self, pairs=pairs), "race": self.race.to_dict()}


def evidence_so_far(
    losses: Floats,
    names: tuple[Name, ...],
    test: PlannedTest,
    family: Family,
    verdict: IntervalVerdict,
    **facts: Any,
) -> StoppedEvidence:
    """Return every pair on the runs that both learners completed, with certain claims only.

    `losses` is (K, runs, folds) in the order of `names`, NaN for cells that were not run.
    """
    first, second = family.pairs()
    differences = losses[first] - losses[second]
    scale = np.nanmax(np.abs(losses), initial=0.0)
    if isinstance(test, PlannedUnits):
        known = (~np.isnan(differences)).sum(axis=(1, 2))
        estimate = np.nansum(differences, axis=(1, 2)) / np.maximum(known, 1)
        estimate = np.where(np.abs(estimate) <= 1e-12 * scale, 0.0, estimate)
        so_far = test.so_far(losses[first], losses[second])
        direction, t = np.sign(so_far.evidence), so_far.statistic
        error = np.full(len(first), np.nan)
        pvalues = {
            "two-sided": so_far.two_sided,
            "greater": so_far.greater,
            "less": so_far.less,
        }
    else:
        estimate, error = test.so_far(differences)
        estimate = np.where(np.abs(estimate) <= 1e-12 * scale, 0.0, estimate)
        direction = np.sign(estimate)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(estimate == 0, 0.0, estimate / error)
        t = np.where((~np.isnan(differences)).sum(axis=(1, 2)) < 2, 0.0, t)
        pvalues = {side: test.pvalue(t, side) for side in ("two-sided", "greater", "less")}
    sure = verdict.sure
    better = sure[first, second].astype(np.int8) - sure[second, first].astype(np.int8)
    p = pvalues[family.alternative]
    one_sided = {f"pvalue_{side}": pvalues[side] for side in ("greater", "less")}
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
        **facts,
    )


def order_so_far(
    evidence: Evidence, verdict: IntervalVerdict, losses: Floats, *, settled: bool
) -> Ints:
    """Return the learners whose rank is settled, best first: all, or only the best.

    If none is settled, return the learner that the test would pick from the results so far.
    """
    ranking, complete = verdict.order()
    if complete:
        return ranking
    candidates = np.flatnonzero(verdict.candidates())
    if settled or len(candidates) == 1:
        return candidates[:1]
    if not verdict.stated:
        common = ~np.isnan(losses[candidates]).any(axis=0)
        means = losses[candidates][:, common].mean(axis=1) if common.any() else np.zeros(1)
        return candidates[[int(np.argmin(means))]]
    K = verdict.learners
    overrides = np.zeros((K, K), dtype=bool)
    shown = evidence.adjusted_pvalue <= evidence.family.alpha
    overrides[evidence.first, evidence.second] = shown & (evidence.direction > 0)
    if verdict.any_winner:
        overrides[evidence.second, evidence.first] = shown & (evidence.direction < 0)
    return sort_by_overrides(overrides)[:1]


def stated_order(preference: Preference, prefer: Ints, best: Ints) -> Ints:
    """Return the learners by preference; without one the recommended learner goes first."""
    if preference.stated or not len(best):
        return prefer
    rest = prefer[~np.isin(prefer, best)]
    return np.concatenate([best, rest])
