"""Read JSON: one object per line, an array of objects, or an object of columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bestofk._base.errors import TableError
from bestofk.data.tables.limits import check_cells, check_columns, check_json
from bestofk.data.tables.table import RowLines, Table, size_words
from bestofk.data.tables.values import arrow_column

_CHUNK = 20_000


def read_json(
    content: str, source: str, *, encoding: str, file_size: int | None = None, nested: bool = False
) -> Table:
    """Read a table from JSON text; `nested` reads objects in cells as columns with dotted names."""
    file_size = len(content) if file_size is None else file_size
    if not content.strip():
        raise TableError(f"{source}: the file is empty.")
    whole = _whole(content, source, file_size, nested=nested)
    columns: dict[str, list[Any]] = {}
    if isinstance(whole, dict):
        return _from_columns(whole, source)
    if isinstance(whole, list):
        for row, item in enumerate(whole, start=1):
            if not isinstance(item, dict):
                raise TableError(
                    f"{source}: row {row} must be an object of cells; got {_short(item)}."
                )
        whole = [flat_row(row) for row in whole] if nested else whole
        _check_cells(columns, whole, 0, source, file_size)
        _extend(columns, whole, 0)
        return _table(columns, source, f"JSON array, {encoding}", None)
    lines = content.split("\n")
    numbers = [i for i, line in enumerate(lines, start=1) if line and not line.isspace()]
    for at in range(0, len(numbers), _CHUNK):
        part = numbers[at : at + _CHUNK]
        rows = _objects([lines[n - 1] for n in part], part, source, file_size)
        rows = [flat_row(row) for row in rows] if nested else rows
        _check_cells(columns, rows, at, source, file_size)
        _extend(columns, rows, at)
    return _table(columns, source, f"JSON lines, {encoding}", RowLines(numbers))


class _JsonError(ValueError):
    """Text that is not JSON, or exceeds the limits of a table; `msg` says why."""

    def __init__(self, msg: str, lineno: int, colno: int) -> None:
        super().__init__(msg)
        self.msg, self.lineno, self.colno = msg, lineno, colno


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _JsonError(error.msg, error.lineno, error.colno) from None
    except RecursionError:
        raise _JsonError("brackets are nested too deeply", 1, 1) from None
    except ValueError:
        raise _JsonError("a whole number has thousands of digits", 1, 1) from None


def _check_cells(
    columns: dict[str, list[Any]],
    rows: list[dict[str, Any]],
    before: int,
    source: str,
    file_size: int,
) -> None:
    """Raise if rows with different columns would expand to a large, mostly empty table."""
    names = set(columns).union(*rows)
    count = before + len(rows)
    check_columns(source, len(names))
    check_cells(source, file_size=file_size, rows=count, columns=len(names), bytes_per_cell=8)


def _whole(content: str, source: str, file_size: int, *, nested: bool) -> Any:
    """Parse the text as one array or one object of lists; return None if it is JSON lines."""
    start = content.lstrip()[:1]
    if start == "[":
        check_json(content, source, file_size=file_size)
        try:
            return _loads(content)
        except _JsonError as error:
            if "\n[" in content or content.lstrip().split("\n", 1)[0].rstrip().endswith("]"):
                first = content.lstrip().split("\n", 1)[0]
                raise TableError(
                    f"{source}: line 1 must be an object of cells; got {_short(first)}."
                ) from None
            raise TableError(
                f"{source}: line {error.lineno} is not JSON ({error.msg}, column {error.colno})."
            ) from None
    if start == "{":
        first, _, rest = content.lstrip().partition("\n")
        check_json(first, source, file_size=file_size)
        try:
            value = _loads(first)
        except _JsonError:
            rest = ""
            check_json(content, source, file_size=file_size)
            try:
                value = _loads(content)
            except _JsonError:
                return None
        if nested and not rest.strip() and (rows := _rows_within(value)) is not None:
            return rows
        if isinstance(value, dict) and value and all(isinstance(v, list) for v in value.values()):
            return value
        return None
    raise TableError(f"{source}: line 1 must begin a JSON object or array; got {_short(content)}.")


def _rows_within(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of an object that contains them; None if there are none.

    The rows are the longest list of objects, at most two levels deep. The other values of the
    outer object become columns with the same cell in every row. pandas writes ``columns`` and
    ``data`` with ``orient="split"``, and an object of numbered cells for each column by default.
    """
    by_column = [each for each in value.values() if isinstance(each, dict)]
    if by_column and len(by_column) == len(value):
        rows = list(by_column[0])
        if all(row.isdigit() for row in rows) and all(list(each) == rows for each in by_column):
            return [{name: cells[row] for name, cells in value.items()} for row in rows]
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and data and all(
        isinstance(row, list) and len(row) == len(names) for row in data
    ):  # fmt: skip
        return [dict(zip(map(str, names), row, strict=True)) for row in data]
    inner = [each for each in value.values() if isinstance(each, dict)]
    lists = [
        each
        for outer in (value, *inner)
        for each in outer.values()
        if isinstance(each, list) and each and all(isinstance(row, dict) for row in each)
    ]
    if not lists:
        return None
    same = {
        name: cell
        for name, cell in flat_row(
            {key: each for key, each in value.items() if not isinstance(each, list)}
        ).items()
        if not isinstance(cell, str) or len(cell) <= _MAX_REPEATED
    }
    same = dict(list(same.items())[:_MAX_REPEATED_COLUMNS])
    return [{**same, **row} for row in max(lists, key=len)]


