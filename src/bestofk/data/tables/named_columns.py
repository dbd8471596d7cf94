"""Read a few typed columns of a large file quickly; leave unusual files to `read_table`."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bestofk._base.errors import BestOfKError, TableError
from bestofk.data.tables.delimited import DELIMITERS, header_of, sniff
from bestofk.data.tables.limits import check_columns, check_expansion
from bestofk.data.tables.parquet import bytes_of
from bestofk.data.tables.table import MISSING_MARKERS, Table, size_words
from bestofk.data.tables.values import as_text, plain_numbers
from bestofk.data.tables.workbooks import from_text_cell

MIN_FILE_BYTES = 1 << 20
"""Read smaller files with `read_table`, which is fast enough."""
_BLOCK = 1 << 20
_MAX_BLOCK = 1 << 26
_SAMPLE = 1 << 16
_ROWS_AT_ONCE = 1 << 20
_PRINTED = bytes(set(range(32, 127)) | set(b"\t\r\n"))
_EMPTY = [
    form for word in MISSING_MARKERS for form in {word, word.upper(), word.capitalize()}
] + ["NaN", "N/a"]  # fmt: skip


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
    a Python object per cell. Return None if the file is small or unusual: an encoding other than
    UTF-8, a ragged row, text among numbers. `read_table` reads such files or reports the problem.

    - `path`: Delimited text or Parquet.
    - `choose`: Receives the names of all columns.
    """
    import pyarrow as pa

    try:
        if path.stat().st_size < MIN_FILE_BYTES:
            return None
        with path.open("rb") as file:
            start = file.read(4)
        read = _parquet if start == b"PAR1" else _delimited
        return read(path, choose, path.name)
    except (BestOfKError, OSError, UnicodeError, pa.ArrowException, StopIteration):
        return None


def _delimited(path: Path, choose: Callable[..., ColumnSelection], source: str) -> Table | None:
    import pyarrow as pa
    from pyarrow import csv

    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", ".tab", ".txt"):
        return None
    scan = _scan(path)
    if scan is None:
        return None
    delimiter = sniff(scan.head, prefer="\t" if suffix in (".tsv", ".tab") else None)
    header = header_of(scan.head, delimiter)
    if header is None:
        return None
    check_columns(source, len(header))
    selection = choose(header)
    position_of = {name: str(header.index(name)) for name in selection.all()}
    coded_text = pa.dictionary(pa.int32(), pa.string())
    table = csv.read_csv(
        path,
        read_options=csv.ReadOptions(
            column_names=[str(i) for i in range(len(header))],
            skip_rows=1,
            # a single block needs no concatenation
            block_size=max(_BLOCK, min(path.stat().st_size + 1, _MAX_BLOCK)),
            use_threads=False,
        ),
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=scan.quoted),
        convert_options=csv.ConvertOptions(
            include_columns=list(position_of.values()),
            column_types={
                **{position_of[name]: coded_text for name in selection.names},
                **{position_of[name]: pa.float64() for name in selection.numbers},
            },
            null_values=_EMPTY,
            strings_can_be_null=False,
        ),
    )
    word = DELIMITERS.get(delimiter, repr(delimiter))
    return _table(
        table.rename_columns(list(position_of)), selection, source,
        f"delimited text, utf-8, delimiter {word} (detected)", len(header), delimiter,
    )  # fmt: skip


class _Scan(NamedTuple):
    """The result of scanning a text."""

    head: bytes
    quoted: bool


