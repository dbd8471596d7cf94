"""Warnings caught cell by cell, also where several threads evaluate cells at once.

`warnings.catch_warnings` changes what the whole process does with warnings, and two threads in it
at once leave that changed. Within `warnings_by_thread` every thread has lists of its own.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

Caught = list[warnings.WarningMessage]


class _Lists(threading.local):
    """The lists that a thread is filling, the innermost last."""

    stack: tuple[Caught, ...] = ()


class _Threads:
    """How many runs in threads are under way, and what was done with warnings before."""

    runs: int = 0
    before: warnings.catch_warnings[None] | None = None
    lock = threading.Lock()


_LISTS = _Lists()


@contextmanager
def caught_warnings() -> Iterator[Caught]:
    """All warnings that this thread gives, in a list, and shown to nobody.

    Examples
    --------
    >>> with caught_warnings() as caught:
    ...     warnings.warn("mind the gap", stacklevel=1)
    >>> [str(each.message) for each in caught]
    ['mind the gap']
    """
    if not _Threads.runs:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield caught
        return
    found: Caught = []
    outer = _LISTS.stack
    _LISTS.stack = (*outer, found)
    try:
        yield found
    finally:
        _LISTS.stack = outer


@contextmanager
def warnings_by_thread() -> Iterator[None]:
    """Let several threads catch warnings at once; entered by the thread that starts them.

    A warning of a thread that catches none is shown as before.
    """
    with _Threads.lock:
        _Threads.runs += 1
        if _Threads.runs == 1:
            _Threads.before = warnings.catch_warnings()
            _Threads.before.__enter__()
            warnings.simplefilter("always")
            warnings.showwarning = _shown_by(warnings.showwarning)
    try:
        yield
    finally:
        with _Threads.lock:
            _Threads.runs -= 1
            if _Threads.runs == 0 and _Threads.before is not None:
                _Threads.before.__exit__(None, None, None)


def _shown_by(others: Callable[..., None]) -> Callable[..., None]:
    """Where warnings go: to the list of the thread that gave them, else to `others`."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if _LISTS.stack:
            said = warnings.WarningMessage(message, category, filename, lineno, file, line)
            _LISTS.stack[-1].append(said)
        else:
            others(message, category, filename, lineno, file, line)

    return show
