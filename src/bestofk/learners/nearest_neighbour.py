"""The nearest-neighbour classifier, for single fits and for all the splits of a plan at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import ProbabilisticClassifier
from bestofk.learners.kernels.nearest_neighbour import (
    NONE,
    RANGE,
    STD,
    SplitScales,
    column_scales,
    fold_starts,
    mark,
    nearest_rows,
    pack_folds,
    scales_by_fold,
    scan_nominal,
    scan_numeric,
    scan_rescaled,
    unpack_folds,
    unpack_tests,
)

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits

Words = npt.NDArray[np.uint64]
Scales = tuple[Floats, Floats, Floats]
"""Smallest value, largest value and divisor, by column or by split and column."""

_SCALES: dict[str | None, int] = {"range": RANGE, "std": STD, None: NONE}
_MAX_BLOCK_SPLITS = 1 << 14
_MIN_SCALE, _MAX_SCALE = 1e-100, 1e100
"""Squares of scales beyond these could overflow or underflow; such data go split by split."""
_MAX_SINGLE_RATIO = 1e12
"""Single precision represents products with ratios up to here without losing small terms."""
_MISSING_CODE = 255
_SPLIT_COST, _LISTS_COST = 5e4, 1.5e6
"""Nanoseconds of a separate split and of the lists, without their row pairs."""
_PAIR_COSTS = {True: ((0.25, 0.037), (4.2, 0.19)), False: ((0.0, 0.38), (0.0, 0.88))}
"""Nanoseconds of a row pair, and per column, in a split and in lists; by whether all is known."""
_MIN_WORDS_BY_CLASS = 8
"""From this many words of 64 runs on, separating the neighbours by class is faster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitBlock:
    """Some of the splits of a plan as bits."""

    planes: Words
    """(n, words, digits): fold numbers if `by_fold`, else the splits that each row trains."""
    tested: Words
    """(n, words): the splits that test each row."""
    by_fold: bool
    fold_of: npt.NDArray[np.int32]
    """(runs, n) if `by_fold`, else empty."""
    folds: int
    trains: list[Codes]
    tests: list[Codes]
    """The rows of each split; empty if `by_fold`."""

    @property
    def n_splits(self) -> int:
        """The number of splits in the block."""
        return len(self.fold_of) * self.folds if self.by_fold else len(self.tests)


def predict_plan_nearest(encoded: Encoded, splits: Splits, scale: int) -> list[Codes]:
    """Predict class codes for every split, equal to those of fit and predict.

    Parameters
    ----------
    encoded : Encoded
        All rows.
    splits : Splits
        The training and test rows of each split.
    scale : int
        ``RANGE``, ``STD`` or ``NONE``.
    """
    n = encoded.n
    numeric = encoded.cardinality == 0
    if (np.abs(encoded.values[:, numeric]) > _MAX_SCALE).any():
        return _split_by_split(encoded, splits, scale)
    unknown = bool(np.isnan(encoded.values[:, numeric]).any())
    fixed = not numeric.any() or (scale == NONE and not unknown)
    if not fixed and not _lists_pay(splits, n, encoded.d, not unknown):
        return _split_by_split(encoded, splits, scale)
    predictions: list[Codes] = []
    digits = max(1, (encoded.n_classes - 1).bit_length())
    columns = np.ascontiguousarray(encoded.values.T)
    for block in _blocks(splits, n):
        words = block.tested.shape[1]
        predicted = np.zeros((words, digits, n), dtype=np.uint64)
        if fixed:
            _scan_fixed(encoded, columns, block, predicted)
        else:
            scales = _scales_by_split(encoded, block, scale)
            if _are_extreme(scales[2][:, numeric]):
                return _split_by_split(encoded, splits, scale)
            scan_rescaled(
                encoded.values,
                columns,
                encoded.cardinality,
                _split_scales(encoded, scales, unknown),
                0.25 if scale == RANGE else 0.0,
                1.0 if scale == RANGE else 0.0,
                words >= _MIN_WORDS_BY_CLASS,
                encoded.y,
                block.planes,
                block.by_fold,
                block.folds,
                block.tested,
                predicted,
            )
        predictions += _unpack(block, predicted)
    return predictions


