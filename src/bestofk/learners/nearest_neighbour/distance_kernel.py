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
    for j in range(d):
        low[j] = np.inf
        high[j] = -np.inf
    for r in range(rows.size):
        i = rows[r]
        for j in range(d):
            low[j] = values[i, j] if values[i, j] < low[j] else low[j]
        for j in range(d):
            high[j] = values[i, j] if values[i, j] > high[j] else high[j]
    if scale == STD:
        deviations(values, rows, divisor)
    finish_scales(cardinality, scale, low, high, divisor)


@njit(cache=True, nogil=True, error_model="numpy")
def finish_scales(cardinality, scale, low, high, divisor):  # type: ignore[no-untyped-def]
    """What `column_scales` does once extremes and deviations are known.

    Extremes in the wrong order say that there is no value.
    """
    for j in range(cardinality.size):
        if cardinality[j] > 0:
            low[j], high[j], divisor[j] = 0.0, 0.0, 1.0
        elif low[j] > high[j]:
            low[j], high[j], divisor[j] = 0.0, 0.0, 0.0
        elif scale == RANGE:
            divisor[j] = high[j] - low[j]
        elif scale == NONE:
            divisor[j] = 1.0
        elif low[j] == high[j]:
            divisor[j] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def deviations(values, rows, divisor):  # type: ignore[no-untyped-def]
    """Standard deviations of the known values; sums run in the order of the rows."""
    d = values.shape[1]
    mean = np.zeros(d)
    known = np.full(d, float(rows.size))
    for r in range(rows.size):
        i = rows[r]
        for j in range(d):
            mean[j] += values[i, j]
    unknown = np.isnan(mean).any()
    if unknown:
        known[:] = 0.0
        mean[:] = 0.0
        for r in range(rows.size):
            i = rows[r]
            for j in range(d):
                if not np.isnan(values[i, j]):
                    known[j] += 1.0
                    mean[j] += values[i, j]
    for j in range(d):
        mean[j] = mean[j] / max(known[j], 1.0)
        divisor[j] = 0.0
    for r in range(rows.size):
        i = rows[r]
        for j in range(d):
            deviation = values[i, j] - mean[j]
            divisor[j] += 0.0 if np.isnan(deviation) else deviation * deviation
    for j in range(d):
        divisor[j] = np.sqrt(divisor[j] / max(known[j], 1.0))


@njit(cache=True, nogil=True, error_model="numpy")
def pair_distance(values, i, k, cardinality, low, high, divisor, s):  # type: ignore[no-untyped-def]
    """The squared distance of the rows `i` and `k` of `values` under the scales of split `s`."""
    total = 0.0
    for j in range(cardinality.size):
        x, z, scale = values[i, j], values[k, j], divisor[s, j]
        if cardinality[j] > 0:
            if x != z:
                total += 1.0
        elif np.isnan(x) or np.isnan(z):
            if scale == 0.0:
                total += 1.0
            elif np.isnan(x) and np.isnan(z):
                both = (high[s, j] - low[s, j]) / scale
                total += both * both
            else:
                v = z if np.isnan(x) else x
                one = max(v - low[s, j], high[s, j] - v) / scale
                total += one * one
        elif scale != 0.0:
            difference = (z - x) / scale
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
