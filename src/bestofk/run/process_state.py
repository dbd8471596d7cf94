"""Restore the state of the process that a fit may change, so that it does not affect other fits.

Third-party learners change the working folder, close standard output, and set signals, alarms,
recursion limits and environment variables.
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
def restored_process_state() -> Iterator[None]:
    """Restore what a learner changes in its process."""
    with contextlib.ExitStack() as undo:
        undo.callback(_end_other_process, os.getpid())
        undo.callback(_restore_streams, sys.stdout, sys.stderr)
        streams: tuple[Any, Any] = _UnclosableStream(sys.stdout), _UnclosableStream(sys.stderr)
        sys.stdout, sys.stderr = streams
        undo.callback(_restore_files, [_copy(number) for number in range(3)])
        undo.callback(sys.setrecursionlimit, sys.getrecursionlimit())
        undo.callback(_restore_environment, dict(os.environ))
        undo.callback(_restore_path, list(sys.path))
        undo.callback(gc.enable if gc.isenabled() else gc.disable)
        undo.callback(np.seterr, **np.geterr())
        with contextlib.suppress(OSError):
            # the working folder may be gone
            undo.callback(_restore_folder, os.getcwd())  # noqa: PTH109
        if threading.current_thread() is threading.main_thread():
            undo.callback(_restore_signals, {each: signal.getsignal(each) for each in _SIGNALS})
            if hasattr(signal, "getitimer") and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0:
                undo.callback(signal.setitimer, signal.ITIMER_REAL, 0.0)
        yield


def _end_other_process(pid: int) -> None:
    """End a fork that a fit left running, which must not continue as if it were this process."""
    if os.getpid() != pid:
        os._exit(0)


def _copy(number: int) -> int | None:
    try:
        return os.dup(number)
    except OSError:
        return None


def _restore_files(copies: list[int | None]) -> None:
    """Reopen standard input, output and error."""
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


class _UnclosableStream:
    """A stream that a learner can write to and close, without closing the original."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Do nothing, because others still write to the stream."""


def _restore_streams(out: Any, err: Any) -> None:
    sys.stdout, sys.stderr = out, err


def _restore_environment(before: dict[str, str]) -> None:
    if os.environ != before:
        os.environ.clear()
        os.environ.update(before)


def _restore_path(before: list[str]) -> None:
    sys.path[:] = before


def _restore_folder(before: str) -> None:
    with contextlib.suppress(OSError):
        os.chdir(before)


def _restore_signals(before: dict[signal.Signals, Any]) -> None:
    for number, handler in before.items():
        if handler is not None and signal.getsignal(number) != handler:
            signal.signal(number, handler)
