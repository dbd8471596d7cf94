"""The stop rule of a comparison, and the reasons for which learners stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bestofk._base.checks import one_of, refuse
from bestofk._base.formatting import joined, ordinal

Target = Literal["best", "order"]
TARGETS: tuple[Target, ...] = ("best", "order")
FIRST_LOOK = 2
"""Number of runs before the first prediction: one run has no spread over runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """When `bestofk.compare` stops before its plan is complete.

    Attributes
    ----------
    target : {"best", "order"}
        What must be settled: which learner is recommended, or the whole ranking.
    risk : float
        Largest probability, given the data, that the full plan would reach another decision.
        0 stops only when no remaining result can change the decision. Over several data sets
        bestofk takes no risk, whatever this value.

    Examples
    --------
    >>> StopRule(target="order", risk=0.01).risk
    0.01
    """

    target: Target = "best"
    risk: float = 0.05

    def __post_init__(self) -> None:
        one_of(self.target, "target", TARGETS)
        risk = self.risk
        if isinstance(risk, bool) or not isinstance(risk, int | float) or not 0.0 <= risk < 1.0:
            raise refuse("risk", "a probability of at least 0 and below 1", risk)
        object.__setattr__(self, "risk", float(risk))


def as_stop_rule(stop: str | StopRule | None, *, datasets: int = 1) -> StopRule | None:
    """Return the rule that `stop` names; None runs the whole plan."""
    if stop is None:
        return None
    if stop == "settled":
        stop = StopRule()
    if not isinstance(stop, StopRule):
        raise refuse("stop", "None, 'settled' or a bestofk.StopRule", stop)
    return stop if datasets == 1 else replace(stop, risk=0.0)


Kind = Literal["recommended", "smaller mean", "overridden", "preferred", "placed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StopReason:
    """The reason why a learner needs no more runs.

    - `kind`: The learner is recommended; or the learner `by` has the smaller mean, overrides it, is
      recommended and preferred to it, or is recommended in its place; or its rank is settled.
    - `exact`: Whether the rest of the plan cannot change this; otherwise it holds up to the risk.
    - `by`: The other learner.
    - `place`: The rank in the order.
    """

    kind: Kind
    exact: bool
    by: str = ""
    place: int = 0

    def clause(self, *, several: bool = False, although: bool = True) -> str:
        """Return ``nmc overrides it``; `although` adds that the other learner is preferred."""
        it = "them" if several else "it"
        if self.kind == "recommended":
            return "it is recommended"
        if self.kind == "smaller mean":
            return f"{self.by} has the smaller mean"
        if self.kind == "overridden":
            return f"{self.by} overrides {it}"
        if self.kind == "placed":
            return "their ranks are settled" if several else f"it ranks {ordinal(self.place)}"
        preferred = f", which is preferred to {it}," if although else ""
        return f"{self.by}{preferred} is recommended"


def stop_sentence(
    stopped: Sequence[tuple[str, int]],
    reason: StopReason,
    *,
    planned: int,
    confidence: str,
    unit: str = "run",
) -> str:
    """State which learners stopped when, and why.

    For example ``nn stopped after run 2: nmc overrides it, and the other 8 runs cannot change
    that.`` `stopped` holds learners and the run (or data set) after which each stopped;
    `confidence` is the smallest probability of the reason, such as ``95 %``.
    """
    clause = reason.clause(several=len(stopped) > 1)
    if reason.exact:
        left = planned - stopped[0][1]
        rest = f"the other {unit}" if left == 1 else f"the other {left} {unit}s"
        why = f"{clause}, and {rest} cannot change that"
    else:
        why = f"at the end of the plan {clause} with a probability of at least {confidence}"
    names_by_run: dict[int, list[str]] = {}
    for name, runs in sorted(stopped, key=lambda pair: pair[1]):
        names_by_run.setdefault(runs, []).append(name)
    when = [
        f"{joined(names)}{'' if index else ' stopped'} after {unit} {runs}"
        for index, (runs, names) in enumerate(names_by_run.items())
    ]
    # "a, b and c after run 2 and d after run 3" would be hard to read
    plain = all(len(names) == 1 for names in names_by_run.values())
    return f"{joined(when) if plain else ', '.join(when)}: {why}."
