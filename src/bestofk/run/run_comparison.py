"""A comparison that is all made up: run, decided and recorded."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from bestofk._base.checks import positive
from bestofk._base.errors import RunError
from bestofk.decide.settings import Settings
from bestofk.run.cells import CellResult
from bestofk.run.conclude import ByOtherLoss, conclude
from bestofk.run.evaluation.models import more_time
from bestofk.run.evaluation.results import has_instances, instance_losses, preparation_of
from bestofk.run.evaluation.task import ComparisonTask
from bestofk.run.execution import Execution
from bestofk.run.experiment import Experiment, Place, Places
from bestofk.run.inputs import advice_for_unstable
from bestofk.run.judge import weight_notes
from bestofk.run.progress import observer
from bestofk.run.run_task import run_task
from bestofk.run.store.stored_study import StoredDecision, StudySpec, now, study_of
from bestofk.run.study import Study
from bestofk.splits.plans import Plan

if TYPE_CHECKING:
    from bestofk.run.race.plan import PlannedRace
    from bestofk.run.race.run import HeldRace


def run_comparison(
    experiment: Experiment,
    plan: Plan,
    decision: Settings,
    execution: Execution,
    deadline: float | None,
    replicates: str = "",
    race: PlannedRace | None = None,
) -> tuple[Study, StudySpec]:
    """The study of an experiment, run and decided; and what the store keeps of it."""
    asked = StoredDecision(
        options=decision.to_dict(),
        created=now(),
        command=tuple(execution.command),
        race=None if race is None else race.to_dict(),
    )
    spec = replace(
        # splits of your own are named when they are made
        study_of(
            experiment, plan=plan.spec if plan.source is None else None, command=execution.command
        ),
        taken=_taken(experiment),
        notes=(*experiment.plan_notes, *_weight_notes(experiment)),
        caution=_caution(experiment, plan),
        preparation=preparation_of(experiment),
        replicates=replicates,
        decisions=(asked,),
    )
    held, results, notes, too_little, where = _run(
        experiment, spec, execution, deadline, decision, race
    )
    if notes:
        partial_fits = len(results) if len(results) < experiment.n_cells else None
        spec = record(spec, execution, notes=notes, fits=partial_fits)

    def ordinary() -> Study:
        finer = partial(instance_losses, experiment, results)
        return conclude(
            spec,
            results,
            design=experiment.splits[0].design,
            decision=decision,
            notes=notes,
            finer=finer if has_instances(experiment) else None,
            others=_by_other_losses(experiment, results),
            too_little=too_little,
            store=where,
        )

    if held is None:
        return ordinary(), spec
    from bestofk.run.race.conclude import conclude_race

    return conclude_race(held, spec, decision, ordinary, notes=notes, store=where), spec


def _by_other_losses(
    experiment: Experiment, results: Mapping[Place, CellResult]
) -> dict[str, ByOtherLoss]:
    """What the same models came to by the other losses; where rows can be tested, by rows."""
    found = {}
    for number, other in enumerate(experiment.others):
        own = {place: result.also[number] for place, result in results.items() if result.also}
        finer = None
        if has_instances(other):
            finer = partial(instance_losses, other, results)
        found[other.loss.name] = ByOtherLoss(results=own, finer=finer)
    return found


def record(spec: StudySpec, execution: Execution, **found: Any) -> StudySpec:
    """The specification with what was found out of its decision, kept in the store."""
    from bestofk.run.store.store import open_store

    spec = replace(spec, decisions=(replace(spec.decisions[-1], **found),))
    if execution.store is not None:
        with open_store(execution.store) as store:
            store.register(spec)
    return spec


def _caution(experiment: Experiment, plan: Plan) -> str | None:
    """What the corrected t test is known to do to learners such as these; empty: nothing.

    None where that was not measured: then the test's own caution stands.
    """
    design = experiment.splits[0].design
    if len(experiment.datasets) > 1 or design.kind != "cv":
        return None
    named = {one.name: one.estimator for one in experiment.contenders}
    alike = plan if plan.source is None else f"{design.runs}x{design.folds}"
    return advice_for_unstable(named, experiment.datasets[0].n, alike) or ""


def _run(
    experiment: Experiment,
    spec: StudySpec,
    execution: Execution,
    deadline: float | None,
    decision: Settings,
    race: PlannedRace | None,
) -> tuple[HeldRace | None, Mapping[Place, CellResult], tuple[str, ...], str, str]:
    """All cells, from the store where it has them, else evaluated and stored; and the store.

    Of a race those that are needed. With them what the reader must know, and what a budget that
    ended too early should have been.
    """
    from bestofk.run.store.store import open_store

    task = ComparisonTask(experiment)
    store, budget = execution.store, execution.budget
    places = Places(experiment)
    cut: dict[Place, float] = {}
    stop = _first_failure if execution.on_failure == "stop" else None
    notes: tuple[str, ...] = () if store is None else tuple(map(_unknown_words, experiment.unknown))
    results: Mapping[Place, CellResult]
    held = None
    if race is not None:
        from bestofk.run.race.run import run_race

        held, where = run_race(
            experiment, spec, race, decision, execution, deadline, stop=stop, cut=cut
        )
        results = held.results
    else:
        with open_store(store) as kept:
            kept.register(spec)
            results = run_task(
                task,
                places,
                engine=execution.runner(),
                store=None if store is None else kept,
                progress=observer(execution.progress),
                deadline=deadline,
                stop=None if stop is None else partial(stop, task),
                retry_failed=execution.retry_failed,
                cut=cut,
            )
        where = kept.shown_url
    too_little = ""
    unfinished = len(results) < len(places) if held is None else held.broken and held.whole
    if budget is not None and unfinished:
        notes += (budget_words(budget, len(results), len(places)),)
        too_little = more_time(experiment, results, cut, budget)
    return held, results, notes, too_little, where


def deadline_of(budget: float | None) -> float | None:
    """When the time is up: it runs from now."""
    return None if budget is None else time.monotonic() + positive(budget, "budget")


def _first_failure(task: ComparisonTask, place: Place, result: CellResult) -> RunError | None:
    """What a failure stops the comparison with, where it should."""
    if result.failure is None:
        return None
    learner, dataset = task.names(place)
    return RunError(
        f"{learner} failed on {dataset!r} (run {place.run + 1}, fold {place.fold + 1}): "
        f"{result.failure.explain()}"
    )


def _unknown_words(who_and_why: str) -> str:
    """That what a store keeps of somebody cannot be used again."""
    return (
        f"The store keeps the fits, but another run computes them again: {who_and_why}, so that it "
        "cannot be known whether they would come out the same."
    )


def budget_words(budget: float, done: int, total: int) -> str:
    """That the time was up before all was done."""
    return (
        f"The budget of {budget:g} s ended the run after {done} of {total} fits; the decision "
        "rests on what all learners finished."
    )


def _weight_notes(experiment: Experiment) -> tuple[str, ...]:
    if all(one.sample_weight is None for one in experiment.datasets):
        return ()
    named = {one.name: one.estimator for one in experiment.contenders}
    return tuple(weight_notes(named, experiment.loss))


FEW_TARGETS = 3
"""So many guesses of targets are told one by one."""


def _taken(experiment: Experiment) -> tuple[str, ...]:
    """What targets were guessed to be."""
    several = len(experiment.datasets) > 1
    said = [
        f"{one.name}: {one.target_note}" if several else one.target_note
        for one in experiment.datasets
        if one.target_note
    ]
    more = len(said) - FEW_TARGETS
    if more > 1:
        return (*said[:FEW_TARGETS], f"The same was done for {more} more data sets.")
    return tuple(said)
