"""How a comparison is run, as one value: workers, time, store; checked when it is made."""

from __future__ import annotations

import os
from dataclasses import dataclass

from bestofk._base.checks import one_of, positive, whole
from bestofk._base.errors import ArgumentError
from bestofk.run.engines.engine import Engine
from bestofk.run.progress import Progress

ON_FAILURE = ("record", "stop")


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How to run the fits of a comparison; results depend on `threads` and `budget` alone.

    Attributes
    ----------
    n_jobs : int
        Number of workers; -1 for one per core.
    threads : int
        Threads that BLAS and OpenMP may use in one fit, the same in every engine: sums come out
        with other last digits for another number, so that it is part of what a fit is known by.
        What an estimator sets itself (its own ``n_jobs``) stays its own.
    engine, scheduler, timeout
        See `bestofk.run.engines.engine.Engine`.
    budget : float or None
        Seconds until the decision is made from what is done.
    store : path, URL or None
        Where fits are kept; None: memory.
    progress : bool, "log" or an observer
        Who is told how far it is.
    on_failure : {"record", "stop"}
        A learner that fails is recorded and left out, or ends the run.
    retry_failed : bool
        Run every fit again that the store holds as failed. Without it those are run again that
        were killed, ran out of memory, had less time or lacked a package that is there now.
    keep_predictions : bool
        Keep what was predicted for every test row.

    Examples
    --------
    >>> Execution(n_jobs=2, engine="serial").runner().workers
    2
    """

    n_jobs: int = -1
    threads: int = 1
    engine: str = "auto"
    scheduler: str | None = None
    timeout: float | None = None
    budget: float | None = None
    store: str | os.PathLike[str] | None = None
    progress: bool | str | Progress = True
    on_failure: str = "record"
    retry_failed: bool = False
    keep_predictions: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.n_jobs, bool) or not isinstance(self.n_jobs, int) or self.n_jobs == 0:
            raise ArgumentError(
                "n_jobs must be a whole number of workers, or -1 for one per core; got "
                f"{self.n_jobs!r}."
            )
        object.__setattr__(self, "threads", whole(self.threads, "threads", at_least=1))
        one_of(self.on_failure, "on_failure", ON_FAILURE)
        if self.budget is not None:
            object.__setattr__(self, "budget", positive(self.budget, "budget"))
        self.runner()

    def runner(self) -> Engine:
        """What runs the fits."""
        return Engine(
            name=self.engine, jobs=self.n_jobs, scheduler=self.scheduler, timeout=self.timeout
        )
