"""Compare learners on data and decide which one to use."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bestofk._base.checks import names_arguments, whole
from bestofk._base.errors import ArgumentError, RunError
from bestofk._base.formatting import counted
from bestofk.data.dataset import DataSet
from bestofk.decide.preference import MeasuredCosts, PreferenceLike, preference_to_json
from bestofk.decide.result import Result
from bestofk.decide.settings import Settings, check_learners
from bestofk.learners.preparation import ready_learner
from bestofk.run.cells import Cell, Failure
from bestofk.run.data_cautions import data_cautions
from bestofk.run.engine import Engine, Execution
from bestofk.run.inputs import (
    as_datasets,
    check_loss,
    check_settings,
    check_task,
    checked_rows,
    default_plan,
    named_estimators,
    refuse_unscorable,
    splits_for,
    unstratified,
    weight_notes,
    with_baseline,
    with_task_of_learners,
)
from bestofk.run.live import Live
from bestofk.run.metrics import as_losses
from bestofk.run.progress import Progress, observer
from bestofk.run.record import StoredDecision, now
from bestofk.run.runner import opened, run
from bestofk.run.study import Study, conclude
from bestofk.splits.plans import Plan, plan as make_plan

if TYPE_CHECKING:
    from bestofk.decide.stopping.rule import StopRule
    from bestofk.run.race import PlannedRace

ValueT = TypeVar("ValueT", Settings, Execution)


@names_arguments(settings=Settings, execution=Execution)
def compare(
    learners: Any = None,
    data: Any = None,
    target: Any = None,
    *,
    cv: Any = None,
    scoring: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    by: Any = None,
    per_dataset: bool = False,
    columns: Mapping[str, str] | None = None,
    task: str = "auto",
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
) -> Result:
    """Compare learners on data: which one to use, how the others rank, and why.

    Parameters
    ----------
    learners : list, mapping, estimator or str, optional
        Built-in names, scikit-learn classes by name (``"RandomForestClassifier"``), specifications
        such as ``"sklearn.ensemble:RandomForestClassifier(n_estimators=200)"``, estimators, pairs
        of name and either, or a mapping of name to either. A text can hold several with commas
        between them. A pipeline is named after its last step. A single
        learner is compared with a baseline. By default the built-in panel.
    data, target
        One of: features and target (``compare(learners, X, y)``); a data frame (pandas, polars,
        Arrow) and the name of its target column; a file (and the name of its target column); a
        `DataSet`; the name of an embedded data set; a list of files, names or data sets. See
        `bestofk.read_data`. Copies of a row stay in one fold; the study reports them.
    cv : int, str, splitter, pairs of rows or Plan, optional
        A number of folds; ``"10x5+nested"``, ``"10x10"``, ``"5x2"``, ``"kfold:10"``,
        ``"holdout:0.33"``, ``"resample:30:0.1"``, ``"loo"``, ``"bootstrap:200"``,
        ``"group-kfold:5"``, ``"group-10x10"``, ``"time:10"``, ``"predefined:COLUMN"``; a splitter
        of scikit-learn; or any iterable of (train, test). Folds are stratified for labels. By
        default ``"10x5+nested"`` on one data set (ten runs of five folds, and pairs of folds left
        out together; five runs above 2,000 rows and three above 20,000) and ``"10x10"`` on several;
        see `bestofk.run.inputs.default_plan`.
    scoring : str, scorer, metric, cost matrix, or list of them, optional
        A name listed by ``bestofk list metrics``, a scorer name of scikit-learn (``"accuracy"``,
        ``"roc_auc"``, ``"f1:yes"``, ``"r2"``), a scorer made by `make_scorer` or
        ``scorer(estimator, X, y)``, a function with a direction
        (``bk.metric(f, higher_is_better=True)``), or costs (rows are the truth). The first of
        several decides; all are reported from the same fits. By default ``"zero-one"`` for labels
        and ``"squared"`` for numbers.
    groups : name of a column, or array of shape (n,), optional
        Rows of one group (a patient, a day) stay on one side of every split, and tests count
        groups, not rows. A named column is excluded from the features.
    sample_weight : name of a column, or array of shape (n,), optional
        Weight of each row, in the fits of learners that accept weights and in the metric.
    by : name of a column, or array of shape (n,), optional
        Also decide in every slice, the test rows with the same value; see `Result.by_slice`. A
        named column stays a feature.
    per_dataset : bool
        Decide on each of several data sets by itself, each at the level `alpha`, and say how often
        each learner is recommended; see `Result.by_dataset`.
    columns : mapping of column to {"category", "number", "ignore"}, optional
        What columns are, if their cells do not show it; see `bestofk.read_data`.
    task : {"auto", "classification", "regression"}
        Whether the target is a label or a number. ``"auto"``: text, booleans and categories are
        labels, numbers with fractions are numbers. Whole numbers are labels if there are two of
        them, or at most 20 with five rows or more each; the verdict says so.
    prefer : sequence, mapping or str, optional
        Your preference: learners, most preferred first; prices by name; ``"listed"``; or a
        measured cost: ``"fit_time"``, ``"predict_time"``, ``"size"`` or, for learners that count
        their parameters, ``"complexity"``. Measured costs count as different from a factor of two
        on. None: no preference, and the learner with the best mean is recommended.
    margin, alpha, test
        As for `compare_scores`.
    stop : {None, "settled"} or StopRule, optional
        Stop learners, and the comparison, as soon as the remaining runs would not change the
        decision; `Result.table` says how many runs every learner has. ``"settled"`` is short for
        ``StopRule()``. The plan is the same as without `stop`. Several
        data sets are run one after the other, with ``test="wilcoxon"`` or ``test="sign"``.
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
        Fixes the splits and the seeds of all learners whose ``random_state`` is not set.
    progress : bool, "log" or Progress
        A live bar on a terminal or in a notebook and a line every half minute elsewhere;
        ``"log"``: lines every ten seconds.
    settings : Settings, optional
        Rare options of the decision: rule, correction, family, control, test_options, rope.
    execution : Execution, optional
        Rare options of the run: engine, threads, repetitions, ...

    Returns
    -------
    Result

    Examples
    --------
    >>> import bestofk as bk
    >>> study = bk.compare(["max", "nmc", "nn"], "iris", cv="5x2", progress=False,
    ...                    prefer="listed")
    >>> study.recommended
    'nmc'
    """
    begin = time.monotonic()
    settings = _combined(
        settings or Settings(), "settings", prefer=prefer, margin=margin, alpha=alpha, test=test,
        random_state=whole(random_state, "random_state", at_least=0),
    )  # fmt: skip
    execution = _combined(
        execution or Execution(), "execution", budget=budget, timeout=timeout, store=store,
        n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    deadline = None if execution.budget is None else begin + execution.budget
    seed: int = settings.random_state  # type: ignore[assignment]
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        cv = str(cv)
    plan = None if cv is None else make_plan(cv, random_state=seed)
    datasets = as_datasets(
        data, target, task=task, columns=columns, groups=groups,
        sample_weight=sample_weight, by=by, folds=None if plan is None else plan.column or None,
    )  # fmt: skip
    named = named_estimators(learners, task=datasets[0].task)
    datasets = with_task_of_learners(datasets, named)
    datasets = tuple(
        checked_rows(one, plan, split=execution.duplicates == "split") for one in datasets
    )
    rule = None
    if stop is not None:
        if per_dataset:
            raise ArgumentError("stop does not apply to per_dataset: leave one of the two out.")
        from bestofk.decide.stopping.rule import as_stop_rule

        rule = as_stop_rule(stop, datasets=len(datasets))
    named, notes = with_baseline(named, datasets[0])
    check_task(named, datasets)
    check_learners(settings, tuple(named))
    if plan is None:
        counts = [data.groups.nunique() for data in datasets if data.groups is not None]
        spec = default_plan(
            rows=min(data.n for data in datasets),
            datasets=1 if per_dataset else len(datasets),
            rule=settings.rule,
            test=settings.test,
            budget=execution.budget,
            groups=min(counts) if len(counts) == len(datasets) else None,
            stops=rule is not None,
        )
        plan = make_plan(spec, random_state=seed)
    if not execution.stratify:
        plan = unstratified(plan)
        notes += ("The splits are plain random ones, not stratified by class.",)
    live = _live(named, datasets, plan, scoring, execution, seed)
    live = live.recorded(notes=(*notes, *data_cautions(live)))
    for part in [live.on(at) for at in range(len(datasets))] if per_dataset else [live]:
        check_settings(part, settings)
    if datasets[0].by is not None:
        from bestofk.run.slices import refuse_slices

        refuse_slices(live, stops=rule is not None)
    if learners is not None:
        refuse_unscorable(named, live.metric)
    if execution.dry_run:
        from bestofk.run.dry_run import dry_run

        return dry_run(live, execution)  # type: ignore[return-value]
    race = None
    if rule is not None:
        from bestofk.run.race import planned_race

        # refuse what cannot be stopped before the first fit
        race = planned_race(
            live.record.names, live.record.design, settings, rule, datasets=len(datasets),
            span=live.metric.span,
        )  # fmt: skip
    by_dataset = {}
    if per_dataset:
        by_dataset = {one.name: _with_complexity(settings, named, [one]) for one in datasets}
    else:
        settings = _with_complexity(settings, named, datasets)
    return Result(run_comparison(live, settings, execution, deadline, race, by_dataset))


def _with_complexity(
    settings: Settings, learners: Mapping[str, Any], datasets: Sequence[DataSet]
) -> Settings:
    """Return the settings with the costs, if few parameters are preferred.

    They are the mean numbers of parameters of the learners, fitted to all rows of each data set.
    """
    if settings.prefer != "complexity":
        return settings
    from bestofk.learners.complexity import fitted_complexity

    parameters = {}
    for name, estimator in learners.items():
        counts = [fitted_complexity(estimator, data) for data in datasets]
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            raise ArgumentError(
                f"prefer 'complexity' needs learners that count their parameters; "
                f"{name!r} does not: use 'size', or name the learners."
            )
        parameters[name] = float(np.mean(known))
    return replace(settings, prefer=MeasuredCosts(what="complexity", costs=parameters))


def _combined(value: ValueT, name: str, **keywords: Any) -> ValueT:
    """Return the value with the keywords that differ from their defaults."""
    defaults = {option.name: option.default for option in fields(value)}
    changes = {}
    for keyword, argument in keywords.items():
        default, current = defaults[keyword], getattr(value, keyword)
        if _same(argument, default) or _same(argument, current):
            continue
        if not _same(current, default):
            raise ArgumentError(
                f"{keyword} is {argument!r:.60} and {name} holds {keyword}={current!r:.60}: give "
                "it once."
            )
        changes[keyword] = argument
    return replace(value, **changes) if changes else value


def _same(first: Any, second: Any) -> bool:
    return first is second or (type(first) is type(second) and first == second)


def _live(
    learners: Mapping[str, Any],
    datasets: tuple[DataSet, ...],
    plan: Plan,
    scoring: Any,
    execution: Execution,
    random_state: int,
) -> Live:
    """Return what is to be run."""
    classes = datasets[0].classes if datasets[0].task == "classification" else None
    splits = splits_for(plan, datasets)
    metrics = as_losses(scoring, classes=classes)
    for data, of_data in zip(datasets, splits, strict=True):
        for one in metrics:
            check_loss(one, data, of_data, classes)
    return Live.of(
        learners,
        datasets,
        splits,
        metrics,
        repetitions=execution.repetitions,
        random_state=random_state,
        threads=execution.threads,
        stored=execution.store is not None,
        # slices, and the instances of a single split, are tested
        keep_predictions=datasets[0].by is not None or splits[0].runs * splits[0].folds == 1,
        # a budget may end the run after its first split
        keep_first=execution.budget is not None,
    )


def run_comparison(
    live: Live,
    settings: Settings,
    execution: Execution,
    deadline: float | None,
    race: PlannedRace | None,
    by_dataset: Mapping[str, Settings],
) -> Study:
    """Run a fully specified comparison, decide, and record the result in the store.

    Load each cell from the store or evaluate it; of a race, only the cells that it needs.
    """
    decision = StoredDecision(
        options=settings.to_dict(),
        created=now(),
        command=tuple(execution.command),
        race=None if race is None else asdict(race.rule),
        by_dataset={name: preference_to_json(one.prefer) for name, one in by_dataset.items()},
    )
    live = live.recorded(
        taken=_assumed(live),
        notes=(*live.record.notes, *live.plan_notes, *weight_notes(live)),
        preparation=_preparation(live),
        plain={
            name: value
            for name in ("stratify", "duplicates")
            if (value := getattr(execution, name)) in (False, "split")
        },
        decisions=(decision,),
    )
    where, notes = "memory", tuple[str, ...]()
    outcome, too_little = None, ""

    def retry(failure: Failure) -> bool:
        return execution.retry_failed or failure.may_pass_now(timeout=execution.timeout)

    with opened(execution.store) as store, Engine(execution) as engine:
        if store is not None:
            store.register(live.record)
            where = store.shown_url
            notes = tuple(
                f"The store keeps the fits, but another run computes them again: {reason}, so "
                "that it cannot be known whether they would come out the same."
                for reason in live.unknown
            )
        table, retried = live.stored(store, retry=retry)
        evaluate = partial(
            run,
            live,
            results=table,
            engine=engine,
            store=store,
            deadline=deadline,
            stop=partial(_first_failure, live) if execution.on_failure == "stop" else None,
            stale=retried,
        )
        progress = observer(execution.progress, _shorter(execution))
        if race is None:
            evaluate(list(table.absent()), progress=progress)
        else:
            from bestofk.run.race import run_race

            outcome = run_race(race, live, settings, table, evaluate, progress)
            table = outcome.table
        done, planned = len(table), live.record.n_cells
        unfinished = done < planned if outcome is None else outcome.cut and outcome.whole
        if execution.budget is not None and unfinished:
            notes += (budget_words(execution.budget, done, planned),)
            too_little = (
                f"The budget of {execution.budget:g} s ended before all learners had finished one "
                "fold: give more time, or leave the budget out."
            )
        if notes:
            decision = replace(decision, notes=notes, fits=done if done < planned else None)
            table = table.of(replace(live.record, decisions=(decision,)))
            if store is not None:
                store.register(table.record)
    return conclude(
        table, settings, outcome=outcome, by_dataset=by_dataset, live=live, notes=notes,
        too_little=too_little, store=where,
    )  # fmt: skip


def _preparation(live: Live) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the preparation by data set and learner; omit learners that cannot be prepared."""
    by_data: dict[str, dict[str, dict[str, Any]]] = {}
    for data in live.datasets:
        by_learner = by_data.setdefault(data.name, {})
        for name, estimator in live.learners.items():
            # user classes may raise anything; the fits report it
            with suppress(Exception):
                by_learner[name] = ready_learner(estimator, data).done.to_dict()
    return by_data


