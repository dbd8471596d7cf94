"""Call the kernels of ``neighbour.c``."""

from __future__ import annotations

import numpy as np

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes
from bestofk.learners.kernels.library import Kernel

RANGE, STD, NONE = 0, 1, 2
_SCALES = Kernel("neighbour_scales", "*f64 i64 *i64 *i64 i64 i64 &f64 &f64 &f64")
_ROWS = Kernel("neighbour_rows", "*f64 i64 i64 *i64 *f64 *f64 *f64 *f64 i64 &i64")


def column_scales(
    values: Floats, cardinality: Codes, rows: Codes, scale: int
) -> tuple[Floats, Floats, Floats]:
    """Return the smallest and largest known values of the columns in `rows`, and their divisors.

    The divisor of a constant column is 0, so known values do not count. Without scaling, it is 0
    only for a column without known values. Nominal columns get 0, 0 and 1.
    """
    low, high, divisor = np.empty((3, values.shape[1]))
    _SCALES(values, values.shape[1], cardinality, rows, len(rows), scale, low, high, divisor)
    return low, high, divisor


def nearest_rows(
    columns: Floats,
    cardinality: Codes,
    low: Floats,
    high: Floats,
    divisor: Floats,
    queries: Floats,
) -> Codes:
    """Return the index of the nearest row for every query, the lowest of tied rows.

    `columns` are the transposed training rows, shape (d, n).
    """
    queries = np.ascontiguousarray(queries, dtype=np.float64)
    nearest = np.empty(len(queries), dtype=np.int64)
    _ROWS(columns, *columns.shape, cardinality, low, high, divisor, queries, len(queries), nearest)
    return nearest
