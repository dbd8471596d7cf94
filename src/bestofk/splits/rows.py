"""What a plan must know about rows: their number, classes and groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.errors import ArgumentError, use

Indices = npt.NDArray[np.int64]
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
