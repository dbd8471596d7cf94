"""A comparison that stops when it is settled: its plan, its rounds, and its study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints
from bestofk._base.errors import ArgumentError, Part, use
from bestofk._base.formatting import joined
from bestofk.decide.cautions import caution_of
from bestofk.decide.choose_test import row_widening
from bestofk.decide.evidence import Family
from bestofk.decide.pairs import Foreseen, foresee
from bestofk.decide.preference import NO_PREFERENCE, Preference, arrange, preference_ranks
from bestofk.decide.registry import decides_by
from bestofk.decide.settings import Settings, name_of_test, with_measured_costs
from bestofk.decide.statements.stopped import progress_line
from bestofk.decide.stopping.bounds import (
    MAX_UNITS,
    PlannedNested,
    PlannedT,
    PlannedTest,
    PlannedUnits,
)
from bestofk.decide.stopping.races import (
    IntervalVerdict,
    Look,
    interval_verdict,
    order_so_far,
    race,
)
from bestofk.decide.stopping.result import Race, RacedLearner, StoppedDecision, evidence_so_far
from bestofk.decide.stopping.rule import StopRule
from bestofk.losses.losses import Metric, Scores
from bestofk.run.cells import Cell, CellTable
from bestofk.run.live import Live
from bestofk.run.progress import Progress
from bestofk.run.record import StudyRecord
from bestofk.run.study import Study, as_scores, cost_table, facts_of, losses_of
from bestofk.run.task import Times
from bestofk.splits.design import Design
from bestofk.splits.plans import plan_words
from bestofk.stats.pairwise.calibration import Calibration
from bestofk.stats.pairwise.differences import resolution_of
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

PLAN = "10x10"
"""The plan to use if a race cannot use another."""
_BY_RUNS = ("plain", "corrected", "nested")
"""Tests of which the runs on one data set can be bounded."""
_BY_DATASETS = ("ranks", "signs")
"""Tests of which the data sets can be bounded."""
_SETTLED = use(stop="settled")
_SPLITS = ("resample", "bootstrap")
"""Designs without runs: every split is a unit of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRace:
    """A rule, and the test of the plan that it curtails.

    - `test`: The planned test of runs or data sets. The step of the losses is known only after the
      first run.
    - `design`: The design of all splits.
    - `foreseen`: The test and the family of the plan.
    """

    rule: StopRule
    test: PlannedTest
    design: Design
    foreseen: Foreseen

    @property
    def unit(self) -> str:
        """The unit of the race."""
        return "data set" if isinstance(self.test, PlannedUnits) else "run"

    def cells(self, unit: int, fold: int) -> tuple[tuple[int, int, int], ...]:
        """Data set, run and fold of all that makes up one loss of a unit."""
        design = self.design
        if isinstance(self.test, PlannedUnits):
            return tuple((unit, *split) for split in np.ndindex(design.runs, design.folds))
        if design.kind in _SPLITS:
            return ((0, *divmod(unit, design.folds)),)
        if fold >= design.folds:
            # pairs of folds that are left out together in every run
            pair, of_pair = divmod(fold - design.folds, 2)
            pairs = design.nested_runs // design.runs
            return ((0, design.runs + unit * pairs + pair, of_pair),)
        return ((0, unit, fold),)


