"""What a worker process does: take blocks, send results, end with its parent."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import time
import warnings
from collections.abc import Hashable
from importlib import import_module
from multiprocessing import Pipe, reduction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from bestofk.run.task import ItemEvaluator, load_task

Loaded = ItemEvaluator[Hashable, object]
"""An evaluator of some task: a worker need not know which."""


def serve(pipe: Connection, payload: str, parent: int) -> None:
    """A worker that starts from nothing: load the task, say so (None), evaluate blocks."""
    evaluator = _prepared(payload)
    with contextlib.suppress(BrokenPipeError):
        # the parent has gone already, which the next round notices
        pipe.send(None)
    _evaluate_blocks(pipe, evaluator, parent)
    _clean_up_after(parent, payload)


def serve_forks(control: Connection, payload: str, parent: int) -> None:
    """A process that has everything loaded and evaluates nothing: workers are its forks.

    It says when it is ready, and whether it can be forked safely: no package of a learner has
    started threads. Then to True it answers the process id of a new worker and hands over the
    worker's pipe; to the process id of a worker that is dead, its exit code.
    """
    # the memory pool of pyarrow, which pandas imports, has a thread that minds no fork
    import_module("pandas")
    before = _threads()
    evaluator = _prepared(payload)
    with contextlib.suppress(BrokenPipeError):
        # the parent has gone already, which the next round notices
        control.send(_threads() == before)
    while (message := _next(control, parent)) is not None:
        if message is True:
            _fork(control, evaluator, parent)
        else:
            _, status = os.waitpid(message, 0)
            control.send(os.waitstatus_to_exitcode(status))
    _clean_up_after(parent, payload)


def _threads() -> int:
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def _fork(control: Connection, evaluator: Loaded, destination: int) -> None:
    here, there = Pipe(duplex=True)
    own = os.getpid()
    with warnings.catch_warnings():
        # Python counts the thread of pyarrow too
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        here.close()
        control.close()
        # forks of one process would all draw the same numbers
        np.random.seed()  # noqa: NPY002
        random.seed()
        code = 1
        try:
            _evaluate_blocks(there, evaluator, own)
            code = 0
        finally:
            os._exit(code)
    there.close()
    control.send(pid)
    reduction.send_handle(control, here.fileno(), destination)
    here.close()


def _prepared(payload: str) -> Loaded:
    from threadpoolctl import threadpool_limits

    # Ctrl-C in a terminal reaches all processes; the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # what learners print must not mix with the answer on standard output
    os.dup2(2, 1)
    task = load_task(Path(payload).read_bytes())
    evaluator = task.evaluator()
    evaluator.prepare()
    threadpool_limits(limits=task.threads)
    return evaluator


def _evaluate_blocks(pipe: Connection, evaluator: Loaded, parent: int) -> None:
    every = evaluator.send_every
    while (items := _next(pipe, parent)) is not None:
        sent: float = time.monotonic()
        waiting: list[object] = []
        for result in evaluator.evaluate(items):
            waiting.append(result)
            if time.monotonic() - sent >= every:
                _send(pipe, waiting)
                sent, waiting = time.monotonic(), []
        if waiting:
            _send(pipe, waiting)


def _send(pipe: Connection, results: list[object]) -> None:
    with contextlib.suppress(BrokenPipeError):
        # the parent is gone, which the next round notices
        pipe.send(results)


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


def _clean_up_after(parent: int, payload: str) -> None:
    if os.getppid() != parent:
        # it was killed, and could not clean up behind itself
        shutil.rmtree(Path(payload).parent, ignore_errors=True)
