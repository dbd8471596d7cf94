"""Restore the state of the process that a fit may change, so that it does not affect other fits.

Third-party learners change the working folder, close standard output, and set signals, alarms,
recursion limits and environment variables. Some replace methods of classes that other learners use.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import numpy as np

_SIGNALS = tuple(
    getattr(signal, name)
    for name in (
        "SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGPIPE", "SIGCHLD", "SIGUSR1", "SIGUSR2",
    )
    if hasattr(signal, name)
)  # fmt: skip


@contextlib.contextmanager
def restored_process_state(methods: ClassMethods | None = None) -> Iterator[None]:
    """Restore what a learner changes in its process, and the methods of the compared classes."""
    with contextlib.ExitStack() as undo:
        undo.callback(_end_other_process, os.getpid())
        if methods is not None:
            undo.callback(methods.restore)
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


class ClassMethods:
    """The methods of classes, restored after a fit that replaced some of them.

    - `estimators`: Learners; their classes, base classes and the classes of their parameters are
      included.
    """

    def __init__(self, estimators: Iterable[Any]) -> None:
        classes = dict.fromkeys(c for e in estimators for c in _classes_of(e))
        self._names = {each: frozenset(vars(each)) for each in classes}
        self._methods = [
            (each, name, method)
            for each in classes
            for name, method in vars(each).items()
            if callable(method) or isinstance(method, classmethod | staticmethod | property)
        ]

    def restore(self) -> None:
        """Restore the methods that were replaced or deleted, and remove those that hide others."""
        for each, name, method in self._methods:
            if each.__dict__.get(name) is not method:
                with contextlib.suppress(Exception):  # metaclasses may refuse
                    setattr(each, name, method)
        for each, names in self._names.items():
            if len(each.__dict__) > len(names):
                for name in set(each.__dict__) - names:
                    if any(callable(base.__dict__.get(name)) for base in each.__mro__[1:]):
                        with contextlib.suppress(Exception):  # as above
                            delattr(each, name)


def _classes_of(estimator: Any) -> list[type]:
    parts = [estimator]
    with contextlib.suppress(Exception):  # user classes may raise anything
        parts += [part for part in estimator.get_params(deep=True).values() if hasattr(part, "fit")]
    classes = [part if isinstance(part, type) else type(part) for part in parts]
    return [base for each in classes for base in each.__mro__ if base is not object]


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


Caught = list[warnings.WarningMessage]


class _ThreadLists(threading.local):
    """The lists that a thread fills, innermost last."""

    stack: tuple[Caught, ...] = ()


class _ThreadedRuns:
    """Number of threaded runs, and the warning settings before the first one."""

    count: int = 0
    before: warnings.catch_warnings[None] | None = None
    lock = threading.Lock()


_LISTS = _ThreadLists()


@contextmanager
def caught_warnings() -> Iterator[Caught]:
    """Collect all warnings of this thread in a list, without showing them.

    Examples
    --------
    >>> with caught_warnings() as caught:
    ...     warnings.warn("mind the gap", stacklevel=1)
    >>> [str(each.message) for each in caught]
    ['mind the gap']
    """
    if not _ThreadedRuns.count:
        with warnings.catch_warnings(record=True) as recorded:
            warnings.simplefilter("always")
            yield recorded
        return
    caught: Caught = []
    outer = _LISTS.stack
    _LISTS.stack = (*outer, caught)
    try:
        yield caught
    finally:
        _LISTS.stack = outer


@contextmanager
def warnings_by_thread() -> Iterator[None]:
    """Let several threads catch warnings; the thread that starts them enters this context.

    Warnings of threads that catch none are shown as before.
    """
    with _ThreadedRuns.lock:
        _ThreadedRuns.count += 1
        if _ThreadedRuns.count == 1:
            _ThreadedRuns.before = warnings.catch_warnings()
            _ThreadedRuns.before.__enter__()
            warnings.simplefilter("always")
            warnings.showwarning = _route_to_threads(warnings.showwarning)
    try:
        yield
    finally:
        with _ThreadedRuns.lock:
            _ThreadedRuns.count -= 1
            if _ThreadedRuns.count == 0 and _ThreadedRuns.before is not None:
                _ThreadedRuns.before.__exit__(None, None, None)


def _route_to_threads(fallback: Callable[..., None]) -> Callable[..., None]:
    """Return a `showwarning` that fills the list of the current thread, or calls `fallback`."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if _LISTS.stack:
            warning = warnings.WarningMessage(message, category, filename, lineno, file, line)
            _LISTS.stack[-1].append(warning)
        else:
            fallback(message, category, filename, lineno, file, line)

    return show
