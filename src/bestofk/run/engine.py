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


@dataclass(slots=True, kw_only=True)
class Engine:
    """How to run a task; a context that keeps the workers for several runs of one task.

    - `name`: ``"serial"`` evaluates one item after the other, in this process or, if there is a
      timeout or a deadline, in one watched process. ``"processes"`` and ``"dask"`` do what their
      names say. ``"auto"`` uses this process if there is little work and the task is trusted (all
      learners are scikit-learn's or built in), and worker processes if not.
    - `jobs`: Number of workers; -1 means one per core.
    - `scheduler`: Address of a Dask scheduler, a `distributed.Client` or a Dask cluster; by default
      a local cluster is started. It makes ``"auto"`` the engine ``"dask"``.
    - `timeout`: Time limit of one fit, in seconds.
    """

    name: str = "auto"
    jobs: int = -1
    scheduler: Any = None
    timeout: float | None = None
    _pool: Any = field(default=None, init=False, repr=False, compare=False)
    """The pool of workers or the connection to a cluster."""
    _contexts: int = field(default=0, init=False, repr=False, compare=False)

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
            self.name = "dask"
        if self.scheduler is not None and self.name != "dask":
            raise ArgumentError(f"scheduler applies only to the engine 'dask', not {self.name!r}.")

    @property
    def workers(self) -> int:
        """Number of worker processes."""
        return self.jobs if self.jobs > 0 else max(1, cores() + 1 + self.jobs)

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

        Parameters
        ----------
        task : Task
            The task of the items.
        items : sequence
            Consumed lazily.
        times : Times, optional
            The waiting items; by default these items.
        deadline : float, optional
            End of the run, on the clock of `time.monotonic`.
        claim : callable, optional
            Yields the parts of blocks that no other process works on.
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

            cluster = DaskCluster(
                task, jobs=self.jobs, scheduler=self.scheduler, timeout=self.timeout
            )
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
        were killed, ran out of memory, had less time or lacked a package that is available now.
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
    >>> engine_of(Execution(n_jobs=2, engine="serial")).workers
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
        if self.budget is not None:
            object.__setattr__(self, "budget", positive(self.budget, "budget"))
        engine_of(self)


def engine_of(execution: Execution) -> Engine:
    """Return the engine that runs the fits."""
    return Engine(
        name=execution.engine, jobs=execution.n_jobs, scheduler=execution.scheduler,
        timeout=execution.timeout,
    )  # fmt: skip
