"""Run the blocks of a task on a Dask cluster.

Each block is a Dask future. On a worker of the cluster a pool of one process evaluates it. Dask
resends the block of a dead worker to another worker. If Dask gives a block up, its items are
recorded as killed. A worker keeps the task in a file, which all its processes share.
"""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
import pickle
import queue
import threading
import time
import weakref
from collections.abc import Generator, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import count, islice
from typing import Any, BinaryIO
from uuid import uuid4

from bestofk._base.errors import MissingExtraError, RunError
from bestofk.run.cells import Failure
from bestofk.run.engine import Execution
from bestofk.run.pool import Pool, unnamed_file
from bestofk.run.task import (
    Block,
    Task,
    describe_error,
    load_task,
)

BLOCKS_PER_THREAD = 2
"""Blocks sent per cluster thread, so that no worker waits for the next block."""
CONNECT_SECONDS = 10.0
"""Time limit for the scheduler to answer."""
FIRST_WORKER_SECONDS = 30.0
"""Time limit for the first worker to join."""
MAX_SENDS = 4
"""Times to send a block whose task was lost together with the workers that had it."""
_LOGGERS = (
    "distributed", "distributed.client", "distributed.comm", "distributed.core",
    "distributed.utils", "distributed.batched", "tornado.application", "asyncio",
)  # fmt: skip
"""Loggers that report lost connections, some from threads that end later."""


class DaskCluster:
    """Blocks as futures of a `distributed.Client`.

    The Dask setting ``distributed.scheduler.allowed-failures`` limits how often the scheduler
    resends the block of a dead worker.

    - `task`: The task of the items. All workers receive it when the first block is sent.
    - `execution`: Its `scheduler` is the address of the cluster, a `distributed.Client` or a Dask
      cluster. Its `n_jobs` limits the blocks that are evaluated at the same time; -1 uses all
      threads of the cluster. Its `timeout` limits each item.

    Raises
    ------
    MissingExtraError
        Dask is not installed.
    RunError
        The task cannot be pickled, or the cluster does not answer, has no workers, or cannot run
        bestofk.
    """

    def __init__(self, task: Task, execution: Execution) -> None:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise MissingExtraError("The engine dask", "distributed") from None
        scheduler = execution.scheduler
        self.task, self.timeout = task, execution.timeout
        self.token = uuid4().hex
        """What identifies the task on the workers."""
        self.packed: Any = None
        """The future of the task."""
        self.futures: dict[int, tuple[Any, Block, int]] = {}
        self.finished: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.tickets = count()
        self.killed_worker = distributed.KilledWorker
        with contextlib.ExitStack() as undo:
            undo.enter_context(_quiet_loggers())
            self.is_own = not isinstance(scheduler, distributed.Client)
            self.client = scheduler
            if self.is_own:
                self.client = _connected(distributed, scheduler)
            elif scheduler.asynchronous or scheduler.status != "running":
                raise RunError("scheduler is a Dask client that does not run: pass its address.")
            undo.callback(self._disconnect)
            self.blocks_at_once = BLOCKS_PER_THREAD * self._threads(scheduler, execution.n_jobs)
            self.undo = undo.pop_all()

    def _threads(self, scheduler: Any, jobs: int) -> int:
        try:
            self.client.wait_for_workers(1, timeout=FIRST_WORKER_SECONDS)
        except TimeoutError:
            raise RunError(
                f"scheduler: the Dask cluster at {scheduler!r} has no workers; none joined within "
                f"{FIRST_WORKER_SECONDS:g} s."
            ) from None
        threads = int(sum(self.client.ncores().values()))
        return max(1, threads if jobs < 1 else min(jobs, threads))

    def _sent(self) -> Any:
        """Return the future of the task; send it again if the workers that had it are gone."""
        if self.packed is not None and self.packed.status == "finished":
            return self.packed
        packed = Packed(self.task.ship())
        for _ in range(MAX_SENDS):
            try:
                # without a hash: data that was lost with its workers needs a new key
                self.packed = self.client.scatter(packed, broadcast=True, hash=False)
                return self.packed
            except OSError as error:
                # one of the workers died meanwhile
                reason = error
                if self.client.status != "running":
                    break
                self._threads(None, 1)
        raise reason

    def run(
        self,
        blocks: Iterable[Block],
        *,
        deadline: float | None = None,
    ) -> Generator[Any, None, None]:
        """Evaluate blocks, consumed as the cluster has free threads, and yield the results.

        See `bestofk.run.engine.Engine.run` for the parameters.
        """
        waiting = iter(blocks)
        while deadline is None or time.monotonic() < deadline:
            for block in islice(waiting, self.blocks_at_once - len(self.futures)):
                self._submit(next(self.tickets), block, sends=1)
            if not self.futures:
                break
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            for block, results in self.receive(left):
                if results is None:
                    reason = "the Dask workers that evaluated it were killed."
                    lost = Failure(kind="killed", reason=reason)
                    yield from (self.task.lost(item, lost) for item in block)
                else:
                    yield from results

    def _submit(self, ticket: int, block: Block, sends: int) -> None:
        try:
            future = self.client.submit(
                evaluate_block, self.token, self._sent(), block, self.timeout, pure=False
            )
        except RunError:
            raise
        except (RuntimeError, OSError) as error:
            raise self._disconnected(error) from None
        self.futures[ticket] = (future, block, sends)
        future.add_done_callback(lambda done: self.finished.put((ticket, done)))

    def receive(self, seconds: float | None) -> list[tuple[Block, list[Any] | None]]:
        """Wait `seconds` for a block, and return all finished blocks and their results.

        The results are None if the block was lost with its workers.
        """
        received: list[tuple[Block, list[Any] | None]] = []
        finished: list[tuple[Any, Block]] = []
        with contextlib.suppress(queue.Empty):
            ticket, future = self.finished.get(timeout=seconds)
            while True:
                _, block, sends = self.futures.pop(ticket)
                if self.client.status != "running":
                    raise self._disconnected(None)
                if future.status == "finished":
                    finished.append((future, block))
                elif future.status == "error":
                    error = future.exception()
                    if not isinstance(error, self.killed_worker):
                        raise RunError(
                            f"A worker of the Dask cluster failed: {describe_error(error)}"
                        )
                    received.append((block, None))
                elif sends >= MAX_SENDS:
                    received.append((block, None))
                else:
                    # cancelled: the workers that had the task are gone
                    self._threads(None, 1)
                    self._submit(ticket, block, sends + 1)
                ticket, future = self.finished.get_nowait()
        # one message for all
        results = self.client.gather([future for future, _ in finished])
        return [*received, *zip((block for _, block in finished), results, strict=True)]

    def _disconnected(self, error: BaseException | None) -> RunError:
        reason = "" if error is None else f" ({describe_error(error)})"
        return RunError(
            f"The connection to the Dask cluster is lost{reason}; results received so far are kept."
        )

    def close(self) -> None:
        """Cancel pending blocks and disconnect."""
        self.undo.close()

    def _disconnect(self) -> None:
        with contextlib.suppress(Exception):
            # a broken cluster cannot be cleaned up
            self.client.cancel([future for future, _, _ in self.futures.values()])
            self.client.run(end_task, self.token, on_error="ignore")
        if self.is_own:
            self.client.close()


