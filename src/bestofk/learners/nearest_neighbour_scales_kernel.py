"""The scales of all the splits of a plan at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.nearest_neighbour_kernel import STD, column_divisors


@njit(cache=True, nogil=True)
def ranges_by_fold(columns, order, known, fold_of, folds, low, high):  # type: ignore[no-untyped-def]
    """Smallest and largest known training value of every column and fold.

    `order[j]` are the rows in the order of column j, of which `known[j]` have a value. The
    extreme of all rows serves every fold but its own, and this one takes the first from there
    that another fold tests.
    """
    runs = fold_of.shape[0]
    for r in range(runs):
        fold = fold_of[r]
        for j in range(columns.shape[0]):
            count = known[j]
            if count == 0:
                for f in range(folds):
                    low[r * folds + f, j], high[r * folds + f, j] = np.inf, -np.inf
                continue
            first, last = order[j, 0], order[j, count - 1]
            for f in range(folds):
                low[r * folds + f, j] = columns[j, first]
                high[r * folds + f, j] = columns[j, last]
            own = r * folds + fold[first]
            t = 1
            while t < count and fold[order[j, t]] == fold[first]:
                t += 1
            low[own, j] = columns[j, order[j, t]] if t < count else np.inf
            own = r * folds + fold[last]
            t = count - 2
            while t >= 0 and fold[order[j, t]] == fold[last]:
                t -= 1
            high[own, j] = columns[j, order[j, t]] if t >= 0 else -np.inf


@njit(cache=True, nogil=True)
def scales_by_fold(values, cardinality, fold_of, folds, scale, low, high, divisor):  # type: ignore[no-untyped-def]
    """`column_scales` of the rows outside each fold, where `ranges_by_fold` found the extremes."""
    runs, n = fold_of.shape
    rows = np.empty(n, dtype=np.int64)
    for r in range(runs):
        for f in range(folds):
            count = 0
            if scale == STD:
                for i in range(n):
                    rows[count] = i
                    count += fold_of[r, i] != f
            s = r * folds + f
            column_divisors(values, cardinality, rows[:count], scale, low[s], high[s], divisor[s])
