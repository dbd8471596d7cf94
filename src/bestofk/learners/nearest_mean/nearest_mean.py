"""The nearest mean: class means of numeric columns, class modes of nominal ones."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats, refuse
from bestofk.data.encoded import Codes, Encoded
from bestofk.learners.base import EncodedClassifier
from bestofk.learners.nearest_mean.exact_sums import Limbs, limbs

if TYPE_CHECKING:
    from bestofk.plans.splits import Splits

_SCALES = {None: 0, "std": 1, "range": 2}


class NearestMean(EncodedClassifier):
    """Predict the class whose centre is nearest.

    The centre of a class is the mean of each numeric column and the mode of each nominal one
    over the class's training rows. The distance of a row is the sum of the squared differences
    of the numeric columns and of 1 for each nominal column that differs from the mode.

    Parameters
    ----------
    scale : None, "std" or "range", default None
        Divide numeric differences by the standard deviation (with n) or the range of the
        training rows; a column without spread is left as it is. None: raw numbers, as
        scikit-learn's ``NearestCentroid``.

    Notes
    -----
    *Missing cells* are left out of means and modes, and of the distance. A class without any
    known value of a column takes the mean or mode of all training rows; a column without any
    known value is left out.

    *Ties*: modes go to the value, predictions to the class that is declared first.

    *Means* are the exact sum, rounded once, over the count: they depend neither on the order of
    the rows nor on whether the sum was had by adding the training rows or by taking the test
    rows away from all rows. That is why the evaluation of a whole plan equals that of its splits
    bit for bit.

    References
    ----------
    .. [1] O. T. Yildiz and E. Alpaydin, "Ordering and finding the best of K > 2 supervised
       learning algorithms", IEEE Transactions on Pattern Analysis and Machine Intelligence
       28(3), 2006, 392-402. :doi:`10.1109/TPAMI.2006.61`

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 8.0, 9.0], "colour": ["red", "red", "blue", "red"]})
    >>> model = NearestMean().fit(X, ["small", "small", "big", "big"])
    >>> model.means_
    array([[8.5],
           [1.5]])
    >>> model.predict(pd.DataFrame({"size": [3.0], "colour": ["blue"]})).tolist()
    ['small']
    """

    means_: Floats
    modes_: npt.NDArray[np.int32]

    def __init__(self, *, scale: str | None = None) -> None:
        self.scale = scale

    def _kind(self) -> int:
        if self.scale is not None and self.scale not in _SCALES:
            raise refuse("scale", "None, 'std' or 'range'", self.scale)
        return _SCALES[self.scale]

    def _fit_encoded(self, encoded: Encoded) -> None:
        from bestofk.learners.nearest_mean import means_kernel as kernel

        kind = self._kind()
        parts = _Parts.of(encoded.values, encoded.cardinality)
        grid = limbs(parts.numbers)
        n, c = encoded.n, encoded.n_classes
        sums = np.zeros((1, c, grid.digits.shape[1]), dtype=np.int64)
        knowns = np.zeros((1, c, parts.known.shape[1]), dtype=np.int64)
        counts = np.zeros((1, c, int(parts.offset[-1])), dtype=np.int64)
        rows = np.zeros((1, c), dtype=np.int64)
        everywhere = np.zeros(n, dtype=np.int64)
        kernel.add_rows(
            0, n, everywhere, -1, encoded.y, grid.digits, parts.known, parts.codes, parts.offset,
            sums, knowns, counts, rows,
        )  # fmt: skip
        self.means_ = np.empty((c, parts.numbers.shape[1]))
        self.modes_ = np.empty((c, parts.codes.shape[1]), dtype=np.int32)
        kernel.summarise(
            sums[0], knowns[0], counts[0], rows[0], grid.first, grid.low, grid.width,
            parts.known.shape[1] > 0, parts.offset, self.means_, self.modes_,
        )  # fmt: skip
        self._scale = np.ones(parts.numbers.shape[1])
        if kind:
            kernel.training_scale(parts.numbers, everywhere, -1, kind, self._scale)
        self._rows = rows
        self._cardinality = encoded.cardinality

    def _predict_encoded(self, values: Floats) -> Codes:
        from bestofk.learners.nearest_mean import means_kernel as kernel

        parts = _Parts.of(values, self._cardinality)
        predicted = np.empty(len(values), dtype=np.int64)
        kernel.predict_rows(
            parts.numbers, parts.codes, self.means_[None], self.modes_[None], self._rows,
            self._scale[None], self._kind() > 0, predicted,
        )  # fmt: skip
        return predicted

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        from bestofk.learners.nearest_mean import means_kernel as kernel
        from bestofk.learners.predict import predict_encoded_splits

        if splits.fold_of is None or splits.folds < 2:
            return predict_encoded_splits(self, encoded, splits)
        kind = self._kind()
        parts = _Parts.of(encoded.values, encoded.cardinality)
        grid: Limbs = limbs(parts.numbers)
        fold_of = np.ascontiguousarray(splits.fold_of, dtype=np.int64)
        predicted = np.empty(fold_of.shape, dtype=np.int64)
        begins = kernel.predict_folds(
            parts.numbers, grid.digits, parts.known, parts.codes, parts.offset, grid.first,
            grid.low, grid.width, encoded.y, encoded.n_classes, fold_of, splits.folds, kind,
            predicted,
        )  # fmt: skip
        return [
            predicted[run, begin:end]
            for run in range(splits.runs)
            for begin, end in pairwise(begins[run].tolist())
        ]

    def complexity(self) -> int:
        """C d: one centre a class, one value a column."""
        return len(self.classes_) * self.n_features_in_


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The numeric columns and the nominal ones, each side by side."""

    numbers: Floats
    known: npt.NDArray[np.int8]
    """1 where a number is known, shape (n, numeric columns); no columns when all are known."""
    codes: npt.NDArray[np.int32]
    """-1 where missing."""
    offset: Codes
    """The values of nominal column j have the places offset[j] to offset[j + 1] - 1."""

    @classmethod
    def of(cls, values: Floats, cardinality: Codes) -> _Parts:
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
