"""Tables of an SQLite data base that somebody else wrote: read only, within limits."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bestofk._base.errors import TableError

MAGIC = b"SQLite format 3\0"
_STEPS = 2000
"""Calls of the guard, each after a hundred thousand steps of SQLite's machine."""
_MAX_ROWS = 20_000_000


def is_sqlite(path: Path) -> bool:
    """Whether the file begins as a data base of SQLite does."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class SqliteTables:
    """The tables of an open data base."""

    def __init__(self, connection: sqlite3.Connection, source: str) -> None:
        self._connection = connection
        self.source = source
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        self.names = frozenset(str(name) for (name,) in rows)

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Some columns of a table, in the order in which its rows were written."""
        if table not in self.names:
            raise TableError(f"{self.source}: the data base has no table {table!r}.")
        selected = ", ".join(f'"{column}"' for column in columns)
        there = {row[1] for row in self._connection.execute(f'PRAGMA table_info("{table}")')}
        lacking = [column for column in columns if column not in there]
        if lacking:
            raise TableError(
                f"{self.source}: the table {table!r} of the data base has no column {lacking[0]!r}."
            )
        cursor = self._connection.execute(f'SELECT {selected} FROM "{table}" LIMIT {_MAX_ROWS + 1}')
        rows = cursor.fetchall()
        if len(rows) > _MAX_ROWS:
            raise TableError(f"{self.source}: the table {table!r} has too many rows.")
        return rows


@contextmanager
def sqlite_tables(path: Path) -> Iterator[SqliteTables]:
    """The tables of the data base at `path`, which is not changed, nor anything next to it."""
    connection = None
    try:
        # immutable: no journal is made or played, so that nothing is written
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True)
        connection.text_factory = _text
        left = iter(range(_STEPS))
        connection.set_progress_handler(lambda: int(next(left, None) is None), 100_000)
        connection.execute("PRAGMA trusted_schema = OFF")
        yield SqliteTables(connection, path.name)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        why = "".join(c if c.isprintable() else "?" for c in str(error)[:100])
        raise TableError(
            f"{path.name}: the SQLite data base is damaged or cannot be read ({why})."
        ) from None
    finally:
        if connection is not None:
            connection.close()


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def unfinished_journal(path: Path) -> str:
    """A sentence where a write-ahead log next to the data base holds what it does not."""
    log = path.with_name(path.name + "-wal")
    if log.is_file() and log.stat().st_size:
        return (
            f"{log.name} holds changes that are not in {path.name} yet and were not read; they are "
            "once the program that writes it has ended."
        )
    return ""
