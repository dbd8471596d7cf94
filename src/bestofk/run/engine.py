"""Run a task in this process, in worker processes or on a Dask cluster, as an `Execution` says.

Results are bit-for-bit identical on all engines.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from bestofk._base.checks import one_of, positive, whole
from bestofk._base.errors import ArgumentError, RunError
from bestofk.run.process_state import limited_threads
from bestofk.run.progress import Progress
from bestofk.run.task import Block, ItemT, Schedule, Task, UnpicklableError

ENGINES = ("auto", "serial", "processes", "dask")
START_COST = 3.0
"""Seconds of remaining work above which starting worker processes pays off."""
SURE_SECONDS = 1.0
"""A shorter first fit says little about the next ones, because it may include imports."""


class Rounds:
    """The workers and fit times that several runs of one task share."""

    def __init__(self) -> None:
        self.schedule: Schedule | None = None
        self.pools: list[Any] = []
        """The pool of workers or the connection to a cluster, when it is not in use."""
        self.times: dict[str, tuple[int, float]] = {}
        """Number of timed items and the least seconds of one, by label."""
        self.requested = 0
        """Number of items of all rounds so far."""
        self.later = 0.0
        """Number of items that later rounds are expected to need, per item of this round."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pool in self.pools:
            pool.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """How to run a task.

    - `name`: ``"serial"`` evaluates one item after the other, in this process or, if there is a
      timeout or a deadline, in one watched process. ``"processes"`` and ``"dask"`` do what their
      names say. ``"auto"`` uses this process if there is little work and the task is trusted (all
      learners are scikit-learn's or built in), and worker processes if not.
    - `jobs`: Number of workers; -1 means one per core.
    - `scheduler`: Address of a Dask scheduler, a `distributed.Client` or a Dask cluster; by default
      a local cluster is started. It makes ``"auto"`` the engine ``"dask"``.
    - `timeout`: Time limit of one fit, in seconds.
    - `rounds`: Lets several runs of one task share their workers.
    """

    name: str = "auto"
    jobs: int = -1
    scheduler: Any = None
    timeout: float | None = None
    rounds: Rounds | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        one_of(self.name, "engine", ENGINES)
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0:
            raise ArgumentError(
                "n_jobs must be a whole number of workers, or -1 for one per core; got "
                f"{self.jobs!r}."
            )
        if self.timeout is not None:
            positive(self.timeout, "timeout")
        if self.scheduler is not None and self.name == "auto":
            object.__setattr__(self, "name", "dask")
        if self.scheduler is not None and self.name != "dask":
            raise ArgumentError(f"scheduler applies only to the engine 'dask', not {self.name!r}.")

    @property
    def workers(self) -> int:
        """Number of worker processes."""
        return self.jobs if self.jobs > 0 else max(1, cores() + 1 + self.jobs)

    def run(
        self,
        task: Task[ItemT],
        items: Sequence[ItemT],
        *,
        deadline: float | None = None,
        claim: Callable[[Iterator[Block[ItemT]]], Iterator[Block[ItemT]]] | None = None,
    ) -> Generator[ItemT, None, None]:
        """Yield the result of each item as it arrives.

        Parameters
        ----------
        task : Task
            The task of the items.
        items : sequence
            Consumed lazily.
        deadline : float, optional
            End of the run, on the clock of `time.monotonic`.
        claim : callable, optional
            Yields the parts of blocks that no other process works on.
        """
        rounds = Rounds() if self.rounds is None else self.rounds
        schedule = rounds.schedule or Schedule(workers=1 if self.name == "serial" else self.workers)
        rounds.schedule = schedule
        blocks = task.blocks(items, schedule, hurried=deadline is not None)
        if claim is not None:
            blocks = claim(blocks)
        if deadline is not None:
            blocks = _until(deadline, blocks)
        return _timed(task, self._results(task, items, blocks, schedule, deadline), schedule)

    def _results(
        self,
        task: Task[ItemT],
        items: Sequence[ItemT],
        blocks: Iterator[Block[ItemT]],
        schedule: Schedule,
        deadline: float | None,
    ) -> Generator[ItemT, None, None]:
        if self.name == "dask":
            return self._in_pool(partial(self._cluster, task, schedule), blocks, deadline)
        # a fit in this process cannot be stopped
        watched = self.timeout is not None or deadline is not None
        if self.name == "serial" and not watched:
            return _in_process(task, blocks)
        if self.name == "processes" or watched or not task.trusted:
            return self._in_workers(task, blocks, deadline)
        return self._auto(task, items, blocks)

    def _cluster(self, task: Task[ItemT], schedule: Schedule) -> Any:
        from bestofk.run.dask import DaskCluster

        cluster = DaskCluster(task, jobs=self.jobs, scheduler=self.scheduler, timeout=self.timeout)
        schedule.workers = cluster.blocks_at_once
        return cluster

    def _in_workers(
        self,
        task: Task[ItemT],
        blocks: Iterable[Block[ItemT]],
        deadline: float | None = None,
    ) -> Generator[ItemT, None, None]:
        from bestofk.run.pool import new_pool

        start = partial(
            new_pool,
            task,
            jobs=1 if self.name == "serial" else self.workers,
            timeout=self.timeout,
            # a trusted task may be forked from a process that has threads
            here=self.name == "serial" or (task.trusted and self.name != "processes"),
        )
        try:
            yield from self._in_pool(start, blocks, deadline)
        except UnpicklableError as unpicklable:
            if self.timeout is not None or deadline is not None:
                raise RunError(
                    f"{unpicklable} cannot be pickled, so this system cannot limit its time: "
                    "define it in a module, or omit the timeout and the budget."
                ) from None
            yield from _in_process(task, blocks)

    def _in_pool(
        self,
        start: Callable[[], Any],
        blocks: Iterable[Block[ItemT]],
        deadline: float | None,
    ) -> Generator[Any, None, None]:
        """Run blocks in the pool of the last round, or in a new one."""
        pools = [] if self.rounds is None else self.rounds.pools
        pool = pools.pop() if pools else start()
        finished = False
        try:
            yield from pool.run(blocks, deadline=deadline)
            finished = True
        finally:
            if finished and self.rounds is not None:
                pools.append(pool)
            else:
                pool.close()

    def _auto(
        self, task: Task[ItemT], items: Sequence[ItemT], blocks: Iterator[Block[ItemT]]
    ) -> Generator[ItemT, None, None]:
        """Evaluate in this process until it is clear that workers would be faster."""
        rounds = Rounds() if self.rounds is None else self.rounds
        if rounds.pools:
            yield from self._in_workers(task, blocks)
            return
        counts = Counter(map(task.label, items)) if self.workers > 1 else Counter()
        left = {label: (1 + rounds.later) * count for label, count in counts.items()}
        for block in blocks:
            results = task.evaluate(block.items, apart=block.apart)
            for item, result in zip(block.items, results, strict=True):
                if left:
                    label, seconds = task.label(item), result.seconds
                    left[label] -= 1
                    if seconds is not None and result.failure is None:
                        timed, least = rounds.times.get(label, (0, seconds))
                        rounds.times[label] = timed + 1, min(least, seconds)
                yield result
            work = sum(
                left.get(label, 0.0) * least
                for label, (timed, least) in rounds.times.items()
                if timed > 1 or least > SURE_SECONDS
            )
            if work > START_COST:
                yield from self._in_workers(task, blocks)
                return


