"""Going through the splits of a plan: rows grouped by the mark that tests them."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def group_by_mark(marks, order, ends):
    """Rows by mark, ascending within each; `ends[m]` is where mark m ends."""
    ends[:] = 0
    for row in range(len(marks)):
        ends[marks[row] + 1] += 1
    for mark in range(1, len(ends)):
        ends[mark] += ends[mark - 1]
    for row in range(len(marks)):
        order[ends[marks[row]]] = row
        ends[marks[row]] += 1


@njit(cache=True, nogil=True)
def cut_by_mark(predicted, marks, wanted, n_marks):
    """The cells of `predicted` split by split, tested rows ascending, and where each split ends."""
    n_lines, n = marks.shape
    order = np.empty(n, dtype=np.int64)
    ends = np.empty(n_marks + 1, dtype=np.int64)
    stops = np.empty(len(wanted), dtype=np.int64)
    flat = np.empty(n_lines * n, dtype=np.int64)
    at = 0
    grouped = -1
    for s in range(len(wanted)):
        line, mark = wanted[s, 0], wanted[s, 1]
        if line != grouped:
            group_by_mark(marks[line], order, ends)
            grouped = line
        for e in range(ends[mark - 1] if mark > 0 else 0, ends[mark]):
            flat[at] = predicted[line, order[e]]
            at += 1
        stops[s] = at
    return flat[:at], stops
