"""A study: losses that were run, the decision from them, and what went wrong on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestofk.ordering.result import Order
from bestofk.presenting import Reported
from bestofk.wording import joined, number

if TYPE_CHECKING:
    import pandas as pd

    from bestofk.losses.losses import Losses
    from bestofk.run.replicating import Replication
    from bestofk.run.store_study import StudySpec


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

    def as_json(self) -> dict[str, Any]:
        """For strict JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one fit of a learner takes: means over its cells."""

    fit_time: float | None
    predict_time: float | None
    size: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Study(Reported):
    """A comparison that was run.

    Attributes
    ----------
    order, best : names
        Of the decision; None and () when nothing could be decided.
    losses : Losses
        What was measured, of the learners that were decided about.
    evidence : DataFrame
        One row a pair.
    decision : Order or None
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
    """

    decision: Order | None
    losses: Losses
    costs: Mapping[str, Cost]
    failures: tuple[FailedCell, ...]
    left_out: Mapping[str, str]
    plan: str
    loss: str
    random_state: int
    setting: tuple[str, ...]
    notes: tuple[str, ...] = ()
    spec: StudySpec | None = None
    store: str = "memory"
    replication: Replication | None = None

    @property
    def order(self) -> tuple[str, ...]:
        """Names, best first."""
        return () if self.decision is None else tuple(str(name) for name in self.decision.order)

    @property
    def best(self) -> str | None:
        """The learner to use."""
        best = None if self.decision is None else self.decision.best
        return None if best is None else str(best)

    @property
    def evidence(self) -> pd.DataFrame:
        """One row a pair."""
        if self.decision is None:
            import pandas as pd

            return pd.DataFrame()
        return self.decision.evidence.frame()

    def explain(self) -> str:
        """The verdict in sentences: the decision, what was left out, how it was run."""
        parts = []
        if self.decision is not None:
            parts.append(self.decision.explain())
        else:
            parts.append("Nothing can be decided: fewer than two learners have losses.")
        parts.extend(f"{name} was left out: {reason}" for name, reason in self.left_out.items())
        parts.extend(self.notes)
        if self.decision is not None:
            parts.extend(advice(self.decision, self.losses))
        if self.replication is not None:
            parts.append(self.replication.explain())
        parts.append(" ".join(self.setting))
        return "\n".join(parts)

    def as_json(self) -> dict[str, Any]:
        """What a strict JSON writer takes."""
        from bestofk.version import __version__

        body: dict[str, Any] = (
            self.decision.as_json()
            if self.decision is not None
            else {
                "best": None,
                "order": [],
                "prior": list(self.losses.algorithms),
                "edges": [],
                "evidence": [],
                "means": {},
                "version": __version__,
            }
        )
        return {
            **body,
            "failures": [failure.as_json() for failure in self.failures],
            "left_out": dict(self.left_out),
            "costs": {
                name: {
                    "fit_time": cost.fit_time,
                    "predict_time": cost.predict_time,
                    "size": cost.size,
                }
                for name, cost in self.costs.items()
            },
            "plan": self.plan,
            "loss": self.loss,
            "seed": self.random_state,
            "replication": None if self.replication is None else self.replication.as_json(),
            "notes": [*body.get("notes", []), *self.notes],
            "explanation": self.explain(),
        }

    def to_json(self) -> str:
        """The study as one strict JSON object."""
        import json

        return json.dumps(self.as_json(), allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"Study(best={self.best!r}, order={self.order!r})"


def advice(decision: Order, losses: Losses) -> Sequence[str]:
    """What would make the verdict surer."""
    ties = [standing for standing in decision.standings if standing.verdict == "tie"]
    if not ties:
        return ()
    names = joined([str(standing.name) for standing in ties[:3]])
    design = losses.design
    if len(losses.datasets) > 1:
        return (f"To tell {decision.best} from {names}, more data sets are needed.",)
    nearest = min(ties, key=lambda standing: standing.pvalue)
    gap = f"a difference of {number(abs(nearest.difference))} between {decision.best} and {names}"
    if design.kind == "cv" and design.runs < 10:
        return (
            f"To be surer about {gap}, run more runs (plan '10x{max(design.folds, 2)}' or "
            "larger); beyond ten, only more data help.",
        )
    return (f"To be surer about {gap}, more data are needed: more runs hardly help.",)
