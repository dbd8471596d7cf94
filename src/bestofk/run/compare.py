"""The main job: compare learners on data and decide which one to use."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bestofk._base.checks import whole
from bestofk._base.errors import ArgumentError, RunError
from bestofk.data.dataset import DataSet
from bestofk.decide.preference import MeasuredCosts, PanelOrder, PreferenceLike
from bestofk.decide.settings import Settings
from bestofk.decide.stopping.rule import StopRule, as_stop_rule
from bestofk.learners.preparation import refuse_preparation
from bestofk.run.evaluation.models import complexities
from bestofk.run.execution import Execution
from bestofk.run.experiment import Experiment, NamedLearner
from bestofk.run.inputs import (
    as_datasets,
    check_settings,
    check_task,
    default_plan,
    named_estimators,
    splits_for,
)
from bestofk.run.metrics import as_losses, check_losses
from bestofk.run.progress import Progress
from bestofk.run.replicate import check_replicable, replicated, reseeded
from bestofk.run.run_comparison import deadline_of, record, run_comparison
from bestofk.run.study import Study
from bestofk.splits.plans import Plan, plan as make_plan

if TYPE_CHECKING:
    from bestofk.run.race.plan import PlannedRace

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
        contenders=learners,
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
