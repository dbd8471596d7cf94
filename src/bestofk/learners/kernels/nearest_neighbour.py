"""The nearest neighbour on encoded rows, by the kernels of ``neighbour_*.c``.

Plans are bits, 64 splits in a word: see ``neighbour.h``.
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
EIGHT = 8
"""Neighbours in a block, and columns in a bound."""
PARTS = EIGHT + 1
"""Numbers for each neighbour: its reference distance, then its terms in these columns."""

_SCALES = Kernel("neighbour_scales", "*f64 i64 *i64 *i64 i64 i64 &f64 &f64 &f64")
_ROWS = Kernel("neighbour_rows", "*f64 i64 i64 *i64 *f64 *f64 *f64 *f64 i64 &i64")
_RANGES = Kernel("neighbour_ranges", "*f64 i64 i64 *i64 *i64 *i32 i64 i64 &f64 &f64")
_FOLD_SCALES = Kernel("neighbour_fold_scales", "*f64 i64 i64 *i64 *i32 i64 i64 i64 &f64 &f64 &f64")
_TRANSPOSE = Kernel("neighbour_transpose", "&u64")
_FIRST_ROWS = Kernel("neighbour_first_rows", "*f64 i64 i64 i64 &f64 &i64")
_PACK = Kernel("neighbour_pack_folds", "*i32 i64 i64 i64 i64 &u64")
_MARK = Kernel("neighbour_mark", "*i64 i64 i64 i64 &u64")
_PLACE = Kernel("neighbour_place_folds", "*i32 i64 i64 i64 &i64")
_UNPACK_FOLDS = Kernel("neighbour_unpack_folds", "*u64 i64 *i32 i64 i64 i64 *i64 &i64")
_UNPACK_TESTS = Kernel("neighbour_unpack_tests", "*u64 i64 i64 *i64 *i64 i64 &i64")
_NOT_ABOVE = Kernel("neighbour_not_above", "*f32 i64 *f32 f64")
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
    """The scales of every split, beside those of the reference.

    The distance of two rows in a split is the sum of r_j c_j over the columns: c_j is the term of
    column j under reference scales and r_j the squared ratio of the divisors.
    """

    divisor: Floats
    """(d,), of the reference."""
    low: Floats
    """(splits, d), from `column_scales`, as the next two."""
    high: Floats
    divisors: Floats
    ratio: Singles
    """(splits, padded d): r_j; the padding to a multiple of 8 is 0."""
    least_ratio: Floats
    """(splits,): a lower bound of r_j over the columns that are not constant there."""
    estimable: Flags
    """(splits,): single precision has the range for r_j."""
    constant_first: Codes
    """(splits + 1,): where the columns start that are constant there but not in the reference."""
    constant_columns: Codes
    least: Singles
    """(padded d,): the smallest r_j of any split."""
    most: Singles
    """(padded d,): the largest r_j of any split."""
    floor: float
    """The least ratio of all splits and columns."""
    excess: Floats
    """(d,): the mean over the splits of r_j less the least ratio."""
    copies: Codes
    """(n,): equal for rows with equal values, which are tied wherever both train."""


def column_scales(
    values: Floats,
    cardinality: Codes,
    rows: Codes,
    scale: int,
    low: Floats,
    high: Floats,
    divisor: Floats,
) -> None:
    """Smallest and largest known value of the numeric columns in `rows`, and their divisor.

    The divisor is 0 where a column is constant (or, without scaling, where it has no known
    value): known values then do not count. Nominal columns get 0, 0 and 1.
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
    """For every query the position of its nearest row, the lowest of tied ones.

    `columns` holds the training rows transposed, shape (d, n).
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
    """`column_scales` of the rows outside each fold: low, high and divisor, (splits, d) each."""
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


def first_rows(keys: Floats, m: int) -> tuple[Floats, Codes]:
    """The first m keys in the order (key, row), and their rows.

    Examples
    --------
    >>> first_rows(np.array([3.0, 1.0, 3.0, 0.0]), 3)[1].tolist()
    [3, 1, 0]
    """
    as_bytes = keys.dtype == np.uint8
    numbers = np.ascontiguousarray(keys, dtype=np.float64)
    found, rows = np.empty(len(keys)), np.empty(len(keys), dtype=np.int64)
    count = _FIRST_ROWS(numbers, len(keys), m, as_bytes, found, rows)
    return found[:count], rows[:count]


def transpose_bits(words: Words) -> None:
    """Bit b of word t becomes bit t of word b, for 64 words, in place."""
    assert words.shape == (64,)
    _TRANSPOSE(words)


def not_above(blocks: Singles, block: int, weights: Singles, limit: float) -> int:
    """Which of the eight neighbours of a block have bounds that are not above `limit`, as bits.

    `blocks` has the shape (blocks, PARTS, EIGHT), `weights` (PARTS,).
    """
    return _NOT_ABOVE(blocks, block, weights, limit)


def pack_folds(fold_of: Folds, planes: Words) -> None:
    """Spread `fold_of`, shape (runs, n), over `planes`, shape (n, words, digits)."""
    _PACK(fold_of, *fold_of.shape, *planes.shape[1:], planes)


def mark(rows: Codes, split: int, planes: Words) -> None:
    """Set the bit of `split` for all `rows` in `planes`, shape (n, words, 1)."""
    _MARK(np.ascontiguousarray(rows, dtype=np.int64), len(rows), split, planes.shape[1], planes)


def place_folds(fold_of: Folds, folds: int) -> Codes:
    """Where the rows of each split start in the order (run, fold, row); at the end their number."""
    first = np.empty(len(fold_of) * folds + 1, dtype=np.int64)
    _PLACE(fold_of, *fold_of.shape, folds, first)
    return first


def unpack_folds(predicted: Words, fold_of: Folds, folds: int, first: Codes) -> Codes:
    """Codes of all rows in the order (run, fold, row), from (words, digits, n) bits."""
    out = np.empty(fold_of.size, dtype=np.int64)
    _UNPACK_FOLDS(predicted, predicted.shape[1], fold_of, *fold_of.shape, folds, first, out)
    return out


def unpack_tests(predicted: Words, tests: Codes, first: Codes) -> Codes:
    """Codes of the rows `tests`, which start at ``first[s]`` for split s."""
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
    wanted: Words,
    m: int,
    predicted: Words,
) -> None:
    """Fill `predicted`: numeric columns are not scaled and have no unknown values."""
    _SCAN_NUMERIC(
        columns, cardinality, *columns.shape, y, planes, by_fold, *planes.shape[1:], wanted, m,
        predicted.shape[1], predicted,
    )  # fmt: skip


def scan_nominal(
    codes: npt.NDArray[np.uint8],
    missing: int,
    y: Codes,
    planes: Words,
    by_fold: bool,
    wanted: Words,
    m: int,
    predicted: Words,
) -> None:
    """The same for nominal columns only: `codes` of small integers, `missing` the unknown."""
    _SCAN_NOMINAL(
        codes, missing, *codes.shape, y, planes, by_fold, *planes.shape[1:], wanted, m,
        predicted.shape[1], predicted,
    )  # fmt: skip


def scan_rescaled(
    values: Floats,
    columns: Floats,
    cardinality: Codes,
    scales: SplitScales,
    one_floor: float,
    both_floor: float,
    many_runs: bool,
    y: Codes,
    planes: Words,
    by_fold: bool,
    folds: int,
    wanted: Words,
    predicted: Words,
) -> None:
    """Fill `predicted` where the columns are scaled by the training rows of each split.

    `columns` is the transpose of `values`; `one_floor` and `both_floor` are the least terms of
    one and of two unknown numbers in any split; `many_runs` says that it pays to part the
    neighbours by class.
    """
    _SCAN_RESCALED(
        values, columns, *values.shape, scales.ratio.shape[1], cardinality, scales.divisor,
        scales.low, scales.high, scales.divisors, scales.ratio, scales.least_ratio,
        scales.estimable, len(scales.ratio), scales.constant_first, scales.constant_columns,
        scales.least, scales.most, scales.floor, scales.excess, scales.copies, one_floor,
        both_floor, many_runs, y, planes, by_fold, folds, *planes.shape[1:], wanted,
        predicted.shape[1], predicted,
    )  # fmt: skip
