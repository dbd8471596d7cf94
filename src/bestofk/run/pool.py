"""Run blocks in worker processes that may hang, crash or be killed.

The parent sends a worker one block at a time and receives the results item by item. It therefore
knows the current item of a worker that died or exceeded the timeout. Another worker retries that
item. If it fails again, it is recorded as a failure. The rest of the block continues.

Each worker leads a session, so that a kill also reaches what a fit started. A process that left
its worker's session is not found. One small process (reaper.py) kills the workers if this process
is killed.

On Linux workers come from the fork server of `multiprocessing`, which has imported the packages, so
that a worker is replaced immediately. Elsewhere each is a new interpreter.
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
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from math import inf
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any, BinaryIO

from bestofk._base.errors import RunError
from bestofk.run.cells import Failure
from bestofk.run.process_state import changed_environment, thread_environment
from bestofk.run.task import Block, Piece, Task, UnpicklableError, describe_error
from bestofk.run.worker import run_worker, send_file

MAX_ATTEMPTS = 2
"""Attempts for an item whose worker crashed."""
MAX_ATTEMPTS_IF_KILLED = 4
"""Attempts for an item whose worker may have been killed from outside, and to start a worker."""
_OUTSIDE_SIGNALS = ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
"""Signals that a process rarely sends itself."""
_SERVER_KILLED = 255
"""Exit code of a worker whose fork server was killed."""
GRACE_SECONDS = 0.5
"""Time that the processes of a fit have to end by themselves before they are killed."""
PRELOADED = ["pandas", "bestofk.run.fit", "bestofk.run.worker"]
"""Modules that the fork server imports."""
_START_LOCK = threading.Lock()
if hasattr(os, "register_at_fork"):
    # a fork of this process needs a fork server of its own
    os.register_at_fork(after_in_child=forkserver._forkserver.__init__)  # type: ignore[misc]


@cache
def _reaper(parent: int) -> int | None:
    """Return a pipe to the process that kills workers if this process, `parent`, is killed.

    It also removes the folder of the fork server's socket, unless that is the folder of a parent.
    There is none on Windows.
    """
    if not hasattr(os, "killpg"):
        return None
    script = Path(__file__).with_name("reaper.py")
    end, pipe = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(script), str(parent)],
        stdin=end, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    os.close(end)
    # it ends with this process
    process.returncode = 0
    if "tempdir" not in multiprocessing.current_process()._config:  # type: ignore[attr-defined]
        os.write(pipe, f"={get_temp_dir()}\n".encode())
    return pipe


def _tell_reaper(sign: str, group: int) -> None:
    """Let a group be killed if this process is killed ("+"), or forget it ("-")."""
    pipe = _reaper(os.getpid())
    with contextlib.suppress(OSError):  # it was killed
        if pipe is not None:
            os.write(pipe, f"{sign}{group}\n".encode())


@cache
def has_process_descriptors() -> bool:
    """Return whether the system has what forked workers need: Linux 5.3 or newer."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


@contextlib.contextmanager
def _startable() -> Iterator[None]:
    """Let a process start in a daemonic process, and without the user's script.

    Python forbids the first because it may leave orphans; these processes end with their parent. A
    script without a guard of ``__name__`` must not run again.
    """
    config = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    # a new interpreter must not import a random.py of the working folder
    environment = {**thread_environment(1), "PYTHONSAFEPATH": "1"}
    with _START_LOCK, changed_environment(environment), warnings.catch_warnings():
        # Python warns of threads, but a fork waits for none of them
        warnings.simplefilter("ignore", DeprecationWarning)
        daemon, main = config.get("daemon", False), sys.modules["__main__"]
        config["daemon"], sys.modules["__main__"] = False, types.ModuleType("__main__")
        try:
            yield
        finally:
            config["daemon"], sys.modules["__main__"] = daemon, main


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


