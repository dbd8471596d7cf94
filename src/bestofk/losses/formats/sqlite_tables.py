"""Read tables of untrusted SQLite databases, read-only and within limits."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bestofk._base.errors import TableError
from bestofk.data.tables.limits import BYTES_PER_OBJECT, RowBudget, check_cells

MAGIC = b"SQLite format 3\0"
_MAX_PROGRESS_CALLS = 2000
"""Each progress call follows 100,000 steps of SQLite's virtual machine."""
_ROWS_AT_ONCE = 10_000
_MAX_TEXT_BYTES = 1 << 24
"""Longest text of a cell."""
_MAX_SQL_BYTES = 1 << 20


def is_sqlite(path: Path) -> bool:
    """Return whether the file is an SQLite database."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class SqliteTables:
    """The tables of an open database."""

    def __init__(self, connection: sqlite3.Connection, source: str, file_size: int) -> None:
        self._connection = connection
        self.source = source
        self.file_size = file_size
        self._budget = RowBudget(source, file_size=file_size)
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        self.names = frozenset(str(name) for (name,) in rows)

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Return some columns of a table, in the order of its rows."""
        if table not in self.names:
            raise TableError(f"{self.source}: the database has no table {table!r}.")
        selected = ", ".join(f'"{column}"' for column in columns)
        known = {row[1] for row in self._connection.execute(f'PRAGMA table_info("{table}")')}
        absent = [column for column in columns if column not in known]
        if absent:
            raise TableError(
                f"{self.source}: the table {table!r} of the database has no column {absent[0]!r}."
            )
        cursor = self._connection.execute(f'SELECT {selected} FROM "{table}"')
        rows: list[tuple[Any, ...]] = []
        while part := cursor.fetchmany(_ROWS_AT_ONCE):
            self._budget.spend(len(part), bytes_per_row=BYTES_PER_OBJECT * (1 + len(columns)))
            rows += part
        return rows

    def check_cells(self, rows: int, columns: int) -> None:
        """Raise if a table with one column per name would need too much memory."""
        check_cells(self.source, file_size=self.file_size, rows=rows, columns=columns)


@contextmanager
def sqlite_tables(path: Path) -> Iterator[SqliteTables]:
    """Open the tables of the database at `path` without changing any file."""
    connection = None
    try:
        # immutable: SQLite neither creates nor replays a journal
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True)
        connection.text_factory = _text
        left = iter(range(_MAX_PROGRESS_CALLS))
        connection.set_progress_handler(lambda: int(next(left, None) is None), 100_000)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_TEXT_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MAX_SQL_BYTES)
        yield SqliteTables(connection, path.name, path.stat().st_size)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        why = "".join(c if c.isprintable() else "?" for c in str(error)[:100])
        raise TableError(
            f"{path.name}: the SQLite database is damaged or cannot be read ({why})."
        ) from None
    finally:
        if connection is not None:
            connection.close()


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def unfinished_journal(path: Path) -> str:
    """Note a write-ahead log with changes that are not in the database yet."""
    log = path.with_name(path.name + "-wal")
    if log.is_file() and log.stat().st_size:
        return (
            f"{log.name} contains changes that are not in {path.name} yet and were not read; they "
            "will be once the program that writes it has ended."
        )
    return ""
