"""The main job: compare learners on data and decide which one to use."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bestofk._base.checks import positive, whole
from bestofk._base.errors import ArgumentError, RunError
from bestofk._base.formatting import duration, shortened
from bestofk.data.dataset import DataSet
from bestofk.decide.preference import MeasuredCosts, PanelOrder, PreferenceLike
from bestofk.decide.settings import Settings
from bestofk.decide.stopping.rule import StopRule, as_stop_rule
from bestofk.learners.preparation import refuse_preparation
from bestofk.run.cells import CellResult
from bestofk.run.comparison_task import ComparisonTask
from bestofk.run.conclude import ByOtherLoss, conclude
from bestofk.run.execution import Execution
from bestofk.run.experiment import AllCells, CellIndex, Experiment, NamedLearner
from bestofk.run.inputs import (
    advice_for_unstable,
    as_datasets,
    check_settings,
    check_task,
    default_plan,
    named_estimators,
    splits_for,
)
from bestofk.run.judge import weight_notes
from bestofk.run.metrics import as_losses, check_losses
from bestofk.run.progress import Progress, observer
from bestofk.run.replicate import check_replicable, replicated, reseeded
from bestofk.run.results import has_instances, instance_losses, preparation_of
from bestofk.run.run_task import run_task
from bestofk.run.store.stored_study import StoredDecision, StudySpec, now, study_of
from bestofk.run.store.url import parse_address
from bestofk.run.study import Study
from bestofk.splits.plans import Plan, plan as make_plan

if TYPE_CHECKING:
    from bestofk.run.race.plan import PlannedRace
    from bestofk.run.race.run import HeldRace

ValueT = TypeVar("ValueT", Settings, Execution)


def compare(
    learners: Any = None,
    data: Any = None,
    target: Any = None,
    *,
    cv: Any = None,
    scoring: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    prefer: PreferenceLike = None,
    margin: float | None = None,
    alpha: float = 0.05,
    test: str | Callable[..., Any] = "auto",
    stop: str | StopRule | None = None,
    budget: float | None = None,
    timeout: float | None = None,
    store: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    random_state: int = 0,
    progress: bool | str | Progress = True,
    settings: Settings | None = None,
    execution: Execution | None = None,
) -> Study:
    """Compare learners on data: which one to use, how the others rank, and why.

    Parameters
    ----------
    learners : list or mapping, optional
        Built-in names, specifications such as
        ``"sklearn.ensemble:RandomForestClassifier(n_estimators=200)"``, scikit-learn estimators,
        or a mapping of name to either. By default the panel of the papers: max, nmc, logistic,
        c4.5, nn, naive-bayes, which has a preference of its own: the simpler one first.
    data, target
        One of: features and target (``compare(learners, X, y)``); a data frame and the name of
        its target column; a file (and the name of its target column); a `DataSet`; the name of an
        embedded data set; a list of files, names or data sets.
    cv : int, str, splitter, pairs of rows or Plan, optional
        A number of folds; ``"10x5+nested"``, ``"10x10"``, ``"5x2"``, ``"kfold:10"``,
        ``"holdout:0.33"``, ``"resample:30:0.1"``, ``"loo"``, ``"bootstrap:200"``,
        ``"group-kfold:5"``, ``"group-10x10"``, ``"time:10"``, ``"predefined:COLUMN"``; a splitter
        of scikit-learn; or any iterable of (train, test). Folds are stratified for labels. By
        default ``"10x5+nested"`` on one data set (ten runs of five folds, and pairs of folds left
        out together) and ``"10x10"`` on several; see `bestofk.run.inputs.default_plan`.
    scoring : str, callable, cost matrix, or list of them, optional
        The metric: a name listed by ``bestofk losses``, a scorer name of scikit-learn
        (``"accuracy"``, ``"roc_auc"``, ``"f1:yes"``, ``"r2"``), a scorer made by `make_scorer`, a
        callable ``loss(y_true, y_pred)`` or ``scorer(estimator, X, y)``, or costs (rows are the
        truth). The first of several decides; all are reported from the same fits. By default
        ``"zero-one"`` for labels and ``"squared"`` for numbers.
    groups : name of a column, or array of shape (n,), optional
        Rows of one group (a patient, a day) stay on one side of every split, and tests count
        groups, not rows. A named column is excluded from the features.
    sample_weight : name of a column, or array of shape (n,), optional
        Weight of each row, in the fits of learners that accept weights and in the metric.
    prefer : sequence, mapping or str, optional
        Your preference: learners, most preferred first; prices by name; ``"listed"``; or a
        measured cost: ``"fit_time"``, ``"predict_time"``, ``"size"`` or, for learners that count
        their parameters, ``"complexity"``. Measured costs count as different from a factor of two
        on. None: no preference, and the learner with the best mean is recommended.
    margin, alpha, test
        As for `order`.
    stop : {None, "settled"} or StopRule, optional
        Stop learners, and the comparison, as soon as the remaining runs would not change the
        decision; `Study.race` says how far every learner ran. ``"settled"`` is short for
        ``StopRule()``. The plan is ``"10x10"`` unless `cv` names another. Several data sets are
        run one after the other, with the signed rank test or the sign test.
    budget : float, optional
        Seconds. Folds are evaluated in rounds over all learners until the time is up; running
        fits are then stopped.
    timeout : float, optional
        Seconds after which a fit is stopped and recorded as failed.
    store : str or path, optional
        File or SQLAlchemy URL that keeps the fits, so that an interrupted run resumes. None:
        memory.
    n_jobs : int
        Number of workers; -1 for one per core.
    random_state : int
        Fixes the splits and the seeds of all learners.
    progress : bool, "log" or Progress
        A live bar on a terminal or in a notebook and a line every half minute elsewhere;
        ``"log"``: lines every ten seconds.
    settings : Settings, optional
        Rare options of the decision: procedure, correction, family, control, df, rope, guard.
    execution : Execution, optional
        Rare options of the run: engine, threads, repetitions, replicate, prepare, task, ...

    Returns
    -------
    Study

    Examples
    --------
    >>> import bestofk as bk
    >>> study = bk.compare(["max", "nmc", "nn"], "iris", cv="5x2", progress=False,
    ...                    prefer="listed")
    >>> study.recommended
    'nmc'
    """
    deadline = deadline_of(budget if execution is None else budget or execution.budget)
    random_state = whole(random_state, "random_state", at_least=0)
    settings = _combined(
        settings or Settings(), "settings", prefer=prefer, margin=margin, alpha=alpha, test=test,
        random_state=random_state,
    )  # fmt: skip
    execution = _combined(
        execution or Execution(), "execution", budget=budget, timeout=timeout, store=store,
        n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    random_state = settings.random_state  # type: ignore[assignment]
    if isinstance(cv, int) and not isinstance(cv, bool):
        cv = f"kfold:{cv}"
    plan = None if cv is None else make_plan(cv, random_state=random_state)
    columns = {"groups": groups, "sample_weight": sample_weight,
               "folds": None if plan is None else plan.column or None}  # fmt: skip
    datasets = as_datasets(data, target, task=execution.task, columns=columns)
    rule = as_stop_rule(stop, datasets=len(datasets))
    estimators = named_estimators(learners, task=datasets[0].task)
    check_task(estimators, datasets)
    names = tuple(learner.name for learner in estimators)
    if settings.prefer is None and learners is None:
        settings = replace(settings, prefer=PanelOrder(names=names))
    settings.check_learners(names)
    if execution.prepare == "none":
        refuse_preparation({one.name: one.estimator for one in estimators}, datasets)
    if plan is None:
        plan = _default_plan(datasets, settings, execution, stops=rule is not None)
    if execution.replicate:
        check_replicable(plan)
    planned_runs = plan.runs
    if rule is not None:
        from bestofk.run.race.plan import long_enough

        plan = long_enough(plan, rule)
    experiment = _experiment(estimators, datasets, plan, scoring, execution, random_state)
    check_settings(experiment, settings)

    def planned(experiment: Experiment, settings: Settings) -> PlannedRace | None:
        if rule is None:
            return None
        from bestofk.run.race.plan import planned_race

        design = experiment.splits[0].design
        return planned_race(
            names, design, settings, rule, runs=min(planned_runs, design.runs),
            datasets=len(datasets), span=experiment.loss.span,
        )  # fmt: skip

    # refuse what cannot be stopped before the first fit
    race = planned(experiment, settings)
    if settings.prefer == "complexity":
        costs = MeasuredCosts(what="complexity", costs=complexities(estimators, datasets))
        settings = replace(settings, prefer=costs)
    study, spec = run_comparison(experiment, plan, settings, execution, deadline, race=race)
    if not execution.replicate:
        return study

    def again(seed: int) -> Study | None:
        other_plan = reseeded(plan, seed)
        repeated = _experiment(
            estimators, datasets, other_plan, experiment.loss,
            replace(execution, keep_predictions=False, budget=None), seed,
        )  # fmt: skip
        other_settings = replace(settings, random_state=seed)
        try:
            other, _ = run_comparison(
                repeated, other_plan, other_settings, execution, deadline, replicates=spec.digest,
                race=planned(repeated, other_settings),
            )  # fmt: skip
        except RunError:
            if deadline is None or time.monotonic() < deadline:
                raise
            return None
        # a replication cut short by the budget does not count
        cut = other.race is not None and other.race.ended == "unfinished"
        cut = cut or other.spec is None or other.spec.decisions[-1].fits is not None
        return None if cut else other

    study = replicated(study, again, execution.replicate)
    if study.replication is not None:
        record(spec, execution, replication=study.replication.to_dict())
    return study


def _combined(value: ValueT, name: str, **keywords: Any) -> ValueT:
    """Return the value with the keywords that differ from their defaults."""
    defaults = {one.name: one.default for one in fields(value)}
    changes = {}
    for keyword, given in keywords.items():
        default, current = defaults[keyword], getattr(value, keyword)
        if _same(given, default) or _same(given, current):
            continue
        if not _same(current, default):
            raise ArgumentError(
                f"{keyword} is {given!r:.60} and {name} holds {keyword}={current!r:.60}: give it "
                "once."
            )
        changes[keyword] = given
    return replace(value, **changes) if changes else value


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and one == other)


def _default_plan(
    datasets: tuple[DataSet, ...], settings: Settings, execution: Execution, *, stops: bool
) -> Plan:
    """Return the plan for a comparison that names none."""
    counts = [one.groups.nunique() for one in datasets if one.groups is not None]
    spec = default_plan(
        rows=min(one.n for one in datasets),
        datasets=len(datasets),
        procedure=settings.procedure,
        test=settings.test,
        budget=execution.budget,
        groups=min(counts) if len(counts) == len(datasets) else None,
        stops=stops,
    )
    return make_plan(spec, random_state=settings.random_state)


def _experiment(
    learners: tuple[NamedLearner, ...],
    datasets: tuple[DataSet, ...],
    plan: Plan,
    scoring: Any,
    execution: Execution,
    random_state: int,
) -> Experiment:
    """Return what is to be run."""
    classes = datasets[0].classes if datasets[0].task == "classification" else None
    if scoring is None:
        scoring = "squared" if classes is None else "zero-one"
    splits = splits_for(plan, datasets)
    loss, *others = as_losses(scoring, classes=classes)
    for one in datasets:
        check_losses((loss, *others), one, classes)
    return Experiment(
        learners=learners,
        datasets=datasets,
        splits=splits,
        loss=loss,
        also=tuple(others),
        repetitions=execution.repetitions,
        random_state=random_state,
        # a single split is tested by its instances
        keep_predictions=execution.keep_predictions or splits[0].runs * splits[0].folds == 1,
        threads=execution.threads,
        # and so is a run that a budget ends after its first split
        keep_first=execution.budget is not None,
    )


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
    if execution.store is not None and where != parse_address(execution.store).shown:
        execution = replace(execution, store=where)  # the file was deleted, and is kept elsewhere
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
    experiment: Experiment, results: Mapping[CellIndex, CellResult]
) -> dict[str, ByOtherLoss]:
    """What the same models came to by the other losses; where rows can be tested, by rows."""
    found = {}
    for number, other in enumerate(experiment.others):
        own = {cell: result.also[number] for cell, result in results.items() if result.also}
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
    named = {one.name: one.estimator for one in experiment.learners}
    alike = plan if plan.source is None else f"{design.runs}x{design.folds}"
    return advice_for_unstable(named, experiment.datasets[0].n, alike) or ""


def _run(
    experiment: Experiment,
    spec: StudySpec,
    execution: Execution,
    deadline: float | None,
    decision: Settings,
    race: PlannedRace | None,
) -> tuple[HeldRace | None, Mapping[CellIndex, CellResult], tuple[str, ...], str, str]:
    """All cells, from the store where it has them, else evaluated and stored; and the store.

    Of a race those that are needed. With them what the reader must know, and what a budget that
    ended too early should have been.
    """
    from bestofk.run.store.store import open_store

    task = ComparisonTask(experiment)
    store, budget = execution.store, execution.budget
    cells = AllCells(experiment)
    cut: dict[CellIndex, float] = {}
    stop = _first_failure if execution.on_failure == "stop" else None
    notes: tuple[str, ...] = () if store is None else tuple(map(_unknown_words, experiment.unknown))
    results: Mapping[CellIndex, CellResult]
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
                cells,
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
    unfinished = len(results) < len(cells) if held is None else held.broken and held.whole
    if budget is not None and unfinished:
        notes += (budget_words(budget, len(results), len(cells)),)
        too_little = more_time(experiment, results, cut, budget)
    return held, results, notes, too_little, where


def deadline_of(budget: float | None) -> float | None:
    """When the time is up: it runs from now."""
    return None if budget is None else time.monotonic() + positive(budget, "budget")


def _first_failure(task: ComparisonTask, cell: CellIndex, result: CellResult) -> RunError | None:
    """What a failure stops the comparison with, where it should."""
    if result.failure is None:
        return None
    learner, dataset = task.names(cell)
    return RunError(
        f"{learner} failed on {dataset!r} (run {cell.run + 1}, fold {cell.fold + 1}): "
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
    named = {one.name: one.estimator for one in experiment.learners}
    return tuple(weight_notes(named, experiment.loss))


FEW_TARGETS = 3
"""So many guesses of targets are told one by one."""


def _taken(experiment: Experiment) -> tuple[str, ...]:
    """What targets were guessed to be."""
    several = len(experiment.datasets) > 1
    said = [
        f"{one.name}: {one.taken}" if several else one.taken
        for one in experiment.datasets
        if one.taken
    ]
    more = len(said) - FEW_TARGETS
    if more > 1:
        return (*said[:FEW_TARGETS], f"The same was done for {more} more data sets.")
    return tuple(said)


def complexities(learners: Sequence[NamedLearner], datasets: Sequence[DataSet]) -> dict[str, float]:
    """Mean number of parameters by learner, over the data sets.

    Only learners that can count their parameters (``complexity()``) have one.
    """
    from sklearn.base import clone

    counted = {}
    for learner in learners:
        if not hasattr(learner.estimator, "complexity"):
            raise ArgumentError(
                f"prefer 'complexity' needs learners that count their parameters; "
                f"{learner.name!r} does not: use 'size', or name the learners."
            )
        counted[learner.name] = float(
            np.mean(
                [
                    clone(learner.estimator).fit_encoded(one.encoded()).complexity()
                    for one in datasets
                ]
            )
        )
    return counted


MARGIN = 1.5
"""A fit may take so many times as long as those that were timed."""
NOTICED = 0.1
"""Seconds from which it is said that a fit was being made."""


def more_time(
    experiment: Experiment,
    results: Mapping[CellIndex, CellResult],
    cut: Mapping[CellIndex, float],
    budget: float,
) -> str:
    """That the budget was too short for one fold of all learners, and what would be enough.

    By what was measured: the same run would come as far again, and then need the time of the fits
    that are missing.

    Parameters
    ----------
    experiment : Experiment
        What was run.
    results : mapping
        What is done.
    cut : mapping
        The cells that were being fitted when the time was up, and the seconds that they had taken.
    budget : float
        Seconds.
    """
    spent: dict[int, list[float]] = {}
    for cell, result in results.items():
        seconds = (result.fit_time or 0.0) + (result.predict_time or 0.0)
        spent.setdefault(cell.learner, []).append(seconds)
    so_far: dict[int, float] = {}
    for cell, seconds in cut.items():
        so_far[cell.learner] = max(seconds, so_far.get(cell.learner, 0.0))
    need, unknown = budget, set[int]()
    for cell in experiment.cells():
        if cell.run or cell.fold or cell in results:
            continue
        if cell.learner in spent:
            need += MARGIN * max(spent[cell.learner])
        else:
            unknown.add(cell.learner)
            need += MARGIN * max(so_far.get(cell.learner, 0.0), budget / 2)
    enough = math.ceil(need) + 1
    ended = f"The budget of {budget:g} s ended before all learners had finished one fold"
    if not unknown:
        return f"{ended}: {enough} s should be enough (--budget {enough})."
    at_work = {one for one in unknown if so_far.get(one, 0.0) >= NOTICED}
    names = shortened([experiment.learners[one].name for one in sorted(at_work or unknown)], 3)
    after = f" after {duration(max(so_far[one] for one in at_work))}" if at_work else ""
    return (
        f"{ended}: {names} had not finished a fit{after}. Try {enough} s (--budget {enough}), or "
        "leave the budget out to let every fit finish."
    )