@dataclass(slots=True, eq=False, kw_only=True)
class _Worker:
    """A worker process.

    - `sentinel`: Is ready when the process has ended. That of `multiprocessing` may be delayed by
      forks of the process, so Linux uses a process file descriptor.
    - `ready`: Whether it has sent something.
    - `items`: The unfinished items of its block, in order.
    - `since`: Start of the current item, or of the block, on the clock of `time.monotonic`.
    - `isolated_as`: `Task.isolated_as` of the items that it has evaluated.
    """

    process: Any
    pid: int
    pipe: Connection
    sentinel: Any
    ready: bool = False
    items: deque[Any] = field(default_factory=deque)
    since: float = 0.0
    isolated_as: int | None = None

    def kill(self) -> None:
        """Kill the process."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            # Windows has no SIGKILL, and there SIGTERM has this effect
            os.kill(self.pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    def ends(self, seconds: float) -> bool:
        """Wait for the end of the process; return False if it is alive after `seconds`."""
        return bool(wait([self.sentinel], seconds))

    def end(self) -> int | None:
        """Kill the process and what it started; return its exit code, None if it is unknown."""
        self.pipe.close()
        self.kill()
        self.ends(10)
        self.process.join(10)
        _end_group(self.pid)
        if has_process_descriptors():
            os.close(self.sentinel)
        code: int = self.process.exitcode
        return None if code == _SERVER_KILLED else code


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
    return Pool(task, file, jobs=jobs, timeout=timeout)


def unnamed_file(pieces: Iterable[Piece], folder: str | None = None) -> BinaryIO:
    """Write an unnamed file, which the system removes once it is closed everywhere."""
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
    file.writelines(pieces)
    file.flush()
    return file


class Pool:
    """Workers for the items of one task, which stay alive between two calls of `run`.

    - `file`: Contains the pickled task. If it is None, workers are forks of this process.
    """

    def __init__(
        self, task: Task, file: BinaryIO | None, *, jobs: int, timeout: float | None
    ) -> None:
        self.task, self.file, self.jobs, self.timeout = task, file, jobs, timeout
        if file is None:
            task.prepare()
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
            and has_process_descriptors()
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
        for attempt in range(1, MAX_ATTEMPTS_IF_KILLED + 1):
            try:
                worker = self._started()
            except (OSError, EOFError) as error:
                # the fork server was killed, or the system has no process left
                if attempt < MAX_ATTEMPTS_IF_KILLED:
                    continue
                if not self.workers:
                    reason = getattr(error, "strerror", None) or describe_error(error)
                    raise RunError(f"No worker process could be started ({reason}).") from None
                self.jobs = len(self.workers)
                return None
            self.workers.append(worker)
            return worker
        return None

    def _started(self) -> _Worker:
        method = "spawn"
        if has_process_descriptors():
            method = "fork" if self.file is None else "forkserver"
        context: Any = multiprocessing.get_context(method)
        pipe, child = context.Pipe()
        environment = {**os.environ, **thread_environment(self.task.threads)}
        forked = self.file is None
        process = context.Process(
            target=run_worker,
            args=(child, pipe if forked else None, environment, self.task if forked else None),
            daemon=True,
        )
        with _startable(), deferred_signals() if forked else contextlib.nullcontext():
            # before anything that could be left behind
            _reaper(os.getpid())
            if method == "forkserver":
                forkserver.set_forkserver_preload(PRELOADED)
                forkserver.ensure_running()
                # it would notice the end of this process only after its imports
                _tell_reaper("+", forkserver._forkserver._forkserver_pid)  # type: ignore[attr-defined]
            process.start()
        child.close()
        pid = process.pid
        _tell_reaper("+", pid)
        sentinel = os.pidfd_open(pid) if has_process_descriptors() else process.sentinel
        if self.file is not None:
            with contextlib.suppress(OSError):
                # a process that died already is noticed when it is waited for
                send_file(pipe, self.file, pid)
        return _Worker(process=process, pid=pid, pipe=pipe, sentinel=sentinel)

    def _collect(self, busy: list[_Worker]) -> Generator[Any, None, None]:
        """Yield the results that arrive, and handle dead and late workers."""
        watched = {source: each for each in busy for source in (each.pipe, each.sentinel)}
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
            alive = not worker.ends(1)
        else:
            if not worker.ends(0):
                return
            alive = False
        failure, max_attempts = _failure_of(self._end(worker))
        if alive:
            failure = Failure(kind="killed", reason="its process closed its connection.")
            max_attempts = MAX_ATTEMPTS
        if worker.items:
            yield from self._lost(worker, failure, max_attempts=max_attempts)

    def _end(self, worker: _Worker) -> int | None:
        """End a worker, and return its exit code."""
        self.workers.remove(worker)
        code = worker.end()
        _tell_reaper("-", worker.pid)
        return code

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
            worker.kill()
        self._idle.wait(timeout=10)
        while self.workers:
            self._end(self.workers[0])
        if self.file is not None:
            self.file.close()


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
