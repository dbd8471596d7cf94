"""Decompress and decode files, and read delimited text (comma, semicolon, tab or pipe)."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from typing import Any, NamedTuple

from bestofk._base.errors import TableError
from bestofk.data.tables.limits import check_columns
from bestofk.data.tables.table import Table, size_words
from bestofk.data.tables.values import is_number
from bestofk.data.tables.workbooks import from_text_cell, unmarked

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x1a\x1b\x1c\x1d\x1e\x1f")) + b"\x7f"

_PIECE = 1 << 20


class Text(NamedTuple):
    """The content of a file and its encoding."""

    content: str
    encoding: str


def decompress(data: bytes, source: str) -> bytes:
    """Unpack `data` if it is gzip."""
    if data[:2] != b"\x1f\x8b":
        return data
    import gzip
    import zlib
    from io import BytesIO

    from bestofk.data.tables.limits import UNPACKED, allowed_bytes, too_large

    most = allowed_bytes(len(data), UNPACKED)
    pieces: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            while piece := file.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    raise too_large(
                        source, file_size=len(data), needed=size, what="unpacks to far more"
                    )
    except (OSError, EOFError, zlib.error):
        raise TableError(f"{source}: the gzip data are damaged or cut off.") from None
    return b"".join(pieces)


def decode(data: bytes, source: str, *, encoding: str | None = None) -> Text:
    """Decode `data` in the stated or detected encoding."""
    if encoding is not None:
        return _decode_as(data, source, encoding)
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _decode_as(data[len(mark) :], source, name)
    if b"\0" in data:
        guess = _unmarked_utf16(data)
        if guess is None:
            raise _binary(source)
        return _decode_as(data, source, guess)
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError:
        content = None
    sample = data[:65536]
    most = 0.005 if content is None else 0.3  # binary data are hardly ever valid UTF-8
    if sum(sample.count(byte) for byte in _CONTROLS) > most * len(sample):
        raise _binary(source)
    if content is not None:
        return Text(content, "utf-8")
    _refuse_mixture(data, source)
    western = "cp1252" if any(0x80 <= byte < 0xA0 for byte in set(data)) else "latin-1"
    try:
        return Text(data.decode(western), western)
    except UnicodeDecodeError:
        raise _binary(source) from None


def _decode_as(data: bytes, source: str, encoding: str) -> Text:
    try:
        content = data.decode(encoding)
    except LookupError:
        raise TableError(
            f"{source}: encoding must be the name of a text encoding such as 'utf-8' or "
            f"'latin-1'; got {encoding!r}."
        ) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(encoding, errors="replace").count("\n") + 1
        raise TableError(
            f"{source}: line {line} is not {encoding} text (byte {data[error.start]:#04x})."
        ) from None
    return Text(content.removeprefix("\ufeff"), encoding)


def _unmarked_utf16(data: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark by zeros in every other byte."""
    sample = data[: 4096 - 4096 % 2]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) / 2
    if odd > 0.6 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.6 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def _refuse_mixture(data: bytes, source: str) -> None:
    """Raise if some lines are UTF-8 beyond ASCII and others are not UTF-8."""
    good = bad = None
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            bad = bad or number
        else:
            good = good or number
        if good and bad:
            raise TableError(
                f"{source}: two encodings in one file: line {good} is utf-8, line {bad} is not; "
                "save it in one encoding."
            )


def _binary(source: str) -> TableError:
    return TableError(
        f"{source}: not a table: the file contains binary data, not text, Parquet or gzip."
    )


# Delimited text


DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_MAX_SNIFFED_ROWS = 100
_MAX_SNIFFED_BYTES = 100_000
_BLOCK = 1 << 24
"""Bytes to split into cells at once; splitting needs memory besides the text and the cells."""


def read_delimited(
    content: bytes,
    source: str,
    *,
    delimiter: str | None,
    encoding: str,
    is_tsv: bool,
    reread: Callable[[], bytes] | None = None,
) -> Table:
    """Read a table from delimited UTF-8 text with a header; `encoding` is that of the file.

    Pass `reread` for a large text: error messages then read the file again, and the text is freed.
    """
    import pyarrow as pa

    if not content or content.isspace():
        raise TableError(f"{source}: the file is empty.")
    if content.count(b'"') % 2:
        _refuse_open_quote(content, source)
    stated = delimiter is not None
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
            f"{source}: the file contains a header of {len(header)} column"
            f"{'' if len(header) == 1 else 's'} and no rows."
        )
    word = DELIMITERS.get(delimiter, repr(delimiter))
    how = "stated" if stated else "detected"
    account = [
        f"{source}: delimited text, {encoding}"
        + (f", delimiter {word} ({how})" if len(header) > 1 else "")
        + f", {size_words(rows, len(columns))}."
    ]
    if dropped:
        account.append("The last column has no name and no content and was left out.")
    return Table(
        source=source,
        cells={
            name: unmarked(column.cast(pa.string()) if column.type != pa.string() else column)
            for name, column in columns.items()
        },
        account=tuple(account),
        delimiter=delimiter,
        locate=DelimitedLines(content=content if reread is None else reread, delimiter=delimiter),
    )


