"""Call the kernels of ``naive_bayes.c``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.kernels.library import Kernel
from bestofk.learners.kernels.splits import SplitMarks, columns_by_value

_CELLS = Kernel("naive_bayes_places", "*f64 i64 i64 *i64 *i64 &i32")
_FIT = Kernel(
    "naive_bayes_fit",
    "*i32 *f64 *f64 i64 i64 *i64 *i64 *i64 i64 &f64 &f64 &f64 &f64 &f64",
)
_CHOOSE = Kernel("naive_bayes_choose", "*f64 *i32 i64 i64 *f64 i64 *f64 i64 *f64 *f64 *f64 &i64")
_SHARES = Kernel("naive_bayes_shares", "*f64 *i32 i64 i64 *f64 *f64 i64 *f64 *f64 *f64 &f64")
_NOMINAL_PLAN = Kernel(
    "naive_bayes_nominal_plan",
    "*f64 *i32 i64 i64 *i64 *i64 *i64 i64 *i64 *i64 i64 i64 &i64",
)
_MIXED_PLAN = Kernel(
    "naive_bayes_mixed_plan",
    "*f64 *f64 *i32 i64 i64 *i64 *i64 *i64 i64 *i64 *i64 *i64 *i64 i64 &i64",
)


Tables = tuple[Floats, Floats, Floats, Floats, Floats]
"""Table, prior, precision, mean and deviation."""


def offsets(cardinality: Codes) -> Codes:
    """Return the first table line of each nominal column."""
    return np.concatenate(([0], np.cumsum(cardinality))).astype(np.int64)


def table_lines(values: Floats, cardinality: Codes) -> npt.NDArray[np.int32]:
    """Return the table line of every cell, shape (n, d)."""
    lines = np.empty(values.shape, dtype=np.int32)
    _CELLS(values, *values.shape, cardinality, offsets(cardinality), lines)
    return lines


def fit(encoded: Encoded) -> Tables:
    """Return the tables of `NaiveBayes`."""
    n, d, c = encoded.n, encoded.d, encoded.n_classes
    offset = offsets(encoded.cardinality)
    table, prior = np.empty((offset[-1] + 1, c)), np.empty(c)
    precision, mean, deviation = np.zeros(d), np.zeros((d, c)), np.zeros((d, c))
    _FIT(
        table_lines(encoded.values, encoded.cardinality), encoded.values,
        np.ascontiguousarray(encoded.values.T), n, d,
        encoded.cardinality, offset, encoded.y, c, table, prior, precision, mean, deviation,
    )  # fmt: skip
    return table, prior, precision, mean, deviation


def shares_of_rows(values: Floats, cardinality: Codes, tables: Tables) -> Floats:
    """Return the normalised products of every row."""
    table, prior, *moments = tables
    values = np.ascontiguousarray(values, dtype=np.float64)
    shares = np.empty((len(values), len(prior)))
    _SHARES(
        values, table_lines(values, cardinality), *values.shape, table, prior, len(prior), *moments,
        shares,
    )  # fmt: skip
    return shares


def choose_classes(values: Floats, cardinality: Codes, tables: Tables) -> Codes:
    """Return the first class with the largest product of every row."""
    table, prior, *moments = tables
    values = np.ascontiguousarray(values, dtype=np.float64)
    predicted = np.empty(len(values), dtype=np.int64)
    _CHOOSE(
        values, table_lines(values, cardinality), *values.shape, table, len(table), prior,
        len(prior), *moments, predicted,
    )  # fmt: skip
    return predicted


def predict_marks(encoded: Encoded, marks: SplitMarks) -> Codes:
    """Predict all splits; return a table shaped like the marks."""
    n, d, c = encoded.n, encoded.d, encoded.n_classes
    values, cardinality = encoded.values, encoded.cardinality
    offset, lines = offsets(cardinality), table_lines(values, cardinality)
    predicted = np.zeros(marks.marks.shape, dtype=np.int64)
    if cardinality.all():
        _NOMINAL_PLAN(
            values, lines, n, d, cardinality, offset, encoded.y, c, marks.marks, marks.wanted,
            len(marks.wanted), marks.n_marks, predicted,
        )  # fmt: skip
        return predicted
    columns, order, n_known = columns_by_value(encoded)
    _MIXED_PLAN(
        values, columns, lines, n, d, cardinality, offset, encoded.y, c, order, n_known,
        marks.marks, marks.wanted, len(marks.wanted), predicted,
    )  # fmt: skip
    return predicted
