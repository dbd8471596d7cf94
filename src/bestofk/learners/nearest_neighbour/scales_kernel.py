"""The scales of all the splits of a plan at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.nearest_neighbour.distance_kernel import STD, deviations, finish_scales

_RUNS, _ROWS = 16, 128


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
def _add_values(values, rows, count, total, at):  # type: ignore[no-untyped-def]
    """Add the first `count` rows to the sums `at`, in their order."""
    r = 0
    while r + 4 <= count:
        p, q, s, t = rows[r], rows[r + 1], rows[r + 2], rows[r + 3]
        for j in range(values.shape[1]):
            total[at, j] = (total[at, j] + values[p, j]) + values[q, j]
            total[at, j] = (total[at, j] + values[s, j]) + values[t, j]
        r += 4
    while r < count:
        for j in range(values.shape[1]):
            total[at, j] += values[rows[r], j]
        r += 1


@njit(cache=True, nogil=True)
def _add_squares(values, rows, count, mean, total, at):  # type: ignore[no-untyped-def]
    """The same for squared deviations from the means `at`."""
    r = 0
    while r + 4 <= count:
        p, q, s, t = rows[r], rows[r + 1], rows[r + 2], rows[r + 3]
        for j in range(values.shape[1]):
            centre = mean[at, j]
            a, b = values[p, j] - centre, values[q, j] - centre
            c, e = values[s, j] - centre, values[t, j] - centre
            total[at, j] = (((total[at, j] + a * a) + b * b) + c * c) + e * e
        r += 4
    while r < count:
        for j in range(values.shape[1]):
            deviation = values[rows[r], j] - mean[at, j]
            total[at, j] += deviation * deviation
        r += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _deviations_by_fold(values, fold_of, folds, divisor):  # type: ignore[no-untyped-def]
    """`deviations` of the rows outside each fold, where no value is unknown.

    Some rows at a time serve several runs, while they are near; each sum still runs in the order
    of the rows.
    """
    runs, (n, d) = fold_of.shape[0], values.shape
    rows = np.empty(_ROWS, dtype=np.int64)
    count = np.empty(_RUNS * folds)
    mean, total = np.empty((_RUNS * folds, d)), np.empty((_RUNS * folds, d))
    for start in range(0, runs, _RUNS):
        splits = folds * min(_RUNS, runs - start)
        count[:], mean[:], total[:] = 0.0, 0.0, 0.0
        for turn in range(2):
            for first in range(0, n, _ROWS):
                for s in range(splits):
                    found, run, fold = 0, start + s // folds, s % folds
                    for i in range(first, min(first + _ROWS, n)):
                        rows[found] = i
                        found += fold_of[run, i] != fold
                    if turn == 0:
                        count[s] += found
                        _add_values(values, rows, found, mean, s)
                    else:
                        _add_squares(values, rows, found, mean, total, s)
            for s in range(splits):
                for j in range(d):
                    if turn == 0:
                        mean[s, j] /= max(count[s], 1.0)
                    else:
                        variance = total[s, j] / max(count[s], 1.0)
                        divisor[start * folds + s, j] = np.sqrt(variance)


@njit(cache=True, nogil=True)
def scales_by_fold(values, cardinality, fold_of, folds, scale, low, high, divisor):  # type: ignore[no-untyped-def]
    """`column_scales` of the rows outside each fold, where `ranges_by_fold` found the extremes."""
    splits = fold_of.shape[0] * folds
    if scale == STD and not np.isnan(values).any():
        _deviations_by_fold(values, fold_of, folds, divisor)
    elif scale == STD:
        for s in range(splits):
            train = np.flatnonzero(fold_of[s // folds] != s % folds)
            deviations(values, train, divisor[s])
    for s in range(splits):
        finish_scales(cardinality, scale, low[s], high[s], divisor[s])
