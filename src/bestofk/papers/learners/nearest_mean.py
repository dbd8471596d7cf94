"""The nearest-mean classifier: class means of numeric columns, class modes of nominal ones."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, refuse
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import EncodedClassifier, predict_encoded_splits
from bestofk.papers.learners.kernels import nearest_mean as kernel

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits

_SCALES = {None: 0, "std": 1, "range": 2}


class NearestMean(EncodedClassifier):
    """Predict the class with the nearest centre.

    The centre of a class is the mean of each numeric column and the mode of each nominal column
    over the training rows of the class. The distance of a row is the sum of the squared
    differences of the numeric columns plus 1 for each nominal column that differs from the mode.

    Parameters
    ----------
    scale : "std", "range" or None, default "std"
        Divide numeric differences by the standard deviation (with n) or the range of the
        training rows; a constant column is not scaled. None uses raw numbers, like
        scikit-learn's ``NearestCentroid``.

    Notes
    -----
    *Missing cells* are left out of means and modes, and of the distance. A class without any
    known value of a column takes the mean or mode of all training rows; a column without any
    known value is left out.

    *Ties*: modes go to the value, predictions to the class that is declared first.

    *Means* are the exact sum, rounded once, divided by the count. They depend neither on the row
    order nor on whether the sum adds the training rows or subtracts the test rows from all rows.
    Therefore evaluating a whole plan equals evaluating its splits bit for bit.

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

    def __init__(self, *, scale: str | None = "std") -> None:
        self.scale = scale

    def _kind(self) -> int:
        if self.scale is not None and self.scale not in _SCALES:
            raise refuse("scale", "None, 'std' or 'range'", self.scale)
        return _SCALES[self.scale]

    def _fit_encoded(self, encoded: Encoded) -> None:
        self.means_, self.modes_, self._rows, self._scale = kernel.fit(encoded, self._kind())
        self._cardinality = encoded.cardinality

    def _predict_encoded(self, values: Floats) -> Codes:
        return kernel.predict_rows(
            values,
            self._cardinality,
            means=self.means_,
            modes=self.modes_,
            rows=self._rows,
            scale=self._scale,
            scaled=self._kind() > 0,
        )

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        if splits.fold_of is None or splits.folds < 2:
            return predict_encoded_splits(self, encoded, splits)
        fold_of = np.ascontiguousarray(splits.fold_of, dtype=np.int64)
        predicted, begins = kernel.predict_folds(encoded, fold_of, splits.folds, self._kind())
        return [
            predicted[run, begin:end]
            for run in range(splits.runs)
            for begin, end in pairwise(begins[run].tolist())
        ]

    def complexity(self) -> int:
        """Return c d: one centre per class, one value per column."""
        return len(self.classes_) * self.n_features_in_
