"""C4.5 over whole plans on complete nominal data: rows as bit sets, counts as popcounts."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.c45.binary_kernel import (
    bits_of_rows,
    entropy_table,
    estimate_table,
    grow_binary,
)
from bestofk.learners.c45.bits_grow_kernel import collapse_bits, grow_bits, set_bits
from bestofk.learners.c45.bits_prune_kernel import prune_bits
from bestofk.learners.c45.test_kernel import takes_part
from bestofk.learners.c45.word_kernel import WORD
from bestofk.learners.split_marks_kernel import group_by_mark


@njit(cache=True, nogil=True)
def predict_bits(row_codes, attribute, first_child, counts):
    """The class of one row: that of its leaf, of the node above if the leaf has no rows."""
    node = 0
    while attribute[node] >= 0:
        child = first_child[node] + row_codes[attribute[node]]
        empty = True
        for c in range(counts.shape[1]):
            if counts[child, c] > 0:
                empty = False
        if empty:
            break
        node = child
    best = 0
    for c in range(1, counts.shape[1]):
        if counts[node, c] > counts[node, best]:
            best = c
    return best


@njit(cache=True, nogil=True)
def predict_splits_bits(
    codes, cardinality, offset, y, n_labels, marks, wanted, n_marks, min_leaf, by_gain, prune,
    raising, confidence, z, terms,
):  # fmt: skip
    """Predictions (as `marks`) of a tree for each split; see `c45_kernel.predict_splits`."""
    n, d = codes.shape
    n_words = (n + WORD - 1) // WORD
    most = cardinality.max()
    room = (n // min_leaf + 1) * most + 2
    masks, class_masks = set_bits(codes, offset, y, n_labels, n_words)
    table = estimate_table(n, confidence, z)
    attribute = np.empty(room, dtype=np.int64)
    first_child = np.empty(room, dtype=np.int64)
    counts = np.empty((room, n_labels), dtype=np.int64)
    node_masks = np.empty((room, n_words), dtype=np.uint64)
    alive = np.empty((room, d + 1), dtype=np.int64)
    open_node = np.empty(room, dtype=np.int64)
    places = np.empty((offset[d], n_labels), dtype=np.int64)
    gains = np.empty(d)
    below = np.empty(room, dtype=np.int64)
    path = np.empty(room, dtype=np.int64)
    turn = np.empty(room, dtype=np.int64)
    estimates = np.empty(room)
    other_estimates = np.empty(room)
    counts_here = np.empty(n_labels, dtype=np.int64)
    stack_masks = np.empty((d * most + 2, n_words), dtype=np.uint64)
    stack_node = np.empty(room, dtype=np.int64)
    stack_rows = np.empty(room, dtype=np.int64)
    stack_second = np.empty(room, dtype=np.int64)
    visited = np.empty(room, dtype=np.int64)
    train = np.empty(n_words, dtype=np.uint64)
    predicted = np.zeros(marks.shape, dtype=np.int64)
    binary = n_labels == 2 and most == 2 and cardinality.min() == 2 and d < WORD
    n_packed = 16 * (d // 16 + 1) if binary else 1
    row_bits = bits_of_rows(codes, y) if binary else np.zeros(1, dtype=np.uint64)
    values = masks[1::2].copy()
    entropies = entropy_table(min(n, WORD), terms)
    scratch = (
        open_node, np.empty(room, dtype=np.uint64), np.empty(room, dtype=np.bool_), alive, gains,
        np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64),
        np.empty(n_packed, dtype=np.uint64), np.arange(n_packed).astype(np.uint64),
    )  # fmt: skip
    order = np.empty(n, dtype=np.int64)
    ends = np.empty(n_marks + 1, dtype=np.int64)
    grouped = -1
    for s in range(len(wanted)):
        line, mark = wanted[s, 0], wanted[s, 1]
        if line != grouped:
            group_by_mark(marks[line], order, ends)
            grouped = line
        test = order[(ends[mark - 1] if mark > 0 else 0) : ends[mark]]
        for w in range(n_words):
            train[w] = ~np.uint64(0)
        if n % WORD > 0:
            train[n_words - 1] = (np.uint64(1) << np.uint64(n % WORD)) - np.uint64(1)
        for at in range(len(test)):
            train[test[at] // WORD] ^= np.uint64(1) << np.uint64(test[at] % WORD)
        counted = takes_part(cardinality, n - len(test))
        if binary:
            n_nodes = grow_binary(
                train, values, class_masks[1], row_bits, min_leaf, by_gain, counted, terms,
                entropies, attribute, first_child, counts, node_masks, scratch,
            )  # fmt: skip
        else:
            n_nodes = grow_bits(
                train, masks, class_masks, cardinality, offset, min_leaf, by_gain, counted, terms,
                attribute, first_child, counts, node_masks, alive, open_node, places, gains,
            )  # fmt: skip
        collapse_bits(n_nodes, attribute, first_child, cardinality, counts, below)
        if prune:
            prune_bits(
                masks, class_masks, attribute, first_child, cardinality, offset, counts,
                node_masks, raising, confidence, z, table, path, turn, estimates, counts_here,
                stack_masks, stack_node, visited, other_estimates, binary, values, stack_rows,
                stack_second,
            )  # fmt: skip
        for at in range(len(test)):
            row = test[at]
            predicted[line, row] = predict_bits(codes[row], attribute, first_child, counts)
    return predicted
