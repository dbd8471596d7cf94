"""One progress for all rounds of a race, and who is out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

import numpy as np

from bestofk._base.checks import Floats, Ints
from bestofk.decide.evidence import Family
from bestofk.decide.preference import NO_PREFERENCE, Preference, alike_ranks, arrange
from bestofk.decide.settings import Settings
from bestofk.decide.statements.stopped import progress_line
from bestofk.decide.stopping import Look, PlannedT, race
from bestofk.decide.stopping.verdicts import PlannedTest
from bestofk.run.cells import CellResult
from bestofk.run.conclude import cost_table
from bestofk.run.engines.threads import held_threads
from bestofk.run.evaluation.task import ComparisonTask
from bestofk.run.execution import Execution
from bestofk.run.experiment import Experiment, Place
from bestofk.run.progress import Progress, observer
from bestofk.run.race.plan import PlannedRace
from bestofk.run.run_task import run_task
from bestofk.run.store.store import open_store
from bestofk.run.store.stored_study import StudySpec
from bestofk.stats.pairwise.resolution import resolution_of


class RaceProgress(Progress):
    """Passes what the rounds say on to one observer that hears of all of them as one run."""

    def __init__(self, inner: Progress, total: int) -> None:
        self.inner, self.total, self.begun = inner, total, False

    def start(self, *, total: int, done: int, unit: str = "fits") -> None:  # noqa: ARG002
        if not self.begun:
            self.begun = True
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
        """The race is over, or broke off."""
        if self.begun:
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
        """A round is over."""


# A race over the cells of a study: which runs are asked for, and what they showed.


TOLERATED_FAILURES = 0.1
"""A learner that fails in a larger share of the plan is left out of its decision."""
Cells = Callable[[Sequence[Place]], Mapping[Place, CellResult]]
"""The results of some places; fewer than were asked for where the time is up."""
Watch = Callable[[str], None]
"""Hears who is out and what is open."""


class _TimeUpError(Exception):
    """The budget ended before all the cells of a round were there."""


class _FailedError(Exception):
    """A fit on one of several data sets failed: only the whole plan knows what then counts."""


class _LeftOutError(Exception):
    """A learner fails too often to be decided about: the others race again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One look, and how far everybody was."""

    look: Look
    runs: Ints
    losses: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRace:
    """What came of a race.

    Attributes
    ----------
    planned : PlannedRace
    results : mapping of Place to CellResult
        All that was asked for.
    whole : bool
        All runs of the plan were needed (or no race could be held): the ordinary decision stands.
    broken : bool
        The time was up before it was settled.
    prefer : tuple of int
        Numbers of the learners in the order of preference.
    seen : tuple of Seen
        Every look, by that order.
    test, family
        What was curtailed.
    """

    planned: PlannedRace
    results: Mapping[Place, CellResult]
    whole: bool
    broken: bool
    prefer: tuple[int, ...] = ()
    preference: Preference = NO_PREFERENCE
    notes: tuple[str, ...] = ()
    seen: tuple[Seen, ...] = ()
    test: PlannedTest | None = None
    family: Family | None = None
    left_out: tuple[int, ...] = field(default=())


def hold_race(
    planned: PlannedRace,
    spec: StudySpec,
    decision: Settings,
    cells: Cells,
    watch: Watch | None = None,
) -> HeldRace:
    """Ask for runs until the verdict is settled.

    Which runs are asked for depends on the losses alone (and, for a measured preference, on what
    the first run took), so that it does not matter where and when they were computed.
    """
    track = _Track(planned, spec, cells)
    everybody = range(len(spec.learners))
    if not track.ask(dict.fromkeys(everybody, 1)) or not track.has_begun():
        return track.ended(whole=True, broken=True)
    while True:
        out = track.left_out()
        kept = [number for number in everybody if number not in out]
        names = [spec.learners[number].name for number in kept]
        if len(kept) < 2 or (decision.control is not None and decision.control not in names):
            return track.ended(whole=True, broken=False)
        try:
            held = _one_race(track, kept, names, decision, watch)
        except _LeftOutError:
            continue
        return held


def _one_race(
    track: _Track, kept: list[int], names: list[str], decision: Settings, watch: Watch | None
) -> HeldRace:
    """The race of those that are not left out."""
    planned, spec = track.planned, track.spec
    first = track.losses(kept, np.ones(len(kept), dtype=np.int64))
    settled = decision.settled(names, cost_table(spec, track.first_runs()))
    means = np.array([_mean(one) for one in first])
    places, preference, notes = arrange(names, settled.prefer, means)
    ranks = alike_ranks(names, settled.prefer)
    ranks = None if ranks is None else ranks[places]
    prefer = [kept[at] for at in places]
    like = planned.foreseen.family
    assert like is not None
    called = [spec.learners[number].name for number in prefer]
    family = Family(
        name=like.name,
        learners=len(prefer),
        alpha=like.alpha,
        correction=like.correction,
        control=None if decision.control is None else called.index(str(decision.control)),
    )
    test, floor = planned.test, 0.0
    if isinstance(test, PlannedT):
        sizes = planned.design.n_test
        test = replace(test, step=_step(first, sizes, planned))
        if test.span is not None and sizes is not None:
            floor = (test.span / float(np.mean(sizes))) ** 2
    seen: list[Seen] = []

    def fill(runs: Ints) -> Floats:
        if not track.ask(dict(zip(prefer, runs.tolist(), strict=True))):
            raise _TimeUpError
        if set(track.left_out()) & set(prefer):
            raise _LeftOutError
        if planned.unit != "run" and track.failed(prefer):
            raise _FailedError
        return track.losses(prefer, runs)

    def saw(look: Look, runs: Ints) -> None:
        seen.append(Seen(look=look, runs=runs, losses=track.losses(prefer, runs)))
        if watch is not None:
            pairs = [(called[i], called[j]) for i, j in look.open_pairs]
            out = [name for name, on in zip(called, look.go_on, strict=True) if not on]
            watch(progress_line(len(prefer) - len(out), out, pairs))

    made = {
        "prefer": tuple(prefer),
        "preference": preference,
        "notes": notes,
        "test": test,
        "family": family,
    }
    try:
        raced = race(
            fill, len(prefer), test, family, planned.rule, guard=decision.guard is not False,
            stated=preference.stated, floor=floor, ranks=ranks, watch=saw,
        )  # fmt: skip
        whole = planned.rule.settle == "plan" and bool((raced.runs == test.runs).all())
        open_still = planned.rule.settle == "plan" and not raced.settled and not whole
    except _FailedError:
        open_still, whole = True, False
    except _TimeUpError:
        return track.ended(whole=not seen, broken=True, seen=tuple(seen), **made)
    if open_still:
        # what failed keeps pairs open: the ordinary decision knows what to do about it
        if not track.ask(dict.fromkeys(prefer, test.runs)):
            return track.ended(whole=not seen, broken=True, seen=tuple(seen), **made)
        whole = True
        runs = np.full(len(prefer), test.runs)
        if seen:
            seen.append(replace(seen[-1], runs=runs, losses=track.losses(prefer, runs)))
    return track.ended(whole=whole, broken=False, seen=tuple(seen), **made)


class _Track:
    """What was asked for so far."""

    def __init__(self, planned: PlannedRace, spec: StudySpec, cells: Cells) -> None:
        self.planned, self.spec, self.cells = planned, spec, cells
        self.results: dict[Place, CellResult] = {}
        self._known: dict[tuple[int, int, int], float] = {}

    def ask(self, runs: Mapping[int, int]) -> bool:
        """Have so many runs of every learner; False: there is no time."""
        wanted = [
            Place(learner=learner, dataset=dataset, run=run, fold=fold, repetition=repetition)
            for unit in range(max(runs.values()))
            for of_unit in range(self.planned.test.folds)
            for dataset, run, fold in self.planned.cells(unit, of_unit)
            for repetition in range(self.spec.repetitions)
            for learner in sorted(runs)
            if unit < runs[learner]
        ]
        missing = [place for place in wanted if place not in self.results]
        if missing:
            self.results.update(self.cells(missing))
        return all(place in self.results for place in missing)

    def has_begun(self) -> bool:
        """Give those that only failed more runs, until they succeed or are left out."""
        most = self.planned.test.runs
        for runs in range(2, most + 1):
            worked = {place.learner for place, one in self.results.items() if one.failure is None}
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

    def first_runs(self) -> dict[Place, CellResult]:
        """The first run of every learner, or the first one in which it did not only fail."""
        found: dict[int, int] = {}
        for place, one in self.results.items():
            if one.failure is None:
                run = self._run(place)
                found[place.learner] = min(found.get(place.learner, run), run)
        return {
            place: one
            for place, one in self.results.items()
            if self._run(place) == found.get(place.learner, 0)
        }

    def _run(self, place: Place) -> int:
        if self.planned.unit != "run":
            return place.dataset
        # a split of a design without runs is a run of its own
        return (
            place.fold + place.run * self.planned.design.folds
            if self.planned.test.folds == 1
            else place.run
        )

    def losses(self, learners: Sequence[int], runs: Ints) -> Floats:
        """(K, most runs, folds): means over repetitions; NaN: not run, or failed."""
        planned = self.planned
        folds = planned.test.folds
        found = np.full((len(learners), planned.most, folds), np.nan)
        for row, learner in enumerate(learners):
            for run in range(int(runs[row])):
                for fold in range(folds):
                    found[row, run, fold] = self._loss(learner, run, fold)
        return found

    def _loss(self, learner: int, unit: int, of_unit: int) -> float:
        """The mean over repetitions, and over all splits of a data set; NaN where one failed."""
        at = learner, unit, of_unit
        if at in self._known:
            return self._known[at]
        each = [
            [
                self.results[
                    Place(learner=learner, dataset=dataset, run=run, fold=fold, repetition=again)
                ].loss
                for again in range(self.spec.repetitions)
            ]
            for dataset, run, fold in self.planned.cells(unit, of_unit)
        ]
        # None is NaN, and makes the mean NaN
        self._known[at] = float(np.array(each, dtype=np.float64).mean(axis=1).mean())
        return self._known[at]

    def failed(self, learners: Sequence[int]) -> bool:
        """Whether a fit of one of these learners failed."""
        return any(
            one.failure is not None and place.learner in learners
            for place, one in self.results.items()
        )

    def left_out(self) -> tuple[int, ...]:
        """Learners that failed more often than the whole plan tolerates."""
        fits = self.planned.test.runs * self.planned.fits_per_unit * self.spec.repetitions
        most = TOLERATED_FAILURES * fits
        failed = np.zeros(len(self.spec.learners))
        for place, result in self.results.items():
            failed[place.learner] += result.failure is not None
        return tuple(np.flatnonzero(failed > most).tolist())

    def ended(self, **found: object) -> HeldRace:
        return HeldRace(
            planned=self.planned,
            results=dict(self.results),
            left_out=self.left_out(),
            **found,  # type: ignore[arg-type]
        )


def _mean(losses: Floats) -> float:
    known = losses[~np.isnan(losses)]
    return float(known.mean()) if known.size else np.inf


def _step(first: Floats, sizes: tuple[int, ...] | None, planned: PlannedRace) -> float | None:
    """The resolution that the test of the full plan takes, or more; None: not known.

    Error rates are multiples of one row of a fold. Of other losses a step that is none in the
    first run is none in the end; whether one that is there remains is not known.
    """
    known = first[~np.isnan(first)]
    if sizes is not None:
        folds = planned.test.folds
        wrong = first[:, 0] * np.asarray(sizes[:folds], dtype=float)
        wrong = wrong[~np.isnan(wrong)]
        if np.allclose(wrong, np.round(wrong), rtol=0.0, atol=1e-6):
            return 1.0 / float(np.mean(sizes))
    if np.unique(known).size < 2:
        return None
    return 0.0 if resolution_of(known) == 0.0 else None


# A race that is run: every round is found in the store or evaluated, by whichever engine.


def run_race(
    experiment: Experiment,
    spec: StudySpec,
    planned: PlannedRace,
    decision: Settings,
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
            progress.standing(text=words)

        try:
            with held_threads(task.threads):
                held = hold_race(planned, spec, decision, cells, watch)
        finally:
            progress.close()
    return held, kept.shown_url
