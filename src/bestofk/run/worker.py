"""Code that runs in worker processes."""

from __future__ import annotations

import contextlib
import mmap
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import BinaryIO, NoReturn

from bestofk.run.task import Block, Task, describe_error, load_task


def run_worker(
    pipe: Connection,
    parent_end: Connection | None,
    environment: dict[str, str],
    task: Task | None,
) -> NoReturn:
    """Receive the task unless a fork has it, send None when ready, and evaluate blocks.

    The fork server has the environment and the standard error that its parent had when it started.
    """
    _begin()
    if parent_end is not None:
        parent_end.close()
    # the errors are those of a pipe whose other end was closed
    with contextlib.suppress(EOFError, OSError):
        if task is None:
            os.environ.clear()
            os.environ.update(environment)
            task = load_task(receive_file(pipe))
            _limit_threads(task.threads)
        # keep the output of learners out of the program's output
        os.dup2(2, 1)
        pipe.send(None)
        while True:
            _evaluate_block(pipe, task, pipe.recv())
    # do not wait for threads of a fit
    os._exit(0)


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
    if sys.platform == "win32":
        threading.Thread(target=_end_with_parent, daemon=True).start()
    # all forks would otherwise draw the same numbers
    np.random.seed()  # noqa: NPY002


def _limit_threads(threads: int) -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=threads)


def send_file(pipe: Connection, file: BinaryIO, pid: int) -> None:
    """Send an open file, which needs no name, and the standard error to a new worker."""
    if sys.platform == "win32":
        file.seek(0)
        pipe.send_bytes(file.read())
        return
    for number in (2, file.fileno()):
        reduction.send_handle(pipe, number, pid)


def receive_file(pipe: Connection) -> bytearray | mmap.mmap:
    """Return the content of a file that `send_file` sent, in memory that processes share."""
    if sys.platform == "win32":
        return bytearray(pipe.recv_bytes())
    error, handle = reduction.recv_handle(pipe), reduction.recv_handle(pipe)
    os.dup2(error, 2)
    os.close(error)
    try:
        return mmap.mmap(handle, 0, access=mmap.ACCESS_COPY)
    finally:
        os.close(handle)


def _end_with_parent() -> None:
    """End this process with its parent; Windows has no process groups to kill."""
    multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])  # type: ignore[union-attr]
    os._exit(1)


def _evaluate_block(pipe: Connection, task: Task, block: Block) -> None:
    """Send each result at once, so that a crash is that of the right item. A text ends a block."""
    try:
        for result in task.evaluate(block):
            pipe.send(result)
    except BaseException as error:  # user code may raise anything, and the worker goes on
        pipe.send(describe_error(error))
