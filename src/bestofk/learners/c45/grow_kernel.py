"""Growing a C4.5 tree: rows with weights, columns sorted once, one stack of open nodes.

A tree is a tuple of arrays, one cell a node (children of a node have consecutive numbers above
its own):

- ``attribute``: the column tested, -1 for a leaf;
- ``threshold``: of a numeric test (``<=`` goes to the first child);
- ``first_child``, ``n_children``;
- ``shares`` (nodes, classes): the training weight by class.

The entries of a node are its rows with their weights (a row with an unknown value goes down every
branch); they stay in one buffer, because pruning sends them down again.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.c45.cut_kernel import FEW, cut_test, table_test
from bestofk.learners.c45.test_kernel import (
    TOLERANCE,
    best_test,
    branch_of,
    nominal_test,
    numeric_test,
    settle_threshold,
    takes_part,
)


@njit(cache=True, nogil=True)
def _copy(array, grown):
    # Written out, here and below: slices of arrays take seconds to compile.
    for row in range(array.shape[0]):
        for column in range(array.shape[1]):
            grown[row, column] = array[row, column]


@njit(cache=True, nogil=True)
def longer(array, size):
    """The array with room for at least `size` cells."""
    grown = np.empty(max(size, 2 * len(array)), dtype=array.dtype)
    for at in range(len(array)):
        grown[at] = array[at]
    return grown


@njit(cache=True, nogil=True)
def taller(array, size):
    """The array with at least `size` rows."""
    grown = np.empty((max(size, 2 * len(array)), array.shape[1]), dtype=array.dtype)
    _copy(array, grown)
    return grown


@njit(cache=True, nogil=True)
def wider(array, size):
    """The array with at least `size` columns."""
    grown = np.empty((array.shape[0], max(size, 2 * array.shape[1])), dtype=array.dtype)
    _copy(array, grown)
    return grown


@njit(cache=True, nogil=True)
def is_settled(counts, min_leaf):
    """Whether the node stays a leaf: too little weight, or one class holds all of it."""
    total = 0.0
    largest = 0.0
    for c in range(len(counts)):
        total += counts[c]
        largest = max(largest, counts[c])
    return 2.0 * min_leaf - total > TOLERANCE or total - largest < TOLERANCE


@njit(cache=True, nogil=True)
def send_down(column, cardinality, threshold, n_branches, rows, weights, branch, size, share):
    """The branch of each entry, how many entries each branch takes, and the known shares.

    Fills `branch`, `size` and `share`. A branch without known weight takes no unknown rows; where
    no row is known the shares are equal.
    """
    known = 0.0
    n_unknown = 0
    for b in range(n_branches):
        size[b] = 0
        share[b] = 0.0
    for e in range(len(rows)):
        b = branch_of(column[rows[e]], cardinality, threshold)
        branch[e] = b
        if b < 0:
            n_unknown += 1
        else:
            size[b] += 1
            share[b] += weights[e]
            known += weights[e]
    for b in range(n_branches):
        share[b] = share[b] / known if known > 0.0 else 1.0 / n_branches
        if share[b] > TOLERANCE:
            size[b] += n_unknown


@njit(cache=True, nogil=True)
def deal_entries(rows, weights, branch, n_branches, share, starts, out_rows, out_weights):
    """Write the entries of each branch from `starts[b]` on; `starts` ends behind them."""
    for e in range(len(rows)):
        b = branch[e]
        if b >= 0:
            out_rows[starts[b]] = rows[e]
            out_weights[starts[b]] = weights[e]
            starts[b] += 1
        else:
            for k in range(n_branches):
                if share[k] > TOLERANCE:
                    out_rows[starts[k]] = rows[e]
                    out_weights[starts[k]] = weights[e] * share[k]
                    starts[k] += 1


@njit(cache=True, nogil=True)
def deal_lists(rows, row_branch, n_branches, share, into, out):
    """Write the rows of each branch from `into[b]` on, in their order."""
    for e in range(len(rows)):
        row = rows[e]
        b = row_branch[row]
        if b >= 0:
            out[into[b]] = row
            into[b] += 1
        else:
            for k in range(n_branches):
                if share[k] > TOLERANCE:
                    out[into[k]] = row
                    into[k] += 1


@njit(cache=True, nogil=True)
def deal_in_two(rows, row_branch, out, first, second):
    """As `deal_lists` for two branches without unknown rows."""
    for e in range(len(rows)):
        row = rows[e]
        b = np.int64(row_branch[row])
        out[second if b > 0 else first] = row
        second += b
        first += 1 - b
    return first, second


@njit(cache=True, nogil=True)
def count_values(sorted_values, order, labels, shift, codes, values):
    """Whether the column has few values; fills its codes and values as `table_test` takes them."""
    n = len(sorted_values)
    number = np.uint32(0)
    for at in range(n):
        if at > 0 and sorted_values[at] > sorted_values[at - 1]:
            number += np.uint32(1)
            if number == FEW:
                return False
        values[number] = sorted_values[at]
        codes[order[at]] = (number << shift) | labels[order[at]]
    return True


@njit(cache=True, nogil=True)
def grow(columns, cardinality, y, n_labels, order, n_known, min_leaf, by_gain, terms):
    """The tree before collapsing and pruning, and its entries.

    Parameters
    ----------
    columns : (d, n) float64
        The training rows, one line a column; NaN is unknown.
    cardinality : (d,) int64
    y : (n,) int64
    n_labels : int
        Size of the class axis; classes that no row holds do not count.
    order : (d, n) int64
        Known rows of each numeric column by rising value; `n_known` (d,) says how many.
    min_leaf : float
    by_gain : bool
        Choose by gain instead of gain ratio.
    terms : (n + 1,) float64
        k log2 k.
    """
    d, n = columns.shape
    most = 2
    for a in range(d):
        most = max(most, cardinality[a])
    counted = takes_part(cardinality, n)

    capacity = 64
    attribute = np.full(capacity, -1, dtype=np.int64)
    threshold = np.zeros(capacity)
    first_child = np.zeros(capacity, dtype=np.int64)
    n_children = np.zeros(capacity, dtype=np.int64)
    start = np.zeros(capacity, dtype=np.int64)
    length = np.zeros(capacity, dtype=np.int64)
    shares = np.zeros((capacity, n_labels))
    entry_row = np.empty(max(1, 4 * n), dtype=np.int64)
    entry_weight = np.empty(max(1, 4 * n))

    for i in range(n):
        entry_row[i] = i
        entry_weight[i] = 1.0
        shares[0, y[i]] += 1.0
    length[0] = n
    n_nodes = 1
    n_entries = n
    n_classes = np.int64(0)
    for c in range(n_labels):
        if shares[0, c] > 0.0:
            n_classes += 1

    sorted_values = np.empty((d, n))
    complete = True
    for a in range(d):
        if cardinality[a] == 0:
            complete &= n_known[a] == n
            for at in range(n_known[a]):
                sorted_values[a, at] = columns[a, order[a, at]]
        else:
            complete &= not np.isnan(columns[a]).any()

    # Open nodes, and for each numeric column the node's known rows by rising value.
    open_node = np.zeros(64, dtype=np.int64)
    open_at = np.zeros(64, dtype=np.int64)
    open_known = np.zeros((64, d), dtype=np.int64)
    # A child's lists lie in the place of its parent's, on the other of two sides.
    open_side = np.zeros(64, dtype=np.int64)
    n_open = 1
    first_side = order.astype(np.uint32)
    second_side = np.empty_like(first_side)
    open_known[0] = n_known
    # Where all is known: no list for columns of few values, nor for the lowest value of others.
    labels = y.astype(np.uint32)
    shift = np.uint32(0)
    while 1 << shift < n_labels:
        shift += np.uint32(1)
    few = np.zeros(d, dtype=np.bool_)
    few_values = np.zeros((d, FEW))
    codes = np.empty((d if complete else 0, n), dtype=np.uint32)
    table = np.zeros(FEW << shift, dtype=np.uint64)
    steps = terms[1:] - terms[:-1]
    if complete:
        for a in range(d):
            if cardinality[a] == 0:
                few[a] = count_values(
                    sorted_values[a], order[a], labels, shift, codes[a], few_values[a]
                )
                skipped = n
                if not few[a]:
                    skipped = np.searchsorted(sorted_values[a], sorted_values[a, 0], side="right")
                open_known[0, a] = n - skipped
                for at in range(n - skipped):
                    first_side[a, at] = order[a, skipped + at]

    weight = np.ones(n)
    row_branch = np.zeros(n, dtype=np.int32)
    branch = np.empty(n, dtype=np.int64)
    counts = np.zeros((most, n_labels))
    known_counts = np.zeros(n_labels)
    left = np.zeros(n_labels)
    right = np.zeros(n_labels)
    gains = np.zeros(d)
    ratios = np.zeros(d)
    cuts = np.zeros(d)
    size = np.zeros(most, dtype=np.int64)
    share = np.zeros(most)
    starts = np.zeros(most, dtype=np.int64)
    into = np.zeros(most, dtype=np.int64)
    known_here = np.zeros(d, dtype=np.int64)
    left_count = np.zeros(n_labels, dtype=np.uint64)
    right_count = np.zeros(n_labels, dtype=np.uint64)

    while n_open > 0:
        n_open -= 1
        node = open_node[n_open]
        at = open_at[n_open]
        side = open_side[n_open]
        lists = first_side if side == 0 else second_side
        for a in range(d):
            known_here[a] = open_known[n_open, a]
        if is_settled(shares[node], min_leaf):
            continue
        rows = entry_row[start[node] : start[node] + length[node]]
        weights = entry_weight[start[node] : start[node] + length[node]]
        total = 0.0
        for c in range(n_labels):
            total += shares[node, c]
        if not complete:
            for e in range(len(rows)):
                weight[rows[e]] = weights[e]

        for a in range(d):
            column = columns[a]
            if cardinality[a] == 0:
                known_rows = lists[a, at : at + known_here[a]]
                if few[a]:
                    gains[a], ratios[a], cuts[a] = table_test(
                        codes[a], shift, few_values[a], rows, shares[node], table, left_count,
                        right_count, n_classes, min_leaf, terms,
                    )  # fmt: skip
                    continue
                if complete:
                    gains[a], ratios[a], cuts[a] = cut_test(
                        column, known_rows, sorted_values[a, 0], labels, shares[node], left_count,
                        right_count, n_classes, min_leaf, terms, steps,
                    )  # fmt: skip
                    continue
                gains[a], ratios[a], cuts[a] = numeric_test(
                    column, known_rows, y, weight, left, right, total, n_classes, min_leaf, terms
                )
                continue
            counts[: cardinality[a]] = 0.0
            for e in range(len(rows)):
                value = column[rows[e]]
                if value >= 0.0:
                    counts[int(value), y[rows[e]]] += weights[e]
            known_counts[:] = 0.0
            for v in range(cardinality[a]):
                for c in range(n_labels):
                    known_counts[c] += counts[v, c]
            gains[a], ratios[a] = nominal_test(
                counts, cardinality[a], known_counts, total, min_leaf, terms
            )
        chosen = best_test(gains, ratios, counted, by_gain)
        if chosen < 0:
            continue

        numeric = cardinality[chosen] == 0
        n_branches = 2 if numeric else cardinality[chosen]
        if numeric:
            threshold[node] = settle_threshold(
                sorted_values[chosen, : n_known[chosen]], cuts[chosen]
            )
        send_down(
            columns[chosen], cardinality[chosen], threshold[node], n_branches,
            rows, weights, branch, size, share,
        )  # fmt: skip

        needed = 0
        for b in range(n_branches):
            needed += size[b]
        if n_nodes + n_branches > len(attribute):
            capacity = n_nodes + n_branches
            attribute = longer(attribute, capacity)
            threshold = longer(threshold, capacity)
            first_child = longer(first_child, capacity)
            n_children = longer(n_children, capacity)
            start = longer(start, capacity)
            length = longer(length, capacity)
            shares = taller(shares, capacity)
        if n_entries + needed > len(entry_row):
            entry_row = longer(entry_row, n_entries + needed)
            entry_weight = longer(entry_weight, n_entries + needed)
        if at + needed > first_side.shape[1]:
            first_side = wider(first_side, at + needed)
            second_side = wider(second_side, at + needed)
            lists = first_side if side == 0 else second_side
        if n_open + n_branches > len(open_node):
            open_node = longer(open_node, n_open + n_branches)
            open_at = longer(open_at, n_open + n_branches)
            open_side = longer(open_side, n_open + n_branches)
            open_known = taller(open_known, n_open + n_branches)

        attribute[node] = chosen
        first_child[node] = n_nodes
        n_children[node] = n_branches
        opened = n_open
        begin = n_entries
        for b in range(n_branches):
            child = n_nodes + b
            attribute[child] = -1
            threshold[child] = 0.0
            first_child[child] = 0
            n_children[child] = 0
            shares[child] = 0.0
            start[child] = begin
            length[child] = size[b]
            starts[b] = begin
            begin += size[b]
        deal_entries(rows, weights, branch, n_branches, share, starts, entry_row, entry_weight)
        for b in range(n_branches):
            child = n_nodes + b
            for e in range(start[child], start[child] + length[child]):
                shares[child, y[entry_row[e]]] += entry_weight[e]
            if length[child] > 0 and not is_settled(shares[child], min_leaf):
                open_node[n_open] = child
                open_at[n_open] = at + start[child] - start[n_nodes]
                open_side[n_open] = 1 - side
                n_open += 1

        # Each child's rows by rising value.
        if n_open > opened:
            spare = second_side if side == 0 else first_side
            for e in range(len(rows)):
                row_branch[rows[e]] = branch[e]
            for a in range(d):
                if cardinality[a] != 0:
                    continue
                for b in range(n_branches):
                    into[b] = at + start[n_nodes + b] - start[n_nodes]
                here = lists[a, at : at + known_here[a]]
                if complete and n_branches == 2:
                    into[0], into[1] = deal_in_two(here, row_branch, spare[a], into[0], into[1])
                else:
                    deal_lists(here, row_branch, n_branches, share, into, spare[a])
                for o in range(opened, n_open):
                    b = open_node[o] - n_nodes
                    open_known[o, a] = into[b] - open_at[o]
        n_nodes += n_branches
        n_entries += needed

    return (
        attribute[:n_nodes],
        threshold[:n_nodes],
        first_child[:n_nodes],
        n_children[:n_nodes],
        shares[:n_nodes],
        start[:n_nodes],
        length[:n_nodes],
        entry_row,
        entry_weight,
        n_entries,
    )
