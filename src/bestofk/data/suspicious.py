"""Columns that deserve a look: copies of the target, row numbers, repeated identifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.data.dataset import DataSet
from bestofk.data.row_columns import (
    MIN_ROWS_TO_JUDGE,
    list_names,
    named_like_identifier,
)

FIRST_ROWS = 50
"""Rows that are compared with the target first, because most columns differ from it there."""
MIN_REPEATED_VALUES = 10
"""An identifier with fewer different values may be the code of a category."""


def suspicious_columns(data: DataSet) -> tuple[str, ...]:
    """Return a sentence about each kind of column that may make the comparison misleading.

    Examples
    --------
    >>> import pandas as pd
    >>> from bestofk.data import as_dataset
    >>> frame = pd.DataFrame({"size": [1.5, 2.5, 3.5, 4.0] * 3, "left": [0, 1, 1, 0] * 3})
    >>> print(*suspicious_columns(as_dataset(frame, ["no", "yes", "yes", "no"] * 3)))
    'left' gives the target away: ...
    """
    if data.whole or data.n < MIN_ROWS_TO_JUDGE:
        return ()
    target = _numbers(data.y)
    leaks, rows, repeated, constant = [], [], [], 0
    for position, column in enumerate(data.X.columns):
        cells = data.X.iloc[:, position]
        numbers = _numbers(cells)
        known = numbers[~np.isnan(numbers)]
        if not len(known) or known.min() == known.max():
            constant += 1
        elif len(known) == data.n and _gives_away(numbers, target, data.task):
            leaks.append(column)
        elif _counts_rows(cells):
            rows.append(column)
        elif named_like_identifier(column):
            values = cells.nunique()
            if MIN_REPEATED_VALUES <= values < data.n and data.groups is None:
                repeated.append((column, values))
    notes = []
    if leaks:
        notes.append(
            f"{list_names(leaks)} {_verb(leaks, 'gives', 'give')} the target away: every value "
            "belongs to one value of the target. Ignore it if it is not known when you predict."
        )
    if rows:
        notes.append(
            f"{list_names(rows)} {_verb(rows, 'counts', 'count')} the rows. Ignore it unless the "
            "order of the rows is known when you predict."
        )
    for column, values in repeated:
        notes.append(
            f"{str(column)!r} is named like an identifier and has {values:,} values in {data.n:,} "
            "rows: if its rows belong together, use it as groups."
        )
    if constant == data.d:
        notes.append("Every column has the same value in all rows: there is nothing to learn from.")
    return tuple(notes)


def _verb(names: list[Any], one: str, many: str) -> str:
    return one if len(names) == 1 else many


def _numbers(cells: Any) -> npt.NDArray[np.float64]:
    """Return numbers, or the codes of categories with NaN for missing cells."""
    if hasattr(cells, "cat"):
        codes: npt.NDArray[np.float64] = cells.cat.codes.to_numpy(dtype=np.float64)
        codes[codes < 0] = np.nan
        return codes
    return np.asarray(cells, dtype=np.float64)


def _gives_away(cells: npt.NDArray[np.float64], target: npt.NDArray[np.float64], task: str) -> bool:
    """Return whether a column is the target under other names or in another unit."""
    if task == "regression":
        return _is_line(cells[:FIRST_ROWS], target[:FIRST_ROWS]) and _is_line(cells, target)
    return _one_to_one(cells[:FIRST_ROWS], target[:FIRST_ROWS]) and _one_to_one(cells, target)


def _one_to_one(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> bool:
    values = len(np.unique(second))
    if len(np.unique(first)) != values:
        return False
    return len(np.unique(np.stack([first, second]), axis=1).T) == values


def _is_line(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> bool:
    """Return whether one column is a multiple of the other plus a constant."""
    x, y = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return scale > 0 and abs(float(x @ y)) >= scale * (1 - 1e-12)


def _counts_rows(cells: Any) -> bool:
    """Return whether whole numbers rise by one from row to row."""
    if getattr(cells.dtype, "kind", "") not in "iu" or len(cells) < MIN_ROWS_TO_JUDGE:
        return False
    return bool((np.diff(cells.to_numpy()) == 1).all())
