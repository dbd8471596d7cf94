"""Pruning trees on bit sets, with the estimates and the choices of c45_prune_kernel."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

from bestofk.learners.c45.binary_kernel import branch_estimate_binary, estimate_of
from bestofk.learners.c45.bits_grow_kernel import count_classes, size_and_errors
from bestofk.learners.c45.prune_kernel import PRUNE_SLACK
from bestofk.learners.c45.test_kernel import TOLERANCE


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
        largest = np.int64(-1)
        most = 0
        for child in range(first_child[node], first_child[node] + cardinality[a]):
            as_tree += estimates[child]
            size = size_and_errors(counts[child])[0]
            if size >= most:
                most = size
                largest = np.int64(child)
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
