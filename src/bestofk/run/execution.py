"""The settings of a run, checked when they are created."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bestofk._base.checks import one_of, positive, whole
from bestofk._base.errors import ArgumentError
from bestofk.data.schema import TASK_OPTIONS
from bestofk.run.engine import Engine
from bestofk.run.progress import Progress

ON_FAILURE = ("record", "stop")


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
    keep_predictions : bool
        Keep the predictions for every test row.
    repetitions : int
        Repeat the same folds with other learner seeds, for stochastic learners.
    replicate : int
        Repeat the decision over this many other random splits of the same data, and report how
        often it came out the same.
    task : {"auto", "classification", "regression"}
        Whether the target is a label or a number. ``"auto"``: text, booleans and categories are
        labels, numbers with fractions are numbers. Whole numbers are labels if there are two of
        them, or at most 20 with five rows or more each; the verdict says so.
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
    keep_predictions: bool = False
    repetitions: int = 1
    replicate: int = 0
    task: str = "auto"
    command: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.n_jobs, bool) or not isinstance(self.n_jobs, int) or self.n_jobs == 0:
            raise ArgumentError(
                "n_jobs must be a whole number of workers, or -1 for one per core; got "
                f"{self.n_jobs!r}."
            )
        for name, at_least in (("threads", 1), ("repetitions", 1), ("replicate", 0)):
            object.__setattr__(self, name, whole(getattr(self, name), name, at_least=at_least))
        one_of(self.on_failure, "on_failure", ON_FAILURE)
        one_of(self.task, "task", TASK_OPTIONS)
        object.__setattr__(self, "command", tuple(self.command))
        if self.budget is not None:
            object.__setattr__(self, "budget", positive(self.budget, "budget"))
        self.runner()

    def runner(self) -> Engine:
        """Return the engine that runs the fits."""
        return Engine(
            name=self.engine, jobs=self.n_jobs, scheduler=self.scheduler, timeout=self.timeout
        )
