"""Where cells are evaluated: in this process, in workers, on a cluster; all results are equal."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

from bestofk.checks import one_of, positive
from bestofk.errors import ArgumentError
from bestofk.run.cells import CellResult
from bestofk.run.engines.blocks import Block, blocks_of
from bestofk.run.evaluation.evaluate import Evaluator
from bestofk.run.evaluation.models import is_trusted
from bestofk.run.experiment import Experiment, Place

ENGINES = ("auto", "serial", "processes", "dask", "ray")
START_COST = 3.0
"""Seconds of work left from which it pays to start worker processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """How to run cells.

    Parameters
    ----------
    name : str
        ``"auto"``: in this process while little is to be done and all learners are
        scikit-learn's or ours, else in worker processes; ``"serial"``, ``"processes"``,
        ``"dask"`` or ``"ray"`` as named.
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

    @property
    def workers(self) -> int:
        """Number of worker processes."""
        return self.jobs if self.jobs > 0 else max(1, cores() + 1 + self.jobs)

    def run(
        self,
        experiment: Experiment,
        places: Iterable[Place],
        *,
        total: int,
        deadline: float | None = None,
    ) -> Generator[CellResult, None, None]:
        """The result of every place, as they come.

        Parameters
        ----------
        experiment : Experiment
            What the cells are a function of.
        places : iterable of Place
            Taken lazily, in the order of `Experiment.places`.
        total : int
            How many there will be, for the estimate of the work.
        deadline : float, optional
            On the clock of `time.monotonic`: what is not done by then is not done.
        """
        blocks = (
            blocks_of(experiment, places)
            if deadline is None
            else _until(deadline, blocks_of(experiment, places, runs_at_once=1))
        )
        if self.name in ("dask", "ray"):
            from bestofk.run.engines.cluster import run_on_cluster

            return run_on_cluster(
                experiment,
                blocks,
                backend=self.name,
                jobs=self.jobs,
                scheduler=self.scheduler,
                timeout=self.timeout,
                deadline=deadline,
            )
        if self.name == "processes":
            return self._in_workers(experiment, blocks, deadline)
        if self.name == "serial":
            return _in_process(experiment, blocks)
        if self.timeout is not None or not all(
            is_trusted(contender.estimator) for contender in experiment.contenders
        ):
            return self._in_workers(experiment, blocks, deadline)
        return self._auto(experiment, blocks, total, deadline)

    def _in_workers(
        self, experiment: Experiment, blocks: Iterable[Block], deadline: float | None
    ) -> Generator[CellResult, None, None]:
        from bestofk.run.engines.workers import run_in_workers

        return run_in_workers(
            experiment, blocks, jobs=self.workers, timeout=self.timeout, deadline=deadline
        )

    def _auto(
        self, experiment: Experiment, blocks: Iterator[Block], total: int, deadline: float | None
    ) -> Generator[CellResult, None, None]:
        """In this process until it is clear that workers would be faster.

        The work left is estimated from the time of the fits themselves: the first block also
        pays for imports, which workers would pay for again.
        """
        evaluator = Evaluator(experiment)
        spent, done = 0.0, 0
        for block in blocks:
            for result in evaluator.evaluate(block.places):
                spent += (result.fit_time or 0.0) + (result.predict_time or 0.0)
                done += 1
                yield result
            left = spent / done * (total - done)
            if self.workers > 1 and left > START_COST:
                yield from self._in_workers(experiment, blocks, deadline)
                return


def _until(deadline: float, blocks: Iterator[Block]) -> Iterator[Block]:
    for block in blocks:
        if time.monotonic() >= deadline:
            return
        yield block


def _in_process(
    experiment: Experiment, blocks: Iterable[Block]
) -> Generator[CellResult, None, None]:
    evaluator = Evaluator(experiment)
    for block in blocks:
        yield from evaluator.evaluate(block.places)


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