def planned_race(
    names: Sequence[str],
    design: Design,
    settings: Settings,
    rule: StopRule,
    *,
    datasets: int = 1,
    span: float | None = None,
) -> PlannedRace:
    """Return the race of these learners, or refuse it.

    Several data sets are run completely, one after the other.
    """
    if decides_by(settings.rule) not in ("best", "steps"):
        raise ArgumentError(
            _SETTLED, f" does not work with {settings.rule!r}, which needs the whole plan: ",
            "leave stop out.",
        )  # fmt: skip
    for name in ("margin", "rope"):
        if getattr(settings, name) is not None:
            raise ArgumentError(f"{name} needs all runs of the plan: leave it out, or stop.")
    if datasets > 1:
        return _over_datasets(names, design, settings, rule, datasets, span)
    by_split = design.kind in _SPLITS
    runs, folds = (design.runs * design.folds, 1) if by_split else (design.runs, design.folds)
    if runs < 2:
        raise _refused("stops between runs, and the plan has only one", settings)
    foreseen = foresee(settings, names, design.with_(repetitions=1))
    choice = foreseen.choice
    entry = None if choice is None else choice.entry
    calibrated = isinstance(settings.test_options.get("df"), Calibration)
    if choice is None or entry is None or entry.curtailed not in _BY_RUNS or calibrated:
        test_name = name_of_test(settings) if choice is None else choice.name
        raise _refused(
            f"does not know what the rest of a plan can change for the test {test_name!r}", settings
        )
    if design.nested_runs and entry.curtailed != "nested":
        raise _refused("is for plans without runs on parts of the rows", settings)
    arguments = choice.arguments
    df = arguments.get("df")
    test: PlannedT
    if entry.curtailed == "nested":
        models = runs * folds * (folds + 1) // 2
        degrees = min(models, arguments.get("rows", models)) - 1 if df is None else df
        test = PlannedNested(runs=runs, folds=folds**2, df=float(degrees), span=span, step=None)
        return PlannedRace(rule=rule, test=test, design=design, foreseen=foreseen)
    share = None
    if entry.curtailed == "corrected":
        share = arguments.get("test_share")
        share = arguments["n_test"] / arguments["n_train"] if share is None else share
    test = PlannedT(
        runs=runs,
        folds=folds,
        df=float(runs * folds - 1 if df is None else df),
        test_share=share,
        span=span,
        step=None,
        units=arguments.get("units") if df is None else None,
    )
    return PlannedRace(rule=rule, test=test, design=design, foreseen=foreseen)


def _over_datasets(
    names: Sequence[str],
    design: Design,
    settings: Settings,
    rule: StopRule,
    datasets: int,
    span: float | None,
) -> PlannedRace:
    """Return the race over data sets, which predicts nothing and takes no risk."""
    if datasets > MAX_UNITS:
        raise ArgumentError(
            _SETTLED, f" is for up to {MAX_UNITS} data sets; got {datasets}: leave stop out."
        )
    by_units = [entry.name for entry in PAIRWISE_TESTS.values() if entry.curtailed in _BY_DATASETS]
    covered = f" over data sets is for the tests {' and '.join(by_units)}"
    advice: tuple[Part, ...] = (": give ", use(test="wilcoxon"), ", or leave stop out.")
    if callable(settings.test) or design.nested_runs:
        raise ArgumentError(_SETTLED, covered, *advice)
    foreseen = foresee(settings, names, design, datasets=datasets)
    choice, family = foreseen.choice, foreseen.family
    assert choice is not None
    assert family is not None
    if choice.entry is None or choice.entry.curtailed not in _BY_DATASETS:
        raise ArgumentError(_SETTLED, f"{covered}, not for {choice.name}", *advice)
    # unanimous data sets that a claim needs after the correction
    needed = 1
    while needed < MAX_UNITS and family.smallest_adjusted(0.5 ** (needed - 1)) > family.alpha:
        needed += 1
    if datasets < needed:
        raise ArgumentError(
            _SETTLED,
            f"{covered}, which can show no difference between {len(names)} learners on "
            f"{datasets} data sets (at least {needed} are needed): leave stop out.",
        )
    kind: Any = choice.entry.curtailed
    test = PlannedUnits(kind=kind, runs=datasets, span=span)
    return PlannedRace(rule=replace(rule, risk=0.0), test=test, design=design, foreseen=foreseen)


def _refused(why: str, settings: Settings) -> ArgumentError:
    """Return the refusal, with the plan and test to use instead."""
    given = {"test": settings.test != "auto", "test_options": bool(settings.test_options)}
    named = [name for name, is_given in given.items() if is_given]
    without = f" and leave {joined(named)} out" if named else ""
    return ArgumentError(_SETTLED, f" {why}: give ", use(cv=PLAN), f"{without}, or leave stop out.")


# The rounds

FetchCells = Callable[[Sequence[Cell]], Iterable[Cell]]
"""Return some cells evaluated; fewer if the time is up."""


class _StoppedError(Exception):
    """The budget ended during a round, or a fit failed."""


