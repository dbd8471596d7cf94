"""Growing C4.5 trees on two-valued columns and two classes: one machine word a small node.

The choices of `c45_bits_grow_kernel.grow_bits`, from the same numbers. A node of up to 64 rows
gets its rows renumbered into the bits of one word, and so do all nodes below it.
"""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.c45.prune_kernel import added_errors
from bestofk.learners.c45.test_kernel import AVERAGE_SLACK, TOLERANCE
from bestofk.learners.c45.word_kernel import WORD, lowest_bit, popcount

TABLED = 128
"""Estimates of leaves with fewer rows are looked up."""


@njit(cache=True, nogil=True)
def entropy_table(n, terms):
    """Row count times entropy for w rows of which k are of one class, w up to n."""
    table = np.zeros((n + 1, n + 1))
    for w in range(n + 1):
        for k in range(w + 1):
            table[w, k] = terms[w] - (terms[w - k] + terms[k])
    return table


@njit(cache=True, nogil=True)
def estimate_table(n, confidence, z):
    """Estimated errors of leaves with fewer than TABLED of at most n rows, by rows and errors."""
    size = min(TABLED, n + 1)
    table = np.zeros((size, size))
    for rows in range(1, size):
        for errors in range(rows + 1):
            table[rows, errors] = errors + added_errors(float(rows), float(errors), confidence, z)
    return table


@njit(cache=True, nogil=True)
def estimate_of(rows, errors, table, confidence, z):
    """Estimated errors of a leaf, 0 for an empty one."""
    if rows < len(table):
        return table[rows, errors]
    return errors + added_errors(float(rows), float(errors), confidence, z)


@njit(cache=True, nogil=True)
def choose(n_left, gains, ones, gain_sum, n_counted, total, by_gain, terms):
    """Which of the admitted tests is chosen, -1 when there is none."""
    if n_counted == 0:
        return -1
    bar = gain_sum / n_counted - AVERAGE_SLACK
    best = 0.0
    chosen = -1
    for at in range(n_left):
        gain = gains[at]
        if by_gain:
            value = gain
        elif gain >= bar and gain > 0.0:
            information = (terms[total] - (terms[total - ones[at]] + terms[ones[at]])) / total
            value = 0.0 if information < TOLERANCE else gain / information
        else:
            continue
        if value > best + TOLERANCE:
            best = value
            chosen = at
    return chosen


@njit(cache=True, nogil=True)
def grow_binary(
    mask, values, second, row_bits, min_leaf, by_gain, counted, terms, table,
    attribute, first_child, counts, node_masks, scratch,
):  # fmt: skip
    """Grow the tree of the rows in `mask` into the node arrays; returns the number of nodes.

    Parameters
    ----------
    values : (d, words) uint64
        Rows that hold the second value of each column.
    second : (words,) uint64
        Rows of the second class.
    counted : (d,) bool
    table : (65, 65) float64
        See `entropy_table`.
    row_bits : (n,) uint64
        See `bits_of_rows`.
    scratch : tuple of arrays
        open_node, open_word (uint64), open_small (bool), alive (nodes, d + 1); gains (float64),
        ones, lasts, columns of length d; packed and shifts (0, 1, ..., both uint64) of a length
        above d that is a multiple of 16, so that packing runs in whole vectors.
    """
    open_node, open_word, open_small, alive, gains, ones, lasts, columns, packed, shifts = scratch
    n_words = len(mask)
    d = len(values)
    total = 0
    in_second = 0
    for w in range(n_words):
        node_masks[0, w] = mask[w]
        total += popcount(mask[w])
        in_second += popcount(mask[w] & second[w])
    counts[0, 0] = total - in_second
    counts[0, 1] = in_second
    attribute[0] = -1
    for a in range(d):
        alive[0, a] = a
    alive[0, d] = d
    n_nodes = 1
    n_open = 0
    if total >= 2 * min_leaf and 0 < in_second < total:
        open_node[0] = 0
        open_small[0] = False
        n_open = 1
    packed_second = np.uint64(0)
    while n_open > 0:
        n_open -= 1
        node = open_node[n_open]
        in_first = counts[node, 0]
        in_second = counts[node, 1]
        total = in_first + in_second
        n_alive = alive[node, d]
        n_left = np.int64(0)
        n_counted = np.int64(0)
        gain_sum = 0.0
        least_gain = TOLERANCE / total
        small = total <= WORD
        word = open_word[n_open]
        if small and not open_small[n_open]:
            pack(node_masks[node], row_bits, shifts, packed)
            packed_second = packed[d]
            word = ~np.uint64(0) >> np.uint64(WORD - total)
        if small:
            word_second = word & packed_second
            entropy = table[total, in_second]
            for at in range(n_alive):
                a = alive[node, at]
                one = popcount(word & packed[a])
                zero = total - one
                if one < min_leaf or zero < min_leaf:
                    continue
                last = popcount(word_second & packed[a])
                inside = table[zero, in_second - last] + table[one, last]
                gain = (entropy - inside) / total
                if gain < least_gain:
                    gain = 0.0
                columns[n_left] = a
                gains[n_left] = gain
                ones[n_left] = one
                lasts[n_left] = last
                n_left += 1
                if counted[a]:
                    gain_sum += gain
                    n_counted += 1
        else:
            entropy = terms[total] - (terms[in_first] + terms[in_second])
            for at in range(n_alive):
                a = alive[node, at]
                one = 0
                last = 0
                for w in range(n_words):
                    both = node_masks[node, w] & values[a, w]
                    one += popcount(both)
                    last += popcount(both & second[w])
                zero = total - one
                if one < min_leaf or zero < min_leaf:
                    continue
                zero_second = in_second - last
                inside = (terms[zero] - (terms[zero - zero_second] + terms[zero_second])) + (
                    terms[one] - (terms[one - last] + terms[last])
                )
                gain = (entropy - inside) / total
                if gain < least_gain:
                    gain = 0.0
                columns[n_left] = a
                gains[n_left] = gain
                ones[n_left] = one
                lasts[n_left] = last
                n_left += 1
                if counted[a]:
                    gain_sum += gain
                    n_counted += 1
        chosen = choose(n_left, gains, ones, gain_sum, n_counted, total, by_gain, terms)
        if chosen < 0:
            continue

        a = columns[chosen]
        one = ones[chosen]
        last = lasts[chosen]
        attribute[node] = a
        first_child[node] = n_nodes
        for v in range(2):
            child = n_nodes + v
            rows = one if v == 1 else total - one
            rows_second = last if v == 1 else in_second - last
            attribute[child] = -1
            counts[child, 0] = rows - rows_second
            counts[child, 1] = rows_second
            if rows < 2 * min_leaf or rows_second == 0 or rows_second == rows or n_left == 1:
                continue
            left = 0
            for at in range(n_left):
                alive[child, left] = columns[at]
                left += at != chosen
            alive[child, d] = left
            open_node[n_open] = child
            open_small[n_open] = small
            if small:
                open_word[n_open] = word & packed[a] if v == 1 else word & ~packed[a]
            elif v == 1:
                for w in range(n_words):
                    node_masks[child, w] = node_masks[node, w] & values[a, w]
            else:
                for w in range(n_words):
                    node_masks[child, w] = node_masks[node, w] & ~values[a, w]
            n_open += 1
        n_nodes += 2
    return n_nodes


