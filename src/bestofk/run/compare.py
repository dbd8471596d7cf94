"""The main job: learners, data and a plan in; losses, a decision and what it cost out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bestofk.checks import whole
from bestofk.data.dataset import DataSet
from bestofk.errors import RunError
from bestofk.ordering.decision import Decision
from bestofk.ordering.preference import MeasuredCosts, PanelOrder, Prior
from bestofk.plans.plan import Plan, plan as make_plan
from bestofk.renamed import renamed_arguments
from bestofk.run.cells import CellResult
from bestofk.run.conclude import conclude
from bestofk.run.contenders import as_contenders
from bestofk.run.default_plan import default_plan
from bestofk.run.evaluation.comparison_task import ComparisonTask
from bestofk.run.evaluation.complexities import complexities
from bestofk.run.evaluation.instances import instance_losses, is_one_test_set
from bestofk.run.evaluation.loss_functions import as_loss
from bestofk.run.execution import Execution
from bestofk.run.experiment import Contender, Experiment, Place, Places
from bestofk.run.progress import Progress, observer
from bestofk.run.rehearse import rehearse
from bestofk.run.replicate import replicated, reseeded
from bestofk.run.run_task import run_task
from bestofk.run.sources import as_datasets
from bestofk.run.store.stored_study import StoredDecision, StudySpec, now, study_of
from bestofk.run.store.url import parse_address
from bestofk.run.study import Study
from bestofk.run.unstable import advice_for_unstable


@renamed_arguments(jobs="n_jobs")
def compare(
    learners: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    data: Any = None,
    plan: str | Plan | None = None,
    repetitions: int = 1,
    loss: Any = None,
    prior: Prior = None,
    procedure: str = "multitest",
    test: str | Callable[..., Any] = "auto",
    df: float | str | None = None,
    alpha: float = 0.05,
    correction: str | None = None,
    family: str | None = None,
    control: str | None = None,
    margin: float | None = None,
    rope: float | None = None,
    guard: bool | None = None,
    store: Any = None,
    n_jobs: int = -1,
    random_state: int = 0,
    progress: bool | str | Progress = True,
    engine: str = "auto",
    scheduler: str | None = None,
    timeout: float | None = None,
    budget: float | None = None,
    on_failure: str = "record",
    keep_predictions: bool = False,
    replicate: int = 0,
    command: Sequence[str] = (),
) -> Study:
    """Run learners on data, say which one to use, how the others rank, and why.

    Parameters
    ----------
    learners : list or mapping, optional
        Built-in names, specifications such as
        ``"sklearn.ensemble:RandomForestClassifier(n_estimators=200)"``, scikit-learn estimators,
        or a mapping of name to either. By default the panel of the papers: max, nmc, logistic,
        c4.5, nn, naive-bayes, which has a preference of its own: the simpler one first.
    X, y : array or data frame, and labels (or numbers)
        One data set; or
    data : data sets
        A `DataSet`, a file, the name of an embedded set, or a list of them.
    plan : str or Plan, optional
        ``"10x5+nested"``, ``"10x10"``, ``"5x2"``, ``"kfold:10"``, ``"holdout:0.33"``,
        ``"resample:30:0.1"``, ``"loo"``, ``"bootstrap:200"``; stratified for labels. By default
        ``"10x5+nested"`` on one data set (ten runs of five folds, and pairs of folds left out
        together) and ``"10x10"`` on several; see `bestofk.run.default_plan`.
    repetitions : int
        The same folds again with another learner seed, for stochastic learners.
    loss : str, callable or cost matrix, optional
        By default ``"zero-one"`` for labels and ``"squared"`` for numbers.
    prior : sequence, mapping or str, optional
        What you prefer before the data speak: learners, most preferred first; prices by name;
        ``"listed"``; or what is measured: ``"fit_time"``, ``"predict_time"``, ``"size"`` or, for
        learners that count their parameters, ``"complexity"``; measured costs count as different
        from a factor of two on. None: no preference, and the smallest mean is recommended.
    procedure, test, df, alpha, correction, family, control, margin, rope, guard
        As for `order`.
    store : str or path, optional
        Where cells are kept and found again: a file, or a URL of SQLAlchemy. None: memory.
    n_jobs, engine, scheduler, timeout
        See `bestofk.run.execution.Execution`.
    random_state : int
        Fixes the splits and the seeds of all learners.
    progress : bool or "log"
        A live bar on a terminal; ``"log"``: lines.
    budget : float, optional
        Seconds. Folds are evaluated in rounds over all learners until the time is up.
    on_failure : {"record", "stop"}
        A learner that fails is recorded and left out, or ends the run.
    replicate : int
        Repeat the decision over so many other choices of random splits of the same data, and say
        how often the best and the whole order came out the same.
    keep_predictions : bool
        Keep what was predicted for every test row.
    command : sequence of str
        The words of the command line, if there was one, for the store and the report; passwords
        in it are hidden.

    Returns
    -------
    Study

    Examples
    --------
    >>> import bestofk as bk
    >>> study = bk.compare(["max", "nmc", "nn"], data="iris", plan="5x2", progress=False,
    ...                    prior="listed")
    >>> study.recommended
    'nmc'
    """
    datasets = as_datasets(X, y, data)
    contenders = as_contenders(learners, task=datasets[0].task)
    random_state = whole(random_state, "random_state", at_least=0)
    replicate = whole(replicate, "replicate", at_least=0)
    names = tuple(contender.name for contender in contenders)
    if prior is None and learners is None:
        prior = PanelOrder(names=names)  # type: ignore[assignment]
    decision = Decision(
        prior=prior, procedure=procedure, test=test, df=df, alpha=alpha, correction=correction,
        family=family, control=control, margin=margin, rope=rope, guard=guard,
        random_state=random_state,
    )  # fmt: skip
    decision.check_learners(names)
    execution = Execution(
        n_jobs=n_jobs, engine=engine, scheduler=scheduler, timeout=timeout, budget=budget,
        store=store, progress=progress, on_failure=on_failure, keep_predictions=keep_predictions,
    )  # fmt: skip
    if plan is None:
        plan = default_plan(
            rows=min(one.n for one in datasets),
            datasets=len(datasets),
            procedure=procedure,
            test=test,
            budget=budget,
        )
    made = make_plan(plan, random_state=random_state) if isinstance(plan, str) else plan
    experiment = _experiment(
        contenders, datasets, made, loss, whole(repetitions, "repetitions", at_least=1),
        random_state, keep_predictions,
    )  # fmt: skip
    rehearse(experiment, decision)
    if decision.prior == "complexity":
        costs = MeasuredCosts(what="complexity", costs=complexities(contenders, datasets))
        decision = replace(decision, prior=costs)
    study, spec = _compared(experiment, made, decision, execution, command)
    if not replicate:
        return study

    def again(seed: int) -> Study:
        other = reseeded(made, seed)
        repeated = _experiment(contenders, datasets, other, loss, repetitions, seed, False)
        asked = replace(decision, random_state=seed)
        return _compared(repeated, other, asked, execution, command, replicates=spec.digest)[0]

    study = replicated(study, again, replicate)
    if study.replication is not None:
        _record(spec, execution, replication=study.replication.to_dict())
    return study


def _experiment(
    contenders: tuple[Contender, ...],
    datasets: tuple[DataSet, ...],
    plan: Plan,
    loss: Any,
    repetitions: int,
    random_state: int,
    keep_predictions: bool,
) -> Experiment:
    """What is to be run."""
    classes = datasets[0].classes if datasets[0].task == "classification" else None
    chosen = ("zero-one" if classes is not None else "squared") if loss is None else loss
    splits = tuple(plan.materialise(one.n, one.y) for one in datasets)
    return Experiment(
        contenders=contenders,
        datasets=datasets,
        splits=splits,
        loss=as_loss(chosen, classes=classes),
        repetitions=repetitions,
        random_state=random_state,
        # one split is tested by its instances
        keep_predictions=keep_predictions or splits[0].runs * splits[0].folds == 1,
    )


def _compared(
    experiment: Experiment,
    plan: Plan,
    decision: Decision,
    execution: Execution,
    command: Sequence[str],
    replicates: str = "",
) -> tuple[Study, StudySpec]:
    """The study of an experiment, run and decided; and what the store keeps of it."""
    asked = StoredDecision(options=decision.to_dict(), created=now(), command=tuple(command))
    spec = replace(
        study_of(experiment, plan=plan.spec, command=command),
        notes=_plan_notes(experiment),
        caution=_caution(experiment, plan),
        replicates=replicates,
        decisions=(asked,),
    )
    results, notes, where = _run(experiment, spec, execution)
    if execution.store is not None and where != parse_address(execution.store).shown:
        execution = replace(execution, store=where)  # the file was deleted, and is kept elsewhere
    if notes:
        spec = _record(spec, execution, notes=notes, fits=len(results))
    study = conclude(
        spec,
        results,
        design=experiment.splits[0].design,
        decision=decision,
        notes=notes,
        finer=partial(instance_losses, experiment, results)
        if is_one_test_set(experiment)
        else None,
        store=where,
    )
    return study, spec


def _record(spec: StudySpec, execution: Execution, **found: Any) -> StudySpec:
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
    if len(experiment.datasets) > 1 or plan.kind != "cv":
        return None
    named = {one.name: one.estimator for one in experiment.contenders}
    return advice_for_unstable(named, experiment.datasets[0].n, plan) or ""


def _run(
    experiment: Experiment,
    spec: StudySpec,
    execution: Execution,
) -> tuple[Mapping[Place, CellResult], tuple[str, ...], str]:
    """All cells, from the store where it has them, else evaluated and stored; and the store."""
    from bestofk.run.store.store import open_store

    task = ComparisonTask(experiment)
    store, budget = execution.store, execution.budget
    places = Places(experiment)
    with open_store(store) as kept:
        kept.register(spec)
        results = run_task(
            task,
            places,
            engine=execution.runner(),
            store=None if store is None else kept,
            progress=observer(execution.progress),
            budget=budget,
            stop=partial(_first_failure, task) if execution.on_failure == "stop" else None,
        )
    notes: tuple[str, ...] = ()
    if budget is not None and len(results) < len(places):
        notes = (budget_words(budget, len(results), len(places)),)
    return results, notes, kept.shown_url


def _first_failure(task: ComparisonTask, place: Place, result: CellResult) -> RunError | None:
    """What a failure stops the comparison with, where it should."""
    if result.failure is None:
        return None
    learner, dataset = task.names(place)
    return RunError(
        f"{learner} failed on {dataset!r} (run {place.run + 1}, fold {place.fold + 1}): "
        f"{result.failure.explain()}"
    )


def budget_words(budget: float, done: int, total: int) -> str:
    """That the time was up before all was done."""
    return (
        f"The budget of {budget:g} s ended the run after {done} of {total} fits; the decision "
        "rests on what all learners finished."
    )


def _plan_notes(experiment: Experiment) -> tuple[str, ...]:
    several = len(experiment.datasets) > 1
    return tuple(
        f"{one.name}: {note}" if several else note
        for one, splits in zip(experiment.datasets, experiment.splits, strict=True)
        for note in splits.notes
    )
