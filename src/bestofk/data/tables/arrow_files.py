"""Read Parquet, and a few typed columns of large files quickly, with pyarrow.

pyarrow is an extra. Without it, `read_table` reads large text files, more slowly.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bestofk._base.errors import BestOfKError, MissingExtraError, TableError
from bestofk.data.cells import MISSING_TEXTS, recode
from bestofk.data.tables.delimited import DELIMITERS, header_of, sniff
from bestofk.data.tables.limits import check_columns, check_expansion
from bestofk.data.tables.table import Table, size_words
from bestofk.data.tables.workbooks import from_text_cell

MIN_FILE_BYTES = 1 << 20
"""Read smaller files with `read_table`, which is fast enough."""
_BLOCK = 1 << 20
_MAX_BLOCK = 1 << 24
_SAMPLE = 1 << 16
_ROWS_AT_ONCE = 1000
_BYTES_PER_COLUMN = 8 << 10
"""Memory of a column without rows."""
_PRINTED = bytes(set(range(32, 127)) | set(b"\t\r\n"))


def read_parquet(data: bytes, source: str, *, file_size: int, nested: bool = False) -> Table:
    """Read a table from the bytes of a Parquet file; `nested` as for `read_table`."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(f"{source}: a Parquet file", "pyarrow") from None
    import pandas as pd

    try:
        with pq.ParquetFile(BytesIO(data)) as file:
            schema = file.schema_arrow
            _check_size(file.metadata, source, file_size)
        texts = [field.name for field in schema if _is_text(field.type)]
        table = pq.read_table(BytesIO(data), read_dictionary=texts, use_threads=False)
        table.validate(full=True)
        names = table.column_names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise TableError(f"{source}: two columns are named {twice!r}.")
        if not table.num_rows:
            raise TableError(f"{source}: the file holds {len(names)} columns and no rows.")
        if nested and any(pa.types.is_nested(column.type) for column in table.columns):
            from bestofk.data.tables.json_rows import from_rows

            rows = table.to_pylist()
            return from_rows(rows, source, file_size=file_size, nested=True, account="Parquet")
        columns = {name: _column(table.column(name), is_plain_text=name in texts) for name in names}
        _check_texts([columns[name] for name in texts], source, file_size)
    except pa.ArrowMemoryError:
        raise TableError(f"{source}: there is not enough memory to read the file.") from None
    except (pa.ArrowException, OSError, IndexError, UnicodeDecodeError):
        raise TableError(f"{source}: not a Parquet file, or a damaged one.") from None
    found = Table.from_frame(pd.DataFrame(columns), source=source, account="Parquet")
    return replace(found, declared={k: v for k, v in found.declared.items() if k not in texts})


def _check_size(metadata: Any, source: str, file_size: int) -> None:
    """Raise if the cells, also those within lists, would need too much memory."""
    check_columns(source, metadata.num_columns)
    needed = _BYTES_PER_COLUMN * metadata.num_columns
    for group in range(metadata.num_row_groups):
        chunks = metadata.row_group(group)
        for at in range(chunks.num_columns):
            chunk = chunks.column(at)
            needed += 8 * chunk.num_values + chunk.total_uncompressed_size
    what = f"expands to {metadata.num_rows} rows of {metadata.num_columns} columns"
    check_expansion(source, file_size=file_size, needed=needed, what=what)


def _check_texts(columns: Sequence[Any], source: str, file_size: int) -> None:
    """Raise if texts that are stored once would need too much memory and time in every cell."""
    needed = 0
    for column in columns:
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.categories))
        needed += int(counts @ np.array([*map(len, column.categories)], dtype=np.int64))
    check_expansion(source, file_size=file_size, needed=needed, what="repeats long texts")


def _column(column: Any, *, is_plain_text: bool) -> Any:
    import pyarrow as pa

    if is_plain_text:
        return _categorical(column)
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        column = column.cast(pa.string())
    return column.to_pandas(date_as_object=False)


