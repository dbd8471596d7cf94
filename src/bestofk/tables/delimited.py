"""Comma, semicolon, tab and pipe: text in which a delimiter parts the cells."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from typing import Any

from bestofk.errors import TableError
from bestofk.tables.memory_limit import check_columns
from bestofk.tables.spreadsheet import from_text_cell, unmarked
from bestofk.tables.table import Table, size_words

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_SNIFFED = 100
_SNIFFED_BYTES = 100_000
_BLOCK = 1 << 24
"""Bytes that are parted into cells at once: what that needs comes on top of text and cells."""


def read_delimited(
    content: bytes,
    source: str,
    *,
    delimiter: str | None,
    encoding: str,
    is_tsv: bool,
    again: Callable[[], bytes] | None = None,
) -> Table:
    """A table from delimited UTF-8 text with a header; `encoding` is that of the file.

    A large text is not kept for messages that may never come: `again` reads it anew.
    """
    import pyarrow as pa

    if not content or content.isspace():
        raise TableError(f"{source}: the file is empty.")
    if content.count(b'"') % 2:
        _refuse_open_quote(content, source)
    given = delimiter is not None
    if delimiter is None:
        delimiter = sniff(content, prefer="\t" if is_tsv else None)
    header_line, header = next(_records(content, delimiter, source), (0, []))
    if not header:
        raise TableError(f"{source}: the file is empty.")
    check_columns(source, len(header))
    header = [from_text_cell(name.strip()) for name in header]
    _refuse_numbers_as_header(header, source, header_line)
    cells = _parse(content, source, delimiter, len(header))
    names: list[str] = []
    columns: dict[str, Any] = {}
    dropped = 0
    for position, (name, column) in enumerate(zip(header, cells, strict=True), start=1):
        if not name:
            name = f"column {position}"
            if position == len(header) > 1 and not any(cell.as_py() for cell in column):
                dropped += 1
                continue
        if name in columns:
            first = names.index(name) + 1
            raise TableError(
                f"{source}: line {header_line}: columns {first} and {position} are both named "
                f"{name!r}."
            )
        names.append(name)
        columns[name] = column
    rows = len(next(iter(columns.values())))
    if not rows:
        raise TableError(
            f"{source}: the file holds a header of {len(header)} column"
            f"{'' if len(header) == 1 else 's'} and no rows."
        )
    word = DELIMITERS.get(delimiter, repr(delimiter))
    how = "given" if given else "found"
    account = [
        f"{source}: delimited text, {encoding}"
        + (f", delimiter {word} ({how})" if len(header) > 1 else "")
        + f", {size_words(rows, len(columns))}."
    ]
    if dropped:
        account.append("A last column without name and content was left out.")
    return Table(
        source=source,
        cells={
            name: unmarked(column.cast(pa.string()) if column.type != pa.string() else column)
            for name, column in columns.items()
        },
        account=tuple(account),
        delimiter=delimiter,
        locate=DelimitedLines(content=content if again is None else again, delimiter=delimiter),
    )


def header_of(content: bytes, delimiter: str) -> tuple[str, ...] | None:
    """The names of the columns where they stand in the first line, each once; else None."""
    line, header = next(_records(content, delimiter, ""), (0, []))
    names = tuple(from_text_cell(name.strip()) for name in header)
    if line != 1 or not all(names) or len(set(names)) < len(names) or len(names) < 2:
        return None
    if any("\n" in name or "\r" in name for name in header):
        return None
    _refuse_numbers_as_header(list(names), "", line)
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class DelimitedLines:
    """The line of the n-th row below the header, found only when an error needs it."""

    content: bytes | Callable[[], bytes]
    delimiter: str

    def __call__(self, row: int) -> int:
        content = self.content if isinstance(self.content, bytes) else self.content()
        for index, (line, _) in enumerate(_records(content, self.delimiter, "")):
            if index == row + 1:
                return line
        # the file is no longer what it was: rows without blank lines and line breaks in cells
        return row + 2


def sniff(content: bytes, *, prefer: str | None = None) -> str:
    """The delimiter under which the header has most columns and the rows agree with it."""
    start = content[:_SNIFFED_BYTES]
    best, best_score = prefer or ",", (0.0, 0, 0, 0)
    for rank, candidate in enumerate((",", "|", ";", "\t")):
        counts, broken = [], 0
        for _, record in _records(start, candidate, ""):
            counts.append(len(record))
            broken += any(cell.count('"') % 2 for cell in record)
            if len(counts) > _SNIFFED:
                break
        if not counts or counts[0] < 2:
            continue
        if candidate == prefer:
            return candidate
        rows = counts[1:]
        agree = sum(count == counts[0] for count in rows) / len(rows) if rows else 1.0
        if (score := (agree, -broken, counts[0], rank)) > best_score:
            best, best_score = candidate, score
    return best


def _lines(content: bytes) -> TextIOWrapper:
    """The lines one by one, as they end: the text is not held a second time."""
    # the start of a text may end within a letter
    return TextIOWrapper(BytesIO(content), encoding="utf-8", errors="ignore", newline="")


def _records(content: bytes, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, each with the line on which it starts."""
    reader = csv.reader(_lines(content), delimiter=delimiter)
    start = 1
    try:
        for record in reader:
            if len(record) > 1 or (record and record[0].strip()):
                yield start, record
            start = reader.line_num + 1
    except csv.Error:
        raise TableError(
            f"{source}: line {start} holds a cell of more than {csv.field_size_limit()} "
            "characters, or a quote that is never closed."
        ) from None


