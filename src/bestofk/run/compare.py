"""The main job: learners, data and a plan in; losses, a decision and what it cost out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bestofk._base.checks import one_of, whole
from bestofk._base.errors import RunError
from bestofk.data.dataset import DataSet
from bestofk.decide.preference import MeasuredCosts, PanelOrder, Prior
from bestofk.decide.settings import Decision
from bestofk.learners.preparation import PREPARE, refuse_preparation
from bestofk.run.evaluation.models import complexities
from bestofk.run.execution import Execution
from bestofk.run.experiment import Contender, Experiment
from bestofk.run.inputs import (
    as_contenders,
    as_datasets,
    check_task,
    default_plan,
    rehearse,
    splits_for,
)
from bestofk.run.metrics import as_losses, check_losses
from bestofk.run.progress import Progress
from bestofk.run.race.plan import PlannedRace, long_enough, planned_race, stopping_rule
from bestofk.run.replicate import check_replicable, replicated, reseeded
from bestofk.run.run_comparison import deadline_of, record, run_comparison
from bestofk.run.study import Study
from bestofk.splits.plans import Plan, plan as make_plan


def compare(
    learners: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    data: Any = None,
    task: str = "auto",
    plan: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
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
    threads: int = 1,
    random_state: int = 0,
    progress: bool | str | Progress = True,
    engine: str = "auto",
    scheduler: str | None = None,
    timeout: float | None = None,
    budget: float | None = None,
    stop: str | None = None,
    target: str = "best",
    settle: str = "plan",
    risk: float | None = None,
    max_runs: int = 30,
    on_failure: str = "record",
    retry_failed: bool = False,
    keep_predictions: bool = False,
    prepare: str = "auto",
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
    task : {"auto", "classification", "regression"}
        Whether the target is a label or a number. Auto: text, truth values and categories are
        labels, numbers with fractions are numbers; whole numbers are labels where there are two,
        or at most 20 with five rows or more for each, and the verdict says so.
    plan : str, splitter, pairs of rows or Plan, optional
        ``"10x5+nested"``, ``"10x10"``, ``"5x2"``, ``"kfold:10"``, ``"holdout:0.33"``,
        ``"resample:30:0.1"``, ``"loo"``, ``"bootstrap:200"``, ``"group-kfold:5"``,
        ``"group-10x10"``, ``"time:10"``, ``"predefined:COLUMN"``; stratified for labels. A splitter
        of scikit-learn, or any iterable of (train, test). By default ``"10x5+nested"`` on one
        data set (ten runs of five folds, and pairs of folds left out together) and ``"10x10"`` on
        several; see `bestofk.run.inputs`.
    groups : name of a column, or array of shape (n,), optional
        Rows of one group (a patient, a day) are never on both sides of a split, and tests count
        groups, not rows. A column that is named is no feature.
    sample_weight : name of a column, or array of shape (n,), optional
        How much each row counts: in the fits of learners that take weights, and in the loss.
    repetitions : int
        The same folds again with another learner seed, for stochastic learners.
    loss : str, callable, cost matrix, or list of them, optional
        A name of ``bestofk losses`` or of a scorer of scikit-learn (``"accuracy"``, ``"roc_auc"``,
        ``"f1:yes"``, ``"r2"``), what `make_scorer` made, a callable ``loss(y_true, y_pred)`` or
        ``scorer(estimator, X, y)``, or costs (rows are the truth). Of several the first decides,
        and all are reported from the same fits. By default ``"zero-one"`` for labels and
        ``"squared"`` for numbers.
    prior : sequence, mapping or str, optional
        What you prefer before the data speak: learners, most preferred first; prices by name;
        ``"listed"``; or what is measured: ``"fit_time"``, ``"predict_time"``, ``"size"`` or, for
        learners that count their parameters, ``"complexity"``; measured costs count as different
        from a factor of two on. None: no preference, and the smallest mean is recommended.
    procedure, test, df, alpha, correction, family, control, margin, rope, guard
        As for `order`.
    store : str or path, optional
        Where cells are kept and found again: a file, or a URL of SQLAlchemy. None: memory.
    n_jobs, threads, engine, scheduler, timeout
        See `bestofk.run.execution.Execution`.
    random_state : int
        Fixes the splits and the seeds of all learners.
    progress : bool or "log"
        A live bar on a terminal or in a notebook, a line every half minute elsewhere;
        ``"log"``: lines every ten seconds.
    budget : float, optional
        Seconds. Folds are evaluated in rounds over all learners until the time is up; what is
        being fitted then is stopped.
    stop : {None, "settled"}
        ``"settled"``: run by run, only learners whose results can still matter, until what is
        asked for (`target`) is settled; `Study.race` tells how far every learner ran. The plan is
        ``"10x10"`` unless another is given. Several data sets are run one after the other, under
        the signed rank test or the sign test, and no risk is taken.
    target : {"best", "order"}
        What must be settled: who is recommended, or the whole order.
    settle : {"plan", "limit"}
        As the full plan would decide; or as endless runs of the same test would, with runs beyond
        the plan where it is unclear.
    risk : float, optional
        The chance, given the data, that the plan (or endless runs) would have decided otherwise,
        by default 0.05; 0: stop only for what no further result can change. Over several data
        sets no risk is taken.
    max_runs : int
        With ``settle="limit"``, the runs after which what is open depends on the splits.
    on_failure : {"record", "stop"}
        A learner that fails is recorded and left out, or ends the run.
    retry_failed : bool
        Run every fit again that the store holds as failed. Without it those are run again that
        were killed, ran out of memory, had less time or lacked a package that is there now.
    replicate : int
        Repeat the decision over so many other choices of random splits of the same data, and say
        how often the best and the whole order came out the same.
    keep_predictions : bool
        Keep what was predicted for every test row.
    prepare : {"auto", "none"}
        Learners that take numbers only get nominal columns as 1-of-n inputs and missing numbers
        filled by the mean, both learnt from the training rows of each fold; the study says for
        which. ``"none"`` refuses instead.
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
    deadline = deadline_of(budget)
    random_state = whole(random_state, "random_state", at_least=0)
    replicate = whole(replicate, "replicate", at_least=0)
    made = None if plan is None else make_plan(plan, random_state=random_state)
    columns = {"groups": groups, "sample_weight": sample_weight,
               "folds": None if made is None else made.column or None}  # fmt: skip
    datasets = as_datasets(X, y, data, task=task, columns=columns)
    rule = stopping_rule(
        stop, target=target, settle=settle, risk=risk, max_runs=max_runs, datasets=len(datasets)
    )
    contenders = as_contenders(learners, task=datasets[0].task)
    check_task(contenders, datasets)
    names = tuple(contender.name for contender in contenders)
    if prior is None and learners is None:
        prior = PanelOrder(names=names)  # type: ignore[assignment]
    decision = Decision(
        prior=prior, procedure=procedure, test=test, df=df, alpha=alpha, correction=correction,
        family=family, control=control, margin=margin, rope=rope, guard=guard,
        random_state=random_state,
    )  # fmt: skip
    decision.check_learners(names)
    if one_of(prepare, "prepare", PREPARE) == "none":
        refuse_preparation({one.name: one.estimator for one in contenders}, datasets)
    execution = Execution(
        n_jobs=n_jobs, threads=threads, engine=engine, scheduler=scheduler, timeout=timeout,
        budget=budget, store=store, progress=progress, on_failure=on_failure,
        keep_predictions=keep_predictions, retry_failed=retry_failed,
    )  # fmt: skip
    if made is None:
        counts = [one.groups.nunique() for one in datasets if one.groups is not None]
        default = default_plan(
            rows=min(one.n for one in datasets),
            datasets=len(datasets),
            procedure=procedure,
            test=test,
            budget=budget,
            groups=min(counts) if len(counts) == len(datasets) else None,
            stops=rule is not None,
        )
        made = make_plan(default, random_state=random_state)
    if replicate:
        check_replicable(made)
    planned_runs = made.runs
    if rule is not None:
        made = long_enough(made, rule)
    experiment = _experiment(
        contenders, datasets, made, loss, whole(repetitions, "repetitions", at_least=1),
        random_state, keep_predictions, execution.threads, hurried=budget is not None,
    )  # fmt: skip
    rehearse(experiment, decision)

    def raced(experiment: Experiment, decision: Decision) -> PlannedRace | None:
        if rule is None:
            return None
        design = experiment.splits[0].design
        return planned_race(
            names, design, decision, rule, runs=min(planned_runs, design.runs),
            datasets=len(datasets), span=experiment.loss.span,
        )  # fmt: skip

    # refused, if it must be, before the first fit
    race = raced(experiment, decision)
    if decision.prior == "complexity":
        costs = MeasuredCosts(what="complexity", costs=complexities(contenders, datasets))
        decision = replace(decision, prior=costs)
    study, spec = run_comparison(
        experiment, made, decision, execution, command, deadline, race=race
    )
    if not replicate:
        return study

    def again(seed: int) -> Study | None:
        other = reseeded(made, seed)
        repeated = _experiment(
            contenders,
            datasets,
            other,
            experiment.loss,
            repetitions,
            seed,
            False,
            execution.threads,
        )
        asked = replace(decision, random_state=seed)
        try:
            found, _ = run_comparison(
                repeated, other, asked, execution, command, deadline, replicates=spec.digest,
                race=raced(repeated, asked),
            )  # fmt: skip
        except RunError:
            if deadline is None or time.monotonic() < deadline:
                raise
            return None
        # what the budget cut repeats nothing
        cut = found.race is not None and found.race.ended == "unfinished"
        cut = cut or found.spec is None or found.spec.decisions[-1].fits is not None
        return None if cut else found

    study = replicated(study, again, replicate)
    if study.replication is not None:
        record(spec, execution, replication=study.replication.to_dict())
    return study


def _experiment(
    contenders: tuple[Contender, ...],
    datasets: tuple[DataSet, ...],
    plan: Plan,
    loss: Any,
    repetitions: int,
    random_state: int,
    keep_predictions: bool,
    threads: int,
    hurried: bool = False,
) -> Experiment:
    """What is to be run."""
    classes = datasets[0].classes if datasets[0].task == "classification" else None
    chosen = ("zero-one" if classes is not None else "squared") if loss is None else loss
    splits = splits_for(plan, datasets)
    first, *others = as_losses(chosen, classes=classes)
    for one in datasets:
        check_losses((first, *others), one, classes)
    return Experiment(
        contenders=contenders,
        datasets=datasets,
        splits=splits,
        loss=first,
        also=tuple(others),
        repetitions=repetitions,
        random_state=random_state,
        # one split is tested by its instances
        keep_predictions=keep_predictions or splits[0].runs * splits[0].folds == 1,
        threads=threads,
        # and if there is time for no other
        keep_first=hurried,
    )
