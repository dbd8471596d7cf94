"""Run a task in this process, in worker processes or on a Dask cluster, as an `Execution` says.

Results are bit-for-bit identical on all engines.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self

from bestofk._base.checks import one_of, positive, whole
from bestofk._base.errors import ArgumentError
from bestofk.run.process_state import limited_threads
from bestofk.run.progress import Progress
from bestofk.run.task import Block, Blocks, Task, Times

ENGINES = ("auto", "serial", "processes", "dask")
START_COST = 3.0
"""Seconds of remaining work above which starting worker processes pays off."""
LOOK_SECONDS = 0.05
"""Time between two estimates of the remaining work."""


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
        Where the fits run: in this process, in worker processes, or on a Dask cluster. ``"auto"``
        uses worker processes if there is enough work.
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
        were killed, ran out of memory, had less time or lacked a package.
    repetitions : int
        Repeat the same folds with other learner seeds, for stochastic learners.
    stratify : bool
        Give every fold its share of each class; False: plain random folds.
    duplicates : {"together", "split"}
        Keep copies of a row in one fold, or split them like other rows.
    dry_run : bool
        Fit every learner once, and return a `bestofk.run.dry_run.Estimate` of the fits, the time
        and the memory that the comparison needs instead of its result.
    command : sequence of str
        Words of the command line, for the store and the report; passwords in it are hidden.

    Examples
    --------
    >>> Engine(Execution(n_jobs=2, engine="serial")).workers
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
    dry_run: bool = False
    command: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name, at_least in (("threads", 1), ("repetitions", 1)):
            object.__setattr__(self, name, whole(getattr(self, name), name, at_least=at_least))
        one_of(self.on_failure, "on_failure", ON_FAILURE)
        one_of(self.duplicates, "duplicates", DUPLICATES)
        object.__setattr__(self, "command", tuple(self.command))
        one_of(self.engine, "engine", ENGINES)
        if isinstance(self.n_jobs, bool) or not isinstance(self.n_jobs, int) or self.n_jobs == 0:
            raise ArgumentError(
                "n_jobs must be a whole number of workers, or -1 for one per core; got "
                f"{self.n_jobs!r}."
            )
        for name in ("timeout", "budget"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, positive(getattr(self, name), name))
        if self.scheduler is not None and self.engine not in ("auto", "dask"):
            raise ArgumentError(
                f"scheduler applies only to the engine 'dask', not {self.engine!r}."
            )
        if self.engine == "dask" and self.scheduler is None:
            raise ArgumentError("The engine 'dask' needs the address of a cluster: give scheduler.")


class Engine:
    """How to run a task; a context that keeps the workers for several runs of one task.

    The engine ``"serial"`` evaluates one item after the other, in this process or, if there is a
    timeout or a deadline, in one watched process. ``"auto"`` uses this process if there is little
    work and the task is trusted (all learners are scikit-learn's or built in), and worker processes
    if not.
    """

    def __init__(self, execution: Execution) -> None:
        self.execution, self.timeout = execution, execution.timeout
        self.name = execution.engine
        if execution.scheduler is not None:
            self.name = "dask"
        self._pool: Any = None
        """The pool of workers or the connection to a cluster."""
        self._contexts = 0

    @property
    def workers(self) -> int:
        """Number of worker processes."""
        jobs = self.execution.n_jobs
        return jobs if jobs > 0 else max(1, cores() + 1 + jobs)

    @property
    def pids(self) -> list[int]:
        """Ids of the worker processes of a pool."""
        return [worker.pid for worker in getattr(self._pool, "workers", ())]

    def __enter__(self) -> Self:
        self._contexts += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._contexts -= 1
        if not self._contexts:
            self._close()

    def _close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def run(
        self,
        task: Task,
        items: Sequence[Any],
        *,
        times: Times | None = None,
        deadline: float | None = None,
        claim: Callable[[Iterator[Block]], Iterator[Block]] | None = None,
    ) -> Generator[Any, None, None]:
        """Yield the result of each item as it arrives, and count it in `times`.

        - `task`: The task of the items, which are consumed lazily.
        - `times`: The waiting items; by default these items.
        - `deadline`: End of the run, on the clock of `time.monotonic`.
        - `claim`: Yields the parts of blocks that no other process works on.
        """
        if times is None:
            times = Times(Counter(map(task.timed_as, items)))
        times.workers = 1 if self.name == "serial" else self.workers
        # a fit in this process cannot be stopped
        watched = self.timeout is not None or deadline is not None
        here = not watched and (self.name == "serial" or (self.name == "auto" and task.trusted))
        # in this process folds in order share their rows; with a deadline all learners finish one
        in_order = deadline is not None or (here and claim is None)
        blocks = task.together(items) if in_order else iter(Blocks(task, items, times))
        if claim is not None:
            blocks = claim(blocks)
        run_blocks = self._here if here else self._in_pool
        results = run_blocks(task, blocks, times, deadline)
        with limited_threads(task.threads), closing(results):
            for result in results:
                seconds = result.seconds if result.failure is None else None
                times.done(task.timed_as(result), seconds)
                yield result

    def _here(
        self,
        task: Task,
        blocks: Iterator[Block],
        times: Times,
        deadline: float | None,
    ) -> Generator[Any, None, None]:
        """Evaluate in this process, until it is clear that workers would be faster."""
        may_start, last_look = self.name == "auto" and self.workers > 1, 0.0
        for block in blocks:
            if may_start and time.monotonic() - last_look > LOOK_SECONDS:
                last_look = time.monotonic()
                if self._pool is not None or times.known_work() > START_COST:
                    rest = Blocks(task, chain(block, chain.from_iterable(blocks)), times)
                    yield from self._in_pool(task, iter(rest), times, deadline)
                    return
            yield from task.evaluate(block)

    def _in_pool(
        self,
        task: Task,
        blocks: Iterator[Block],
        times: Times,
        deadline: float | None,
    ) -> Generator[Any, None, None]:
        """Run blocks in the pool of the last run, or in a new one."""
        finished = False
        try:
            if self._pool is None:
                self._pool = self._new_pool(task, times)
            yield from self._pool.run(blocks, deadline=deadline)
            finished = True
        finally:
            if not (finished and self._contexts):
                self._close()

    def _new_pool(self, task: Task, times: Times) -> Any:
        if self.name == "dask":
            from bestofk.run.dask import DaskCluster

            cluster = DaskCluster(task, self.execution)
            times.workers = cluster.blocks_at_once
            return cluster
        from bestofk.run.pool import new_pool

        # a trusted task may be forked from a process that has threads
        here = self.name == "serial" or (task.trusted and self.name != "processes")
        return new_pool(task, jobs=times.workers, timeout=self.timeout, here=here)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
