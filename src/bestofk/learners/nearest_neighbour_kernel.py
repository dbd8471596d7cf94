"""The distance itself: one arithmetic for fit and predict and for whole plans.

A term of the distance is the squared difference in one column, and terms are added in column
order in double precision, so that every caller gets the same number to the last bit. Loops run
over rows inside and over columns outside: that keeps the order of the sum and lets the compiler
take several rows at a time.
"""

from __future__ import annotations

import numpy as np
from numba import njit

RANGE, STD, NONE = 0, 1, 2
_BLOCK = 1024


@njit(cache=True, nogil=True, error_model="numpy")
def column_scales(values, cardinality, rows, scale, low, high, divisor):  # type: ignore[no-untyped-def]
    """Smallest and largest known value of the numeric columns in `rows`, and their divisor.

    The divisor is 0 where a column is constant (or, without scaling, where it has no known
    value): known values then do not count. Nominal columns get 0, 0 and 1.
    """
    d = values.shape[1]
    known = np.zeros(d)
    total = np.zeros(d)
    for j in range(d):
        low[j] = np.inf
        high[j] = -np.inf
    for r in range(rows.size):
        row = values[rows[r]]
        for j in range(d):
            x = row[j]
            if not np.isnan(x):
                low[j] = min(low[j], x)
                high[j] = max(high[j], x)
                if scale == STD:
                    known[j] += 1.0
                    total[j] += x
    if scale == STD:
        for j in range(d):
            total[j] = total[j] / known[j] if known[j] > 0.0 else 0.0
            divisor[j] = 0.0
        for r in range(rows.size):
            row = values[rows[r]]
            for j in range(d):
                x = row[j]
                if not np.isnan(x):
                    divisor[j] += (x - total[j]) * (x - total[j])
        for j in range(d):
            divisor[j] = np.sqrt(divisor[j] / known[j]) if low[j] < high[j] else 0.0
    for j in range(d):
        if cardinality[j] > 0:
            low[j], high[j], divisor[j] = 0.0, 0.0, 1.0
        elif low[j] > high[j]:
            low[j], high[j], divisor[j] = 0.0, 0.0, 0.0
        elif scale == RANGE:
            divisor[j] = high[j] - low[j]
        elif scale == NONE:
            divisor[j] = 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def pair_distance(a, b, cardinality, low, high, divisor):  # type: ignore[no-untyped-def]
    """The squared distance of the rows `a` and `b`."""
    total = 0.0
    for j in range(a.size):
        x, z, s = a[j], b[j], divisor[j]
        if cardinality[j] > 0:
            if not x == z:
                total += 1.0
        elif np.isnan(x) or np.isnan(z):
            if s == 0.0:
                total += 1.0
            elif np.isnan(x) and np.isnan(z):
                both = (high[j] - low[j]) / s
                total += both * both
            else:
                v = z if np.isnan(x) else x
                one = max(v - low[j], high[j] - v) / s
                total += one * one
        elif s != 0.0:
            difference = (z - x) / s
            total += difference * difference
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def add_column(total, column, x, nominal, low, high, s):  # type: ignore[no-untyped-def]
    """Add to `total` the terms of one column: value `x` against every value of `column`."""
    unknown = np.isnan(x)
    if nominal:
        for k in range(total.size):
            total[k] += 0.0 if column[k] == x else 1.0
    elif s == 0.0:
        for k in range(total.size):
            total[k] += 1.0 if unknown or np.isnan(column[k]) else 0.0
    elif unknown:
        both = (high - low) / s
        both *= both
        for k in range(total.size):
            one = max(column[k] - low, high - column[k]) / s
            total[k] += both if np.isnan(column[k]) else one * one
    else:
        one = max(x - low, high - x) / s
        one *= one
        if s == 1.0:
            for k in range(total.size):
                difference = column[k] - x
                total[k] += one if np.isnan(column[k]) else difference * difference
        else:
            for k in range(total.size):
                difference = (column[k] - x) / s
                total[k] += one if np.isnan(column[k]) else difference * difference


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_rows(columns, cardinality, low, high, divisor, queries, nearest):  # type: ignore[no-untyped-def]
    """For every query the position of its nearest row, the lowest of tied ones.

    `columns` holds the training rows transposed, shape (d, n).
    """
    d, n = columns.shape
    total = np.empty(_BLOCK)
    for q in range(queries.shape[0]):
        best = np.inf
        nearest[q] = 0
        for start in range(0, n, _BLOCK):
            size = min(_BLOCK, n - start)
            part = total[:size]
            part[:] = 0.0
            for j in range(d):
                add_column(
                    part,
                    columns[j, start : start + size],
                    queries[q, j],
                    cardinality[j] > 0,
                    low[j],
                    high[j],
                    divisor[j],
                )
            for k in range(size):
                if part[k] < best:
                    best = part[k]
                    nearest[q] = start + k
