"""Collapsing and pruning a C4.5 tree, on the arrays of c45_grow_kernel."""
# mypy: allow-untyped-defs

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from bestofk.learners.c45.grow_kernel import deal_entries, longer, send_down
from bestofk.learners.c45.test_kernel import TOLERANCE, branch_of

COLLAPSE_SLACK = 1e-3
"""A subtree stays when it saves at least this many training errors."""
PRUNE_SLACK = 0.1
"""A simpler tree wins unless it is estimated to be worse by more than this many errors."""


@njit(cache=True, nogil=True)
def added_errors(n, errors, confidence, z):
    """What a pessimist adds to the errors seen among n rows.

    The upper bound of the binomial at the confidence for no error, interpolated up to one error,
    and the normal approximation with continuity correction from there; `z` is the normal quantile
    of 1 - confidence.
    """
    if errors < 1.0:
        base = n * (1.0 - confidence ** (1.0 / n))
        if errors == 0.0:
            return base
        return base + errors * (many_errors(n, 1.0, z) - base)
    return many_errors(n, errors, z)


@njit(cache=True, nogil=True)
def many_errors(n, errors, z):
    """The addition for one error or more."""
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    f = (errors + 0.5) / n
    bound = (f + z * z / (2.0 * n) + z * sqrt(f / n - f * f / n + z * z / (4.0 * n * n))) / (
        1.0 + z * z / n
    )
    return bound * n - errors


@njit(cache=True, nogil=True)
def weight_and_errors(counts):
    """Total weight, and the weight outside the largest class."""
    total = 0.0
    largest = 0.0
    for c in range(len(counts)):
        total += counts[c]
        largest = max(largest, counts[c])
    return total, total - largest


@njit(cache=True, nogil=True)
def leaf_estimate(counts, confidence, z):
    """Estimated errors of a leaf with these class weights."""
    total, errors = weight_and_errors(counts)
    if total < TOLERANCE:
        return 0.0
    return errors + added_errors(total, errors, confidence, z)


@njit(cache=True, nogil=True)
def collapse(attribute, first_child, n_children, shares):
    """Turn subtrees that save no training error into leaves, from the root down."""
    n_nodes = len(attribute)
    below = np.zeros(n_nodes)
    own = np.zeros(n_nodes)
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        own[node] = weight_and_errors(shares[node])[1]
        if attribute[node] < 0:
            below[node] = own[node]
        else:
            for k in range(n_children[node]):
                below[node] += below[first_child[node] + k]
    for node in range(n_nodes):
        if attribute[node] >= 0 and below[node] >= own[node] - COLLAPSE_SLACK:
            attribute[node] = -1