def _shorter(execution: Execution) -> str:
    """Return options that make a long run shorter, as they are typed."""
    if execution.budget is not None:
        return ""
    return "--budget 5m or --cv 5" if execution.command else "budget=300 or cv=5"


def _first_failure(live: Live, cell: Cell) -> RunError | None:
    """Return the error that ends the comparison if the fit failed."""
    if cell.failure is None:
        return None
    learner, dataset = live.record.names[cell.learner], live.datasets[cell.dataset].name
    return RunError(
        f"{learner} failed on {dataset!r} (run {cell.run + 1}, fold {cell.fold + 1}): "
        f"{cell.failure.explain()}"
    )


def budget_words(budget: float, done: int, total: int) -> str:
    """Return the note about a budget that ended the run."""
    return (
        f"The budget of {budget:g} s ended the run after {done} of {total} fits; the decision "
        "rests on what all learners finished."
    )


MAX_LISTED_DATA = 3
"""Most data sets whose notes are listed."""


def _assumed(live: Live) -> tuple[str, ...]:
    """Return what is predicted, and what bestofk assumed about columns and rows."""
    datasets = live.datasets
    if len(datasets) == 1:
        return (datasets[0].predicted, *datasets[0].notes)
    sizes = [data.n for data in datasets]
    kind = "a class" if datasets[0].task == "classification" else "a number"
    first = (
        f"Predicting {kind} on {counted(len(datasets), 'data set')} of {min(sizes):,} to "
        f"{max(sizes):,} rows."
    )
    notes = [f"{data.name}: {' '.join(data.notes)}" for data in datasets if data.notes]
    more = len(notes) - MAX_LISTED_DATA
    if more > 1:
        notes = [*notes[:MAX_LISTED_DATA], f"There are notes on {more} more data sets."]
    return (first, *notes)