def header_of(content: bytes, delimiter: str) -> tuple[str, ...] | None:
    """Return the column names if the first line holds them, each once; else None."""
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
    """The line of the n-th row below the header, computed only if an error needs it."""

    content: bytes | Callable[[], bytes]
    delimiter: str

    def __call__(self, row: int) -> int:
        content = self.content if isinstance(self.content, bytes) else self.content()
        for index, (line, _) in enumerate(_records(content, self.delimiter, "")):
            if index == row + 1:
                return line
        # the file has changed: assume no blank lines and no line breaks in cells
        return row + 2


def sniff(content: bytes, *, prefer: str | None = None) -> str:
    """Return the delimiter that gives the header most columns and the rows as many."""
    start = content[:_MAX_SNIFFED_BYTES]
    best, best_score = prefer or ",", (0.0, 0, 0, 0)
    for rank, candidate in enumerate((",", "|", ";", "\t")):
        counts, broken = [], 0
        for _, record in _records(start, candidate, ""):
            counts.append(len(record))
            broken += any(cell.count('"') % 2 for cell in record)
            if len(counts) > _MAX_SNIFFED_ROWS:
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
    """Iterate over the lines without copying the text."""
    # a part of a text may end within a character
    return TextIOWrapper(BytesIO(content), encoding="utf-8", errors="ignore", newline="")


def _records(content: bytes, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank, each with the line on which it starts."""
    reader = csv.reader(_lines(content), delimiter=delimiter)
    start = 1
    try:
        for record in reader:
            if len(record) > 1 or (record and record[0].strip()):
                yield start, record
            start = reader.line_num + 1
    except csv.Error:
        raise TableError(
            f"{source}: line {start} contains a cell of more than {csv.field_size_limit()} "
            "characters, or a quote that is never closed."
        ) from None


def _parse(content: bytes, source: str, delimiter: str, width: int) -> list[Any]:
    """Return the columns below the header as arrow arrays of strings."""
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

    def split(block_size: int) -> list[Any]:
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
        for index in range(width):
            # copy one column at a time, to save memory
            columns[index] = columns[index].combine_chunks()[1:]
            pool.release_unused()
        return columns

    whole = max(1 << 16, min(len(content) + 1, 1 << 30))
    try:
        try:
            return split(min(whole, _BLOCK))
        except pa.ArrowInvalid:
            if ragged or whole <= _BLOCK:
                raise
            # a row that is longer than a block
            return split(whole)
    except pa.ArrowInvalid as error:
        _refuse_ragged(content, source, delimiter, width)
        raise TableError(
            f"{source}: the text cannot be split into cells: {str(error).splitlines()[0]}"
        ) from None


def _refuse_ragged(content: bytes, source: str, delimiter: str, width: int) -> None:
    for line, record in _records(content, delimiter, source):
        if len(record) != width:
            raise TableError(
                f"{source}: line {line} has {len(record)} cell"
                f"{'' if len(record) == 1 else 's'}, but the header has {width}."
            )


def _refuse_open_quote(content: bytes, source: str) -> None:
    """Raise if a quote is opened and never closed, which would hide the rows after it."""
    delimiter = sniff(content)
    last = 1
    try:
        reader = csv.reader(_lines(content), delimiter=delimiter, strict=True)
        for _ in reader:
            last = reader.line_num + 1
    except csv.Error as error:
        if "end of data" in str(error) or "limit" in str(error):
            raise TableError(f"{source}: line {last} opens a quote that is never closed.") from None


def _refuse_numbers_as_header(header: list[str], source: str, line: int) -> None:
    """Raise if the first line holds numbers with fractions; whole numbers may be names."""
    if all(map(is_number, header)) and not all(cell.lstrip("+-").isdigit() for cell in header):
        raise TableError(
            f"{source}: line {line} must name the columns; got numbers ({', '.join(header[:3])})."
        )
