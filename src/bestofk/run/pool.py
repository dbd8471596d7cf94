"""Run blocks in worker processes that may hang, crash or be killed.

The parent sends a worker one block at a time and receives the results item by item. It therefore
knows the current item of a worker that died or exceeded the timeout. Another worker retries that
item. If it fails again, it is recorded as a failure. The rest of the block continues.

Each worker leads a session, so that a kill also reaches what a fit started. A process that left
its worker's session is not found. One small process (reaper.py) kills the workers if this process
is killed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from math import inf
from multiprocessing import reduction
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, BinaryIO

from bestofk._base.errors import RunError
from bestofk.run.cells import Failure
from bestofk.run.process_state import changed_environment, thread_environment
from bestofk.run.task import Block, Task, UnpicklableError, describe_error
from bestofk.run.worker import (
    OF_WORKER,
    SAFE_PATH,
    run_fork_server,
    run_forked_server,
    run_worker,
    send_file,
)

MAX_ATTEMPTS = 2
"""Attempts for an item whose worker crashed."""
MAX_ATTEMPTS_IF_KILLED = 4
"""Attempts for an item whose worker may have been killed from outside."""
_OUTSIDE_SIGNALS = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
"""Signals that a process rarely sends itself."""
START_METHOD = "spawn"
"""How `multiprocessing` starts a new interpreter; tests fork, which saves its imports."""
START_SECONDS = 120.0
"""Time limit for the fork server to start."""
MAX_SERVER_STARTS = 4
"""Times to start the fork server if it is killed."""
GRACE_SECONDS = 0.5
"""Time that the processes of a fit have to end by themselves before they are killed."""
_START_LOCK = threading.Lock()


class Reaper:
    """The process that kills workers if this process is killed (not on Windows)."""

    def __init__(self) -> None:
        self.groups: set[int] = set()
        self.process: subprocess.Popen[bytes] | None = None

    def add(self, group: int) -> None:
        """Kill a group if this process is killed."""
        self.groups.add(group)
        if self.process is None and hasattr(os, "killpg"):
            script = Path(__file__).with_name("reaper.py")
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(script), str(os.getpid())],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True, bufsize=0,
            )  # fmt: skip
        self._send(f"+{group}\n")

    def remove(self, group: int) -> None:
        """Forget a group that has ended."""
        self.groups.discard(group)
        self._send(f"-{group}\n")

    def _send(self, line: str) -> None:
        with contextlib.suppress(OSError):  # it was killed
            if self.process is not None:
                self.process.stdin.write(line.encode())  # type: ignore[union-attr]

    def close(self) -> None:
        """End what is left of the groups, and the process, whose pipe a fork may have."""
        for group in self.groups:
            _end_group(group)
        if self.process is not None:
            self.process.kill()
            self.process.stdin.close()  # type: ignore[union-attr]
            self.process.wait()


class _Process:
    """A process of this pool.

    - `pid`: The process id.
    - `exit_code`: Returns the exit code of the dead process, or minus the number of the signal that
      ended it; None if it is unknown.
    - `sentinel`: Is ready when the process has ended. Forks of the process may delay that, so Linux
      uses a process file descriptor instead.
    """

    def __init__(
        self, pid: int, exit_code: Callable[[], int | None], sentinel: int | None = None
    ) -> None:
        self.pid, self.exit_code = pid, exit_code
        self.has_descriptor = has_process_descriptors()
        self.sentinel: Any = os.pidfd_open(pid) if self.has_descriptor else sentinel

    def ends(self, seconds: float) -> bool:
        """Wait for its end; return False if it is alive after `seconds`."""
        return bool(wait([self.sentinel], seconds))

    def kill(self) -> None:
        """Kill it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            # Windows has no SIGKILL, and there SIGTERM has this effect
            os.kill(self.pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    def close(self) -> int | None:
        """Kill it and what is left of its process group, and return its exit code."""
        self.kill()
        self.ends(10)
        code = self.exit_code()
        _end_group(self.pid)
        if self.has_descriptor:
            os.close(self.sentinel)
        return code


@cache
def has_process_descriptors() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


class WorkerSource:
    """Start and end the workers of one task.

    Importing scikit-learn and loading data and kernels takes seconds. On Linux a fork server does
    this once and is forked for each worker, so that a worker is replaced immediately and all share
    the memory of the data.

    - `task`: The task.
    - `file`: Contains the pickled task. If it is None, the fork server is a fork of this process.
    """

    def __init__(self, task: Task, file: BinaryIO | None) -> None:
        self.threads = task.threads
        self._task, self._file = task, file
        if file is None:
            task.prepare()
        self._reaper = Reaper()
        self._server: tuple[_Process, Connection] | None = None
        self._starts_left = 0.0
        if has_process_descriptors():
            self._starts_left = inf if file is None else MAX_SERVER_STARTS
        self._lock = threading.Lock()

    @property
    def forks(self) -> bool:
        """Whether a new worker is a fork, which takes milliseconds."""
        return self._server is not None

    def start(self, deadline: float | None) -> tuple[_Process, Connection, bool]:
        """Return the process of a new worker, its pipe, and whether it is ready.

        A worker that is not ready yet sends None first.
        """
        with self._lock:
            process, pipe, ready = self._started(deadline)
            self._reaper.add(process.pid)
        if not ready:
            self._send_task(pipe, process.pid)
        return process, pipe, ready

    def _started(self, deadline: float | None) -> tuple[_Process, Connection, bool]:
        while self._server is not None or self._starts_left:
            if self._server is None:
                self._start_server(deadline)
            if self._server is not None:
                try:
                    return *self._fork_server(self._server[1]), True
                except (OSError, EOFError):
                    # the server was killed
                    self._end_server()
        return *_spawned(run_worker, self.threads), False

    def _start_server(self, deadline: float | None) -> None:
        self._starts_left -= 1
        if self._file is None:
            process, control = self._server = _forked(run_forked_server, self._task)
            self._reaper.add(process.pid)
            return
        left = inf if deadline is None else max(0.0, deadline - time.monotonic())
        process, control = self._server = _spawned(run_fork_server, self.threads)
        self._reaper.add(process.pid)
        self._send_task(control, process.pid)
        with contextlib.suppress(OSError, EOFError):
            # an error means that the server was killed while it started
            if control.poll(min(left, START_SECONDS)) and control.recv():
                return
            # a learner's package started threads, which must not be forked, or there is no time
            self._starts_left = 0
        self._end_server()

    def _fork_server(self, control: Connection) -> tuple[_Process, Connection]:
        control.send(None)
        pid = control.recv()
        pipe = Connection(reduction.recv_handle(control))
        return _Process(pid, partial(self._exit_code, control, pid)), pipe

    def _exit_code(self, control: Connection, pid: int) -> int | None:
        """Return the exit code of a dead fork of the server; None if the server is gone."""
        # several threads of a Dask worker share one server
        with contextlib.suppress(OSError, EOFError), self._lock:
            control.send(pid)
            code: int = control.recv()
            return code
        return None

    def _send_task(self, pipe: Connection, pid: int) -> None:
        assert self._file is not None
        with contextlib.suppress(OSError):
            # a process that died already is noticed when it is waited for
            send_file(pipe, self._file, pid)

    def end(self, process: _Process, pipe: Connection) -> int | None:
        """Kill a worker and what it started; return its exit code, None if it is unknown."""
        pipe.close()
        code = process.close()
        with self._lock:
            self._reaper.remove(process.pid)
        return code

    def _end_server(self) -> None:
        if self._server is not None:
            process, control = self._server
            control.close()
            process.close()
            self._reaper.remove(process.pid)
            self._server = None

    def close(self) -> None:
        """End the fork server, and workers that an interruption has left running."""
        self._end_server()
        self._reaper.close()
        if self._file is not None:
            self._file.close()


def _spawned(target: Callable[..., None], threads: int) -> tuple[_Process, Connection]:
    """Start a new interpreter, and return its process and its pipe."""
    context: Any = multiprocessing.get_context(START_METHOD)
    pipe, child = context.Pipe()
    process = context.Process(target=target, args=(child, threads), daemon=True)
    # Python starts interpreters with -c, which would import a random.py of the working folder
    environment = {**thread_environment(threads), SAFE_PATH: os.environ.get(SAFE_PATH) or OF_WORKER}
    with _startable(), changed_environment(environment):
        # a script without a guard of __name__ must not run again
        main, sys.modules["__main__"] = sys.modules["__main__"], types.ModuleType("__main__")
        try:
            process.start()
        finally:
            sys.modules["__main__"] = main
    child.close()
    return _watched(process), pipe


def _forked(target: Callable[..., None], task: Task) -> tuple[_Process, Connection]:
    """Fork this process, and return the new process and its pipe."""
    context = multiprocessing.get_context("fork")
    pipe, child = context.Pipe()
    process = context.Process(target=target, args=(child, pipe, task), daemon=True)
    with _startable(), warnings.catch_warnings():
        # Python warns of threads, but the fork waits for none of them
        warnings.simplefilter("ignore", DeprecationWarning)
        with deferred_signals():
            process.start()
    child.close()
    return _watched(process), pipe


def _watched(process: Any) -> _Process:
    return _Process(process.pid, lambda: process.exitcode, process.sentinel)


@contextlib.contextmanager
def _startable() -> Iterator[None]:
    """Let a daemonic process, such as a worker of a cluster, start processes.

    Python forbids this because it may leave orphans; these processes end with their parent.
    """
    config = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    with _START_LOCK:
        daemon = config.get("daemon", False)
        config["daemon"] = False
        try:
            yield
        finally:
            config["daemon"] = daemon


@contextlib.contextmanager
def deferred_signals() -> Iterator[None]:
    """Defer the signals that Python handles to the end of the block, as around a fork.

    An exception raised by a handler inside a fork hook is lost, and the hook does not finish. The
    hook of `logging` would then never release its lock.
    """
    received: list[int] = []
    with contextlib.ExitStack() as restore:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)
                if number is not None and callable(signal.getsignal(number)):
                    before = signal.signal(number, lambda number, _: received.append(number))
                    restore.callback(signal.signal, number, before)
        yield
    for number in received:
        signal.raise_signal(number)


