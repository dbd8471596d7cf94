"""What every learner of the paper does first: fill in what is unknown, and scale.

Loops are in the order of the rows, as sums in floating point depend on it.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def split_rows(mark, fold, train, test):
    """Rows that train and test, ascending; return how many train."""
    a, b = 0, 0
    for i in range(mark.size):
        if mark[i] == (fold == 1):
            test[b] = i
            b += 1
        else:
            train[a] = i
            a += 1
    return a


@njit(cache=True, nogil=True)
def fill(values, cardinality, whole, train, filled, fills):
    """Copy `values`, unknowns filled in from the training rows; `fills` takes what was put there.

    Nominal: the most frequent value, the first of ties. Numeric: the sum of the known divided by
    the number of all training rows (a slip of the original), cut to a whole number in columns of
    whole numbers.
    """
    n, d = values.shape
    counts = np.zeros(max(1, cardinality.max()), dtype=np.int64)
    for j in range(d):
        if cardinality[j] == 0:
            total = 0.0
            for r in range(train.size):
                value = values[train[r], j]
                if not np.isnan(value):
                    total += value
            fills[j] = total / train.size
            if whole[j]:
                fills[j] = np.trunc(fills[j])
        else:
            counts[:] = 0
            for r in range(train.size):
                value = values[train[r], j]
                if not np.isnan(value):
                    counts[np.int64(value)] += 1
            fills[j] = np.argmax(counts[: cardinality[j]])
        for i in range(n):
            value = values[i, j]
            filled[i, j] = fills[j] if np.isnan(value) else value


@njit(cache=True, nogil=True, error_model="numpy")
def scales(filled, cardinality, train, mean, deviation):
    """Mean and standard deviation (n - 1) of the numeric columns; 1 where a column is constant."""
    d = filled.shape[1]
    n = train.size
    for j in range(d):
        mean[j], deviation[j] = 0.0, 1.0
        if cardinality[j] > 0:
            continue
        total = 0.0
        for r in range(n):
            total += filled[train[r], j]
        m = total / n
        squares = 0.0
        constant = True
        first = filled[train[0], j]
        for r in range(n):
            value = filled[train[r], j]
            constant &= value == first
            squares += (value - m) * (value - m)
        mean[j] = m
        if not constant and n > 1:
            deviation[j] = np.sqrt(squares / (n - 1))
