"""Run a race: request runs until the decision is settled, and record every look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

import numpy as np

from bestofk._base.checks import Floats, Ints
from bestofk.decide.choose_test import row_widening
from bestofk.decide.evidence import Family
from bestofk.decide.preference import NO_PREFERENCE, Preference, alike_ranks, arrange
from bestofk.decide.settings import Settings
from bestofk.decide.statements.stopped import progress_line
from bestofk.decide.stopping import Look, PlannedT, race
from bestofk.decide.stopping.verdicts import PlannedTest
from bestofk.run.cells import CellResult
from bestofk.run.comparison_task import ComparisonTask
from bestofk.run.conclude import cost_table
from bestofk.run.engines.engine import Rounds
from bestofk.run.engines.threads import held_threads
from bestofk.run.execution import Execution
from bestofk.run.experiment import CellIndex, Experiment
from bestofk.run.progress import Progress, observer
from bestofk.run.race.plan import PlannedRace
from bestofk.run.run_task import run_task
from bestofk.run.store.store import open_store
from bestofk.run.store.stored_study import StudySpec
from bestofk.stats.pairwise.resolution import resolution_of


class RaceProgress(Progress):
    """Report the rounds of a race to one observer as a single run."""

    def __init__(self, inner: Progress, total: int) -> None:
        self.inner, self.total, self.started = inner, total, False

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:  # noqa: ARG002
        if not self.started:
            self.started = True
            self.inner.__enter__()
            self.inner.start(total=self.total, done=done, unit=unit)
        elif done:
            self.inner.stored(count=done)

    def item(self, *, label: str, failed: bool) -> None:
        self.inner.item(label=label, failed=failed)

    def waiting(self, *, count: int) -> None:
        self.inner.waiting(count=count)

    def standing(self, *, text: str) -> None:
        self.inner.standing(text=text)

    def close(self) -> None:
        """End the progress of the whole race."""
        if self.started:
            self.inner.__exit__(None, None, None)

    def __enter__(self) -> Self:
        # a round begins, not the race
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Do nothing: a round ends, not the race."""


MAX_FAILED_SHARE = 0.1
"""A learner that fails in a larger share of the plan is left out of its decision."""
FetchCells = Callable[[Sequence[CellIndex]], Mapping[CellIndex, CellResult]]
"""Return the results of some cells; fewer if the time is up."""
Watch = Callable[[str], None]
"""Called with a line about the learners that are out and the open pairs."""


class _TimeUpError(Exception):
    """The budget ended during a round."""


class _FailedError(Exception):
    """A fit on one of several data sets failed: decide from the whole plan."""


