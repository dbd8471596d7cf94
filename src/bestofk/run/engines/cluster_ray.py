"""A cluster of Ray, at an address or started here."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from importlib import import_module
from typing import Any

from bestofk._base.errors import MissingExtraError, RunError
from bestofk.run.engines.cluster import Cluster, Returned, one_line, work
from bestofk.run.engines.engine import Engine
from bestofk.run.engines.process_family import Guard, end_marked
from bestofk.run.engines.work_folder import WorkFolder
from bestofk.run.task import Block, ItemT, ResultT

RETRIES = 3
"""Times that Ray sends the block of a worker that died to another one."""
LONGEST_FOLDER = 40
"""Characters of a folder in which the paths of Ray's sockets are not too long for the system."""


class RayCluster(Cluster[ItemT, ResultT]):
    """Blocks as tasks of Ray, with the task in its object store."""

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
            ray: Any = import_module("ray")
        except ImportError:
            raise MissingExtraError("The engine ray", "ray") from None
        self.ray, self.token, self.timeout = ray, token, timeout
        self.flying: dict[Any, Any] = {}
        self.ours = not ray.is_initialized()
        # Ray leaves its files behind
        self.folder: WorkFolder | None = None
        self.guard: Guard | None = None
        if self.ours:
            if scheduler is None:
                self.folder = WorkFolder()
                self.guard = Guard(token, self.folder.name)
            self._start(scheduler, jobs)
        threads = int(ray.cluster_resources().get("CPU", 0))
        if threads < 1:
            raise RunError(f"scheduler: the Ray cluster at {scheduler!r} has no workers.")
        self.threads = threads if jobs < 1 else min(jobs, threads)
        self.data = ray.put(packed)
        self.work = ray.remote(max_retries=RETRIES, num_cpus=1)(work)

    def _start(self, scheduler: str | None, jobs: int) -> None:
        here: dict[str, Any] = {
            "num_cpus": Engine(name="processes", jobs=jobs).workers,
            "include_dashboard": False,
        }
        if self.folder is not None and len(self.folder.name) <= LONGEST_FOLDER:
            here["_temp_dir"] = self.folder.name
        before = _signals()
        try:
            self.ray.init(
                address=scheduler or "local",
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                configure_logging=False,
                **({} if scheduler else here),
            )
        except (ConnectionError, OSError, ValueError, RuntimeError) as failed:
            raise RunError(
                f"scheduler: there is no Ray cluster at {scheduler or 'local'!r} "
                f"({one_line(failed)})."
            ) from None
        finally:
            _signals_back(before)

    def send(self, block: Block[ItemT]) -> Any:
        ticket = self.work.remote(self.token, self.data, block, self.timeout)
        self.flying[ticket] = block
        return ticket

    def returned(self, seconds: float | None) -> list[Returned[ResultT]]:
        done, _ = self.ray.wait(list(self.flying), num_returns=1, timeout=seconds)
        return [self._one(ticket) for ticket in done]

    def _one(self, ticket: Any) -> Returned[ResultT]:
        del self.flying[ticket]
        try:
            return Returned(ticket=ticket, results=self.ray.get(ticket))
        except self.ray.exceptions.RayTaskError as failed:
            raise RunError(f"A worker of the Ray cluster failed: {one_line(failed)}") from None
        except self.ray.exceptions.RayError:
            # its workers died, or the machine that had the results
            return Returned(ticket=ticket, results=None)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            # a cluster that is broken cannot be tidied
            for ticket in self.flying:
                self.ray.cancel(ticket, force=True)
        if self.ours:
            self.ray.shutdown()
        # it kills its workers together with those who would end what fits have started
        end_marked(self.token)
        if self.folder is not None:
            self.folder.cleanup()
        if self.guard is not None:
            self.guard.close()


def _signals() -> dict[int, Any]:
    """What this process does when it is asked to end, which Ray changes."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    return {number: signal.getsignal(number) for number in numbers}


def _signals_back(before: dict[int, Any]) -> None:
    for number, handler in before.items():
        if handler is not None:
            signal.signal(number, handler)
