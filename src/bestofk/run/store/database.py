"""An SQLite file that is deleted or replaced while it is in use: what it held is kept elsewhere.

A file that was opened stays readable until it is closed, whatever happens to its name. So all
that a store held, and not only what this process put there, is copied to a new file.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from bestofk._base.errors import BestOfKWarning, MissingExtraError, StoreError
from bestofk.run.store.migration import prepare, refuse_newer, version_of
from bestofk.run.store.schema import APPLICATION_ID, READABLE_FROM, SCHEMA_VERSION
from bestofk.run.store.url import UNTOUCHED, Address, is_server_gone, is_stalemate, one_sentence


class Anchor:
    """Holds a file open, and knows whether it is still what its name leads to."""

    def __init__(self, path: Path) -> None:
        # to write: SQLite lays no log for those who only read
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, check_same_thread=False
        )
        self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        self._path = path.absolute()
        self._file = _identity(self._path)

    def is_in_place(self) -> bool:
        """Whether the name leads to the file that is open."""
        return _identity(self._path) == self._file

    def moved(self, address: Address) -> tuple[Address, Anchor, str]:
        """Copy what the file held to a new one; its address and anchor, and what happened."""
        happened = "replaced" if self._path.exists() else "deleted"
        try:
            path = _new_file(self._path)
            with closing(sqlite3.connect(path)) as copy:
                self._connection.backup(copy)
                copy.execute("PRAGMA journal_mode = WAL").close()
            anchor = Anchor(path)
        except (OSError, sqlite3.Error) as failed:
            raise StoreError(
                f"{address.shown}: the store was {happened} while it was in use, and what it held "
                f"could not be kept elsewhere: {' '.join(str(failed).split())}."
            ) from None
        self.close()
        return Address(kind="sqlite", shown=str(path), path=path), anchor, happened

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _new_file(path: Path) -> Path:
    """A file that was not there before: beside the old one, else among temporary files."""
    for folder in (path.parent, Path(tempfile.gettempdir())):
        for number in range(1, 1000):
            name = f"{path.stem}-rescued{'' if number == 1 else f'-{number}'}{path.suffix}"
            try:
                os.close(os.open(folder / name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                continue
            except OSError:
                break
            return folder / name
    raise OSError("no folder can be written")


# SQLite files: told from foreign ones without opening them, and opened with care.


_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_CHECKED_BYTES = 1 << 25
"""Files up to this size are checked page by page when they are opened."""


def check_file(path: Path, shown: str, *, create: bool) -> None:
    """Refuse what is no store, by reading alone."""
    try:
        if path.is_dir():
            raise StoreError(f"{shown}: a store is a file; this is a directory.")
        if not path.exists():
            if not create:
                raise StoreError(f"{shown}: there is no such store.")
            if not path.parent.is_dir():
                raise StoreError(
                    f"{shown}: the store cannot be created: its directory does not exist."
                )
            return
        if not path.is_file():
            raise StoreError(f"{shown}: a store is a file; this is a pipe, a socket or a device.")
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError as failed:
        raise StoreError(f"{shown}: the store cannot be read: {failed.strerror}.") from None
    if not header:
        if not create:
            raise StoreError(f"{shown}: this is not a bestofk store but an empty file.")
        return
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise StoreError(f"{shown}: this is not a bestofk store; {UNTOUCHED}.")
    if int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise StoreError(
            f"{shown}: this is an SQLite file of another program, not a bestofk store; {UNTOUCHED}."
        )
    refuse_newer(int.from_bytes(header[60:64]), shown)
    _check_pages(path, shown)


def _check_pages(path: Path, shown: str) -> None:
    """Refuse a damaged file before anything could write to it."""
    logs = [Path(f"{path}-{kind}") for kind in ("wal", "journal")]
    # Where nobody has the file open, it can be read without laying locks and logs beside it.
    if not any(log.exists() for log in logs) and _is_sound(path, immutable=1):
        return
    # A log is of a process at work, or of one that was killed: without it the file may look
    # damaged. One that takes back half a transaction is obeyed when the store is opened to write.
    if any(log.exists() for log in logs) and _is_sound(path):
        return
    raise StoreError(f"{shown}: the store is damaged; {UNTOUCHED}.")


def _is_sound(path: Path, **options: Any) -> bool:
    try:
        with closing(_connect(path, "ro", timeout=5.0, **options)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if path.stat().st_size > _CHECKED_BYTES:
                return True
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.Error as failed:
        code = getattr(failed, "sqlite_errorcode", 0) & 0xFF
        # What else may be wrong shows when the store is opened for its work.
        return code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def sqlite_engine(
    path: Path, *, read_only: bool, busy_timeout: float, durable: bool = True
) -> sa.Engine:
    """An engine whose transactions are written out, for one file."""
    mode = "rwc"

    def connect() -> sqlite3.Connection:
        if read_only:
            return _connect_to_read(path, busy_timeout)
        nonlocal mode
        # Made once: a file that was deleted since is not made again.
        connection = _connect(path, mode if durable else "rw", timeout=busy_timeout)
        mode = "rw"
        # Committed cells outlive a power cut.
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        # 16 MB of log before it is folded in: digests fall all over their index.
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        return connection

    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)), creator=connect, poolclass=sa.pool.QueuePool
    )
    sa.event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: sa.Connection) -> None:
    # A transaction that will write takes its lock first: one that asks later may not wait for it.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def use_write_ahead_log(engine: sa.Engine) -> None:
    """Readers do not wait for writers; file systems that cannot do it keep their journal."""
    connection = engine.raw_connection()
    try:
        connection.cursor().execute("PRAGMA journal_mode = WAL").close()
    finally:
        connection.close()


def _connect(path: Path, mode: str, *, timeout: float, **options: Any) -> sqlite3.Connection:
    query = "&".join(f"{name}={value}" for name, value in {"mode": mode, **options}.items())
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{query}",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )


def _connect_to_read(path: Path, busy_timeout: float) -> sqlite3.Connection:
    """Read even where the directory is read-only and SQLite cannot lay its files beside."""
    # Opened as if to write, SQLite takes its files away again at the end.
    connection = _connect(path, "rw", timeout=busy_timeout)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if Path(f"{path}-wal").exists():
            raise
        return _connect(path, "ro", timeout=busy_timeout, immutable=1)
    return connection


# An SQLite file or a PostgreSQL database, whose troubles are waited for or told in a sentence.


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