@njit(cache=True, nogil=True)
def pack(mask, row_bits, shifts, packed):
    """Renumber the rows of the bit set: fill one word a column, the class behind the columns."""
    one = np.uint64(1)
    to = np.uint64(0)
    for a in range(len(packed)):
        packed[a] = np.uint64(0)
    for w in range(len(mask)):
        rest = mask[w]
        while rest != 0:
            bits = row_bits[WORD * w + lowest_bit(rest)]
            rest &= rest - one
            for a in range(len(packed)):
                packed[a] |= ((bits >> shifts[a]) & one) << to
            to += one


@njit(cache=True, nogil=True)
def bits_of_rows(codes, y):
    """One word a row: bit a is the row's value of column a, bit d its class."""
    n, d = codes.shape
    row_bits = np.zeros(n, dtype=np.uint64)
    for row in range(n):
        for a in range(d):
            row_bits[row] |= np.uint64(codes[row, a]) << np.uint64(a)
        row_bits[row] |= np.uint64(y[row]) << np.uint64(d)
    return row_bits


@njit(cache=True, nogil=True)
def branch_estimate_binary(
    top, mask, rows, rows_second, values, second, attribute, first_child,
    stack_masks, stack_node, stack_rows, stack_second, visited, estimates,
    table, confidence, z, enough,
):  # fmt: skip
    """Estimated errors of the subtree at `top` (no leaf) when it must take the rows in `mask`.

    `rows` and `rows_second` count the rows and those of the second class. Infinite as soon as
    the errors are sure to be above `enough`.
    """
    n_words = len(mask)
    for w in range(n_words):
        stack_masks[0, w] = mask[w]
    stack_node[0] = top
    stack_rows[0] = rows
    stack_second[0] = rows_second
    n_stack = 1
    n_visited = 0
    so_far = 0.0
    while n_stack > 0:
        n_stack -= 1
        node = stack_node[n_stack]
        visited[n_visited] = node
        n_visited += 1
        a = attribute[node]
        child = first_child[node]
        one = 0
        one_second = 0
        for w in range(n_words):
            both = stack_masks[n_stack, w] & values[a, w]
            one += popcount(both)
            one_second += popcount(both & second[w])
        zero = stack_rows[n_stack] - one
        zero_second = stack_second[n_stack] - one_second
        inner_zero = attribute[child] >= 0
        inner_one = attribute[child + 1] >= 0
        if not inner_zero:
            errors = min(zero_second, zero - zero_second)
            estimates[child] = estimate_of(zero, errors, table, confidence, z)
            so_far += estimates[child]
        if not inner_one:
            errors = min(one_second, one - one_second)
            estimates[child + 1] = estimate_of(one, errors, table, confidence, z)
            so_far += estimates[child + 1]
        if so_far > enough:
            return np.inf
        # Written over the node itself, so the second child, if both go on, is read first.
        if inner_zero and inner_one:
            for w in range(n_words):
                here = stack_masks[n_stack, w]
                stack_masks[n_stack + 1, w] = here & values[a, w]
                stack_masks[n_stack, w] = here & ~values[a, w]
        elif inner_one:
            for w in range(n_words):
                stack_masks[n_stack, w] &= values[a, w]
        elif inner_zero:
            for w in range(n_words):
                stack_masks[n_stack, w] &= ~values[a, w]
        if inner_zero:
            stack_node[n_stack] = child
            stack_rows[n_stack] = zero
            stack_second[n_stack] = zero_second
            n_stack += 1
        if inner_one:
            stack_node[n_stack] = child + 1
            stack_rows[n_stack] = one
            stack_second[n_stack] = one_second
            n_stack += 1
    for back in range(n_visited):
        node = visited[n_visited - 1 - back]
        child = first_child[node]
        estimates[node] = estimates[child] + estimates[child + 1]
    return estimates[top]
