"""Read Excel workbooks, and mark text cells that spreadsheets would run as formulas."""

from __future__ import annotations

import re
import zipfile
from datetime import date, datetime, time
from io import BytesIO
from typing import Any

from bestofk._base.errors import MissingExtraError, TableError
from bestofk.data.tables.limits import (
    BYTES_PER_OBJECT,
    EXPANDED,
    RowBudget,
    allowed_bytes,
    check_columns,
    too_large,
)
from bestofk.data.tables.table import RowLines, Table, size_words
from bestofk.data.tables.values import arrow_column

_BYTES_PER_LETTER = 3
"""Copies of a text while its column is read."""


def is_workbook(data: bytes) -> bool:
    """Return whether the bytes are an Excel workbook (.xlsx)."""
    if not data.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(BytesIO(data)) as packed:
            return "xl/workbook.xml" in packed.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def read_workbook(data: bytes, source: str) -> Table:
    """Read a table from a workbook with one sheet, whose first row names the columns."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError(f"{source}: an Excel workbook", "excel") from None
    _check_size(data, source)
    try:
        book = load_workbook(BytesIO(data), read_only=True, data_only=True)
        budget = RowBudget(source, file_size=len(data))
        sheets = [(sheet.title, _rows(sheet, budget)) for sheet in book.worksheets]
        book.close()
    except TableError:
        raise
    except Exception:
        # openpyxl may raise any exception on a damaged workbook
        raise TableError(f"{source}: not an Excel workbook, or a damaged one.") from None
    filled = [(title, rows) for title, rows in sheets if any(map(_filled, rows))]
    if not filled:
        raise TableError(f"{source}: the workbook contains no cells.")
    title, rows = filled[0]
    table = _table(rows, source, title)
    if len(filled) == 1:
        return table
    others = ", ".join(repr(name) for name, _ in filled[1:6])
    raise TableError(
        f"{source}: the workbook contains {len(filled)} sheets ({title!r}, {others}): keep only "
        "one, or save one as CSV."
    )


def _rows(sheet: Any, budget: RowBudget) -> list[tuple[Any, ...]]:
    """Read the rows of a sheet within the budget; a text counts in every cell that shares it."""
    # the stated dimensions may be those of an enormous, empty sheet
    sheet.reset_dimensions()
    rows = []
    for cells in sheet.iter_rows(values_only=True):
        text = sum(len(cell) for cell in cells if type(cell) is str)
        budget.spend(1, bytes_per_row=BYTES_PER_OBJECT + 8 * len(cells) + _BYTES_PER_LETTER * text)
        rows.append(tuple(cells))
    return rows


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
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise TableError(f"{source}: two columns of the sheet {title!r} are named {name!r}.")
        seen.add(name)
    numbered = [(at + 2 + i, row) for i, row in enumerate(rows[at + 1 :]) if _filled(row)]
    if not numbered:
        raise TableError(f"{source}: the sheet {title!r} contains a header and no rows.")
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
        locate=RowLines(lines),
    )


def _check_size(data: bytes, source: str) -> None:
    """Raise if a small file expands to very much."""
    with zipfile.ZipFile(BytesIO(data)) as packed:
        needed = sum(entry.file_size for entry in packed.infolist())
    if needed > allowed_bytes(len(data), EXPANDED):
        raise too_large(source, file_size=len(data), needed=needed, what="unpacks to far more")


def _some(cell: Any) -> bool:
    return cell is not None and cell != ""


def _filled(row: tuple[Any, ...]) -> bool:
    return any(map(_some, row))


def _plain(cell: Any) -> Any:
    """Convert dates to text, as in a CSV file, and errors such as #DIV/0! to missing cells."""
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, str) and cell.startswith("#") and cell.rstrip("!?").isupper():
        return None
    return cell


# Text cells that a spreadsheet would run as formulas


_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"'*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|'*[+-](?:inf|nan)")
_MARKED = "^'+[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"


def as_text_cell(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run as a formula.

    Examples
    --------
    >>> as_text_cell("=1+1"), as_text_cell("-1.5"), as_text_cell("nn")
    ("'=1+1", '-1.5', 'nn')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def from_text_cell(text: str) -> str:
    """Undo `as_text_cell`.

    Examples
    --------
    >>> from_text_cell("'=1+1"), from_text_cell("'nn'"), from_text_cell("'-1.5")
    ('=1+1', "'nn'", "'-1.5")
    """
    return text[1:] if text.startswith("'") and as_text_cell(text) != text else text


def unmarked(column: Any) -> Any:
    """Undo `as_text_cell` in all cells of an arrow column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.any(pc.match_substring_regex(column, _MARKED)).as_py():
        return column
    encoded = column.dictionary_encode()
    texts = [from_text_cell(word) for word in encoded.dictionary.to_pylist()]
    return pa.array(texts, type=pa.string()).take(encoded.indices)
