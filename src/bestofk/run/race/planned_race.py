"""What is to be settled, by which test of which plan; refused before the first fit if it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from bestofk.checks import one_of, refuse, whole
from bestofk.errors import ArgumentError
from bestofk.losses.losses import Losses
from bestofk.ordering.decision import Decision
from bestofk.ordering.order import decide
from bestofk.ordering.preference import MEASURED, MeasuredCosts
from bestofk.ordering.registry import decides_by
from bestofk.ordering.result import Order
from bestofk.pairwise.calibration import Calibration
from bestofk.pairwise.registry import PAIRWISE_TESTS
from bestofk.plans.design import Design
from bestofk.plans.plan import Plan
from bestofk.stopping import PlannedT, StoppingRule
from bestofk.stopping.rule import TARGETS, Settle

STOPS = ("settled",)
SETTLES: tuple[str, ...] = get_args(Settle)
PLAN = "10x10"
"""The plan of a race that names none."""
_SPLITS = ("resample", "bootstrap")
"""Designs without runs: every split is a unit of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRace:
    """A rule, and the test of the plan that it curtails.

    Attributes
    ----------
    rule : StoppingRule
    test : PlannedT
        Without the step of the losses, which is known after the first run.
    design : Design
        Of all splits that there are; with ``settle="limit"`` more than those of the plan.
    rehearsed : Order
        The decision on made-up losses of the plan: its test, its family, its words.
    """

    rule: StoppingRule
    test: PlannedT
    design: Design
    rehearsed: Order

    @property
    def most(self) -> int:
        """Runs that a learner can be given."""
        return self.rule.max_runs if self.rule.settle == "limit" else self.test.runs

    def place(self, run: int, fold: int) -> tuple[int, int]:
        """Run and fold of the design."""
        return divmod(run, self.design.folds) if self.design.kind in _SPLITS else (run, fold)

    def to_dict(self) -> dict[str, Any]:
        """What a store keeps of it; see `rule_from`."""
        rule = self.rule
        return {"target": rule.target, "settle": rule.settle, "risk": rule.risk,
                "max_runs": rule.max_runs, "runs": self.test.runs}  # fmt: skip


def stopping_rule(
    stop: str | None, *, target: str, settle: str, risk: float, max_runs: int
) -> StoppingRule | None:
    """The rule that the arguments of `compare` ask for; None: the whole plan is run."""
    if stop is None:
        plain = StoppingRule()
        given = {"target": target, "settle": settle, "risk": risk, "max_runs": max_runs}
        for name, value in given.items():
            if value != getattr(plain, name):
                raise ArgumentError(
                    f"{name} applies to a comparison that stops: add stop='settled' (on the "
                    "command line --stop settled), or leave it out."
                )
        return None
    one_of(stop, "stop", STOPS)
    one_of(target, "target", TARGETS)
    one_of(settle, "settle", SETTLES)
    if isinstance(risk, bool) or not isinstance(risk, int | float) or not 0.0 <= risk < 1.0:
        raise refuse("risk", "a chance of at least 0 and below 1", risk)
    if settle == "limit" and risk == 0:
        raise ArgumentError(
            "settle='limit' asks for the verdict of endless runs, of which nothing is sure: give a "
            "risk above 0, such as 0.05."
        )
    return StoppingRule(
        target=target,  # type: ignore[arg-type]
        settle=settle,  # type: ignore[arg-type]
        risk=float(risk),
        max_runs=whole(max_runs, "max_runs", at_least=2),
    )


def rule_from(held: Mapping[str, Any]) -> StoppingRule:
    """The rule that `PlannedRace.to_dict` wrote."""
    return StoppingRule(**{name: held[name] for name in ("target", "settle", "risk", "max_runs")})


def long_enough(plan: Plan, rule: StoppingRule) -> Plan:
    """The plan with all runs that a race may need."""
    if rule.settle != "limit":
        return plan
    if plan.kind != "cv" or plan.source is not None:
        raise ArgumentError(
            f"settle='limit' adds runs of cross-validation, and the plan {plan.spec!r} has none to "
            f"add: give plan={PLAN!r} (--plan {PLAN}), or leave settle out."
        )
    if rule.max_runs < plan.runs:
        raise ArgumentError(
            f"max_runs must be at least the {plan.runs} runs of the plan; got {rule.max_runs}."
        )
    return replace(plan, runs=rule.max_runs)


