"""The stop rule of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from bestofk._base.checks import one_of, refuse

Target = Literal["best", "order"]
TARGETS: tuple[Target, ...] = ("best", "order")


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