def _parse(content: bytes, source: str, delimiter: str, width: int) -> list[Any]:
    """The columns below the header as arrow arrays of strings."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    ragged: list[int] = []

    def on_ragged(row: Any) -> str:
        if row.text.strip():
            ragged.append(row.actual_columns)
            return "error"
        return "skip"

    names = [str(i) for i in range(width)]
    pool = pa.default_memory_pool()

    def parted(block_size: int) -> list[Any]:
        table = arrow_csv.read_csv(
            pa.BufferReader(content),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=names, block_size=block_size
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=on_ragged
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
        columns: list[Any] = table.columns
        del table
        for place in range(width):
            # one column at a time is held twice
            columns[place] = columns[place].combine_chunks()[1:]
            pool.release_unused()
        return columns

    whole = max(1 << 16, min(len(content) + 1, 1 << 30))
    try:
        try:
            return parted(min(whole, _BLOCK))
        except pa.ArrowInvalid:
            if ragged or whole <= _BLOCK:
                raise
            # a row that is longer than a block
            return parted(whole)
    except pa.ArrowInvalid as error:
        _refuse_ragged(content, source, delimiter, width)
        raise TableError(
            f"{source}: the text cannot be parted into cells: {str(error).splitlines()[0]}"
        ) from None


def _refuse_ragged(content: bytes, source: str, delimiter: str, width: int) -> None:
    for line, record in _records(content, delimiter, source):
        if len(record) != width:
            raise TableError(
                f"{source}: line {line} has {len(record)} cell"
                f"{'' if len(record) == 1 else 's'} where the header has {width}."
            )


def _refuse_open_quote(content: bytes, source: str) -> None:
    """Raise where a quote is opened and never closed, which would swallow the rows after it."""
    delimiter = sniff(content)
    last = 1
    try:
        reader = csv.reader(_lines(content), delimiter=delimiter, strict=True)
        for _ in reader:
            last = reader.line_num + 1
    except csv.Error as error:
        if "end of data" in str(error) or "limit" in str(error):
            raise TableError(
                f"{source}: line {last} opens a quote that no later line closes."
            ) from None


def _refuse_numbers_as_header(header: list[str], source: str, line: int) -> None:
    """Raise where the first line holds measured numbers: whole numbers may be names."""

    def number(cell: str) -> bool:
        try:
            float(cell)
        except ValueError:
            return False
        return True

    if all(map(number, header)) and not all(cell.lstrip("+-").isdigit() for cell in header):
        raise TableError(
            f"{source}: line {line} must name the columns; got numbers ({', '.join(header[:3])})."
        )
