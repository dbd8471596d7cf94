"""What a fit may change of its process, and what the next one finds as it was.

Learners that are neither scikit-learn's nor ours change the working folder, close standard output,
set signals, alarms, recursion limits and variables of the environment. What one of them leaves
behind must not reach the others.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

_SIGNALS = tuple(
    getattr(signal, name)
    for name in (
        "SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGPIPE", "SIGCHLD", "SIGUSR1", "SIGUSR2",
    )
    if hasattr(signal, name)
)  # fmt: skip


@contextlib.contextmanager
def kept_surroundings() -> Iterator[None]:
    """Put back what a learner changed of its process."""
    with contextlib.ExitStack() as undo:
        undo.callback(_streams_back, sys.stdin, sys.stdout, sys.stderr)
        undo.callback(_files_back, [_copy(number) for number in range(3)])
        undo.callback(sys.setrecursionlimit, sys.getrecursionlimit())
        undo.callback(_environment_back, dict(os.environ))
        undo.callback(_path_back, list(sys.path))
        undo.callback(gc.enable if gc.isenabled() else gc.disable)
        undo.callback(np.seterr, **np.geterr())
        with contextlib.suppress(OSError):
            # the working folder may be gone already
            undo.callback(_folder_back, os.getcwd())  # noqa: PTH109
        if threading.current_thread() is threading.main_thread():
            undo.callback(_signals_back, {one: signal.getsignal(one) for one in _SIGNALS})
            if hasattr(signal, "getitimer") and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0:
                undo.callback(signal.setitimer, signal.ITIMER_REAL, 0.0)
        yield


def _copy(number: int) -> int | None:
    try:
        return os.dup(number)
    except OSError:
        return None


def _files_back(copies: list[int | None]) -> None:
    """Standard input, output and error, whatever was closed."""
    for number, copy in enumerate(copies):
        if copy is None:
            continue
        try:
            same = os.path.sameopenfile(number, copy)
        except OSError:
            same = False
        with contextlib.suppress(OSError):
            if not same:
                os.dup2(copy, number)
            os.close(copy)


def _streams_back(*streams: Any) -> None:
    names = ("stdin", "stdout", "stderr")
    for number, (name, stream) in enumerate(zip(names, streams, strict=True)):
        if not getattr(stream, "closed", False):
            setattr(sys, name, stream)
            continue
        with contextlib.suppress(OSError):
            mode = "r" if number == 0 else "w"
            setattr(sys, name, open(number, mode, buffering=1, closefd=False))  # noqa: SIM115


def _environment_back(before: dict[str, str]) -> None:
    if os.environ != before:
        os.environ.clear()
        os.environ.update(before)


def _path_back(before: list[str]) -> None:
    sys.path[:] = before


def _folder_back(before: str) -> None:
    with contextlib.suppress(OSError):
        os.chdir(before)


def _signals_back(before: dict[signal.Signals, Any]) -> None:
    for one, handler in before.items():
        if handler is not None and signal.getsignal(one) != handler:
            signal.signal(one, handler)
