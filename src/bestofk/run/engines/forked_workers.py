"""Where worker processes come from: started anew, or forked in no time from one that is loaded.

Importing scikit-learn and loading data and kernels takes seconds. On Linux that is done once, in
a process that evaluates nothing and is forked for every worker, so that a worker that crashed is
replaced at once and all of them share the memory of the data.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing import reduction
from multiprocessing.connection import Connection, wait
from typing import Any

from bestofk.run.engines.threads import thread_environment
from bestofk.run.engines.worker_process import serve, serve_forks

START_LIMIT = 120.0
"""Seconds that a process may take to start."""
_STARTING = threading.Lock()


class Started:
    """A worker that this process started."""

    def __init__(self, process: Any) -> None:
        self.pid, self.sentinel = process.pid, process.sentinel
        self._process = process

    def is_alive(self) -> bool:
        """It has not ended."""
        return bool(self._process.is_alive())

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""
        self._process.join(timeout)

    def kill(self) -> None:
        """End it."""
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    @property
    def exitcode(self) -> int | None:
        """Minus the signal that ended it, or the code that it ended with."""
        code: int | None = self._process.exitcode
        return code

    def close(self) -> None:
        """Forget a process that has ended."""
        self._process.join(timeout=10)


class Forked:
    """A worker that another process forked, watched through its file descriptor."""

    def __init__(self, source: WorkerSource, pid: int) -> None:
        self.pid, self._source = pid, source
        self.sentinel = os.pidfd_open(pid)
        self._code: int | None = None

    def is_alive(self) -> bool:
        """It has not ended."""
        return not wait([self.sentinel], timeout=0)

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""
        wait([self.sentinel], timeout=timeout)

    def kill(self) -> None:
        """End it."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.sentinel, signal.SIGKILL)

    @property
    def exitcode(self) -> int | None:
        """As for any process: minus the signal that ended it; None if nobody knows."""
        if self._code is None and not self.is_alive():
            self._code = self._source.exit_code(self.pid)
        return self._code

    def close(self) -> None:
        """Forget a process that has ended."""
        _ = self.exitcode  # which lets the system forget it too
        os.close(self.sentinel)


class WorkerSource:
    """Makes workers for one task."""

    def __init__(self, payload: str, threads: int = 1) -> None:
        self.payload, self.threads = payload, threads
        self._control: Connection | None = None
        self._process: Started | None = None
        self._opened = False

    def worker(self, patience: float) -> tuple[Started | Forked, Connection, bool]:
        """A new worker: its process, the pipe to it, and whether it is ready for work.

        One that is not says None first.
        """
        if not self._opened and sys.platform == "linux":
            self._open(patience)
        if self._control is not None:
            try:
                return self._forked(self._control)
            except (OSError, EOFError):
                # it was killed; its forks ended with it
                self._shut()
        process, pipe = _started(serve, self.payload, self.threads)
        return process, pipe, False

    def _open(self, patience: float) -> None:
        self._opened = True
        self._process, control = _started(serve_forks, self.payload, self.threads)
        try:
            if control.poll(min(patience, START_LIMIT)) and control.recv():
                self._control = control
                return
        except (OSError, EOFError):
            pass
        # threads that a learner's package started must not be forked; or it did not come up
        control.close()
        self._shut()

    def _forked(self, control: Connection) -> tuple[Forked, Connection, bool]:
        control.send(True)
        pid = control.recv()
        pipe = Connection(reduction.recv_handle(control))
        return Forked(self, pid), pipe, True

    def exit_code(self, pid: int) -> int | None:
        """The exit code of a fork that has ended."""
        if self._control is None:
            return None
        try:
            self._control.send(pid)
            code: int = self._control.recv()
        except (OSError, EOFError):
            return None
        return code

    def close(self) -> None:
        """End the process that workers are forked from."""
        self._shut()

    def _shut(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.join(timeout=10)
            self._process = None


def _started(target: Callable[..., None], payload: str, threads: int) -> tuple[Started, Connection]:
    from loky.backend.context import get_context

    context = get_context("loky")
    parent, child = context.Pipe(duplex=True)
    process = context.Process(
        target=target,
        args=(child, payload, os.getpid()),
        daemon=True,
        env=thread_environment(threads),
    )
    with _STARTING, _free_to_have_children():
        process.start()
    child.close()
    return Started(process), parent


@contextlib.contextmanager
def _free_to_have_children() -> Iterator[None]:
    """Let a daemonic process (a worker of a cluster) start one.

    Python forbids it, for fear of orphans; ours watch their parent and end with it.
    """
    config = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    daemon = config.get("daemon", False)
    config["daemon"] = False
    try:
        yield
    finally:
        config["daemon"] = daemon
