"""The subject of a page: what every kind of result has in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import counted
from bestofk.decide.decision import Decision
from bestofk.decide.stopping.result import Race, StoppedDecision
from bestofk.evals.model_choice import ModelChoice
from bestofk.report.figures.comparisons import losses_of
from bestofk.run.study import Study

if TYPE_CHECKING:
    from bestofk.losses.losses import Scores


UNNAMED = {"data", "task", "test set"}
"""Names of data sets that the user did not choose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSubject:
    """A result with its decision and its scores, each None if there is none."""

    record: Any
    decision: Decision | None
    scores: Scores | None

    @property
    def study(self) -> Study | None:
        """The result, if learners were run."""
        return self.record if isinstance(self.record, Study) else None

    @property
    def choice(self) -> ModelChoice | None:
        """The result, if models were compared by their logs."""
        return self.record if isinstance(self.record, ModelChoice) else None

    @property
    def race(self) -> Race | None:
        """How far every learner ran, if the comparison could stop early."""
        return self.decision.race if isinstance(self.decision, StoppedDecision) else None

    @property
    def noun(self) -> str:
        """The noun for what is compared."""
        return "learner" if self.decision is None else self.decision.noun

    @property
    def learners(self) -> tuple[Any, ...]:
        """Everything that was compared, by preference."""
        if self.decision is not None:
            return self.decision.by_preference
        return () if self.scores is None else self.scores.learners

    @property
    def names(self) -> set[object]:
        """The names that sentences may contain."""
        names: set[object] = set(self.learners)
        if self.scores is not None:
            names |= set(self.scores.datasets)
        if self.study is not None:
            names |= {*self.study.costs, *self.study.left_out}
        return names

    @property
    def title(self) -> str:
        """The question that the page answers."""
        if hasattr(self.record, "build"):
            return f"May {self.record.build} be released?"
        failed = 0 if self.study is None else len(self.study.left_out)
        question = f"Which of {counted(len(self.learners) + failed, self.noun)} to use"
        datasets = () if self.scores is None or self.choice is not None else self.scores.datasets
        if len(datasets) > 1:
            return f"{question}, by {len(datasets)} data sets"
        return question if not {*datasets} - UNNAMED else f"{question} on {datasets[0]}"


def subject_of(value: Any) -> ReportSubject:
    """Return the subject of a page about a result."""
    record = getattr(value, "outcome", value)
    decision = getattr(record, "decision", record)
    if not isinstance(decision, Decision):
        return ReportSubject(record=record, decision=None, scores=losses_of(record))
    decision = decision.with_text_names()
    record = decision if isinstance(record, Decision) else record
    return ReportSubject(record=record, decision=decision, scores=losses_of(record))
