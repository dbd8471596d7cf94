"""The nearest-neighbour classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import ProbabilisticClassifier
from bestofk.learners.kernels.nearest_neighbour import (
    NONE,
    RANGE,
    STD,
    column_scales,
    nearest_rows,
)

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits

_SCALES: dict[str | None, int] = {"range": RANGE, "std": STD, None: NONE}


def predict_plan_nearest(encoded: Encoded, splits: Splits, scale: int) -> list[Codes]:
    """Predict class codes for every split with ``RANGE``, ``STD`` or ``NONE``."""
    predictions = []
    for _, _, train, test in splits:
        columns = np.ascontiguousarray(encoded.values[train].T)
        scales = column_scales(encoded.values, encoded.cardinality, train, scale)
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
        scales = column_scales(encoded.values, encoded.cardinality, rows, self._scale())
        self.low_, self.high_, self.divisor_ = scales
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
