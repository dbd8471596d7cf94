"""Running a simulation: data sets in this process or in workers, kept in a store, resumed."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from itertools import islice
from typing import Any

import numpy as np

from bestofk.checks import Floats, one_of, whole
from bestofk.errors import ArgumentError, Interrupted, RunError
from bestofk.lab.one_data_set import Work
from bestofk.lab.simulation import Simulation
from bestofk.learners.specification import named_learners
from bestofk.plans.plan import Plan, plan as make_plan
from bestofk.problems.column_blocks import ColumnBlocks
from bestofk.problems.drawn_losses import TableProblem
from bestofk.problems.generator import DataProblem
from bestofk.problems.given_rows import Degraded
from bestofk.problems.registry import as_problem
from bestofk.run.cells import CellResult
from bestofk.run.engines.blocks import Block
from bestofk.run.engines.engine import START_COST, Engine
from bestofk.run.evaluation.loss_functions import as_loss
from bestofk.run.evaluation.models import is_trusted
from bestofk.run.experiment import Contender, Place
from bestofk.run.progress import Silence, observer

ENGINES = ("auto", "serial", "processes")
MOST_AT_ONCE = 50
"""Data sets that a worker gets at once at the most."""
BLOCK_SECONDS = 0.5


def simulate(
    learners: Any = ("naive-bayes", "c4.5"),
    problem: Any = "binary",
    plan: str | Plan = "10x10",
    *,
    sets: int = 1000,
    repeats: int = 1,
    loss: Any = None,
    random_state: int = 0,
    jobs: int = -1,
    engine: str = "auto",
    store: Any = None,
    progress: bool | str | Silence = False,
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
    jobs, engine
        Worker processes (-1: one a core); ``"auto"``, ``"serial"`` or ``"processes"``.
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
    drawn = as_problem(problem)
    if isinstance(drawn, TableProblem):
        return _tables(drawn, sets, repeats, random_state)
    one_of(engine, "engine", ENGINES)
    work = _work(learners, drawn, plan, loss, random_state)
    first = work.splits(0, 0, work.encoded(0))
    places = [
        Place(learner=0, dataset=0, run=number, fold=0, repetition=repeat)
        for number in range(sets)
        for repeat in range(repeats)
    ]
    begin = time.monotonic()
    found = _run(work, places, Engine(name=engine, jobs=jobs), store, observer(progress))
    design = work.design(first)
    K, cells = len(work.learners), design.runs * design.folds
    losses = np.stack([found[place].reshape(K, -1) for place in places])
    losses = losses.reshape(sets, repeats, K, 1, -1)
    subsets = design.subsets
    parts = None
    if subsets is not None:
        parts = losses[..., cells:].reshape(sets, repeats, K, 1, subsets.runs, subsets.folds, 1)
    return Simulation(
        losses=losses[..., :cells].reshape(sets, repeats, K, 1, design.runs, design.folds, 1),
        subset_losses=parts,
        learners=work.learners,
        design=design,
        problem=drawn,
        plan=work.plan.spec,
        random_state=random_state,
        seconds=time.monotonic() - begin,
    )


def rehearse(learners: Any, problem: Any, plan: Any, loss: Any = None) -> Simulation:
    """A simulation of the right shape with losses of no meaning, to try a question on."""
    drawn = as_problem(problem)
    if isinstance(drawn, TableProblem):
        return _tables(drawn, 1, 2, 0)
    work = _work(learners, drawn, plan, loss, 0)
    design = work.design(work.splits(0, 0, work.encoded(0)))
    rng = np.random.default_rng(0)
    shape, subsets = (1, 2, len(work.learners), 1), design.subsets
    losses = rng.integers(0, 2, (*shape, design.runs, design.folds, 1)).astype(np.float64)
    parts = None
    if subsets is not None:
        parts = rng.integers(0, 2, (*shape, subsets.runs, subsets.folds, 1)).astype(np.float64)
    return Simulation(
        losses=losses,
        subset_losses=parts,
        learners=work.learners,
        design=design,
        problem=drawn,
        plan=work.plan.spec,
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


def _work(learners: Any, problem: DataProblem, plan: Any, loss: Any, seed: int) -> Work:
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
    if isinstance(problem, Degraded) and "+" in made.spec:
        raise ArgumentError(
            "plan for problem 'degraded' must have no runs on parts of the rows; got "
            f"{made.spec!r}."
        )
    classes = problem.encoded(np.random.default_rng(0)).classes
    chosen = as_loss("zero-one" if loss is None else loss, classes=classes)
    if isinstance(problem, Degraded) and chosen.name != "zero-one":
        raise ArgumentError("problem 'degraded' counts wrong answers: its loss must be zero-one.")
    return Work(problem=problem, contenders=contenders, plan=made, loss=chosen, seed=seed)


def _run(
    work: Work, places: list[Place], engine: Engine, store: Any, told: Silence
) -> dict[Place, Floats]:
    """The losses of every place: from the store where it has them, else evaluated and stored."""
    from bestofk.run.store.store import open_store

    found: dict[Place, Floats] = {}
    by_digest = {work.key(place).digest: place for place in places}
    who = " and ".join(contender.name for contender in work.contenders)
    with open_store(store) as kept, told:
        if store is not None:
            for digest, result in kept.get([work.key(place) for place in places]).items():
                if result.predictions is not None:
                    found[by_digest[digest]] = np.frombuffer(result.predictions, dtype="<f8")
        missing = [place for place in places if place not in found]
        told.start(total=len(places), done=len(found))
        run = _results(work, missing, engine)
        try:
            for result in run:
                place = by_digest[result.key.digest]
                if result.failure is not None:
                    raise RunError(result.failure.reason)
                assert result.predictions is not None
                found[place] = np.frombuffer(result.predictions, dtype="<f8")
                if store is not None:
                    kept.put([result])
                told.cell(learner=who, dataset=f"data set {place.run + 1}", failed=False)
        except KeyboardInterrupt:
            kept.flush()
            raise Interrupted(_what_is_safe(len(found), len(places), store)) from None
        finally:
            run.close()
    return found


def _what_is_safe(done: int, total: int, store: Any) -> str:
    if store is None:
        return (
            f"interrupted after {done} of {total} data sets; nothing is kept without a store: add "
            "one (--store lab.db) to be able to go on."
        )
    return (
        f"interrupted; {done} of {total} data sets are safe in the store: the same call goes on "
        "from there."
    )


def _results(work: Work, places: list[Place], engine: Engine) -> Generator[CellResult, None, None]:
    """In this process until it is clear that workers would be faster."""
    evaluator, waiting = work.evaluator(), iter(places)
    trusted = all(is_trusted(contender.estimator) for contender in work.contenders)
    if engine.name == "processes" or (engine.name == "auto" and not trusted):
        yield from _in_workers(work, waiting, engine)
        return
    begin, done = 0.0, 0
    for place in waiting:
        yield from evaluator.evaluate([place])
        done += 1
        if done == 1:
            # the first also pays for imports
            begin = time.perf_counter()
            continue
        each = (time.perf_counter() - begin) / (done - 1)
        left = each * (len(places) - done)
        if engine.name == "auto" and engine.workers > 1 and left > START_COST:
            yield from _in_workers(work, waiting, engine)
            return


def _in_workers(
    work: Work, waiting: Iterator[Place], engine: Engine
) -> Generator[CellResult, None, None]:
    import cloudpickle

    from bestofk.run.engines.workers import Pool

    try:
        packed = cloudpickle.dumps(work)
    except Exception:
        # any class may raise anything while it is pickled: then the work stays here
        yield from work.evaluator().evaluate(waiting)
        return
    anything: Any = work
    pool = Pool(anything, packed, jobs=engine.workers, timeout=None)
    try:
        yield from pool.run(_blocks(waiting))
    finally:
        pool.close()


def _blocks(places: Iterator[Place]) -> Iterator[Block]:
    """Blocks of about half a second of work, as far as the pace so far tells."""
    begin, given, at_once = time.perf_counter(), 0, 1
    while group := tuple(islice(places, at_once)):
        yield Block(places=group, whole_plan=False)
        given += len(group)
        pace = given / max(time.perf_counter() - begin, 1e-6)
        # at most twice as many as before: the first ones wait for the workers to start
        at_once = min(MOST_AT_ONCE, 2 * at_once, max(1, math.floor(BLOCK_SECONDS * pace)))