def planned_race(
    names: Sequence[str],
    design: Design,
    decision: Decision,
    rule: StoppingRule,
    *,
    runs: int,
    datasets: int = 1,
    span: float | None = None,
) -> PlannedRace:
    """The race of these learners for a plan of `runs` runs of the design; refused if impossible."""
    if datasets > 1:
        raise ArgumentError(
            f"stop='settled' is for one data set; got {datasets}: compare them one by one, or "
            "leave stop out."
        )
    if decides_by(decision.procedure) != "steps":
        raise ArgumentError(
            f"stop='settled' is for the procedure multitest; {decision.procedure!r} needs the "
            "whole plan: leave stop out."
        )
    for name in ("margin", "rope"):
        if getattr(decision, name) is not None:
            raise ArgumentError(f"{name} needs all runs of the plan: leave it out, or stop.")
    if design.subsets is not None:
        raise ArgumentError(
            "stop='settled' is for plans without runs on parts of the rows, which are needed in "
            f"full: give plan={PLAN!r} (--plan {PLAN}), or leave stop out."
        )
    if (runs * design.folds if design.kind in _SPLITS else runs) < 2:
        raise ArgumentError(
            "stop='settled' stops between runs, and the plan has one alone: give "
            f"plan={PLAN!r} (--plan {PLAN}), or leave stop out."
        )
    planned = _first_runs(design, runs)
    if callable(decision.test) or isinstance(decision.df, Calibration) or _cannot(decision.test):
        raise _uncovered(decision.test_name)
    rehearsed = decide(_made_up(names, planned), _with_costs(decision, names))
    choice = rehearsed.choice
    entry = None if choice is None else choice.entry
    if choice is None or entry is None or not entry.curtailed:
        raise _uncovered(rehearsed.test)
    told = choice.arguments
    share = None
    if entry.curtailed == "corrected":
        share = told.get("test_share")
        share = told["n_test"] / told["n_train"] if share is None else share
    if design.kind in _SPLITS:
        units, folds = planned.runs * planned.folds, 1
    else:
        units, folds = planned.runs, planned.folds
    df = told.get("df")
    test = PlannedT(
        runs=units,
        folds=folds,
        df=float(units * folds - 1 if df is None else df),
        test_share=share,
        span=span,
        step=None,
        units=told.get("units") if df is None else None,
    )
    return PlannedRace(rule=rule, test=test, design=design, rehearsed=rehearsed)


def _cannot(test: Any) -> bool:
    return isinstance(test, str) and test in PAIRWISE_TESTS and not PAIRWISE_TESTS[test].curtailed


def _uncovered(test: str) -> ArgumentError:
    can = [entry.name for entry in PAIRWISE_TESTS.values() if entry.curtailed]
    return ArgumentError(
        f"stop='settled' does not know what the rest of a plan can change for the test {test!r}: "
        f"give plan={PLAN!r} (--plan {PLAN}) and no other test, or one of {', '.join(can)}."
    )


def _first_runs(design: Design, runs: int) -> Design:
    """The design of the first runs."""
    if design.kind in _SPLITS or runs == design.runs:
        return design.with_(repetitions=1)
    cells = runs * design.folds
    sizes = {
        name: None if getattr(design, name) is None else tuple(getattr(design, name)[:cells])
        for name in ("n_train", "n_test")
    }
    return design.with_(runs=runs, repetitions=1, **sizes)


def _made_up(names: Sequence[str], design: Design) -> Losses:
    rng = np.random.default_rng(0)
    values = rng.random((len(names), 1, design.runs, design.folds, 1))
    return Losses(
        values, dims=("algorithm", "dataset", "run", "fold", "repetition"), algorithms=names,
        design=design,
    )  # fmt: skip


def _with_costs(decision: Decision, names: Sequence[str]) -> Decision:
    if isinstance(decision.prior, str) and decision.prior in MEASURED:
        costs = MeasuredCosts(what=decision.prior, costs=dict.fromkeys(names, 1.0))
        return replace(decision, prior=costs)
    return decision
