"""Rows as the compiled kernels see them: one matrix of numbers and codes, one vector of classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.errors import ArgumentError

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Encoded:
    """A data set of n rows and d columns, ready for a kernel.

    Parameters
    ----------
    values : array of float64, shape (n, d), C-contiguous
        Numbers of numeric columns; codes 0..v-1 of nominal ones; NaN where the value is missing.
    cardinality : array of int64, shape (d,)
        0 for a numeric column, else the number v of declared values (also of those that no
        row holds).
    y : array of int64, shape (n,)
        Class codes 0..n_classes-1.
    classes : array, shape (n_classes,)
        The labels in declared order: ``classes[y]`` are the labels of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> data = Encoded(values=np.array([[0.5, 1.0], [2.5, np.nan]]), cardinality=np.array([0, 3]),
    ...                y=np.array([2, 0]), classes=np.array(["a", "b", "c"]))
    >>> data.n, data.d, data.n_classes
    (2, 2, 3)
    >>> present, codes = data.only_present_classes()
    >>> present.y.tolist(), present.classes.tolist(), codes.tolist()
    ([1, 0], ['a', 'c'], [0, 2])
    """

    values: Floats
    cardinality: Codes
    y: Codes
    classes: npt.NDArray[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.ascontiguousarray(self.values, dtype=np.float64))
        for name in ("cardinality", "y"):
            codes = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            object.__setattr__(self, name, codes)
        object.__setattr__(self, "classes", np.asarray(self.classes))
        n, d = self.values.shape
        if self.cardinality.shape != (d,) or self.y.shape != (n,):
            raise ArgumentError(
                f"An encoded data set of {n} rows and {d} columns must have {d} cardinalities and "
                f"{n} class codes; got {self.cardinality.shape} and {self.y.shape}."
            )
        check_codes(self.values, self.cardinality)
        if n and not 0 <= int(self.y.min()) <= int(self.y.max()) < len(self.classes):
            raise ArgumentError(
                f"Class codes must be from 0 to {len(self.classes) - 1}; "
                f"got {int(self.y.min())} to {int(self.y.max())}."
            )

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.values.shape[0])

    @property
    def d(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])

    @property
    def n_classes(self) -> int:
        """The number of declared classes."""
        return len(self.classes)

    def take(self, rows: npt.NDArray[np.integer]) -> Encoded:
        """The given rows, with the same columns, values and classes declared."""
        return replace(self, values=self.values[rows], y=self.y[rows])

    def only_present_classes(self) -> tuple[Encoded, Codes]:
        """The same rows with the classes that they hold, and those classes' codes before."""
        counts = np.bincount(self.y, minlength=self.n_classes)
        codes = np.flatnonzero(counts).astype(np.int64)
        if len(codes) == self.n_classes:
            return self, codes
        position = np.zeros(self.n_classes, dtype=np.int64)
        position[codes] = np.arange(len(codes))
        return replace(self, y=position[self.y], classes=self.classes[codes]), codes


def check_codes(values: Floats, cardinality: Codes) -> None:
    """Refuse codes of nominal columns that were not declared: kernels use them as places."""
    nominal = cardinality > 0
    if nominal.any():
        codes = values if nominal.all() else values[:, nominal]
        if ((codes < 0) | (codes >= cardinality[nominal])).any():
            raise ArgumentError(
                "The codes of a nominal column must be from 0 to its number of values less 1, or "
                f"NaN; got {float(np.nanmin(codes)):g} to {float(np.nanmax(codes)):g}."
            )
