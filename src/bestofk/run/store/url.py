"""Parse the address of a store, and hide passwords in addresses."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import URL

    from bestofk._base.errors import ArgumentError

ACCEPTED = "None, a path, 'sqlite:///x.db' or 'postgresql+psycopg://user@host/database'"
HIDDEN = "***"
_IN_AUTHORITY = re.compile(r"(?i)([a-z][a-z0-9+.-]{0,40}://[^:?@]*):.*@", re.DOTALL)
_BARE = re.compile(r"(?<!\S)([^\s:@]+):(?!//)\S*@")
"""A user and a password before an @, after too few slashes or without a scheme."""
_SETTING = re.compile(
    r"""(?isx)
    ( (?<![a-z]) (?:ssl|pg)? _? (?:passw(?:or)?d|pwd|passphrase|secret|token|api_?key) \s*[=:]\s* )
    ( '(?:[^'\\]|\\.)*'? | "(?:[^"\\]|\\.)*"? | [^\s&;,'"]+ )"""
)
"""A named password, in the query of an address or in a DSN of keys and values."""
_SERVERS = ("postgresql", "postgres", "postgresql+psycopg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address of a store."""

    shown: str
    """The address without passwords."""
    path: Path | None = None
    """The file of an SQLite store."""
    url: URL | None = field(default=None, repr=False)
    """The server of a PostgreSQL store, with its password."""

    @property
    def is_memory(self) -> bool:
        """True if no other process can use the store."""
        return self.path is None and self.url is None

    def without_secrets(self, text: str) -> str:
        """Return `text`, or a replacement if it contains the password."""
        from urllib.parse import quote

        query = {} if self.url is None else dict(self.url.query)
        found = [self.url and self.url.password, query.get("password"), query.get("sslpassword")]
        secrets = [str(one) for one in found if one]
        if any(one in text or quote(one, "") in text for one in secrets):
            return "the details contain the password and are omitted"
        return text


def hide_passwords(text: str) -> str:
    """Return an address, or another command-line argument, with *** for its passwords.

    Examples
    --------
    >>> hide_passwords("postgresql://ann:p@ss@db.example/losses?sslpassword=x")
    'postgresql://ann:***@db.example/losses?sslpassword=***'
    >>> hide_passwords("postgresql:/ann:pw@db/losses"), hide_passwords("host=db password='p w'")
    ('postgresql:***@db/losses', 'host=db password=***')
    """
    for pattern in (_IN_AUTHORITY, _BARE):
        text = pattern.sub(rf"\1:{HIDDEN}@", text)
    return _SETTING.sub(rf"\1{HIDDEN}", text)


def parse_address(where: str | os.PathLike[str] | None) -> Address:
    """Return the address of the store that a path, a URL or None names."""
    if where is None:
        return Address(shown="memory")
    if not isinstance(where, str | os.PathLike) or isinstance(os.fspath(where), bytes):
        raise _refused(ACCEPTED, where)
    text = os.fspath(where)
    if not text.strip() or "\0" in text:
        raise _refused(ACCEPTED, text)
    if isinstance(where, os.PathLike):
        return _file(text)
    scheme, sign, rest = text.partition("://")
    # a mistyped server must not become a file
    if not sign and hide_passwords(text) == text:
        return _file(text)
    if scheme == "sqlite":
        if rest in ("", "/"):
            return _file(":memory:")
        if not rest.startswith("/") or "?" in rest:
            raise _refused("sqlite:/// and then a path, with no options", text)
        return _file(rest[1:])
    if scheme in _SERVERS:
        return Address(shown=hide_passwords(text), url=_server(text))
    raise _refused(ACCEPTED, hide_passwords(text))


def _refused(expected: str, value: object) -> ArgumentError:
    # The command line hides passwords in every message, and numpy would make messages slow.
    from bestofk._base.checks import refuse

    return refuse("store", expected, value)


def _file(text: str) -> Address:
    if text == ":memory:":
        return Address(shown="memory")
    return Address(shown=text, path=Path(text).expanduser())


def _server(text: str) -> URL:
    from sqlalchemy import make_url
    from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
    from sqlalchemy.exc import ArgumentError as UnreadableURL

    try:
        url = make_url(text).set(drivername="postgresql+psycopg")
        if "plugin" in url.query:  # SQLAlchemy would import it
            raise ValueError
        dialect: Any = PGDialect_psycopg
        dialect().create_connect_args(url)  # checks ports and hosts in the query
    except (UnreadableURL, ValueError):
        raise _refused(ACCEPTED, hide_passwords(text)) from None
    return url
