"""Read JSON: one object per line, an array of objects, or an object of columns."""

from __future__ import annotations

import json
from typing import Any

from bestofk._base.errors import TableError
from bestofk.data.tables.limits import check_cells, check_columns, check_json
from bestofk.data.tables.table import RowLines, Table, size_words
from bestofk.data.tables.values import arrow_column

_CHUNK = 20_000


def read_json(content: str, source: str, *, encoding: str, file_size: int | None = None) -> Table:
    """Read a table from JSON text."""
    file_size = len(content) if file_size is None else file_size
    if not content.strip():
        raise TableError(f"{source}: the file is empty.")
    whole = _whole(content, source, file_size)
    columns: dict[str, list[Any]] = {}
    if isinstance(whole, dict):
        return _from_columns(whole, source)
    if isinstance(whole, list):
        for row, item in enumerate(whole, start=1):
            if not isinstance(item, dict):
                raise TableError(
                    f"{source}: row {row} must be an object of cells; got {_short(item)}."
                )
        _check_cells(columns, whole, 0, source, file_size)
        _extend(columns, whole, 0)
        return _table(columns, source, f"JSON array, {encoding}", None)
    lines = content.split("\n")
    numbers = [i for i, line in enumerate(lines, start=1) if line and not line.isspace()]
    for at in range(0, len(numbers), _CHUNK):
        part = numbers[at : at + _CHUNK]
        rows = _objects([lines[n - 1] for n in part], part, source, file_size)
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


def _whole(content: str, source: str, file_size: int) -> Any:
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
        first = content.lstrip().split("\n", 1)[0]
        check_json(first, source, file_size=file_size)
        try:
            value = _loads(first)
        except _JsonError:
            check_json(content, source, file_size=file_size)
            try:
                value = _loads(content)
            except _JsonError:
                return None
        if isinstance(value, dict) and value and all(isinstance(v, list) for v in value.values()):
            return value
        return None
    raise TableError(f"{source}: line 1 must begin a JSON object or array; got {_short(content)}.")


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
