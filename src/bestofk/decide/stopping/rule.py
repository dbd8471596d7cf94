"""When a comparison is settled: what is asked for, and at what risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bestofk._base.checks import one_of, refuse, whole
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import joined, ordinal

Target = Literal["best", "order"]
Settle = Literal["plan", "limit"]
TARGETS: tuple[Target, ...] = ("best", "order")
SETTLES: tuple[Settle, ...] = ("plan", "limit")
MAX_RUNS = 30
"""Runs after which a comparison that adds runs gives up, by default."""
FIRST_LOOK = 2
"""Runs before the first prediction: one run has no spread over runs."""


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
    settle : {"plan", "limit"}
        Reach the decision of the plan, or the decision of infinitely many runs of the same test.
        The latter adds runs beyond the plan if the decision is unclear.
    max_runs : int
        Runs after which ``settle="limit"`` gives up.

    Examples
    --------
    >>> StopRule(target="order", risk=0.01).risk
    0.01
    """

    target: Target = "best"
    risk: float = 0.05
    settle: Settle = "plan"
    max_runs: int = MAX_RUNS

    def __post_init__(self) -> None:
        one_of(self.target, "target", TARGETS)
        one_of(self.settle, "settle", SETTLES)
        risk = self.risk
        if isinstance(risk, bool) or not isinstance(risk, int | float) or not 0.0 <= risk < 1.0:
            raise refuse("risk", "a probability of at least 0 and below 1", risk)
        object.__setattr__(self, "risk", float(risk))
        object.__setattr__(self, "max_runs", whole(self.max_runs, "max_runs", at_least=2))
        if self.settle == "limit" and risk == 0:
            raise ArgumentError(
                use(settle="limit"),
                " asks for the decision of infinitely many runs, which is "
                "never certain: give a risk above 0, such as ",
                use(risk=0.05),
                ".",
            )
        if self.settle != "limit" and self.max_runs != MAX_RUNS:
            raise ArgumentError(
                "max_runs applies to ", use(settle="limit"), ": add that, or omit max_runs."
            )


def as_stop_rule(stop: str | StopRule | None, *, datasets: int = 1) -> StopRule | None:
    """Return the rule that `stop` names; None runs the whole plan."""
    if stop is None:
        return None
    if stop == "settled":
        stop = StopRule()
    if not isinstance(stop, StopRule):
        raise refuse("stop", "None, 'settled' or a bestofk.StopRule", stop)
    if datasets == 1:
        return stop
    if stop.settle == "limit":
        raise ArgumentError(
            use(settle="limit"),
            f" adds runs on one data set; got {datasets}: omit settle, and ",
            use(stop="settled"),
            " stops when the remaining data sets cannot change the decision.",
        )
    return replace(stop, risk=0.0)


# Why a learner was stopped, in words; learners with the same reason share a sentence.


Kind = Literal["recommended", "smaller mean", "overridden", "preferred", "passed over", "placed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StopReason:
    """Why nothing more need be known of a learner.

    Attributes
    ----------
    kind : str
        It is recommended; the learner `by` has the smaller mean, overrides it, or is recommended,
        being preferred to it or not; or its place in the order is settled.
    exact : bool
        Whatever the rest of the plan says; otherwise but for the risk.
    by : str
        The other learner.
    place : int
        The place in the order.
    """

    kind: Kind
    exact: bool
    by: str = ""
    place: int = 0

    def clause(self, *, several: bool = False, although: bool = True) -> str:
        """``nmc overrides it``; `although` adds what speaks for the other one."""
        it = "them" if several else "it"
        if self.kind == "recommended":
            return "it is recommended"
        if self.kind == "smaller mean":
            return f"{self.by} has the smaller mean"
        if self.kind == "overridden":
            return f"{self.by} overrides {it}"
        if self.kind == "passed over":
            return f"{'they are' if several else 'it is'} passed over for {self.by}"
        if self.kind == "placed":
            return "the order is the one given" if several else f"it ranks {ordinal(self.place)}"
        preferred = f", which is preferred to {it}," if although else ""
        return f"{self.by}{preferred} is recommended"


def stop_sentence(
    stopped: Sequence[tuple[str, int]],
    reason: StopReason,
    *,
    planned: int,
    limit: bool,
    risk: str,
    unit: str = "run",
) -> str:
    """``nn stopped after run 2: whatever the other 8 runs say, nmc overrides it.``

    `stopped` are learners and the run (or data set) after which each was stopped.
    """
    what = reason.clause(several=len(stopped) > 1)
    if limit:
        sure = f"with endless runs {what}, but for the risk of {risk}"
    elif reason.exact:
        sure = f"{_whatever(planned - stopped[0][1], unit)}, {what}"
    else:
        sure = f"at the end of the plan {what}, but for the risk of {risk}"
    together: dict[int, list[str]] = {}
    for name, runs in sorted(stopped, key=lambda one: one[1]):
        together.setdefault(runs, []).append(name)
    when = [
        f"{joined(names)}{'' if at else ' stopped'} after {unit} {runs}"
        for at, (runs, names) in enumerate(together.items())
    ]
    # "a, b and c after run 2 and d after run 3" would be hard to read
    plain = all(len(names) == 1 for names in together.values())
    return f"{joined(when) if plain else ', '.join(when)}: {sure}."


def _whatever(left: int, unit: str) -> str:
    if unit != "run":
        return f"whatever the other {'one says' if left == 1 else f'{left} say'}"
    return f"whatever the other {'run says' if left == 1 else f'{left} runs say'}"
