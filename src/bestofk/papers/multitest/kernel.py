"""Call the kernels of ``multitest_*.c``: the learners of the MultiTest paper.

The functions ``..._errors`` count wrong predictions, shape (splits, 2). Fold f trains on the rows
whose mark is not f.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk.data.schema import Codes
from bestofk.learners.kernels.library import Kernel
from bestofk.papers.multitest.learners import Marks, Prepared

Seeds = npt.NDArray[np.uint32]
Counts = npt.NDArray[np.int64]

MAX_TREE_ROWS = 1 << 15
"""In a tree, ranks (two per row) and rows must fit into 16 bits each."""

_DATA = "*f64 *i64 *bool i64 *i64 i64 i64"
_FILL = Kernel("multitest_fill", "*f64 *i64 *bool i64 i64 *i64 i64 &f64 &f64")
_MODES_AGREE = Kernel("multitest_modes_agree", "*f64 *i64 *bool i64 i64 *bool i64 *f64")
_NEAREST_MEAN = Kernel("multitest_nearest_mean", f"{_DATA} i64 *bool i64 &i64")
_MAJORITY = Kernel("multitest_majority", "*i64 i64 i64 *bool i64 &i64")
_FIRST_NEAREST = Kernel("multitest_first_nearest", f"{_DATA} *bool i64 &i64")
_LOGISTIC = Kernel("multitest_logistic", f"{_DATA} i64 f64 *u32 *bool i64 &i64")
_TREE = Kernel("multitest_tree", f"{_DATA} i64 *u32 *i64 *u32 *bool i64 &i64")


def _arguments(data: Prepared) -> tuple[object, ...]:
    return (
        data.values, data.cardinality, data.whole, data.unknown, data.y, *data.values.shape,
    )  # fmt: skip


def majority_errors(data: Prepared, marks: Marks) -> Counts:
    """Count errors of MAX: the most frequent class of the training rows, the first of ties."""
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _MAJORITY(data.y, data.n, data.n_classes, marks, len(marks), errors)
    return errors


def nearest_mean_errors(data: Prepared, marks: Marks) -> Counts:
    """Count errors of NMC: class means of z-scores and class modes."""
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _NEAREST_MEAN(*_arguments(data), data.n_classes, marks, len(marks), errors)
    return errors


def first_nearest_errors(data: Prepared, marks: Marks) -> Counts:
    """Count errors of NN: squared distances of z-scores, 1 per mismatch; the first of ties."""
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _FIRST_NEAREST(*_arguments(data), marks, len(marks), errors)
    return errors


def logistic_errors(data: Prepared, marks: Marks, seeds: Seeds) -> Counts:
    """Count errors of LGC: 50 steps of gradient descent from small random weights."""
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _LOGISTIC(
        *_arguments(data), data.n_classes, data.learning_rate,
        np.ascontiguousarray(seeds, dtype=np.uint32), marks, len(marks), errors,
    )  # fmt: skip
    return errors


def tree_errors(data: Prepared, marks: Marks, seeds: Seeds) -> Counts:
    """Count errors of C4.5: grown by information gain until pure, pruned on a fifth of the rows."""
    if data.n > MAX_TREE_ROWS or data.n_classes > 256 or data.cardinality.max() > 256:
        raise ArgumentError(
            f"The paper's tree accepts at most {MAX_TREE_ROWS} rows and 256 classes and values; "
            f"got {data.n}, {data.n_classes} and {data.cardinality.max()}."
        )
    by_value, known = _sorted(data.values, data.cardinality)
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _TREE(
        *_arguments(data), data.n_classes, by_value, known,
        np.ascontiguousarray(seeds, dtype=np.uint32), marks, len(marks), errors,
    )  # fmt: skip
    return errors


def _sorted(values: Floats, cardinality: Codes) -> tuple[npt.NDArray[np.uint32], Codes]:
    """Sort the rows of each numeric column; return rows with odd ranks, and known counts."""
    n, d = values.shape
    entries, known = np.zeros((d, n), dtype=np.uint32), np.zeros(d, dtype=np.int64)
    for j in np.flatnonzero(cardinality == 0):
        order = np.argsort(values[:, j], kind="stable")
        known[j] = np.count_nonzero(~np.isnan(values[:, j]))
        steps = np.diff(values[order[: known[j]], j]) != 0
        ranks = np.ones(n, dtype=np.int64)
        ranks[1 : known[j]] += 2 * np.cumsum(steps)
        entries[j] = ranks << 16 | order
    return entries, known


def fill(data: Prepared, train: Codes) -> tuple[Floats, Floats]:
    """Return the values with unknowns imputed from the training rows, and the imputed values.

    A nominal value is the most frequent one, the first of ties. A number is the sum of the known
    values divided by the number of all training rows (a mistake of the original), truncated to a
    whole number in columns of whole numbers.
    """
    filled, fills = np.empty_like(data.values), np.empty(data.values.shape[1])
    _FILL(
        data.values, data.cardinality, data.whole, *data.values.shape,
        np.ascontiguousarray(train, dtype=np.int64), len(train), filled, fills,
    )  # fmt: skip
    return filled, fills


def modes_agree(data: Prepared, marks: Marks, fills: Floats) -> bool:
    """Return whether the imputed values equal `fills` in every half."""
    return bool(
        _MODES_AGREE(
            data.values, data.cardinality, data.whole, *data.values.shape, marks, len(marks), fills
        )
    )
