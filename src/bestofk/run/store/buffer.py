"""Collect rows and write them to a database in batches."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

from bestofk._base.errors import StoreError

MAX_WAITING = 1000
"""Number of rows that are written without waiting longer."""
MAX_WAITING_BYTES = 1 << 24
"""The same in bytes of predictions or arrays."""
MAX_WAIT_SECONDS = 0.5
"""Maximum time that a row waits."""

Row = dict[str, Any]
"""The columns of a row by name, among them the digest."""


class Buffer:
    """Collect rows and pass them to `write` in batches, if necessary in the background.

    Rows that could not be written stay in the buffer for the next attempt. `add` and `flush` raise
    the error of an attempt in the background. ``merge(old, new)`` gives the row to write if two
    have the same digest.
    """

    def __init__(
        self, write: Callable[[list[Row]], None], merge: Callable[[Row, Row], Row]
    ) -> None:
        self._write, self._merge = write, merge
        self._waiting: dict[str, Row] = {}
        self._bytes = 0
        self._failure: Exception | None = None
        self._closed = False
        self._changing, self._writing = threading.Lock(), threading.Lock()
        self._timer: threading.Timer | None = None
        self._process = os.getpid()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows, and write them if there are many."""
        self.check()
        failure = self._failure
        with self._changing:
            self._insert(rows)
            full = len(self._waiting) >= MAX_WAITING or self._bytes >= MAX_WAITING_BYTES
        if failure is not None:
            raise failure
        if full:
            self.flush()

    def flush(self) -> None:
        """Write all waiting rows."""
        self.check()
        with self._writing:
            batch: dict[str, Row] = {}
            try:
                with self._changing:
                    batch, self._waiting, self._bytes = self._waiting, {}, 0
                if batch:
                    self._write(list(batch.values()))
            except BaseException:
                with self._changing:
                    later, self._waiting = self._waiting, batch
                    self._insert(later.values())
                raise
            self._failure = None

    def close(self) -> None:
        """Write all waiting rows and stop."""
        if self._closed or os.getpid() != self._process:
            return
        try:
            self.flush()
        finally:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()

    def check(self) -> None:
        """Raise if the store is closed, or belongs to another process."""
        if self._closed:
            raise StoreError("The store is closed.")
        if os.getpid() != self._process:
            raise StoreError("A store cannot be used in a fork of the process that opened it.")

    def _insert(self, rows: Iterable[Row]) -> None:
        for row in rows:
            old = self._waiting.get(row["digest"])
            self._waiting[row["digest"]] = row if old is None else self._merge(old, row)
            self._bytes += len(row["predictions"] or b"")
        if self._waiting and self._timer is None:
            self._timer = threading.Timer(MAX_WAIT_SECONDS, self._flush_in_background)
            self._timer.daemon = True
            self._timer.start()

    def _flush_in_background(self) -> None:
        self._timer = None
        try:
            self.flush()
        except Exception as error:
            self._failure = error
