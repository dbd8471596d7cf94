"""Walking down the paper's trees, and pruning them from the root down."""
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import njit

LEAF = -1
"""In place of the column of a node."""


@njit(cache=True, nogil=True)
def child(filled, cardinality, nodes, cut, node, i):
    """The branch that row `i` takes at a node."""
    j = nodes[node, 0]
    if cardinality[j] == 0:
        return nodes[node, 1] + (0 if filled[i, j] <= cut[node] else 1)
    return nodes[node, 1] + np.int64(filled[i, j])


@njit(cache=True, nogil=True)
def prune(filled, cardinality, y, pruning, nodes, cut, n_nodes, path, as_leaf, as_tree):
    """From the root down: a node becomes a leaf where the pruning rows lose nothing by it."""
    as_leaf[:n_nodes] = 0
    as_tree[:n_nodes] = 0
    for r in range(pruning.size):
        i = pruning[r]
        node, length = 0, 0
        while True:
            path[length] = node
            length += 1
            as_leaf[node] += nodes[node, 2] != y[i]
            if nodes[node, 0] == LEAF:
                break
            node = child(filled, cardinality, nodes, cut, node, i)
        wrong = nodes[node, 2] != y[i]
        for k in range(length):
            as_tree[path[k]] += wrong
    for node in range(n_nodes):
        if as_leaf[node] <= as_tree[node]:
            nodes[node, 0] = LEAF
