"""Call the kernels of ``neighbour_*.c``.

Plans are bits, 64 splits per word; see ``neighbour.h``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes
from bestofk.learners.kernels.library import Kernel

Words = npt.NDArray[np.uint64]
Singles = npt.NDArray[np.float32]
Folds = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

RANGE, STD, NONE = 0, 1, 2
_SCALES = Kernel("neighbour_scales", "*f64 i64 *i64 *i64 i64 i64 &f64 &f64 &f64")
_ROWS = Kernel("neighbour_rows", "*f64 i64 i64 *i64 *f64 *f64 *f64 *f64 i64 &i64")
_RANGES = Kernel("neighbour_ranges", "*f64 i64 i64 *i64 *i64 *i32 i64 i64 &f64 &f64")
_FOLD_SCALES = Kernel("neighbour_fold_scales", "*f64 i64 i64 *i64 *i32 i64 i64 i64 &f64 &f64 &f64")
_PACK = Kernel("neighbour_pack_folds", "*i32 i64 i64 i64 i64 &u64")
_MARK = Kernel("neighbour_mark", "*i64 i64 i64 i64 &u64")
_STARTS = Kernel("neighbour_place_folds", "*i32 i64 i64 i64 &i64")
_UNPACK_FOLDS = Kernel("neighbour_unpack_folds", "*u64 i64 *i32 i64 i64 i64 *i64 &i64")
_UNPACK_TESTS = Kernel("neighbour_unpack_tests", "*u64 i64 i64 *i64 *i64 i64 &i64")
_SCAN_NUMERIC = Kernel(
    "neighbour_scan_numeric", "*f64 *i64 i64 i64 *i64 *u64 i64 i64 i64 *u64 i64 i64 &u64"
)
_SCAN_NOMINAL = Kernel(
    "neighbour_scan_nominal", "*u8 i64 i64 i64 *i64 *u64 i64 i64 i64 *u64 i64 i64 &u64"
)
_SCAN_RESCALED = Kernel(
    "neighbour_scan_rescaled",
    "*f64 *f64 i64 i64 i64 *i64 *f64 *f64 *f64 *f64 *f32 *f64 *bool i64 *i64 *i64 *f32 *f32 f64 "
    "*f64 *i64 f64 f64 i64 *i64 *u64 i64 i64 i64 i64 *u64 i64 &u64",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitScales:
    """The scales of every split and of the reference.

    The distance of two rows in a split is the sum of r_j c_j over the columns, where c_j is the
    term of column j under the reference scales and r_j is the squared ratio of the divisors.
    """

    divisor: Floats
    """(d,): divisors of the reference."""
    low: Floats
    """(splits, d), from `column_scales`, like `high` and `divisors`."""
    high: Floats
    divisors: Floats
    ratio: Singles
    """(splits, padded d): r_j; the padding to a multiple of 8 is 0."""
    least_ratio: Floats
    """(splits,): a lower bound of r_j over the columns that are not constant in the split."""
    estimable: Flags
    """(splits,): whether single precision covers the range of r_j."""
    constant_first: Codes
    """(splits + 1,): offsets into `constant_columns`."""
    constant_columns: Codes
    """Columns that are constant in a split but not in the reference."""
    least: Singles
    """(padded d,): the smallest r_j of any split."""
    most: Singles
    """(padded d,): the largest r_j of any split."""
    floor: float
    """The least ratio of all splits and columns."""
    excess: Floats
    """(d,): the mean over the splits of r_j minus the least ratio."""
    copies: Codes
    """(n,): equal for rows with equal values, which are tied in all splits that train both."""


def column_scales(
    values: Floats,
    cardinality: Codes,
    rows: Codes,
    scale: int,
    low: Floats,
    high: Floats,
    divisor: Floats,
) -> None:
    """Write the smallest and largest known values of the numeric columns in `rows`, and divisors.

    The divisor of a constant column is 0, so known values do not count. Without scaling, it is 0
    only for a column without known values. Nominal columns get 0, 0 and 1.
    """
    _SCALES(
        values, values.shape[1], cardinality, rows, len(rows), scale, low, high, divisor
    )  # fmt: skip


def nearest_rows(
    columns: Floats,
    cardinality: Codes,
    low: Floats,
    high: Floats,
    divisor: Floats,
    queries: Floats,
) -> Codes:
    """Return the index of the nearest row for every query, the lowest of tied rows.

    `columns` are the transposed training rows, shape (d, n).
    """
    queries = np.ascontiguousarray(queries, dtype=np.float64)
    nearest = np.empty(len(queries), dtype=np.int64)
    _ROWS(
        columns, *columns.shape, cardinality, low, high, divisor, queries, len(queries), nearest
    )  # fmt: skip
    return nearest


def scales_by_fold(
    values: Floats, cardinality: Codes, fold_of: Folds, folds: int, scale: int
) -> tuple[Floats, Floats, Floats]:
    """Return low, high and divisor of the rows outside each fold, shape (splits, d) each."""
    columns = np.ascontiguousarray(values.T)
    runs, (n, d) = len(fold_of), values.shape
    low, high, divisor = (np.empty((runs * folds, d)) for _ in range(3))
    order = np.argsort(columns, axis=1)
    known = (~np.isnan(columns)).sum(axis=1)
    _RANGES(columns, d, n, order, known, fold_of, runs, folds, low, high)
    _FOLD_SCALES(
        values, n, d, cardinality, fold_of, runs, folds, scale, low, high, divisor
    )  # fmt: skip
    return low, high, divisor


def pack_folds(fold_of: Folds, planes: Words) -> None:
    """Write the bits of `fold_of`, shape (runs, n), to `planes`, shape (n, words, digits)."""
    _PACK(fold_of, *fold_of.shape, *planes.shape[1:], planes)


def mark(rows: Codes, split: int, planes: Words) -> None:
    """Set the bit of `split` for all `rows` in `planes`, shape (n, words, 1)."""
    _MARK(np.ascontiguousarray(rows, dtype=np.int64), len(rows), split, planes.shape[1], planes)


def fold_starts(fold_of: Folds, folds: int) -> Codes:
    """Return the start of each split in the order (run, fold, row), then the number of rows."""
    first = np.empty(len(fold_of) * folds + 1, dtype=np.int64)
    _STARTS(fold_of, *fold_of.shape, folds, first)
    return first


def unpack_folds(predicted: Words, fold_of: Folds, folds: int, first: Codes) -> Codes:
    """Return the codes of all rows in the order (run, fold, row), from (words, digits, n) bits."""
    out = np.empty(fold_of.size, dtype=np.int64)
    _UNPACK_FOLDS(predicted, predicted.shape[1], fold_of, *fold_of.shape, folds, first, out)
    return out


def unpack_tests(predicted: Words, tests: Codes, first: Codes) -> Codes:
    """Return the codes of the rows `tests`, which start at ``first[s]`` for split s."""
    out = np.empty(int(first[-1]), dtype=np.int64)
    _UNPACK_TESTS(
        predicted, *predicted.shape[1:], tests, first, len(first) - 1, out
    )  # fmt: skip
    return out


def scan_numeric(
    columns: Floats,
    cardinality: Codes,
    y: Codes,
    planes: Words,
    by_fold: bool,
    tested: Words,
    m: int,
    predicted: Words,
) -> None:
    """Predict with unscaled numeric columns without unknown values; write to `predicted`."""
    _SCAN_NUMERIC(
        columns, cardinality, *columns.shape, y, planes, by_fold, *planes.shape[1:], tested, m,
        predicted.shape[1], predicted,
    )  # fmt: skip


def scan_nominal(
    codes: npt.NDArray[np.uint8],
    missing: int,
    y: Codes,
    planes: Words,
    by_fold: bool,
    tested: Words,
    m: int,
    predicted: Words,
) -> None:
    """Predict with nominal columns only: `codes` are small integers, `missing` is unknown."""
    _SCAN_NOMINAL(
        codes, missing, *codes.shape, y, planes, by_fold, *planes.shape[1:], tested, m,
        predicted.shape[1], predicted,
    )  # fmt: skip


def scan_rescaled(
    values: Floats,
    columns: Floats,
    cardinality: Codes,
    scales: SplitScales,
    one_floor: float,
    both_floor: float,
    by_class: bool,
    y: Codes,
    planes: Words,
    by_fold: bool,
    folds: int,
    tested: Words,
    predicted: Words,
) -> None:
    """Predict with columns scaled by the training rows of each split; write to `predicted`.

    `columns` is the transpose of `values`. `one_floor` and `both_floor` are the least terms of
    one and of two unknown numbers in any split. `by_class` separates the neighbours by class,
    which is faster for many runs.
    """
    _SCAN_RESCALED(
        values, columns, *values.shape, scales.ratio.shape[1], cardinality, scales.divisor,
        scales.low, scales.high, scales.divisors, scales.ratio, scales.least_ratio,
        scales.estimable, len(scales.ratio), scales.constant_first, scales.constant_columns,
        scales.least, scales.most, scales.floor, scales.excess, scales.copies, one_floor,
        both_floor, by_class, y, planes, by_fold, folds, *planes.shape[1:], tested,
        predicted.shape[1], predicted,
    )  # fmt: skip