@dataclass(slots=True, kw_only=True)
class RaceOutcome:
    """The outcome of a race.

    - `table`: All requested cells.
    - `whole`: The race needed all runs of the plan, or was impossible: decide from the whole plan.
    - `cut`: The time was up before it was settled.
    - `prefer`: Numbers of the learners in the order of preference; empty if there was no race.
    - `test`, `family`, `preference`, `ranks`: What was curtailed, and the preference.
    - `look`, `runs`, `losses`: The last look, and the runs and losses at that time.
    """

    planned: PlannedRace
    table: CellTable
    whole: bool = True
    cut: bool = False
    prefer: tuple[int, ...] = ()
    test: PlannedTest
    family: Family
    preference: Preference = NO_PREFERENCE
    ranks: Floats | None = None
    notes: tuple[str, ...] = ()
    look: Look | None = None
    runs: Ints | None = None
    losses: Floats | None = None

    def exact_verdict(self, look: Look) -> IntervalVerdict:
        """Return what is certain without any risk."""
        bounds, stated = look.exact_bounds, self.preference.stated
        return interval_verdict(bounds, self.test, self.family, stated=stated, ranks=self.ranks)


def race_cells(
    planned: PlannedRace,
    record: StudyRecord,
    settings: Settings,
    fetch: FetchCells,
    watch: Callable[[str], None] | None = None,
) -> RaceOutcome:
    """Request runs until the decision is settled; tell `watch` who is out, and the open pairs.

    The requests depend only on the losses (and, for a measured preference, on the time of the
    first run), not on where and when the cells were computed. A learner whose first run failed
    completely is left out. Any other failure leaves the decision to the whole plan, and there is
    no race to report.
    """
    family = planned.foreseen.family
    assert family is not None
    track = _Track(planned, record, fetch)
    outcome = RaceOutcome(planned=planned, table=track.table, test=planned.test, family=family)
    if not track.ask(dict.fromkeys(range(len(record.learners)), 1)):
        outcome.cut = True
        return outcome
    worked = {cell.learner for cell in track.table if cell.failure is None}
    remaining = sorted(worked)
    names = [record.names[number] for number in remaining]
    if len(remaining) < 2 or (settings.control is not None and settings.control not in names):
        return outcome

    def ask_for_all() -> RaceOutcome:
        outcome.cut = not track.ask(dict.fromkeys(remaining, planned.test.runs))
        return outcome

    if track.failed & worked:
        return ask_for_all()
    first = track.losses(remaining)[:, 0, : planned.test.outer]
    prefer = with_measured_costs(settings, names, cost_table(track.table)).prefer
    positions, outcome.preference, outcome.notes = arrange(names, prefer, first.mean(axis=1))
    outcome.ranks = preference_ranks(names, prefer)[0][positions]
    outcome.prefer = tuple(remaining[at] for at in positions)
    called = [names[at] for at in positions]
    control = None if settings.control is None else called.index(str(settings.control))
    outcome.family = replace(family, learners=len(called), control=control)
    outcome.test, floor = _with_step(planned, first, settings)

    def fill(runs: Ints) -> Floats:
        complete = track.ask(dict(zip(outcome.prefer, runs.tolist(), strict=True)))
        if not complete or track.failed & worked:
            raise _StoppedError
        return track.losses(outcome.prefer)

    def remember(look: Look, runs: Ints, losses: Floats) -> None:
        outcome.look, outcome.runs, outcome.losses = look, runs, losses
        if watch is not None:
            pairs = [(called[i], called[j]) for i, j in look.open_pairs]
            out = [name for name, on in zip(called, look.go_on, strict=True) if not on]
            watch(progress_line(len(called) - len(out), out, pairs))

    try:
        raced = race(
            fill, outcome.test, outcome.family, planned.rule, stated=outcome.preference.stated,
            ranks=outcome.ranks, floor=floor, watch=remember,
        )  # fmt: skip
    except _StoppedError:
        if track.failed & worked:
            outcome.prefer = ()
            return ask_for_all()
        outcome.whole, outcome.cut = False, True
        return outcome
    outcome.whole = not raced.settled or bool((raced.runs == planned.test.runs).all())
    if outcome.whole:
        ask_for_all()
        outcome.losses = track.losses(outcome.prefer)
        outcome.runs = np.full(len(called), planned.test.runs)
    return outcome


