"""Results on their way to a database: few transactions, and none waits for long."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from bestofk._base.errors import StoreError
from bestofk.run.cells import CellResult
from bestofk.run.store.payloads import Payload

EntryT = TypeVar("EntryT", bound=CellResult | Payload)

MOST = 1000
"""So many results are written without waiting."""
MOST_BYTES = 1 << 24
"""So many bytes of predictions or payloads too."""
LONGEST = 0.5
"""Seconds that a result waits at most, by a clock that does not jump."""


def supersedes(new: CellResult, old: CellResult) -> bool:
    """Whether `new` replaces what is known of its cell.

    A failure gives way to what came later; a loss stays, but for one with predictions where there
    were none.
    """
    if old.failure is not None:
        return True
    return new.failure is None and new.predictions is not None and old.predictions is None


def key_of(entry: CellResult | Payload) -> Hashable:
    """What an entry is found by."""
    return entry.key.digest if isinstance(entry, CellResult) else entry.key


def gives_way(old: CellResult | Payload, new: CellResult | Payload) -> bool:
    """Whether `new` replaces what is known under its key; a payload never changes."""
    return isinstance(new, CellResult) and isinstance(old, CellResult) and supersedes(new, old)


def size_of(entry: CellResult | Payload) -> int:
    """Bytes of what may be large."""
    return len(entry.predictions or b"") if isinstance(entry, CellResult) else len(entry.data)


class Buffer(Generic[EntryT]):
    """Collects results and hands them to `write` in batches, from a thread of its own if need be.

    What could not be written stays in the buffer and is tried again; `add` and `flush` raise
    what a try in the background raised.
    """

    def __init__(
        self,
        write: Callable[[list[EntryT]], None],
        *,
        most: int = MOST,
        longest: float = LONGEST,
    ) -> None:
        self._write = write
        self._most = most
        self._longest = longest
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
        """Keep `results`, and write if there are many."""
        self._check()
        with self._changed:
            if not self._waiting:
                self._since = time.monotonic()
                self._wake()  # only now: to wake the thread for every cell is expensive
            for result in results:
                self._keep(result)
            full = len(self._waiting) >= self._most or self._bytes >= MOST_BYTES
            failure = self._failure
            if self._waiting and self._thread is None:
                self._thread = threading.Thread(
                    target=self._write_in_time, name="bestofk-store", daemon=True
                )
                self._thread.start()
        if failure is not None:
            raise failure
        if full:
            self.flush()

    def flush(self) -> None:
        """Write all that waits."""
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
        """Write all that waits, and stop."""
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
        """Let the thread look again.

        All that wait, though it is one: where a signal interrupts a condition that notifies, the
        entry of a wait that is over stays behind, and the next single notice would go to that.
        """
        self._changed.notify_all()

    def _check(self) -> None:
        if self._closed:
            raise StoreError("The store is closed.")
        if os.getpid() != self._process:
            raise StoreError("A store cannot be used in a fork of the process that opened it.")

    def _keep(self, result: EntryT) -> None:
        key = key_of(result)
        known = self._waiting.get(key)
        if known is None or gives_way(known, result):
            self._waiting[key] = result
            self._bytes += size_of(result)

    def _put_back(self, batch: dict[Hashable, EntryT]) -> None:
        with self._changed:
            later, self._waiting = self._waiting, batch
            for result in later.values():
                self._keep(result)
            self._since = time.monotonic()

    def _write_in_time(self) -> None:
        while True:
            with self._changed:
                while not self._closed:
                    if not self._waiting:
                        self._changed.wait()
                        continue
                    left = self._since + self._longest - time.monotonic()
                    if left <= 0:
                        break
                    self._changed.wait(left)
                if self._closed:
                    return
            try:
                self.flush()
            except Exception as failed:
                with self._changed:
                    self._failure = failed
