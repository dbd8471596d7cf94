"""The splits of a plan as one table of marks, the form in which kernels go through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bestofk.data.encoded import Codes

if TYPE_CHECKING:
    from bestofk.learners.whole_plan import Splits


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitMarks:
    """Split s tests the rows with ``marks[wanted[s, 0]] == wanted[s, 1]``, trains on the others.

    Parameters
    ----------
    marks : (m, n) int64
        The fold that tests each row, one line a run; or 0 and 1 (tested or not), a line a split.
    wanted : (splits, 2) int64
        Line and mark of each split, in the order (run, fold).
    """

    marks: Codes
    wanted: Codes

    @classmethod
    def of(cls, splits: Splits) -> SplitMarks | None:
        """The marks of the splits; None where a split leaves rows out or repeats them."""
        if splits.fold_of is not None:
            marks = np.ascontiguousarray(splits.fold_of, dtype=np.int64)
            line, fold = np.divmod(np.arange(splits.runs * splits.folds), splits.folds)
            return cls(marks=marks, wanted=np.column_stack((line, fold)))
        marks = np.ones((splits.runs * splits.folds, splits.n), dtype=np.int64)
        for line, (_, _, train, test) in enumerate(splits):
            marks[line, test] = 0
            if not np.array_equal(np.flatnonzero(marks[line]), train):
                return None
        wanted = np.column_stack((np.arange(len(marks)), np.zeros(len(marks), dtype=np.int64)))
        return cls(marks=marks, wanted=wanted)

    def test_sizes(self) -> Codes:
        """The number of rows that each split tests."""
        lines, most = len(self.marks), int(self.marks.max(initial=0)) + 1
        flat = self.marks + most * np.arange(lines)[:, None]
        counts = np.bincount(flat.ravel(), minlength=lines * most)
        sizes: Codes = counts.reshape(lines, most)[self.wanted[:, 0], self.wanted[:, 1]]
        return sizes

    def train_sizes(self) -> Codes:
        """The distinct numbers of rows that train."""
        return np.unique(self.marks.shape[1] - self.test_sizes())

    def cut(self, predicted: Codes) -> list[Codes]:
        """One array a split, its tested rows ascending, from a table like `marks`."""
        by_mark = np.take_along_axis(
            predicted, np.argsort(self.marks, axis=1, kind="stable"), axis=1
        )
        ends = np.cumsum(self.test_sizes()) if self._is_dense() else None
        if ends is not None:
            return np.split(by_mark.ravel(), ends[:-1])
        return [
            row[:size]
            for row, size in zip(by_mark[self.wanted[:, 0]], self.test_sizes(), strict=True)
        ]

    def _is_dense(self) -> bool:
        """Whether the splits, in order, test every row of every line once."""
        return int(self.test_sizes().sum()) == self.marks.size
