"""The rows of several splits one after the other, for kernels that fit each split for itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bestofk.data.encoded import Codes

if TYPE_CHECKING:
    from bestofk.plans.splits import Splits

_MOST_CELLS = 250_000
"""Rows times splits that a batch holds at the most: a call of a kernel cannot be interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRows:
    """Rows that train and rows that test, split after split, and where those of each split end."""

    trains: Codes
    train_ends: Codes
    tests: Codes
    test_ends: Codes

    def __len__(self) -> int:
        return len(self.train_ends)

    @classmethod
    def batches(cls, splits: Splits) -> Iterator[SplitRows]:
        """All splits in their order, some at a time.

        Examples
        --------
        >>> from bestofk.plans import plan
        >>> splits = plan("kfold:2", stratified=False, random_state=1).materialise(4)
        >>> [batch] = SplitRows.batches(splits)
        >>> batch.tests.tolist(), batch.test_ends.tolist()
        ([0, 1, 2, 3], [2, 4])
        """
        at_once = max(1, _MOST_CELLS // splits.n)
        if splits.fold_of is None:
            waiting = iter(splits)
            while group := list(islice(waiting, at_once)):
                yield cls._of_lists([split[2] for split in group], [split[3] for split in group])
            return
        runs = max(1, at_once // splits.folds)
        folds = np.arange(splits.folds)[:, np.newaxis]
        for first in range(0, splits.runs, runs):
            marks = splits.fold_of[first : first + runs, np.newaxis]
            tested = (marks == folds).reshape(-1, splits.n)
            trained = ((marks != folds) & (marks >= 0)).reshape(-1, splits.n)
            yield cls(
                trains=_columns(trained),
                train_ends=np.cumsum(trained.sum(axis=1)),
                tests=_columns(tested),
                test_ends=np.cumsum(tested.sum(axis=1)),
            )

    @classmethod
    def _of_lists(cls, trains: list[Codes], tests: list[Codes]) -> SplitRows:
        return cls(
            trains=np.concatenate(trains),
            train_ends=np.cumsum([len(rows) for rows in trains]),
            tests=np.concatenate(tests),
            test_ends=np.cumsum([len(rows) for rows in tests]),
        )

    def train(self, split: int) -> Codes:
        """The rows that train."""
        return self.trains[self.train_ends[split - 1] if split else 0 : self.train_ends[split]]

    def test(self, split: int) -> Codes:
        """The rows that test."""
        return self.tests[self.test_ends[split - 1] if split else 0 : self.test_ends[split]]

    def only(self, kept: list[int]) -> SplitRows:
        """Some of the splits."""
        if len(kept) == len(self):
            return self
        return self._of_lists([self.train(s) for s in kept], [self.test(s) for s in kept])

    def cut(self, cells: Codes) -> list[Codes]:
        """Numbers that stand beside `tests`, one array a split."""
        ends = self.test_ends.tolist()
        return [cells[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    def labels_trained(self, y: Codes, n_labels: int) -> npt.NDArray[np.bool_]:
        """Which labels the rows hold that train, shape (splits, labels)."""
        sizes = np.diff(self.train_ends, prepend=0)
        flat = np.repeat(np.arange(len(self)) * n_labels, sizes) + y[self.trains]
        counts = np.bincount(flat, minlength=len(self) * n_labels)
        return counts.reshape(len(self), n_labels) > 0


def _columns(table: npt.NDArray[np.bool_]) -> Codes:
    """The numbers of the columns that hold, row by row."""
    lines = np.flatnonzero(table)
    return np.remainder(lines, table.shape[1], out=lines).astype(np.int64, copy=False)
