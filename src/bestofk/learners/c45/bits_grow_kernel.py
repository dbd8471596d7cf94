"""Growing C4.5 trees on bit sets of complete nominal data.

Every choice is computed from the same integer counts, by the same sums in the same order and from
the same table of terms as in the row lists of c45_grow_kernel: the trees are the same.

A column's value is a *place* (``offset[a] + code``); ``masks[place]`` has the bits of the rows
that hold it, ``class_masks[c]`` those of a class.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.c45.test_kernel import AVERAGE_SLACK, TOLERANCE
from bestofk.learners.c45.word_kernel import WORD, popcount


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def size_and_errors(counts):
    """Rows, and rows outside the largest class."""
    total = counts[0]
    largest = counts[0]
    for c in range(1, len(counts)):
        total += counts[c]
        largest = max(largest, counts[c])
    return total, total - largest


@njit(cache=True, nogil=True)
def count_classes(mask, class_masks, counts):
    """Fill the rows of each class in the bit set."""
    for c in range(len(counts)):
        found = 0
        for w in range(len(mask)):
            found += popcount(mask[w] & class_masks[c, w])
        counts[c] = found


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
        total = np.int64(0)
        inner = 0.0
        for c in range(n_labels):
            total += node_counts[c]
            inner += terms[node_counts[c]]
        entropy = terms[total] - inner

        # The average gain of the admitted tests.
        n_left = np.int64(0)
        n_counted = np.int64(0)
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


@njit(cache=True, nogil=True)
def is_open(counts, min_leaf):
    """Whether a node may be split: enough rows, and not all of one class."""
    total, errors = size_and_errors(counts)
    return total >= 2 * min_leaf and errors > 0


@njit(cache=True, nogil=True)
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
