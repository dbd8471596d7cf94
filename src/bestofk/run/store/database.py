"""Open SQLite files and PostgreSQL databases, and turn their errors into sentences."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from bestofk._base.errors import MissingExtraError, StoreError
from bestofk.run.store import schema
from bestofk.run.store.url import Address

ValueT = TypeVar("ValueT")

FIRST_PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 2.0
"""Time between two attempts to reach a server again."""
MAX_DEADLOCKS = 5
"""Times to repeat a transaction that the server aborted because of a deadlock."""


class Database:
    """A database whose errors are sentences, shared by a store, its buffers and its claims.

    If the server goes away (a restart, a broken connection), calls wait for it, up to `patience`
    seconds for each time it goes. After that every call fails immediately until the server is back.
    """

    def __init__(
        self, address: Address, *, read_only: bool, busy_timeout: float, patience: float
    ) -> None:
        self.address = address
        self.read_only = read_only
        self.patience = patience
        self._busy_timeout = busy_timeout
        self._process = os.getpid()
        self._connected = False
        self._gone_since: float | None = None
        self._file: tuple[int, int] | None = None
        if address.path is None:
            self._engine = self._light_engine = _postgresql_engine(address, busy_timeout)
        else:
            engine = partial(
                _sqlite_engine, address.path, read_only=read_only, busy_timeout=busy_timeout
            )
            self._engine = engine()
            # for writes that need not survive a power failure
            self._light_engine = engine(durable=False)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a connection that sees one state of the store."""
        with self._sentences(), self._engine.connect() as connection:
            yield connection

    def read(self, query: Callable[[sa.Connection], ValueT]) -> ValueT:
        """Return ``query(connection)``, repeated if the server was away."""

        def attempt() -> ValueT:
            with self._engine.connect() as connection:
                return query(connection)

        return self._with_patience(attempt)

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Open a transaction."""
        self.check_writable()
        with self._sentences(), self._engine.execution_options(writes=True).begin() as connection:
            yield connection

    def commit(self, write: Callable[[sa.Connection], ValueT], *, lightly: bool = False) -> ValueT:
        """Run ``write(connection)`` in a transaction, repeated if the server was away.

        Writing `lightly` is faster, but a power failure may lose the transaction.
        """
        self.check_writable()

        def attempt() -> ValueT:
            engine = self._light_engine if lightly else self._engine
            with engine.execution_options(writes=True).begin() as connection:
                if lightly and connection.dialect.name == "postgresql":
                    connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                value = write(connection)
            self._check_file()
            return value

        return self._with_patience(attempt)

    def prepare(self, *, create: bool) -> None:
        """Check the tables, and create them if there are none."""
        version = self.read(_schema_version)
        self._connected = True
        if version is None:
            if self.read_only:
                raise StoreError(f"{self.address.shown}: there is no bestofk store here.")
            with self.writing() as connection:
                _create_tables(connection, self.address.shown, create=create)
            if self.address.path is not None:
                with self._sentences():
                    _use_write_ahead_log(self._engine, self._busy_timeout)
        else:
            check_version(version, self.address.shown)
        if self.address.path is not None:
            self._file = _file_identity(self.address.path)

    def dispose(self) -> None:
        """Close all connections, except in a fork, whose connections belong to the parent."""
        if os.getpid() == self._process:
            with suppress(sa.exc.SQLAlchemyError):
                self._light_engine.dispose()
                self._engine.dispose()

    def check_writable(self) -> None:
        """Raise if the store was opened for reading only."""
        if self.read_only:
            raise StoreError(f"{self.address.shown}: the store was opened for reading only.")

    def _check_file(self) -> None:
        """Raise if the file was deleted or replaced, because new results would be lost."""
        path = self.address.path
        if path is not None and self._file is not None and _file_identity(path) != self._file:
            raise StoreError(
                f"{self.address.shown}: the store was deleted, moved or replaced during the run, "
                "and results since then are lost: start the run again."
            )

    def _sentences(self) -> Any:
        return one_sentence(self.address, busy_timeout=self._busy_timeout)

    def _with_patience(self, attempt: Callable[[], ValueT]) -> ValueT:
        deadlocks, pause, attempts = 0, FIRST_PAUSE_SECONDS, 0
        while True:
            with self._sentences():
                try:
                    value = attempt()
                except sa.exc.DBAPIError as error:
                    attempts += 1
                    if is_deadlock(error) and deadlocks < MAX_DEADLOCKS:
                        deadlocks += 1
                    elif not self._may_return(error, attempts):
                        raise
                else:
                    self._gone_since = None
                    return value
            if attempts > 1:
                time.sleep(pause)
                pause = min(2 * pause, MAX_PAUSE_SECONDS)

    def _may_return(self, error: sa.exc.DBAPIError, attempts: int) -> bool:
        """Return whether to wait for a server that went away, or that is not ready yet."""
        if self.address.path is not None:
            return False
        if not (is_server_busy(error) or (self._connected and is_server_gone(error))):
            return False
        if self._gone_since is None:
            self._gone_since = time.monotonic()
        # try at least once more, because the server may only have dropped an old connection
        return attempts == 1 or time.monotonic() - self._gone_since < self.patience


def _file_identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


# Schema version and tables

UNKNOWN_VERSION = -1
"""Schema version of tables that do not state it."""


def check_version(version: int, shown: str) -> None:
    """Refuse a store of another schema version."""
    if version == UNKNOWN_VERSION:
        raise StoreError(f"{shown}: the store does not state its schema version; {UNCHANGED}.")
    if version != schema.SCHEMA_VERSION:
        raise StoreError(
            f"{shown}: the store has schema version {version}, but this bestofk needs version "
            f"{schema.SCHEMA_VERSION}: use another store, or the bestofk that wrote it; "
            f"{UNCHANGED}."
        )


def _schema_version(connection: sa.Connection) -> int | None:
    """Return the schema version of the tables; None if there are none."""
    if not sa.inspect(connection).has_table(schema.meta.name):
        return None
    if connection.dialect.name == "sqlite":
        return int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
    query = sa.select(schema.meta.c.value).where(schema.meta.c.name == "schema_version")
    text = connection.execute(query).scalar_one_or_none()
    return int(text) if text is not None and text.isdecimal() else UNKNOWN_VERSION


def _create_tables(connection: sa.Connection, shown: str, *, create: bool) -> None:
    """Create the tables in an open transaction, unless another process did so meanwhile."""
    if connection.dialect.name == "postgresql":
        lock = sa.text("SELECT pg_advisory_xact_lock(:id)")
        connection.execute(lock, {"id": schema.APPLICATION_ID})
    version = _schema_version(connection)
    if version is not None:
        check_version(version, shown)
        return
    if not create:
        raise StoreError(f"{shown}: there is no bestofk store here.")
    schema.metadata.create_all(connection, checkfirst=False)
    connection.execute(
        sa.insert(schema.meta),
        [{"name": "application_id", "value": str(schema.APPLICATION_ID)},
         {"name": "schema_version", "value": str(schema.SCHEMA_VERSION)}],
    )  # fmt: skip
    if connection.dialect.name == "sqlite":
        # in the file header, so that `check_file` can read it without opening the database
        connection.exec_driver_sql(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.exec_driver_sql(f"PRAGMA user_version = {schema.SCHEMA_VERSION}")


# SQLite files

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100


def check_file(path: Path, shown: str, *, create: bool) -> None:
    """Refuse a file that is not a store, without writing to it."""
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
            header = file.read(_HEADER_BYTES)
    except OSError as error:
        raise StoreError(f"{shown}: the store cannot be read: {error.strerror}.") from None
    if not header:
        if not create:
            raise StoreError(f"{shown}: this is not a bestofk store but an empty file.")
        return
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise StoreError(f"{shown}: this is not a bestofk store; {UNCHANGED}.")
    if int.from_bytes(header[68:72]) != schema.APPLICATION_ID:
        raise StoreError(
            f"{shown}: this is an SQLite file of another program, not a bestofk store; {UNCHANGED}."
        )
    check_version(int.from_bytes(header[60:64]), shown)


def _sqlite_engine(
    path: Path, *, read_only: bool, busy_timeout: float, durable: bool = True
) -> sa.Engine:
    """Return an engine for one file, with explicit transactions."""
    mode = "rwc" if durable else "rw"

    def connect() -> sqlite3.Connection:
        if read_only:
            return _connect_to_read(path, busy_timeout)
        nonlocal mode
        connection = _connect(path, mode, timeout=busy_timeout)
        mode = "rw"  # do not create a file that was deleted meanwhile
        # committed cells survive a power failure
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        # checkpoint every 16 MB, because digests are scattered over their index
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        return connection

    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)), creator=connect, poolclass=sa.pool.QueuePool
    )
    sa.event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: sa.Connection) -> None:
    # A writing transaction takes its lock first, because SQLite may refuse to upgrade a read lock.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _use_write_ahead_log(engine: sa.Engine, busy_timeout: float) -> None:
    """Let readers and writers work at the same time, if the file system can."""
    give_up = time.monotonic() + busy_timeout
    while True:
        with closing(engine.raw_connection()) as connection:
            try:
                connection.cursor().execute("PRAGMA journal_mode = WAL").close()
            except sqlite3.OperationalError as error:
                # while another process writes, this fails at once, whatever the timeout
                if not _is_locked(error) or time.monotonic() > give_up:
                    raise
            else:
                return
        time.sleep(FIRST_PAUSE_SECONDS)


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
    """Connect for reading, also if the directory is read-only."""
    # in mode "rw" SQLite removes its log files at the end
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


# PostgreSQL


def _postgresql_engine(address: Address, busy_timeout: float) -> sa.Engine:
    assert address.url is not None
    try:
        engine = sa.create_engine(address.url, hide_parameters=True, pool_pre_ping=True)
    except ImportError:
        raise MissingExtraError("PostgreSQL stores", "postgres") from None

    def set_lock_timeout(connection: Any, record: Any) -> None:  # noqa: ARG001
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {int(busy_timeout * 1000)}")
        connection.commit()

    sa.event.listen(engine, "connect", set_lock_timeout)
    return engine


# Database errors as sentences

SAFE = "committed results are safe, and the same command resumes from there"
UNCHANGED = "it was not changed"
_BUSY_WORDS = ("too many clients", "connection slots", "too many connections", "is starting up")

# by primary SQLite result code (the low byte of the extended one)
_SQLITE_SENTENCES = {
    sqlite3.SQLITE_FULL: f"the disk is full: {SAFE}, once there is space",
    sqlite3.SQLITE_READONLY: f"the store cannot be written: {SAFE}, once it is writable",
    sqlite3.SQLITE_PERM: f"the store cannot be written: {SAFE}, once it is writable",
    sqlite3.SQLITE_CANTOPEN: "the store cannot be opened: its directory must exist and be writable",
    sqlite3.SQLITE_IOERR: f"the disk failed or is full: {SAFE}",
    sqlite3.SQLITE_CORRUPT: "the store is damaged: restore a copy, or use a new file",
    sqlite3.SQLITE_NOTADB: f"this is not a bestofk store; {UNCHANGED}",
}
# by beginning of the PostgreSQL SQLSTATE; the longest match counts
_POSTGRESQL_SENTENCES = {
    "53100": f"the server's disk is full: {SAFE}, once there is space",
    "53300": f"the server has no free connection: {SAFE}, once there is one",
    "55P03": f"another process keeps the store locked: try again when it has finished; {SAFE}",
    "57P": f"the server has closed the connection: {SAFE}",
    "25006": f"the store cannot be written: {SAFE}, once it is writable",
    "42501": "the user is not allowed to use these tables",
    "3D000": "there is no such database",
    "42703": "the tables are not those of a bestofk store; they were not changed",
    "42P01": "the tables are not those of a bestofk store; they were not changed",
}


@contextmanager
def one_sentence(address: Address, *, busy_timeout: float) -> Iterator[None]:
    """Turn driver errors into a StoreError that never shows the password."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
        cause = getattr(error, "orig", None) or error
        sentence = _sentence(cause, address, busy_timeout)
        raise StoreError(f"{address.shown}: {sentence}.") from None


