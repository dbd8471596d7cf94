"""Decode text files, and read delimited text (comma, semicolon, tab or pipe)."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from functools import partial
from io import BytesIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bestofk._base.errors import TableError
from bestofk._base.files import read_file
from bestofk.data.tables.limits import check_cells, check_columns, decompress
from bestofk.data.tables.table import Table, size_words
from bestofk.data.tables.workbooks import from_text_cell

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NOT_WINDOWS = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1a]")
_BEGINNING = 100_000
_MAX_SNIFFED_ROWS = 100
_BYTES_PER_CELL = 8


class Text(NamedTuple):
    """The content of a file as UTF-8, and its encoding."""

    data: bytes
    encoding: str


def decode(data: bytes, source: str) -> Text:
    """Return the text of a file: UTF-8 or UTF-16 by its mark, else UTF-8, else Latin-1."""
    encoding = "utf-8"
    for mark, name in _MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
    try:
        content = data.decode(encoding)
    except UnicodeDecodeError as error:
        # some lines are UTF-8 beyond ASCII, and others are not
        if encoding != "utf-8" or not data.decode(errors="ignore").isascii():
            line = data[: error.start].decode(encoding, errors="replace").count("\n") + 1
            raise TableError(
                f"{source}: line {line} is not {encoding} text (byte {data[error.start]:#04x})."
            ) from None
        encoding = "latin-1"
        # Windows has letters where latin-1 has control characters
        content = data.decode("cp1252" if not _NOT_WINDOWS.search(data) else encoding)
        if _CONTROL.search(content, 0, _BEGINNING):
            content = "\0"
    if "\0" in content:
        raise TableError(f"{source}: not a table: the file contains binary data.")
    return Text(data if encoding == "utf-8" else content.encode(errors="replace"), encoding)


def read_delimited(text: Text, file: Path, *, is_tsv: bool, file_size: int) -> Table:
    """Read a table from delimited text with a header."""
    source, data = file.name, text.data
    delimiter = sniff(data, prefer="\t" if is_tsv else None)
    header_line, header = next(_records(data, delimiter, source), (0, []))
    if not header:
        raise TableError(f"{source}: the file is empty.")
    header = [from_text_cell(name.strip()) for name in header]
    _refuse_numbers_as_header(header, source, header_line)
    frame = split_cells(
        data, source, delimiter=delimiter, width=len(header), file_size=file_size
    ).iloc[1:]
    if not len(frame):
        raise TableError(
            f"{source}: the file contains a header of {len(header)} column"
            f"{'' if len(header) == 1 else 's'} and no rows."
        )
    account = []
    if not header[-1] and len(header) > 1 and (frame.iloc[:, -1] == "").all():
        frame = frame.iloc[:, :-1]
        header = header[:-1]
        account.append("The last column has no name and no content and was left out.")
    frame.columns = names_of(header, f"{source}: line {header_line}")
    if b"'" in data:
        frame = frame.map(from_text_cell)
    account.insert(
        0,
        f"{source}: delimited text, {text.encoding}"
        + (f", delimiter {DELIMITERS[delimiter]} (detected)" if len(header) > 1 else "")
        + f", {size_words(*frame.shape)}.",
    )
    return Table(
        source=source,
        frame=frame.reset_index(drop=True),
        account=tuple(account),
        delimiter=delimiter,
        locate=partial(_position, file, delimiter),
    )


def split_cells(
    data: bytes,
    source: str,
    *,
    delimiter: str,
    width: int,
    file_size: int,
    first_line: int = 1,
    quote: str = '"',
) -> pd.DataFrame:
    """Return the cells of all lines that are not blank as text; raise if a line is ragged."""
    import pandas as pd

    check_columns(source, width)
    rows = data.count(b"\n") + 1
    check_cells(
        source, file_size=file_size, rows=rows, columns=width, bytes_per_cell=_BYTES_PER_CELL
    )
    frame = None
    try:
        frame = pd.read_csv(
            BytesIO(data), sep=delimiter, header=None, dtype=object, na_filter=False,
            quotechar=quote, skipinitialspace=quote != '"', encoding="utf-8",
        )  # fmt: skip
    except pd.errors.EmptyDataError:
        raise TableError(f"{source}: the file is empty.") from None
    except pd.errors.ParserError:
        pass
    if frame is not None:
        # pandas fills short lines, so count the delimiters between cells
        delimiters = data.count(delimiter.encode())
        if quote.encode() in data:
            within = (frame[column].tolist() for column in frame.columns)
            delimiters -= sum("".join(cells).count(delimiter) for cells in within)
        if frame.shape[1] == width and delimiters == (width - 1) * len(frame):
            return frame
    line = first_line
    for start, record in _records(data, delimiter, source, quote=quote):
        line = start + first_line - 1
        if len(record) != width:
            raise TableError(
                f"{source}: line {line} has {len(record)} cell"
                f"{'' if len(record) == 1 else 's'}, but the header has {width}."
            )
    if frame is None:
        raise TableError(f"{source}: line {line} opens a quote that is never closed.")
    return frame


def names_of(header: list[str], where: str) -> list[str]:
    """Return the names of the columns, numbered if they have none; raise if two are equal."""
    names = [name or f"column {position}" for position, name in enumerate(header, start=1)]
    if len(set(names)) < len(names):
        first: dict[str, int] = {}
        for position, name in enumerate(names, start=1):
            if first.setdefault(name, position) < position:
                raise TableError(
                    f"{where}: columns {first[name]} and {position} are both named {name!r}."
                )
    return names


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


def _position(file: Path, delimiter: str, row: int) -> str:
    """Return the line of the n-th row below the header, for which the file is read again."""
    try:
        data = decompress(read_file(file), file.name)
        records = _records(decode(data, file.name).data, delimiter, "")
        return f"line {next(islice(records, row + 1, None))[0]}"
    except (TableError, StopIteration):
        return f"row {row + 1}"


def sniff(content: bytes, *, prefer: str | None = None) -> str:
    """Return the delimiter that gives the header most columns and the rows as many."""
    start = content[:_BEGINNING]
    best, best_score = prefer or ",", (0.0, 0, 0, 0)
    for rank, candidate in enumerate((",", "|", ";", "\t")):
        records = [
            record for _, record in islice(_records(start, candidate, ""), _MAX_SNIFFED_ROWS)
        ]
        if not records or len(records[0]) < 2:
            continue
        if candidate == prefer:
            return candidate
        width = len(records[0])
        agree = sum(len(record) == width for record in records) / len(records)
        broken = sum(cell.count('"') % 2 for record in records for cell in record)
        if (score := (agree, -broken, width, rank)) > best_score:
            best, best_score = candidate, score
    return best


def _records(
    content: bytes, delimiter: str, source: str, *, quote: str = '"'
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank, each with the line on which it starts."""
    # a part of a text may end within a character
    lines = TextIOWrapper(BytesIO(content), encoding="utf-8", errors="ignore", newline="")
    reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
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


def _refuse_numbers_as_header(header: list[str], source: str, line: int) -> None:
    """Raise if the first line holds numbers with fractions; whole numbers may be names."""
    try:
        fractions = not all(float(cell).is_integer() for cell in header)
    except ValueError:
        return
    if fractions:
        raise TableError(
            f"{source}: line {line} must name the columns; got numbers ({', '.join(header[:3])})."
        )