class _LeftOutError(Exception):
    """A learner failed too often: restart the race without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedLook:
    """One look, with the runs and losses of every learner at that time."""

    look: Look
    runs: Ints
    losses: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceOutcome:
    """The outcome of a race.

    - `results`: All requested cells.
    - `whole`: The race needed all runs of the plan, or was impossible: decide from the whole plan.
    - `cut`: The time was up before it was settled.
    - `prefer`: Numbers of the learners in the order of preference.
    - `looks`: Every look, by that order.
    - `test`, `family`: What was curtailed.
    """

    planned: PlannedRace
    results: Mapping[CellIndex, CellResult]
    whole: bool
    cut: bool
    prefer: tuple[int, ...] = ()
    preference: Preference = NO_PREFERENCE
    notes: tuple[str, ...] = ()
    looks: tuple[RecordedLook, ...] = ()
    test: PlannedTest | None = None
    family: Family | None = None
    left_out: tuple[int, ...] = field(default=())


def race_cells(
    planned: PlannedRace,
    spec: StudySpec,
    settings: Settings,
    fetch: FetchCells,
    watch: Watch | None = None,
) -> RaceOutcome:
    """Request runs until the decision is settled.

    The requests depend only on the losses (and, for a measured preference, on the time of the
    first run), not on where and when the cells were computed.
    """
    track = _Track(planned, spec, fetch)
    everybody = range(len(spec.learners))
    if not track.ask(dict.fromkeys(everybody, 1)) or not track.start():
        return track.ended(whole=True, cut=True)
    while True:
        out = track.left_out()
        remaining = [number for number in everybody if number not in out]
        names = [spec.learners[number].name for number in remaining]
        if len(remaining) < 2 or (settings.control is not None and settings.control not in names):
            return track.ended(whole=True, cut=False)
        try:
            return _one_race(track, remaining, names, settings, watch)
        except _LeftOutError:
            continue


def _one_race(
    track: _Track, remaining: list[int], names: list[str], settings: Settings, watch: Watch | None
) -> RaceOutcome:
    """Race the learners that are not left out."""
    planned, spec = track.planned, track.spec
    first = track.losses(remaining, np.ones(len(remaining), dtype=np.int64))
    first = first[..., : planned.test.outer]
    preferred = settings.settled(names, cost_table(spec, track.first_runs()))
    means = np.array([_mean(losses) for losses in first])
    positions, preference, notes = arrange(names, preferred.prefer, means)
    ranks = alike_ranks(names, preferred.prefer)
    ranks = None if ranks is None else ranks[positions]
    prefer = [remaining[at] for at in positions]
    like = planned.foreseen.family
    assert like is not None
    called = [spec.learners[number].name for number in prefer]
    family = Family(
        name=like.name,
        learners=len(prefer),
        alpha=like.alpha,
        correction=like.correction,
        control=None if settings.control is None else called.index(str(settings.control)),
    )
    test, floor = planned.test, 0.0
    if isinstance(test, PlannedT):
        sizes = planned.design.n_test
        rates = _are_error_rates(first, sizes, planned)
        choice = planned.foreseen.choice
        assert choice is not None
        assert choice.entry is not None
        widens = bool(choice.entry.widened) and settings.df is None and not rates
        test = replace(
            test,
            step=_step(first, None if sizes is None or not rates else float(np.mean(sizes))),
            widened=row_widening(planned.design) if widens else 1.0,
        )
        if test.span is not None and sizes is not None:
            floor = (test.span / float(np.mean(sizes))) ** 2
    looks: list[RecordedLook] = []

    def fill(runs: Ints) -> Floats:
        if not track.ask(dict(zip(prefer, runs.tolist(), strict=True))):
            raise _TimeUpError
        if set(track.left_out()) & set(prefer):
            raise _LeftOutError
        if planned.unit != "run" and track.failed(prefer):
            raise _FailedError
        return track.losses(prefer, runs)

    def record_look(look: Look, runs: Ints) -> None:
        looks.append(RecordedLook(look=look, runs=runs, losses=track.losses(prefer, runs)))
        if watch is not None:
            pairs = [(called[i], called[j]) for i, j in look.open_pairs]
            out = [name for name, on in zip(called, look.go_on, strict=True) if not on]
            watch(progress_line(len(prefer) - len(out), out, pairs))

    facts = {
        "prefer": tuple(prefer),
        "preference": preference,
        "notes": notes,
        "test": test,
        "family": family,
    }
    try:
        raced = race(
            fill, len(prefer), test, family, planned.rule,
            stated=preference.stated, floor=floor, ranks=ranks, watch=record_look,
        )  # fmt: skip
        whole = bool((raced.runs == test.runs).all())
        open_still = not raced.settled and not whole
    except _FailedError:
        open_still, whole = True, False
    except _TimeUpError:
        return track.ended(whole=not looks, cut=True, looks=tuple(looks), **facts)
    if open_still:
        # failures keep pairs open: decide from the whole plan
        if not track.ask(dict.fromkeys(prefer, test.runs)):
            return track.ended(whole=not looks, cut=True, looks=tuple(looks), **facts)
        whole = True
        runs = np.full(len(prefer), test.runs)
        if looks:
            looks.append(replace(looks[-1], runs=runs, losses=track.losses(prefer, runs)))
    return track.ended(whole=whole, cut=False, looks=tuple(looks), **facts)


class _Track:
    """The cells that were requested so far."""

    def __init__(self, planned: PlannedRace, spec: StudySpec, fetch: FetchCells) -> None:
        self.planned, self.spec, self.fetch = planned, spec, fetch
        self.results: dict[CellIndex, CellResult] = {}
        self._known: dict[tuple[int, int, int], float] = {}

    def ask(self, runs: Mapping[int, int]) -> bool:
        """Request this many runs of every learner; return False if the time is up."""
        cells = [
            CellIndex(learner=learner, dataset=dataset, run=run, fold=fold, repetition=repetition)
            for unit in range(max(runs.values()))
            for of_unit in range(self.planned.test.folds)
            for dataset, run, fold in self.planned.cells(unit, of_unit)
            for repetition in range(self.spec.repetitions)
            for learner in sorted(runs)
            if unit < runs[learner]
        ]
        missing = [cell for cell in cells if cell not in self.results]
        if missing:
            self.results.update(self.fetch(missing))
        return all(cell in self.results for cell in missing)

    def start(self) -> bool:
        """Give those that only failed more runs, until they succeed or are left out."""
        most = self.planned.test.runs
        for runs in range(2, most + 1):
            worked = {cell.learner for cell, one in self.results.items() if one.failure is None}
            out = self.left_out()
            idle = [
                number
                for number in range(len(self.spec.learners))
                if number not in worked and number not in out
            ]
            if not idle:
                return True
            if not self.ask(dict.fromkeys(idle, runs)):
                return False
        return True

    def first_runs(self) -> dict[CellIndex, CellResult]:
        """Return the first run of every learner, or the first one in which it did not only fail."""
        first: dict[int, int] = {}
        for cell, one in self.results.items():
            if one.failure is None:
                run = self.planned.unit_of(cell)
                first[cell.learner] = min(first.get(cell.learner, run), run)
        return {
            cell: one
            for cell, one in self.results.items()
            if self.planned.unit_of(cell) == first.get(cell.learner, 0)
        }

    def losses(self, learners: Sequence[int], runs: Ints) -> Floats:
        """Return (K, max runs, folds) means over repetitions; NaN if not run or failed."""
        planned = self.planned
        folds = planned.test.folds
        losses = np.full((len(learners), planned.test.runs, folds), np.nan)
        for row, learner in enumerate(learners):
            for run in range(int(runs[row])):
                for fold in range(folds):
                    losses[row, run, fold] = self._loss(learner, run, fold)
        return losses

    def _loss(self, learner: int, unit: int, of_unit: int) -> float:
        """Return the mean over repetitions and splits of a unit; NaN if a fit failed."""
        at = learner, unit, of_unit
        if at in self._known:
            return self._known[at]
        each = [
            [
                self.results[
                    CellIndex(
                        learner=learner, dataset=dataset, run=run, fold=fold, repetition=again
                    )
                ].loss
                for again in range(self.spec.repetitions)
            ]
            for dataset, run, fold in self.planned.cells(unit, of_unit)
        ]
        # None is NaN, and makes the mean NaN
        self._known[at] = float(np.array(each, dtype=np.float64).mean(axis=1).mean())
        return self._known[at]

    def failed(self, learners: Sequence[int]) -> bool:
        """Return whether a fit of one of these learners failed."""
        return any(
            one.failure is not None and cell.learner in learners
            for cell, one in self.results.items()
        )

    def left_out(self) -> tuple[int, ...]:
        """Learners that failed more often than the whole plan tolerates."""
        fits = self.planned.test.runs * self.planned.fits_per_unit * self.spec.repetitions
        most = MAX_FAILED_SHARE * fits
        failed = np.zeros(len(self.spec.learners))
        for cell, result in self.results.items():
            failed[cell.learner] += result.failure is not None
        return tuple(np.flatnonzero(failed > most).tolist())

    def ended(self, **facts: object) -> RaceOutcome:
        return RaceOutcome(
            planned=self.planned,
            results=dict(self.results),
            left_out=self.left_out(),
            **facts,  # type: ignore[arg-type]
        )


def _mean(losses: Floats) -> float:
    known = losses[~np.isnan(losses)]
    return float(known.mean()) if known.size else np.inf


def _are_error_rates(first: Floats, sizes: tuple[int, ...] | None, planned: PlannedRace) -> bool:
    """Return whether the losses of the first run are whole numbers of wrong rows."""
    if sizes is None:
        return False
    wrong = first[:, 0] * np.asarray(sizes[: planned.test.outer], dtype=float)
    wrong = wrong[~np.isnan(wrong)]
    return bool(np.allclose(wrong, np.round(wrong), rtol=0.0, atol=1e-6))


def _step(first: Floats, fold_rows: float | None) -> float | None:
    """Return the resolution that the test of the full plan takes, or more; None: not known.

    Error rates are multiples of one row of a fold of `fold_rows`. Other losses without a step in
    the first run have none at the end of the plan. A step in the first run may disappear.
    """
    if fold_rows is not None:
        return 1.0 / fold_rows
    known = first[~np.isnan(first)]
    if np.unique(known).size < 2:
        return None
    return 0.0 if resolution_of(known) == 0.0 else None


def run_race(
    experiment: Experiment,
    spec: StudySpec,
    planned: PlannedRace,
    settings: Settings,
    execution: Execution,
    deadline: float | None,
    *,
    stop: Callable[[ComparisonTask, CellIndex, CellResult], Exception | None] | None = None,
    cut: dict[CellIndex, float] | None = None,
) -> tuple[RaceOutcome, str]:
    """Return the outcome of the race, and the store.

    `stop` gives the error that a failure ends the race with, `cut` gets the fits that the
    deadline cut.
    """
    task = ComparisonTask(experiment)
    per_run = planned.fits_per_unit * experiment.repetitions
    total = len(experiment.learners) * planned.test.runs * per_run
    progress = RaceProgress(observer(execution.progress), total)
    with open_store(execution.store) as opened:
        opened.register(spec)

        rounds = Rounds()
        engine = replace(execution.runner(), rounds=rounds)

        def fetch(cells: Sequence[CellIndex]) -> Mapping[CellIndex, CellResult]:
            # these learners may need half of the runs that are left
            share = len({cell.learner for cell in cells}) / len(experiment.learners)
            rounds.requested += len(cells)
            rounds.later = share * (total - rounds.requested) / 2 / len(cells)
            return run_task(
                task,
                cells,
                engine=engine,
                store=None if execution.store is None else opened,
                progress=progress,
                deadline=deadline,
                stop=None if stop is None else lambda cell, result: stop(task, cell, result),
                retry_failed=execution.retry_failed,
                cut=cut,
            )

        def watch(words: str) -> None:
            progress.standing(text=words)

        try:
            with held_threads(task.threads), rounds:
                outcome = race_cells(planned, spec, settings, fetch, watch)
        finally:
            progress.close()
    return outcome, opened.shown_url
