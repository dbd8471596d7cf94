"""Code that runs in worker processes and in the fork server that creates them."""

from __future__ import annotations

import contextlib
import gc
import mmap
import os
import random
import sys
import time
import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import Pipe, reduction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bestofk.run.engines.process_cleanup import (
    KILL,
    MARK,
    adopt_orphans,
    end_children,
    end_group,
    end_marked,
    end_with_parent,
    lead_session,
    outlive_parent,
    reap_orphans,
    set_signals,
)
from bestofk.run.task import Block, ItemEvaluator, describe_error, load_task

SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable that keeps the working folder off the import path of an interpreter."""
AnyEvaluator = ItemEvaluator[Hashable, object]
"""An evaluator of any task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """The process that starts another one, and how."""

    pid: int
    by_main_thread: bool
    """Other threads of the parent may end before the parent does."""
    mark: str
    """Mark in the environment of the new process and everything that it starts."""
    threads: int = 1
    """Threads of the numerical libraries."""
    safe_path: str | None = None
    """Value of `SAFE_PATH` in the environment of the parent."""


@dataclass(frozen=True, slots=True)
class BrokenBlock:
    """The current item of a worker has no result, and the worker skipped the rest of the block."""

    reason: str


def run_worker(pipe: Connection, parent: Starter) -> None:
    """Load the task, send None when ready, and evaluate blocks."""
    _restore_safe_path(parent)
    _start_worker(parent.pid, by_main_thread=parent.by_main_thread)
    evaluator = _prepared(load_task(receive_file(pipe)).evaluator(), parent.threads)
    _announce_and_evaluate(pipe, evaluator, parent.pid)


def run_worker_here(
    pipe: Connection, parent_end: Connection, evaluator: AnyEvaluator, parent: Starter
) -> None:
    """Do the same in a fork of the parent, for a task that cannot be pickled."""
    parent_end.close()
    os.environ[MARK] = parent.mark
    _start_worker(parent.pid, by_main_thread=parent.by_main_thread)
    _announce_and_evaluate(pipe, _prepared(evaluator, parent.threads), parent.pid)


def run_fork_server(control: Connection, parent: Starter) -> None:
    """Load the task and fork workers from this process, which evaluates nothing itself.

    The server first sends whether it can be forked safely, which is so if no learner's package
    started threads. It answers True with the process id of a new worker and hands over the worker's
    pipe. It answers the process id of a dead worker with its exit code. It ends what is left of its
    workers when it receives None and when its parent is gone.
    """
    _restore_safe_path(parent)
    set_signals(exit_on_term=False)
    if parent.by_main_thread:
        # importing a learner's module may hang
        end_with_parent(parent.pid)
    # pandas imports pyarrow, whose memory pool has a thread that is safe to fork
    import_module("pandas")
    before = _thread_count()
    evaluator = _prepared(load_task(receive_file(control)).evaluator(), parent.threads)
    can_be_forked = _thread_count() == before
    outlive_parent()
    _serve_forks(control, evaluator, parent, can_be_forked=can_be_forked)


def run_fork_server_here(
    control: Connection, parent_end: Connection, evaluator: AnyEvaluator, parent: Starter
) -> None:
    """Do the same in a fork of the parent."""
    parent_end.close()
    os.environ[MARK] = parent.mark
    set_signals(exit_on_term=False)
    _serve_forks(control, _prepared(evaluator, parent.threads), parent, can_be_forked=True)


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


def _restore_safe_path(parent: Starter) -> None:
    """Let what a fit starts see the variable as in the parent; it has protected the start."""
    os.environ.pop(SAFE_PATH, None)
    if parent.safe_path is not None:
        os.environ[SAFE_PATH] = parent.safe_path


def _start_worker(parent: int, *, by_main_thread: bool = True) -> None:
    lead_session()
    set_signals(exit_on_term=True)
    end_with_parent(parent, by_main_thread=by_main_thread)


def _announce_and_evaluate(pipe: Connection, evaluator: AnyEvaluator, parent: int) -> None:
    with contextlib.suppress(BrokenPipeError):
        # the parent is gone, which `_next_message` detects
        pipe.send(None)
    _evaluate_blocks(pipe, evaluator, parent)


