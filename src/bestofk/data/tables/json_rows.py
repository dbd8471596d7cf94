"""Read JSON: one object per line, an array of objects, or an object of columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bestofk._base.errors import TableError
from bestofk._base.files import parsing_problem
from bestofk.data.tables.delimited import Text
from bestofk.data.tables.limits import check_cells, check_columns, check_json
from bestofk.data.tables.table import Table

_MAX_REPEATED = 200
"""Characters of a text that is repeated in every row."""
_MAX_REPEATED_COLUMNS = 50
_MAX_DEPTH = 4


def read_json(text: Text, source: str, *, file_size: int, nested: bool = False) -> Table:
    """Read a table from JSON text; `nested` reads objects in cells as columns with dotted names."""
    content = text.data.decode()
    check_json(content, source, file_size=file_size)
    whole = _whole(content, source)
    lines: list[int] | None = None
    form = "JSON array"
    if isinstance(whole, dict):
        rows = _rows_within(whole, source) if nested else None
        columns = _columns(whole)
        if rows is None and columns:
            return Table.from_columns(columns, source=source)
        whole = [whole] if rows is None else rows
    if whole is None:
        form = "JSON lines"
        numbered = [
            (number, line)
            for number, line in enumerate(content.split("\n"), start=1)
            if line and not line.isspace()
        ]
        lines = [number for number, _ in numbered]
        whole = [_loads(line, source, number) for number, line in numbered]
    if "\\ud" in content.lower():
        try:
            json.dumps(whole, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise TableError(f"{source}: a text contains half of a surrogate pair.") from None
    for row, item in enumerate(whole):
        if not isinstance(item, dict):
            position = f"row {row + 1}" if lines is None else f"line {lines[row]}"
            raise TableError(
                f"{source}: {position} must be an object of cells; got {json.dumps(item)!r:.40}."
            )
    table = from_rows(
        whole, source, file_size=file_size, nested=nested, account=f"{form}, {text.encoding}"
    )
    if lines is None:
        return table
    return replace(table, locate=lambda row: f"line {lines[row]}")


def from_rows(
    rows: list[dict[str, Any]],
    source: str = "the list",
    *,
    file_size: int | None = None,
    nested: bool = False,
    account: str = "",
) -> Table:
    """Make a table from one dictionary per row; absent cells are missing."""
    import pandas as pd

    if nested:
        rows = [flat_row(row) for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not rows or not names:
        raise TableError(f"{source}: there are no rows.")
    if file_size is not None:
        check_columns(source, len(names))
        check_cells(
            source, file_size=file_size, rows=len(rows), columns=len(names), bytes_per_cell=8
        )
    columns = {name: pd.Series([row.get(name) for row in rows], dtype=object) for name in names}
    return Table.from_frame(pd.DataFrame(columns), source=source, account=account)


def _loads(text: str, source: str, line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line, problem = line + error.lineno - 1, f"{error.msg}, column {error.colno}"
    except (ValueError, RecursionError) as error:
        problem = parsing_problem(error)
    raise TableError(f"{source}: line {line} is not JSON ({problem}).")


def _whole(content: str, source: str) -> Any:
    """Parse the text as one array or object; return None if it is JSON lines."""
    start = content.lstrip()
    if start[:1] == "[":
        return _loads(content, source)
    first, _, rest = start.partition("\n")
    if start[:1] == "{" and rest.strip():
        try:
            _loads(first, source)
        except TableError:
            return _loads(content, source)
        return None
    value = _loads(content, source)
    if not isinstance(value, dict):
        raise TableError(f"{source}: line 1 must begin a JSON object or array; got {first!r:.40}.")
    return value


def _columns(value: dict[str, Any]) -> dict[str, list[Any]] | None:
    """Return an object of columns: lists, or objects with numbered cells, which pandas writes."""
    cells = list(value.values())
    if cells and all(isinstance(column, list) for column in cells):
        return value
    if all(isinstance(column, dict) and list(column) == list(cells[0]) for column in cells) and all(
        map(str.isdigit, cells[0] if cells else "x")
    ):
        return {name: list(column.values()) for name, column in value.items()}
    return None


def _rows_within(value: dict[str, Any], source: str) -> list[dict[str, Any]] | None:
    """Return the rows of an object that contains them; None if there are none.

    The rows are the longest list of objects, at most two levels deep. The other values of the
    outer object become columns with the same cell in every row.
    """
    inner = [each for each in value.values() if isinstance(each, dict)]
    lists = [
        each
        for outer in (value, *inner)
        for each in outer.values()
        if isinstance(each, list) and each and all(isinstance(row, dict) for row in each)
    ]
    if not lists:
        return None
    rows = max(lists, key=len)
    if sum(each[0].keys() == rows[0].keys() for each in lists) > 1:
        raise TableError(
            f"{source} has several lists of the same kind of rows: save each in a file of its own, "
            "or all in one list."
        )
    same = {
        name: cell
        for name, cell in flat_row(
            {key: each for key, each in value.items() if not isinstance(each, list)}
        ).items()
        if not isinstance(cell, str) or len(cell) <= _MAX_REPEATED
    }
    same = dict(list(same.items())[:_MAX_REPEATED_COLUMNS])
    return [{**same, **row} for row in rows]


def flat_row(row: Mapping[str, Any], before: str = "", depth: int = 0) -> dict[str, Any]:
    """Return a row with a column for each value within its objects, and the objects as text.

    A list of objects with different names is read like an object with these names.

    Examples
    --------
    >>> flat_row({"id": 1, "scores": {"acc": 0.5}, "notes": [{"name": "a", "value": 2}]})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'id': 1, 'scores': '{"acc": 0.5}', 'scores.acc': 0.5,
     'notes': '[{"name": "a", "value": 2}]', 'notes.a': '{"name": "a", "value": 2}',
     'notes.a.name': 'a', 'notes.a.value': 2}
    """
    cells: dict[str, Any] = {}
    for key, value in row.items():
        name = f"{before}{key}"
        if not isinstance(value, dict | list):
            cells[name] = value
            continue
        cells[name] = json.dumps(value, sort_keys=True, default=str)
        inside = value if isinstance(value, dict) else _names(value)
        if inside and depth < _MAX_DEPTH:
            cells.update(flat_row(inside, f"{name}.", depth + 1))
    return cells


def _names(values: list[Any]) -> dict[str, Any]:
    """Return objects by their names (``name`` or ``key``); none unless the names are distinct."""
    for key in ("name", "key"):
        names = [each.get(key) if isinstance(each, dict) else None for each in values]
        if names and all(isinstance(name, str) for name in names) and len({*names}) == len(names):
            return dict(zip(map(str, names), values, strict=True))
    return {}