def scales_of(encoded: Encoded, rows: Codes, scale: int) -> Scales:
    """Return the scales of the training rows `rows`."""
    low, high, divisor = np.empty((3, encoded.d))
    column_scales(encoded.values, encoded.cardinality, rows, scale, low, high, divisor)
    return low, high, divisor


def _lists_pay(splits: Splits, n: int, d: int, screened: bool) -> bool:
    """Return whether one set of neighbour lists is faster than separate splits."""
    share = 1.0 / splits.folds if splits.fold_of is not None else 0.5
    n_splits, pairs = splits.runs * splits.folds, float(n) ** 2
    scan, listing = (pairs * (cost + by_column * d) for cost, by_column in _PAIR_COSTS[screened])
    return n_splits * (_SPLIT_COST + share * (1.0 - share) * scan) > _LISTS_COST + listing


def _blocks(splits: Splits, n: int) -> list[SplitBlock]:
    """Divide the plan into blocks of at most `_MAX_BLOCK_SPLITS` splits (at least one run)."""
    if splits.fold_of is None:
        pairs = [(train, test) for _, _, train, test in splits]
        return [
            _general_block(pairs[start : start + _MAX_BLOCK_SPLITS], n)
            for start in range(0, len(pairs), _MAX_BLOCK_SPLITS)
        ]
    fold_of = np.ascontiguousarray(splits.fold_of, dtype=np.int32)
    step = max(1, _MAX_BLOCK_SPLITS // splits.folds)
    return [
        _fold_block(fold_of[start : start + step], splits.folds)
        for start in range(0, len(fold_of), step)
    ]


def _fold_block(fold_of: npt.NDArray[np.int32], folds: int) -> SplitBlock:
    runs, n = fold_of.shape
    words, digits = -(-runs // 64), max(1, (folds - 1).bit_length())
    planes = np.empty((n, words, digits), dtype=np.uint64)
    pack_folds(fold_of, planes)
    tested = np.full((n, words), ~np.uint64(0))
    if runs % 64:
        tested[:, -1] = np.uint64((1 << (runs % 64)) - 1)
    return SplitBlock(
        planes=planes,
        tested=tested,
        by_fold=True,
        fold_of=fold_of,
        folds=folds,
        trains=[],
        tests=[],
    )


def _general_block(pairs: list[tuple[Codes, Codes]], n: int) -> SplitBlock:
    words = -(-len(pairs) // 64)
    planes = np.zeros((n, words, 1), dtype=np.uint64)
    tested = np.zeros((n, words, 1), dtype=np.uint64)
    for split, (train, test) in enumerate(pairs):
        mark(train, split, planes)
        mark(test, split, tested)
    return SplitBlock(
        planes=planes,
        tested=tested[:, :, 0].copy(),
        by_fold=False,
        fold_of=np.empty((0, n), dtype=np.int32),
        folds=1,
        trains=[train for train, _ in pairs],
        tests=[test for _, test in pairs],
    )


def _scan_fixed(encoded: Encoded, columns: Floats, block: SplitBlock, predicted: Words) -> None:
    plan = encoded.y, block.planes, block.by_fold, block.tested, _list_length(block), predicted
    cardinality = encoded.cardinality
    if (cardinality > 0).all() and cardinality.max() < _MISSING_CODE and encoded.d < 256:
        codes = np.where(np.isnan(columns), _MISSING_CODE, columns).astype(np.uint8)
        scan_nominal(codes, _MISSING_CODE, *plan)
    else:
        scan_numeric(columns, cardinality, *plan)


def _list_length(block: SplitBlock) -> int:
    """Return a list length with which a list rarely contains only test rows of a split."""
    if block.by_fold:
        share = 1.0 - 1.0 / block.folds
    else:
        n = len(block.tested)
        share = float(np.mean([len(train) / n for train in block.trains]))
    share = min(max(share, 0.01), 0.99)
    return max(8, math.ceil(math.log(100.0 * block.n_splits) / -math.log1p(-share)))


def _are_extreme(divisors: Floats) -> bool:
    """Return whether squares of the divisors of some split, or their ratios, may overflow."""
    counts = divisors != 0
    low = np.where(counts, divisors, np.inf).min(axis=0)
    high = divisors.max(axis=0)
    beyond = counts & ((divisors < _MIN_SCALE) | (divisors > _MAX_SCALE))
    return bool(beyond.any() or (high > _MAX_SCALE * low).any())


def _split_scales(encoded: Encoded, scales: Scales, unknown: bool) -> SplitScales:
    """Return the scales of every split of a block, with bounds for its distances."""
    low, high, divisors = scales
    divisor, numeric = divisors.max(axis=0), encoded.cardinality == 0
    counts = divisors != 0
    ratio = np.divide(divisor, divisors, out=np.zeros_like(divisors), where=counts)
    ratio *= ratio
    least = np.where(counts & numeric, ratio, np.inf).min(axis=1)
    if unknown or not numeric.all():
        least = np.minimum(least, 1.0)
    padded = -(-encoded.d // 8) * 8
    single = np.zeros((len(ratio), padded), dtype=np.float32)
    single[:, : encoded.d] = np.minimum(ratio, _MAX_SINGLE_RATIO)
    least = np.where(np.isfinite(least), least, 1.0) * (1.0 - 1e-9)
    constant_first, constant_columns = _listed(~counts & (divisor != 0))
    return SplitScales(
        divisor=divisor,
        low=low,
        high=high,
        divisors=divisors,
        ratio=single,
        least_ratio=least,
        estimable=ratio.max(axis=1) < _MAX_SINGLE_RATIO,
        constant_first=constant_first,
        constant_columns=constant_columns,
        least=single.min(axis=0),
        most=single.max(axis=0),
        floor=float(least.min()),
        excess=np.maximum(single[:, : encoded.d] - least[:, None], 0.0).mean(axis=0),
        copies=np.unique(encoded.values, axis=0, return_inverse=True)[1].reshape(-1),
    )


def _listed(chosen: npt.NDArray[np.bool_]) -> tuple[Codes, Codes]:
    """Return the start of each split and the concatenated chosen columns of all splits."""
    split, column = np.nonzero(chosen)
    return np.searchsorted(split, np.arange(len(chosen) + 1)), np.ascontiguousarray(column)


def _scales_by_split(encoded: Encoded, block: SplitBlock, scale: int) -> Scales:
    if block.by_fold:
        return scales_by_fold(
            encoded.values, encoded.cardinality, block.fold_of, block.folds, scale
        )
    low, high, divisors = np.empty((3, block.n_splits, encoded.d))
    for s, train in enumerate(block.trains):
        column_scales(
            encoded.values, encoded.cardinality, train, scale, low[s], high[s], divisors[s]
        )
    return low, high, divisors


def _unpack(block: SplitBlock, predicted: Words) -> list[Codes]:
    """Return the predicted codes of every split of the block, in the order of its test rows."""
    if block.by_fold:
        first = fold_starts(block.fold_of, block.folds)
        out = unpack_folds(predicted, block.fold_of, block.folds, first)
    else:
        sizes = [len(test) for test in block.tests]
        first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        out = unpack_tests(predicted, np.concatenate(block.tests), first)
    ends = first.tolist()
    return [out[start:stop] for start, stop in pairwise(ends)]


def _split_by_split(encoded: Encoded, splits: Splits, scale: int) -> list[Codes]:
    predictions = []
    for _, _, train, test in splits:
        columns = np.ascontiguousarray(encoded.values[train].T)
        scales = scales_of(encoded, train, scale)
        nearest = nearest_rows(columns, encoded.cardinality, *scales, encoded.values[test])
        predictions.append(encoded.y[train[nearest]])
    return predictions


class NearestNeighbour(ProbabilisticClassifier):
    r"""Predict the class of the nearest training row.

    Parameters
    ----------
    scale : {"range", "std", None}, default "range"
        Divide differences in a numeric column by the range of its training rows, by their
        standard deviation (of the population, division by n, as in
        :class:`sklearn.preprocessing.StandardScaler`), or by nothing.

    Attributes
    ----------
    low_, high_ : array, shape (d,)
        The smallest and the largest known training value of every numeric column.
    divisor_ : array, shape (d,)
        The divisor of differences; 0 for a column that does not count.

    Notes
    -----
    The squared distance of two rows is the sum over the columns, in their order, of the squares
    of :math:`(a_j - b_j) / s_j` for numeric and of 0 (equal) or 1 (not) for nominal columns.
    The difference is computed before the division, so equal differences are tied to the last bit.
    Test values outside the training range are not clipped. The lowest of tied rows wins.

    *Unknown values.* In a nominal column an unknown value differs from every value, including
    another unknown (1). An unknown number is assumed to lie at the farther end of the training
    range :math:`[l_j, h_j]`: one unknown counts :math:`\max(a_j - l_j, h_j - a_j) / s_j`, two
    count :math:`(h_j - l_j) / s_j`. With ``scale="range"`` these are the larger of v and 1 - v
    for the scaled value v, and 1 [2]_.

    *Constant columns.* If columns are scaled, a column that is constant in the training rows
    counts 0 for known values and 1 if one is unknown. The same holds for a column without known
    training values.

    For a whole plan, the neighbours of each row are sorted once, and each split uses the first
    neighbours among its training rows. If scales depend on the split, rescaling changes a squared
    distance by a factor between the smallest and the largest ratio of the squared scales, which
    bounds the search. Predictions equal those of fit and predict.

    References
    ----------
    .. [1] T. Cover and P. Hart, "Nearest neighbor pattern classification", IEEE Transactions on
       Information Theory 13(1), 1967, 21-27. :doi:`10.1109/TIT.1967.1053964`
    .. [2] D. W. Aha, D. Kibler and M. K. Albert, "Instance-based learning algorithms", Machine
       Learning 6, 1991, 37-66. :doi:`10.1007/BF00153759`

    Examples
    --------
    >>> X = [[1.0, 10.0], [2.0, 90.0], [9.0, 50.0]]
    >>> NearestNeighbour().fit(X, ["a", "b", "c"]).predict([[2.0, 40.0], [5.0, 90.0]]).tolist()
    ['a', 'b']
    >>> NearestNeighbour(scale=None).fit(X, ["a", "b", "c"]).predict([[2.0, 40.0]]).tolist()
    ['c']
    """

    low_: Floats
    high_: Floats
    divisor_: Floats

    def __init__(self, scale: str | None = "range") -> None:
        self.scale = scale

    def _fit_encoded(self, encoded: Encoded) -> None:
        rows = np.arange(encoded.n)
        self.low_, self.high_, self.divisor_ = scales_of(encoded, rows, self._scale())
        self._columns = np.ascontiguousarray(encoded.values.T)
        self._cardinality = encoded.cardinality
        self._y = encoded.y

    def _predict_encoded(self, values: Floats) -> Codes:
        nearest = nearest_rows(
            self._columns, self._cardinality, self.low_, self.high_, self.divisor_, values
        )
        return self._y[nearest]

    def _proba_encoded(self, values: Floats) -> Floats:
        """Return 1 for the class of the nearest training row and 0 for the others."""
        return np.eye(len(self.classes_))[self._predict_encoded(values)]

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        return predict_plan_nearest(encoded, splits, self._scale())

    def _scale(self) -> int:
        if not (self.scale is None or isinstance(self.scale, str)) or self.scale not in _SCALES:
            raise ArgumentError(
                f"scale must be one of 'range', 'std' and None; got {self.scale!r}."
            )
        return _SCALES[self.scale]

    def complexity(self) -> int:
        """Return n d: the size of the training rows."""
        return int(self._columns.size)
