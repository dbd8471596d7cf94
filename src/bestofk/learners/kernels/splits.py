"""Convert the splits of a plan to a table of marks, and sort columns, for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.kernels.library import Kernel

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits

_CUT = Kernel("cut_by_mark", "*i64 *i64 i64 i64 *i64 i64 i64 &i64 &i64")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitMarks:
    """Split s tests the rows with ``marks[wanted[s, 0]] == wanted[s, 1]``, trains on the others.

    - `marks`: The fold that tests each row, one line per run; or 0 (tested) and 1 (not tested), one
      line per split.
    - `wanted`: Line and mark of each split, in the order (run, fold).
    - `n_marks`: One more than the largest mark in the table or in `wanted`.
    """

    marks: Codes
    wanted: Codes
    n_marks: int

    @classmethod
    def of(cls, splits: Splits) -> SplitMarks | None:
        """Return the marks of the splits, or None if a split omits or repeats rows."""
        if splits.fold_of is not None:
            marks = np.ascontiguousarray(splits.fold_of, dtype=np.int64)
            pairs = np.divmod(np.arange(splits.runs * splits.folds), splits.folds)
            return cls(marks=marks, wanted=np.column_stack(pairs), n_marks=splits.folds)
        marks = np.ones((splits.runs * splits.folds, splits.n), dtype=np.int64)
        for line, (_, _, train, test) in enumerate(splits):
            marks[line, test] = 0
            if not np.array_equal(np.flatnonzero(marks[line]), train):
                return None
        wanted = np.column_stack((np.arange(len(marks)), np.zeros(len(marks), dtype=np.int64)))
        return cls(marks=marks, wanted=wanted, n_marks=2)

    def train_sizes(self) -> Codes:
        """Return the distinct numbers of training rows."""
        lines, n_marks = len(self.marks), self.n_marks
        flat = self.marks + n_marks * np.arange(lines)[:, None]
        counts = np.bincount(flat.ravel(), minlength=lines * n_marks).reshape(lines, n_marks)
        return np.unique(self.marks.shape[1] - counts[self.wanted[:, 0], self.wanted[:, 1]])

    def cut(self, predicted: Codes) -> list[Codes]:
        """Cut a table shaped like `marks` into one array per split, test rows ascending."""
        lines, n = self.marks.shape
        flat = np.empty(lines * n, dtype=np.int64)  # every pair of line and mark is unique
        stops = np.empty(len(self.wanted), dtype=np.int64)
        _CUT(predicted, self.marks, lines, n, self.wanted, len(stops), self.n_marks, flat, stops)
        ends = stops.tolist()
        return list(map(flat.__getitem__, map(slice, [0, *ends[:-1]], ends)))


def columns_by_value(encoded: Encoded) -> tuple[Floats, Codes, Codes]:
    """Return the columns of all rows, with the result of `sort_columns`."""
    columns = np.ascontiguousarray(encoded.values.T)
    return columns, *sort_columns(columns, encoded.cardinality)


def sort_columns(columns: Floats, cardinality: Codes) -> tuple[Codes, Codes]:
    """Return the known rows of each numeric column by increasing value (ties by row), and counts.

    Examples
    --------
    >>> order, known = sort_columns(np.array([[2.0, np.nan, 1.0, 2.0]]), np.array([0]))
    >>> order[0, : known[0]].tolist()
    [2, 0, 3]
    """
    order = np.empty(columns.shape, dtype=np.int64)
    known = np.zeros(len(columns), dtype=np.int64)
    for a in np.flatnonzero(cardinality == 0):
        order[a] = np.argsort(columns[a], kind="stable")
        known[a] = np.count_nonzero(~np.isnan(columns[a]))
    return order, known
