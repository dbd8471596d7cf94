"""An SQLite file or a PostgreSQL database, whose troubles are waited for or told in a sentence."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa

from bestofk.errors import BestOfKWarning, MissingExtraError, StoreError
from bestofk.run.store.errors import is_server_gone, is_stalemate, one_sentence
from bestofk.run.store.migration import prepare, refuse_newer, version_of
from bestofk.run.store.rescue import Anchor
from bestofk.run.store.schema import READABLE_FROM, SCHEMA_VERSION
from bestofk.run.store.sqlite import sqlite_engine, use_write_ahead_log
from bestofk.run.store.url import Address

ValueT = TypeVar("ValueT")

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 2.0
"""Seconds between two tries to reach a server again."""
MOST_STALEMATES = 5


class Database:
    """An engine whose errors are sentences; what a store, its buffers and its claims share.

    A server that goes away (a restart, a broken line) is waited for, `patience` seconds for each
    time it goes; after that every call fails at once until the server is back. An SQLite file
    that is deleted or replaced while it is in use is kept under another name.
    """

    def __init__(
        self, address: Address, *, read_only: bool, busy_timeout: float, patience: float
    ) -> None:
        self.address = address
        self.read_only = read_only
        self.patience = patience
        self.version = SCHEMA_VERSION
        self._busy_timeout = busy_timeout
        self._process = os.getpid()
        self._met = False
        self._gone_since: float | None = None
        self._anchor: Anchor | None = None
        self._moving = threading.RLock()
        self._untold: list[str] = []
        self._open_engines()

    def _open_engines(self) -> None:
        path = self.address.path
        if path is None:
            self._engine = self._light = _postgresql_engine(self.address, self._busy_timeout)
            return
        engine = partial(
            sqlite_engine, path, read_only=self.read_only, busy_timeout=self._busy_timeout
        )
        self._engine = engine()
        # for what need not outlive a power cut
        self._light = engine(durable=False)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection that sees one state of the store."""
        with self._sentences(), self._engine.connect() as connection:
            yield connection

    def read(self, ask: Callable[[sa.Connection], ValueT]) -> ValueT:
        """What `ask` finds; it is asked again where the server was away."""

        def attempt() -> ValueT:
            with self._engine.connect() as connection:
                return ask(connection)

        return self._patiently(attempt)

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction: all of it or nothing."""
        self._check_writable()
        with self._sentences(), self._engine.execution_options(writes=True).begin() as connection:
            yield connection

    def commit(self, write: Callable[[sa.Connection], ValueT], *, lightly: bool = False) -> ValueT:
        """Commit what `write` does; again, where the server was away or the file was moved.

        What is written `lightly` costs less, and may be lost in a power cut.
        """
        self._check_writable()

        def attempt() -> ValueT:
            engine = self._light if lightly else self._engine
            with engine.execution_options(writes=True).begin() as connection:
                if lightly and connection.dialect.name == "postgresql":
                    connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                return write(connection)

        return self._patiently(attempt)

    def tell(self) -> None:
        """Say what happened to the store since the last time, where the caller can hear it."""
        while self._untold:
            warnings.warn(self._untold.pop(0), BestOfKWarning, stacklevel=4)

    def prepare(self, *, create: bool) -> None:
        """See that the tables are there and of this version."""
        shown = self.address.shown
        with self.reading() as connection:
            version = version_of(connection)
        self._met = True
        if version is not None:
            refuse_newer(version, shown)
        if version != SCHEMA_VERSION:
            if self.read_only:
                self._read_older(version)
                return
            with self.writing() as connection:
                prepare(connection, shown, create=create)
            if self.address.path is not None:
                with self._sentences():
                    use_write_ahead_log(self._engine)
        if self.address.path is not None and not self.read_only:
            with self._sentences():
                self._anchor = Anchor(self.address.path)

    def _read_older(self, version: int | None) -> None:
        shown = self.address.shown
        if version is None:
            raise StoreError(f"{shown}: there is no bestofk store here.")
        if version < READABLE_FROM:
            raise StoreError(
                f"{shown}: the store has the older schema version {version}: opened to write, it "
                f"is brought to version {SCHEMA_VERSION}."
            )
        self.version = version

    def dispose(self) -> None:
        """Close all connections, but for those that a fork has from its parent."""
        if os.getpid() != self._process:
            return
        with suppress(sa.exc.SQLAlchemyError):
            self._light.dispose()
            self._engine.dispose()
        if self._anchor is not None:
            self._anchor.close()

    def _check_writable(self) -> None:
        if self.read_only:
            raise StoreError(f"{self.address.shown}: the store was opened to read only.")

    def _sentences(self) -> Any:
        return one_sentence(self.address, busy_timeout=self._busy_timeout)

    def _patiently(self, attempt: Callable[[], ValueT]) -> ValueT:
        stalemates, pause, tries = 0, FIRST_PAUSE, 0
        while True:
            self._stay_in_place()
            anchor = self._anchor
            try:
                with self._sentences():
                    try:
                        value = attempt()
                    except sa.exc.DBAPIError as failed:
                        tries += 1
                        if is_stalemate(failed) and stalemates < MOST_STALEMATES:
                            stalemates += 1
                        elif not self._may_return(failed, tries):
                            raise
                    else:
                        self._gone_since = None
                        self._stay_in_place()
                        if self._anchor is not anchor:
                            continue  # what was written went with the file
                        return value
            except StoreError:
                self._stay_in_place()
                if self._anchor is anchor:
                    raise
                continue
            if tries > 1:
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    def _may_return(self, failed: sa.exc.DBAPIError, tries: int) -> bool:
        """Whether a server that went away is still waited for."""
        if self.address.path is not None or not self._met or not is_server_gone(failed):
            return False
        if self._gone_since is None:
            self._gone_since = time.monotonic()
        # once more at least: the server may only have dropped an old connection
        return tries == 1 or time.monotonic() - self._gone_since < self.patience

    def _stay_in_place(self) -> None:
        """Go on in a copy where the file has been deleted or replaced."""
        if self._anchor is None or self._anchor.is_in_place():
            return
        with self._moving:
            if self._anchor.is_in_place():
                return
            lost = self.address.shown
            self.address, self._anchor, happened = self._anchor.moved(self.address)
            self._light.dispose()
            self._engine.dispose()
            self._open_engines()
            self._untold.append(
                f"{lost}: the store was {happened} while it was in use; what it held and what "
                f"comes is kept in {self.address.shown}: give that as the store to resume."
            )


def _postgresql_engine(address: Address, busy_timeout: float) -> sa.Engine:
    assert address.url is not None
    try:
        engine = sa.create_engine(address.url, hide_parameters=True, pool_pre_ping=True)
    except ImportError:
        raise MissingExtraError("PostgreSQL stores", "postgres") from None

    def settle(connection: Any, record: Any) -> None:  # noqa: ARG001
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {int(busy_timeout * 1000)}")
        connection.commit()

    sa.event.listen(engine, "connect", settle)
    return engine
