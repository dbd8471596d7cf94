"""Collect rows and write them to a database in batches."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from bestofk._base.errors import StoreError

MAX_WAITING = 1000
"""Number of rows that are written without waiting longer."""
MAX_WAITING_BYTES = 1 << 24
"""The same in bytes of predictions or payloads."""
MAX_WAIT_SECONDS = 0.5
"""Maximum time that a row waits, on a monotonic clock."""

Row = dict[str, Any]
"""The columns of a row by name, among them the digest."""


class Buffer:
    """Collect rows and pass them to `write` in batches, if necessary from its own thread.

    Rows that could not be written stay in the buffer for the next attempt. `add` and `flush` raise
    the error of an attempt in the background. ``merge(old, new)`` gives the row to write if two
    have the same digest.
    """

    def __init__(
        self,
        write: Callable[[list[Row]], None],
        merge: Callable[[Row, Row], Row],
        *,
        max_waiting: int = MAX_WAITING,
        max_seconds: float = MAX_WAIT_SECONDS,
    ) -> None:
        self._write, self._merge = write, merge
        self._max_waiting, self._max_seconds = max_waiting, max_seconds
        self._waiting: dict[str, Row] = {}
        self._bytes = 0
        self._since = 0.0
        self._failure: Exception | None = None
        self._closed = False
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process = os.getpid()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows, and write them if there are many."""
        self.check()
        with self._changed:
            if not self._waiting:
                self._since = time.monotonic()
                self._wake()  # only now, because waking the thread for each cell is slow
            self._insert(rows)
            full = len(self._waiting) >= self._max_waiting or self._bytes >= MAX_WAITING_BYTES
            failure = self._failure
            if self._waiting and self._thread is None:
                self._thread = threading.Thread(
                    target=self._write_regularly, name="bestofk-store", daemon=True
                )
                self._thread.start()
        if failure is not None:
            raise failure
        if full:
            self.flush()

    def flush(self) -> None:
        """Write all waiting rows."""
        self.check()
        with self._writing:
            with self._changed:
                batch, self._waiting, self._bytes = self._waiting, {}, 0
            if not batch:
                return
            try:
                self._write(list(batch.values()))
            except BaseException:
                with self._changed:
                    later, self._waiting = self._waiting, batch
                    self._insert(later.values())
                    self._since = time.monotonic()
                raise
            with self._changed:
                self._failure = None

    def close(self) -> None:
        """Write all waiting rows and stop."""
        if self._closed or os.getpid() != self._process:
            return
        try:
            self.flush()
        finally:
            with self._changed:
                self._closed = True
                self._wake()
            if self._thread is not None:
                self._thread.join()

    def check(self) -> None:
        """Raise if the store is closed, or belongs to another process."""
        if self._closed:
            raise StoreError("The store is closed.")
        if os.getpid() != self._process:
            raise StoreError("A store cannot be used in a fork of the process that opened it.")

    def _wake(self) -> None:
        """Wake the thread.

        Notify all waiters, although there is one thread. If a signal interrupts `notify`, a
        finished waiter stays in the list, and a single notification would go to it.
        """
        self._changed.notify_all()

    def _insert(self, rows: Iterable[Row]) -> None:
        for row in rows:
            old = self._waiting.get(row["digest"])
            self._waiting[row["digest"]] = row if old is None else self._merge(old, row)
            self._bytes += len(row.get("predictions") or row.get("data") or b"")

    def _write_regularly(self) -> None:
        while True:
            with self._changed:
                while not self._closed:
                    if not self._waiting:
                        self._changed.wait()
                        continue
                    left = self._since + self._max_seconds - time.monotonic()
                    if left <= 0:
                        break
                    self._changed.wait(left)
                if self._closed:
                    return
            try:
                self.flush()
            except Exception as error:
                with self._changed:
                    self._failure = error
