"""One number of threads in every fit, in whichever process: bits of sums depend on it.

Libraries that compute with several threads (BLAS, OpenMP) add in another order for another number
of threads. So the number is set, for those that are loaded and for those that a fit will load.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Generic

from bestofk.run.task import Block, ItemT, ResultT, Task, warnings_by_thread

VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
_HELD: ContextVar[int | None] = ContextVar("_HELD", default=None)
"""The number that is set already, by a run of several rounds."""


def thread_environment(threads: int) -> dict[str, str]:
    """The environment in which libraries start with so many threads.

    Examples
    --------
    >>> thread_environment(2)["OMP_NUM_THREADS"]
    '2'
    """
    return dict.fromkeys(VARIABLES, str(threads))


def limited(
    results: Generator[ResultT, None, None], threads: int
) -> Generator[ResultT, None, None]:
    """The same results, obtained with so many threads in this process."""
    with limited_threads(threads):
        try:
            yield from results
        finally:
            results.close()


@contextmanager
def held_threads(threads: int) -> Iterator[None]:
    """So many threads for several runs, none of which need set them again."""
    with limited_threads(threads):
        token = _HELD.set(threads)
        try:
            yield
        finally:
            _HELD.reset(token)


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """So many threads in every library of this process; afterwards all is as before.

    Setting them takes milliseconds, so it is done once for a whole run, or for all its rounds.
    """
    if _HELD.get() == threads:
        yield
        return
    from threadpoolctl import ThreadpoolController

    before = {name: os.environ.get(name) for name in VARIABLES}
    known = ThreadpoolController()
    os.environ.update(thread_environment(threads))
    try:
        with known.limit(limits=threads):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _release({one.filepath for one in known.lib_controllers})


def _release(known: set[str]) -> None:
    """Libraries that were loaded meanwhile get the threads that they would have started with."""
    from threadpoolctl import ThreadpoolController

    for one in ThreadpoolController().lib_controllers:
        if one.filepath not in known:
            wanted = os.environ.get("OMP_NUM_THREADS", "")
            one.set_num_threads(int(wanted) if wanted.isdigit() else os.cpu_count() or 1)


# Threads of this process, for tasks whose work is done in compiled kernels.


PATIENCE = 0.05
"""Seconds of work after which further threads are started."""
_POLL = 0.2
"""Seconds between two looks at the clock, which also let an interruption through."""
_GRACE = 1.0
"""Seconds that threads get to end when nobody wants their results any more."""


def run_in_threads(
    task: Task[ItemT, ResultT],
    blocks: Iterator[Block[ItemT]],
    *,
    jobs: int,
    deadline: float | None = None,
) -> Generator[ResultT, None, None]:
    """Evaluate blocks in up to `jobs` threads; results come as they are ready.

    Parameters
    ----------
    task : Task
        One with `in_threads`.
    blocks : iterator of Block
        Taken lazily, one for every idle thread.
    jobs : int
        Number of threads.
    deadline : float, optional
        On the clock of `time.monotonic`: what is not done by then is not done.
    """
    crew = _Crew(task, jobs)
    try:
        yield from crew.run(blocks, deadline)
    finally:
        crew.close()


class _Crew(Generic[ItemT, ResultT]):
    """The threads, what they are given and what they give back."""

    def __init__(self, task: Task[ItemT, ResultT], jobs: int) -> None:
        self.task, self.jobs = task, jobs
        self.threads: list[threading.Thread] = []
        self.given: queue.SimpleQueue[Block[ItemT] | None] = queue.SimpleQueue()
        self.done: queue.SimpleQueue[list[ResultT] | BaseException | None] = queue.SimpleQueue()
        self.stopped = threading.Event()
        self.outside = ExitStack()

    def run(
        self, blocks: Iterator[Block[ItemT]], deadline: float | None
    ) -> Generator[ResultT, None, None]:
        """The results; a thread says None when it has finished a block."""
        begin, busy = time.monotonic(), 0
        self.outside.enter_context(warnings_by_thread())
        self._start()
        block = next(blocks, None)
        while block is not None or busy:
            while block is not None and busy < len(self.threads):
                self.given.put(block)
                busy += 1
                block = next(blocks, None)
            now = time.monotonic()
            wait = _POLL
            if block is not None and len(self.threads) < self.jobs:
                wait = begin + PATIENCE - now
                if wait <= 0:
                    self._start_all()
                    continue
            if deadline is not None:
                if now >= deadline:
                    return
                wait = min(wait, deadline - now)
            try:
                said = self.done.get(timeout=wait)
            except queue.Empty:
                continue
            if isinstance(said, BaseException):
                raise said
            if said is None:
                busy -= 1
            else:
                yield from said

    def _start_all(self) -> None:
        while len(self.threads) < self.jobs:
            self._start()

    def _start(self) -> None:
        # a daemon: a kernel that is under way must not keep an interrupted program alive
        thread = threading.Thread(target=self._work, name="bestofk", daemon=True)
        self.threads.append(thread)
        thread.start()

    def _work(self) -> None:
        try:
            evaluator = self.task.evaluator()
            while (block := self.given.get()) is not None:
                waiting: list[ResultT] = []
                since = time.monotonic()
                for result in evaluator.evaluate(block.items):
                    if self.stopped.is_set():
                        return
                    waiting.append(result)
                    if time.monotonic() - since >= PATIENCE:
                        self.done.put(waiting)
                        waiting, since = [], time.monotonic()
                self.done.put(waiting)
                self.done.put(None)
        except BaseException as raised:
            # whatever it is, the thread that waits has to know
            self.done.put(raised)

    def close(self) -> None:
        """End the threads; one in the middle of a kernel ends when that returns."""
        self.stopped.set()
        for _ in self.threads:
            self.given.put(None)
        until = time.monotonic() + _GRACE
        for thread in self.threads:
            thread.join(timeout=max(0.0, until - time.monotonic()))
        self.outside.close()
