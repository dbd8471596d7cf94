"""Whole plans where the distance does not depend on the training rows.

Each row's neighbours are put in order once; then the first neighbour in the training part wins.
64 splits are walked at a time: about half of those still open close with each step in two-fold
cross-validation, so that a word takes about eight steps.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.nearest_neighbour.bits_kernel import serves, write_code
from bestofk.learners.nearest_neighbour.distance_kernel import add_column
from bestofk.learners.nearest_neighbour.order_kernel import first_rows

_BLOCK = 1024


@njit(cache=True, nogil=True)
def _add_four(total, first, second, third, fourth, a, b, c, d):  # type: ignore[no-untyped-def]
    """Add the terms of four numeric columns without unknown values, in their order."""
    for k in range(total.size):
        u, v, w, x = first[k] - a, second[k] - b, third[k] - c, fourth[k] - d
        total[k] = (((total[k] + u * u) + v * v) + w * w) + x * x


@njit(cache=True, nogil=True)
def scan_numeric(columns, cardinality, y, planes, by_fold, wanted, m, predicted):  # type: ignore[no-untyped-def]
    """Fill `predicted` (see the module on bits) for the rows in `columns`, shape (d, n).

    Numeric columns are not scaled and have no unknown values.
    """
    d, n = columns.shape
    keys = np.empty(n)
    buffers = _buffers(n)
    for i in range(n):
        for start in range(0, n, _BLOCK):
            stop = min(start + _BLOCK, n)
            part = keys[start:stop]
            part[:] = 0.0
            j = 0
            while j < d:
                if j + 4 <= d and cardinality[j : j + 4].max() == 0:
                    _add_four(
                        part,
                        columns[j, start:stop],
                        columns[j + 1, start:stop],
                        columns[j + 2, start:stop],
                        columns[j + 3, start:stop],
                        columns[j, i],
                        columns[j + 1, i],
                        columns[j + 2, i],
                        columns[j + 3, i],
                    )
                    j += 4
                else:
                    add_column(
                        part,
                        columns[j, start:stop],
                        columns[j, i],
                        cardinality[j] > 0,
                        0.0,
                        0.0,
                        1.0,
                    )
                    j += 1
        _first_training_neighbours(i, keys, buffers, y, planes, by_fold, wanted, m, predicted)


@njit(cache=True, nogil=True)
def scan_nominal(codes, missing, y, planes, by_fold, wanted, m, predicted):  # type: ignore[no-untyped-def]
    """The same for nominal columns only: `codes` of small integers, `missing` the unknown."""
    d, n = codes.shape
    keys = np.empty(n, dtype=np.uint8)
    buffers = _buffers(n)
    for i in range(n):
        keys[:] = 0
        for j in range(d):
            column, x = codes[j], codes[j, i]
            if x == missing:
                for k in range(n):
                    keys[k] += np.uint8(1)
            else:
                for k in range(n):
                    keys[k] += np.uint8(column[k] != x)
        _first_training_neighbours(i, keys, buffers, y, planes, by_fold, wanted, m, predicted)


@njit(cache=True, nogil=True)
def _buffers(n):  # type: ignore[no-untyped-def]
    size = 2 * n + 64
    return (
        np.empty(size),
        np.empty(size, dtype=np.int64),
        np.empty(size),
        np.empty(size, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def _first_training_neighbours(  # type: ignore[no-untyped-def]
    i, keys, buffers, y, planes, by_fold, wanted, m, predicted
):
    """Walk down the first m neighbours of row `i`, and further where that does not do."""
    n = keys.size
    found_keys, rows, spare_keys, spare_rows = buffers
    walked = 0
    open_words = wanted.shape[1]
    while open_words > 0 and walked < n:
        count = first_rows(keys, m, found_keys, rows, spare_keys, spare_rows)
        open_words = 0
        for w in range(wanted.shape[1]):
            left = wanted[i, w]
            for t in range(walked):
                if left == 0:
                    break
                left &= ~serves(planes, by_fold, i, rows[t], w)
            t = walked
            while left != 0 and t < count:
                hit = left & serves(planes, by_fold, i, rows[t], w)
                if hit != 0:
                    write_code(predicted, w, i, hit, y[rows[t]])
                    left ^= hit
                t += 1
            if left != 0:
                open_words += 1
        walked = count
        m *= 4
