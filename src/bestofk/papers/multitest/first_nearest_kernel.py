"""The paper's nearest neighbour (NN) where values are unknown or columns mixed: pair by pair."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.papers.multitest.filling_kernel import fill, scales, split_rows


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def first_nearest_errors(values, cardinality, whole, unknown, y, marks, errors):
    """Count the errors of every half: `errors` (splits, 2) takes them.

    z-scores, squared distance, 1 for another value; the first row of ties.
    """
    n, d = values.shape
    train, test = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    filled = values.copy()
    fills, mean, deviation = np.empty(d), np.empty(d), np.empty(d)
    columns = np.empty((d, n))
    distance = np.empty(n)
    for s in range(marks.shape[0]):
        for fold in range(2):
            m = split_rows(marks[s], fold, train, test)
            rows = train[:m]
            if unknown:
                fill(values, cardinality, whole, rows, filled, fills)
            scales(filled, cardinality, rows, mean, deviation)
            for j in range(d):
                for r in range(m):
                    columns[j, r] = (filled[rows[r], j] - mean[j]) / deviation[j]
            wrong = 0
            for t in range(n - m):
                i = test[t]
                distance[:m] = 0.0
                for j in range(d):
                    x = (filled[i, j] - mean[j]) / deviation[j]
                    if cardinality[j] == 0:
                        for r in range(m):
                            difference = columns[j, r] - x
                            distance[r] += difference * difference
                    else:
                        for r in range(m):
                            distance[r] += 0.0 if columns[j, r] == x else 1.0
                wrong += y[rows[np.argmin(distance[:m])]] != y[i]
            errors[s, fold] = wrong


@njit(cache=True, nogil=True)
def modes_agree(values, cardinality, whole, marks, wanted):
    """Whether what is filled in is the same, `wanted`, in every half."""
    n, d = values.shape
    train, test = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    filled, fills = values.copy(), np.empty(d)
    for s in range(marks.shape[0]):
        for fold in range(2):
            m = split_rows(marks[s], fold, train, test)
            fill(values, cardinality, whole, train[:m], filled, fills)
            for j in range(d):
                if fills[j] != wanted[j] and np.isnan(values[:, j]).any():
                    return False
    return True