def _scan(path: Path) -> _Scan | None:
    """Scan the text; return None unless it is plain UTF-8.

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
    return None if quotes % 2 else _Scan(head, quotes > 0)


def _plain_start(head: bytes) -> bool:
    """Return whether the text begins with text, not with a mark of an encoding or format."""
    if head[:_SAMPLE].isascii() and head[:_SAMPLE].translate(None, _PRINTED):
        return False
    # byte order marks go beyond ASCII
    return head[:1] <= b"\x7f" and head[:1] not in (b"{", b"[", b"@", b"%", b"\n", b"\r", b" ")


def _parquet(path: Path, choose: Callable[..., ColumnSelection], source: str) -> Table | None:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
    header = tuple(schema.names)
    if len(set(header)) < len(header) or not rows:
        return None
    check_columns(source, len(header))
    selection = choose(header)
    size = path.stat().st_size
    # as `read_table` does, which reports it
    needed = rows * sum(bytes_of(field.type) for field in schema)
    check_expansion(source, file_size=size, needed=needed, what="expands to more")
    text_columns = []
    for name in selection.all():
        kind = schema.field(name).type
        if name in selection.names and _is_text(kind):
            text_columns.append(name)
        elif not (_is_typed(kind) or (name in selection.names and _is_coded_text(kind))):
            return None
    columns = {name: (_Names if name in selection.names else _Numbers)(rows)
               for name in selection.all()}  # fmt: skip
    with pq.ParquetFile(path, read_dictionary=text_columns) as file:
        start = 0
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=list(columns), use_threads=False):
            batch.validate(full=True)
            for name, column in columns.items():
                column.add(start, batch.column(name))
            start += batch.num_rows
    return Table(
        source=source,
        cells={name: column.cells() for name, column in columns.items()},
        account=(f"{source}: Parquet, {size_words(rows, len(header))}.",),
    )


class _Names:
    """A column of names that is read in parts, as codes into the distinct names."""

    def __init__(self, rows: int) -> None:
        self.codes = np.empty(rows, dtype=np.int32)
        self.names: Any = None
        self.last: Any = None
        self.code_of_last: Any = None

    def add(self, start: int, part: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        coded = part if hasattr(part, "dictionary") else part.dictionary_encode()
        names = coded.dictionary
        if self.last is None or not names.equals(self.last):
            if self.names is None:
                self.names = names[:0]
            known = pc.index_in(names, value_set=self.names)
            codes = np.array(plain_numbers(known.fill_null(-1)))
            if known.null_count:
                new = names.filter(pc.is_null(known))
                codes[codes < 0] = len(self.names) + plain_numbers(pc.index_in(new, new.unique()))
                self.names = pa.concat_arrays([self.names, new.unique()])
            self.last, self.code_of_last = names, np.append(codes, -1).astype(np.int32)
        indices = plain_numbers(coded.indices.fill_null(-1))
        self.codes[start : start + len(part)] = self.code_of_last[indices]

    def cells(self) -> Any:
        import pyarrow as pa

        absent = self.codes < 0
        codes = pa.array(self.codes, mask=absent if absent.any() else None)
        return pa.DictionaryArray.from_arrays(codes, as_text(self.names))


class _Numbers:
    """A column of numbers or booleans that is read in parts; NaN for an empty cell."""

    def __init__(self, rows: int) -> None:
        self.values = np.empty(rows)

    def add(self, start: int, part: Any) -> None:
        import pyarrow as pa

        kind = part.type
        if pa.types.is_boolean(kind):
            part = part.cast(pa.int8())
        # raises for an integer that is no float, such as 2^53 + 1
        part = part.cast(pa.float64())
        self.values[start : start + len(part)] = plain_numbers(part.fill_null(np.nan))

    def cells(self) -> Any:
        import pyarrow as pa

        return pa.array(self.values)


def _is_text(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


def _is_coded_text(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_dictionary(kind)) and _is_text(kind.value_type)


def _is_typed(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind))


def _table(
    table: Any, selection: ColumnSelection, source: str, how: str, width: int, delimiter: str
) -> Table | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not table.num_rows:
        return None
    cells: dict[str, Any] = {}
    for name in selection.all():
        column = table.column(name)
        kind = column.type
        coded = _is_coded_text(kind)
        if not (_is_typed(kind) or (name in selection.names and coded)):
            return None
        column = column.unify_dictionaries().combine_chunks() if coded else column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            return None
        if coded and pc.any(pc.starts_with(column.dictionary, "'")).as_py():
            texts = [from_text_cell(word) for word in column.dictionary.to_pylist()]
            column = pa.DictionaryArray.from_arrays(column.indices, pa.array(texts, pa.string()))
        cells[name] = column
    if not cells:
        raise TableError(f"{source}: no column was selected.")
    account = f"{source}: {how}, {size_words(table.num_rows, width)}."
    return Table(source=source, cells=cells, account=(account,), delimiter=delimiter)