@njit(cache=True, nogil=True)
def branch_estimate(tree, data, top, rows, weights, confidence, z, enough):
    """Estimated errors of the subtree at `top` when it must take these entries.

    Infinite as soon as they are sure to be above `enough`.
    """
    attribute, threshold, first_child, n_children, _ = tree
    columns, cardinality, y, n_labels = data
    n = columns.shape[1]
    most = 2
    for a in range(len(cardinality)):
        most = max(most, cardinality[a])
    size = np.zeros(most, dtype=np.int64)
    share = np.zeros(most)
    starts = np.zeros(most, dtype=np.int64)
    branch = np.empty(n, dtype=np.int64)
    counts = np.zeros(n_labels)
    # Open nodes own stretches of one buffer; the last opened owns its end.
    held_row = rows.copy()
    held_weight = weights.copy()
    open_node = np.zeros(16 + most, dtype=np.int64)
    open_start = np.zeros(16 + most, dtype=np.int64)
    open_length = np.zeros(16 + most, dtype=np.int64)
    open_node[0] = top
    open_length[0] = len(rows)
    n_open = 1
    # Kept in the order of the nodes so that sums are those of the recursion.
    estimate = np.zeros(len(attribute))
    visited = np.zeros(len(attribute), dtype=np.int64)
    n_visited = 0
    so_far = 0.0
    while n_open > 0:
        n_open -= 1
        node = open_node[n_open]
        begin, size_here = open_start[n_open], open_length[n_open]
        here_row = held_row[begin : begin + size_here]
        here_weight = held_weight[begin : begin + size_here]
        visited[n_visited] = node
        n_visited += 1
        if attribute[node] < 0:
            counts[:] = 0.0
            for e in range(size_here):
                counts[y[here_row[e]]] += here_weight[e]
            estimate[node] = leaf_estimate(counts, confidence, z)
            so_far += estimate[node]
            if so_far > enough:
                return np.inf
            continue
        a, n_branches = attribute[node], n_children[node]
        send_down(
            columns[a], cardinality[a], threshold[node], n_branches,
            here_row, here_weight, branch, size, share,
        )  # fmt: skip
        here_row = here_row.copy()
        here_weight = here_weight.copy()
        at = begin
        if n_open + n_branches > len(open_node):
            open_node = longer(open_node, n_open + n_branches)
            open_start = longer(open_start, n_open + n_branches)
            open_length = longer(open_length, n_open + n_branches)
        for b in range(n_branches):
            starts[b] = at
            open_node[n_open] = first_child[node] + b
            open_start[n_open] = at
            open_length[n_open] = size[b]
            n_open += 1
            at += size[b]
        if at > len(held_row):
            held_row = longer(held_row, at)
            held_weight = longer(held_weight, at)
        deal_entries(
            here_row, here_weight, branch, n_branches, share, starts, held_row, held_weight
        )
    for back in range(n_visited):
        node = visited[n_visited - 1 - back]
        if attribute[node] >= 0:
            total = 0.0
            for k in range(n_children[node]):
                total += estimate[first_child[node] + k]
            estimate[node] = total
    return estimate[top]


@njit(cache=True, nogil=True)
def send_again(tree, data, entries, top):
    """Send the entries of `top` down its (new) subtree: new class weights, new entries."""
    attribute, threshold, first_child, n_children, shares = tree
    columns, cardinality, y, _ = data
    start, length, entry_row, entry_weight, n_entries = entries
    most = 2
    for a in range(len(cardinality)):
        most = max(most, cardinality[a])
    size = np.zeros(most, dtype=np.int64)
    share = np.zeros(most)
    starts = np.zeros(most, dtype=np.int64)
    branch = np.empty(columns.shape[1], dtype=np.int64)
    waiting = np.zeros(len(attribute) + 1, dtype=np.int64)
    waiting[0] = top
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        a = attribute[node]
        if a < 0:
            continue
        n_branches = n_children[node]
        rows = entry_row[start[node] : start[node] + length[node]]
        weights = entry_weight[start[node] : start[node] + length[node]]
        send_down(
            columns[a], cardinality[a], threshold[node], n_branches,
            rows, weights, branch, size, share,
        )  # fmt: skip
        at = n_entries
        for b in range(n_branches):
            child = first_child[node] + b
            start[child] = at
            length[child] = size[b]
            starts[b] = at
            at += size[b]
            waiting[n_waiting] = child
            n_waiting += 1
        if at > len(entry_row):
            entry_row = longer(entry_row, at)
            entry_weight = longer(entry_weight, at)
        n_entries = at
        deal_entries(rows, weights, branch, n_branches, share, starts, entry_row, entry_weight)
        for b in range(n_branches):
            child = first_child[node] + b
            shares[child] = 0.0
            for e in range(start[child], start[child] + length[child]):
                shares[child, y[entry_row[e]]] += entry_weight[e]
    return entry_row, entry_weight, n_entries


