"""Call the C4.5 kernels of ``c45_tree.c`` and ``c45_bits.c``."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.kernels.library import Kernel
from bestofk.learners.kernels.splits import SplitMarks, columns_by_value, sort_columns

_FIT = Kernel(
    "c45_fit",
    "*f64 *i64 *i64 i64 i64 i64 *i64 *i64 *f64 *i64 i64 f64 i64 i64 i64 f64 f64 *f64 i64 i64 "
    "&i64 &f64 &i64 &i64 &f64",
)
_ROWS = Kernel("c45_rows", "*i64 *f64 *i64 *i64 *f64 i64 i64 *i64 *f64 i64 i64 &f64 &i64")
_PLAN = Kernel(
    "c45_plan",
    "*f64 *i64 *i64 i64 i64 i64 *i64 *i64 *i64 *i64 i64 *i64 *bool f64 i64 i64 i64 f64 f64 *f64 "
    "i64 &i64",
)
_BITS_PLAN = Kernel(
    "c45_bits_plan",
    "*i64 *i64 *i64 *i64 i64 i64 i64 *i64 *i64 i64 i64 i64 i64 i64 i64 f64 f64 *f64 i64 *f64 &i64",
)
_ESTIMATES = Kernel("c45_estimates", "f64 f64 i64 &f64")

TABLE_SIZE = 128
"""The estimated errors of leaves with fewer rows come from a table."""


class Tree(NamedTuple):
    """A decision tree with one array cell per node; the root is node 0."""

    attribute: Codes
    """The column that the node tests; -1 for a leaf."""
    threshold: Floats
    """Numeric tests send values up to the threshold to the first child."""
    first_child: Codes
    """Children have consecutive numbers: two for a numeric test, else one per declared value."""
    n_children: Codes
    shares: Floats
    """Training weight of each class in the node, shape (nodes, classes)."""


class TreeSettings(NamedTuple):
    """The parameters of C4.5 in kernel form."""

    min_leaf: float
    by_gain: bool
    pruning: int
    raising: bool
    confidence: float
    z: float
    """The normal quantile of 1 - confidence."""


@lru_cache(maxsize=4)
def leaf_estimates(confidence: float, z: float) -> Floats:
    """Return the pessimistic error estimates of leaves, by their rows and their errors.

    An estimate is the upper confidence bound of the binomial for no error, is interpolated up to
    one error, and is the normal approximation with continuity correction from there on.

    Examples
    --------
    >>> round(float(leaf_estimates(0.25, 0.6744897501960817)[6, 0]) / 6, 3)
    0.206
    """
    table = np.empty((TABLE_SIZE, TABLE_SIZE))
    _ESTIMATES(confidence, z, TABLE_SIZE, table)
    return table


@lru_cache(maxsize=4)
def entropy_terms(n: int) -> Floats:
    """Return k log2 k for k = 0..n."""
    terms = np.zeros(n + 1)
    counts = np.arange(1.0, n + 1.0)
    terms[1:] = counts * np.log2(counts)
    return terms


def fit(encoded: Encoded, grown: npt.NDArray[np.bool_], settings: TreeSettings) -> Tree:
    """Grow the tree on the rows marked in `grown` and prune it with the other rows."""
    columns = np.ascontiguousarray(encoded.values[grown].T)
    held_out = np.ascontiguousarray(encoded.values[~grown].T)
    order, n_known = sort_columns(columns, encoded.cardinality)
    terms = entropy_terms(encoded.n)
    capacity = 64 + 4 * encoded.n
    while True:
        tree = Tree(
            attribute=np.empty(capacity, dtype=np.int64),
            threshold=np.empty(capacity),
            first_child=np.empty(capacity, dtype=np.int64),
            n_children=np.empty(capacity, dtype=np.int64),
            shares=np.empty((capacity, encoded.n_classes)),
        )
        count = _FIT(
            columns, encoded.cardinality, encoded.y[grown], *columns.shape, encoded.n_classes,
            order, n_known, held_out, encoded.y[~grown], held_out.shape[1], *settings, terms,
            len(terms), capacity, *tree,
        )  # fmt: skip
        if count <= capacity:
            return Tree(
                attribute=tree.attribute[:count].copy(),
                threshold=tree.threshold[:count].copy(),
                first_child=tree.first_child[:count].copy(),
                n_children=tree.n_children[:count].copy(),
                shares=tree.shares[:count].copy(),
            )
        capacity = count


def shares_and_codes(tree: Tree, cardinality: Codes, values: Floats) -> tuple[Floats, Codes]:
    """Return class shares and the predicted class of each row."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    shares = np.empty((len(values), tree.shares.shape[1]))
    codes = np.empty(len(values), dtype=np.int64)
    _ROWS(*tree, *tree.shares.shape, cardinality, values, *values.shape, shares, codes)
    return shares, codes


def predict_lists(
    encoded: Encoded,
    marks: SplitMarks,
    settings: TreeSettings,
    mask_index: Codes,
    masks: npt.NDArray[np.bool_],
) -> Codes:
    """Predict all splits from lists of rows; return a table shaped like the marks.

    ``masks[mask_index[size]]`` marks the rows that a training set of this size holds out.
    """
    columns, order, n_known = columns_by_value(encoded)
    terms = entropy_terms(encoded.n)
    predicted = np.zeros(marks.marks.shape, dtype=np.int64)
    _PLAN(
        columns, encoded.cardinality, encoded.y, *columns.shape, encoded.n_classes,
        order, n_known, marks.marks, marks.wanted, len(marks.wanted), mask_index, masks,
        *settings, terms, len(terms), predicted,
    )  # fmt: skip
    return predicted


def predict_bits(encoded: Encoded, marks: SplitMarks, settings: TreeSettings) -> Codes:
    """Predict all splits from bit sets: complete nominal data and no held-out rows."""
    min_leaf, by_gain, pruning, raising, confidence, z = settings
    predicted = np.zeros(marks.marks.shape, dtype=np.int64)
    _BITS_PLAN(
        encoded.values.astype(np.int64), encoded.cardinality,
        np.concatenate(([0], np.cumsum(encoded.cardinality))).astype(np.int64), encoded.y,
        encoded.n, encoded.d, encoded.n_classes, marks.marks, marks.wanted, len(marks.wanted),
        marks.n_marks, int(min_leaf), by_gain, pruning > 0, raising, confidence, z,
        leaf_estimates(confidence, z), TABLE_SIZE, entropy_terms(encoded.n), predicted,
    )  # fmt: skip
    return predicted
