"""The best cut of a numeric column where every row is known and weighs 1.

Three ways to the same counts: rows listed by rising value for two classes, for more, and a table
of value by class for columns of few values. In lists the rows that hold the column's lowest value
are left out; they are what the node has beyond the list.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

from math import ceil, log2

import numpy as np
from numba import njit

from bestofk.learners.c45.test_kernel import CUT_GAP, TOLERANCE, gain_ratio, least_side, midpoint
from bestofk.learners.c45.word_kernel import lowest_bit

FEW = 32
"""Columns of up to this many values are counted in a table."""
ROUNDING = 1e-9
"""Share by which a gain is preferred too early for a closer look, so that none is missed."""


@njit(cache=True, nogil=True)
def cut_test(
    column, listed, lowest, y, node, left, right, n_classes, min_leaf, terms, steps
):  # fmt: skip
    """Gain, gain ratio and midpoint of the best cut, (-1, 0, 0) when none is admitted.

    Parameters
    ----------
    listed : (m,) uint32
        Rows of the node above the `lowest` value, by rising value.
    y : (rows,) uint32
    node : (labels,) float64
        Counts of the node by class.
    left, right : (labels,) uint64
        Scratch.
    steps : float64
        ``terms[k + 1] - terms[k]``.
    """
    n = np.int64(0)
    for c in range(len(node)):
        n += int(node[c])
    least = least_side(float(n), n_classes, min_leaf)
    if n < 2.0 * least - TOLERANCE or len(listed) == 0:
        return -1.0, 0.0, 0.0
    first = max(ceil(least - TOLERANCE), 1)
    if len(node) == 2:
        found = best_of_two(column, listed, lowest, y, node, n, first, terms)
    else:
        found = best_of_many(column, listed, lowest, y, node, n, first, left, right, terms, steps)
    return settle_cut(found, n, terms)


@njit(cache=True, nogil=True)
def settle_cut(found, n, terms):
    """What `cut_test` returns, from the best gain, its place, its neighbours, the number of cuts.

    The gain is lowered for the choice among the cuts.
    """
    best, at, below, above, cuts = found
    if at == 0:
        return -1.0, 0.0, 0.0
    gain = best - log2(cuts) / n
    if gain <= TOLERANCE:
        return -1.0, 0.0, 0.0
    spread = terms[at] + terms[n - at]
    return gain, gain_ratio(gain, spread, 0.0, float(n), terms), midpoint(below, above)


@njit(cache=True, nogil=True)
def best_of_two(column, listed, lowest, y, node, n_rows, first_cut, terms):
    """For two classes: the class counts of both sides follow from one of them."""
    n = np.uint64(n_rows)
    first = np.uint64(first_cut)
    second = np.uint64(node[1])
    m = np.uint64(len(listed))
    above_lowest = np.uint64(0)
    for i in range(m):
        above_lowest += np.uint64(y[listed[i]])
    left_second = second - above_lowest
    skipped = n - m
    entropy = terms[n] - (terms[n - second] + terms[second])
    cuts = 0
    best = 0.0
    best_at = np.int64(0)
    best_below = 0.0
    best_above = 0.0
    enough = TOLERANCE * n_rows * (1.0 - ROUNDING)
    before = lowest
    for i in range(m):
        row = listed[i]
        value = column[row]
        at = skipped + i
        if at > n - first:
            break
        if at >= first:
            right_second = second - left_second
            inside = (terms[at] - (terms[at - left_second] + terms[left_second])) + (
                terms[n - at] - (terms[n - at - right_second] + terms[right_second])
            )
            apart = before + CUT_GAP < value
            cuts += apart
            if entropy - inside > enough and apart:
                gain = (entropy - inside) / n_rows
                if gain > best + TOLERANCE:
                    best = gain
                    best_at = np.int64(at)
                    best_below = before
                    best_above = value
                    enough = (best + TOLERANCE) * n_rows * (1.0 - ROUNDING)
        left_second += np.uint64(y[row])
        before = value
    return best, best_at, best_below, best_above, cuts


@njit(cache=True, nogil=True)
def best_of_many(
    column, listed, lowest, y, node, n_rows, first_cut, left, right, terms, steps
):  # fmt: skip
    """For any number of classes: the sums of terms are kept up row by row."""
    one = np.uint64(1)
    n = np.uint64(n_rows)
    first = np.uint64(first_cut)
    m = np.uint64(len(listed))
    right[:] = np.uint64(0)
    for i in range(m):
        right[y[listed[i]]] += one
    node_terms = 0.0
    left_terms = 0.0
    right_terms = 0.0
    for c in range(len(node)):
        here = np.uint64(node[c])
        left[c] = here - right[c]
        node_terms += terms[here]
        left_terms += terms[left[c]]
        right_terms += terms[right[c]]
    skipped = n - m
    entropy = terms[n] - node_terms
    cuts = 0
    best = 0.0
    best_at = np.int64(0)
    best_below = 0.0
    best_above = 0.0
    enough = TOLERANCE * n_rows * (1.0 - ROUNDING)
    before = lowest
    for i in range(m):
        row = listed[i]
        value = column[row]
        at = skipped + i
        if at > n - first:
            break
        if at >= first:
            inside = (terms[at] - left_terms) + (terms[n - at] - right_terms)
            apart = before + CUT_GAP < value
            cuts += apart
            if entropy - inside > enough and apart:
                gain = (entropy - inside) / n_rows
                if gain > best + TOLERANCE:
                    best = gain
                    best_at = np.int64(at)
                    best_below = before
                    best_above = value
                    enough = (best + TOLERANCE) * n_rows * (1.0 - ROUNDING)
        c = y[row]
        left_terms += steps[left[c]]
        left[c] += one
        right[c] -= one
        right_terms -= steps[right[c]]
        before = value
    return best, best_at, best_below, best_above, cuts


@njit(cache=True, nogil=True)
def table_test(
    codes, shift, values, rows, node, table, left, right, n_classes, min_leaf, terms
):  # fmt: skip
    """As `cut_test`, for a column of at most FEW values.

    Parameters
    ----------
    codes : (all rows,) uint32
        The number of the row's value times ``2 ** shift`` plus its class.
    values : float64
        The values of the column, rising.
    rows : int64
        The rows of the node, in any order.
    table : uint64
        Scratch for ``FEW * 2 ** shift`` counts, zeros before and after.
    """
    one = np.uint64(1)
    n = len(rows)
    least = least_side(float(n), n_classes, min_leaf)
    if n < 2.0 * least - TOLERANCE:
        return -1.0, 0.0, 0.0
    first = max(ceil(least - TOLERANCE), 1)
    seen = np.uint64(0)
    for e in range(n):
        code = codes[np.uint64(rows[e])]
        table[code] += one
        seen |= one << np.uint64(code >> shift)
    node_terms = 0.0
    for c in range(len(node)):
        left[c] = np.uint64(0)
        right[c] = np.uint64(node[c])
        node_terms += terms[right[c]]
    entropy = terms[n] - node_terms
    cuts = 0
    best = 0.0
    best_at = np.int64(0)
    best_below = 0.0
    best_above = 0.0
    left_terms = 0.0
    right_terms = 0.0
    before = 0.0
    at = np.int64(0)
    while seen != 0:
        number = lowest_bit(seen)
        seen &= seen - one
        value = values[number]
        if first <= at <= n - first and before + CUT_GAP < value:
            cuts += 1
            inside = (terms[at] - left_terms) + (terms[n - at] - right_terms)
            gain = (entropy - inside) / n
            if gain > best + TOLERANCE:
                best = gain
                best_at = at
                best_below = before
                best_above = value
        left_terms = 0.0
        right_terms = 0.0
        place = number << np.int64(shift)
        for c in range(len(node)):
            here = table[place + c]
            table[place + c] = np.uint64(0)
            left[c] += here
            right[c] -= here
            left_terms += terms[left[c]]
            right_terms += terms[right[c]]
            at += np.int64(here)
        before = value
    return settle_cut((best, best_at, best_below, best_above, cuts), n, terms)
