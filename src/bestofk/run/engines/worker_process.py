"""What a worker process does: take blocks, send results, end with its parent."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import signal
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

from bestofk.run.engines.process_family import (
    MARK,
    adopt_orphans,
    end_adopted,
    end_group,
    end_with_parent,
    hear_signals,
    lead_session,
    outlive_parent,
)
from bestofk.run.task import Block, ItemEvaluator, load_task

Loaded = ItemEvaluator[Hashable, object]
"""An evaluator of some task: a worker need not know which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """Who started a process."""

    pid: int
    by_main_thread: bool
    """A parent's other threads may end before it does."""
    mark: str
    """What all processes have in their environment that come from this one."""
    threads: int = 1
    """Of the libraries beneath a learner."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The item that a worker was at has no result, and the rest of its block was not begun."""

    reason: str


def serve(pipe: Connection, parent: Starter) -> None:
    """A worker that starts from nothing: load the task, say so (None), evaluate blocks."""
    _lead(parent.pid, by_main_thread=parent.by_main_thread)
    _serve(pipe, _prepared(load_task(received(pipe)).evaluator(), parent.threads), parent.pid)


def serve_here(pipe: Connection, theirs: Connection, evaluator: Loaded, parent: Starter) -> None:
    """The same in a fork of the process that has the task, for what cannot be sent."""
    theirs.close()
    _lead(parent.pid, by_main_thread=parent.by_main_thread)
    _serve(pipe, _prepared(evaluator, parent.threads), parent.pid)


def serve_forks(control: Connection, parent: Starter) -> None:
    """A process that has everything loaded and evaluates nothing: workers are its forks.

    It says when it is ready, and whether it can be forked safely: no package of a learner has
    started threads. Then to True it answers the process id of a new worker and hands over the
    worker's pipe; to the process id of a worker that is dead, its exit code. It ends what is left
    of its workers when it is told to end (None), and when its parent is gone.
    """
    hear_signals(ended_by_them=False)
    if parent.by_main_thread:
        # what a module of a learner does while it is imported may take for ever
        end_with_parent(parent.pid)
    # the memory pool of pyarrow, which pandas imports, has a thread that minds no fork
    import_module("pandas")
    before = _threads()
    evaluator = _prepared(load_task(received(control)).evaluator(), parent.threads)
    safe = _threads() == before
    outlive_parent()
    _keep_workers(control, evaluator, parent.pid, safe=safe)


def serve_forks_here(
    control: Connection, theirs: Connection, evaluator: Loaded, parent: Starter
) -> None:
    """The same in a fork of the process that has the task."""
    theirs.close()
    os.environ[MARK] = parent.mark
    hear_signals(ended_by_them=False)
    _keep_workers(control, _prepared(evaluator, parent.threads), parent.pid, safe=True)


def hand_over(pipe: Connection, file: BinaryIO, pid: int) -> None:
    """Give an open file, which need not have a name, to a process that asks for `received`."""
    if sys.platform == "win32":
        file.seek(0)
        pipe.send_bytes(file.read())
    else:
        reduction.send_handle(pipe, file.fileno(), pid)


def received(pipe: Connection) -> bytes:
    """What is in the file that was handed over."""
    if sys.platform == "win32":
        return pipe.recv_bytes()
    handle = reduction.recv_handle(pipe)
    try:
        parts, at = [], 0
        # others read the same open file: nobody may move its position
        while part := os.pread(handle, 1 << 30, at):
            parts.append(part)
            at += len(part)
    finally:
        os.close(handle)
    return b"".join(parts)


def _lead(parent: int, *, by_main_thread: bool = True) -> None:
    """Begin the life of a worker, which ends with its parent, and what it started with it."""
    lead_session()
    hear_signals(ended_by_them=True)
    end_with_parent(parent, by_main_thread=by_main_thread)
    adopt_orphans()


def _serve(pipe: Connection, evaluator: Loaded, parent: int) -> None:
    with contextlib.suppress(BrokenPipeError):
        # the parent has gone already, which the next round notices
        pipe.send(None)
    _evaluate_blocks(pipe, evaluator, parent)