def _timed(
    task: Task[ItemT], results: Generator[ItemT, None, None], schedule: Schedule
) -> Generator[ItemT, None, None]:
    """Yield the results, computed with the task's threads, and tell the schedule their times."""
    with limited_threads(task.threads), closing(results):
        for result in results:
            if result.seconds is not None and result.failure is None:
                schedule.observe(task.timed_as(result), result.seconds)
            yield result


def _until(deadline: float, blocks: Iterator[Block[ItemT]]) -> Iterator[Block[ItemT]]:
    for block in blocks:
        if time.monotonic() >= deadline:
            return
        yield block


def _in_process(task: Task[ItemT], blocks: Iterable[Block[ItemT]]) -> Generator[ItemT, None, None]:
    for block in blocks:
        yield from task.evaluate(block.items, apart=block.apart)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


ON_FAILURE = ("record", "stop")
DUPLICATES = ("together", "split")


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How `bestofk.compare` runs the fits.

    Attributes
    ----------
    n_jobs : int
        Number of workers; -1 for one per core.
    threads : int
        Threads that BLAS and OpenMP may use in one fit, the same in every engine. The last digits
        of sums depend on this number, so it is part of a fit's identity in a store. An estimator's
        own ``n_jobs`` stays its own.
    engine : {"auto", "serial", "processes", "dask"}
        Where the fits run; see `bestofk.run.engine.Engine`.
    scheduler : str, Client, cluster or None
        Address of a Dask cluster, or a `distributed.Client` or cluster object.
    timeout : float or None
        Seconds after which a fit is stopped and recorded as failed.
    budget : float or None
        Seconds until the decision is made from the finished fits.
    store : path, URL or None
        Where fits are kept; None keeps them in memory.
    progress : bool, "log" or Progress
        Progress observer.
    on_failure : {"record", "stop"}
        Record a learner that fails and leave it out, or end the run.
    retry_failed : bool
        Repeat every fit that the store holds as failed. Otherwise only those are repeated that
        were killed, ran out of memory, had less time or lacked a package that is available now.
    repetitions : int
        Repeat the same folds with other learner seeds, for stochastic learners.
    stratify : bool
        Give every fold its share of each class; False: plain random folds.
    duplicates : {"together", "split"}
        Keep copies of a row in one fold, or split them like other rows.
    command : sequence of str
        Words of the command line, for the store and the report; passwords in it are hidden.

    Examples
    --------
    >>> Execution(n_jobs=2, engine="serial").runner().workers
    2
    """

    n_jobs: int = -1
    threads: int = 1
    engine: str = "auto"
    scheduler: Any = None
    timeout: float | None = None
    budget: float | None = None
    store: str | os.PathLike[str] | None = None
    progress: bool | str | Progress = True
    on_failure: str = "record"
    retry_failed: bool = False
    repetitions: int = 1
    stratify: bool = True
    duplicates: str = "together"
    command: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name, at_least in (("threads", 1), ("repetitions", 1)):
            object.__setattr__(self, name, whole(getattr(self, name), name, at_least=at_least))
        one_of(self.on_failure, "on_failure", ON_FAILURE)
        one_of(self.duplicates, "duplicates", DUPLICATES)
        object.__setattr__(self, "command", tuple(self.command))
        if self.budget is not None:
            object.__setattr__(self, "budget", positive(self.budget, "budget"))
        self.runner()

    def runner(self) -> Engine:
        """Return the engine that runs the fits."""
        return Engine(
            name=self.engine, jobs=self.n_jobs, scheduler=self.scheduler, timeout=self.timeout
        )
