"""Simulations: losses of learners on many drawn data sets, from which all rates are computed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, whole
from bestofk._base.errors import ArgumentError, StoreError, use
from bestofk._base.formatting import counted, number
from bestofk._base.results import json_ready
from bestofk.decide.order_tables import ManyDecisions, order_many
from bestofk.decide.problem import BOTH_PARTS
from bestofk.learners.preparation import is_trusted
from bestofk.learners.specification import named_learners
from bestofk.losses.losses import Scores
from bestofk.papers.array_task import ArrayPiece, ArrayTask
from bestofk.papers.lab.problems.classes import ColumnBlocks
from bestofk.papers.lab.problems.generator import DataProblem, TableProblem
from bestofk.papers.lab.problems.given_rows import GivenRows
from bestofk.papers.lab.problems.registry import Problem, as_problem
from bestofk.papers.lab.simulation_task import SimulationTask
from bestofk.run.engine import Engine, Execution
from bestofk.run.fingerprints import learner_fingerprint
from bestofk.run.progress import Progress, observer
from bestofk.splits.design import Design
from bestofk.splits.plans import Plan, plan as make_plan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """Losses of learners on data sets that a problem drew.

    Attributes
    ----------
    losses : ndarray, shape (sets, repeats, learners, data sets, runs, folds, repetitions)
        The last five axes are those of `bestofk.Scores`. Repeats are other random splits of the
        same data.
    learners : tuple of str
        Their names, most preferred first.
    design : Design
        How the losses of one data set came about.
    problem : DataProblem or TableProblem
        The generator of the data sets (or of the losses).
    plan : str
        The specification of the splits; empty for losses that were drawn directly.
    random_state : int
        The seed of the data sets and the splits.
    seconds : float
        Time taken, without data sets that a store already had.
    subset_losses : ndarray or None
        Losses of runs on subsets of the rows, if the plan has such runs; same axes as `losses`.
    """

    losses: Floats
    learners: tuple[str, ...]
    design: Design
    problem: Problem
    plan: str
    random_state: int
    seconds: float = 0.0
    subset_losses: Floats | None = None

    @property
    def sets(self) -> int:
        """Number of data sets."""
        return int(self.losses.shape[0])

    @property
    def repeats(self) -> int:
        """Number of random split choices per data set."""
        return int(self.losses.shape[1])

    @property
    def drawn(self) -> str:
        """The noun for one draw of the problem: ``"table"`` or ``"data set"``."""
        return "table" if isinstance(self.problem, TableProblem) else "data set"

    def sample(self, axes: int) -> Floats:
        """Return (learners, sets, repeats, ...) with the trailing axes that a test takes.

        Tables over several data sets give mean losses, or all losses if `axes` is 3. Other tables
        give (runs, folds), or all splits in one axis. `BOTH_PARTS` adds the splits of runs on
        subsets of the rows.
        """
        values = self.losses
        K, D = values.shape[2:4]
        if axes == BOTH_PARTS:
            both = [part[:, :, :, 0].mean(axis=5).reshape(*values.shape[:3], -1)
                    for part in (values, self.subset_losses) if part is not None]  # fmt: skip
            return np.moveaxis(np.concatenate(both, axis=3), 2, 0)
        if axes == 3:
            return np.moveaxis(values.mean(axis=6), 2, 0)
        if D > 1:
            means = values.mean(axis=(4, 5, 6))
            return np.moveaxis(means, 2, 0)
        folds = values[:, :, :, 0].mean(axis=5)
        if axes == 1:
            folds = folds.reshape(*folds.shape[:2], K, -1)
        return np.moveaxis(folds, 2, 0)

    def first_runs(self, runs: int) -> Simulation:
        """Return the simulation as if the plan had only this many runs."""
        design = self.design
        if design.kind != "cv" or not 1 <= runs <= design.runs:
            raise ArgumentError(
                f"runs must be from 1 to the {design.runs} that were simulated; got {runs!r}."
            )
        splits = slice(0, runs * design.folds)
        fewer = design.with_(
            runs=runs,
            n_train=None if design.n_train is None else design.n_train[splits],
            n_test=None if design.n_test is None else design.n_test[splits],
            nested_runs=0,
        )
        plan = f"{runs}x{design.folds}" if runs > 1 else f"kfold:{design.folds}"
        return replace(
            self,
            losses=self.losses[:, :, :, :, :runs],
            subset_losses=None,
            design=fewer,
            plan=plan if self.plan else "",
        )

    def table(self, number: int = 0, repeat: int = 0) -> Scores:
        """Return the losses on one data set."""
        subset = self.subset_losses
        return Scores(
            self.losses[number, repeat],
            dims=("learner", "dataset", "run", "fold", "repetition"),
            learners=self.learners,
            design=self.design,
            subset_values=None if subset is None else subset[number, repeat],
        )

    def decided(self, *, repeats: int | None = None, **options: Any) -> ManyDecisions:
        """Return the decisions of `compare_scores` on every table, all repeats of a data set
        together.

        `repeats` limits the decisions to the first repeats of every data set.
        """
        losses, subset = self.losses[:, :repeats], self.subset_losses
        if subset is not None:
            subset = subset[:, :repeats].reshape(-1, *subset.shape[2:])
        return order_many(
            losses.reshape(-1, *losses.shape[2:]),
            design=self.design,
            learners=self.learners,
            subset_values=subset,
            **{"random_state": self.random_state, **options},
        )

    def mean_differences(self) -> tuple[float, float]:
        """Return the mean loss of the second learner minus the first, and its standard error."""
        means = self.losses.mean(axis=(1, 3, 4, 5, 6))
        difference = means[:, 1] - means[:, 0]
        spread = float(difference.std(ddof=1)) if len(difference) > 1 else float("nan")
        return float(difference.mean()), spread / float(np.sqrt(len(difference)))

    def facts(self) -> dict[str, Any]:
        """Return what was simulated, for strict JSON."""
        mean, error = self.mean_differences()
        return {
            "learners": list(self.learners),
            "problem": self.problem.describe(),
            "plan": self.plan,
            "design": self.design.describe(),
            "sets": self.sets,
            "repeats": self.repeats,
            "seed": self.random_state,
            "mean_difference": json_ready(mean),
            "mean_difference_error": json_ready(error),
            "seconds": self.seconds,
        }

    def explain(self) -> str:
        """Describe what was simulated in sentences."""
        again = f", {self.repeats} choices of splits of each" if self.repeats > 1 else ""
        plan = f" in plan {self.plan}" if self.plan else ""
        mean, error = self.mean_differences()
        names = self.learners
        second, first = names[1], names[0]
        if len(names) > 6:
            names = (*names[:2], "...", names[-1])
        spread = f" (standard error {number(error)})" if np.isfinite(error) else ""
        return (
            f"{counted(self.sets, self.drawn)} ({self.problem.describe()}){again}; "
            f"{', '.join(names)}{plan}; seed {self.random_state}. The mean loss of {second} "
            f"less that of {first} was {number(mean)}{spread}."
        )


def simulate(
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    cv: str | Plan = "10x10",
    *,
    sets: int = 1000,
    repeats: int = 1,
    random_state: int = 0,
    n_jobs: int = -1,
    engine: str = "auto",
    scheduler: str | None = None,
    store: Any = None,
    progress: bool | str | Progress = False,
) -> Simulation:
    """Simulate error rates of learners on many data sets that a problem draws.

    Parameters
    ----------
    learners : list or mapping
        As for `compare`: two or more, or exactly one for the problem *blocks*, which compares a
        learner with copies of itself. Problems that draw losses directly ignore them.
    problem : str or problem
        A name of `PROBLEMS` with its settings, or a result of `problem`.
    cv : str or Plan
        As for `compare`; stratified by class.
    sets : int
        Number of data sets.
    repeats : int
        Number of random split choices for each data set.
    random_state : int
        Seed of the data sets and the splits. Data set i does not depend on `sets`.
    n_jobs, engine, scheduler
        As for `compare`: workers (-1: one per core); ``"auto"``, ``"serial"``, ``"processes"``,
        or ``"dask"``, and the address of the cluster. All engines give the same losses.
    store : path or URL, optional
        Store of finished data sets; data sets found there are not simulated again.
    progress : bool or "log"
        A live bar on a terminal; ``"log"``: lines.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> simulation = simulate(["max", "naive-bayes"], "binary(rows=40)", "kfold:4", sets=3)
    >>> simulation.losses.shape
    (3, 1, 2, 1, 1, 4, 1)
    """
    sets = whole(sets, "sets", at_least=1)
    repeats = whole(repeats, "repeats", at_least=1)
    random_state = whole(random_state, "random_state", at_least=0)
    workers = Engine(Execution(engine=engine, n_jobs=n_jobs, scheduler=scheduler))
    generator = as_problem(problem)
    if isinstance(generator, TableProblem):
        return _tables(generator, sets, repeats, random_state)
    if isinstance(generator, GivenRows) and sets > 1:
        raise ArgumentError("Problem 'given' has one data set: ", use(sets=1))
    task = _task(learners, generator, cv, random_state)
    design = task.design(task.splits(0, 0, task.encoded(0)))
    if store is not None and task.unknown:
        raise StoreError(
            "store: this simulation cannot be stored because its code cannot be fingerprinted "
            f"({task.unknown}); omit the store."
        )
    work, pieces = work_of(task, sets, repeats)
    begin = time.monotonic()
    losses = np.stack(work.arrays(pieces, engine=workers, store=store, progress=observer(progress)))
    shape = (sets, repeats, len(task.names), 1, -1)
    return _simulation(task, design, losses.reshape(shape), time.monotonic() - begin)


def rehearse(learners: Any, problem: Any, cv: Any) -> Simulation:
    """Return a simulation of the right shape with meaningless losses, to check the arguments."""
    generator = as_problem(problem)
    if isinstance(generator, TableProblem):
        return _tables(generator, 1, 2, 0)
    task = _task(learners, generator, cv, 0)
    design = task.design(task.splits(0, 0, task.encoded(0)))
    splits = design.runs * design.folds + 2 * design.nested_runs
    losses = np.random.default_rng(0).integers(0, 2, (1, 2, len(task.names), 1, splits))
    return _simulation(task, design, losses.astype(np.float64), 0.0)


def _simulation(task: SimulationTask, design: Design, losses: Floats, seconds: float) -> Simulation:
    """Divide (sets, repeats, learners, 1, splits) losses into full runs and runs on subsets."""
    full = design.runs * design.folds
    subset_losses = None
    if design.nested_runs:
        shape = (*losses.shape[:4], design.nested_runs, 2, 1)
        subset_losses = losses[..., full:].reshape(shape)
    return Simulation(
        losses=losses[..., :full].reshape(*losses.shape[:4], design.runs, design.folds, 1),
        subset_losses=subset_losses,
        learners=task.names,
        design=design,
        problem=task.problem,
        plan=task.plan.spec,
        random_state=task.seed,
        seconds=seconds,
    )


def _tables(problem: TableProblem, sets: int, repeats: int, seed: int) -> Simulation:
    begin = time.monotonic()
    tables = problem.tables(np.random.default_rng(seed), sets * repeats)
    return Simulation(
        losses=tables.reshape(sets, repeats, *tables.shape[1:]),
        learners=tuple(f"learner {index + 1}" for index in range(tables.shape[1])),
        design=problem.design,
        problem=problem,
        plan="",
        random_state=seed,
        seconds=time.monotonic() - begin,
    )


def _task(learners: Any, problem: DataProblem, cv: Any, seed: int) -> SimulationTask:
    """Check the arguments of a simulation."""
    learners = dict(named_learners(learners))
    if isinstance(problem, ColumnBlocks):
        if len(learners) != 1:
            raise ArgumentError(
                "learners for problem 'blocks' must be one learner, which is compared with "
                f"itself on other columns; got {', '.join(learners)}."
            )
    elif len(learners) < 2:
        raise ArgumentError(
            f"learners must hold at least 2 learners to compare; got only {next(iter(learners))!r}."
        )
    names: dict[str, str] = {}
    for name, estimator in learners.items():
        twin = names.setdefault(learner_fingerprint(estimator).digest, name)
        if twin != name:
            raise ArgumentError(
                f"learners must differ; {name!r} is the same learner as {twin!r}, so "
                "no test can distinguish them."
            )
    plan = make_plan(cv, random_state=0) if isinstance(cv, str) else cv
    if plan.source is not None or plan.grouped or plan.kind == "time":
        raise ArgumentError(
            "cv in the lab must be a plan for independent rows, such as '10x10'; got "
            f"{plan.spec!r}."
        )
    return SimulationTask(problem=problem, learners=learners, plan=plan, seed=seed)


def work_of(task: SimulationTask, sets: int, repeats: int) -> tuple[ArrayTask, list[ArrayPiece]]:
    """Return the work of a simulation: one piece per data set and choice of its splits."""
    trusted = all(map(is_trusted, task.learners.values()))
    work = ArrayTask(
        function=task.losses, code=task.inputs, kind="simulation", unit="data sets",
        trusted=trusted,
    )  # fmt: skip
    names = " and ".join(task.learners)
    pieces = [
        ArrayPiece(
            name=f"{number} {repeat}", argument=(number, repeat),
            label=f"{names} on data set {number + 1}",
        )
        for number in range(sets)
        for repeat in range(repeats)
    ]  # fmt: skip
    return work, pieces
