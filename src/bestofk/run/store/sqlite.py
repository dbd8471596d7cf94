"""SQLite files: told from foreign ones without opening them, and opened with care."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bestofk.errors import StoreError
from bestofk.run.store.errors import UNTOUCHED
from bestofk.run.store.migration import refuse_newer
from bestofk.run.store.schema import APPLICATION_ID

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
