"""Numeric columns sorted by numpy, once for a data set."""

from __future__ import annotations

import numpy as np

from bestofk.checks import Floats
from bestofk.data.encoded import Codes, Encoded


def columns_by_value(encoded: Encoded) -> tuple[Floats, Codes, Codes]:
    """The columns of all rows, and what `sort_columns` says of them."""
    columns = np.ascontiguousarray(encoded.values.T)
    return columns, *sort_columns(columns, encoded.cardinality)


def sort_columns(columns: Floats, cardinality: Codes) -> tuple[Codes, Codes]:
    """Known rows of each numeric column by rising value (ties by row), and how many they are.

    Examples
    --------
    >>> order, known = sort_columns(np.array([[2.0, np.nan, 1.0, 2.0]]), np.array([0]))
    >>> order[0, : known[0]].tolist()
    [2, 0, 3]
    """
    order = np.empty(columns.shape, dtype=np.int64)
    known = np.zeros(len(columns), dtype=np.int64)
    for a in np.flatnonzero(cardinality == 0):
        order[a] = np.argsort(columns[a], kind="stable")
        known[a] = np.count_nonzero(~np.isnan(columns[a]))
    return order, known
