"""Call the kernels of ``nearest_mean.c`` and ``exact_sums.c``.

The kernels sum numbers exactly. Every float in a column is a whole multiple of ``2**low``. On that
grid a number is an integer, stored in limbs of ``width`` bits so that the int64 sum of a limb over
all n rows cannot overflow. Sums of limbs can be added and subtracted exactly. The kernel rounds
them to the float nearest to the exact sum, which does not depend on the grid or the row order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.kernels.library import Kernel

_EXPONENTS = Kernel("limb_exponents", "*i64 i64 i64 &i64 &i64")
_SPLIT = Kernel("split_into_limbs", "*i64 i64 i64 *i64 *i64 i64 &i64 i64")
_DATA = "*f64 *i64 *i8 *i32 i64 i64 i64 i64 i64 *i64 *i64 *i64 i64 *i64 i64"
_QUICK_MEANS = Kernel("nearest_mean_quick_means", "*f64 i64 i64 *i64 i64 &f64")
_FIT = Kernel("nearest_mean_fit", f"{_DATA} i64 &f64 &i32 &i64 &f64")
_ROWS = Kernel("nearest_mean_rows", "*f64 *i32 i64 i64 i64 *f64 *i32 *i64 i64 *f64 i64 &i64")
_PLAN = Kernel("nearest_mean_plan", f"{_DATA} *i64 i64 i64 i64 &i64 &i64")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limbs:
    """The limbs of all numeric columns.

    - `digits` (n, total number of limbs): Limbs with the sign of the number; missing cells are 0.
    - `first` (columns + 1,): Column j has the limbs ``first[j]`` (lowest) to ``first[j + 1] - 1``.
    - `low` (columns,): Exponent of the unit of the lowest limb.
    - `width`: Bits of a limb.
    """

    digits: Codes
    first: Codes
    low: Codes
    width: int

    @classmethod
    def none(cls, n: int, d: int) -> Limbs:
        """Return no limbs, if the means are known."""
        first, low = np.zeros(d + 1, dtype=np.int64), np.zeros(d, dtype=np.int64)
        return cls(digits=np.empty((n, 0), dtype=np.int64), first=first, low=low, width=1)


def limbs(numbers: Floats) -> Limbs:
    """Split `numbers`, shape (n, columns) with NaN for missing cells, into limbs.

    Examples
    --------
    >>> parts = limbs(np.array([[3.0, 0.1], [5.0, 2.0**30]]))
    >>> np.diff(parts.first).tolist()  # 0.1 and 2**30 together need 86 bits
    [1, 2]
    """
    n, d = numbers.shape
    width = 62 - int(n).bit_length()
    low, high = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)
    bits = np.ascontiguousarray(numbers).view(np.int64)
    _EXPONENTS(bits, n, d, low, high)
    first = np.concatenate(([0], np.cumsum(-(-(high - low) // width)))).astype(np.int64)
    digits = np.zeros((n, int(first[-1])), dtype=np.int64)
    _SPLIT(bits, n, d, first, low, width, digits, digits.shape[1])
    return Limbs(digits=digits, first=first, low=low, width=width)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The numeric columns and the nominal columns as separate arrays."""

    numbers: Floats
    known: npt.NDArray[np.int8]
    """1 if a number is known, shape (n, numeric columns); no columns if all are known."""
    codes: npt.NDArray[np.int32]
    """-1 if missing."""
    offset: Codes
    """The values of nominal column j have the indices offset[j] to offset[j + 1] - 1."""

    @classmethod
    def of(cls, values: Floats, cardinality: Codes) -> Parts:
        """Separate the columns of encoded rows."""
        numeric = cardinality == 0
        numbers = np.ascontiguousarray(values if numeric.all() else values[:, numeric])
        known = np.empty((len(numbers), 0), dtype=np.int8)
        if numbers.size and np.isnan(numbers.min()):
            known = (~np.isnan(numbers)).astype(np.int8)
        nominal = values[:, cardinality > 0]
        codes = np.where(np.isnan(nominal), -1.0, nominal).astype(np.int32)
        sizes = cardinality[cardinality > 0]
        return cls(
            numbers=numbers,
            known=known,
            codes=np.ascontiguousarray(codes),
            offset=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        )


def _data(encoded: Encoded, parts: Parts, grid: Limbs) -> tuple[object, ...]:
    """Return the kernel arguments that describe a data set."""
    return (
        parts.numbers, grid.digits, parts.known, parts.codes, *parts.numbers.shape,
        grid.digits.shape[1], parts.known.shape[1], parts.codes.shape[1], parts.offset, grid.first,
        grid.low, grid.width, encoded.y, encoded.n_classes,
    )  # fmt: skip


def fit(encoded: Encoded, kind: int) -> tuple[Floats, npt.NDArray[np.int32], Codes, Floats]:
    """Return means (c, numbers), modes (c, codes), rows of each class, 1 / scale of each number.

    `kind` 1 scales by the standard deviation (with n), 2 by the range; 0 does not scale.
    """
    parts, c = Parts.of(encoded.values, encoded.cardinality), encoded.n_classes
    means = np.empty((c, parts.numbers.shape[1]))
    modes = np.empty((c, parts.codes.shape[1]), dtype=np.int32)
    rows, scale = np.empty(c, dtype=np.int64), np.ones(parts.numbers.shape[1])
    quick = _QUICK_MEANS(parts.numbers, *parts.numbers.shape, encoded.y, c, means)
    grid = Limbs.none(*parts.numbers.shape) if quick else limbs(parts.numbers)
    _FIT(*_data(encoded, parts, grid), kind, means, modes, rows, scale)
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
    """Return the nearest class of every row."""
    parts = Parts.of(values, cardinality)
    predicted = np.empty(len(values), dtype=np.int64)
    _ROWS(
        parts.numbers, parts.codes, *parts.numbers.shape, parts.codes.shape[1], means, modes, rows,
        len(rows), scale, int(scaled), predicted,
    )  # fmt: skip
    return predicted


def predict_folds(encoded: Encoded, fold_of: Codes, folds: int, kind: int) -> tuple[Codes, Codes]:
    """Predict each row with the model of all rows outside its fold, for every run.

    Return the predictions of each run in the order fold 0, fold 1, ..., and the start of each
    fold, shape (runs, folds + 1).
    """
    runs, n = fold_of.shape
    predicted = np.empty((runs, n), dtype=np.int64)
    begins = np.zeros((runs, folds + 1), dtype=np.int64)
    parts = Parts.of(encoded.values, encoded.cardinality)
    _PLAN(
        *_data(encoded, parts, limbs(parts.numbers)), fold_of, runs, folds, kind, predicted, begins
    )
    return predicted, begins