def _end_group(leader: int) -> None:
    """End what is left of the process group of `leader`: SIGTERM first, then SIGKILL.

    Trackers of shared memory ignore SIGTERM and remove the memory once the others are gone.
    """
    if not hasattr(os, "killpg"):
        return
    until = time.monotonic() + GRACE_SECONDS
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGTERM)
        os.killpg(leader, signal.SIGCONT)
        while time.monotonic() < until:
            time.sleep(0.01)
            os.killpg(leader, 0)
        os.killpg(leader, signal.SIGKILL)


@dataclass(slots=True, eq=False)
class _Worker:
    process: _Process
    pipe: Connection
    ready: bool
    items: deque[Any] = field(default_factory=deque)
    """The unfinished items of its block, in order."""
    since: float = 0.0
    """Start of the current item, or of the block, on the clock of `time.monotonic`."""
    isolated_as: int | None = None
    """`Task.isolated_as` of the items that it has evaluated."""


def new_pool(task: Task, *, jobs: int, timeout: float | None = None, here: bool = False) -> Pool:
    """Return a pool whose workers load the pickled task.

    If possible, they are forks of this process instead if `here`, or if the task cannot be pickled.
    """
    file = None
    if not (here and has_process_descriptors()):
        try:
            file = unnamed_file(task.ship())
        except UnpicklableError:
            if not has_process_descriptors():
                raise
    return Pool(task, WorkerSource(task, file), jobs=jobs, timeout=timeout)


