"""A whole C4.5 tree: fit it, predict with it."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.c45.grow_kernel import grow
from bestofk.learners.c45.prune_kernel import collapse, prune_holdout, prune_pessimistic
from bestofk.learners.c45.test_kernel import TOLERANCE, branch_of
from bestofk.learners.sorted_columns_kernel import keep_rows

UNPRUNED, PESSIMISTIC, HOLDOUT = 0, 1, 2
"""Ways to prune."""


@njit(cache=True, nogil=True)
def compact(attribute, threshold, first_child, n_children, shares):
    """The nodes that the root reaches, breadth first."""
    n_nodes = len(attribute)
    queue = np.zeros(n_nodes, dtype=np.int64)
    n_queue = 1
    at = 0
    while at < n_queue:
        node = queue[at]
        if attribute[node] >= 0:
            for k in range(n_children[node]):
                queue[n_queue] = first_child[node] + k
                n_queue += 1
        at += 1
    kept = queue[:n_queue]
    new_first = np.zeros(n_queue, dtype=np.int64)
    new_children = np.zeros(n_queue, dtype=np.int64)
    new_attribute = attribute[kept]
    next_free = 1
    for at in range(n_queue):
        if new_attribute[at] >= 0:
            new_first[at] = next_free
            new_children[at] = n_children[kept[at]]
            next_free += new_children[at]
    return new_attribute, threshold[kept], new_first, new_children, shares[kept]


@njit(cache=True, nogil=True)
def fit_tree(
    columns, cardinality, y, n_labels, order, n_known, held_columns, held_y,
    min_leaf, by_gain, pruning, raising, confidence, z, terms,
):  # fmt: skip
    """The tree of the training rows (see `grow`), pruned; `held_columns` only with HOLDOUT."""
    attribute, threshold, first_child, n_children, shares, start, length, rows, weights, used = (
        grow(columns, cardinality, y, n_labels, order, n_known, min_leaf, by_gain, terms)
    )
    tree = (attribute, threshold, first_child, n_children, shares)
    data = (columns, cardinality, y, n_labels)
    collapse(attribute, first_child, n_children, shares)
    if pruning == PESSIMISTIC:
        entries = (start, length, rows, weights, used)
        prune_pessimistic(tree, data, entries, raising, confidence, z)
    elif pruning == HOLDOUT:
        prune_holdout(tree, data, held_columns, held_y)
    return compact(attribute, threshold, first_child, n_children, shares)


@njit(cache=True, nogil=True)
def last_known(attribute, threshold, first_child, shares, cardinality, cells):
    """The node to which known values lead a row, and whether it ends there."""
    node = 0
    while attribute[node] >= 0:
        a = attribute[node]
        b = branch_of(cells[a], cardinality[a], threshold[node])
        if b < 0:
            return node, False
        child = first_child[node] + b
        weight = 0.0
        for c in range(shares.shape[1]):
            weight += shares[child, c]
        if weight < TOLERANCE:
            break
        node = child
    return node, True


@njit(cache=True, nogil=True)
def tree_shares(attribute, threshold, first_child, n_children, shares, cardinality, cells, out):
    """Class shares of one row: those of its leaf, or of its leaves by their weight.

    A known value whose branch is empty takes the shares of the node; an unknown value goes down
    every branch that is not empty.
    """
    n_labels = shares.shape[1]
    out[:] = 0.0
    top, stays = last_known(attribute, threshold, first_child, shares, cardinality, cells)
    if stays:
        total = shares[top].sum()
        for c in range(n_labels):
            out[c] = shares[top, c] / total
        return
    waiting = np.zeros(len(attribute) + 1, dtype=np.int64)
    carried = np.zeros(len(attribute) + 1)
    waiting[0] = top
    carried[0] = 1.0
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        node, part = waiting[n_waiting], carried[n_waiting]
        total = shares[node].sum()
        a = attribute[node]
        if a >= 0:
            b = branch_of(cells[a], cardinality[a], threshold[node])
            if b < 0:
                # Last branch first onto the stack, so that sums follow the branches' order.
                for back in range(n_children[node]):
                    child = first_child[node] + n_children[node] - 1 - back
                    weight = shares[child].sum()
                    if weight >= TOLERANCE:
                        waiting[n_waiting] = child
                        carried[n_waiting] = part * weight / total
                        n_waiting += 1
                continue
            child = first_child[node] + b
            if shares[child].sum() >= TOLERANCE:
                waiting[n_waiting] = child
                carried[n_waiting] = part
                n_waiting += 1
                continue
        for c in range(n_labels):
            out[c] += part * shares[node, c] / total


@njit(cache=True, nogil=True)
def tree_proba(attribute, threshold, first_child, n_children, shares, cardinality, values):
    """Class shares of each row of `values` (rows, columns)."""
    out = np.zeros((len(values), shares.shape[1]))
    for row in range(len(values)):
        tree_shares(
            attribute, threshold, first_child, n_children, shares,
            cardinality, values[row], out[row],
        )  # fmt: skip
    return out


@njit(cache=True, nogil=True)
def first_largest(shares):
    """The first class whose share no other exceeds by more than the tolerance."""
    best = 0
    for c in range(1, len(shares)):
        if shares[c] > shares[best] + TOLERANCE:
            best = c
    return best


@njit(cache=True, nogil=True)
def tree_predict(attribute, threshold, first_child, n_children, shares, cardinality, values):
    """The predicted class of each row of `values` (rows, columns)."""
    codes = np.empty(len(values), dtype=np.int64)
    out = np.zeros(shares.shape[1])
    for row in range(len(values)):
        tree_shares(
            attribute, threshold, first_child, n_children, shares, cardinality, values[row], out
        )
        codes[row] = first_largest(out)
    return codes


@njit(cache=True, nogil=True)
def take_columns(columns, rows):
    """The given rows of a table stored by column."""
    taken = np.empty((columns.shape[0], len(rows)))
    for a in range(columns.shape[0]):
        for at in range(len(rows)):
            taken[a, at] = columns[a, rows[at]]
    return taken


@njit(cache=True, nogil=True)
def predict_splits(
    columns, cardinality, y, n_labels, order, n_known, marks, wanted, held_at, held_masks,
    min_leaf, by_gain, pruning, raising, confidence, z, terms,
):  # fmt: skip
    """Predictions of a tree for each split, equal to fitting and predicting split by split.

    Parameters
    ----------
    columns, cardinality, y, n_labels
        The whole data set, by column.
    order, n_known
        From `sort_columns`.
    marks : (m, n) int64
        Split s tests the rows where ``marks[wanted[s, 0]] == wanted[s, 1]`` and trains on the
        others.
    wanted : (splits, 2) int64
    held_at : (n + 1,) int64
        Which line of `held_masks` says what rows a training set of this size holds out.

    Returns
    -------
    (m, n) int64
        The predicted code of each row where a split tests it.
    """
    n = columns.shape[1]
    predicted = np.zeros(marks.shape, dtype=np.int64)
    position = np.empty(n, dtype=np.int64)
    train = np.empty(n, dtype=np.int64)
    held = np.empty(n, dtype=np.int64)
    values = np.ascontiguousarray(columns.T)
    out = np.empty(n_labels)
    for s in range(len(wanted)):
        line, fold = wanted[s, 0], wanted[s, 1]
        n_all = 0
        for row in range(n):
            if marks[line, row] != fold:
                n_all += 1
        mask = held_masks[held_at[n_all]]
        at = 0
        n_train = 0
        n_held = 0
        for row in range(n):
            position[row] = -1
            if marks[line, row] != fold:
                if pruning == HOLDOUT and mask[at]:
                    held[n_held] = row
                    n_held += 1
                else:
                    position[row] = n_train
                    train[n_train] = row
                    n_train += 1
                at += 1
        kept, n_kept_known = keep_rows(order, n_known, position, cardinality, n_train)
        attribute, threshold, first_child, n_children, shares = fit_tree(
            take_columns(columns, train[:n_train]), cardinality, y[train[:n_train]], n_labels,
            kept, n_kept_known, take_columns(columns, held[:n_held]), y[held[:n_held]],
            min_leaf, by_gain, pruning, raising, confidence, z, terms,
        )  # fmt: skip
        for row in range(n):
            if marks[line, row] == fold:
                tree_shares(
                    attribute, threshold, first_child, n_children, shares, cardinality,
                    values[row], out,
                )  # fmt: skip
                predicted[line, row] = first_largest(out)
    return predicted
