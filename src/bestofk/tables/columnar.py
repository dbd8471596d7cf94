"""Parquet: typed columns, no lines."""

from __future__ import annotations

from typing import Any

from bestofk.errors import TableError
from bestofk.tables.table import RowPlace, Table, size_words
from bestofk.tables.values import arrow_column


def read_parquet(data: bytes, source: str) -> Table:
    """A table from the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyarrow.types as kinds

    try:
        table = pq.read_table(pa.BufferReader(data))
        table.validate(full=True)
    except (pa.ArrowException, OSError, IndexError):
        raise TableError(f"{source}: not a Parquet file, or a damaged one.") from None
    names = list(table.column_names)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TableError(f"{source}: two columns are named {twice[0]!r}.")
    if not table.num_rows:
        raise TableError(f"{source}: the file holds {len(names)} columns and no rows.")
    declared: dict[str, tuple[str, ...]] = {}
    cells: dict[str, Any] = {}
    for name, column in zip(names, table.columns, strict=True):
        if kinds.is_dictionary(column.type):
            column = column.unify_dictionaries() if column.num_chunks > 1 else column
            words = column.chunk(0).dictionary
            if kinds.is_string(words.type) or kinds.is_large_string(words.type):
                declared[name] = tuple(words.to_pylist())
        cells[name] = arrow_column(column, where=RowPlace(source, name))
    return Table(
        source=source,
        cells=cells,
        declared=declared,
        account=(f"{source}: Parquet, {size_words(table.num_rows, len(names))}.",),
    )
