"""Limit the threads of numerical libraries, and evaluate blocks in threads of this process.

BLAS and OpenMP add numbers in an order that depends on the number of threads. Every fit therefore
has the same number of threads in every process, so that results are bit-for-bit identical.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Generic

from bestofk.run.process_state import warnings_by_thread
from bestofk.run.task import Block, ItemEvaluator, ItemT, ResultT, Task

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
_CURRENT: ContextVar[int | None] = ContextVar("_CURRENT", default=None)
"""The limit that `held_threads` has set for several runs."""


def thread_environment(threads: int) -> dict[str, str]:
    """Return the environment variables that limit libraries to `threads` threads.

    Examples
    --------
    >>> thread_environment(2)["OMP_NUM_THREADS"]
    '2'
    """
    return dict.fromkeys(VARIABLES, str(threads))


def limited(
    results: Generator[ResultT, None, None], threads: int
) -> Generator[ResultT, None, None]:
    """Yield results that are computed with `threads` threads in this process."""
    with limited_threads(threads):
        try:
            yield from results
        finally:
            results.close()


@contextmanager
def held_threads(threads: int) -> Iterator[None]:
    """Limit the threads once for several runs."""
    with limited_threads(threads):
        token = _CURRENT.set(threads)
        try:
            yield
        finally:
            _CURRENT.reset(token)


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """Limit the threads of all libraries in this process, and restore them afterwards."""
    if _CURRENT.get() == threads:
        yield
        return
    known, modules = _libraries(tuple(sys.modules)), len(sys.modules)
    try:
        with changed_environment(thread_environment(threads)), known.limit(limits=threads):
            yield
    finally:
        if len(sys.modules) > modules:
            _release({library.filepath for library in known.lib_controllers})


@lru_cache(maxsize=1)
def _libraries(modules: tuple[str, ...]) -> ThreadpoolController:  # noqa: ARG001
    """Find the loaded libraries, which takes milliseconds, once while no module is imported."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def changed_environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables, and restore them afterwards."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _release(known: set[str]) -> None:
    """Give libraries that were loaded meanwhile their default number of threads."""
    for library in _libraries(tuple(sys.modules)).lib_controllers:
        if library.filepath not in known:
            default = os.environ.get("OMP_NUM_THREADS", "")
            library.set_num_threads(int(default) if default.isdigit() else os.cpu_count() or 1)


# Evaluate blocks in threads, for tasks whose work is done in compiled kernels.

MORE_THREADS_AFTER_SECONDS = 0.05
"""Time with one thread after which the other threads are started."""
SEND_EVERY_SECONDS = 0.05
"""Time after which a thread hands over results of an unfinished block."""
_POLL_SECONDS = 0.2
"""Time between two checks of the clock, which also let Ctrl-C through."""
_END_SECONDS = 1.0
"""Time that threads have to end when their results are no longer needed."""


def run_in_threads(
    task: Task[ItemT, ResultT],
    blocks: Iterator[Block[ItemT]],
    *,
    jobs: int,
    evaluators: list[ItemEvaluator[ItemT, ResultT]] | None = None,
) -> Generator[ResultT, None, None]:
    """Evaluate blocks in up to `jobs` threads and yield results as they arrive.

    - `task`: A task with `in_threads`.
    - `blocks`: Consumed lazily, one for each idle thread.
    - `jobs`: Number of threads.
    - `evaluators`: Holds evaluators between two calls for the same task.
    """
    pool = _ThreadPool(task, jobs, [] if evaluators is None else evaluators)
    try:
        yield from pool.run(blocks)
    finally:
        pool.close()


class _ThreadPool(Generic[ItemT, ResultT]):
    """The threads, and the queues of their blocks and results."""

    def __init__(
        self,
        task: Task[ItemT, ResultT],
        jobs: int,
        evaluators: list[ItemEvaluator[ItemT, ResultT]],
    ) -> None:
        self.task, self.jobs, self.evaluators = task, jobs, evaluators
        self.threads: list[threading.Thread] = []
        self.blocks: queue.SimpleQueue[Block[ItemT] | None] = queue.SimpleQueue()
        self.results: queue.SimpleQueue[list[ResultT] | BaseException | None] = queue.SimpleQueue()
        self.stopped = threading.Event()
        self.context = ExitStack()

    def run(self, blocks: Iterator[Block[ItemT]]) -> Generator[ResultT, None, None]:
        """Yield the results."""
        begin, busy = time.monotonic(), 0
        self.context.enter_context(warnings_by_thread())
        self._start()
        block = next(blocks, None)
        while block is not None or busy:
            while block is not None and busy < len(self.threads):
                self.blocks.put(block)
                busy += 1
                block = next(blocks, None)
            wait = _POLL_SECONDS
            if block is not None and len(self.threads) < self.jobs:
                wait = begin + MORE_THREADS_AFTER_SECONDS - time.monotonic()
                if wait <= 0:
                    while len(self.threads) < self.jobs:
                        self._start()
                    continue
            try:
                message = self.results.get(timeout=wait)
            except queue.Empty:
                continue
            if isinstance(message, BaseException):
                raise message
            if message is None:  # a thread has finished a block
                busy -= 1
            else:
                yield from message

    def _start(self) -> None:
        # a daemon, because a running kernel must not keep an interrupted program alive
        thread = threading.Thread(target=self._work, name="bestofk", daemon=True)
        self.threads.append(thread)
        thread.start()

    def _work(self) -> None:
        try:
            try:
                evaluator = self.evaluators.pop()
            except IndexError:
                evaluator = self.task.evaluator()
            while (block := self.blocks.get()) is not None:
                waiting: list[ResultT] = []
                since = time.monotonic()
                for result in evaluator.evaluate(block.items):
                    if self.stopped.is_set():
                        return
                    waiting.append(result)
                    if time.monotonic() - since >= SEND_EVERY_SECONDS:
                        self.results.put(waiting)
                        waiting, since = [], time.monotonic()
                self.results.put(waiting)
                self.results.put(None)
            self.evaluators.append(evaluator)
        except BaseException as error:
            # the waiting thread raises it
            self.results.put(error)

    def close(self) -> None:
        """End the threads; a thread inside a kernel ends when the kernel returns."""
        self.stopped.set()
        for _ in self.threads:
            self.blocks.put(None)
        until = time.monotonic() + _END_SECONDS
        for thread in self.threads:
            thread.join(timeout=max(0.0, until - time.monotonic()))
        self.context.close()
