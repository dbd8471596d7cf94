"""A simulation: losses on many drawn data sets, from which every question is arithmetic."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bestofk._base.checks import Floats, whole
from bestofk._base.code_identity.identity import Identity, identify
from bestofk._base.errors import ArgumentError, RunError, StoreError
from bestofk._base.formatting import counted, number
from bestofk._base.results import Presented, json_ready, renamed
from bestofk.data.schema import Encoded
from bestofk.decide.order_tables import ManyDecisions, order_many
from bestofk.decide.problem import BOTH_PARTS
from bestofk.lab.one_data_set import DATA, SPLITS, SetEvaluator, SetLosses, SplitSet
from bestofk.lab.problems.drawn_losses import TableProblem
from bestofk.lab.problems.generator import DataProblem
from bestofk.lab.problems.given_rows import ColumnBlocks, Degraded
from bestofk.lab.problems.registry import Problem, as_problem
from bestofk.learners.specification import named_learners
from bestofk.losses.losses import Losses
from bestofk.run.cells import Failure
from bestofk.run.engines.engine import Engine
from bestofk.run.evaluate import is_trusted
from bestofk.run.experiment import NamedLearner
from bestofk.run.metrics import Loss, as_loss
from bestofk.run.progress import Progress, observer
from bestofk.run.run_task import run_task
from bestofk.run.store.payloads import Payload
from bestofk.run.store.store import Store
from bestofk.run.task import Task
from bestofk.splits.design import Design
from bestofk.splits.plans import Plan, plan as make_plan
from bestofk.splits.splits import Splits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation(Presented):
    """Losses of learners on data sets that a problem drew.

    Attributes
    ----------
    losses : ndarray, shape (sets, repeats, learners, data sets, runs, folds, repetitions)
        The last five axes as in `bestofk.Losses`. Repeats are other random splits of the same
        data.
    learners : tuple of str
        Their names, most preferred first.
    design : Design
        How the losses of one data set came about.
    problem : DataProblem or TableProblem
        What drew the data sets (or the losses).
    plan : str
        The specification of the plan; empty for losses that were drawn directly.
    random_state : int
        What fixed it all.
    seconds : float
        Time it took, without what a store held already.
    subset_losses : ndarray or None
        Of plans with runs on parts of the rows, in the same axes: the losses of those runs.
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
        """Number of choices of random splits of every data set."""
        return int(self.losses.shape[1])

    @property
    def drawn(self) -> str:
        """What the problem drew, as a word: a table of losses, or a data set."""
        return "table" if isinstance(self.problem, TableProblem) else "data set"

    def sample(self, axes: int) -> Floats:
        """(learners, sets, repeats, ...) with the trailing axes that a test takes.

        Several data sets in a table: their mean losses; else (runs, folds), or all splits in one
        axis; with `BOTH_PARTS` also those of runs on parts of the rows.
        """
        values = self.losses
        K, D = values.shape[2:4]
        if axes == BOTH_PARTS:
            both = [part[:, :, :, 0].mean(axis=5).reshape(*values.shape[:3], -1)
                    for part in (values, self.subset_losses) if part is not None]  # fmt: skip
            return np.moveaxis(np.concatenate(both, axis=3), 2, 0)
        if D > 1:
            means = values.mean(axis=(4, 5, 6))
            return np.moveaxis(means, 2, 0)
        folds = values[:, :, :, 0].mean(axis=5)
        if axes == 1:
            folds = folds.reshape(*folds.shape[:2], K, -1)
        return np.moveaxis(folds, 2, 0)

    def first_runs(self, runs: int) -> Simulation:
        """The same simulation with fewer runs, as if the plan had had no more."""
        design = self.design
        if design.kind != "cv" or not 1 <= runs <= design.runs:
            raise ArgumentError(
                f"runs must be from 1 to the {design.runs} that were simulated; got {runs!r}."
            )
        kept = slice(0, runs * design.folds)
        fewer = design.with_(
            runs=runs,
            n_train=None if design.n_train is None else design.n_train[kept],
            n_test=None if design.n_test is None else design.n_test[kept],
            subsets=None,
        )
        plan = f"{runs}x{design.folds}" if runs > 1 else f"kfold:{design.folds}"
        return replace(
            self,
            losses=self.losses[:, :, :, :, :runs],
            subset_losses=None,
            design=fewer,
            plan=plan if self.plan else "",
        )

    def first_repeat(self) -> Simulation:
        """The same data sets with one choice of splits each."""
        parts = self.subset_losses
        return replace(
            self,
            losses=self.losses[:, :1],
            subset_losses=None if parts is None else parts[:, :1],
        )

    def table(self, one: int = 0, repeat: int = 0) -> Losses:
        """The losses on one data set."""
        return Losses(
            self.losses[one, repeat],
            dims=("algorithm", "dataset", "run", "fold", "repetition"),
            algorithms=self.learners,
            design=self.design,
            subset_values=None if self.subset_losses is None else self.subset_losses[one, repeat],
        )

    def decided(self, **options: Any) -> ManyDecisions:
        """What `order` decides on every table, all repeats of the first data set first."""
        parts = self.subset_losses
        return order_many(
            self.losses.reshape(-1, *self.losses.shape[2:]),
            design=self.design,
            algorithms=self.learners,
            subset_values=None if parts is None else parts.reshape(-1, *parts.shape[2:]),
            **{"random_state": self.random_state, **options},
        )

    def mean_differences(self) -> tuple[float, float]:
        """Mean loss of the second learner less that of the first, and its standard error."""
        means = self.losses.mean(axis=(1, 3, 4, 5, 6))
        difference = means[:, 1] - means[:, 0]
        spread = float(difference.std(ddof=1)) if len(difference) > 1 else float("nan")
        return float(difference.mean()), spread / float(np.sqrt(len(difference)))

    def _columns(self) -> dict[str, Any]:
        """One row per learner: its mean loss over all that was simulated."""
        means = self.losses.mean(axis=(0, 1, 3, 4, 5, 6))
        return {"learner": self.learners, "mean_loss": means}

    def to_dict(self) -> dict[str, Any]:
        """What was simulated for strict JSON, with the mean losses (not all of them)."""
        mean, error = self.mean_differences()
        held = self._columns()
        return {
            "learners": list(self.learners),
            "problem": self.problem.describe(),
            "plan": self.plan,
            "sets": self.sets,
            "repeats": self.repeats,
            "seed": self.random_state,
            "mean_losses": dict(zip(self.learners, held["mean_loss"].tolist(), strict=True)),
            "mean_difference": json_ready(mean),
            "standard_error": json_ready(error),
        }

    def explain(self) -> str:
        """What was simulated."""
        return self.describe()

    def describe(self, names: Sequence[str] | None = None) -> str:
        """What was simulated, in a sentence."""
        again = f", {self.repeats} choices of splits of each" if self.repeats > 1 else ""
        how = f" in plan {self.plan}" if self.plan else ""
        mean, error = self.mean_differences()
        shown = tuple(renamed(names, self.learners).values())
        second, first = shown[1], shown[0]
        if len(shown) > 6:
            shown = (*shown[:2], "...", shown[-1])
        spread = f" (standard error {number(error)})" if np.isfinite(error) else ""
        return (
            f"{counted(self.sets, self.drawn)} ({self.problem.describe()}){again}; "
            f"{', '.join(shown)}{how}; seed {self.random_state}. The mean loss of {second} "
            f"less that of {first} was {number(mean)}{spread}."
        )


