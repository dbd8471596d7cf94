"""Numbers as integers on a grid of powers of two, so that their sums are exact in any order.

A column's numbers are whole multiples of ``2**low`` (every float is). On that grid a number is an
integer, kept in limbs of ``width`` bits so that the int64 sum of a limb over all n rows cannot
overflow. Sums of limbs may be added and subtracted freely; `rounded_sum` (in the kernel) turns
them into the float nearest to the exact sum, which no longer depends on the grid, the order of
the rows, or on whether rows were added or taken away.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, refuse
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import EncodedClassifier
from bestofk.learners.kernels.library import Kernel

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits

_EXPONENTS = Kernel("limb_exponents", "*i64 i64 i64 &i64 &i64")
_SPLIT = Kernel("split_into_limbs", "*i64 i64 i64 *i64 *i64 i64 &i64 i64")
_SUM = Kernel("exact_sum", "*i64 i64 i64 i64 &i64 &f64")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limbs:
    """The limbs of the numeric columns side by side.

    Parameters
    ----------
    digits : array of int64, shape (n, total number of limbs)
        With the sign of the number; missing cells are 0.
    first : array of int64, shape (columns + 1,)
        Column j has the limbs ``first[j]`` (lowest) to ``first[j + 1] - 1``.
    low : array of int64, shape (columns,)
        The exponent of the unit of the lowest limb.
    width : int
        Bits of a limb.
    """

    digits: Codes
    first: Codes
    low: Codes
    width: int


def limbs(numbers: Floats) -> Limbs:
    """The limbs of `numbers`, shape (n, columns), NaN where missing.

    Examples
    --------
    >>> import numpy as np
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


def rounded_sum(part: Codes, low: int, width: int) -> float:
    """The float nearest to ``sum(part[k] * 2**(low + k * width))``.

    Examples
    --------
    >>> parts = limbs(np.array([[0.1], [0.2], [0.3]]))
    >>> rounded_sum(parts.digits.sum(axis=0), int(parts.low[0]), parts.width)
    0.6
    """
    found = np.empty(1)
    _SUM(np.ascontiguousarray(part), len(part), low, width, np.empty_like(part), found)
    return float(found[0])


# The nearest mean: class means of numeric columns, class modes of nominal ones.


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
        from bestofk.learners.kernels import nearest_mean as kernel

        self.means_, self.modes_, self._rows, self._scale = kernel.fit(encoded, self._kind())
        self._cardinality = encoded.cardinality

    def _predict_encoded(self, values: Floats) -> Codes:
        from bestofk.learners.kernels import nearest_mean as kernel

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
        from bestofk.learners.kernels import nearest_mean as kernel
        from bestofk.learners.predict import predict_encoded_splits

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
        """C d: one centre per class, one value per column."""
        return len(self.classes_) * self.n_features_in_