@njit(cache=True, nogil=True)
def prune_pessimistic(tree, data, entries, raising, confidence, z):
    """Prune from the leaves up by estimated errors; with `raising` a largest branch may rise."""
    attribute, threshold, first_child, n_children, shares = tree
    start, length, entry_row, entry_weight, n_entries = entries
    n_nodes = len(attribute)
    estimate = np.zeros(n_nodes)
    path = np.zeros(n_nodes + 1, dtype=np.int64)
    turn = np.zeros(n_nodes + 1, dtype=np.int64)
    depth = 0
    while depth >= 0:
        node = path[depth]
        if attribute[node] < 0:
            estimate[node] = leaf_estimate(shares[node], confidence, z)
            depth -= 1
            continue
        if turn[depth] < n_children[node]:
            path[depth + 1] = first_child[node] + turn[depth]
            turn[depth + 1] = 0
            turn[depth] += 1
            depth += 1
            continue
        as_leaf = leaf_estimate(shares[node], confidence, z)
        as_tree = 0.0
        largest = np.int64(-1)
        most = 0.0
        for k in range(n_children[node]):
            child = first_child[node] + k
            as_tree += estimate[child]
            weight = weight_and_errors(shares[child])[0]
            if weight > most - TOLERANCE:
                most = weight
                largest = child
        as_branch = np.inf
        if raising:
            if attribute[largest] < 0:
                as_branch = as_leaf
            else:
                # Above this the branch neither rises nor keeps the node from being a leaf.
                enough = as_tree + PRUNE_SLACK
                if as_leaf <= enough + TOLERANCE:
                    enough = as_leaf - PRUNE_SLACK
                enough += 2.0 * TOLERANCE
                as_branch = branch_estimate(
                    tree, data, largest,
                    entry_row[start[node] : start[node] + length[node]],
                    entry_weight[start[node] : start[node] + length[node]],
                    confidence, z, enough,
                )  # fmt: skip
        if (
            as_leaf <= as_tree + PRUNE_SLACK + TOLERANCE
            and as_leaf <= as_branch + PRUNE_SLACK + TOLERANCE
        ):
            attribute[node] = -1
            estimate[node] = as_leaf
            depth -= 1
        elif as_branch <= as_tree + PRUNE_SLACK + TOLERANCE:
            attribute[node] = attribute[largest]
            threshold[node] = threshold[largest]
            first_child[node] = first_child[largest]
            n_children[node] = n_children[largest]
            entry_row, entry_weight, n_entries = send_again(
                tree, data, (start, length, entry_row, entry_weight, n_entries), node
            )
            turn[depth] = 0
        else:
            estimate[node] = as_tree
            depth -= 1


@njit(cache=True, nogil=True)
def prune_holdout(tree, data, held_columns, held_y):
    """Prune from the leaves up: a node becomes a leaf unless its subtree errs less on held rows."""
    attribute, threshold, first_child, n_children, shares = tree
    _, cardinality, _, n_labels = data
    n_nodes = len(attribute)
    n_held = held_columns.shape[1]
    label = np.zeros(n_nodes, dtype=np.int64)
    parent = np.full(n_nodes, -1, dtype=np.int64)
    weight = np.zeros(n_nodes)
    for node in range(n_nodes):
        weight[node] = weight_and_errors(shares[node])[0]
        label[node] = np.argmax(shares[node])
        if weight[node] < TOLERANCE and parent[node] >= 0:
            label[node] = label[parent[node]]
        if attribute[node] >= 0:
            for k in range(n_children[node]):
                parent[first_child[node] + k] = node
    # Held weight by node and class; each row alone, so that memory does not grow.
    held = np.zeros((n_nodes, n_labels))
    waiting = np.zeros(n_nodes + 1, dtype=np.int64)
    carried = np.zeros(n_nodes + 1)
    for row in range(n_held):
        waiting[0] = 0
        carried[0] = 1.0
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            node, part = waiting[n_waiting], carried[n_waiting]
            held[node, held_y[row]] += part
            a = attribute[node]
            if a < 0:
                continue
            b = branch_of(held_columns[a, row], cardinality[a], threshold[node])
            for k in range(n_children[node]):
                child = first_child[node] + k
                if b == k:
                    waiting[n_waiting] = child
                    carried[n_waiting] = part
                    n_waiting += 1
                elif b < 0 and weight[child] > TOLERANCE:
                    waiting[n_waiting] = child
                    carried[n_waiting] = part * weight[child] / weight[node]
                    n_waiting += 1
    errors = np.zeros(n_nodes)
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        as_leaf = -held[node, label[node]]
        for c in range(n_labels):
            as_leaf += held[node, c]
        errors[node] = as_leaf
        if attribute[node] >= 0:
            as_tree = 0.0
            for k in range(n_children[node]):
                as_tree += errors[first_child[node] + k]
            if as_leaf <= as_tree + TOLERANCE:
                attribute[node] = -1
            else:
                errors[node] = as_tree
