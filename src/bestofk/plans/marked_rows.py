"""The rows as the function of a registered plan marks them, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.errors import ArgumentError
from bestofk.plans.registry import PlanEntry
from bestofk.registry import resolve


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MarkedRows:
    """Marks as `Splits` holds them, and how many rows each split tests."""

    marks: npt.NDArray[Any]
    n_test: npt.NDArray[np.int64]


def marked_rows(
    entry: PlanEntry, n: int, *, runs: int, folds: int | None, **given: Any
) -> MarkedRows:
    """Call the function of `entry`, and refuse marks that are no plan of its kind."""
    assert folds is not None
    marks = np.asarray(resolve(entry.function)(n, runs=runs, folds=folds, **given))
    if entry.kind == "cv":
        wanted, fits = (runs, n), marks.dtype.kind in "iu"
        what = f"({runs}, {n}) whole numbers from 0 to {folds - 1}, each of them in every run"
    else:
        wanted, fits = (folds, n), marks.dtype.kind == "b"
        what = f"({folds}, {n}) booleans, some and not all of them true in every row"
    if fits and marks.shape == wanted:
        if entry.kind == "cv":
            tested = np.stack([(marks == fold).sum(axis=1) for fold in range(folds)], axis=1)
            fits = bool(tested.all()) and bool((tested.sum(axis=1) == n).all())
            marks = marks.astype(np.int32)
        else:
            tested = marks.sum(axis=1)
            fits = bool(((tested > 0) & (tested < n)).all())
        if fits:
            return MarkedRows(marks=marks, n_test=tested.astype(np.int64))
    raise ArgumentError(
        f"plan {entry.name!r}: its function must give {what}; got an array of shape "
        f"{marks.shape} and type {marks.dtype}."
    )
