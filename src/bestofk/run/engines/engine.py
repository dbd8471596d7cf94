"""Where items are evaluated: in this process, in workers, on a cluster; all results are equal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass

from bestofk._base.checks import one_of, positive
from bestofk._base.errors import ArgumentError
from bestofk.run.engines.threads import limited
from bestofk.run.task import Block, ItemT, Pace, ResultT, Task

ENGINES = ("auto", "serial", "threads", "processes", "dask", "ray")
START_COST = 3.0
"""Seconds of work left from which it pays to start worker processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """How to run a task.

    Parameters
    ----------
    name : str
        ``"auto"``: in threads of this process where all learners are ours and no fit may have to
        be stopped; else in this process while little is to be done and the task is trusted (all
        learners are scikit-learn's or ours); else in worker processes. ``"serial"``: one item
        after the other, in this process or, where a fit may have to be stopped, in one that is
        watched; ``"threads"``, ``"processes"``, ``"dask"`` or ``"ray"`` as named.
    jobs : int
        Number of workers; -1 for one a core.
    scheduler : str, optional
        Address of a Dask scheduler or a Ray cluster; a local one is started without.
    timeout : float, optional
        Seconds that one fit may take.
    """

    name: str = "auto"
    jobs: int = -1
    scheduler: str | None = None
    timeout: float | None = None

    def __post_init__(self) -> None:
        one_of(self.name, "engine", ENGINES)
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0:
            raise ArgumentError(
                f"jobs must be a whole number of workers, or -1 for one a core; got {self.jobs!r}."
            )
        if self.timeout is not None:
            positive(self.timeout, "timeout")
        if self.scheduler is not None and self.name not in ("dask", "ray"):
            raise ArgumentError(
                f"scheduler applies to the engines dask and ray, not {self.name!r}."
            )
        if self.name == "threads" and self.timeout is not None:
            raise ArgumentError(
                "engine 'threads' cannot end a fit that goes over its timeout: say engine "
                "'processes', or no timeout."
            )

    @property
    def workers(self) -> int:
        """Number of worker processes or threads."""
        return self.jobs if self.jobs > 0 else max(1, cores() + 1 + self.jobs)

    def run(
        self,
        task: Task[ItemT, ResultT],
        items: Iterable[ItemT],
        *,
        total: int,
        deadline: float | None = None,
        cut: dict[ItemT, float] | None = None,
        claimed: Callable[[Iterator[Block[ItemT]]], Iterator[Block[ItemT]]] | None = None,
    ) -> Generator[ResultT, None, None]:
        """The result of every item, as they come.

        Parameters
        ----------
        task : Task
            What the items are a function of.
        items : iterable
            Taken lazily.
        total : int
            How many there will be, for the estimate of the work.
        deadline : float, optional
            On the clock of `time.monotonic`: what is not done by then is not done.
        cut : dict, optional
            Gets the items that the deadline cut, and the seconds that each had taken.
        claimed : callable, optional
            Leaves of the blocks what no other process works on.
        """
        pace = Pace(workers=self.workers)
        blocks = task.blocks(items, pace, hurried=deadline is not None)
        if claimed is not None:
            blocks = claimed(blocks)
        if deadline is not None:
            blocks = _until(deadline, blocks)
        results = self._results(task, blocks, total, deadline, cut)
        return pace.counting(limited(results, task.threads))

    def _results(
        self,
        task: Task[ItemT, ResultT],
        blocks: Iterator[Block[ItemT]],
        total: int,
        deadline: float | None,
        cut: dict[ItemT, float] | None,
    ) -> Generator[ResultT, None, None]:
        if self.name in ("dask", "ray"):
            from bestofk.run.engines.cluster import run_on_cluster

            return run_on_cluster(
                task,
                blocks,
                backend=self.name,
                jobs=self.jobs,
                scheduler=self.scheduler,
                timeout=self.timeout,
                deadline=deadline,
                cut=cut,
            )
        # a fit in this process could not be stopped
        watched = self.timeout is not None or deadline is not None
        if self.name == "serial" and not watched:
            return _in_process(task, blocks)
        if self.name == "threads" and not task.in_threads:
            raise ArgumentError(
                "engine 'threads' is for comparisons of bestofk's own learners by its own losses, "
                "and this is another task: say engine 'processes'."
            )
        if self.name == "processes" or watched or not task.trusted:
            return self._in_workers(task, blocks, deadline, cut)
        if self.name == "threads" or (task.in_threads and self.workers > 1):
            from bestofk.run.engines.threads import run_in_threads

            return run_in_threads(task, blocks, jobs=self.workers)
        return self._auto(task, blocks, total)

    def _in_workers(
        self,
        task: Task[ItemT, ResultT],
        blocks: Iterable[Block[ItemT]],
        deadline: float | None = None,
        cut: dict[ItemT, float] | None = None,
    ) -> Generator[ResultT, None, None]:
        from bestofk.run.engines.workers import run_in_workers

        return run_in_workers(
            task,
            blocks,
            jobs=1 if self.name == "serial" else self.workers,
            timeout=self.timeout,
            deadline=deadline,
            # what is trusted may be forked from a process that has threads
            here=self.name == "serial" or (task.trusted and self.name != "processes"),
            cut=cut,
        )

    def _auto(
        self,
        task: Task[ItemT, ResultT],
        blocks: Iterator[Block[ItemT]],
        total: int,
    ) -> Generator[ResultT, None, None]:
        """In this process until it is clear that workers would be faster."""
        evaluator = task.evaluator()
        spent, timed, done = 0.0, 0, 0
        for block in blocks:
            for result in evaluator.evaluate_block(block):
                seconds = task.seconds(result)
                if seconds is not None:
                    spent += seconds
                    timed += 1
                done += 1
                yield result
            if self.workers > 1 and timed and spent / timed * (total - done) > START_COST:
                yield from self._in_workers(task, blocks)
                return


def _until(deadline: float, blocks: Iterator[Block[ItemT]]) -> Iterator[Block[ItemT]]:
    for block in blocks:
        if time.monotonic() >= deadline:
            return
        yield block


def _in_process(
    task: Task[ItemT, ResultT], blocks: Iterable[Block[ItemT]]
) -> Generator[ResultT, None, None]:
    evaluator = task.evaluator()
    for block in blocks:
        yield from evaluator.evaluate_block(block)


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