def _connected(distributed: Any, address: Any) -> Any:
    """Return a client of the cluster at an address; Dask may hang if the port is no number."""
    port = str(address).rpartition(":")[2]
    try:
        if isinstance(address, str) and "inproc://" not in address and not port.isdigit():
            raise ValueError("give host and port, such as tcp://host:8786")
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunError(
            f"scheduler: there is no Dask scheduler at {address!r:.80} ({describe_error(error)})."
        ) from None


@contextlib.contextmanager
def _quiet_loggers() -> Iterator[None]:
    """Keep messages about lost connections off the screen; bestofk raises an error instead."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


# Code that runs on a worker of the cluster: each thread evaluates blocks in a worker process.

_POOLS: dict[tuple[str, int], Pool] = {}
_TASKS: dict[str, Task] = {}
_ENDED: set[str] = set()
"""Tokens of ended tasks, whose late blocks are ignored."""
_LOCK = threading.Lock()


class Packed:
    """A pickled task; a worker keeps it in a file, so that all processes share it."""

    def __init__(self, pieces: Sequence[Any]) -> None:
        self.pieces = pieces
        self.file: BinaryIO | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Packed, ([pickle.PickleBuffer(piece) for piece in self.pieces],)

    def kept(self, folder: str) -> BinaryIO:
        """Return a copy of the descriptor of the file, which is in `folder`."""
        if self.file is None:
            self.file = unnamed_file(self.pieces, folder)
            weakref.finalize(self, self.file.close)
            self.pieces = [mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)]
        return os.fdopen(os.dup(self.file.fileno()), "r+b")


def evaluate_block(token: str, packed: Packed, block: Block, timeout: float | None) -> list[object]:
    """Return the results of a block of the task `packed`, which the token identifies."""
    if token in _ENDED:
        return []
    key = (token, threading.get_ident())
    with _LOCK:
        if key not in _POOLS:
            file = packed.kept(import_module("distributed").get_worker().local_directory)
            if token not in _TASKS:
                _TASKS[token] = load_task(packed.pieces[0])
            _POOLS[key] = Pool(_TASKS[token], file, jobs=1, timeout=timeout)
        pool = _POOLS[key]
    return list(pool.run(iter([block])))


def end_task(token: str) -> None:
    """End the worker processes of a task."""
    with _LOCK:
        _ENDED.add(token)
        _TASKS.pop(token, None)
        pools = [_POOLS.pop(key) for key in list(_POOLS) if key[0] == token]
    for pool in pools:
        pool.close()