def unnamed_file(content: bytes | memoryview, folder: str | None = None) -> BinaryIO:
    """Write an unnamed file, which the system removes once it is closed everywhere."""
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
    file.write(content)
    file.flush()
    return file


class Pool:
    """Workers for the items of one task, which stay alive between two calls of `run`.

    Several pools of one task can share the `source` of their workers, and end together.
    """

    def __init__(
        self,
        task: Task,
        source: WorkerSource,
        *,
        jobs: int,
        timeout: float | None,
    ) -> None:
        self.task, self.source, self.jobs, self.timeout = task, source, jobs, timeout
        self.deadline: float | None = None
        self.workers: list[_Worker] = []
        self.retries: deque[Block] = deque()
        self.attempts: Counter[Any] = Counter()
        self.closed = False
        self._idle = threading.Event()
        self._idle.set()

    def run(
        self,
        blocks: Iterable[Block],
        *,
        deadline: float | None = None,
    ) -> Generator[Any, None, None]:
        """Evaluate blocks, consumed one for each idle worker, and yield results as they arrive.

        See `bestofk.run.engine.Engine.run` for the parameters.
        """
        self.deadline = deadline
        self._idle.clear()
        try:
            yield from self._run(iter(blocks))
        finally:
            self._idle.set()

    def _run(self, blocks: Iterator[Block]) -> Generator[Any, None, None]:
        exhausted = False
        while True:
            while not self._is_over() and (not exhausted or self.retries):
                idle = next((worker for worker in self.workers if not worker.items), None)
                if idle is None and len(self.workers) >= self.jobs:
                    break
                block = self.retries.popleft() if self.retries else next(blocks, None)
                if block is None:
                    exhausted = True
                elif not self._assign(block, idle):
                    break
            busy = [worker for worker in self.workers if worker.items]
            if self._is_over() or not busy:
                return
            yield from self._collect(busy)

    def _is_over(self) -> bool:
        late = self.deadline is not None and time.monotonic() >= self.deadline
        return late or self.closed

    def _assign(self, block: Block, worker: _Worker | None) -> bool:
        """Send a block to a worker, or to a new one; return False if none can be started."""
        isolated_as = self.task.isolated_as(block[0])
        if (
            worker is not None
            and self.source.forks
            and worker.isolated_as not in (None, isolated_as)
        ):
            # other learners get a new process instead of one that a fit may have changed
            self._end(worker)
            worker = None
        if worker is None:
            worker = self._start()
        if worker is None:
            self.retries.appendleft(block)
            return False
        worker.isolated_as = isolated_as
        worker.items, worker.since = deque(block), time.monotonic()
        with contextlib.suppress(OSError):
            # a worker that died while idle is noticed when it is waited for
            worker.pipe.send(block)
        return True

    def _start(self) -> _Worker | None:
        """Return a new worker; None if the system cannot start another one."""
        try:
            process, pipe, ready = self.source.start(self.deadline)
        except OSError as error:
            if not self.workers:
                reason = error.strerror or describe_error(error)
                raise RunError(f"No worker process could be started ({reason}).") from None
            self.jobs = len(self.workers)
            return None
        worker = _Worker(process=process, pipe=pipe, ready=ready)
        self.workers.append(worker)
        return worker

    def _collect(self, busy: list[_Worker]) -> Generator[Any, None, None]:
        """Yield the results that arrive, and handle dead and late workers."""
        watched = {source: each for each in busy for source in (each.pipe, each.process.sentinel)}
        ready = wait(list(watched), timeout=self._seconds_to_wait(busy))
        for worker in dict.fromkeys(watched[source] for source in ready):
            yield from self._receive(worker)
        for worker in busy:
            if self._is_late(worker):
                # the consumer of the results may have been slow; the worker may be done by now
                yield from self._receive(worker)
                if self._is_late(worker):
                    self._end(worker)
                    yield from self._lost(worker, self._overdue(), max_attempts=1)

    def _is_late(self, worker: _Worker) -> bool:
        return bool(worker.items) and time.monotonic() > self._end_of(worker)

    def _end_of(self, worker: _Worker) -> float:
        """Return when the current item of a worker is late."""
        return worker.since + (self.timeout or inf) if worker.ready else inf

    def _overdue(self) -> Failure:
        assert self.timeout is not None
        return Failure(
            kind="timeout",
            reason=f"took longer than {self.timeout:g} s and was stopped.",
            detail=repr(float(self.timeout)),
        )

    def _seconds_to_wait(self, busy: list[_Worker]) -> float | None:
        deadline = inf if self.deadline is None else self.deadline
        left = min(deadline, *map(self._end_of, busy)) - time.monotonic()
        return None if left == inf else max(left, 0.0) + 0.01

    def _receive(self, worker: _Worker) -> Generator[Any, None, None]:
        """Yield the results that a worker has sent, and handle its death."""
        try:
            while worker.pipe.poll():
                result = worker.pipe.recv()
                worker.ready, worker.since = True, time.monotonic()
                if result is None:
                    continue
                item = worker.items.popleft()
                if isinstance(result, str):
                    self._put_back(worker)
                    result = self.task.lost(item, Failure(kind="raised", reason=result))
                yield result
        except (EOFError, OSError):
            # the worker died, or a fit closed its files
            alive = not worker.process.ends(1)
        else:
            if not worker.process.ends(0):
                return
            alive = False
        failure, max_attempts = _failure_of(self._end(worker))
        if alive:
            failure = Failure(kind="killed", reason="its process closed its connection.")
            max_attempts = MAX_ATTEMPTS
        if worker.items:
            yield from self._lost(worker, failure, max_attempts=max_attempts)

    def _end(self, worker: _Worker) -> int | None:
        self.workers.remove(worker)
        return self.source.end(worker.process, worker.pipe)

    def _lost(
        self, worker: _Worker, failure: Failure, *, max_attempts: int
    ) -> Generator[Any, None, None]:
        """Retry the item that ended its worker, or record its failure."""
        culprit = worker.items.popleft()
        self._put_back(worker)
        self.attempts[culprit] += 1
        if self.attempts[culprit] >= max_attempts:
            yield self.task.lost(culprit, failure)
        else:
            # first, in the new worker: an earlier fit may have damaged the old one
            self.retries.appendleft((culprit,))

    def _put_back(self, worker: _Worker) -> None:
        """Queue the items that the worker has not evaluated."""
        if worker.items:
            self.retries.append(tuple(worker.items))
        worker.items.clear()

    def close(self) -> None:
        """End all workers and what they started, also if another thread waits for them."""
        self.closed = True
        for worker in list(self.workers):
            worker.process.kill()
        self._idle.wait(timeout=10)
        while self.workers:
            self._end(self.workers[0])
        self.source.close()


def _failure_of(code: int | None) -> tuple[Failure, int]:
    """Return the failure of an item whose worker exited with `code`, and its attempts."""
    if code is None:
        # it ended with its fork server
        return Failure(kind="killed", reason="its process ended."), MAX_ATTEMPTS_IF_KILLED
    if code >= 0:
        reason = f"its process ended with exit code {code}."
        return Failure(kind="killed", reason=reason), MAX_ATTEMPTS
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    failure = Failure(kind="killed", reason=f"its process was killed by {name}{hint}.")
    return failure, MAX_ATTEMPTS_IF_KILLED if name in _OUTSIDE_SIGNALS else MAX_ATTEMPTS
