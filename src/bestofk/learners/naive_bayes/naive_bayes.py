"""Naive Bayes: nominal counts with Laplace's correction, normal numerics on a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bestofk.checks import Floats
from bestofk.data.encoded import Codes, Encoded
from bestofk.learners.base import ProbabilisticClassifier

if TYPE_CHECKING:
    from bestofk.learners.split_marks import SplitMarks
    from bestofk.plans.splits import Splits


class NaiveBayes(ProbabilisticClassifier):
    """Predict the class with the largest product of prior and factors, one factor a column.

    Attributes
    ----------
    prior_ : array of shape (c,)
        (n_c + 1) / (n + c).
    table_ : array of shape (declared values of all nominal columns + 1, c)
        (rows of the class with the value + 1) / (rows of the class that know it + declared
        values), column after column; the last line, all 1, serves unknown cells.
    precision_ : array of shape (d,)
        Width of the grid of each numeric column: the mean gap between neighbouring distinct
        training values, 0.01 where there is one value; 0 for nominal columns.
    mean_, deviation_ : arrays of shape (d, c)
        Moments of the numeric columns on the grid (divisor n); a deviation is at least a sixth
        of the grid's width.

    Notes
    -----
    The factor of a numeric cell x is the mean density over the cell of the grid that it falls in,
    ``(F(x + w/2) - F(x - w/2)) / w`` with x rounded to a multiple of the width w (halves to even)
    and F the normal distribution function of the class [1]_. No factor is smaller than 1e-75.

    *Missing cells* are left out, in training and in prediction. *Ties* go to the class that is
    declared first. Declared values count even where no row holds them.

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
        from bestofk.learners.naive_bayes import split_kernel as kernel
        from bestofk.learners.sorted_columns import sort_columns

        c, d = encoded.n_classes, encoded.d
        offset = _offsets(encoded.cardinality)
        places = kernel.find_places(encoded.values, encoded.cardinality, offset)
        counts = np.zeros((offset[-1] + 1, c), dtype=np.int64)
        class_counts = np.zeros(c, dtype=np.int64)
        rows = np.arange(encoded.n)
        kernel.add_counts(places, encoded.y, rows, 1, counts, class_counts)
        self.table_ = np.empty(counts.shape)
        self.prior_ = np.empty(c)
        kernel.estimate(counts, class_counts, encoded.cardinality, offset, self.table_, self.prior_)
        self.precision_ = np.zeros(d)
        self.mean_ = np.zeros((d, c))
        self.deviation_ = np.zeros((d, c))
        columns = np.ascontiguousarray(encoded.values.T)
        order, n_known = sort_columns(columns, encoded.cardinality)
        kernel.fit_numeric(
            columns, encoded.cardinality, encoded.y, rows, order, n_known,
            self.precision_, self.mean_, self.deviation_,
        )  # fmt: skip
        self._cardinality = encoded.cardinality

    def _proba_encoded(self, values: Floats) -> Floats:
        from bestofk.learners.naive_bayes import split_kernel as kernel

        values = np.ascontiguousarray(values)
        places = kernel.find_places(values, self._cardinality, _offsets(self._cardinality))
        shares: Floats = kernel.proba_rows(
            values, places, self.table_, self.prior_, self.precision_,
            self.mean_, self.deviation_,
        )  # fmt: skip
        return shares

    def _predict_encoded(self, values: Floats) -> Codes:
        codes: Codes = self._proba_encoded(values).argmax(axis=1)
        return codes

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        from bestofk.learners.predict import predict_encoded_splits
        from bestofk.learners.split_marks import SplitMarks

        marks = SplitMarks.of(splits)
        if marks is None:
            return predict_encoded_splits(self, encoded, splits)
        return marks.cut(self._predict_marks(encoded, marks))

    def _predict_marks(self, encoded: Encoded, marks: SplitMarks) -> Codes:
        """Predictions of all splits, as the table of marks."""
        from bestofk.learners.naive_bayes import plan_kernel as kernel
        from bestofk.learners.naive_bayes.split_kernel import find_places
        from bestofk.learners.sorted_columns import sort_columns

        offset = _offsets(encoded.cardinality)
        places = find_places(encoded.values, encoded.cardinality, offset)
        predicted: Codes
        if encoded.cardinality.all():
            predicted = kernel.predict_nominal(
                encoded.values, places, encoded.cardinality, offset, encoded.y,
                encoded.n_classes, marks.marks, marks.wanted, marks.n_marks,
            )  # fmt: skip
            return predicted
        columns = np.ascontiguousarray(encoded.values.T)
        order, n_known = sort_columns(columns, encoded.cardinality)
        predicted = kernel.predict_mixed(
            encoded.values, columns, places, encoded.cardinality, offset, encoded.y,
            encoded.n_classes, order, n_known, marks.marks, marks.wanted,
        )  # fmt: skip
        return predicted

    def complexity(self) -> int:
        """Numbers of the model: c priors, c a declared value, 2 c a numeric column."""
        c = len(self.classes_)
        numeric = int((self._cardinality == 0).sum())
        return c + c * int(self._cardinality.sum()) + 2 * c * numeric


def _offsets(cardinality: Codes) -> Codes:
    """Where the values of each nominal column begin in the table."""
    return np.concatenate(([0], np.cumsum(cardinality))).astype(np.int64)