def _with_step(
    planned: PlannedRace, first: Floats, settings: Settings
) -> tuple[PlannedTest, float]:
    """Return the test with the resolution of the losses, and the smallest variance to assume.

    Error rates are multiples of one row of a fold. Other losses without a step in the first run
    (K, folds) have none at the end of the plan. A step in the first run may disappear.
    """
    test, sizes = planned.test, planned.design.n_test
    if not isinstance(test, PlannedT):
        return test, 0.0
    choice = planned.foreseen.choice
    assert choice is not None
    assert choice.entry is not None
    rows = None if sizes is None else float(np.mean(sizes))
    wrong = first * (0.5 if sizes is None else np.asarray(sizes[: test.outer], dtype=float))
    rates = rows is not None and np.allclose(wrong, np.round(wrong), rtol=0.0, atol=1e-6)
    step = 1.0 / rows if rates and rows is not None else None
    if not rates and np.unique(first).size > 1 and resolution_of(first.ravel()) == 0.0:
        step = 0.0
    widens = bool(choice.entry.widened) and "df" not in settings.test_options and not rates
    test = replace(test, step=step, widened=row_widening(planned.design) if widens else 1.0)
    return test, 0.0 if test.span is None or rows is None else (test.span / rows) ** 2


class _Track:
    """The cells that were requested so far, and their losses."""

    def __init__(self, planned: PlannedRace, record: StudyRecord, fetch: FetchCells) -> None:
        self.fetch, self.table = fetch, CellTable(record)
        runs, folds = range(planned.test.runs), range(planned.test.folds)
        splits = np.array([[planned.cells(unit, fold) for fold in folds] for unit in runs])
        learners, repetitions = len(record.learners), np.arange(record.repetitions)
        datasets, run, fold, repetition = np.broadcast_arrays(
            *np.moveaxis(splits, -1, 0)[..., None], repetitions
        )
        learner = np.arange(learners).reshape(-1, 1, 1, 1, 1)
        self.at, _ = record.positions(datasets, run, fold, repetition, learner)
        """Positions of the cells: learner, unit, fold, split of the fold, repetition."""
        self.done = [0] * learners
        """Number of runs of every learner."""

    @property
    def failed(self) -> set[int]:
        """The learners with a fit that failed."""
        return {cell.learner for cell, _ in self.table.failures}

    def ask(self, runs: Mapping[int, int]) -> bool:
        """Request this many runs of every learner; return False if the time is up."""
        cells: list[Cell] = []
        for unit in range(max(runs.values())):
            due = [one for one in sorted(runs) if self.done[one] <= unit < runs[one]]
            at = np.moveaxis(self.at[due, unit], 0, -1)
            cells += map(self.table.record.cell_at, at.ravel().tolist())
        for cell in self.fetch(cells) if cells else ():
            self.table[cell] = cell
        if any(cell not in self.table for cell in cells):
            return False
        for learner, wanted in runs.items():
            self.done[learner] = max(self.done[learner], wanted)
        return True

    def losses(self, learners: Sequence[int]) -> Floats:
        """Return (K, runs, folds) means over splits and repetitions; NaN if not run or failed."""
        cells: Floats = self.table.column("loss").ravel()[self.at[list(learners)]]
        means: Floats = cells.mean(axis=-1).mean(axis=-1)
        return means


def run_race(
    planned: PlannedRace,
    live: Live,
    settings: Settings,
    table: CellTable,
    evaluate: Callable[..., None],
    progress: Progress,
) -> RaceOutcome:
    """Return the outcome of a race; ``evaluate(cells, ...)`` adds missing cells to the `table`."""
    record = live.record
    times = Times(Counter(map(live.timed_as, record.cells())))
    with progress as shown:
        shown.start(total=record.n_cells, done=0)

        def fetch(cells: Sequence[Cell]) -> Iterable[Cell]:
            missing = [cell for cell in cells if cell not in table]
            shown.stored(count=len(cells) - len(missing))
            evaluate(missing, progress=shown, times=times)
            return filter(None, map(table.get, cells))

        return race_cells(planned, record, settings, fetch, lambda text: shown.standing(text=text))


# The study


def conclude_race(
    outcome: RaceOutcome,
    settings: Settings,
    whole_plan: Callable[[], Study],
    *,
    notes: tuple[str, ...] = (),
    store: str = "memory",
) -> Study:
    """Return the study of a race; call `whole_plan` if the race needed all runs."""
    if outcome.whole:
        study = whole_plan()
        if outcome.cut or not outcome.prefer or study.decision is None:
            return study
        return replace(study, race=_race(outcome, study.losses.metric))
    losses = _losses(outcome)
    race = _race(outcome, losses.metric)
    return Study(
        decision=_decision(outcome, race, settings),
        losses=losses,
        settings=settings,
        race=race,
        **facts_of(outcome.table, notes, store),
    )


