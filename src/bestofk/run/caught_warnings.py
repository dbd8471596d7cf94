"""Catch the warnings of each cell, also if several threads evaluate cells at the same time.

`warnings.catch_warnings` changes a setting of the whole process, and two threads inside it leave
the setting changed. Within `warnings_by_thread` each thread has its own lists.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

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
