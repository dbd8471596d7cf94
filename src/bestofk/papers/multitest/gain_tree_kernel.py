"""The paper's C4.5: grown by information gain until pure, pruned top down on a fifth of the rows.

Columns are sorted once for the whole data set. In a half the sorted lists of the growing rows are
read off them, and are kept sorted from node to node by stable partition. An entry of a list holds
the rank of the value and the number of the row in one word; rows with the lowest value of a
column are not listed, since what is on the other side of a cut follows from the counts (many
columns of spambase and optdigits are mostly zero).
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.papers.multitest.filling_kernel import fill, split_rows
from bestofk.papers.multitest.pruning_kernel import LEAF, child, prune

PRUNING_SHARE = 0.2
MOST_ROWS = 1 << 15
"""Ranks (two for each row) and rows must fit into 16 bits each."""
_NEAR = 1e-9
"""Gains closer than this (in units of rows) are ties: the first wins."""
_NOTHING = -1e300
_ROW = np.uint32(0xFFFF)
_RANK = np.uint32(16)


@njit(cache=True, nogil=True)
def sorted_columns(values, cardinality, order, known, ranks):
    """Rows of each numeric column by value, and even ranks; `known` takes how many have a value."""
    for j in range(values.shape[1]):
        known[j] = 0
        if cardinality[j] == 0:
            order[j] = np.argsort(values[:, j], kind="mergesort")
            for i in range(values.shape[0]):
                known[j] += not np.isnan(values[i, j])
            rank = 0
            for r in range(known[j]):
                i = order[j, r]
                if r > 0 and values[i, j] != values[order[j, r - 1], j]:
                    rank += 2
                ranks[j, i] = rank


@njit(cache=True, nogil=True)
def _enter(lists, j, count, rank, row, lowest):
    """List a row, unless its value is the lowest of the column."""
    lists[j, count] = (np.uint32(rank) << _RANK) | np.uint32(row)
    return count + (rank > lowest)


@njit(cache=True, nogil=True)
def _list_column(values, order, known, ranks, j, local, filled_in, lists):
    """The growing rows by value in column `j`; return how many are listed.

    `local` holds the number of each growing row among them, -1 for other rows. What is filled in
    takes the odd rank between its neighbours, or the rank of the value it equals.
    """
    n = values.shape[0]
    count = 0
    first = True
    lowest = 0
    waiting = known[j] < n
    for r in range(known[j] + 1):
        if waiting and (r == known[j] or values[order[j, r], j] >= filled_in):
            waiting = False
            rank = 0
            if r == known[j]:
                rank = ranks[j, order[j, r - 1]] + 1 if r > 0 else 0
            else:
                i = order[j, r]
                equal = values[i, j] == filled_in
                rank = ranks[j, i] + 1 if equal else ranks[j, i]
                # ranks of known values are shifted by one, so that there is room below
            for u in range(known[j], n):
                row = local[order[j, u]]
                if row >= 0:
                    if first:
                        lowest = rank
                        first = False
                    count = _enter(lists, j, count, rank, row, lowest)
            if r == known[j]:
                break
        if r == known[j]:
            break
        i = order[j, r]
        row = local[i]
        if row >= 0:
            rank = ranks[j, i] + 1
            if first:
                lowest = rank
                first = False
            count = _enter(lists, j, count, rank, row, lowest)
    return count


@njit(cache=True, nogil=True)
def _best_cut(lists, j, start, stop, size, y, counts, left, right, log, step):
    """The best cut of a column: its gain in log units, and the first entry above it.

    With f(k) = k log k the conditional entropy of two branches is a sum of f over the counts;
    `step[k]` = f(k + 1) - f(k), so that moving one row costs two additions. The walk goes from
    the largest value down; of equal gains the lower cut, which is the first, wins.
    """
    best, at = _NOTHING, -1
    if start == stop:
        return best, at
    inside = 0.0
    for c in range(counts.size):
        left[c] = counts[c]
        right[c] = 0
        inside += log[counts[c]]
    unlisted = size > stop - start
    here = lists[j, stop - 1] >> _RANK
    for r in range(stop - 1, start - 1, -1):
        c = y[lists[j, r] & _ROW]
        left[c] -= 1
        inside += step[right[c]] - step[left[c]]
        right[c] += 1
        if r > start:
            following = lists[j, r - 1] >> _RANK
            if following == here:
                continue
            here = following
        elif not unlisted:
            break
        moved = stop - r
        gain = inside - log[moved] - log[size - moved]
        if gain >= best - _NEAR:
            best, at = gain, r
    return best, at


@njit(cache=True, nogil=True)
def _nominal_gain(codes, j, rows, start, stop, y, n_values, table, log):
    """The gain of one branch a value in the same units, or nothing where all rows are in one."""
    for v in range(n_values):
        for c in range(table.shape[1]):
            table[v, c] = 0
    for r in range(start, stop):
        table[codes[j, rows[r]], y[rows[r]]] += 1
    gain = 0.0
    branches = 0
    for v in range(n_values):
        size = 0
        for c in range(table.shape[1]):
            size += table[v, c]
            gain += log[table[v, c]]
        gain -= log[size]
        branches += size > 0
    return gain if branches > 1 else _NOTHING


@njit(cache=True, nogil=True)
def _halve(list_, start, stop, side, spare):
    """Entries of side 0 first, then those of side 1, each in their order; return the border."""
    a, b = np.int64(start), np.int64(0)
    for r in range(start, stop):
        entry = list_[r]
        # both written, one counted: no branch to guess
        list_[a] = entry
        spare[b] = entry
        second = np.int64(side[entry & _ROW])
        a += 1 - second
        b += second
    for r in range(b):
        list_[a + r] = spare[r]
    return a


@njit(cache=True, nogil=True)
def _deal(list_, start, stop, side, first, spare):
    """Entries by branch, each branch in its order; `first` takes where each begins, and the end."""
    branches = first.size - 1
    first[:] = 0
    for r in range(start, stop):
        first[side[list_[r] & _ROW] + 1] += 1
    first[0] = start
    for v in range(branches):
        first[v + 1] += first[v]
    for r in range(start, stop):
        entry = list_[r]
        v = side[entry & _ROW]
        spare[first[v]] = entry
        first[v] += 1
    for v in range(branches, 0, -1):
        first[v] = first[v - 1]
    first[0] = start
    for r in range(start, stop):
        list_[r] = spare[r]


@njit(cache=True, nogil=True)
def grow(filled, grown, codes, cardinality, y, lists, listed, rows, log, step, work, nodes, cut):
    """Grow a tree on the rows `grown`; return its number of nodes.

    `nodes` (nodes, 3) takes the column (or LEAF), the first child and the class.
    """
    left, right, counts, table, side, spare, stack, borders, first = work
    d = codes.shape[0]
    n_classes = counts.size
    m = grown.size
    n_nodes = 1
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, m
    for j in range(d):
        borders[0, j, 0], borders[0, j, 1] = 0, listed[j]
    height = 1
    own = np.empty((d, 2), dtype=np.int64)
    while height > 0:
        height -= 1
        node, start, stop = stack[height, 0], stack[height, 1], stack[height, 2]
        nodes[node, 0] = LEAF
        for c in range(n_classes):
            counts[c] = 0
        for r in range(start, stop):
            counts[y[rows[r]]] += 1
        size = stop - start
        majority = 0
        for c in range(1, n_classes):
            if counts[c] > counts[majority]:
                majority = c
        # an empty branch predicts the first class
        nodes[node, 2] = majority
        if size == 0 or counts[majority] == size:
            continue
        best, chosen, at = _NOTHING, -1, -1
        for j in range(d):
            if cardinality[j] == 0:
                own[j, 0], own[j, 1] = borders[height, j, 0], borders[height, j, 1]
                gain, place = _best_cut(
                    lists, j, own[j, 0], own[j, 1], size, y, counts, left, right, log, step
                )
            else:
                gain = _nominal_gain(codes, j, rows, start, stop, y, cardinality[j], table, log)
                place = -1
            if gain > best + _NEAR:
                best, chosen, at = gain, j, place
        if chosen < 0:
            continue
        nodes[node, 0] = chosen
        nodes[node, 1] = n_nodes
        branches = 2
        if cardinality[chosen] == 0:
            cut[node] = _threshold(filled, grown, lists, chosen, at, own, rows, start, stop)
            for r in range(start, stop):
                side[rows[r]] = filled[grown[rows[r]], chosen] > cut[node]
        else:
            branches = cardinality[chosen]
            for r in range(start, stop):
                side[rows[r]] = codes[chosen, rows[r]]
        if branches == 2:
            first[0], first[1] = start, _halve(rows, start, stop, side, spare)
            first[2] = stop
        else:
            _deal(rows, start, stop, side, first[: branches + 1], spare)
        for v in range(branches):
            stack[height + v, 0] = n_nodes + v
            stack[height + v, 1], stack[height + v, 2] = first[v], first[v + 1]
        for j in range(d):
            if cardinality[j] > 0:
                continue
            if branches == 2:
                border = _halve(lists[j], own[j, 0], own[j, 1], side, spare)
                borders[height, j, 0], borders[height, j, 1] = own[j, 0], border
                borders[height + 1, j, 0], borders[height + 1, j, 1] = border, own[j, 1]
            else:
                _deal(lists[j], own[j, 0], own[j, 1], side, first[: branches + 1], spare)
                for v in range(branches):
                    borders[height + v, j, 0] = first[v]
                    borders[height + v, j, 1] = first[v + 1]
        n_nodes += branches
        height += branches
    return n_nodes


@njit(cache=True, nogil=True)
def _threshold(filled, grown, lists, j, at, own, rows, start, stop):
    """Midway between the values on both sides of a cut; never the upper one by rounding."""
    high = filled[grown[lists[j, at] & _ROW], j]
    if at > own[j, 0]:
        low = filled[grown[lists[j, at - 1] & _ROW], j]
    else:
        low = np.inf
        for r in range(start, stop):
            low = min(low, filled[grown[rows[r]], j])
    middle = (low + high) / 2.0
    return low if middle >= high else middle


@njit(cache=True, nogil=True)
def tree_errors(values, cardinality, whole, unknown, y, n_classes, seeds, marks, errors):
    """Count the errors of every half: `errors` (splits, 2) takes them."""
    n, d = values.shape
    train, test = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    filled, fills = values.copy(), np.zeros(d)
    order, known = np.empty((d, n), dtype=np.int64), np.empty(d, dtype=np.int64)
    ranks = np.zeros((d, n), dtype=np.int64)
    sorted_columns(values, cardinality, order, known, ranks)
    log, step = np.zeros(n + 1), np.zeros(n + 1)
    for k in range(1, n + 1):
        log[k] = k * np.log(k)
        step[k - 1] = log[k] - log[k - 1]
    most = max(2, cardinality.max())
    limit = 2 * n * most + 1
    nodes = np.empty((limit, 3), dtype=np.int64)
    cut = np.empty(limit)
    high = n + most
    work = (
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.empty((most, n_classes), dtype=np.int64),
        np.zeros(n, dtype=np.uint8),
        np.empty(n, dtype=np.uint32),
        np.empty((high * 2, 3), dtype=np.int64),
        np.empty((high * 2, d, 2), dtype=np.int32),
        np.empty(most + 1, dtype=np.int64),
    )
    as_leaf, as_tree = np.empty(limit, dtype=np.int64), np.empty(limit, dtype=np.int64)
    path = np.empty(limit, dtype=np.int64)
    local = np.empty(n, dtype=np.int64)
    grown = np.empty(n, dtype=np.int64)
    codes = np.zeros((d, n), dtype=np.uint8)
    lists = np.empty((d, n + 1), dtype=np.uint32)
    listed = np.zeros(d, dtype=np.int64)
    rows = np.empty(n, dtype=np.uint32)
    classes = np.empty(n, dtype=np.uint8)
    for s in range(marks.shape[0]):
        for fold in range(2):
            m = split_rows(marks[s], fold, train, test)
            if unknown:
                fill(values, cardinality, whole, train[:m], filled, fills)
            np.random.seed(seeds[s, fold])  # noqa: NPY002
            shuffled = np.random.permutation(m)  # noqa: NPY002
            pruning = train[shuffled[: np.int64(PRUNING_SHARE * m)]]
            local[:] = -1
            for r in range(m):
                local[train[r]] = 0
            for r in range(pruning.size):
                local[pruning[r]] = -1
            size = 0
            for r in range(m):
                i = train[r]
                if local[i] == 0:
                    local[i] = size
                    grown[size] = i
                    classes[size] = y[i]
                    rows[size] = size
                    size += 1
            for j in range(d):
                if cardinality[j] == 0:
                    listed[j] = _list_column(values, order, known, ranks, j, local, fills[j], lists)
                else:
                    for r in range(size):
                        codes[j, r] = np.uint8(filled[grown[r], j])
            n_nodes = grow(
                filled, grown[:size], codes, cardinality, classes, lists, listed, rows, log,
                step, work, nodes, cut,
            )  # fmt: skip
            prune(filled, cardinality, y, pruning, nodes, cut, n_nodes, path, as_leaf, as_tree)
            wrong = 0
            for r in range(n - m):
                i = test[r]
                node = 0
                while nodes[node, 0] != LEAF:
                    node = child(filled, cardinality, nodes, cut, node, i)
                wrong += nodes[node, 2] != y[i]
            errors[s, fold] = wrong
