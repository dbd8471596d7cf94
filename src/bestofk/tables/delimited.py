"""Comma, semicolon, tab and pipe: text in which a delimiter parts the cells."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

from bestofk.errors import TableError
from bestofk.tables.memory_limit import check_columns
from bestofk.tables.spreadsheet import from_text_cell, unmarked
from bestofk.tables.table import Table, size_words

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_SNIFFED = 100


def read_delimited(
    content: str, source: str, *, delimiter: str | None, encoding: str, is_tsv: bool
) -> Table:
    """A table from delimited text with a header."""
    import pyarrow as pa

    if not content.strip():
        raise TableError(f"{source}: the file is empty.")
    if content.count('"') % 2:
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
        locate=DelimitedLines(content=content, delimiter=delimiter),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DelimitedLines:
    """The line of the n-th row below the header, found only when an error needs it."""

    content: str
    delimiter: str

    def __call__(self, row: int) -> int:
        for index, (line, _) in enumerate(_records(self.content, self.delimiter, "")):
            if index == row + 1:
                return line
        raise IndexError(row)


def sniff(content: str, *, prefer: str | None = None) -> str:
    """The delimiter under which the header has most columns and the rows agree with it."""
    best, best_score = prefer or ",", (0.0, 0, 0, 0)
    for rank, candidate in enumerate((",", "|", ";", "\t")):
        counts, broken = [], 0
        for _, record in _records(content[:100_000], candidate, ""):
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


def _records(content: str, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The records that are not blank, each with the line on which it starts."""
    reader = csv.reader(StringIO(content, newline=""), delimiter=delimiter)
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


def _parse(content: str, source: str, delimiter: str, width: int) -> list[Any]:
    """The columns below the header as arrow arrays of strings."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    ragged: list[int] = []

    def on_ragged(row: Any) -> str:
        if row.text.strip():
            ragged.append(row.actual_columns)
            return "error"
        return "skip"

    data = content.encode("utf-8")
    names = [str(i) for i in range(width)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, column_names=names, block_size=_block_size(len(data))
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=on_ragged
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        _refuse_ragged(content, source, delimiter, width)
        raise TableError(
            f"{source}: the text cannot be parted into cells: {str(error).splitlines()[0]}"
        ) from None
    return [column.combine_chunks()[1:] for column in table.columns]


def _block_size(n_bytes: int) -> int:
    """One block for all but the largest files: a row must not straddle two boundaries."""
    return max(1 << 16, min(n_bytes + 1, 1 << 28))


def _refuse_ragged(content: str, source: str, delimiter: str, width: int) -> None:
    for line, record in _records(content, delimiter, source):
        if len(record) != width:
            raise TableError(
                f"{source}: line {line} has {len(record)} cell"
                f"{'' if len(record) == 1 else 's'} where the header has {width}."
            )


def _refuse_open_quote(content: str, source: str) -> None:
    """Raise where a quote is opened and never closed, which would swallow the rows after it."""
    delimiter = sniff(content)
    last = 1
    try:
        reader = csv.reader(StringIO(content, newline=""), delimiter=delimiter, strict=True)
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
