"""The nearest-mean classifier: class means of numeric columns, class modes of nominal ones."""

from __future__ import annotations

from math import fsum

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, refuse
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import EncodedClassifier


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

    *Means* are the exact sum, rounded once, divided by the count, so they do not depend on the row
    order.

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

    def _fit_encoded(self, encoded: Encoded) -> None:
        if self.scale not in (None, "std", "range"):
            raise refuse("scale", "None, 'std' or 'range'", self.scale)
        self._cardinality = encoded.cardinality
        numbers, codes = self._parts(encoded.values)
        members = [encoded.y == code for code in range(encoded.n_classes)]
        overall = _means(numbers)
        self.means_ = np.array([_means(numbers[rows], overall) for rows in members])
        values = encoded.cardinality[encoded.cardinality > 0]
        common = _modes(codes, values)
        self.modes_ = np.array([_modes(codes[rows], values, common) for rows in members])
        self._absent = np.array([not rows.any() for rows in members])
        spread = np.ones(numbers.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            known = np.where(np.isnan(numbers), overall, numbers)
            if self.scale == "std":
                count = (~np.isnan(numbers)).sum(axis=0)
                squares = np.square(known - overall).sum(axis=0)
                spread = np.sqrt(squares / np.maximum(count, 1))
            elif self.scale == "range":
                spread = np.ptp(known, axis=0)
        self._factor = 1.0 / np.where(spread > 0, spread, 1.0)

    def _parts(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the numeric and the nominal columns."""
        return values[:, self._cardinality == 0], values[:, self._cardinality > 0]

    def _predict_encoded(self, values: Floats) -> Codes:
        numbers, codes = self._parts(values)
        distances = np.full((len(values), len(self.means_)), np.inf)
        for k in np.flatnonzero(~self._absent):
            with np.errstate(over="ignore", invalid="ignore"):
                far = np.nansum(np.square((numbers - self.means_[k]) * self._factor), axis=1)
            differs = (codes != self.modes_[k]) & ~np.isnan(codes) & (self.modes_[k] >= 0)
            distances[:, k] = far + differs.sum(axis=1)
        return np.asarray(distances.argmin(axis=1), dtype=np.int64)

    def complexity(self) -> int:
        """Return c d: one centre per class, one value per column."""
        return len(self.classes_) * self.n_features_in_


def _means(numbers: Floats, otherwise: Floats | None = None) -> Floats:
    """Return the mean of the known numbers of each column; `otherwise` if there are none."""
    means = np.full(numbers.shape[1], np.nan) if otherwise is None else otherwise.copy()
    for j, column in enumerate(numbers.T):
        if known := column[~np.isnan(column)].tolist():
            try:
                means[j] = fsum(known) / len(known)
            except OverflowError:
                means[j] = 2.0 * fsum(number / (2 * len(known)) for number in known)
    return means


def _modes(
    codes: Floats, values: Codes, otherwise: npt.NDArray[np.int32] | None = None
) -> npt.NDArray[np.int32]:
    """Return the most frequent known value of each column; -1 or `otherwise` if there are none."""
    modes = np.full(codes.shape[1], -1, dtype=np.int32) if otherwise is None else otherwise.copy()
    for j, column in enumerate(codes.T):
        known = column[~np.isnan(column)].astype(np.int64)
        if len(known):
            modes[j] = np.bincount(known, minlength=values[j]).argmax()
    return modes
