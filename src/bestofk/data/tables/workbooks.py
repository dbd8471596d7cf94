"""Read Excel workbooks, and mark text cells that spreadsheets would run as formulas."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from typing import Any

from bestofk._base.errors import MissingExtraError, TableError
from bestofk.data.tables.limits import BYTES_PER_OBJECT, check_columns, check_expansion
from bestofk.data.tables.table import Table, size_words


def is_workbook(data: bytes) -> bool:
    """Return whether the bytes are an Excel workbook (.xlsx)."""
    if not data.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(BytesIO(data)) as packed:
            return "xl/workbook.xml" in packed.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def read_workbook(data: bytes, source: str, *, sheet: str | None = None) -> Table:
    """Read a sheet of a workbook, whose first row names the columns.

    Without a `sheet`, the workbook must have one sheet with cells.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError(f"{source}: an Excel workbook", "openpyxl") from None
    with zipfile.ZipFile(BytesIO(data)) as packed:
        needed = sum(entry.file_size for entry in packed.infolist())
    check_expansion(source, file_size=len(data), needed=needed, what="unpacks to far more")
    try:
        book = load_workbook(BytesIO(data), read_only=True, data_only=True)
        names = [one.title for one in book.worksheets]
        if sheet is not None and sheet not in names:
            raise TableError(
                f"{source}: there is no sheet {sheet!r:.60}; got {', '.join(map(repr, names[:6]))}."
            )
        filled: dict[str, list[tuple[int, list[Any]]]] = {}
        for one in book.worksheets:
            if sheet in (None, one.title) and (rows := _rows(one, source, len(data))):
                filled[one.title] = [] if filled else rows  # two sheets are refused below
        book.close()
    except TableError:
        raise
    except Exception:
        # openpyxl may raise any exception on a damaged workbook
        raise TableError(f"{source}: not an Excel workbook, or a damaged one.") from None
    if not filled:
        raise TableError(f"{source}: the workbook contains no cells.")
    if len(filled) > 1:
        titles = list(filled)
        raise TableError(
            f"{source}: the workbook contains {len(titles)} sheets "
            f"({', '.join(map(repr, titles[:6]))}): name one as in '{source}#{titles[0]}'."
        )
    ((title, rows),) = filled.items()
    return _table(rows, source, title)


def _rows(sheet: Any, source: str, file_size: int) -> list[tuple[int, list[Any]]]:
    """Read the rows with cells, each with its number; raise if they need too much memory."""
    # the stated dimensions may be those of an enormous, empty sheet
    sheet.reset_dimensions()
    rows, needed = [], 0
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = list(values)
        while cells and cells[-1] in (None, ""):
            cells.pop()
        # a text counts in every cell that shares it
        letters = sum(len(cell) for cell in cells if isinstance(cell, str))
        needed += BYTES_PER_OBJECT * (1 + len(cells)) + letters
        check_expansion(source, file_size=file_size, needed=needed, what="contains very many rows")
        if cells:
            rows.append((number, cells))
    return rows


def _table(rows: list[tuple[int, list[Any]]], source: str, title: str) -> Table:
    import pandas as pd

    from bestofk.data.cells import text_of
    from bestofk.data.tables.delimited import names_of

    (header_line, header), *rows = rows
    width = max(len(header), *(len(cells) for _, cells in rows)) if rows else len(header)
    check_columns(source, width)
    if not rows:
        raise TableError(f"{source}: the sheet {title!r} contains a header and no rows.")
    names = names_of(
        ["" if cell is None else text_of(cell) for cell in header] + [""] * (width - len(header)),
        f"{source}: line {header_line}",
    )
    lines = [number for number, _ in rows]
    frame = pd.DataFrame(
        [cells + [None] * (width - len(cells)) for _, cells in rows], columns=names, dtype=object
    )
    return Table(
        source=source,
        frame=frame.where(~frame.isin(_ERRORS), None),
        account=(f"{source}: Excel workbook, sheet {title!r}, {size_words(*frame.shape)}.",),
        locate=lambda row: f"line {lines[row]}",
    )


_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")
"""What Excel shows if a formula fails."""


# Text cells that a spreadsheet would run as formulas


_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"'*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|'*[+-](?:inf|nan)")


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
