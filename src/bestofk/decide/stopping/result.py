"""The course of a race, and the decision after it, which claims only what is settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk._base.formatting import joined, shortened
from bestofk.decide.decision import (
    MAY_BE_BEST,
    NOT_SHOWN,
    RECOMMENDED,
    RULED_OUT,
    Decision,
    Standing,
)
from bestofk.decide.evidence import Evidence, Family
from bestofk.decide.multitest_order import Step
from bestofk.decide.preference import Name
from bestofk.decide.statements import Statement
from bestofk.decide.statements.stopped import NOT_SETTLED, stopped_statements
from bestofk.decide.stopping.bounds import PlannedTest
from bestofk.decide.stopping.races import IntervalVerdict
from bestofk.losses.losses import Metric

MAX_LISTED_PAIRS = 6
"""Number of open pairs that are listed by name; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RacedLearner:
    """The progress of one learner.

    Attributes
    ----------
    learner : str
    course : tuple of float
        Mean loss over its first 1, 2, ... runs (or data sets).
    why : str
        Why it stopped before the end of the plan, as a clause: ``"nmc is better"``; else empty.
    unit : {"run", "data set"}
        The unit of the race.
    """

    learner: str
    course: tuple[float, ...]
    why: str = ""
    unit: str = field(default="run", repr=False)

    @property
    def runs(self) -> int:
        """Number of its runs (or data sets) that were used."""
        return len(self.course)

    @property
    def stopped(self) -> bool:
        """Whether it was stopped before the end of the plan."""
        return bool(self.why)


def _stopped(learners: list[RacedLearner]) -> str:
    """State when learners stopped that share a reason: ``nn stopped after run 2: ...``."""
    by_runs: dict[int, list[str]] = {}
    for one in sorted(learners, key=lambda one: one.runs):
        by_runs.setdefault(one.runs, []).append(one.learner)
    when = [
        f"{joined(names)}{'' if index else ' stopped'} after {learners[0].unit} {runs}"
        for index, (runs, names) in enumerate(by_runs.items())
    ]
    return f"{', '.join(when)}: {learners[0].why}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """The course of a comparison that stops as soon as it is settled.

    Attributes
    ----------
    learners : tuple of RacedLearner
        In the order of preference.
    settled : bool
        Whether the target is settled; False if the time was up before.
    exact : bool
        Whether the rest of the plan cannot change the decision, without any risk.
    target : {"best", "order"}
        What had to be settled.
    risk : float
        Largest probability, given the data, that the plan would reach another decision.
    planned_runs : int
        Number of runs (or data sets) of the plan.
    fits, planned_fits : int
        Number of fits used, and of the full plan.
    open_pairs : tuple of pairs of names
        Pairs on which the verdict still depends.
    unit : {"run", "data set"}
        The unit of the race: runs of the plan on one data set, or data sets.
    """

    learners: tuple[RacedLearner, ...]
    settled: bool
    exact: bool
    target: str
    risk: float
    planned_runs: int
    fits: int
    planned_fits: int
    open_pairs: tuple[tuple[str, str], ...] = ()
    metric: Metric = field(default_factory=Metric)
    unit: str = "run"

    @property
    def runs(self) -> dict[str, int]:
        """Number of runs (or data sets) used, by learner."""
        return {entry.learner: entry.runs for entry in self.learners}

    def reasons(self) -> list[str]:
        """Return when and why learners stopped, one sentence per shared reason."""
        groups: dict[str, list[RacedLearner]] = {}
        for entry in self.learners:
            if entry.stopped:
                groups.setdefault(entry.why, []).append(entry)
        return [_stopped(several) for several in groups.values()]

    def state(self) -> str:
        """Return how far the race went, what it saved, and how certain the decision is."""
        fits = f"{self.fits:,} of {self.planned_fits:,} fits"
        if not self.settled:
            pairs = shortened([f"{a} against {b}" for a, b in self.open_pairs], MAX_LISTED_PAIRS)
            return f"Ended after {fits}, before it was settled. Open: {pairs}."
        if self.fits >= self.planned_fits:
            return f"All {self.planned_fits:,} fits of the plan were needed."
        if self.exact:
            return f"Stopped after {fits}: the rest of the plan cannot change the decision."
        return (
            f"Stopped after {fits}; the full plan would reach the same decision with a probability "
            f"of at least {self.confidence()}."
        )

    def confidence(self) -> str:
        """Return ``95 %``."""
        return f"{100 * (1 - self.risk):.4g} %"


@dataclass(frozen=True, kw_only=True, eq=False)
class StoppedEvidence(Evidence):
    """The pairs of a race that stopped early.

    Attributes
    ----------
    unsettled : (P,) array of bool
        Whether a claim about the pair is possible but not certain.
    """

    unsettled: Bools


def evidence_so_far(
    losses: Floats,
    names: tuple[Name, ...],
    test: PlannedTest,
    family: Family,
    verdict: IntervalVerdict,
    metric: Metric,
) -> StoppedEvidence:
    """Return every pair on the runs that both learners completed, with certain claims only.

    `losses` is (K, runs, folds) in the order of `names`, NaN for cells that were not run.
    """
    first, second = family.pairs()
    found = test.so_far(losses[first], losses[second], family.alternative)
    sure = verdict.sure.astype(np.int8)
    return StoppedEvidence.of_pairs(
        family,
        pvalue=found.pvalue,
        direction=found.evidence,
        better=sure[first, second] - sure[second, first],
        names=names,
        estimate=found.estimate,
        metric=metric,
        unsettled=verdict.open_pairs()[first, second],
    )


@dataclass(frozen=True, kw_only=True, eq=False)
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
    def by_mean(self) -> tuple[Name, ...]:
        """The learners by their means so far; with a preference the recommended one first."""
        first = self.recommended if self.preference.stated else None
        return tuple(
            sorted(self.by_preference, key=lambda name: (name != first, self.mean_losses[name]))
        )

    @property
    def smallest_mean(self) -> Name:
        """The smallest mean among the learners with as many runs as the recommended one."""
        runs, best = self.race.runs, self.recommended
        alike = [name for name in self.by_preference if runs[str(name)] == runs[str(best)]]
        return min(alike, key=lambda name: self.mean_losses[name])

    @property
    def steps(self) -> tuple[Step, ...]:
        """Empty: further steps are not settled."""
        return ()

    @cached_property
    def pair_evidence(self) -> Evidence:
        """The pairs of the decision; those of another family are not settled."""
        return self.evidence

    @property
    def candidates(self) -> tuple[Name, ...]:
        """The learners that may be the best, as far as that is settled."""
        may_be = (RECOMMENDED, MAY_BE_BEST, NOT_SETTLED)
        return tuple(row.name for row in self.standings if row.verdict in may_be)

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """One row per learner, without bounds, in the order of `by_mean`."""
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
            if evidence.beaten()[place].any():
                return RULED_OUT
            return NOT_SETTLED if evidence.unsettled[evidence.rows_of(name)].any() else MAY_BE_BEST
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

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Everything there is to say, the verdict first."""
        return stopped_statements(self)
