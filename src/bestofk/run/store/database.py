"""The tables of a store, connections to them, and their errors in sentences."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from bestofk._base.errors import MissingExtraError, StoreError
from bestofk.run.store.url import Address

ValueT = TypeVar("ValueT")

APPLICATION_ID = 0x424F464B
"""The letters BOFK, in the header of an SQLite file."""
SCHEMA_VERSION = 10
FIRST_PAUSE_SECONDS = 0.05
MAX_PAUSE_SECONDS = 2.0
"""Time between two attempts to reach a server again."""
BUSY_TIMEOUT = 30.0
"""Seconds to wait for a lock of another process."""
PATIENCE = 60.0
"""Seconds to wait for a server that went away after the store was opened, as in a restart."""
MAX_DEADLOCKS = 5
"""Times to repeat a transaction that the server aborted because of a deadlock."""

metadata = sa.MetaData()


def _table(name: str, *columns: Any, **options: Any) -> sa.Table:
    return sa.Table(f"bestofk_{name}", metadata, *columns, **options)


def _text(name: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, **options)


meta = _table("meta", _text("name", primary_key=True), _text("value"))

studies = _table(
    "studies",
    sa.Column("id", sa.Integer, primary_key=True),
    _text("digest", unique=True),
    _text("created"),
    _text("specification"),
    sa.Column("checksum", sa.BigInteger, nullable=False),
)

cells = _table(
    "cells",
    _text("digest", primary_key=True),
    _text("dataset"),
    _text("learner"),
    _text("splits"),
    sa.Column("run", sa.Integer, nullable=False),
    sa.Column("fold", sa.Integer, nullable=False),
    sa.Column("repetition", sa.Integer, nullable=False),
    _text("payload"),
    sa.Column("checksum", sa.BigInteger, nullable=False),
    sa.Column("predictions", sa.LargeBinary),
)
"""One row per fit; the payload has scores, times and sizes in ASCII JSON. A row without a data set
has an array in the place of predictions."""

claims = _table(
    "claims", _text("digest", primary_key=True), _text("claimer"), sqlite_with_rowid=False
)
"""Cells that processes work on."""

claimers = _table(
    "claimers",
    _text("name", primary_key=True),
    _text("process"),
    sa.Column("beat", sa.BigInteger, nullable=False),
)
"""Processes at work, with their heartbeat counts."""


class Database:
    """A database whose errors are sentences, shared by a store and its claims.

    If the server goes away (a restart, a broken connection), calls wait for it, up to `PATIENCE`
    seconds for each time it goes. After that every call fails immediately until the server is back.
    """

    def __init__(self, address: Address, *, read_only: bool) -> None:
        self.address, self.read_only = address, read_only
        self._process = os.getpid()
        self._connected = False
        self._gone_since: float | None = None
        self.claiming = False
        # the threads of this process share the one connection to memory
        self._turn: AbstractContextManager[Any] = nullcontext()
        if address.url is not None:
            self._engine = _postgresql_engine(address.url)
        else:
            self._engine = _sqlite_engine(address.path, read_only)
        if address.is_memory:
            self._turn = threading.RLock()

    def prepare(self) -> None:
        """Check the schema version, and create the tables if there are none."""
        path, create = self.address.path, not self.read_only
        if path is not None:
            _check_file(path, self.address.shown, create=create)
        version = self.read(_schema_version)
        self._connected = True
        if version is None:
            if not create:
                raise StoreError(f"{self.address.shown}: there is no bestofk store here.")
            version = self.commit(_create_tables)
        if version != str(SCHEMA_VERSION):
            raise StoreError(
                f"{self.address.shown}: the store has schema version {version}, but this bestofk "
                f"needs version {SCHEMA_VERSION}: use another store, or the bestofk that wrote it; "
                f"{UNCHANGED}."
            )
        if path is not None and create:
            # readers and writers work at the same time; not possible while another process writes
            with closing(self._engine.raw_connection()) as raw, suppress(sqlite3.OperationalError):
                raw.cursor().execute("PRAGMA journal_mode = WAL").close()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Open a connection that sees one state of the store."""
        with self.sentences(), self._turn, self._engine.connect() as connection:
            yield connection

    def read(self, query: Callable[[sa.Connection], ValueT]) -> ValueT:
        """Return ``query(connection)``, repeated if the server was away."""

        def attempt() -> ValueT:
            with self._turn, self._engine.connect() as connection:
                return query(connection)

        return self._with_patience(attempt)

    def commit(self, write: Callable[[sa.Connection], ValueT], *, lightly: bool = False) -> ValueT:
        """Run ``write(connection)`` in a transaction, repeated if the server was away.

        Writing `lightly` is faster, but a power failure may lose the transaction.
        """
        self.check_writable()
        engine = self._engine.execution_options(durable=not lightly)

        def attempt() -> ValueT:
            with self._turn, engine.begin() as connection:
                if lightly and connection.dialect.name == "postgresql":
                    connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                return write(connection)

        return self._with_patience(attempt)

    def dispose(self) -> None:
        """Close all connections, except in a fork, whose connections belong to the parent."""
        if os.getpid() == self._process:
            with suppress(sa.exc.SQLAlchemyError):
                self._engine.dispose()

    def check_writable(self) -> None:
        """Raise if the store was opened for reading only."""
        if self.read_only:
            raise StoreError(f"{self.address.shown}: the store was opened for reading only.")

    @contextmanager
    def sentences(self) -> Iterator[None]:
        """Turn driver errors into a StoreError that never shows the password."""
        try:
            yield
        except (sa.exc.SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as error:
            sentence = _sentence(getattr(error, "orig", None) or error, self.address)
            raise StoreError(f"{self.address.shown}: {sentence}.") from None

    def _with_patience(self, attempt: Callable[[], ValueT]) -> ValueT:
        pause, attempts = FIRST_PAUSE_SECONDS, 0
        while True:
            with self.sentences():
                try:
                    value = attempt()
                except sa.exc.DBAPIError as error:
                    attempts += 1
                    if not self._may_pass(error, attempts):
                        raise
                else:
                    self._gone_since = None
                    return value
            if attempts > 1:
                time.sleep(pause)
                pause = min(2 * pause, MAX_PAUSE_SECONDS)

    def _may_pass(self, error: sa.exc.DBAPIError, attempts: int) -> bool:
        """Return whether to try again: after a deadlock, or while a server is away or busy."""
        if self.address.url is None:
            return False
        state = str(getattr(error.orig, "sqlstate", None) or "")
        if state in ("40001", "40P01"):
            return attempts <= MAX_DEADLOCKS
        # an error before the connection is established has no state
        busy = state in ("53300", "57P03") or any(one in str(error.orig) for one in _BUSY_WORDS)
        gone = (
            error.connection_invalidated
            or state.startswith(("08", "57P"))
            or (not state and isinstance(error, sa.exc.OperationalError))
        )
        if not (busy or (gone and self._connected)):
            return False
        if self._gone_since is None:
            self._gone_since = time.monotonic()
        # try at least once more, because the server may only have dropped an old connection
        return attempts == 1 or time.monotonic() - self._gone_since < PATIENCE


def _schema_version(connection: sa.Connection) -> str | None:
    """Return the schema version of the tables; None if there are none."""
    if not sa.inspect(connection).has_table(meta.name):
        return None
    query = sa.select(meta.c.value).where(meta.c.name == "schema_version")
    return str(connection.execute(query).scalar_one_or_none())


def _create_tables(connection: sa.Connection) -> str:
    """Create the tables, unless another process did so meanwhile; return the schema version."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({APPLICATION_ID})")
    version = _schema_version(connection)
    if version is not None:
        return version
    metadata.create_all(connection, checkfirst=False)
    connection.execute(sa.insert(meta), {"name": "schema_version", "value": str(SCHEMA_VERSION)})
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    return str(SCHEMA_VERSION)


# Statements


def rows_with(
    connection: sa.Connection,
    table: sa.Table,
    columns: Sequence[str],
    digests: Sequence[str],
    *,
    lock: bool = False,
) -> Sequence[Any]:
    """Return some columns of the rows with these digests, locked until the end if `lock`."""
    chosen = sa.select(*(table.c[name] for name in columns)).where(table.c.digest.in_(digests))
    return connection.execute(chosen.with_for_update() if lock else chosen).all()


def delete_rows(connection: sa.Connection, table: sa.Table, digests: Sequence[str]) -> None:
    """Delete the rows with these digests."""
    connection.execute(sa.delete(table).where(table.c.digest.in_(sorted(digests))))


@lru_cache(maxsize=16)
def _insertion(dialect: sa.Dialect, table: sa.Table, columns: tuple[str, ...]) -> str:
    """Return the text of an insertion: drivers take it faster than a statement."""
    insert = (postgresql if dialect.name == "postgresql" else sqlite).insert(table)
    statement = insert.on_conflict_do_nothing()
    return str(statement.compile(dialect=dialect, column_keys=list(columns)))


def insert_rows(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> int:
    """Insert the rows that are not there yet, and return their number."""
    text = _insertion(connection.dialect, table, tuple(sorted(rows[0])))
    return connection.exec_driver_sql(text, rows).rowcount


# SQLite

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100


def _check_file(path: Path, shown: str, *, create: bool) -> None:
    """Refuse a file that is not a store, without opening it as a database."""
    try:
        if not path.exists():
            if create:
                return
            raise StoreError(f"{shown}: there is no such store.")
        if not path.is_file():
            raise StoreError(f"{shown}: a store is a file; this is a pipe, device or directory.")
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as error:
        raise StoreError(f"{shown}: the store cannot be read: {error.strerror}.") from None
    if not header and create:
        return
    if not header.startswith(_MAGIC) or int.from_bytes(header[68:72]) != APPLICATION_ID:
        raise StoreError(f"{shown}: this is not a bestofk store; {UNCHANGED}.")


def _sqlite_engine(path: Path | None, read_only: bool) -> sa.Engine:
    """Return an engine for one file or, without a path, for memory."""

    def connect() -> sqlite3.Connection:
        if path is None:
            return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        if read_only:
            # in mode "rw" SQLite removes its log files at the end
            writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
            return _connect(path, "rw" if writable else "ro&immutable=1")
        connection = _connect(path, "rwc")
        # checkpoint every 16 MB, because digests are scattered over their index
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        return connection

    pool = sa.pool.StaticPool if path is None else sa.pool.QueuePool
    engine = sa.create_engine("sqlite://", creator=connect, poolclass=pool, paramstyle="named")
    sa.event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: sa.Connection) -> None:
    durable = connection.get_execution_options().get("durable")
    if durable is None:
        connection.exec_driver_sql("BEGIN")
        return
    # committed cells survive a power failure
    connection.exec_driver_sql(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    # take the lock first, because SQLite may refuse to upgrade a read lock
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_TIMEOUT,
        isolation_level=None,
        check_same_thread=False,
    )


# PostgreSQL


def _postgresql_engine(url: sa.URL) -> sa.Engine:
    try:
        engine = sa.create_engine(url, hide_parameters=True, pool_pre_ping=True)
    except ImportError:
        raise MissingExtraError("PostgreSQL stores", "'psycopg[binary]'") from None

    def set_lock_timeout(connection: Any, record: Any) -> None:  # noqa: ARG001
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {int(BUSY_TIMEOUT * 1000)}")
        connection.commit()

    sa.event.listen(engine, "connect", set_lock_timeout)
    return engine


# Errors

SAFE = "committed results are safe, and the same command resumes from there"
UNCHANGED = "it was not changed"
_BUSY_WORDS = ("too many clients", "connection slots", "too many connections", "is starting up")
_UNWRITABLE = f"the store cannot be written: {SAFE}, once it is writable"
_FOREIGN = "the tables are not those of a bestofk store; they were not changed"
_LOCKED = f"another process keeps the store locked: try again when it has finished; {SAFE}"

_SENTENCES: dict[int | str, str] = {
    # primary result codes of SQLite
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_FULL: f"the disk is full: {SAFE}, once there is space",
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: "the store cannot be opened: its directory must exist and be writable",
    sqlite3.SQLITE_IOERR: f"the disk failed or is full: {SAFE}",
    sqlite3.SQLITE_CORRUPT: "the store is damaged: restore a copy, or use a new file",
    sqlite3.SQLITE_NOTADB: f"this is not a bestofk store; {UNCHANGED}",
    # states of PostgreSQL, or their first three characters
    "53100": f"the server's disk is full: {SAFE}, once there is space",
    "53300": f"the server has no free connection: {SAFE}, once there is one",
    "55P03": _LOCKED,
    "57P": f"the server has closed the connection: {SAFE}",
    "25006": _UNWRITABLE,
    "42501": "the user is not allowed to use these tables",
    "3D000": "there is no such database",
    "42703": _FOREIGN,
    "42P01": _FOREIGN,
}


def _sentence(cause: BaseException, address: Address) -> str:
    if isinstance(cause, UnicodeDecodeError):
        return _SENTENCES[sqlite3.SQLITE_CORRUPT]
    state = getattr(cause, "sqlstate", None) or ""
    for code in (getattr(cause, "sqlite_errorcode", 0) & 0xFF, state, state[:3]):
        if code in _SENTENCES:
            return _SENTENCES[code]
    details = " ".join(str(cause).split()).rstrip(". ")
    shown = details if len(details) <= 200 else f"{details[:197]}..."
    return f"the database failed: {address.without_secrets(shown)}"
