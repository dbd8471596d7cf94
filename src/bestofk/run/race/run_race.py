"""A race that is run: every round is found in the store or evaluated, by whichever engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bestofk.ordering.decision import Decision
from bestofk.run.cells import CellResult
from bestofk.run.engines.thread_count import held_threads
from bestofk.run.evaluation.comparison_task import ComparisonTask
from bestofk.run.execution import Execution
from bestofk.run.experiment import Experiment, Place
from bestofk.run.progress import observer
from bestofk.run.race.held_race import HeldRace, hold_race
from bestofk.run.race.planned_race import PlannedRace
from bestofk.run.race.race_progress import RaceProgress
from bestofk.run.run_task import run_task
from bestofk.run.store.store import open_store
from bestofk.run.store.stored_study import StudySpec


def run_race(
    experiment: Experiment,
    spec: StudySpec,
    planned: PlannedRace,
    decision: Decision,
    execution: Execution,
    deadline: float | None,
    *,
    stop: Callable[[ComparisonTask, Place, CellResult], Exception | None] | None = None,
    cut: dict[Place, float] | None = None,
) -> tuple[HeldRace, str]:
    """What came of the race, and the store.

    `stop` gives the error that a failure ends the race with, `cut` gets the fits that the
    deadline cut.
    """
    task = ComparisonTask(experiment)
    per_run = planned.fits_per_unit * experiment.repetitions
    total = len(experiment.contenders) * planned.most * per_run
    progress = RaceProgress(observer(execution.progress), total)
    with open_store(execution.store) as kept:
        kept.register(spec)

        def cells(places: Sequence[Place]) -> Mapping[Place, CellResult]:
            return run_task(
                task,
                places,
                engine=execution.runner(),
                store=None if execution.store is None else kept,
                progress=progress,
                deadline=deadline,
                stop=None if stop is None else lambda place, result: stop(task, place, result),
                retry_failed=execution.retry_failed,
                cut=cut,
            )

        def watch(words: str) -> None:
            progress.standing(words=words)

        try:
            with held_threads(task.threads):
                held = hold_race(planned, spec, decision, cells, watch)
        finally:
            progress.close()
    return held, kept.shown_url