def _keep_workers(control: Connection, evaluator: Loaded, parent: int, *, safe: bool) -> None:
    adopt_orphans()
    gc.freeze()
    workers: set[int] = set()
    try:
        with contextlib.suppress(OSError):
            # the parent has gone already, which the next round notices
            control.send(safe)
            while (message := _next(control, parent)) is not None:
                if message is True:
                    _fork(control, evaluator, parent, workers)
                else:
                    control.send(_ended(message, workers))
    finally:
        for pid in list(workers):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in list(workers):
            _ended(pid, workers)


def _ended(pid: int, workers: set[int]) -> int:
    """The exit code of a worker that is dead, after the end of all that it left behind."""
    if pid not in workers:
        return 0
    _, status = os.waitpid(pid, 0)
    workers.discard(pid)
    end_group(pid)
    end_adopted(but=workers)
    return os.waitstatus_to_exitcode(status)


def _threads() -> int:
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def _fork(control: Connection, evaluator: Loaded, destination: int, workers: set[int]) -> None:
    here, there = Pipe(duplex=True)
    own = os.getpid()
    with warnings.catch_warnings():
        # Python counts the thread of pyarrow too
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            here.close()
            control.close()
            _lead(own)
            # forks of one process would all draw the same numbers
            np.random.seed()  # noqa: NPY002
            random.seed()
            _evaluate_blocks(there, evaluator, own)
            code = 0
        finally:
            os._exit(code)
    workers.add(pid)
    there.close()
    control.send(pid)
    reduction.send_handle(control, here.fileno(), destination)
    here.close()


def _prepared(evaluator: Loaded, threads: int) -> Loaded:
    from threadpoolctl import threadpool_limits

    # what learners print must not mix with the answer on standard output
    os.dup2(2, 1)
    evaluator.prepare()
    threadpool_limits(limits=threads)
    return evaluator


def _evaluate_blocks(pipe: Connection, evaluator: Loaded, parent: int) -> None:
    block: Block[Hashable] | None
    while (block := _next(pipe, parent)) is not None:
        _evaluate(pipe, evaluator, block)


def _evaluate(pipe: Connection, evaluator: Loaded, block: Block[Hashable]) -> None:
    sent: float = time.monotonic()
    waiting: list[object] = []
    broken: Broken | None = None
    try:
        for result in evaluator.evaluate_block(block):
            waiting.append(result)
            if time.monotonic() - sent >= evaluator.send_every:
                if not _send(pipe, waiting):
                    return
                sent, waiting = time.monotonic(), []
    except BaseException as raised:  # whatever a stranger's class raises: it is no end of a worker
        broken = Broken(said(raised))
    if waiting and not _send(pipe, waiting):
        return
    if broken is not None:
        _send_bytes(pipe, broken)


def said(raised: BaseException) -> str:
    """What was raised, on one line; there are errors that cannot be told."""
    kind = type(raised).__name__
    try:
        text = " ".join(str(raised).split())[:300]
    except Exception:  # whatever a stranger's class raises
        text = ""
    return f"{kind}: {text}" if text else f"{kind}."


def _send(pipe: Connection, results: list[object]) -> bool:
    """Send results; False if one cannot be sent, when its block is over."""
    try:
        _send_bytes(pipe, results)
        return True
    except Exception:  # any class may raise anything while it is pickled
        pass
    for result in results:
        try:
            _send_bytes(pipe, [result])
        except Exception as raised:  # as above
            _send_bytes(
                pipe, Broken(f"its result cannot be sent to another process: {said(raised)}")
            )
            return False
    return True


def _send_bytes(pipe: Connection, message: object) -> None:
    data = reduction.ForkingPickler.dumps(message)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        # the parent is gone, which the next round notices
        pipe.send_bytes(data)


def _next(pipe: Connection, parent: int) -> Any:
    """The next message; None when the parent is gone."""
    try:
        while not pipe.poll(1.0):
            if os.getppid() != parent:
                return None
        return pipe.recv()
    except (EOFError, OSError):
        # a process that dies lets go of its pipes first
        for _ in range(100):
            if os.getppid() != parent:
                break
            time.sleep(0.05)
        return None
