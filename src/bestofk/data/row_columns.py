"""Columns that name the rows: another value in every row tells rows apart and teaches nothing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import refuse
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.data.dataset import DataSet

if TYPE_CHECKING:
    import pandas as pd

INDEX_NAMES = ("id", "index", "row", "rowid", "row_id", "unnamed: 0")
MIN_ROWS_TO_JUDGE = 10
"""Of fewer rows nothing can be told."""


def names_rows(cells: pd.Series[Any], column: Hashable) -> bool:
    """Whether a column holds words, or whole numbers under such a name, that are all different."""
    import pandas as pd

    if len(cells) < MIN_ROWS_TO_JUDGE:
        return False
    nominal = isinstance(cells.dtype, pd.CategoricalDtype)
    called = str(column).strip().lower() in INDEX_NAMES
    if not nominal and not (cells.dtype.kind == "i" and called):
        return False
    return bool(cells.nunique() == len(cells))


def is_constant(cells: pd.Series[Any]) -> bool:
    """Whether all known cells are the same."""
    import pandas as pd

    if len(cells) < 2:
        return False
    if isinstance(cells.dtype, pd.CategoricalDtype):
        return bool(cells.nunique() == 1)
    return bool(cells.min() == cells.max())


def describe_left_out(names: Sequence[Hashable], keep: str) -> str:
    """The sentence that tells of them, and how to keep them."""
    return f"Left out, since every row has another value: {list_names(names)} ({keep} to keep it)."


def describe_constants(names: Sequence[Hashable]) -> str:
    """The sentence about columns that hold one value."""
    return f"The same value in every row, kept: {list_names(names)}."


def list_names(names: Sequence[Hashable]) -> str:
    """The first names."""
    shown = [repr(name) for name in names[:8]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


# What is known of rows besides their features: groups, weights, and the fold that tests them.


ROLES = ("groups", "sample_weight", "folds")


def with_row_columns(
    data: DataSet, *, groups: Any = None, sample_weight: Any = None, folds: Any = None
) -> DataSet:
    """The data set with groups, weights or folds of its rows.

    Parameters
    ----------
    data : DataSet
        Left as it is.
    groups : name of a column, or array of shape (n,), optional
        Rows of one group (a patient, a day) are never on both sides of a split.
    sample_weight : name of a column, or array of shape (n,), optional
        How much each row counts, in fits and in the loss.
    folds : name of a column, or array of shape (n,), optional
        Which fold tests the row, for the plan ``"predefined:COLUMN"``.

    Returns
    -------
    DataSet
        A column that is named is no feature any more.

    Examples
    --------
    >>> import pandas as pd
    >>> from bestofk.data import as_dataset
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0], "patient": ["p", "p", "q"]})
    >>> data = with_row_columns(as_dataset(X, [0, 1, 1]), groups="patient")
    >>> data.d, data.groups.tolist()
    (1, ['p', 'p', 'q'])
    """
    requests = {"groups": groups, "sample_weight": sample_weight, "folds": folds}
    known = {role: getattr(data, role) for role in ROLES}
    # a column that was taken out before may be named again
    requests = {
        role: value
        for role, value in requests.items()
        if value is not None
        and not (isinstance(value, str) and known[role] is not None and known[role].name == value)
    }
    if not requests:
        return data
    frame, role_values, original = data.X, dict(requests), data.original
    if not data.whole:
        # a column that tells rows apart is no feature, and may well name groups
        everything = frame if original is None else original
        absent = {
            role: everything[value]
            for role, value in requests.items()
            if isinstance(value, str) and value not in frame.columns and value in everything.columns
        }
        rest = {role: value for role, value in requests.items() if role not in absent}
        frame, role_values = split_off_columns(frame, rest, source=data.name)
        role_values |= absent
        if original is not None:
            named = {value for value in map(_column_name, requests.values()) if value is not None}
            original = original.drop(columns=[name for name in original.columns if name in named])
    row_columns: dict[str, Any] = {**check_row_columns(role_values, data.n)}
    return replace(
        data,
        X=frame,
        original=original,
        **row_columns,
        account=(*data.account, *describe_row_columns(row_columns)),
    )


def split_off_columns(
    frame: pd.DataFrame, requests: Mapping[str, Any], *, source: str = ""
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The frame without the columns that are named, and what each role was given."""
    where = f" of {source!r}" if source else ""
    role_values: dict[str, Any] = {}
    for role, value in requests.items():
        if isinstance(value, str):
            if value not in frame.columns:
                raise UnknownNameError(f"column{where} to take as {role}", value, frame.columns)
            role_values[role] = frame[value]
        elif value is not None:
            role_values[role] = value
    named = [
        value for value in dict.fromkeys(map(_column_name, requests.values())) if value is not None
    ]
    if named and len(named) == len(frame.columns):
        raise ArgumentError(f"There must be a column{where} to learn from; all are taken.")
    return (frame.drop(columns=named) if named else frame), role_values


def _column_name(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def check_row_columns(role_values: Mapping[str, Any], n: int) -> dict[str, pd.Series[Any]]:
    """The values by role, one without a gap for each of the `n` rows; weights are numbers."""
    import pandas as pd

    row_columns = {}
    for role, value in role_values.items():
        values = np.asarray(value)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.shape != (n,):
            raise ArgumentError(
                f"{role} must hold one value for each of the {n} rows, or name a column; got "
                f"{'shape ' + str(values.shape) if values.ndim else repr(value)}."
            )
        name = getattr(value, "name", None)
        gaps = np.asarray(pd.isna(pd.Series(values)))
        if gaps.any():
            raise ArgumentError(
                f"{role} must have no missing values; row {int(gaps.argmax()) + 1} has none "
                f"({int(gaps.sum())} such of {n})."
            )
        if role == "sample_weight":
            values = _weights(values)
        row_columns[role] = pd.Series(values, name=None if name is None else str(name))
    return row_columns


def _weights(values: Any) -> Any:
    try:
        weights = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("sample_weight", "numbers, one for each row", values) from None
    if not np.isfinite(weights).all() or weights.min() < 0:
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise ArgumentError(
            f"sample_weight must hold numbers of 0 or more; got {weights[row]:g} in row {row + 1}."
        )
    if not weights.any():
        raise ArgumentError("sample_weight must be above 0 in some rows; all are 0.")
    return weights


def describe_row_columns(row_columns: Mapping[str, pd.Series[Any]]) -> list[str]:
    """A sentence about each of the columns."""
    sentences = []
    for role, values in row_columns.items():
        name = "" if values.name is None else f" by the column {values.name!r}, which is no feature"
        if role == "groups":
            many = values.nunique()
            sentences.append(f"The rows are in {many} group{'s' * (many != 1)}{name}.")
        elif role == "sample_weight":
            least, most = float(values.min()), float(values.max())
            sentences.append(f"The rows have weights from {least:g} to {most:g}{name}.")
        else:
            sentences.append(f"The rows have folds{name}.")
    return sentences
