"""The nearest mean on encoded rows, by the kernels of ``nearest_mean.c``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.kernels.library import Kernel
from bestofk.learners.nearest_mean import limbs

_DATA = "*f64 *i64 *i8 *i32 i64 i64 i64 i64 i64 *i64 *i64 *i64 i64 *i64 i64"
_FIT = Kernel("nearest_mean_fit", f"{_DATA} i64 &f64 &i32 &i64 &f64")
_ROWS = Kernel("nearest_mean_rows", "*f64 *i32 i64 i64 i64 *f64 *i32 *i64 i64 *f64 i64 &i64")
_PLAN = Kernel("nearest_mean_plan", f"{_DATA} *i64 i64 i64 i64 &i64 &i64")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The numeric columns and the nominal ones, each side by side."""

    numbers: Floats
    known: npt.NDArray[np.int8]
    """1 where a number is known, shape (n, numeric columns); no columns when all are known."""
    codes: npt.NDArray[np.int32]
    """-1 where missing."""
    offset: Codes
    """The values of nominal column j have the places offset[j] to offset[j + 1] - 1."""

    @classmethod
    def of(cls, values: Floats, cardinality: Codes) -> Parts:
        """The parts of encoded rows."""
        numbers = np.ascontiguousarray(values[:, cardinality == 0])
        missing = np.isnan(numbers)
        known = ~missing if missing.any() else missing[:, :0]
        nominal = values[:, cardinality > 0]
        codes = np.where(np.isnan(nominal), -1.0, nominal).astype(np.int32)
        sizes = cardinality[cardinality > 0]
        return cls(
            numbers=numbers,
            known=np.ascontiguousarray(known.astype(np.int8)),
            codes=np.ascontiguousarray(codes),
            offset=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        )


def _data(encoded: Encoded, parts: Parts) -> tuple[object, ...]:
    """What the kernels take of a data set."""
    grid = limbs(parts.numbers)
    return (
        parts.numbers, grid.digits, parts.known, parts.codes, *parts.numbers.shape,
        grid.digits.shape[1], parts.known.shape[1], parts.codes.shape[1], parts.offset, grid.first,
        grid.low, grid.width, encoded.y, encoded.n_classes,
    )  # fmt: skip


def fit(encoded: Encoded, kind: int) -> tuple[Floats, npt.NDArray[np.int32], Codes, Floats]:
    """Means (c, numbers), modes (c, codes), rows of each class, 1 / scale of each number.

    `kind` 1 scales by the standard deviation (with n), 2 by the range, 0 not at all.
    """
    parts, c = Parts.of(encoded.values, encoded.cardinality), encoded.n_classes
    means = np.empty((c, parts.numbers.shape[1]))
    modes = np.empty((c, parts.codes.shape[1]), dtype=np.int32)
    rows, scale = np.empty(c, dtype=np.int64), np.ones(parts.numbers.shape[1])
    _FIT(*_data(encoded, parts), kind, means, modes, rows, scale)
    return means, modes, rows, scale


def predict_rows(
    values: Floats,
    cardinality: Codes,
    *,
    means: Floats,
    modes: npt.NDArray[np.int32],
    rows: Codes,
    scale: Floats,
    scaled: bool,
) -> Codes:
    """The nearest class of every row."""
    parts = Parts.of(values, cardinality)
    predicted = np.empty(len(values), dtype=np.int64)
    _ROWS(
        parts.numbers, parts.codes, *parts.numbers.shape, parts.codes.shape[1], means, modes, rows,
        len(rows), scale, int(scaled), predicted,
    )  # fmt: skip
    return predicted


def predict_folds(encoded: Encoded, fold_of: Codes, folds: int, kind: int) -> tuple[Codes, Codes]:
    """Each row's prediction by the model of all rows outside its fold, for every run.

    The predictions of a run hold the rows of fold 0, then those of fold 1, and so on; with them
    comes where each fold begins, shape (runs, folds + 1).
    """
    runs, n = fold_of.shape
    predicted = np.empty((runs, n), dtype=np.int64)
    begins = np.zeros((runs, folds + 1), dtype=np.int64)
    parts = Parts.of(encoded.values, encoded.cardinality)
    _PLAN(*_data(encoded, parts), fold_of, runs, folds, kind, predicted, begins)
    return predicted, begins