def _categorical(column: Any) -> Any:
    """Return coded text as a categorical without missing texts."""
    import pandas as pd
    import pyarrow.compute as pc

    chunks = column.unify_dictionaries().chunks
    indices = _joined(chunks, np.int32, lambda chunk: chunk.indices.fill_null(-1).to_numpy())
    dictionary = chunks[0].dictionary
    names = dictionary.to_pylist()
    if pc.any(pc.starts_with(dictionary, "'")).as_py():
        names = [from_text_cell(name) for name in names]
    codes, texts = recode(indices, names)
    return pd.Categorical.from_codes(codes, categories=pd.Index(texts, dtype=object))


def _joined(chunks: Sequence[Any], kind: Any, convert: Callable[[Any], Any]) -> Any:
    """Return the values of all chunks in one array, without a second copy of all."""
    values = np.empty(sum(map(len, chunks)), dtype=kind)
    start = 0
    for chunk in chunks:
        values[start : start + len(chunk)] = convert(chunk)
        start += len(chunk)
    return values


def parquet_rows(path: Path, source: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file as dictionaries, nested as in the file."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(f"{source}: a Parquet file", "pyarrow") from None
    try:
        with pq.ParquetFile(path) as file:
            _check_size(file.metadata, source, path.stat().st_size)
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, IndexError, UnicodeDecodeError):
        raise TableError(f"{source}: not a Parquet file, or a damaged one.") from None


# A few columns of a large file


class ColumnSelection(NamedTuple):
    """The columns to read: names (text), numbers, and values (numbers or booleans)."""

    names: Sequence[str]
    numbers: Sequence[str]
    values: Sequence[str] = ()

    def all(self) -> list[str]:
        """Return the names of all columns."""
        return [*self.names, *self.numbers, *self.values]


def read_named_columns(
    path: Path, choose: Callable[[tuple[str, ...]], ColumnSelection]
) -> Table | None:
    """Read the columns that `choose` selects, or return None if `read_table` has to read the file.

    The account equals that of `read_table`. Text is read as codes and numbers as numbers, without
    a Python object per cell. Return None if the file is small or unusual (an encoding other than
    UTF-8, a ragged row, text among numbers), or if pyarrow is not installed. `read_table` reads
    such files or reports the problem.

    - `path`: Delimited text or Parquet.
    - `choose`: Receives the names of all columns.
    """
    try:
        import pyarrow as pa
    except ImportError:
        return None
    try:
        if not path.is_file() or path.stat().st_size < MIN_FILE_BYTES:
            return None
        with path.open("rb") as file:
            start = file.read(4)
        table = (_parquet if start == b"PAR1" else _delimited)(path, choose)
        pa.default_memory_pool().release_unused()
        return table
    except (BestOfKError, OSError, UnicodeError, pa.ArrowException, StopIteration):
        return None


def _delimited(path: Path, choose: Callable[..., ColumnSelection]) -> Table | None:
    import pyarrow as pa
    from pyarrow import csv

    suffix = path.suffix.lower()
    scan = _scan(path) if suffix in (".csv", ".tsv", ".tab", ".txt") else None
    if scan is None:
        return None
    head, has_quotes = scan
    delimiter = sniff(head, prefer="\t" if suffix in (".tsv", ".tab") else None)
    header = header_of(head, delimiter)
    if header is None:
        return None
    check_columns(path.name, len(header))
    selection = choose(header)
    position_of = {name: str(header.index(name)) for name in selection.all()}
    coded_text = pa.dictionary(pa.int32(), pa.string())
    options = {
        "read_options": csv.ReadOptions(
            column_names=[str(i) for i in range(len(header))],
            skip_rows=1,
            block_size=max(_BLOCK, min(path.stat().st_size + 1, _MAX_BLOCK)),
            use_threads=False,
        ),
        "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=has_quotes),
        "convert_options": csv.ConvertOptions(
            include_columns=list(position_of.values()),
            column_types={
                **{position_of[name]: coded_text for name in selection.names},
                **{position_of[name]: pa.float64() for name in selection.numbers},
            },
            null_values=sorted(MISSING_TEXTS),
            strings_can_be_null=False,
        ),
    }
    try:
        # reading block by block takes half the memory
        with csv.open_csv(path, **options) as blocks:
            table = pa.Table.from_batches(list(blocks))
    except pa.ArrowInvalid:
        # a later block has values of another type, such as 0.5 after 0 and 1
        table = csv.read_csv(path, **options)
    how = f"delimited text, utf-8, delimiter {DELIMITERS[delimiter]} (detected)"
    columns = dict(zip(position_of, table.columns, strict=True))
    del table
    return _table(columns, selection, path.name, how, len(header), delimiter)


