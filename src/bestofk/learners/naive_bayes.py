"""Naive Bayes with Laplace-corrected nominal counts and normal densities on a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk._base.checks import Floats
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import ProbabilisticClassifier, predict_encoded_splits
from bestofk.learners.kernels import naive_bayes as kernel
from bestofk.learners.kernels.splits import SplitMarks

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits


class NaiveBayes(ProbabilisticClassifier):
    """Predict the class with the largest product of prior and factors, one factor per column.

    Attributes
    ----------
    prior_ : array of shape (c,)
        (n_c + 1) / (n + c).
    table_ : array of shape (declared values of all nominal columns + 1, c)
        (class rows with the value + 1) / (class rows with any known value + declared values),
        column after column; the last line, all 1, is used for unknown cells.
    precision_ : array of shape (d,)
        Width of the grid of each numeric column: the mean gap between neighbouring distinct
        training values, 0.01 if there is only one value; 0 for nominal columns.
    mean_, deviation_ : arrays of shape (d, c)
        Moments of the numeric columns on the grid (divisor n); a deviation is at least a sixth
        of the grid's width.

    Notes
    -----
    The factor of a numeric cell x is the mean density over the cell of the grid that it falls in,
    ``(F(x + w/2) - F(x - w/2)) / w`` with x rounded to a multiple of the width w (halves to even)
    and F the normal distribution function of the class [1]_. No factor is smaller than 1e-75 or
    larger than 2^500, and a factor that cannot be computed because its moments overflow is 1e-75.

    *Missing cells* are left out, in training and in prediction. *Ties* go to the class that is
    declared first. Declared values count even if no row has them.

    References
    ----------
    .. [1] G. H. John and P. Langley, "Estimating continuous distributions in Bayesian
       classifiers", Proceedings of the 11th Conference on Uncertainty in Artificial
       Intelligence, 1995, 338-345.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sky": ["sun", "sun", "rain"], "degrees": [21.0, 25.0, 12.0]})
    >>> model = NaiveBayes().fit(X, ["out", "out", "in"])
    >>> model.predict(pd.DataFrame({"sky": ["sun"], "degrees": [22.0]})).tolist()
    ['out']
    >>> model.prior_
    array([0.4, 0.6])
    """

    prior_: Floats
    table_: Floats
    precision_: Floats
    mean_: Floats
    deviation_: Floats

    def _fit_encoded(self, encoded: Encoded) -> None:
        self.table_, self.prior_, self.precision_, self.mean_, self.deviation_ = kernel.fit(encoded)
        self._cardinality = encoded.cardinality

    def _proba_encoded(self, values: Floats) -> Floats:
        return kernel.shares_of_rows(values, self._cardinality, self._tables())

    def _predict_encoded(self, values: Floats) -> Codes:
        return kernel.choose_classes(values, self._cardinality, self._tables())

    def _tables(self) -> kernel.Tables:
        return self.table_, self.prior_, self.precision_, self.mean_, self.deviation_

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        marks = SplitMarks.of(splits)
        if marks is None:
            return predict_encoded_splits(self, encoded, splits)
        return marks.cut(kernel.predict_marks(encoded, marks))

    def complexity(self) -> int:
        """Return the parameters: c priors, c per declared value, 2 c per numeric column."""
        c = len(self.classes_)
        numeric = int((self._cardinality == 0).sum())
        return c + c * int(self._cardinality.sum()) + 2 * c * numeric
