"""The nearest neighbour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bestofk.checks import Floats
from bestofk.data.encoded import Codes, Encoded
from bestofk.errors import ArgumentError
from bestofk.learners.base import ProbabilisticClassifier

if TYPE_CHECKING:
    from bestofk.plans.splits import Splits

# The numbers that the kernels know the scales by.
_SCALES: dict[str | None, int] = {"range": 0, "std": 1, None: 2}


class NearestNeighbour(ProbabilisticClassifier):
    r"""Predict the class of the nearest training row.

    Parameters
    ----------
    scale : {"range", "std", None}, default "range"
        What differences in a numeric column are divided by: the range of its training rows,
        their standard deviation (of the population, division by n, as
        :class:`sklearn.preprocessing.StandardScaler`), or nothing.

    Attributes
    ----------
    low_, high_ : array, shape (d,)
        The smallest and the largest known training value of every numeric column.
    divisor_ : array, shape (d,)
        What differences are divided by; 0 for a column that does not count.

    Notes
    -----
    The squared distance of two rows is the sum over the columns, in their order, of the squares
    of :math:`(a_j - b_j) / s_j` for numeric and of 0 (equal) or 1 (not) for nominal columns.
    The difference is taken first, so that equal differences are tied to the last bit. Test
    values outside the training range are not clipped. Of tied rows the lowest wins.

    *Unknown values.* In a nominal column an unknown value differs from everything, also from
    another unknown (1). An unknown number is taken to lie at that end of the training range
    :math:`[l_j, h_j]` which is farther away: one unknown counts
    :math:`\max(a_j - l_j, h_j - a_j) / s_j`, two count :math:`(h_j - l_j) / s_j`. With
    ``scale="range"`` these are the larger of v and 1 - v for the scaled value v, and 1 [2]_.

    *Constant columns.* A column that is constant in the training rows counts 0 for known values
    and 1 where one is unknown, if it is scaled; likewise a column without known training values.

    Over a whole plan the neighbours of each row are put in order once, and each split then needs
    only the first of them that train. Where scales depend on the split, rescaling changes a
    squared distance by a factor between the smallest and the largest ratio of the squared
    scales, which bounds how far to look. Predictions equal those of fit and predict.

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

    _splits_share_most = True

    def __init__(self, scale: str | None = "range") -> None:
        self.scale = scale

    def _fit_encoded(self, encoded: Encoded) -> None:
        from bestofk.learners.nearest_neighbour.kernel import column_scales

        scale = self._scale()
        d = encoded.d
        self.low_, self.high_, self.divisor_ = np.empty(d), np.empty(d), np.empty(d)
        column_scales(
            encoded.values,
            encoded.cardinality,
            np.arange(encoded.n),
            scale,
            self.low_,
            self.high_,
            self.divisor_,
        )
        self._columns = np.ascontiguousarray(encoded.values.T)
        self._cardinality = encoded.cardinality
        self._y = encoded.y

    def _predict_encoded(self, values: Floats) -> Codes:
        from bestofk.learners.nearest_neighbour.kernel import nearest_rows

        nearest = nearest_rows(
            self._columns, self._cardinality, self.low_, self.high_, self.divisor_, values
        )
        return self._y[nearest]

    def _proba_encoded(self, values: Floats) -> Floats:
        """1 for the class of the nearest training row, 0 for the others."""
        return np.eye(len(self.classes_))[self._predict_encoded(values)]

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        from bestofk.learners.nearest_neighbour.plan import predict_plan_nearest

        return predict_plan_nearest(encoded, splits, self._scale())

    def _scale(self) -> int:
        if not (self.scale is None or isinstance(self.scale, str)) or self.scale not in _SCALES:
            raise ArgumentError(
                f"scale must be one of 'range', 'std' and None; got {self.scale!r}."
            )
        return _SCALES[self.scale]

    def complexity(self) -> int:
        """N d: the training rows themselves."""
        return int(self._columns.size)
