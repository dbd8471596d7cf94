"""Labels and groups as small whole numbers: all that a plan may know of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.errors import ArgumentError
from bestofk.plans.random_bits import Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """Rows by kind: `codes` number the kinds by first appearance, so names never matter."""

    codes: Indices
    names: tuple[Any, ...]
    sizes: Indices

    @property
    def count(self) -> int:
        """How many kinds there are."""
        return len(self.names)

    @classmethod
    def single(cls, n: int) -> Labelling:
        """All `n` rows of one kind."""
        return cls(codes=np.zeros(n, dtype=np.int64), names=("all",), sizes=np.array([n]))

    @classmethod
    def of(cls, column: npt.NDArray[Any], where: str) -> Labelling:
        """The kinds in a column that `column_of` has cleaned."""
        if column.dtype.kind in "biufSU":
            values, first, inverse = np.unique(column, return_index=True, return_inverse=True)
            by_appearance = np.argsort(first, kind="stable")
            number = np.empty(len(values), dtype=np.int64)
            number[by_appearance] = np.arange(len(values))
            codes = number[inverse.reshape(-1)]
            names = tuple(values[by_appearance].tolist())
        else:
            seen: dict[Any, int] = {}
            try:
                codes = np.array([seen.setdefault(v, len(seen)) for v in column.tolist()])
            except TypeError:
                raise ArgumentError(
                    f"{where} must hold labels that can be told apart (text, numbers, booleans); "
                    "got values that cannot be hashed."
                ) from None
            codes = codes.astype(np.int64)
            names = tuple(seen)
        return cls(codes=codes, names=names, sizes=np.bincount(codes, minlength=len(names)))


def column_of(values: Any, where: str, n: int) -> npt.NDArray[Any]:
    """`values` as one array of `n` values without gaps."""
    try:
        column = np.asarray(values)
    except ValueError:
        raise ArgumentError(
            f"{where} must be one value per row; got rows of unlike length."
        ) from None
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ArgumentError(f"{where} must be one value per row; got shape {column.shape}.")
    if len(column) != n:
        raise ArgumentError(
            f"{where} must hold one value for each of the {n} rows; got {len(column)}."
        )
    gaps = _gaps(column)
    if gaps.any():
        raise ArgumentError(
            f"{where} must have no missing values; row {int(np.argmax(gaps))} has none "
            f"({int(gaps.sum())} such of {n})."
        )
    return column


def _gaps(column: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if column.dtype.kind in "fc":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "mM":
        return np.asarray(np.isnat(column))
    if column.dtype.kind in "biuSU":
        return np.zeros(len(column), dtype=bool)
    return np.array([_is_gap(value) for value in column.tolist()], dtype=bool)


def _is_gap(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA has no truth value
        return True


def are_labels(column: npt.NDArray[Any]) -> bool:
    """Whether a target names classes: text, booleans, whole numbers, categories.

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
    """Whether a data frame library declared the values to be categories, whatever they are."""
    declared = str(getattr(values, "dtype", "")).lower()
    return declared == "category" or declared.startswith(("categorical", "enum"))
