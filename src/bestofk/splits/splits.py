"""The splits of a plan for given rows, and what a plan must know about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import whole
from bestofk._base.errors import ArgumentError, use
from bestofk.splits.design import Design
from bestofk.splits.folds import TRAINS, FoldOf, Indices

Split = tuple[int, int, Indices, Indices]
TESTED = -1
"""Mark of a test row if the splits may leave rows out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Splits:
    """The splits of a plan for `n` rows, replayable and compact.

    Iterating yields (run, fold, train, test) in the order of the plan. Two values are equal if
    their fingerprints are equal.

    Parameters
    ----------
    spec : str
        The specification of the plan in its canonical spelling.
    seed : int
        The seed of the random choices.
    n : int
        Number of rows.
    design : Design
        Runs, folds, numbers of training and test rows, stratified or not.
    marks : ndarray
        Read-only. Cross-validation and leave-one-out: (runs, n), the fold that tests the row.
        Random splits: (splits, n), True for test rows. Bootstrap: (samples, n), how often the row
        was drawn. Splits that leave rows out (time windows, your own splits): (splits, n)
        integers, -1 for test rows, else how often the row trains.
    notes : tuple of str
        What the reader should know, one sentence each.
    fingerprint : str
        SHA-256 of the specification and the marks.
    subset_marks : ndarray or None
        Read-only (subset runs, n): the fold that tests the row in a run on part of the rows.
        2 for training rows, 0 and 1 for the test rows of the two folds. These runs are numbered
        after the others.
    """

    spec: str
    seed: int
    n: int
    design: Design
    marks: npt.NDArray[Any]
    notes: tuple[str, ...]
    fingerprint: str
    subset_marks: npt.NDArray[np.int32] | None = None

    @classmethod
    def of(
        cls,
        *,
        spec: str,
        seed: int,
        kind: str,
        marks: npt.NDArray[Any],
        notes: tuple[str, ...],
        stratified: bool | None = None,
        groups: Labelling | None = None,
        subset_marks: FoldOf | None = None,
    ) -> Splits:
        """Return the splits that the marks describe; the marks become read-only."""
        in_folds = kind in ("cv", "loo")
        runs, folds = (len(marks), int(marks.max()) + 1) if in_folds else (1, len(marks))
        n_train, n_test = _sizes(kind, marks, folds)
        design = Design(
            kind=kind,
            runs=runs,
            folds=folds,
            n_train=tuple(n_train.ravel().tolist()),
            n_test=tuple(n_test.ravel().tolist()),
            stratified=stratified,
            nested_runs=0 if subset_marks is None else len(subset_marks),
            groups=None if groups is None else equal_groups(groups.sizes),
        )
        digest = sha256()
        for number, table in enumerate((marks, subset_marks)):
            if table is None:
                continue
            table.setflags(write=False)
            portable = table.astype(table.dtype.newbyteorder("<"), copy=False)
            head = "subsets" if number else f"bestofk splits 1\n{spec}"
            digest.update(f"{head}\n{portable.dtype.str} {table.shape}\n".encode())
            for row in portable:
                digest.update(row.tobytes())
        return cls(
            spec=spec,
            seed=seed,
            n=marks.shape[1],
            design=design,
            marks=marks,
            notes=notes,
            fingerprint=digest.hexdigest(),
            subset_marks=subset_marks,
        )

    @property
    def runs(self) -> int:
        """Number of runs; 1 for random splits and bootstrap samples."""
        return self.design.runs

    @property
    def folds(self) -> int:
        """Folds of a run, or the number of random splits or samples."""
        return self.design.folds

    @property
    def fold_of(self) -> npt.NDArray[np.int32] | None:
        """(runs, n) the fold that tests each row; None if rows do not have exactly one fold."""
        return self.marks if self.design.kind in ("cv", "loo") else None

    @property
    def leaves_out(self) -> bool:
        """True if a row may neither train nor test; kernels for whole plans do not support that."""
        return self.design.kind not in ("cv", "loo", "bootstrap") and self.marks.dtype.kind != "b"

    @property
    def subset_runs(self) -> int:
        """Number of runs on parts of the rows, which follow the others."""
        return 0 if self.subset_marks is None else len(self.subset_marks)

    def folds_in(self, run: int) -> int:
        """Return the number of folds of a run, including runs on parts of the rows."""
        return 2 if self.shares_models(run) else self.folds

    @property
    def main(self) -> Splits:
        """The splits without the runs on parts of the rows."""
        if self.subset_marks is None:
            return self
        return replace(self, design=self.design.with_(nested_runs=0), subset_marks=None)

    def shares_models(self, run: int) -> bool:
        """Return whether one model serves all folds of a run, as in nested runs."""
        return run >= self.runs and self.subset_marks is not None

    def folds_tested(self, run: int) -> npt.NDArray[np.int32]:
        """Return the folds of the test rows of a nested run, rows ascending."""
        assert self.subset_marks is not None
        marks = self.subset_marks[run - self.runs]
        tested: npt.NDArray[np.int32] = marks[marks < TRAINS]
        return tested

    def pairs_left_out(self, runs: Sequence[int]) -> Splits:
        """Return nested runs as random splits that each test two folds."""
        assert self.subset_marks is not None
        tested = self.subset_marks[np.asarray(runs, dtype=np.int64) - self.runs] < TRAINS
        return Splits(
            spec=f"resample:{len(runs)}:{2 / self.folds!r}",
            seed=self.seed,
            n=self.n,
            design=Design(kind="resample", folds=len(runs), stratified=self.design.stratified),
            marks=tested,
            notes=(),
            fingerprint=f"{self.fingerprint}, runs {list(runs)}",
        )

    def train(self, run: int, fold: int) -> Indices:
        """Return the training rows, ascending; a bootstrap sample repeats rows."""
        row, fold = self._at(run, fold)
        if self.shares_models(run):
            return np.flatnonzero(row == TRAINS).astype(np.int64, copy=False)
        if self.design.kind in ("cv", "loo"):
            return np.flatnonzero(row != fold).astype(np.int64, copy=False)
        if self.design.kind == "bootstrap":
            return np.repeat(np.arange(self.n, dtype=np.int64), row)
        if self.leaves_out:
            return np.repeat(np.arange(self.n, dtype=np.int64), np.maximum(row, 0))
        return np.flatnonzero(~row).astype(np.int64, copy=False)

    def test(self, run: int, fold: int) -> Indices:
        """Return the test rows, ascending."""
        row, fold = self._at(run, fold)
        if self.design.kind in ("cv", "loo"):
            tested = row == fold
        else:
            tested = row == 0 if self.design.kind == "bootstrap" else row
            if self.leaves_out:
                tested = row == TESTED
        return np.flatnonzero(tested).astype(np.int64, copy=False)

    def _at(self, run: int, fold: int) -> tuple[npt.NDArray[Any], int]:
        run = whole(run, "run", at_least=0)
        fold = whole(fold, "fold", at_least=0)
        if run >= self.runs + self.subset_runs or fold >= self.folds_in(run):
            raise ArgumentError(
                f"run and fold must be below {self.runs + self.subset_runs} and "
                f"{self.folds_in(run)}; got run {run}, fold {fold}."
            )
        if run >= self.runs and self.subset_marks is not None:
            return self.subset_marks[run - self.runs], fold
        return self.marks[run if self.design.kind in ("cv", "loo") else fold], fold

    def __iter__(self) -> Iterator[Split]:
        for run, fold in self.run_folds():
            yield run, fold, self.train(run, fold), self.test(run, fold)

    def run_folds(self) -> Iterator[tuple[int, int]]:
        """Iterate over (run, fold) of every split, runs on parts of the rows last."""
        for run in range(self.runs + self.subset_runs):
            for fold in range(self.folds_in(run)):
                yield run, fold

    def __len__(self) -> int:
        return self.runs * self.folds + 2 * self.subset_runs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Splits) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def _sizes(kind: str, marks: npt.NDArray[Any], folds: int) -> tuple[Indices, Indices]:
    """Return the number of distinct training rows and of test rows of each split."""
    if kind in ("cv", "loo"):
        tested = np.stack([np.bincount(row, minlength=folds) for row in marks])
        return marks.shape[1] - tested, tested
    if marks.dtype.kind == "b":
        return (~marks).sum(axis=1), marks.sum(axis=1)
    test = 0 if kind == "bootstrap" else TESTED
    return (marks > 0).sum(axis=1), (marks == test).sum(axis=1)


