"""Simulate: losses of learners on many data sets that a problem draws."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bestofk.checks import Floats, whole
from bestofk.errors import ArgumentError, RunError, StoreError
from bestofk.lab.one_data_set import SetLosses, SplitSet
from bestofk.lab.simulation_result import Simulation
from bestofk.lab.simulation_task import SimulationTask
from bestofk.learners.specification import named_learners
from bestofk.plans.plan import Plan, plan as make_plan
from bestofk.problems.column_blocks import ColumnBlocks
from bestofk.problems.drawn_losses import TableProblem
from bestofk.problems.generator import DataProblem
from bestofk.problems.given_rows import Degraded
from bestofk.problems.registry import as_problem
from bestofk.renamed import renamed_arguments
from bestofk.run.engines.engine import Engine
from bestofk.run.experiment import Contender
from bestofk.run.metrics.loss_functions import as_loss
from bestofk.run.progress import Progress, observer
from bestofk.run.run_task import run_task


@renamed_arguments(jobs="n_jobs")
def simulate(
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    plan: str | Plan = "10x10",
    *,
    sets: int = 1000,
    repeats: int = 1,
    loss: Any = None,
    random_state: int = 0,
    n_jobs: int = -1,
    engine: str = "auto",
    scheduler: str | None = None,
    store: Any = None,
    progress: bool | str | Progress = False,
) -> Simulation:
    """Losses of learners on many data sets that a problem draws.

    Parameters
    ----------
    learners : list or mapping
        As for `compare`: two or more (one for the problems *degraded* and *blocks*, where it meets
        itself); not used by problems that draw losses directly.
    problem : str or problem
        A name of `PROBLEMS` with its settings, or what `problem` makes.
    plan : str or Plan
        As for `compare`; stratified for labels.
    sets : int
        Number of data sets.
    repeats : int
        Choices of random splits of each.
    loss : str or callable, optional
        As for `compare`; zero-one by default.
    random_state : int
        Fixes the data sets and the splits; data set i is the same whatever `sets` is.
    n_jobs, engine, scheduler
        As for `compare`: workers (-1: one per core); ``"auto"``, ``"serial"``, ``"processes"``,
        ``"dask"`` or ``"ray"``, and the address of the cluster. The losses are the same everywhere.
    store : path or URL, optional
        Where finished data sets are kept and found again.
    progress : bool or "log"
        A live bar on a terminal; ``"log"``: lines.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> made = simulate(["max", "naive-bayes"], "binary(rows=40)", "kfold:4", sets=3)
    >>> made.losses.shape
    (3, 1, 2, 1, 1, 4, 1)
    """
    sets = whole(sets, "sets", at_least=1)
    repeats = whole(repeats, "repeats", at_least=1)
    random_state = whole(random_state, "random_state", at_least=0)
    running = Engine(name=engine, jobs=n_jobs, scheduler=scheduler)
    drawn = as_problem(problem)
    if isinstance(drawn, TableProblem):
        return _tables(drawn, sets, repeats, random_state)
    task = _task(learners, drawn, plan, loss, random_state)
    first = task.splits(0, 0, task.encoded(0))
    items = [SplitSet(number, repeat) for number in range(sets) for repeat in range(repeats)]
    begin = time.monotonic()
    found = _losses(task, items, running, store, observer(progress))
    design = task.design(first)
    K, cells = len(task.learners), design.runs * design.folds
    losses = np.stack(found).reshape(sets, repeats, K, 1, -1)
    subsets = design.subsets
    parts = None
    if subsets is not None:
        parts = losses[..., cells:].reshape(sets, repeats, K, 1, subsets.runs, subsets.folds, 1)
    return Simulation(
        losses=losses[..., :cells].reshape(sets, repeats, K, 1, design.runs, design.folds, 1),
        subset_losses=parts,
        learners=task.learners,
        design=design,
        problem=drawn,
        plan=task.plan.spec,
        random_state=random_state,
        seconds=time.monotonic() - begin,
    )


def rehearse(learners: Any, problem: Any, plan: Any, loss: Any = None) -> Simulation:
    """A simulation of the right shape with losses of no meaning, to try a question on."""
    drawn = as_problem(problem)
    if isinstance(drawn, TableProblem):
        return _tables(drawn, 1, 2, 0)
    task = _task(learners, drawn, plan, loss, 0)
    design = task.design(task.splits(0, 0, task.encoded(0)))
    rng = np.random.default_rng(0)
    shape, subsets = (1, 2, len(task.learners), 1), design.subsets
    losses = rng.integers(0, 2, (*shape, design.runs, design.folds, 1)).astype(np.float64)
    parts = None
    if subsets is not None:
        parts = rng.integers(0, 2, (*shape, subsets.runs, subsets.folds, 1)).astype(np.float64)
    return Simulation(
        losses=losses,
        subset_losses=parts,
        learners=task.learners,
        design=design,
        problem=drawn,
        plan=task.plan.spec,
        random_state=0,
    )


def _tables(problem: TableProblem, sets: int, repeats: int, seed: int) -> Simulation:
    begin = time.monotonic()
    drawn = problem.tables(np.random.default_rng(seed), sets * repeats)
    return Simulation(
        losses=drawn.reshape(sets, repeats, *drawn.shape[1:]),
        learners=tuple(f"learner {place + 1}" for place in range(drawn.shape[1])),
        design=problem.design,
        problem=problem,
        plan="",
        random_state=seed,
        seconds=time.monotonic() - begin,
    )


def _task(learners: Any, problem: DataProblem, plan: Any, loss: Any, seed: int) -> SimulationTask:
    named = named_learners(learners)
    contenders = tuple(Contender.of(name, estimator) for name, estimator in named.items())
    if isinstance(problem, Degraded | ColumnBlocks):
        if len(contenders) != 1:
            name, meets = (
                ("degraded", "itself made worse")
                if isinstance(problem, Degraded)
                else ("blocks", "itself on other columns")
            )
            raise ArgumentError(
                f"learners for problem {name!r} must be one, which meets {meets}; got "
                f"{', '.join(named)}."
            )
    elif len(contenders) < 2:
        raise ArgumentError(
            f"learners must hold at least 2 learners to compare; got only {next(iter(named))!r}."
        )
    prints = [contender.fingerprint for contender in contenders]
    for place, contender in enumerate(contenders):
        if contender.fingerprint in prints[:place]:
            twin = contenders[prints.index(contender.fingerprint)].name
            raise ArgumentError(
                f"learners must differ; {contender.name!r} is the same learner as {twin!r}, so "
                "that no test could ever tell them apart."
            )
    made = make_plan(plan, random_state=0) if isinstance(plan, str) else plan
    if made.source is not None or made.grouped or made.kind == "time":
        raise ArgumentError(
            "plan in the lab must be one for rows that stand for themselves, such as '10x10'; got "
            f"{made.spec!r}."
        )
    if isinstance(problem, Degraded) and "+" in made.spec:
        raise ArgumentError(
            "plan for problem 'degraded' must have no runs on parts of the rows; got "
            f"{made.spec!r}."
        )
    classes = problem.encoded(np.random.default_rng(0)).classes
    chosen = as_loss("zero-one" if loss is None else loss, classes=classes)
    if isinstance(problem, Degraded) and chosen.name != "zero-one":
        raise ArgumentError("problem 'degraded' counts wrong answers: its loss must be zero-one.")
    return SimulationTask(problem=problem, contenders=contenders, plan=made, loss=chosen, seed=seed)


def _losses(
    task: SimulationTask, items: list[SplitSet], engine: Engine, store: Any, progress: Progress
) -> list[Floats]:
    """The losses of every item: from the store where it has them, else evaluated and stored."""
    from bestofk.run.store.store import open_store

    if store is not None and task.unknown:
        raise StoreError(
            f"store: what is simulated cannot be kept, as its code cannot be known again "
            f"({task.unknown}): leave out the store."
        )
    with open_store(store) as kept:
        found = run_task(
            task,
            items,
            engine=engine,
            store=None if store is None else kept,
            progress=progress,
            stop=_failure,
        )
    return [losses for item in items if (losses := found[item].losses) is not None]


def _failure(item: SplitSet, result: SetLosses) -> RunError | None:  # noqa: ARG001
    """A simulation with a hole answers no question: the first failure ends it."""
    return None if result.failure is None else RunError(result.failure.reason)
