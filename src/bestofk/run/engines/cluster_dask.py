"""A cluster of Dask, at an address or started here."""

from __future__ import annotations

import contextlib
import logging
import queue
from importlib import import_module
from itertools import count
from typing import Any

from bestofk._base.errors import MissingExtraError, RunError
from bestofk.run.engines.cluster import Cluster, Returned, forget, one_line, work
from bestofk.run.engines.engine import Engine
from bestofk.run.engines.process_family import Guard
from bestofk.run.engines.work_folder import WorkFolder
from bestofk.run.task import Block, ItemT, ResultT

CONNECT_LIMIT = 10.0
"""Seconds that a scheduler may take to answer."""
WORKERS_LIMIT = 30.0
"""Seconds that the first worker may take to come."""
SENT_AT_MOST = 4
"""Times that a block is sent when the task was lost with the workers that had it."""


class DaskCluster(Cluster[ItemT, ResultT]):
    """Blocks as futures of a `distributed.Client`.

    The scheduler sends the block of a worker that died to another one, as often as its setting
    ``distributed.scheduler.allowed-failures`` says.
    """

    def __init__(
        self,
        packed: bytes,
        token: str,
        *,
        jobs: int,
        scheduler: str | None,
        timeout: float | None,
    ) -> None:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise MissingExtraError("The engine dask", "dask") from None
        self.packed, self.token, self.timeout = packed, token, timeout
        self.futures: dict[int, tuple[Any, Block[ItemT], int]] = {}
        self.done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.tickets = count()
        self.killed = distributed.KilledWorker
        with contextlib.ExitStack() as undo:
            address: Any = scheduler
            _check_address(scheduler)
            if scheduler is None:
                folder = WorkFolder()  # Dask leaves its own behind
                undo.callback(folder.cleanup)
                undo.callback(Guard(token, folder.name).close)
                with import_module("dask").config.set({"temporary-directory": folder.name}):
                    # Threads will do: every one evaluates its items in a process of its own.
                    address = distributed.LocalCluster(
                        processes=False,
                        n_workers=1,
                        threads_per_worker=Engine(name="processes", jobs=jobs).workers,
                        dashboard_address="127.0.0.1:0",
                        memory_limit=0,
                        silence_logs=logging.CRITICAL,
                    )
                undo.enter_context(address)
            try:
                self.client = distributed.Client(
                    address, timeout=CONNECT_LIMIT, set_as_default=False
                )
            except (OSError, ValueError) as failed:
                raise RunError(
                    f"scheduler: there is no Dask scheduler at {scheduler!r} ({one_line(failed)})."
                ) from None
            undo.callback(self._leave)
            self.threads = self._threads(scheduler, jobs)
            self.data = self._scatter()
            self.undo = undo.pop_all()

    def _threads(self, scheduler: str | None, jobs: int) -> int:
        try:
            self.client.wait_for_workers(1, timeout=WORKERS_LIMIT)
        except TimeoutError:
            raise RunError(
                f"scheduler: the Dask cluster at {scheduler!r} has no workers, and none came in "
                f"{WORKERS_LIMIT:g} s."
            ) from None
        threads = int(sum(self.client.ncores().values()))
        return max(1, threads if jobs < 1 else min(jobs, threads))

    def _scatter(self) -> Any:
        # not hashed: what was lost with its workers must get a new name
        return self.client.scatter(self.packed, broadcast=True, hash=False)

    def send(self, block: Block[ItemT]) -> int:
        ticket = next(self.tickets)
        self._submit(ticket, block, times=1)
        return ticket

    def _submit(self, ticket: int, block: Block[ItemT], times: int) -> None:
        try:
            future = self.client.submit(
                work, self.token, self.data, block, self.timeout, pure=False
            )
        except (RuntimeError, OSError) as failed:
            raise self._gone(failed) from None
        self.futures[ticket] = (future, block, times)
        future.add_done_callback(lambda done: self.done.put((ticket, done)))

    def returned(self, seconds: float | None) -> list[Returned[ResultT]]:
        try:
            ticket, future = self.done.get(timeout=seconds)
        except queue.Empty:
            return []
        _, block, times = self.futures.pop(ticket)
        if self.client.status != "running":
            raise self._gone(None)
        if future.status == "finished":
            return [Returned(ticket=ticket, results=self._results(future))]
        if future.status == "error":
            failed = future.exception()
            if not isinstance(failed, self.killed):
                raise RunError(f"A worker of the Dask cluster failed: {one_line(failed)}")
            return [Returned(ticket=ticket, results=None)]
        # cancelled: the workers that had the task are gone
        if times >= SENT_AT_MOST:
            return [Returned(ticket=ticket, results=None)]
        if self.data.status != "finished":
            self._threads(None, 1)
            self.data = self._scatter()
        self._submit(ticket, block, times + 1)
        return []

    def _results(self, future: Any) -> list[ResultT]:
        results: list[ResultT] = future.result()
        return results

    def _gone(self, failed: BaseException | None) -> RunError:
        why = "" if failed is None else f" ({one_line(failed)})"
        return RunError(f"The Dask cluster is gone{why}; what had come back from it is kept.")

    def close(self) -> None:
        self.undo.close()

    def _leave(self) -> None:
        with contextlib.suppress(Exception):
            # a cluster that is broken cannot be tidied
            self.client.cancel([future for future, _, _ in self.futures.values()])
            self.client.run(forget, self.token)
        self.client.close()


def _check_address(scheduler: str | None) -> None:
    """Refuse what is no address before Dask looks for it, which may end in its own traceback."""
    if scheduler is None:
        return
    if str(scheduler).startswith("inproc://"):
        return
    host, colon, port = str(scheduler).rpartition("://")[2].rpartition(":")
    if not host or not colon or not port.isdigit():
        raise RunError(
            f"scheduler must be the address of a Dask scheduler, such as 'tcp://host:8786'; got "
            f"{scheduler!r:.80}."
        )
