"""Where worker processes come from: started anew, or forked in no time from one that is loaded.

Importing scikit-learn and loading data and kernels takes seconds. On Linux that is done once, in
a process that evaluates nothing and is forked for every worker, so that a worker that crashed is
replaced at once and all of them share the memory of the data. That process also ends what its
workers leave behind. It is a fork of this process where a task cannot be sent, or where seconds
count.
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
from typing import Any
from uuid import uuid4

from bestofk.run.engines.process_family import MARK, end_group, end_marked, signals_afterwards
from bestofk.run.engines.threads import thread_environment
from bestofk.run.engines.worker_process import (
    Loaded,
    Starter,
    hand_over,
    serve,
    serve_forks,
    serve_forks_here,
    serve_here,
)

START_LIMIT = 120.0
"""Seconds that a process may take to start."""
MOST_OPENED = 4
"""Times that the process which workers are forked from is started, if somebody kills it."""
_STARTING = threading.Lock()


class Started:
    """A worker that this process started."""

    def __init__(self, process: Any, mark: str) -> None:
        self.pid, self.sentinel, self.mark = process.pid, process.sentinel, mark
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
        """Forget a process that has ended, and end what it left behind."""
        self._process.join(timeout=10)
        end_group(self.pid)
        end_marked(self.mark)


class Forked:
    """A worker that another process forked, watched through its file descriptor."""

    def __init__(self, keeper: Keeper, pid: int) -> None:
        self.pid, self._keeper = pid, keeper
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
            self._code = self._keeper.exit_code(self.pid)
        return self._code

    def close(self) -> None:
        """Forget a process that has ended, and end what it left behind."""
        if self.exitcode is None:  # else the process that forked it did the same
            end_group(self.pid)
            end_marked(self._keeper.process.mark)
        os.close(self.sentinel)


class Keeper:
    """The process that workers are forked from, as long as it lives."""

    def __init__(self, process: Started, control: Connection) -> None:
        self.process, self._control = process, control

    def is_ready(self, patience: float) -> bool:
        """Wait for it; False if it does not come up in time or must not be forked."""
        return self._control.poll(patience) and bool(self._control.recv())

    def fork(self) -> tuple[Forked, Connection]:
        """A new worker and the pipe to it."""
        self._control.send(True)
        pid = self._control.recv()
        pipe = Connection(reduction.recv_handle(self._control))
        return Forked(self, pid), pipe

    def exit_code(self, pid: int) -> int | None:
        """The exit code of a fork that has ended; what it left behind is ended too."""
        try:
            self._control.send(pid)
            code: int = self._control.recv()
        except (OSError, EOFError):
            return None
        return code

    def end(self) -> None:
        """Let it end its workers and what they left behind, and end."""
        with contextlib.suppress(OSError):
            self._control.send(None)
            self.process.join(timeout=5)
        self.kill()

    def kill(self) -> None:
        """End it at once."""
        self._control.close()
        self.process.kill()
        self.process.join(timeout=10)


class WorkerSource:
    """Makes workers for one task.

    Parameters
    ----------
    packed : bytes or None
        The task; it lies in a file without a name, which nobody has to remove.
    evaluator : ItemEvaluator or None
        What evaluates its items, for workers that are forks of this process.
    threads : int
        Of the libraries beneath a learner.
    mark : str
        What the marks of its processes begin with.
    """

    def __init__(
        self,
        packed: bytes | None = None,
        evaluator: Loaded | None = None,
        *,
        threads: int = 1,
        mark: str = "",
    ) -> None:
        self.evaluator, self.threads, self.mark = evaluator, threads, mark
        self._file: Any = None
        if packed is not None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
            self._file.write(packed)
            self._file.flush()
        self._keeper: Keeper | None = None
        self._left = MOST_OPENED if sys.platform == "linux" else 0

    def worker(self, patience: float) -> tuple[Started | Forked, Connection, bool]:
        """A new worker: its process, the pipe to it, and whether it is ready for work.

        One that is not says None first.
        """
        while self._keeper is not None or self._left:
            keeper = self._keeper or self._open(patience)
            if keeper is None:
                continue
            try:
                return *keeper.fork(), True
            except (OSError, EOFError):
                # it was killed; its forks ended with it
                keeper.kill()
                self._keeper = None
        process, pipe = self._started(serve, serve_here)
        return process, pipe, False

    def _open(self, patience: float) -> Keeper | None:
        self._left -= 1
        keeper = Keeper(*self._started(serve_forks, serve_forks_here))
        try:
            if keeper.is_ready(min(patience, START_LIMIT)):
                self._keeper = keeper
                return keeper
            # threads that a learner's package started must not be forked
            self._left = 0
        except (OSError, EOFError):
            # it was killed while it came up
            pass
        keeper.kill()
        return None

    def _started(
        self, anew: Callable[..., None], here: Callable[..., None]
    ) -> tuple[Started, Connection]:
        starter = _starter(self.mark, self.threads)
        if self._file is None:
            return _started_here(here, self.evaluator, starter)
        process, pipe = _started(anew, starter)
        with contextlib.suppress(OSError):
            # one that has died already is noticed when it is waited for
            hand_over(pipe, self._file, process.pid)
        return process, pipe

    def close(self) -> None:
        """End the process that workers are forked from."""
        if self._keeper is not None:
            self._keeper.end()
            self._keeper = None
        if self._file is not None:
            self._file.close()


def can_fork() -> bool:
    """Whether workers can be forks of this process."""
    return "fork" in multiprocessing.get_all_start_methods()


def _started(target: Callable[..., None], starter: Starter) -> tuple[Started, Connection]:
    from loky.backend.context import get_context

    context = get_context("loky")
    parent, child = context.Pipe(duplex=True)
    marked = {**thread_environment(starter.threads), MARK: starter.mark}
    process = context.Process(target=target, args=(child, starter), daemon=True, env=marked)
    with _STARTING, _free_to_have_children():
        process.start()
    child.close()
    return Started(process, starter.mark), parent


def _started_here(
    target: Callable[..., None], evaluator: object, starter: Starter
) -> tuple[Started, Connection]:
    context = multiprocessing.get_context("fork")
    parent, child = context.Pipe(duplex=True)
    process = context.Process(target=target, args=(child, parent, evaluator, starter), daemon=True)
    for stream in (sys.stdout, sys.stderr):
        # what waits in a buffer would be written twice
        with contextlib.suppress(Exception):
            stream.flush()
    with _STARTING, _free_to_have_children(), warnings.catch_warnings():
        # from a process with threads: none of ours is waited for in the fork
        warnings.simplefilter("ignore", DeprecationWarning)
        with signals_afterwards():
            process.start()
    child.close()
    return Started(process, starter.mark), parent


def _starter(mark: str, threads: int) -> Starter:
    main = threading.current_thread() is threading.main_thread()
    return Starter(pid=os.getpid(), by_main_thread=main, mark=mark + uuid4().hex, threads=threads)


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
