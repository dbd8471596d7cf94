"""Run the blocks of a task on a Dask cluster.

Each block is a Dask future. Dask resends the block of a dead worker to another worker. If Dask
gives a block up, worker processes on this machine evaluate it and record what fails. (With
`joblib.Parallel`, one lost block would end the whole run.)
"""

from __future__ import annotations

import contextlib
import logging
import mmap
import queue
import tempfile
import threading
import time
from collections import deque
from collections.abc import Generator, Hashable, Iterable, Iterator
from importlib import import_module
from itertools import chain, count
from pathlib import Path
from typing import Any, Generic
from uuid import uuid4

from bestofk._base.errors import MissingExtraError, RunError
from bestofk.run.engines.engine import Engine
from bestofk.run.engines.forked_workers import START_SECONDS, WorkerSource
from bestofk.run.engines.workers import Pool, run_in_workers, without_local_items
from bestofk.run.task import (
    Block,
    BlockSizer,
    ItemT,
    ResultT,
    Shipment,
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


def run_on_dask(
    task: Task[ItemT, ResultT],
    blocks: Iterable[Block[ItemT]],
    *,
    sizer: BlockSizer | None = None,
    jobs: int = -1,
    scheduler: Any = None,
    timeout: float | None = None,
    deadline: float | None = None,
    cut: dict[ItemT, float] | None = None,
    pools: list[Any] | None = None,
) -> Generator[ResultT, None, None]:
    """Evaluate blocks on a Dask cluster and yield results as they arrive.

    - `task`: The task of the items. Each worker receives it once.
    - `blocks`: Consumed lazily, as the cluster has free threads.
    - `sizer`: Receives the number of blocks that are sent at once before the first one is
      requested.
    - `jobs`: Number of blocks evaluated at the same time; -1 uses all threads of the cluster.
      Without a scheduler, the number of threads of the local cluster.
    - `scheduler`: Address of the cluster, a `distributed.Client` or a Dask cluster; by default a
      local cluster is started.
    - `timeout`: Time limit of one item, in seconds.
    - `deadline`: End of the run, on the clock of `time.monotonic`.
    - `cut`: Receives the items that the deadline cut off, with the seconds since they were sent.
    - `pools`: Holds the connection between two calls for the same task; the caller closes it.

    Raises
    ------
    MissingExtraError
        Dask is not installed.
    RunError
        The cluster does not answer, has no workers, or cannot run bestofk.
    """
    cluster: DaskCluster[ItemT, ResultT]
    if pools:
        cluster = pools.pop()
    else:
        shipment = task.ship()
        if shipment.packed is None or (shipment.is_local is not None and deadline is not None):
            # local items are evaluated last, and the deadline may leave no time for them
            yield from _run_here(task, blocks, jobs, timeout, deadline, cut)
            return
        cluster = DaskCluster(shipment, jobs=jobs, scheduler=scheduler, timeout=timeout)
        # the data may take much memory
        del shipment
    local: deque[Block[ItemT]] = deque()
    source = iter(blocks)
    to_send = source
    if cluster.is_local is not None:
        to_send = without_local_items(source, cluster.is_local, local)
    if sizer is not None:
        sizer.workers = BLOCKS_PER_THREAD * cluster.threads
    pending: dict[int, Block[ItemT]] = {}
    sent_at: dict[int, float] = {}
    finished = False
    try:
        last_result = time.monotonic()
        while True:
            while len(pending) < BLOCKS_PER_THREAD * cluster.threads:
                block = next(to_send, None)
                if block is None:
                    break
                ticket = cluster.send(block)
                pending[ticket], sent_at[ticket] = block, time.monotonic()
            if not pending:
                finished = True
                break
            wait = _seconds_to_wait(pending, timeout, last_result, deadline)
            if wait is not None and wait <= 0:
                now = time.monotonic()
                if deadline is None or now < deadline:
                    # the workers do not answer: evaluate their blocks here
                    local.extend(pending.values())
                elif cut is not None:
                    cut.update({pending[at].items[0]: now - sent_at[at] for at in pending})
                break
            received = cluster.receive(wait)
            if received is None:
                continue
            last_result = time.monotonic()
            ticket, results = received
            block = pending.pop(ticket)
            if results is None:
                local.append(block)
            else:
                yield from results
    finally:
        if finished and pools is not None:
            pools.append(cluster)
        else:
            cluster.close()
    rest = chain(local, source)
    first = next(rest, None)
    if first is not None:
        yield from _run_here(task, chain([first], rest), jobs, timeout, deadline, cut)


def _run_here(
    task: Task[ItemT, ResultT],
    blocks: Iterable[Block[ItemT]],
    jobs: int,
    timeout: float | None,
    deadline: float | None,
    cut: dict[ItemT, float] | None,
) -> Iterator[ResultT]:
    workers = Engine(name="processes", jobs=jobs).workers
    return run_in_workers(task, blocks, jobs=workers, timeout=timeout, deadline=deadline, cut=cut)


def _seconds_to_wait(
    pending: dict[int, Block[ItemT]],
    timeout: float | None,
    last_result: float,
    deadline: float | None,
) -> float | None:
    """Return the seconds until the deadline, or until a silent cluster is given up."""
    ends = [] if deadline is None else [deadline]
    if timeout is not None:
        longest = max(len(block) for block in pending.values())
        # workers stop fits that exceed the timeout; each may have several blocks to do
        ends.append(last_result + START_SECONDS + (BLOCKS_PER_THREAD + 1) * longest * timeout)
    return min(ends) - time.monotonic() if ends else None


class DaskCluster(Generic[ItemT, ResultT]):
    """Blocks as futures of a `distributed.Client`.

    The Dask setting ``distributed.scheduler.allowed-failures`` limits how often the scheduler
    resends the block of a dead worker.
    """

    threads: int
    """Number of blocks that the cluster evaluates at the same time."""

    def __init__(
        self,
        shipment: Shipment[ItemT],
        *,
        jobs: int,
        scheduler: Any,
        timeout: float | None,
    ) -> None:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise MissingExtraError("The engine dask", "dask") from None
        self.is_local, self.token, self.timeout = shipment.is_local, uuid4().hex, timeout
        self.packed: bytes | str | None = shipment.packed
        self.futures: dict[int, tuple[Any, Block[ItemT], int]] = {}
        self.finished: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.tickets = count()
        self.killed_worker = distributed.KilledWorker
        with contextlib.ExitStack() as undo:
            undo.enter_context(_quiet_loggers())
            self.is_own = not isinstance(scheduler, distributed.Client)
            if self.is_own:
                address: Any = scheduler
                if scheduler is None:
                    address, folder = undo.enter_context(_local_cluster(distributed, jobs))
                    # all processes of this machine can share the memory of one file
                    self.packed = f"{folder}/task"
                    Path(self.packed).write_bytes(shipment.packed or b"")
                elif not isinstance(scheduler, distributed.deploy.Cluster):
                    _check_address(scheduler)
                self.client = _connected(distributed, address)
            else:
                self.client = _checked_client(scheduler)
            undo.callback(self._disconnect)
            self.threads = self._threads(scheduler, jobs)
            self.data = self._scatter()
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

    def _scatter(self) -> Any:
        # without a hash: data that was lost with its workers needs a new key
        return self.client.scatter(self.packed, broadcast=True, hash=False)

    def send(self, block: Block[ItemT]) -> int:
        """Send a block and return its ticket."""
        ticket = next(self.tickets)
        self._submit(ticket, block, sends=1)
        return ticket

    def _submit(self, ticket: int, block: Block[ItemT], sends: int) -> None:
        try:
            future = self.client.submit(
                evaluate_block, self.token, self.data, block, self.timeout, pure=False
            )
        except (RuntimeError, OSError) as error:
            raise self._disconnected(error) from None
        self.futures[ticket] = (future, block, sends)
        future.add_done_callback(lambda done: self.finished.put((ticket, done)))

    def receive(self, seconds: float | None) -> tuple[int, list[ResultT] | None] | None:
        """Return the ticket and results of a finished block; None after `seconds` or a resend.

        The results are None if the block was lost with its workers.
        """
        try:
            ticket, future = self.finished.get(timeout=seconds)
        except queue.Empty:
            return None
        _, block, sends = self.futures.pop(ticket)
        if self.client.status != "running":
            raise self._disconnected(None)
        if future.status == "finished":
            return ticket, future.result()
        if future.status == "error":
            error = future.exception()
            if not isinstance(error, self.killed_worker):
                raise RunError(f"A worker of the Dask cluster failed: {describe_error(error)}")
            return ticket, None
        # cancelled: the workers that had the task are gone
        if sends >= MAX_SENDS:
            return ticket, None
        if self.data.status != "finished":
            self._threads(None, 1)
            self.data = self._scatter()
        self._submit(ticket, block, sends + 1)
        return None

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
            self.client.run(end_task, self.token)
        if self.is_own:
            self.client.close()


def _connected(distributed: Any, address: Any) -> Any:
    """Return a client of the cluster at an address."""
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunError(
            f"scheduler: there is no Dask scheduler at {address!r} ({describe_error(error)})."
        ) from None


def _checked_client(client: Any) -> Any:
    """Return the user's client if it can be used here; it stays open afterwards."""
    if client.asynchronous:
        raise RunError("scheduler is an asynchronous Dask client: pass its address instead.")
    if client.status != "running":
        raise RunError(f"scheduler is a Dask client that is {client.status}: connect it again.")
    return client


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


@contextlib.contextmanager
def _local_cluster(distributed: Any, jobs: int) -> Iterator[tuple[Any, str]]:
    """Start a local cluster in a folder that is removed at the end; Dask leaves files behind."""
    config = import_module("dask").config
    with tempfile.TemporaryDirectory(prefix="bestofk-", ignore_cleanup_errors=True) as folder:
        with config.set({"temporary-directory": folder}):
            # threads are enough, because each evaluates its items in a process of its own
            cluster = distributed.LocalCluster(
                processes=False,
                n_workers=1,
                threads_per_worker=Engine(name="processes", jobs=jobs).workers,
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )
        with cluster:
            yield cluster, folder


def _check_address(scheduler: Any) -> None:
    """Refuse a malformed address, for which Dask may print a traceback."""
    if str(scheduler).startswith("inproc://"):
        return
    host, colon, port = str(scheduler).rpartition("://")[2].rpartition(":")
    if not host or not colon or not port.isdigit():
        raise RunError(
            f"scheduler must be the address of a Dask scheduler, such as 'tcp://host:8786'; got "
            f"{scheduler!r:.80}."
        )


# Code that runs on a worker of the cluster: each thread evaluates blocks in a worker process.

_POOLS: dict[tuple[str, int], Pool[Hashable, object]] = {}
_SOURCES: dict[str, tuple[Task[Hashable, object], WorkerSource]] = {}
"""The task and the origin of its worker processes, shared by all threads."""
_ENDED: set[str] = set()
"""Tokens of ended tasks, whose late blocks are ignored."""
_LOCK = threading.Lock()


def evaluate_block(
    token: str, packed: bytes | str, block: Block[Hashable], timeout: float | None
) -> list[object]:
    """Return the results of a block of the task `packed` (its bytes or the path of its file).

    The token identifies the task.
    """
    if token in _ENDED:
        return []
    key = (token, threading.get_ident())
    with _LOCK:
        pool = _POOLS.get(key)
        if pool is None:
            if token not in _SOURCES:
                task = load_task(packed if isinstance(packed, bytes) else _mapped(packed))
                _SOURCES[token] = task, WorkerSource(packed, threads=task.threads)
            task, source = _SOURCES[token]
            pool = Pool(task, None, jobs=1, timeout=timeout, source=source)
            _POOLS[key] = pool
    return list(pool.run(iter([block])))


def _mapped(path: str) -> mmap.mmap:
    with Path(path).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def end_task(token: str) -> None:
    """End the worker processes of a task."""
    with _LOCK:
        _ENDED.add(token)
        _SOURCES.pop(token, None)
        pools = [_POOLS.pop(key) for key in list(_POOLS) if key[0] == token]
    for pool in pools:
        pool.close()