# A simulation as a task: learners on many data sets that a problem draws.


KIND, PAYLOAD = "simulation", "losses"
"""What a store keeps of a data set: the bytes of (learners, losses) floats."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulationTask(Task[SplitSet, SetLosses]):
    """What the data sets of a simulation and their losses are a function of.

    An item is one data set with one choice of random splits.
    """

    unit: ClassVar[str] = "data sets"

    problem: DataProblem
    learners: tuple[NamedLearner, ...]
    plan: Plan
    loss: Loss
    seed: int
    threads: int = 1

    @cached_property
    def trusted(self) -> bool:
        return all(is_trusted(learner.estimator) for learner in self.learners)

    @cached_property
    def _way(self) -> Identity:
        """The code that draws, splits and judges."""
        return identify(type(self.plan), SetEvaluator, self.loss.of, self.loss.needs)

    @cached_property
    def _names(self) -> str:
        """Everything that all losses depend on."""
        learners = "+".join(learner.fingerprint for learner in self.learners)
        plan = f"{self.seed}:{self.plan.spec}:{self.plan.stratified}"
        way = f"{self._way.digest} {self.threads}"
        return f"{(self.problem.fingerprint, learners, plan, self.loss.name, way)!r}"

    @property
    def unknown(self) -> str:
        """Why losses cannot be found again in a store, where they cannot."""
        reasons = (
            *(f"{one.name}: {one.unknown}" for one in self.learners if one.unknown),
            *(f"the problem: {why}" for why in [self.problem.identity.unknown] if why),
            *(f"the loss: {why}" for why in [self._way.unknown] if why),
        )
        return next(iter(reasons), "")

    def key(self, item: SplitSet) -> str:
        text = f"simulation {self._names} {item.number} {item.repeat}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def key_of(self, result: SetLosses) -> str:
        return result.key

    def lost(self, item: SplitSet, failure: Failure) -> SetLosses:
        reason = f"data set {item.number + 1}: {failure.reason}"
        return SetLosses(key=self.key(item), losses=None, failure=replace(failure, reason=reason))

    def find(self, store: Store, items: Mapping[str, SplitSet]) -> dict[str, SetLosses]:
        found = store.get_payloads(list(items), name=PAYLOAD)
        return {
            key: SetLosses(
                key=key,
                losses=np.frombuffer(data, dtype="<f8").reshape(len(self.names), -1),
            )
            for key, data in found.items()
        }

    def keep(self, store: Store, result: SetLosses) -> None:
        if result.losses is not None:
            data = result.losses.astype("<f8").tobytes()
            store.put_payloads([Payload(digest=result.key, name=PAYLOAD, kind=KIND, data=data)])

    def label(self, item: SplitSet) -> str:
        return f"{self._who} on data set {item.number + 1}"

    @cached_property
    def _who(self) -> str:
        return " and ".join(learner.name for learner in self.learners)

    def failed(self, result: SetLosses) -> bool:
        return result.failure is not None

    def seconds(self, result: SetLosses) -> float | None:
        return result.seconds

    @property
    def names(self) -> tuple[str, ...]:
        """Names of those whose losses are simulated, most preferred first."""
        names = tuple(learner.name for learner in self.learners)
        problem = self.problem
        if isinstance(problem, ColumnBlocks):
            return tuple(f"{names[0]} {place + 1}" for place in range(len(problem.errors)))
        if not isinstance(problem, Degraded):
            return names
        worse = [f"{names[0]}, degraded{f' {one + 1}' * (problem.copies > 1)}"
                 for one in range(problem.copies)]  # fmt: skip
        return (*worse[::-1], *names) if problem.best_last else (*names, *worse)

    def seen(self, encoded: Encoded) -> list[tuple[NamedLearner, Encoded]]:
        """Who learns from what: all from the same data, or each from its own columns."""
        problem = self.problem
        if isinstance(problem, ColumnBlocks):
            (learner,) = self.learners
            return [(learner, problem.block(encoded, place))
                    for place in range(len(problem.errors))]  # fmt: skip
        return [(learner, encoded) for learner in self.learners]

    @property
    def by_instance(self) -> bool:
        """One test set: a loss for each of its instances, as `compare` has it."""
        return self.plan.kind == "holdout" and self.loss.name == "zero-one"

    def design(self, splits: Splits) -> Design:
        """How the losses of one data set come about."""
        if not self.by_instance:
            return splits.design
        return Design(kind="test-set", folds=int(splits.marks[0].sum()))

    def evaluator(self) -> SetEvaluator:
        return SetEvaluator(self)

    def rng(self, purpose: int, *numbers: int) -> np.random.Generator:
        """The stream of random numbers of one purpose and data set."""
        return np.random.default_rng(
            np.random.SeedSequence(self.seed, spawn_key=(purpose, *numbers))
        )

    def encoded(self, number: int) -> Encoded:
        """Data set `number`."""
        return self.problem.encoded(self.rng(DATA, number))

    def splits(self, number: int, repeat: int, encoded: Encoded) -> Splits:
        """Its splits, as `plan` makes them for another seed."""
        key = np.random.SeedSequence(self.seed, spawn_key=(SPLITS, number, repeat))
        seed = int(key.generate_state(1, np.uint64)[0])
        return replace(self.plan, seed=seed).materialise(encoded.n, encoded.y)


# Simulate: losses of learners on many data sets that a problem draws.


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
        or ``"dask"``, and the address of the cluster. The losses are the same everywhere.
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
    K, cells = len(task.names), design.runs * design.folds
    losses = np.stack(found).reshape(sets, repeats, K, 1, -1)
    subsets = design.subsets
    parts = None
    if subsets is not None:
        parts = losses[..., cells:].reshape(sets, repeats, K, 1, subsets.runs, subsets.folds, 1)
    return Simulation(
        losses=losses[..., :cells].reshape(sets, repeats, K, 1, design.runs, design.folds, 1),
        subset_losses=parts,
        learners=task.names,
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
    shape, subsets = (1, 2, len(task.names), 1), design.subsets
    losses = rng.integers(0, 2, (*shape, design.runs, design.folds, 1)).astype(np.float64)
    parts = None
    if subsets is not None:
        parts = rng.integers(0, 2, (*shape, subsets.runs, subsets.folds, 1)).astype(np.float64)
    return Simulation(
        losses=losses,
        subset_losses=parts,
        learners=task.names,
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
    learners = tuple(NamedLearner.of(name, estimator) for name, estimator in named.items())
    if isinstance(problem, Degraded | ColumnBlocks):
        if len(learners) != 1:
            name, meets = (
                ("degraded", "itself made worse")
                if isinstance(problem, Degraded)
                else ("blocks", "itself on other columns")
            )
            raise ArgumentError(
                f"learners for problem {name!r} must be one, which meets {meets}; got "
                f"{', '.join(named)}."
            )
    elif len(learners) < 2:
        raise ArgumentError(
            f"learners must hold at least 2 learners to compare; got only {next(iter(named))!r}."
        )
    prints = [learner.fingerprint for learner in learners]
    for place, learner in enumerate(learners):
        if learner.fingerprint in prints[:place]:
            twin = learners[prints.index(learner.fingerprint)].name
            raise ArgumentError(
                f"learners must differ; {learner.name!r} is the same learner as {twin!r}, so "
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
    return SimulationTask(problem=problem, learners=learners, plan=made, loss=chosen, seed=seed)


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