def distinct_rows(train: Indices) -> int:
    """Count the distinct rows among ascending row numbers.

    Examples
    --------
    >>> distinct_rows(np.array([0, 2, 2, 2, 5]))
    3
    """
    return int(len(train) > 0) + int(np.count_nonzero(train[1:] != train[:-1]))


# Classes and groups of the rows

QUANTILES = "quantiles"
MAX_QUANTILES = 10
"""Number of classes that a numeric target is cut into."""
MAX_NUMERIC_CLASSES = 20
"""More distinct integers than this, and than a fifth of the rows, are a quantity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """Rows by label: `codes` number the labels by first appearance, so names never matter."""

    codes: Indices
    names: tuple[Any, ...]
    sizes: Indices

    @property
    def count(self) -> int:
        """The number of labels."""
        return len(self.names)

    @classmethod
    def of(cls, column: npt.NDArray[Any], where: str) -> Labelling:
        """Number the labels of a column that `column_of` has checked."""
        seen: dict[Any, int] = {}
        try:
            codes = np.array(
                [seen.setdefault(label, len(seen)) for label in column.tolist()], dtype=np.int64
            )
        except TypeError:
            raise ArgumentError(
                f"{where} must hold text, numbers or booleans; got values that cannot be hashed."
            ) from None
        return cls(codes=codes, names=tuple(seen), sizes=np.bincount(codes, minlength=len(seen)))


def equal_groups(sizes: Any) -> int:
    """Return the number of groups of equal size that show as much as groups of these sizes.

    The mean over all rows depends mostly on the large groups, so its variance comes from few of
    them.

    Examples
    --------
    >>> equal_groups([5] * 20), equal_groups([16] * 4 + [4] * 16)
    (20, 9)
    """
    from bestofk.stats.pairwise.clustered import degrees_of_freedom

    return round(degrees_of_freedom(np.asarray(sizes, dtype=np.float64))) + 1


def column_of(values: Any, where: str, n: int) -> npt.NDArray[Any]:
    """Return `values` as one array of `n` values without missing values."""
    try:
        column = np.asarray(values)
    except ValueError:
        raise ArgumentError(
            f"{where} must be one value per row; got rows of different lengths."
        ) from None
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ArgumentError(f"{where} must be one value per row; got shape {column.shape}.")
    if len(column) != n:
        raise ArgumentError(
            f"{where} must hold one value for each of the {n} rows; got {len(column)}."
        )
    import pandas as pd

    gaps = pd.isna(column)
    if gaps.any():
        raise ArgumentError(
            f"{where} must have no missing values; row {int(np.argmax(gaps))} is missing "
            f"({int(gaps.sum())} of {n})."
        )
    return column


def are_labels(column: npt.NDArray[Any]) -> bool:
    """Return whether a target holds class labels: text, booleans, whole numbers, categories.

    Numbers with a fractional part, times and complex numbers are quantities.
    """
    kind = column.dtype.kind
    if kind == "f":
        return bool(np.all(np.isfinite(column)) and np.all(column == np.floor(column)))
    if kind == "O":
        return all(
            not isinstance(value, float | np.floating) or float(value).is_integer()
            for value in column.tolist()
        )
    return kind not in "cmM"


def is_categorical(values: Any) -> bool:
    """Return whether a data frame library declares the values to be categories."""
    declared = str(getattr(values, "dtype", "")).lower()
    return declared == "category" or declared.startswith(("categorical", "enum"))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRows:
    """The number of rows, their classes (to stratify by) and their groups."""

    n: int
    classes: Labelling | None
    groups: Labelling | None
    notes: tuple[str, ...]


def known_rows(n: int, y: Any, groups: Any, *, stratified: bool | str | None) -> KnownRows:
    """Return the classes and groups of `n` rows, or raise if `y` cannot be stratified."""
    if n < 2:
        raise ArgumentError(f"A plan needs at least 2 rows; got {n}.")
    parts = None if groups is None else Labelling.of(column_of(groups, "groups", n), "groups")
    if parts is not None and parts.count < 2:
        raise ArgumentError(
            f"groups must name at least 2 groups, one to train on and one to test; got only "
            f"{parts.names[0]!r}."
        )
    target = None if y is None else column_of(y, "y", n)
    classes: Labelling | None = None
    notes: tuple[str, ...] = ()
    if target is not None and stratified is not False:
        classes, notes = _classes(target, is_categorical(y), stratified)
    elif stratified:
        what = "the labels y" if stratified is True else "the numbers y"
        raise ArgumentError(use(stratified=stratified), f" needs {what}; got None.")
    return KnownRows(n=n, classes=classes, groups=parts, notes=notes)


def _classes(
    target: npt.NDArray[Any], categorical: bool, stratified: bool | str | None
) -> tuple[Labelling | None, tuple[str, ...]]:
    """Return the classes of a target, None for a quantity, and a note."""
    if stratified == QUANTILES:
        classes = _quantiles(target)
        return classes, (f"Stratified by y in {classes.count} parts of about equal size.",)
    if not (categorical or are_labels(target)):
        if stratified:
            raise ArgumentError(
                use(stratified=True),
                " needs class labels in y; got numbers with a fractional part or times.",
            )
        return None, ()
    classes = Labelling.of(target, "y")
    many = classes.count > max(MAX_NUMERIC_CLASSES, len(target) // 5)
    if many and stratified is None and target.dtype.kind in "iuf" and not categorical:
        return None, (
            f"y has {classes.count} distinct integers, which are treated as a quantity, so the "
            "splits are not stratified; stratify by labels to treat them as classes.",
        )
    if classes.count == 1:
        return classes, (
            f"All rows are of class {classes.names[0]!r}: stratification has no effect.",
        )
    return classes, ()


def _quantiles(target: npt.NDArray[Any]) -> Labelling:
    """Cut a numeric target into classes of about the same size, in ascending order."""
    if target.dtype.kind not in "iufb" or not np.isfinite(target.astype(np.float64)).all():
        raise ArgumentError(
            use(stratified=QUANTILES), " needs numbers in y; got labels or other values."
        )
    _, inverse, counts = np.unique(target, return_inverse=True, return_counts=True)
    # equal numbers share the middle of their ranks
    middle = np.cumsum(counts) - (counts + 1) / 2
    n = len(target)
    parts = max(1, min(MAX_QUANTILES, n // 2))
    return Labelling.of((middle[inverse.reshape(-1)] * parts / n).astype(np.int64), "y")
