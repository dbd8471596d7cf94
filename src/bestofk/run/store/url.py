"""Where a store is: memory, a file, or a server; and addresses that may be shown."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy.exc

from bestofk._base.checks import refuse
from bestofk._base.errors import StoreError

if TYPE_CHECKING:
    from sqlalchemy import URL

WELCOME = "None, a path, 'sqlite:///x.db' or 'postgresql+psycopg://user@host/database'"
HIDDEN = "***"
_KNOWN = r"(?:postgres|pgsql|psycopg|mysql|mariadb|oracle|mssql|mongodb|redis|jdbc)[a-z0-9+.]*"
_IN_AUTHORITY = re.compile(r"(?i)([a-z][a-z0-9+.-]*://[^:/?@]*):.*@", re.DOTALL)
_MISTYPED = re.compile(rf"(?i)({_KNOWN}\s*[:;]*\s*[/\\]*\s*[^:/?@\s]*)\s*:[^/].*@", re.DOTALL)
"""A user and a password before an @, where the slashes before them are too few or too many."""
_BARE = re.compile(r"\A(\s*[^:/\\@\s]+):(?!/)[^@\s]*@")
"""The same without any scheme."""
_SETTING = re.compile(
    r"""(?isx)
    ( (?<![a-z]) (?:ssl|pg)? _? (?:passw(?:or)?d|pwd|passphrase|secret|token|api_?key) \s*[=:]\s* )
    ( '(?:[^'\\]|\\.)*'? | "(?:[^"\\]|\\.)*"? | [^\s&;,'"]+ )"""
)
"""A password by its name: in the query of an address, or in a DSN of keys and values."""
_SERVERS = ("postgresql", "postgres", "postgresql+psycopg")
_LIKE_A_SERVER = re.compile(rf"(?i)\s*{_KNOWN}\s*(?:[:;]|//|\\)")
_LIKE_A_DSN = re.compile(
    r"(?i)(?:^|[\s;])(host|hostaddr|port|dbname|database|user|password|passfile|sslmode|service|server"
    r"|uid|pwd)\s*=\s*\S"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A store's place; `shown` is safe to print."""

    kind: Literal["memory", "sqlite", "postgresql"]
    shown: str
    path: Path | None = None
    """The file of an SQLite store."""
    url: URL | None = field(default=None, repr=False)
    """The server of a PostgreSQL store, with its password."""

    def without_secrets(self, text: str) -> str:
        """`text` if it does not hold the password, else a word that it was left out."""
        if any(secret in text for secret in _secrets(self.url)):
            return "the details hold the password and are left out"
        return text


def hide_passwords(text: str) -> str:
    """An address, or another word of a command line, with *** for its passwords.

    Examples
    --------
    >>> hide_passwords("postgresql://ann:p@ss@db.example/losses?sslpassword=x")
    'postgresql://ann:***@db.example/losses?sslpassword=***'
    >>> hide_passwords("postgresql:/ann:pw@db/losses"), hide_passwords("host=db password='p w'")
    ('postgresql:/ann:***@db/losses', 'host=db password=***')
    """
    hidden = text
    for pattern in (_IN_AUTHORITY, _MISTYPED, _BARE):
        hidden = pattern.sub(rf"\1:{HIDDEN}@", hidden)
    return _SETTING.sub(rf"\1{HIDDEN}", hidden)


def parse_address(where: str | os.PathLike[str] | None) -> Address:
    """The store that a path, a URL or None stands for."""
    if where is None:
        return Address(kind="memory", shown="memory")
    if not isinstance(where, str | os.PathLike) or isinstance(os.fspath(where), bytes):
        raise refuse("store", WELCOME, where)
    text = os.fspath(where)
    if not text.strip() or "\0" in text:
        raise refuse("store", WELCOME, text)
    if isinstance(where, os.PathLike):
        return _file(text)
    if "://" not in text:
        _refuse_mistyped(text)
        return _file(text)
    scheme, _, rest = text.partition("://")
    if scheme == "sqlite":
        if rest in ("", "/"):
            return _file(":memory:")
        if not rest.startswith("/") or "?" in rest:
            raise refuse("store", "sqlite:/// and then a path, with no options", text)
        return _file(rest[1:])
    if scheme in _SERVERS:
        return Address(kind="postgresql", shown=hide_passwords(text), url=_server(text))
    raise refuse("store", WELCOME, hide_passwords(text))


def _refuse_mistyped(text: str) -> None:
    """Raise where a text was meant as the address of a server, and would make a file."""
    if _LIKE_A_DSN.search(text):
        raise refuse(
            "store",
            "a path or an address such as 'postgresql+psycopg://user@host/database', not a list of "
            "keys and values",
            hide_passwords(text),
        )
    if _LIKE_A_SERVER.match(text) or _BARE.match(text):
        raise refuse(
            "store",
            "a path, or an address with a scheme, a colon and two slashes, as in "
            "'postgresql+psycopg://user@host/database'",
            hide_passwords(text),
        )


def _file(text: str) -> Address:
    if text == ":memory:":
        return Address(kind="memory", shown="memory")
    return Address(kind="sqlite", shown=text, path=Path(text).expanduser())


def _server(text: str) -> URL:
    from sqlalchemy import make_url
    from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
    from sqlalchemy.exc import ArgumentError as UnreadableURL

    try:
        url = make_url(text).set(drivername="postgresql+psycopg")
        dialect: Any = PGDialect_psycopg
        dialect().create_connect_args(url)  # ports and hosts that stand in the query
    except (UnreadableURL, ValueError):
        raise refuse("store", WELCOME, hide_passwords(text)) from None
    return url


def _secrets(url: Any) -> list[str]:
    """Every spelling of the passwords of a URL."""
    if url is None:
        return []
    from urllib.parse import quote, quote_plus

    words = [] if url.password is None else [str(url.password)]
    for name, value in url.query.items():
        if name.lower() in ("password", "sslpassword"):
            words += [value] if isinstance(value, str) else value
    return [spelt for word in words if word for spelt in {word, quote(word, ""), quote_plus(word)}]


# What went wrong in a database, in one sentence that says what is safe.


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
