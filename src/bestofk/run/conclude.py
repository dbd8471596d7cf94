"""From the cells of a study to its verdict: what failed, what is left, what was decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bestofk.errors import BestOfKError, RunError
from bestofk.losses.losses import Losses
from bestofk.ordering.decision import Decision
from bestofk.ordering.order import decide
from bestofk.ordering.result import Order
from bestofk.plans.design import Design
from bestofk.run.cells import CellResult
from bestofk.run.experiment import Place
from bestofk.run.loss_table import complete_part, cost_table
from bestofk.run.store.stored_study import StudySpec
from bestofk.run.study import FailedCell, Study

TOLERATED_FAILURES = 0.1
"""A learner that fails in a larger share of its cells is left out of the decision."""


def conclude(
    spec: StudySpec,
    results: Mapping[Place, CellResult],
    *,
    design: Design,
    decision: Decision,
    notes: tuple[str, ...] = (),
    finer: Callable[[Sequence[int]], Losses | None] | None = None,
    too_little: str = "",
    store: str = "memory",
) -> Study:
    """The study of `spec` from what came of its cells, decided as `decision` asks.

    `design` is that of the first data set's splits; `finer` may give losses by test instance of
    the learners that are compared, in place of one number each, where there is but one split.
    `too_little` says what a budget should have been that ended too early.
    """
    # engines and stores give their results in no certain order
    results = {place: results[place] for place in sorted(results, key=_turn)}
    failures = tuple(
        _failed(spec, place, result)
        for place, result in results.items()
        if result.failure is not None
    )
    left_out = _left_out(spec, results)
    compared = [
        place for place, learner in enumerate(spec.learners) if learner.name not in left_out
    ]  # fmt: skip
    costs = cost_table(spec, results)
    losses, dropped = complete_part(spec, results, compared, design)
    if losses is not None and finer is not None and losses.design.runs * losses.design.folds == 1:
        losses = finer(compared) or losses
    if losses is None:
        raise RunError(_nothing(left_out, failures, too_little if compared else ""))
    decided: Order | None = None
    why_not = "fewer than two learners have losses."
    if len(compared) > 1:
        try:
            decided = decide(losses, decision.settled(losses.algorithms, costs))
            entry = None if decided.choice is None else decided.choice.entry
            if entry is not None and entry.caution_for_unstable and spec.caution is not None:
                # the learners are known: what is said is about them, or nothing
                decided = replace(decided, caution=spec.caution)
        except BestOfKError as refusal:
            # with all that was planned it could have been decided: keep the losses
            if not (left_out or dropped):
                raise
            why_not = too_little or str(refusal)
            if decision.control in left_out:
                why_not = f"the control, {decision.control}, is among those that failed."
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
        notes=(*notes, *spec.notes),
        dropped=dropped,
        undecided="" if decided is not None else why_not,
        spec=spec,
        store=store,
        options=decision,
    )


def _turn(place: Place) -> tuple[int, ...]:
    return place.dataset, place.run, place.fold, place.repetition, place.learner


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


def _nothing(left_out: Mapping[str, str], failures: Sequence[FailedCell], too_little: str) -> str:
    if too_little:
        return too_little
    if left_out:
        name, reason = next(iter(left_out.items()))
        return f"No learner could be evaluated; {name}: {reason}"
    if failures:
        return f"No fold was finished by all learners; {failures[0].learner}: {failures[0].reason}"
    return "No fold was finished by all learners."


def _setting(spec: StudySpec) -> tuple[str, ...]:
    """How it was run, so that a paper can state it."""
    sizes = [f"{data.name} ({data.rows} rows)" for data in spec.datasets[:3]]
    more = f" and {len(spec.datasets) - 3} more" if len(spec.datasets) > 3 else ""
    again = f", {spec.repetitions} repetitions" if spec.repetitions > 1 else ""
    return (
        f"Run with bestofk {spec.versions['bestofk']}: {', '.join(sizes)}{more}, plan "
        f"{spec.plan}{again}, loss {spec.loss}, seed {spec.random_state}.",
    )