def _scan(path: Path) -> tuple[bytes, bool] | None:
    """Return the beginning of the text and whether it has quotes; None unless it is plain UTF-8.

    Read it in parts into one buffer: allocating memory costs more than the scan.
    """
    decoder = getincrementaldecoder("utf-8")()
    part = bytearray(_BLOCK)
    head, quotes, ascii_ = b"", 0, True
    with path.open("rb", buffering=0) as file:
        while read := file.readinto(part):
            chunk = part if read == len(part) else part[:read]
            if not head:
                head = bytes(chunk)
                if not _plain_start(head):
                    return None
            quotes += chunk.count(b'"')
            if chunk.find(0) >= 0:
                return None
            ascii_ = ascii_ and chunk.isascii()
            if not ascii_:
                decoder.decode(chunk)
    decoder.decode(b"", final=True)
    return None if quotes % 2 else (head, quotes > 0)


def _plain_start(head: bytes) -> bool:
    """Return whether the text begins with text, not with a mark of an encoding or format."""
    if head[:_SAMPLE].isascii() and head[:_SAMPLE].translate(None, _PRINTED):
        return False
    # byte order marks go beyond ASCII
    return head[:1] <= b"\x7f" and head[:1] not in (b"{", b"[", b"@", b"%", b"\n", b"\r", b" ")


def _parquet(path: Path, choose: Callable[..., ColumnSelection]) -> Table | None:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        _check_size(file.metadata, path.name, path.stat().st_size)
    selection = choose(tuple(schema.names))
    texts = [name for name in selection.names if _is_text(schema.field(name).type)]
    table = pq.read_table(path, columns=selection.all(), read_dictionary=texts, use_threads=False)
    table.validate(full=True)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    del table
    return _table(columns, selection, path.name, "Parquet", len(schema.names), None)


def _table(
    arrow: dict[str, Any],
    selection: ColumnSelection,
    source: str,
    how: str,
    width: int,
    delimiter: str | None,
) -> Table | None:
    """Return the selected columns; None if one is neither coded text nor numbers."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.types as kinds

    columns: dict[str, Any] = {}
    for name in selection.all():
        # each column is freed before the next one is converted
        column = arrow.pop(name)
        kind = column.type
        if name in selection.names and kinds.is_dictionary(kind) and _is_text(kind.value_type):
            columns[name] = _categorical(column)
            continue
        if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
            return None
        first = pa.int8() if kinds.is_boolean(kind) else kind

        def numbers(chunk: Any, first: Any = first) -> Any:
            # raises for an integer that is no float, such as 2^53 + 1
            return chunk.cast(first).cast(pa.float64()).to_numpy(zero_copy_only=False)

        columns[name] = _joined(column.chunks, np.float64, numbers)
    rows = len(next(iter(columns.values()), ()))
    if not rows:
        return None
    return Table(
        source=source,
        frame=pd.DataFrame(columns, copy=False),
        account=(f"{source}: {how}, {size_words(rows, width)}.",),
        delimiter=delimiter,
    )


def _is_text(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))
