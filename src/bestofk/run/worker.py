"""Code that runs in worker processes, and in the fork server that creates them."""

from __future__ import annotations

import contextlib
import gc
import mmap
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import warnings
from importlib import import_module
from multiprocessing import Pipe, reduction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import BinaryIO, NoReturn

from bestofk.run.task import Block, Task, describe_error, load_task

SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable that keeps the working folder off the import path of an interpreter."""
OF_WORKER = "worker"
"""Its value if a worker starts with it but the learners run without it."""


def run_worker(pipe: Connection, threads: int) -> None:
    """Load the task in a new interpreter, send None when ready, and evaluate blocks."""
    _begin()
    if sys.platform == "win32":
        threading.Thread(target=_end_with_parent, daemon=True).start()
    task = _loaded(pipe, threads)
    pipe.send(None)
    _evaluate_blocks(pipe, task)


def run_fork_server(control: Connection, threads: int) -> None:
    """Load the task in a new interpreter, and fork workers from it.

    The server first sends whether it can be forked safely, which is so if no learner's package
    started threads. It answers None with the process id of a new worker and the worker's pipe. It
    answers the process id of a dead worker with its exit code.
    """
    _begin()
    # pandas imports pyarrow, whose memory pool has a thread that is safe to fork
    import_module("pandas")
    _limit_threads(threads)
    before = _thread_count()
    task = _loaded(control, threads)
    gc.freeze()
    control.send(_thread_count() == before)
    _serve_forks(control, task)


def run_forked_server(control: Connection, parent_end: Connection, task: Task) -> None:
    """Fork workers from a fork of the parent, as `run_fork_server` does."""
    parent_end.close()
    _begin()
    _serve_forks(control, task)


def _serve_forks(control: Connection, task: Task) -> NoReturn:
    with contextlib.suppress(EOFError, OSError):
        while True:
            pid = control.recv()
            if pid is None:
                _fork_worker(control, task)
            else:
                control.send(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os._exit(0)


def _fork_worker(control: Connection, task: Task) -> None:
    parent_end, pipe = Pipe()
    with warnings.catch_warnings():
        # Python also counts the thread of pyarrow
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            parent_end.close()
            control.close()
            _begin()
            _evaluate_blocks(pipe, task)
        finally:
            os._exit(1)
    pipe.close()
    control.send(pid)
    reduction.send_handle(control, parent_end.fileno(), os.getppid())
    parent_end.close()


def _begin() -> None:
    """Lead a session, which can be ended as a group, and leave Ctrl-C to the parent."""
    import numpy as np

    if hasattr(os, "setsid"):
        os.setsid()
    signal.set_wakeup_fd(-1)
    for name, action in (
        ("SIGINT", signal.SIG_IGN), ("SIGTERM", signal.SIG_DFL), ("SIGHUP", signal.SIG_DFL),
    ):  # fmt: skip
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), action)
    # keep the output of learners out of the program's output
    os.dup2(2, 1)
    # all forks would otherwise draw the same numbers
    np.random.seed()  # noqa: NPY002


def _loaded(pipe: Connection, threads: int) -> Task:
    # it has protected the start of this interpreter; a fit may start others
    if os.environ.get(SAFE_PATH) == OF_WORKER:
        del os.environ[SAFE_PATH]
    task = load_task(receive_file(pipe))
    task.prepare()
    _limit_threads(threads)
    return task


def _limit_threads(threads: int) -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=threads)


def send_file(pipe: Connection, file: BinaryIO, pid: int) -> None:
    """Send an open file, which needs no name, to a process that calls `receive_file`."""
    if sys.platform == "win32":
        file.seek(0)
        pipe.send_bytes(file.read())
    else:
        reduction.send_handle(pipe, file.fileno(), pid)


def receive_file(pipe: Connection) -> bytearray | mmap.mmap:
    """Return the content of a file that `send_file` sent, in memory that processes share."""
    if sys.platform == "win32":
        return bytearray(pipe.recv_bytes())
    handle = reduction.recv_handle(pipe)
    try:
        return mmap.mmap(handle, 0, access=mmap.ACCESS_COPY)
    finally:
        os.close(handle)


def _thread_count() -> int:
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def _end_with_parent() -> None:
    """End this process with its parent; Windows has no process groups to kill."""
    multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])  # type: ignore[union-attr]
    os._exit(1)


def _evaluate_blocks(pipe: Connection, task: Task) -> NoReturn:
    """Evaluate blocks until the pipe closes, and end without waiting for threads of a fit."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            _evaluate_block(pipe, task, pipe.recv())
    os._exit(0)


def _evaluate_block(pipe: Connection, task: Task, block: Block) -> None:
    """Send each result at once, so that a crash is that of the right item. A text ends a block."""
    try:
        for result in task.evaluate(block):
            pipe.send(result)
    except BaseException as error:  # user code may raise anything, and the worker goes on
        pipe.send(describe_error(error))
