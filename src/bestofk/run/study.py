"""A study: the measured losses, the decision, costs and failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import duration, joined
from bestofk._base.results import json_ready
from bestofk.decide.decision import Decision
from bestofk.decide.statements import Stated, Statement

if TYPE_CHECKING:
    from bestofk.decide.settings import Settings
    from bestofk.decide.slices import Slices
    from bestofk.decide.stopping.result import Race
    from bestofk.learners.preparation import Preparation
    from bestofk.losses.losses import Scores
    from bestofk.run.conclude import OtherMetric
    from bestofk.run.live import Live
    from bestofk.run.record import StudyRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCell:
    """A cell without a loss."""

    learner: str
    dataset: str
    run: int
    fold: int
    repetition: int
    kind: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Mean costs of one fit of a learner."""

    fit_time: float | None
    predict_time: float | None
    size: float | None

    def explain(self) -> str:
        """Return the means in a sentence."""
        times = {"fitting": self.fit_time, "predicting": self.predict_time}
        parts = [
            f"{what} takes {duration(time)}" for what, time in times.items() if time is not None
        ]
        if self.size is not None:
            parts.append(f"the model has {self.size:,.0f} bytes")
        sentence = joined(parts) or "no fit was timed"
        return f"{sentence[:1].upper()}{sentence[1:]}."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study(Stated):
    """A comparison that was run.

    Attributes
    ----------
    ranking, best : names
        Of the decision; None and () when nothing could be decided.
    losses : Scores
        What was measured, of the learners that were decided about.
    evidence : Evidence or None
        The tested pairs, that of the decision; ``.to_frame()`` gives one row per pair.
    decision : Decision or None
        All of the verdict.
    costs : mapping of name to Cost
        Fit time, predict time and model size.
    failures : tuple of FailedCell
    left_out : mapping of name to reason
        Learners that could not be decided about.
    notes : tuple of str
        What a reader must know besides.
    record : StudyRecord
        What was run: plan, loss, random state, fingerprints, versions and the command line, if
        there was one.
    store : str
        Where the cells are, without a password.
    settings : Settings or None
        The settings of the decision.
    """

    command = "compare"
    decision: Decision | None
    losses: Scores
    costs: Mapping[str, Cost]
    failures: tuple[FailedCell, ...]
    left_out: Mapping[str, str]
    record: StudyRecord
    notes: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Runs or folds that do not count because not all learners finished them."""
    undecided: str = ""
    """Why there is no decision; empty if there is one."""
    store: str = "memory"
    settings: Settings | None = None
    others: tuple[OtherMetric, ...] = ()
    """Results of the same models under other metrics."""
    slices: Slices | None = None
    """Verdicts by slice, if `by` was given."""
    race: Race | None = None
    """How far every learner ran, if the comparison stopped early."""
    live: Live | None = field(default=None, repr=False)
    """The learners and data that were run, for refits; None if opened from a store."""

    @property
    def plan(self) -> str:
        """The plan of the splits."""
        return self.record.plan

    @property
    def loss(self) -> str:
        """The loss that decides."""
        return self.record.loss

    @property
    def random_state(self) -> int:
        """The seed of splits and learners."""
        return self.record.random_state

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is predicted, and what was assumed about columns and rows."""
        return self.record.taken

    @property
    def preparation(self) -> dict[str, dict[str, Preparation]]:
        """How the rows were prepared inside the folds, by data set and learner."""
        from bestofk.learners.preparation import Preparation

        return {
            data: {learner: Preparation.from_dict(done) for learner, done in by_learner.items()}
            for data, by_learner in self.record.preparation.items()
        }

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything there is to say, the verdict first."""
        from bestofk.run.study_statements import study_statements

        return study_statements(self)

    def _measured(self) -> dict[str, Mapping[Any, Any]]:
        """Return the costs of one fit, and the runs of a race."""
        costs: dict[str, Mapping[Any, Any]] = {
            what: {name: getattr(cost, what) for name, cost in self.costs.items()}
            for what in ("fit_time", "predict_time", "size")
        }
        return {**costs, **Stated._measured(self)}

    def _scores(self) -> Scores:
        return self.losses

    def _by_metric(self) -> dict[str, Decision]:
        return {one.name: one.decision for one in self.others if one.decision is not None}

    def _json(self) -> dict[str, Any]:
        """Return what was read and run, for strict JSON."""
        return {
            "data": [
                {"name": one.name, "rows": one.rows, "fingerprint": one.fingerprint}
                for one in self.record.datasets
            ],
            "plan": self.plan,
            "failures": [json_ready(failure) for failure in self.failures],
        }
