"""The main job: learners, data and a plan in; losses, a decision and what it cost out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bestofk.checks import one_of, positive, whole
from bestofk.errors import RunError
from bestofk.ordering.preference import MeasuredCosts, PanelOrder, Prior
from bestofk.plans.plan import Plan, plan as make_plan
from bestofk.run.cells import CellResult
from bestofk.run.complexities import complexities
from bestofk.run.conclude import check_prior, conclude
from bestofk.run.contenders import as_contenders
from bestofk.run.engines.engine import Engine
from bestofk.run.evaluation.comparison_task import ComparisonTask
from bestofk.run.evaluation.instances import instance_losses, is_one_test_set
from bestofk.run.evaluation.loss_functions import as_loss
from bestofk.run.experiment import Experiment, Place
from bestofk.run.progress import Progress, observer
from bestofk.run.rehearse import rehearse
from bestofk.run.replicate import replicated, reseeded
from bestofk.run.run_task import run_task
from bestofk.run.sources import as_datasets
from bestofk.run.store.stored_study import StudySpec, study_of
from bestofk.run.study import Study
from bestofk.run.unstable import advice_for_unstable


def compare(
    learners: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    data: Any = None,
    plan: str | Plan = "10x10",
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
    jobs: int = -1,
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
    plan : str or Plan
        ``"10x10"``, ``"5x2"``, ``"kfold:10"``, ``"holdout:0.33"``, ``"resample:30:0.1"``,
        ``"loo"``, ``"bootstrap:200"``; stratified for labels.
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
    jobs, engine, scheduler, timeout
        See `bestofk.run.engines.engine.Engine`.
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
    task = datasets[0].task
    contenders = as_contenders(learners, task=task)
    repetitions = whole(repetitions, "repetitions", at_least=1)
    random_state = whole(random_state, "random_state", at_least=0)
    replicate = whole(replicate, "replicate", at_least=0)
    one_of(on_failure, "on_failure", ("record", "stop"))
    names = [contender.name for contender in contenders]
    check_prior(prior, names)
    wished: Any = prior
    if isinstance(prior, str) and prior == "complexity":
        wished = MeasuredCosts(what=prior, costs=complexities(contenders, datasets))
    elif prior is None and learners is None:
        wished = PanelOrder(names=tuple(names))
    decision: dict[str, Any] = {
        "procedure": procedure, "test": test, "df": df, "alpha": alpha, "correction": correction,
        "family": family, "control": control, "margin": margin, "rope": rope, "guard": guard,
        "random_state": random_state,
    }  # fmt: skip
    runner = Engine(name=engine, jobs=jobs, scheduler=scheduler, timeout=timeout)
    if budget is not None:
        budget = positive(budget, "budget")
    made = make_plan(plan, random_state=random_state) if isinstance(plan, str) else plan
    classes = datasets[0].classes if task == "classification" else None
    chosen = ("zero-one" if classes is not None else "squared") if loss is None else loss
    splits = tuple(made.materialise(one.n, one.y) for one in datasets)
    experiment = Experiment(
        contenders=contenders,
        datasets=datasets,
        splits=splits,
        loss=as_loss(chosen, classes=classes),
        repetitions=repetitions,
        random_state=random_state,
        # one split is tested by its instances
        keep_predictions=keep_predictions or splits[0].runs * splits[0].folds == 1,
    )
    rehearse(experiment, prior=wished, decision=decision)
    spec = study_of(experiment, plan=made.spec, command=command)
    results, notes, kept = _run(
        experiment, spec, runner, store, observer(progress), budget, on_failure
    )
    study = conclude(
        spec,
        results,
        design=splits[0].design,
        prior=wished,
        decision=decision,
        notes=(*notes, *_plan_notes(experiment)),
        finer=partial(instance_losses, experiment, results)
        if is_one_test_set(experiment)
        else None,
        store=kept,
    )
    study = _warned(study, experiment, made)
    if not replicate:
        return study

    def again(seed: int) -> Study:
        return compare(
            {contender.name: contender.estimator for contender in contenders},
            data=datasets, plan=reseeded(made, seed), repetitions=repetitions, loss=loss,
            prior=wished, procedure=procedure, test=test, df=df, alpha=alpha, correction=correction,
            family=family, control=control, margin=margin, rope=rope, guard=guard, store=store,
            jobs=jobs, random_state=seed, progress=progress, engine=engine, scheduler=scheduler,
            timeout=timeout, budget=budget, on_failure=on_failure, command=command,
        )  # fmt: skip

    return replicated(study, again, replicate)


def _run(
    experiment: Experiment,
    spec: StudySpec,
    engine: Engine,
    store: Any,
    progress: Progress,
    budget: float | None,
    on_failure: str,
) -> tuple[dict[Place, CellResult], tuple[str, ...], str]:
    """All cells, from the store where it has them, else evaluated and stored; and the store."""
    from bestofk.run.store.store import open_store

    task = ComparisonTask(experiment)
    places = list(experiment.places())
    with open_store(store) as kept:
        kept.register(spec)
        results = run_task(
            task,
            places,
            engine=engine,
            store=None if store is None else kept,
            progress=progress,
            budget=budget,
            stop=partial(_first_failure, task) if on_failure == "stop" else None,
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


def _warned(study: Study, experiment: Experiment, plan: Plan) -> Study:
    """The study with what its test is known to do to learners such as these."""
    if study.decision is None or not study.decision.caution:
        return study
    said = None
    if len(experiment.datasets) == 1:
        named = {one.name: one.estimator for one in experiment.contenders}
        said = advice_for_unstable(named, experiment.datasets[0].n, plan)
    # the learners are known: what is said is about them, or nothing
    decision = replace(study.decision, caution=said or "")
    return replace(study, decision=decision)


def _plan_notes(experiment: Experiment) -> tuple[str, ...]:
    several = len(experiment.datasets) > 1
    return tuple(
        f"{one.name}: {note}" if several else note
        for one, splits in zip(experiment.datasets, experiment.splits, strict=True)
        for note in splits.notes
    )
