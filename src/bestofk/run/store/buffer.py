"""Collect results and write them to a database in batches."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from bestofk._base.errors import StoreError
from bestofk.run.cells import CellResult, supersedes
from bestofk.run.store.payloads import Payload

EntryT = TypeVar("EntryT", bound=CellResult | Payload)

MAX_WAITING = 1000
"""Number of results that are written without waiting longer."""
MAX_WAITING_BYTES = 1 << 24
"""The same in bytes of predictions or payloads."""
MAX_WAIT_SECONDS = 0.5
"""Maximum time that a result waits, on a monotonic clock."""


def _key(entry: CellResult | Payload) -> Hashable:
    return entry.key.digest if isinstance(entry, CellResult) else entry.key


def _size(entry: CellResult | Payload) -> int:
    return len(entry.predictions or b"") if isinstance(entry, CellResult) else len(entry.data)


class Buffer(Generic[EntryT]):
    """Collect results and pass them to `write` in batches, if necessary from its own thread.

    Results that could not be written stay in the buffer for the next attempt. `add` and `flush`
    raise the error of an attempt in the background.
    """

    def __init__(
        self,
        write: Callable[[list[EntryT]], None],
        *,
        max_waiting: int = MAX_WAITING,
        max_seconds: float = MAX_WAIT_SECONDS,
    ) -> None:
        self._write = write
        self._max_waiting = max_waiting
        self._max_seconds = max_seconds
        self._waiting: dict[Hashable, EntryT] = {}
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

    def add(self, results: Iterable[EntryT]) -> None:
        """Add results, and write them if there are many."""
        self._check()
        with self._changed:
            if not self._waiting:
                self._since = time.monotonic()
                self._wake()  # only now, because waking the thread for each cell is slow
            for result in results:
                self._insert(result)
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
        """Write all waiting results."""
        self._check()
        with self._writing:
            with self._changed:
                batch, self._waiting, self._bytes = self._waiting, {}, 0
            if not batch:
                return
            try:
                self._write(list(batch.values()))
            except BaseException:
                self._put_back(batch)
                raise
            with self._changed:
                self._failure = None

    def close(self) -> None:
        """Write all waiting results and stop."""
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

    def _wake(self) -> None:
        """Wake the thread.

        Notify all waiters, although there is one thread. If a signal interrupts `notify`, a
        finished waiter stays in the list, and a single notification would go to it.
        """
        self._changed.notify_all()

    def _check(self) -> None:
        if self._closed:
            raise StoreError("The store is closed.")
        if os.getpid() != self._process:
            raise StoreError("A store cannot be used in a fork of the process that opened it.")

    def _insert(self, result: EntryT) -> None:
        key = _key(result)
        known = self._waiting.get(key)
        if isinstance(result, CellResult) and isinstance(known, CellResult):
            replaces = supersedes(result, known)
        else:
            replaces = known is None  # a payload never changes
        if replaces:
            self._waiting[key] = result
            self._bytes += _size(result)

    def _put_back(self, batch: dict[Hashable, EntryT]) -> None:
        with self._changed:
            later, self._waiting = self._waiting, batch
            for result in later.values():
                self._insert(result)
            self._since = time.monotonic()

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