def is_server_gone(error: sa.exc.DBAPIError) -> bool:
    """Return whether the server went away or is starting, so that it may be back soon."""
    if error.connection_invalidated:
        return True
    state = getattr(error.orig, "sqlstate", None)
    if state is None:  # there was no server to report one
        return isinstance(error, sa.exc.OperationalError)
    return str(state).startswith(("08", "57P"))


def is_server_busy(error: sa.exc.DBAPIError) -> bool:
    """Return whether the server has no free connection, or is starting."""
    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        return str(state) in ("53300", "57P03")
    # an error before the connection is established has no state
    return any(words in str(error.orig) for words in _BUSY_WORDS)


def is_deadlock(error: sa.exc.DBAPIError) -> bool:
    """Return whether two transactions waited for each other, so that one must be repeated."""
    return getattr(error.orig, "sqlstate", None) in ("40001", "40P01")


def _is_locked(error: BaseException) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _sentence(cause: BaseException, address: Address, busy_timeout: float) -> str:
    code = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        primary = code & 0xFF
        if _is_locked(cause):
            return (
                f"another process has kept the store locked for {busy_timeout:g} s: try again when "
                f"it has finished; {SAFE}"
            )
        if primary in _SQLITE_SENTENCES:
            return _SQLITE_SENTENCES[primary]
    state = getattr(cause, "sqlstate", None) or ""
    for prefix in sorted(_POSTGRESQL_SENTENCES, key=len, reverse=True):
        if state.startswith(prefix):
            return _POSTGRESQL_SENTENCES[prefix]
    details = " ".join(str(cause).split()).rstrip(". ")
    if len(details) > 200:
        details = details[:197] + "..."
    return f"the database failed: {address.without_secrets(details)}"
