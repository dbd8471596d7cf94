"""What went wrong in a database, in one sentence that says what is safe."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy.exc

from bestofk.errors import StoreError
from bestofk.run.store.url import Address

SAFE = "what was committed before stays, and the same command resumes from there"
UNTOUCHED = "it was left as it is"

# By primary result code of SQLite (the low byte of the extended one).
_SQLITE = {
    sqlite3.SQLITE_FULL: f"the disk is full: {SAFE}, once there is room",
    sqlite3.SQLITE_READONLY: f"the store cannot be written: {SAFE}, once it is writable",
    sqlite3.SQLITE_PERM: f"the store cannot be written: {SAFE}, once it is writable",
    sqlite3.SQLITE_CANTOPEN: "the store cannot be opened: its directory must exist and be writable",
    sqlite3.SQLITE_IOERR: f"the disk failed or is full: {SAFE}",
    sqlite3.SQLITE_CORRUPT: f"the store is damaged; {UNTOUCHED}",
    sqlite3.SQLITE_NOTADB: f"this is not a bestofk store; {UNTOUCHED}",
}
# By class of the SQLSTATE of PostgreSQL, the longest that fits.
_POSTGRESQL = {
    "53100": f"the server's disk is full: {SAFE}, once there is room",
    "55P03": f"another process has locked the store for too long: {SAFE}",
    "57P": f"the server has shut the connection: {SAFE}",
    "25006": f"the store cannot be written: {SAFE}, once it is writable",
    "42501": "the user may not use these tables",
    "3D000": "there is no such database",
    "42703": "the tables are not those of a bestofk store, and were left as they are",
    "42P01": "the tables are not those of a bestofk store, and were left as they are",
}


@contextmanager
def one_sentence(address: Address, *, busy_timeout: float) -> Iterator[None]:
    """Turn the errors of drivers into a StoreError; the password never comes out."""
    try:
        yield
    except sqlalchemy.exc.DBAPIError as failed:
        cause = failed.orig if failed.orig is not None else failed
        sentence = _sentence(cause, address, busy_timeout)
        raise StoreError(f"{address.shown}: {sentence}.") from None
    except (sqlalchemy.exc.SQLAlchemyError, sqlite3.Error) as failed:
        sentence = _sentence(failed, address, busy_timeout)
        raise StoreError(f"{address.shown}: {sentence}.") from None


def is_server_gone(failed: sqlalchemy.exc.DBAPIError) -> bool:
    """Whether the server went away or is starting, so that it may be back soon."""
    if failed.connection_invalidated:
        return True
    state = getattr(failed.orig, "sqlstate", None)
    if state is None:  # no server was there to give one
        return isinstance(failed, sqlalchemy.exc.OperationalError)
    return str(state).startswith(("08", "57P"))


def is_stalemate(failed: sqlalchemy.exc.DBAPIError) -> bool:
    """Whether two transactions waited for each other, so that one of them must begin anew."""
    return getattr(failed.orig, "sqlstate", None) in ("40001", "40P01")


def _sentence(cause: BaseException, address: Address, busy_timeout: float) -> str:
    code = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        primary = code & 0xFF
        if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return (
                f"another process has locked the store for longer than {busy_timeout:g} s: {SAFE}"
            )
        if primary in _SQLITE:
            return _SQLITE[primary]
    state = getattr(cause, "sqlstate", None) or ""
    for prefix in sorted(_POSTGRESQL, key=len, reverse=True):
        if state.startswith(prefix):
            return _POSTGRESQL[prefix]
    details = " ".join(str(cause).split()).rstrip(". ")
    if len(details) > 200:
        details = details[:197] + "..."
    return f"the database failed: {address.without_secrets(details)}"