_MAX_REPEATED = 200
"""Characters of a text that is repeated in every row."""
_MAX_REPEATED_COLUMNS = 50
_MAX_DEPTH = 4


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


def _objects(
    lines: list[str], numbers: list[int], source: str, file_size: int
) -> list[dict[str, Any]]:
    text = "[" + ",".join(lines) + "]"
    check_json(text, source, file_size=file_size)
    try:
        rows = _loads(text)
    except _JsonError:
        rows = []
    if len(rows) == len(lines) and all(type(row) is dict for row in rows):
        return list(rows)
    for number, line in zip(numbers, lines, strict=True):
        try:
            row = _loads(line)
        except _JsonError as error:
            raise TableError(
                f"{source}: line {number} is not JSON ({error.msg}, column {error.colno})."
            ) from None
        if not isinstance(row, dict):
            raise TableError(
                f"{source}: line {number} must be an object of cells; got {_short(row)}."
            )
    raise TableError(f"{source}: lines {numbers[0]} to {numbers[-1]} are not one object each.")


def _extend(columns: dict[str, list[Any]], rows: list[dict[str, Any]], before: int) -> None:
    """Append the cells of `rows` after `before` earlier rows; None for absent keys."""
    for name in dict.fromkeys(name for row in rows for name in row):
        columns.setdefault(name, [None] * before)
    for name, cells in columns.items():
        cells.extend([row.get(name) for row in rows])


def _from_columns(whole: dict[str, list[Any]], source: str) -> Table:
    sizes = {name: len(values) for name, values in whole.items()}
    if len(set(sizes.values())) > 1:
        (first, n), *rest = sizes.items()
        other, m = next(pair for pair in rest if pair[1] != n)
        raise TableError(
            f"{source}: columns must have the same length; got {n} cells in {first!r} and {m} in "
            f"{other!r}."
        )
    return _table(whole, source, "JSON object of columns", None)


def _table(columns: dict[str, list[Any]], source: str, form: str, locate: RowLines | None) -> Table:
    rows = len(next(iter(columns.values()), []))
    if not rows:
        raise TableError(f"{source}: the file contains no rows.")

    def where(row: int, name: str) -> str:
        position = f"row {row + 1}" if locate is None else f"line {locate(row)}"
        return f"{source}: {position}, column {name!r}"

    cells = {
        name: arrow_column(values, where=lambda row, name=name: where(row, name), name=name)
        for name, values in columns.items()
    }
    return Table(
        source=source,
        cells=cells,
        account=(f"{source}: {form}, {size_words(rows, len(cells))}.",),
        locate=locate,
    )


def _short(value: Any) -> str:
    try:
        shown = value if isinstance(value, str) else json.dumps(value)
    except (RecursionError, ValueError):
        shown = f"a {type(value).__name__}"
    shown = shown.strip().split("\n", 1)[0]
    return repr(shown if len(shown) <= 40 else shown[:37] + "...")
