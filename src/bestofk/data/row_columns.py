"""Groups, sample weights, folds and slices of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import refuse
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.data.dataset import DataSet
from bestofk.data.frames import as_pandas

if TYPE_CHECKING:
    import pandas as pd

ROLES = ("groups", "sample_weight", "folds", "by")
FEATURE_ROLES = ("by",)
"""Roles of columns that stay features."""


def with_row_columns(
    data: DataSet,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    folds: Any = None,
    by: Any = None,
) -> DataSet:
    """Return the data set with groups, weights, folds or slices of its rows.

    Parameters
    ----------
    data : DataSet
        Not changed.
    groups : name of a column, or array of shape (n,), optional
        Rows of one group (a patient, a day) are never on both sides of a split.
    sample_weight : name of a column, or array of shape (n,), optional
        The weight of each row, in fits and in the loss.
    folds : name of a column, or array of shape (n,), optional
        The fold that tests each row, for the plan ``"predefined:COLUMN"``.
    by : name of a column, or array of shape (n,), optional
        The slice of each row.

    Returns
    -------
    DataSet
        A named column is excluded from the features, except that of slices.

    Examples
    --------
    >>> import pandas as pd
    >>> from bestofk.data import read_data
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0], "patient": ["p", "p", "q"]})
    >>> data = with_row_columns(read_data(X, [0, 1, 1]), groups="patient")
    >>> data.d, data.groups.tolist()
    (1, ['p', 'p', 'q'])
    """
    requests = {"groups": groups, "sample_weight": sample_weight, "folds": folds, "by": by}
    known = {role: getattr(data, role) for role in ROLES}
    # the same column may be named again
    requests = {
        role: value
        for role, value in requests.items()
        if value is not None
        and not (isinstance(value, str) and known[role] is not None and known[role].name == value)
    }
    if not requests:
        return data
    frame, original = data.X, data.original
    if not data.whole:
        # an identifier that was left out may name the groups
        left_out = None if original is None else original.drop(columns=frame.columns)
        if original is not None:
            original = _without(original, requests)
        frame, requests = split_off_columns(frame, requests, left_out, source=repr(data.name))
    row_columns: dict[str, Any] = {**check_row_columns(requests, data.n)}
    return replace(data, X=frame, original=original, **row_columns)


def split_off_columns(
    frame: pd.DataFrame,
    requests: Mapping[str, Any],
    left_out: pd.DataFrame | None = None,
    *,
    source: str = "",
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the frame without the named columns, and the values of each role."""
    role_values = {role: value for role, value in requests.items() if value is not None}
    for role, value in role_values.items():
        if isinstance(value, str):
            if value in frame.columns:
                role_values[role] = frame[value]
            elif left_out is not None and value in left_out.columns:
                role_values[role] = left_out[value]
            else:
                raise UnknownNameError(f"{role} column", value, frame.columns, source)
    return _without(frame, requests), role_values


def _without(frame: pd.DataFrame, requests: Mapping[str, Any]) -> pd.DataFrame:
    """Return the frame without the named columns that are no features."""
    named = [
        value
        for role, value in requests.items()
        if isinstance(value, str) and role not in FEATURE_ROLES
    ]
    return frame.drop(columns=named, errors="ignore") if named else frame


def check_row_columns(role_values: Mapping[str, Any], n: int) -> dict[str, pd.Series[Any]]:
    """Check that every role has one value for each of the `n` rows, and weights are numbers."""
    import pandas as pd

    row_columns = {}
    for role, value in role_values.items():
        values = np.asarray(as_pandas(value, role))
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
                f"{role} must have no missing values; row {int(gaps.argmax()) + 1} is missing "
                f"({int(gaps.sum())} of {n})."
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
