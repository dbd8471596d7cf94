"""From the cells of a study to its verdict: what failed, what is left, what was decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bestofk.errors import ArgumentError, BestOfKError, RunError
from bestofk.losses.losses import Losses
from bestofk.ordering.order import order as decide
from bestofk.ordering.preference import (
    LISTED,
    MEASURED,
    MeasuredCosts,
    PanelOrder,
    arrange,
)
from bestofk.ordering.result import Order
from bestofk.plans.design import Design
from bestofk.run.cells import CellResult
from bestofk.run.experiment import Place
from bestofk.run.loss_table import complete_part, cost_table
from bestofk.run.store.stored_study import StudySpec
from bestofk.run.study import Cost, FailedCell, Study

MEASURED_PRIORS = tuple(MEASURED)
TOLERATED_FAILURES = 0.1
"""A learner that fails in a larger share of its cells is left out of the decision."""


def conclude(
    spec: StudySpec,
    results: Mapping[Place, CellResult],
    *,
    design: Design,
    prior: Any,
    decision: dict[str, Any],
    notes: tuple[str, ...] = (),
    finer: Callable[[Sequence[int]], Losses | None] | None = None,
    store: str = "memory",
) -> Study:
    """The study of `spec` from what came of its cells.

    `design` is that of the first data set's splits; `finer` may give losses by test instance of
    the learners that are kept, in place of one number each.
    """
    failures = tuple(
        _failed(spec, place, result)
        for place, result in results.items()
        if result.failure is not None
    )
    left_out = _left_out(spec, results)
    kept = [
        place for place, learner in enumerate(spec.learners) if learner.name not in left_out
    ]  # fmt: skip
    costs = cost_table(spec, results)
    losses, dropped = complete_part(spec, results, kept, design)
    if losses is not None and finer is not None:
        losses = finer(kept) or losses
    if losses is None:
        raise RunError(_nothing(left_out, failures))
    decided: Order | None = None
    why_not = "fewer than two learners have losses."
    if len(kept) > 1:
        try:
            settled = _settled_prior(prior, costs, losses.algorithms)
            decided = decide(losses, prior=settled, **decision)
        except BestOfKError as refusal:
            # with all that was planned it could have been decided: the losses are worth keeping
            if not (left_out or dropped):
                raise
            why_not = str(refusal)
            if decision.get("control") in left_out:
                why_not = f"the control, {decision['control']}, is among those that failed."
    return Study(
        decision=decided,
        losses=losses,
        costs=costs,
        failures=failures,
        left_out=left_out,
        plan=spec.plan,
        loss=spec.loss,
        random_state=spec.random_state,
        setting=_setting(spec),
        notes=notes,
        dropped=dropped,
        undecided="" if decided is not None else why_not,
        spec=spec,
        store=store,
    )


def check_prior(prior: Any, names: Sequence[str]) -> None:
    """Refuse, before anything is run, a prior that cannot be used afterwards."""
    from bestofk.checks import one_of

    if isinstance(prior, str):
        one_of(prior, "prior", (LISTED, *MEASURED_PRIORS))
    elif prior is not None and not isinstance(prior, PanelOrder):
        arrange(names, prior, np.zeros(len(names)))


def _failed(spec: StudySpec, place: Place, result: CellResult) -> FailedCell:
    assert result.failure is not None
    return FailedCell(
        learner=spec.learners[place.learner].name,
        dataset=spec.datasets[place.dataset].name,
        run=place.run,
        fold=place.fold,
        repetition=place.repetition,
        kind=result.failure.kind,
        reason=result.failure.reason,
    )


def _left_out(spec: StudySpec, results: Mapping[Place, CellResult]) -> dict[str, str]:
    """Learners that failed too often, with the most frequent reason."""
    left_out = {}
    for number, learner in enumerate(spec.learners):
        # on part of the rows a class may be absent, which is no reason to leave a learner out
        own = [
            result
            for place, result in results.items()
            if place.learner == number and place.run < spec.datasets[place.dataset].runs
        ]
        failed = [result.failure for result in own if result.failure is not None]
        if len(failed) > TOLERATED_FAILURES * len(own):
            reasons = [failure.explain() for failure in failed]
            most = max(dict.fromkeys(reasons), key=reasons.count)
            left_out[learner.name] = f"{len(failed)} of {len(own)} fits failed ({most})"
    return left_out


def _nothing(left_out: Mapping[str, str], failures: Sequence[FailedCell]) -> str:
    if left_out:
        name, reason = next(iter(left_out.items()))
        return f"No learner could be evaluated; {name}: {reason}"
    if failures:
        return f"No fold was finished by all learners; {failures[0].learner}: {failures[0].reason}"
    return "The budget ended before all learners had finished one fold: give it more time."


def _settled_prior(prior: Any, costs: Mapping[str, Cost], names: Sequence[str]) -> Any:
    """The preference among the learners that are left; measured costs as such."""
    if prior is None or prior == LISTED or isinstance(prior, PanelOrder):
        return prior
    if isinstance(prior, MeasuredCosts):
        return MeasuredCosts(what=prior.what, costs={name: prior.costs[name] for name in names})
    if isinstance(prior, str):
        measured = {name: getattr(costs[name], prior) for name in names}
        unknown = [name for name, cost in measured.items() if cost is None]
        if unknown:
            raise ArgumentError(
                f"prior {prior!r} was not measured for {unknown[0]!r}; name the learners instead."
            )
        return MeasuredCosts(what=prior, costs=measured)
    if isinstance(prior, Mapping):
        return {name: prior[name] for name in names}
    return [name for name in prior if name in names]


def _setting(spec: StudySpec) -> tuple[str, ...]:
    """How it was run, so that a paper can state it."""
    sizes = [f"{data.name} ({data.rows} rows)" for data in spec.datasets[:3]]
    more = f" and {len(spec.datasets) - 3} more" if len(spec.datasets) > 3 else ""
    again = f", {spec.repetitions} repetitions" if spec.repetitions > 1 else ""
    return (
        f"Run with bestofk {spec.versions['bestofk']}: {', '.join(sizes)}{more}, plan "
        f"{spec.plan}{again}, loss {spec.loss}, seed {spec.random_state}.",
    )