def _race(outcome: RaceOutcome, metric: Metric) -> Race:
    record = outcome.table.record
    assert outcome.losses is not None
    assert outcome.runs is not None
    rule, test, look = outcome.planned.rule, outcome.test, outcome.look
    names = [record.names[number] for number in outcome.prefer]
    # the decision of the whole plan is settled, however close it is
    settled = exact = outcome.whole
    why = [""] * len(names)
    if look is not None and not outcome.whole:
        certain = outcome.exact_verdict(look)
        settled = look.settled
        exact = settled and certain.still_open(outcome.family, rule.target)[2]
        verdict = certain if exact else look.verdict
        whole_order = settled and rule.target == "order"
        for index in np.flatnonzero(~look.go_on & (outcome.runs < test.runs)).tolist():
            why[index] = "the order is settled" if whole_order else _why(verdict, names, index)
    return Race(
        learners=tuple(
            RacedLearner(
                learner=name,
                course=tuple(float(losses[: run + 1, : test.outer].mean()) for run in range(runs)),
                why=reason,
                unit=outcome.planned.unit,
            )
            for name, losses, runs, reason in zip(
                names, outcome.losses, outcome.runs.tolist(), why, strict=True
            )
        ),
        settled=settled,
        exact=exact,
        target=rule.target,
        risk=rule.risk,
        planned_runs=test.runs,
        fits=len(outcome.table),
        planned_fits=record.n_cells,
        open_pairs=()
        if settled or look is None
        else tuple((names[i], names[j]) for i, j in look.open_pairs),
        metric=metric,
        unit=outcome.planned.unit,
    )


def _why(verdict: IntervalVerdict, names: list[str], index: int) -> str:
    """Return why a learner needs no more runs; empty if it may need them later."""
    best = verdict.only_candidate()
    if best == index:
        return "it is recommended"
    better = verdict.sure[index].copy()
    if not verdict.any_winner:
        better &= verdict.stated & (np.arange(len(names)) > index)
    ahead = verdict.alike()[:, index] & (verdict.mean_high[:, index] < 0)
    for others, words in ((better, "is better"), (ahead, "has the better mean")):
        if others.any():
            by = best if best is not None and others[best] else int(np.argmax(others))
            return f"{names[by]} {words}"
    return "" if best is None else f"{names[best]} is preferred and may be the best"


def _decision(outcome: RaceOutcome, race: Race, settings: Settings) -> StoppedDecision:
    assert outcome.losses is not None
    assert outcome.look is not None
    test, family = outcome.test, outcome.family
    losses = outcome.losses
    verdict = outcome.exact_verdict(outcome.look) if race.exact else outcome.look.verdict
    ranking = order_so_far(losses, verdict, test, family)
    order = np.arange(len(losses))
    if not outcome.preference.stated:
        # the recommended learner goes first
        order = np.concatenate([ranking[:1], order[order != ranking[0]]])
        if family.control is not None:
            family = replace(family, control=int(np.flatnonzero(order == family.control)[0]))
    raced = [one.learner for one in race.learners]
    names = tuple(raced[at] for at in order.tolist())
    evidence = evidence_so_far(
        losses[order], names, test, family, verdict.reordered(order), race.metric
    )
    foreseen = outcome.planned.foreseen
    choice, problem = foreseen.choice, foreseen.problem
    assert choice is not None
    return StoppedDecision(
        rule=settings.rule,
        recommended=raced[int(ranking[0])],
        ranking=tuple(raced[at] for at in ranking.tolist()),
        by_preference=names,
        mean_losses={
            name: race.learners[at].course[-1] for name, at in zip(names, order, strict=True)
        },
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=family.alpha,
        correction=family.correction,
        design=problem.describe(),
        preference=outcome.preference,
        caution=caution_of(problem, choice),
        notes=outcome.notes,
        settings=settings,
        race=race,
    )


def _losses(outcome: RaceOutcome) -> Scores:
    """Return the losses of the race, with gaps after a learner was stopped."""
    table, learners = outcome.table, sorted(outcome.prefer)
    design = outcome.planned.design.with_(nested_runs=0)
    values = losses_of(table, learners, (0, design.runs), design.folds)
    account = f"Measured by bestofk with {plan_words(table.record.plan)}, as far as it was needed."
    return as_scores(table, values, learners, design, account=(account,), missing="allow")
