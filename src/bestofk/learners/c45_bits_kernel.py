"""C4.5 over whole plans on complete nominal data: rows as bit sets, counts as popcounts.

Every choice is computed from the same integer counts, by the same sums in the same order and from
the same table of terms as in the row lists of c45_grow_kernel: the trees are the same.

A column's value is a *place* (``offset[a] + code``); ``masks[place]`` has the bits of the rows
that hold it, ``class_masks[c]`` those of a class.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.c45_binary_kernel import (
    WORD,
    bits_of_rows,
    branch_estimate_binary,
    entropy_table,
    estimate_of,
    estimate_table,
    grow_binary,
    popcount,
)
from bestofk.learners.c45_prune_kernel import PRUNE_SLACK
from bestofk.learners.c45_test_kernel import AVERAGE_SLACK, TOLERANCE, takes_part
from bestofk.learners.split_marks_kernel import group_by_mark


@njit(cache=True)
def set_bits(codes, offset, y, n_labels, n_words):
    """Bit sets of the places and of the classes."""
    n, d = codes.shape
    masks = np.zeros((offset[d], n_words), dtype=np.uint64)
    class_masks = np.zeros((n_labels, n_words), dtype=np.uint64)
    for row in range(n):
        word = row // WORD
        bit = np.uint64(1) << np.uint64(row % WORD)
        class_masks[y[row], word] |= bit
        for a in range(d):
            masks[offset[a] + codes[row, a], word] |= bit
    return masks, class_masks


@njit(cache=True)
def size_and_errors(counts):
    """Rows, and rows outside the largest class."""
    total = counts[0]
    largest = counts[0]
    for c in range(1, len(counts)):
        total += counts[c]
        largest = max(largest, counts[c])
    return total, total - largest


@njit(cache=True)
def count_classes(mask, class_masks, counts):
    """Fill the rows of each class in the bit set."""
    for c in range(len(counts)):
        found = 0
        for w in range(len(mask)):
            found += popcount(mask[w] & class_masks[c, w])
        counts[c] = found


@njit(cache=True)
def nominal_gain(
    place, n_values, mask, class_masks, masks, node, total, places, min_leaf, entropy, terms
):
    """Gain of any nominal column, -1 when not admitted; fills the counts of its places."""
    n_labels = len(node)
    last = place + n_values - 1
    for c in range(n_labels):
        places[last, c] = node[c]
    for p in range(place, last):
        for c in range(n_labels):
            found = 0
            for w in range(len(mask)):
                found += popcount(mask[w] & masks[p, w] & class_masks[c, w])
            places[p, c] = found
            places[last, c] -= found
    large = 0
    inside = 0.0
    for p in range(place, last + 1):
        rows = 0
        inner = 0.0
        for c in range(n_labels):
            rows += places[p, c]
            inner += terms[places[p, c]]
        if rows >= min_leaf:
            large += 1
        inside += terms[rows] - inner
    if large < 2:
        return -1.0
    return (entropy - inside) / total


@njit(cache=True)
def ratio_of(gain, place, n_values, places, total, terms):
    """Gain over split information."""
    spread = 0.0
    for p in range(place, place + n_values):
        rows = 0
        for c in range(places.shape[1]):
            rows += places[p, c]
        spread += terms[rows]
    information = (terms[total] - spread) / total
    if information < TOLERANCE:
        return 0.0
    return gain / information


@njit(cache=True)
def grow_bits(
    mask, masks, class_masks, cardinality, offset, min_leaf, by_gain, counted, terms,
    attribute, first_child, counts, node_masks, alive, open_node, places, gains,
):  # fmt: skip
    """Grow the tree of the rows in `mask` into the node arrays; returns the number of nodes.

    A column that cannot be tested in a node cannot be tested below it: its branches only shrink.
    `alive` (nodes, d) lists the columns that are left, in order, `alive[node, d]` their number.
    """
    n_words = len(mask)
    n_labels = len(class_masks)
    d = len(cardinality)
    node_masks[0] = mask
    count_classes(mask, class_masks, counts[0])
    for a in range(d):
        alive[0, a] = a
    alive[0, d] = d
    attribute[0] = -1
    n_nodes = 1
    open_node[0] = 0
    n_open = 1 if is_open(counts[0], min_leaf) else 0
    while n_open > 0:
        n_open -= 1
        node = open_node[n_open]
        here = node_masks[node]
        node_counts = counts[node]
        total = 0
        inner = 0.0
        for c in range(n_labels):
            total += node_counts[c]
            inner += terms[node_counts[c]]
        entropy = terms[total] - inner

        # The average gain of the admitted tests.
        n_left = 0
        n_counted = 0
        gain_sum = 0.0
        for at in range(alive[node, d]):
            a = alive[node, at]
            gain = nominal_gain(
                offset[a], cardinality[a], here, class_masks, masks, node_counts, total, places,
                min_leaf, entropy, terms,
            )  # fmt: skip
            if gain == -1.0:
                continue
            if gain < TOLERANCE / total:
                gain = 0.0
            alive[node, n_left] = a
            gains[n_left] = gain
            n_left += 1
            if counted[a]:
                gain_sum += gain
                n_counted += 1
        if n_counted == 0:
            continue

        bar = gain_sum / n_counted - AVERAGE_SLACK
        best = 0.0
        chosen = -1
        for at in range(n_left):
            gain = gains[at]
            if by_gain:
                value = gain
            elif gain >= bar and gain > 0.0:
                a = alive[node, at]
                value = ratio_of(gain, offset[a], cardinality[a], places, total, terms)
            else:
                continue
            if value > best + TOLERANCE:
                best = value
                chosen = alive[node, at]
        if chosen < 0:
            continue

        attribute[node] = chosen
        first_child[node] = n_nodes
        for v in range(cardinality[chosen]):
            child = n_nodes
            n_nodes += 1
            place = offset[chosen] + v
            attribute[child] = -1
            for c in range(n_labels):
                counts[child, c] = places[place, c]
            for w in range(n_words):
                node_masks[child, w] = here[w] & masks[place, w]
            if is_open(counts[child], min_leaf):
                left = 0
                for at in range(n_left):
                    if alive[node, at] != chosen:
                        alive[child, left] = alive[node, at]
                        left += 1
                alive[child, d] = left
                if left > 0:
                    open_node[n_open] = child
                    n_open += 1
    return n_nodes


@njit(cache=True)
def is_open(counts, min_leaf):
    """Whether a node may be split: enough rows, and not all of one class."""
    total, errors = size_and_errors(counts)
    return total >= 2 * min_leaf and errors > 0


@njit(cache=True)
def collapse_bits(n_nodes, attribute, first_child, cardinality, counts, below):
    """Turn subtrees that save no training error into leaves.

    A collapsed subtree has as many errors as its leaves had, so that going up gives what going
    down gives.
    """
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        own = size_and_errors(counts[node])[1]
        below[node] = own
        if attribute[node] >= 0:
            errors = 0
            for child in range(first_child[node], first_child[node] + cardinality[attribute[node]]):
                errors += below[child]
            if errors >= own:
                attribute[node] = -1
            else:
                below[node] = errors


@njit(cache=True)
def branch_estimate_bits(
    top, mask, masks, class_masks, attribute, first_child, cardinality, offset, counts_here,
    stack_masks, stack_node, visited, estimates, table, confidence, z, enough,
):  # fmt: skip
    """Estimated errors of the subtree at `top` when it must take the rows in `mask`.

    Infinite as soon as they are sure to be above `enough`.
    """
    n_words = len(mask)
    stack_node[0] = top
    stack_masks[0] = mask
    n_stack = 1
    n_visited = 0
    so_far = 0.0
    while n_stack > 0:
        n_stack -= 1
        node = stack_node[n_stack]
        visited[n_visited] = node
        n_visited += 1
        a = attribute[node]
        if a < 0:
            count_classes(stack_masks[n_stack], class_masks, counts_here)
            rows, errors = size_and_errors(counts_here)
            estimates[node] = estimate_of(rows, errors, table, confidence, z)
            so_far += estimates[node]
            if so_far > enough:
                return np.inf
            continue
        # The last branch takes the place of the node, so it is written last.
        v_last = cardinality[a] - 1
        for v in range(1, v_last + 1):
            for w in range(n_words):
                stack_masks[n_stack + v, w] = stack_masks[n_stack, w] & masks[offset[a] + v, w]
            stack_node[n_stack + v] = first_child[node] + v
        for w in range(n_words):
            stack_masks[n_stack, w] &= masks[offset[a], w]
        stack_node[n_stack] = first_child[node]
        n_stack += v_last + 1
    for back in range(n_visited):
        node = visited[n_visited - 1 - back]
        if attribute[node] >= 0:
            total = 0.0
            for child in range(first_child[node], first_child[node] + cardinality[attribute[node]]):
                total += estimates[child]
            estimates[node] = total
    return estimates[top]


@njit(cache=True)
def send_again_bits(
    top, masks, class_masks, attribute, first_child, cardinality, offset, counts, node_masks,
    stack_node,
):  # fmt: skip
    """Send the rows of `top` down its new subtree."""
    stack_node[0] = top
    n_stack = 1
    while n_stack > 0:
        n_stack -= 1
        node = stack_node[n_stack]
        a = attribute[node]
        if a < 0:
            continue
        for v in range(cardinality[a]):
            child = first_child[node] + v
            for w in range(node_masks.shape[1]):
                node_masks[child, w] = node_masks[node, w] & masks[offset[a] + v, w]
            count_classes(node_masks[child], class_masks, counts[child])
            stack_node[n_stack] = child
            n_stack += 1


@njit(cache=True)
def prune_bits(
    masks, class_masks, attribute, first_child, cardinality, offset, counts, node_masks,
    raising, confidence, z, table, path, turn, estimates, counts_here, stack_masks, stack_node,
    visited, other_estimates, binary, values, stack_rows, stack_second,
):  # fmt: skip
    """Prune from the leaves up by estimated errors, as `prune_pessimistic` does."""
    depth = 0
    path[0] = 0
    turn[0] = 0
    while depth >= 0:
        node = path[depth]
        a = attribute[node]
        rows, errors = size_and_errors(counts[node])
        if a < 0:
            estimates[node] = estimate_of(rows, errors, table, confidence, z)
            depth -= 1
            continue
        if turn[depth] < cardinality[a]:
            child = first_child[node] + turn[depth]
            if raising and attribute[child] >= 0:
                for w in range(node_masks.shape[1]):
                    node_masks[child, w] = node_masks[node, w] & masks[offset[a] + turn[depth], w]
            path[depth + 1] = child
            turn[depth + 1] = 0
            turn[depth] += 1
            depth += 1
            continue
        as_leaf = estimate_of(rows, errors, table, confidence, z)
        as_tree = 0.0
        largest = -1
        most = 0
        for child in range(first_child[node], first_child[node] + cardinality[a]):
            as_tree += estimates[child]
            size = size_and_errors(counts[child])[0]
            if size >= most:
                most = size
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
                if binary:
                    as_branch = branch_estimate_binary(
                        largest, node_masks[node], rows, counts[node, 1], values, class_masks[1],
                        attribute, first_child, stack_masks, stack_node, stack_rows, stack_second,
                        visited, other_estimates, table, confidence, z, enough,
                    )  # fmt: skip
                else:
                    as_branch = branch_estimate_bits(
                    largest, node_masks[node], masks, class_masks, attribute, first_child,
                    cardinality, offset, counts_here, stack_masks, stack_node, visited,
                    other_estimates, table, confidence, z, enough,
                )  # fmt: skip
        if (
            as_leaf <= as_tree + PRUNE_SLACK + TOLERANCE
            and as_leaf <= as_branch + PRUNE_SLACK + TOLERANCE
        ):
            attribute[node] = -1
            estimates[node] = as_leaf
            depth -= 1
        elif as_branch <= as_tree + PRUNE_SLACK + TOLERANCE:
            attribute[node] = attribute[largest]
            first_child[node] = first_child[largest]
            send_again_bits(
                node, masks, class_masks, attribute, first_child, cardinality, offset, counts,
                node_masks, stack_node,
            )  # fmt: skip
            turn[depth] = 0
        else:
            estimates[node] = as_tree
            depth -= 1


@njit(cache=True)
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


@njit(cache=True)
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
                train, values, class_masks[1], row_bits, min_leaf, by_gain, counted, terms, entropies,
                attribute, first_child, counts, node_masks, scratch,
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