def _serve_forks(
    control: Connection, evaluator: AnyEvaluator, parent: Starter, *, can_be_forked: bool
) -> None:
    gc.freeze()
    adopt_orphans()
    workers: set[int] = set()
    try:
        with contextlib.suppress(OSError):
            # the parent is gone, which `_next_message` detects
            control.send(can_be_forked)
            while (message := _next_message(control, parent.pid)) is not None:
                if message is True:
                    workers.add(_fork_worker(control, evaluator, parent))
                elif message in workers:
                    workers.discard(message)
                    code = _clean_up_after(message)
                    end_marked(f"{parent.mark}.{message}.")
                    reap_orphans(workers)
                    control.send(code)
                else:
                    control.send(0)
    finally:
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, KILL)
        for pid in workers:
            _clean_up_after(pid)
        end_children()


def _clean_up_after(pid: int) -> int:
    """Wait for a worker to end, end its process group, and return its exit code."""
    _, status = os.waitpid(pid, 0)
    end_group(pid)
    return os.waitstatus_to_exitcode(status)


def _thread_count() -> int:
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def _fork_worker(control: Connection, evaluator: AnyEvaluator, parent: Starter) -> int:
    server_end, worker_end = Pipe(duplex=True)
    server = os.getpid()
    with warnings.catch_warnings():
        # Python also counts the thread of pyarrow
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            server_end.close()
            control.close()
            os.environ[MARK] = f"{parent.mark}.{os.getpid()}."
            _start_worker(server)
            # all forks would otherwise draw the same numbers
            np.random.seed()  # noqa: NPY002
            random.seed()
            _evaluate_blocks(worker_end, evaluator, server)
            code = 0
        finally:
            os._exit(code)
    worker_end.close()
    control.send(pid)
    reduction.send_handle(control, server_end.fileno(), parent.pid)
    server_end.close()
    return pid


def _prepared(evaluator: AnyEvaluator, threads: int) -> AnyEvaluator:
    from threadpoolctl import threadpool_limits

    # keep the output of learners out of the program's output
    os.dup2(2, 1)
    evaluator.prepare()
    threadpool_limits(limits=threads)
    return evaluator


def _evaluate_blocks(pipe: Connection, evaluator: AnyEvaluator, parent: int) -> None:
    block: Block[Hashable] | None
    while (block := _next_message(pipe, parent)) is not None:
        _evaluate_block(pipe, evaluator, block)


def _evaluate_block(pipe: Connection, evaluator: AnyEvaluator, block: Block[Hashable]) -> None:
    pid, sent_at = os.getpid(), time.monotonic()
    unsent: list[object] = []
    broken: BrokenBlock | None = None
    try:
        for result in evaluator.evaluate_block(block):
            if os.getpid() != pid:
                # a fork that a fit left running must not answer too
                os._exit(0)
            unsent.append(result)
            if time.monotonic() - sent_at >= evaluator.send_every:
                if not _send_results(pipe, unsent):
                    return
                sent_at, unsent = time.monotonic(), []
    except BaseException as error:  # user code may raise anything, and the worker goes on
        broken = BrokenBlock(describe_error(error))
    if unsent and not _send_results(pipe, unsent):
        return
    if broken is not None:
        _send(pipe, broken)


def _send_results(pipe: Connection, results: list[object]) -> bool:
    """Send results; return False if one cannot be pickled, which ends its block."""
    try:
        _send(pipe, results)
        return True
    except Exception:  # user classes may raise anything when they are pickled
        pass
    for result in results:
        try:
            _send(pipe, [result])
        except Exception as error:  # as above
            reason = f"its result cannot be sent to another process: {describe_error(error)}"
            _send(pipe, BrokenBlock(reason))
            return False
    return True


def _send(pipe: Connection, message: object) -> None:
    data = reduction.ForkingPickler.dumps(message)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        # the parent is gone, which `_next_message` detects
        pipe.send_bytes(data)


def _next_message(pipe: Connection, parent: int) -> Any:
    """Return the next message; None if the parent is gone."""
    try:
        while not pipe.poll(1.0):
            if os.getppid() != parent:
                return None
        return pipe.recv()
    except (EOFError, OSError):
        # a dying process closes its pipes first
        for _ in range(100):
            if os.getppid() != parent:
                break
            time.sleep(0.05)
        return None
