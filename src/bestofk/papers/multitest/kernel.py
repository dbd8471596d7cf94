"""The learners of the MultiTest paper, by the kernels of ``multitest_*.c``."""

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

MOST_ROWS = 1 << 15
"""Of a tree: ranks (two for each row) and rows must fit into 16 bits each."""

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
    """Of MAX: the most frequent class of the training rows, the first of ties.

    As all that follow: wrong predictions (splits, 2), where fold f trains on the rows whose mark
    is not f.
    """
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _MAJORITY(data.y, data.n, data.n_classes, marks, len(marks), errors)
    return errors


def nearest_mean_errors(data: Prepared, marks: Marks) -> Counts:
    """Of NMC: class means of z-scores and class modes."""
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _NEAREST_MEAN(*_arguments(data), data.n_classes, marks, len(marks), errors)
    return errors


def first_nearest_errors(data: Prepared, marks: Marks) -> Counts:
    """Of NN, pair by pair: z-scores, squared distance, 1 for another value; the first of ties."""
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _FIRST_NEAREST(*_arguments(data), marks, len(marks), errors)
    return errors


def logistic_errors(data: Prepared, marks: Marks, seeds: Seeds) -> Counts:
    """Of LGC: 50 steps down the gradient from small random weights."""
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _LOGISTIC(
        *_arguments(data), data.n_classes, data.learning_rate,
        np.ascontiguousarray(seeds, dtype=np.uint32), marks, len(marks), errors,
    )  # fmt: skip
    return errors


def tree_errors(data: Prepared, marks: Marks, seeds: Seeds) -> Counts:
    """Of C4.5: grown by information gain until pure, pruned on a fifth of the rows."""
    if data.n > MOST_ROWS or data.n_classes > 256 or data.cardinality.max() > 256:
        raise ArgumentError(
            f"The paper's tree takes at most {MOST_ROWS} rows and 256 classes and values; got "
            f"{data.n}, {data.n_classes} and {data.cardinality.max()}."
        )
    by_value, known = _sorted(data.values, data.cardinality)
    errors = np.zeros((len(marks), 2), dtype=np.int64)
    _TREE(
        *_arguments(data), data.n_classes, by_value, known,
        np.ascontiguousarray(seeds, dtype=np.uint32), marks, len(marks), errors,
    )  # fmt: skip
    return errors


def _sorted(values: Floats, cardinality: Codes) -> tuple[npt.NDArray[np.uint32], Codes]:
    """Rows of each numeric column by value, with odd ranks above them, and how many have one."""
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
    """The values, unknowns filled in from the training rows, and what was put there.

    Nominal: the most frequent value, the first of ties. Numeric: the sum of the known divided by
    the number of all training rows (a slip of the original), cut to a whole number in columns of
    whole numbers.
    """
    filled, fills = np.empty_like(data.values), np.empty(data.values.shape[1])
    _FILL(
        data.values, data.cardinality, data.whole, *data.values.shape,
        np.ascontiguousarray(train, dtype=np.int64), len(train), filled, fills,
    )  # fmt: skip
    return filled, fills


def modes_agree(data: Prepared, marks: Marks, wanted: Floats) -> bool:
    """Whether what is filled in is the same, `wanted`, in every half."""
    return bool(
        _MODES_AGREE(
            data.values, data.cardinality, data.whole, *data.values.shape, marks, len(marks), wanted
        )
    )
