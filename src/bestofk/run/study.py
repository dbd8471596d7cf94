"""A study: losses that were run, the decision from them, and what went wrong on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import duration, in_words, joined, shortened
from bestofk._base.results import (
    Presented,
    Reported,
    decided_level,
    renamed,
    renamed_text,
    without_effect,
)
from bestofk.decide.decision import Decision
from bestofk.decide.power.advice import advice, expectation, expectation_to_dict
from bestofk.learners.preparation import Preparation, sentences

if TYPE_CHECKING:
    from bestofk.decide.evidence import Evidence
    from bestofk.decide.settings import Settings
    from bestofk.decide.stopping.races import Race
    from bestofk.losses.losses import Losses
    from bestofk.run.conclude import OtherMetric
    from bestofk.run.replicate import Replication
    from bestofk.run.store.stored_study import StudySpec

FEW = 3
"""So many failures are named in the first paragraph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCell(Presented):
    """A cell without a loss."""

    learner: str
    dataset: str
    run: int
    fold: int
    repetition: int
    kind: str
    reason: str

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """What failed and why, in a sentence; `names` and `alpha` have no effect on it."""
        without_effect(names, alpha)
        return (
            f"{self.learner} failed on {self.dataset} in run {self.run}, fold {self.fold}, "
            f"repetition {self.repetition} ({self.kind}): {self.reason.rstrip('.')}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost(Presented):
    """What one fit of a learner takes: means over its cells."""

    fit_time: float | None
    predict_time: float | None
    size: float | None

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The means in a sentence; `names` and `alpha` have no effect on it."""
        without_effect(names, alpha)
        times = {"fitting": self.fit_time, "predicting": self.predict_time}
        said = [
            f"{what} takes {duration(time)}" for what, time in times.items() if time is not None
        ]
        if self.size is not None:
            said.append(f"the model has {self.size:,.0f} bytes")
        sentence = joined(said) or "no fit was timed"
        return f"{sentence[:1].upper()}{sentence[1:]}."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study(Reported):
    """A comparison that was run.

    Attributes
    ----------
    ranking, best : names
        Of the decision; None and () when nothing could be decided.
    losses : Losses
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
    plan, loss, random_state
        How it was run.
    spec : StudySpec or None
        All that was asked: fingerprints, versions and the command line, if there was one.
    store : str
        Where the cells are, without a password.
    replication : Replication or None
        How often other random splits gave the same decision, where that was asked for.
    settings : Settings or None
        What was asked of the decision.
    data_account : tuple of str
        What was understood of the data: the target, dates, what was left out.
    preparation : mapping of data set to mapping of learner to Preparation
        What was done to the rows inside the folds.
    """

    decision: Decision | None
    losses: Losses
    costs: Mapping[str, Cost]
    failures: tuple[FailedCell, ...]
    left_out: Mapping[str, str]
    plan: str
    loss: str
    random_state: int
    setting: tuple[str, ...]
    taken: tuple[str, ...] = ()
    """What the target was taken for, where its values do not make that evident."""
    notes: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """Runs or folds that do not count because not all learners finished them."""
    undecided: str = ""
    """Why there is no decision, where there is none."""
    warnings: tuple[str, ...] = ()
    """Where the test may not hold its level, and what would."""
    spec: StudySpec | None = None
    store: str = "memory"
    replication: Replication | None = None
    settings: Settings | None = None
    others: tuple[OtherMetric, ...] = ()
    """What other metrics say of the same models, where several were asked for."""
    data_account: tuple[str, ...] = ()
    preparation: Mapping[str, Mapping[str, Preparation]] = field(default_factory=dict)
    race: Race | None = None
    """How far every learner ran, of a comparison that stops when it is settled."""

    @property
    def ranking(self) -> tuple[str, ...]:
        """Names, best first."""
        return () if self.decision is None else tuple(str(name) for name in self.decision.ranking)

    @property
    def best(self) -> str | None:
        """The learner to use."""
        best = None if self.decision is None else self.decision.best
        return None if best is None else str(best)

    @property
    def evidence(self) -> Evidence | None:
        """The tested pairs: the very evidence of the decision."""
        return None if self.decision is None else self.decision.evidence

    @property
    def recommended(self) -> str | None:
        """The learner to use."""
        return self.best

    def headline(self) -> str:
        """What to do, and what was left out, in the first sentences."""
        first = (
            f"Nothing can be decided: {self.undecided or 'fewer than two learners have losses.'}"
            if self.decision is None
            else self.decision.headline()
        )
        return f"{first} {self.account()}".strip()

    def account(self) -> str:
        """What was given, what failed and what was compared; empty where nothing is missing."""
        sentences = []
        if self.left_out:
            compared, failed = len(self.losses.algorithms), len(self.left_out)
            rest = "1 is left" if compared == 1 else f"{compared} were compared"
            sentences.append(
                f"Of the {compared + failed} learners given {failed} failed "
                f"({shortened(self._reasons(), FEW)}), and {rest}."
            )
        single = [one.learner for one in self.failures if one.learner not in self.left_out]
        if single:
            fits = "One fit" if len(single) == 1 else f"{in_words(len(single)).capitalize()} fits"
            sentences.append(f"{fits} of {shortened(list(dict.fromkeys(single)), FEW)} failed.")
        return " ".join((*sentences, *self.dropped))

    def _reasons(self) -> list[str]:
        """Why learners were left out, those with the same reason together."""
        by_reason: dict[str, list[str]] = {}
        for name, why in self.left_out.items():
            by_reason.setdefault(why.rstrip("."), []).append(name)
        return [f"{joined(names)}: {why}" for why, names in by_reason.items()]

    def explain(self, *, names: Sequence[str] | None = None, alpha: float | None = None) -> str:
        """The verdict in sentences: what to do, what was left out, why, and how it was run.

        Parameters
        ----------
        names : sequence of str, optional
            Names of the learners that were compared, in the order of ``losses.algorithms``.
        alpha : float, optional
            The level at which it was decided; another one is refused.
        """
        if self.decision is not None:
            decided_level(alpha, self.decision.alpha)
        if names is not None:
            called = renamed(names, self.losses.algorithms)
            return renamed_text(self.explain(), called)
        parts = [self.headline(), *self.taken]
        reasons = self._reasons()
        if len(reasons) > FEW + 1:
            parts.append(f"Failed: {'; '.join(reasons)}.")
        if self.decision is not None:
            parts.extend(self.decision.explain().split("\n")[1:])
        parts.extend(other.explain() for other in self.others)
        if self.race is not None and self.race.fits >= self.race.planned_fits:
            parts.append(self.race.state())
        parts.extend(self.notes)
        if self.decision is not None:
            parts.extend(expectation(self.decision))
            parts.extend(advice(self.decision))
        parts.extend(self.warnings)
        if self.replication is not None:
            parts.append(self.replication.explain())
        parts.extend(sentences(self.preparation))
        parts.append(" ".join(self.setting))
        parts.append(" ".join(self.data_account))
        return "\n".join(part for part in parts if part)

    def to_dict(self) -> dict[str, Any]:
        """The study for strict JSON: no NaN, no infinity; all in the user's metric."""
        from bestofk.version import __version__

        body: dict[str, Any] = (
            self.decision.to_dict()
            if self.decision is not None
            else {
                "recommended": None,
                "best": None,
                "ranking": [],
                "by_preference": list(self.losses.algorithms),
                "edges": [],
                "evidence": [],
                "means": {},
                "version": __version__,
            }
        )
        return {
            **body,
            "failures": [failure.to_dict() for failure in self.failures],
            "left_out": dict(self.left_out),
            "costs": {name: cost.to_dict() for name, cost in self.costs.items()},
            "expected": None if self.decision is None else expectation_to_dict(self.decision),
            "data": list(self.data_account),
            "preparation": {
                data: {learner: done.to_dict() for learner, done in by_learner.items()}
                for data, by_learner in self.preparation.items()
            },
            "plan": self.plan,
            "loss": self.loss,
            "metrics": self._metrics(),
            "seed": self.random_state,
            "replication": None if self.replication is None else self.replication.to_dict(),
            "race": None if self.race is None else self.race.to_dict(),
            "notes": [
                *body.get("notes", []),
                *self.taken,
                *self.dropped,
                *self.notes,
                *self.warnings,
            ],
            "headline": self.headline(),
            "explanation": self.explain(),
        }

    def _metrics(self) -> list[dict[str, Any]]:
        """All metrics, the one that decides first, in the user's direction."""
        metric = self.losses.metric
        means = {} if self.decision is None else self.decision.means
        first = {
            "loss": self.loss,
            "name": metric.name,
            "higher_is_better": metric.higher_is_better,
            "means": {str(name): float(metric.shown(mean)) for name, mean in means.items()},
            "recommended": self.best,
            "agrees": None if self.best is None else True,
            "undecided": self.undecided,
        }
        kept = tuple(first)
        return [first, *({name: other.to_dict()[name] for name in kept} for other in self.others)]

    def to_json(self) -> str:
        """The study as one strict JSON object."""
        import json

        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"Study(recommended={self.best!r}, ranking={self.ranking!r})"
