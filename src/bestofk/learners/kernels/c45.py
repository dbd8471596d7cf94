"""C4.5 on encoded rows, by the kernels of ``c45_tree.c`` and ``c45_bits.c``."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.dataset import made_once
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.c45 import Tree, TreeSettings
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
_ADDED = Kernel("c45_added_errors", "f64 f64 f64 f64 &f64")
_CUTS = Kernel("c45_three_cuts", "*f64 *i64 i64 *u32 *u32 i64 *f64 i64 i64 f64 *f64 *f64 &f64")

FEW = 32
"""Columns of up to this many values are counted in a table."""
TABLED = 128
"""The estimated errors of leaves with fewer rows are looked up."""


@lru_cache(maxsize=4)
def leaf_estimates(confidence: float, z: float) -> Floats:
    """Errors with what a pessimist adds, by the rows of a leaf and its errors."""
    table = np.empty((TABLED, TABLED))
    _ESTIMATES(confidence, z, TABLED, table)
    return table


@lru_cache(maxsize=4)
def entropy_terms(n: int) -> Floats:
    """K log2 k for k = 0..n."""
    terms = np.zeros(n + 1)
    counts = np.arange(1.0, n + 1.0)
    terms[1:] = counts * np.log2(counts)
    return terms


def fit(encoded: Encoded, grown: npt.NDArray[np.bool_], settings: TreeSettings) -> Tree:
    """The tree of the rows in `grown`; the others are held for pruning."""
    columns = np.ascontiguousarray(encoded.values[grown].T)
    held = np.ascontiguousarray(encoded.values[~grown].T)
    order, n_known = sort_columns(columns, encoded.cardinality)
    terms = entropy_terms(encoded.n)
    room = 64 + 4 * encoded.n
    while True:
        tree = Tree(
            attribute=np.empty(room, dtype=np.int64),
            threshold=np.empty(room),
            first_child=np.empty(room, dtype=np.int64),
            n_children=np.empty(room, dtype=np.int64),
            shares=np.empty((room, encoded.n_classes)),
        )
        count = _FIT(
            columns, encoded.cardinality, encoded.y[grown], *columns.shape, encoded.n_classes,
            order, n_known, held, encoded.y[~grown], held.shape[1], *settings, terms, len(terms),
            room, *tree,
        )  # fmt: skip
        if count <= room:
            return Tree(
                attribute=tree.attribute[:count].copy(),
                threshold=tree.threshold[:count].copy(),
                first_child=tree.first_child[:count].copy(),
                n_children=tree.n_children[:count].copy(),
                shares=tree.shares[:count].copy(),
            )
        room = count


def shares_and_codes(tree: Tree, cardinality: Codes, values: Floats) -> tuple[Floats, Codes]:
    """Class shares and the predicted class of each row."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    shares = np.empty((len(values), tree.shares.shape[1]))
    codes = np.empty(len(values), dtype=np.int64)
    _ROWS(*tree, *tree.shares.shape, cardinality, values, *values.shape, shares, codes)
    return shares, codes


def predict_lists(
    encoded: Encoded,
    marks: SplitMarks,
    settings: TreeSettings,
    held_at: Codes,
    held_masks: npt.NDArray[np.bool_],
) -> Codes:
    """Predictions of all splits, as the table of marks, from lists of rows.

    ``held_masks[held_at[size]]`` says which rows a training set of this size holds out.
    """
    columns, order, n_known = made_once(encoded, columns_by_value)
    terms = entropy_terms(encoded.n)
    predicted = np.zeros(marks.marks.shape, dtype=np.int64)
    _PLAN(
        columns, encoded.cardinality, encoded.y, *columns.shape, encoded.n_classes,
        order, n_known, marks.marks, marks.wanted, len(marks.wanted), held_at, held_masks,
        *settings, terms, len(terms), predicted,
    )  # fmt: skip
    return predicted


def predict_bits(encoded: Encoded, marks: SplitMarks, settings: TreeSettings) -> Codes:
    """The same from sets of bits: complete nominal data, nothing held out."""
    min_leaf, by_gain, pruning, raising, confidence, z = settings
    predicted = np.zeros(marks.marks.shape, dtype=np.int64)
    _BITS_PLAN(
        encoded.values.astype(np.int64), encoded.cardinality,
        np.concatenate(([0], np.cumsum(encoded.cardinality))).astype(np.int64), encoded.y,
        encoded.n, encoded.d, encoded.n_classes, marks.marks, marks.wanted, len(marks.wanted),
        marks.n_marks, int(min_leaf), by_gain, pruning > 0, raising, confidence, z,
        leaf_estimates(confidence, z), TABLED, entropy_terms(encoded.n), predicted,
    )  # fmt: skip
    return predicted


def added_errors(n: float, errors: float, confidence: float, z: float) -> float:
    """What a pessimist adds to the errors seen among n rows.

    The upper bound of the binomial at the confidence for no error, interpolated up to one error,
    and the normal approximation with continuity correction from there; `z` is the normal quantile
    of 1 - confidence.

    Examples
    --------
    >>> round(added_errors(6.0, 0.0, 0.25, 0.6744897501960817) / 6, 3)
    0.206
    """
    added = np.empty(1)
    _ADDED(n, errors, confidence, z, added)
    return float(added[0])


def three_cuts(x: Floats, y: Codes, n_labels: int, min_leaf: float) -> tuple[Floats, bool]:
    """Gain, gain ratio and cut of a complete column by each way of counting, shape (3, 3).

    By weighted rows, by lists without the lowest value, and (for up to `FEW` values) by a table;
    with them whether the table was left as it was found.
    """
    values, number = np.unique(x, return_inverse=True)
    shift = int(n_labels - 1).bit_length()
    few = np.zeros(FEW)
    few[: len(values)] = values
    terms = entropy_terms(len(x))
    found = np.empty((3, 3))
    left_over = _CUTS(
        np.ascontiguousarray(x, dtype=np.float64), y, len(x),
        np.argsort(x, kind="stable").astype(np.uint32), ((number << shift) | y).astype(np.uint32),
        shift, few, n_labels, len(np.unique(y)), min_leaf, terms, np.diff(terms), found,
    )  # fmt: skip
    return found, left_over == 0
