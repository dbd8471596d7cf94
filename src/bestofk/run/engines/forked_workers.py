"""Start worker processes, or fork them from a server that has everything loaded.

Importing scikit-learn and loading data and kernels takes seconds. On Linux a fork server does this
once and is forked for each worker. A crashed worker is then replaced immediately, and all workers
share the memory of the data. The fork server also ends what its workers leave running. It is itself
a fork of this process if the task cannot be pickled, or if the start must be fast.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from multiprocessing import reduction
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any
from uuid import uuid4

from bestofk.run.engines.process_cleanup import (
    KILL,
    MARK,
    deferred_signals,
    end_group,
    end_marked,
)
from bestofk.run.engines.threads import changed_environment, thread_environment
from bestofk.run.engines.worker_process import (
    SAFE_PATH,
    AnyEvaluator,
    Starter,
    run_fork_server,
    run_fork_server_here,
    run_worker,
    run_worker_here,
    send_file,
)

START_SECONDS = 120.0
"""Time limit for a process to start."""
MAX_SERVER_STARTS = 4
"""Times to start the fork server if it is killed."""
_START_LOCK = threading.Lock()


class StartedProcess:
    """A process that this process started."""

    def __init__(self, process: Any, mark: str) -> None:
        self.pid, self.sentinel, self.mark = process.pid, process.sentinel, mark
        self._process = process

    def is_alive(self) -> bool:
        """Return whether it runs."""
        return bool(self._process.is_alive())

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""
        self._process.join(timeout)

    def kill(self) -> None:
        """Kill it."""
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                # Windows refuses to end a process that is ending
                os.kill(self.pid, KILL)

    @property
    def exitcode(self) -> int | None:
        """Exit code, or minus the number of the signal that ended it."""
        code: int | None = self._process.exitcode
        return code

    def close(self) -> None:
        """End what the process left running."""
        self._process.join(timeout=10)
        end_group(self.pid)
        end_marked(self.mark)


class ForkedProcess:
    """A worker that the fork server forked, watched through its process file descriptor."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self.pid, self._server = pid, server
        self.sentinel = os.pidfd_open(pid)
        self._code: int | None = None

    def is_alive(self) -> bool:
        """Return whether it runs."""
        return not wait([self.sentinel], timeout=0)

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""
        wait([self.sentinel], timeout=timeout)

    def kill(self) -> None:
        """Kill it."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.sentinel, KILL)

    @property
    def exitcode(self) -> int | None:
        """Exit code, or minus the number of the signal that ended it; None if unknown."""
        if self._code is None and not self.is_alive():
            self._code = self._server.exit_code(self.pid)
        return self._code

    def close(self) -> None:
        """End what the process left running, unless the fork server did."""
        if self.exitcode is None:
            end_group(self.pid)
            end_marked(self._server.process.mark)
        os.close(self.sentinel)


class ForkServer:
    """The connection to the process that workers are forked from."""

    def __init__(self, process: StartedProcess, control: Connection) -> None:
        self.process, self._control = process, control
        # several threads of a Dask worker share one server
        self._lock = threading.Lock()

    def is_ready(self, seconds: float) -> bool:
        """Wait for the server; return False if it is not up in time or must not be forked."""
        return self._control.poll(seconds) and bool(self._control.recv())

    def fork(self) -> tuple[ForkedProcess, Connection]:
        """Return a new worker and its pipe."""
        with self._lock:
            self._control.send(True)
            pid = self._control.recv()
            pipe = Connection(reduction.recv_handle(self._control))
        return ForkedProcess(self, pid), pipe

    def exit_code(self, pid: int) -> int | None:
        """Return the exit code of a dead worker, after the server ended what it left running."""
        try:
            with self._lock:
                self._control.send(pid)
                code: int = self._control.recv()
        except (OSError, EOFError):
            return None
        return code

    def end(self) -> None:
        """Let the server end its workers and what they left running, then end it."""
        with contextlib.suppress(OSError):
            self._control.send(None)
            self.process.join(timeout=5)
        self.kill()

    def kill(self) -> None:
        """Kill the server."""
        self._control.close()
        self.process.kill()
        self.process.join(timeout=10)


class WorkerSource:
    """Create workers for one task.

    - `packed`: The pickled task, or the path of its file. Bytes are kept in an unnamed file, which
      the system removes.
    - `evaluator`: The evaluator of the task, for workers that are forks of this process.
    - `threads`: Threads of the numerical libraries.
    """

    def __init__(
        self,
        packed: bytes | str | None = None,
        evaluator: AnyEvaluator | None = None,
        *,
        threads: int = 1,
    ) -> None:
        self.evaluator, self.threads = evaluator, threads
        self._file: Any = None
        if isinstance(packed, str):
            self._file = Path(packed).open("rb")  # noqa: SIM115
        elif packed is not None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
            self._file.write(packed)
            self._file.flush()
        self._server: ForkServer | None = None
        self._lock = threading.Lock()
        self._starts_left = MAX_SERVER_STARTS if _has_fork_server() else 0

    def worker(self, seconds: float) -> tuple[StartedProcess | ForkedProcess, Connection, bool]:
        """Return a new worker: its process, its pipe, and whether it is ready.

        A worker that is not ready yet sends None first.
        """
        while True:
            with self._lock:
                if self._server is None and not self._starts_left:
                    break
                server = self._server or self._start_server(seconds)
            if server is None:
                continue
            try:
                return *server.fork(), True
            except (OSError, EOFError):
                # the server was killed, and its forks ended with it
                server.kill()
                with self._lock:
                    if self._server is server:
                        self._server = None
        process, pipe = self._start(run_worker, run_worker_here)
        return process, pipe, False

    def _start_server(self, seconds: float) -> ForkServer | None:
        self._starts_left -= 1
        server = ForkServer(*self._start(run_fork_server, run_fork_server_here))
        try:
            if server.is_ready(min(seconds, START_SECONDS)):
                self._server = server
                return server
            # a learner's package started threads, which must not be forked
            self._starts_left = 0
        except (OSError, EOFError):
            # the server was killed while it started
            pass
        server.kill()
        return None

    def _start(
        self, target: Callable[..., None], target_here: Callable[..., None]
    ) -> tuple[StartedProcess, Connection]:
        starter = _starter(self.threads)
        if self._file is None:
            return _started_here(target_here, self.evaluator, starter)
        process, pipe = _started(target, starter)
        with contextlib.suppress(OSError):
            # a process that died already is noticed when it is waited for
            send_file(pipe, self._file, process.pid)
        return process, pipe

    def close(self) -> None:
        """End the fork server."""
        if self._server is not None:
            self._server.end()
            self._server = None
        if self._file is not None:
            self._file.close()


def can_fork() -> bool:
    """Return whether workers can be forks of this process."""
    return hasattr(os, "fork")


def forks_safely() -> bool:
    """Return whether forks of a process with threads work; macOS libraries may crash in them."""
    return can_fork() and sys.platform != "darwin"


def _has_fork_server() -> bool:
    return sys.platform == "linux" and can_fork() and hasattr(os, "pidfd_open")


def _started(target: Callable[..., None], starter: Starter) -> tuple[StartedProcess, Connection]:
    from loky.backend.context import get_context

    context = get_context("loky")
    parent, child = context.Pipe(duplex=True)
    environment = {**thread_environment(starter.threads), MARK: starter.mark}
    process = context.Process(target=target, args=(child, starter), daemon=True, env=environment)
    with _START_LOCK, _allow_children(), changed_environment({SAFE_PATH: "1"}):
        # loky starts interpreters with -m or -c, which import a random.py of the working folder
        process.start()
    child.close()
    return StartedProcess(process, starter.mark), parent


def _started_here(
    target: Callable[..., None], evaluator: object, starter: Starter
) -> tuple[StartedProcess, Connection]:
    context = multiprocessing.get_context("fork")
    parent, child = context.Pipe(duplex=True)
    process = context.Process(target=target, args=(child, parent, evaluator, starter), daemon=True)
    for stream in (sys.stdout, sys.stderr):
        # buffered text would be written twice
        with contextlib.suppress(Exception):
            stream.flush()
    with _START_LOCK, _allow_children(), warnings.catch_warnings():
        # Python warns of threads, but the fork waits for none of them
        warnings.simplefilter("ignore", DeprecationWarning)
        with deferred_signals():
            process.start()
    child.close()
    return StartedProcess(process, starter.mark), parent


def _starter(threads: int) -> Starter:
    main = threading.current_thread() is threading.main_thread()
    return Starter(
        pid=os.getpid(),
        by_main_thread=main,
        mark=uuid4().hex,
        threads=threads,
        safe_path=os.environ.get(SAFE_PATH),
    )


@contextlib.contextmanager
def _allow_children() -> Iterator[None]:
    """Let a daemonic process, such as a worker of a cluster, start processes.

    Python forbids this because it may leave orphans; these processes end with their parent.
    """
    config = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    daemon = config.get("daemon", False)
    config["daemon"] = False
    try:
        yield
    finally:
        config["daemon"] = daemon
