"""Read Parquet files."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bestofk._base.errors import TableError
from bestofk.data.tables.json_rows import flat_row
from bestofk.data.tables.limits import check_columns, check_expansion
from bestofk.data.tables.table import RowLocation, Table, size_words
from bestofk.data.tables.values import arrow_column


def read_parquet(
    data: bytes, source: str, *, file_size: int | None = None, nested: bool = False
) -> Table:
    """Read a table from the bytes of a Parquet file; `nested` as for `read_table`."""
    import pyarrow as pa
    import pyarrow.types as kinds

    file_size = len(data) if file_size is None else file_size
    try:
        table, plain = _read(data, source, file_size)
        table.validate(full=True)
    except pa.ArrowMemoryError:
        raise TableError(f"{source}: there is not enough memory to read the file.") from None
    except (pa.ArrowException, OSError, IndexError, UnicodeDecodeError):
        raise TableError(f"{source}: not a Parquet file, or a damaged one.") from None
    names = list(table.column_names)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f"{source}: two columns are named {twice[0]!r}.")
    if not table.num_rows:
        raise TableError(f"{source}: the file holds {len(names)} columns and no rows.")
    if nested and any(kinds.is_nested(column.type) for column in table.columns):
        flat = [flat_row(row) for row in table.to_pylist()]
        names = list(dict.fromkeys(name for row in flat for name in row))
        check_columns(source, len(names))
        table = pa.table({
            name: arrow_column([row.get(name) for row in flat], where=RowLocation(source, name))
            for name in names
        })  # fmt: skip
    declared: dict[str, tuple[str, ...]] = {}
    cells: dict[str, Any] = {}
    for name, column in zip(names, table.columns, strict=True):
        if kinds.is_dictionary(column.type) and name not in plain:
            column = column.unify_dictionaries() if column.num_chunks > 1 else column
            dictionary = column.chunk(0).dictionary
            if kinds.is_string(dictionary.type) or kinds.is_large_string(dictionary.type):
                declared[name] = tuple(dictionary.to_pylist())
        try:
            cells[name] = arrow_column(column, where=RowLocation(source, name), name=name)
        except (pa.ArrowException, UnicodeDecodeError):
            raise TableError(f"{source}: column {name!r} holds text that is not UTF-8.") from None
    return Table(
        source=source,
        cells=cells,
        declared=declared,
        account=(f"{source}: Parquet, {size_words(table.num_rows, len(names))}.",),
    )


def _read(data: bytes, source: str, file_size: int) -> tuple[Any, set[str]]:
    """Read the table with text as codes; also return the columns that are plain text in the file.

    A repeated value takes almost no space in the file but its full size in memory, so check the
    expanded size first.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    import pyarrow.types as kinds

    schema = pq.read_schema(pa.BufferReader(data))
    check_columns(source, len(schema))
    rows = pq.read_metadata(pa.BufferReader(data)).num_rows
    text_columns = [field.name for field in schema if _has_length(field.type)]
    width = sum(bytes_of(field.type) for field in schema)
    what = f"expands to {rows} rows of {len(schema)} columns"
    check_expansion(source, file_size=file_size, needed=rows * width, what=what)
    table = pq.read_table(pa.BufferReader(data), read_dictionary=text_columns, use_threads=False)
    needed = rows * width
    for column in table.columns:
        if kinds.is_dictionary(column.type) and _has_length(column.type.value_type):
            for chunk in column.chunks:
                lengths = pc.binary_length(chunk.dictionary).take(chunk.indices)
                needed += pc.sum(lengths.cast(pa.int64())).as_py() or 0
    check_expansion(source, file_size=file_size, needed=needed, what=what)
    return table, set(text_columns)


def _has_length(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(
        kinds.is_string(kind) or kinds.is_large_string(kind)
        or kinds.is_binary(kind) or kinds.is_large_binary(kind)
    )  # fmt: skip


def bytes_of(kind: Any) -> int:
    """Return the minimum number of bytes of a cell."""
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:
        return 4
