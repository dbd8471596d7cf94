"""Excel workbooks: the first sheet that holds cells, its first row the names of the columns."""

from __future__ import annotations

import re
import zipfile
from datetime import date, datetime, time
from io import BytesIO
from typing import Any

from bestofk._base.errors import MissingExtraError, TableError
from bestofk.data.tables.reading import EXPANDED, allowed_bytes, check_columns, too_large
from bestofk.data.tables.table import Table, size_words
from bestofk.data.tables.values import arrow_column


def is_workbook(data: bytes) -> bool:
    """Whether the bytes are those of an Excel workbook (.xlsx)."""
    if not data.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(BytesIO(data)) as packed:
            return "xl/workbook.xml" in packed.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def read_workbook(data: bytes, source: str) -> Table:
    """A table from the bytes of a workbook."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError(f"{source}: an Excel workbook", "excel") from None
    _check_size(data, source)
    try:
        book = load_workbook(BytesIO(data), read_only=True, data_only=True)
        sheets = [
            (sheet.title, [tuple(row) for row in sheet.iter_rows(values_only=True)])
            for sheet in book.worksheets
        ]
        book.close()
    except Exception:
        # a workbook may be damaged in more ways than can be listed
        raise TableError(f"{source}: not an Excel workbook, or a damaged one.") from None
    filled = [(title, rows) for title, rows in sheets if any(map(_filled, rows))]
    if not filled:
        raise TableError(f"{source}: the workbook holds no cells.")
    title, rows = filled[0]
    table = _table(rows, source, title)
    if len(filled) == 1:
        return table
    others = ", ".join(repr(name) for name, _ in filled[1:6])
    raise TableError(
        f"{source}: the workbook holds {len(filled)} sheets ({title!r}, {others}): keep one, or save "
        "the one that you mean as CSV."
    )


def _table(rows: list[tuple[Any, ...]], source: str, title: str) -> Table:
    at = next(position for position, row in enumerate(rows) if _filled(row))
    width = max(
        (position + 1 for row in rows[at:] for position, cell in enumerate(row) if _some(cell)),
        default=0,
    )
    check_columns(source, width)
    header = [*rows[at], *([None] * width)][:width]
    names = [
        f"column {position + 1}" if not _some(cell) else str(_plain(cell)).strip()
        for position, cell in enumerate(header)
    ]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise TableError(f"{source}: two columns of the sheet {title!r} are named {name!r}.")
    numbered = [(at + 2 + i, row) for i, row in enumerate(rows[at + 1 :]) if _filled(row)]
    if not numbered:
        raise TableError(f"{source}: the sheet {title!r} holds a header and no rows.")
    lines = tuple(line for line, _ in numbered)
    cells = {
        name: arrow_column(
            [_plain(row[position]) if position < len(row) else None for _, row in numbered],
            where=lambda row, name=name: f"{source}: line {lines[row]}, column {name!r}",
        )
        for position, name in enumerate(names)
    }
    return Table(
        source=source,
        cells=cells,
        account=(
            f"{source}: Excel workbook, sheet {title!r}, {size_words(len(lines), len(names))}.",
        ),
        locate=SheetLines(lines),
    )


class SheetLines:
    """The row of the sheet that every row of the table stands in."""

    def __init__(self, lines: tuple[int, ...]) -> None:
        self.lines = lines

    def __call__(self, row: int) -> int:
        return self.lines[row]


def _check_size(data: bytes, source: str) -> None:
    """Refuse a small file that stands for very much."""
    with zipfile.ZipFile(BytesIO(data)) as packed:
        needed = sum(entry.file_size for entry in packed.infolist())
    if needed > allowed_bytes(len(data), EXPANDED):
        raise too_large(source, file_size=len(data), needed=needed, what="unpacks to far more")


def _some(cell: Any) -> bool:
    return cell is not None and cell != ""


def _filled(row: tuple[Any, ...]) -> bool:
    return any(map(_some, row))


def _plain(cell: Any) -> Any:
    """Dates as text, as a CSV file would hold them; errors such as #DIV/0! as missing."""
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, str) and cell.startswith("#") and cell.rstrip("!?").isupper():
        return None
    return cell


# Cells that a spreadsheet would run as formulas: marked as text when written, unmarked when read.


_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"'*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|'*[+-](?:inf|nan)")
_MARKED = "^'+[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"


def as_text_cell(text: str) -> str:
    """`text` for a cell, with an apostrophe before what would be run.

    Examples
    --------
    >>> as_text_cell("=1+1"), as_text_cell("-1.5"), as_text_cell("nn")
    ("'=1+1", '-1.5', 'nn')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def from_text_cell(text: str) -> str:
    """What `as_text_cell` was given.

    Examples
    --------
    >>> from_text_cell("'=1+1"), from_text_cell("'nn'"), from_text_cell("'-1.5")
    ('=1+1', "'nn'", "'-1.5")
    """
    return text[1:] if text.startswith("'") and as_text_cell(text) != text else text


def unmarked(column: Any) -> Any:
    """An arrow column of text in which marked cells are as they were before."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.any(pc.match_substring_regex(column, _MARKED)).as_py():
        return column
    encoded = column.dictionary_encode()
    texts = [from_text_cell(word) for word in encoded.dictionary.to_pylist()]
    return pa.array(texts, type=pa.string()).take(encoded.indices)
