"""The voted perceptron of Freund and Schapire, for two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import EncodedClassifier
from bestofk.learners.kernels.library import Kernel


class VotedPerceptron(EncodedClassifier):
    """Predict by a vote of all weight vectors of a perceptron's training pass.

    More than two classes raise an error. If the training rows have only one class, the model
    predicts it.

    Attributes
    ----------
    vectors_ : array of shape (mistakes, inputs)
        The misclassified rows in order; weight vector k is the signed sum of the first k.
    signs_ : array of shape (mistakes,)
        1 for rows of the second class, -1 for the first.
    votes_ : array of shape (mistakes + 1,)
        The number of rows each vector classified correctly, including the row that created it;
        the first vector is zero.

    Notes
    -----
    Training makes one pass over the rows **in the given order**. Shuffle them first if their
    order is meaningful. A score of at least 0 means the second class. The inputs are the numeric
    columns as they are, nominal columns of two values as 0 and 1, other nominal columns as one
    0/1 input per value, and a constant 1. A row is assigned to the second class if the vectors
    that predict it have more votes than the others; ties go to the first class [1]_.

    *Missing cells* take the mean or the mode (first of ties) of the training rows.

    References
    ----------
    .. [1] Y. Freund and R. E. Schapire, "Large margin classification using the perceptron
       algorithm", Machine Learning 37, 1999, 277-296. :doi:`10.1023/A:1007662407062`

    Examples
    --------
    >>> X = [[0.0], [1.0], [4.0], [5.0]] * 5
    >>> model = VotedPerceptron().fit(X, ["low", "low", "high", "high"] * 5)
    >>> model.predict([[0.5], [4.5]]).tolist()
    ['low', 'high']
    """

    _own_preparation = True
    vectors_: Floats
    signs_: Floats
    votes_: Codes

    def _fit_encoded(self, encoded: Encoded) -> None:
        if encoded.n_classes > 2:
            raise _too_many(encoded.n_classes)
        self._cardinality = encoded.cardinality
        (rows, d), n = encoded.values.shape, encoded.n
        self._filling = np.empty(d)
        everyone = np.arange(n)
        _FILLING(encoded.values, rows, d, encoded.cardinality, everyone, n, self._filling)
        inputs = self._inputs(encoded.values)
        mistakes, signs = np.empty(n, dtype=np.int64), np.empty(n)
        votes = np.empty(n + 1, dtype=np.int64)
        second = encoded.y == encoded.n_classes - 1
        k = _FIT(inputs, *inputs.shape, second, mistakes, signs, votes)
        self.signs_, self.votes_ = signs[:k].copy(), votes[: k + 1].copy()
        self.vectors_ = inputs[mistakes[:k]]

    def _inputs(self, values: Floats) -> Floats:
        """Return numbers, 0/1 for two values, 1-of-n for other nominals, then a 1."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        inputs = np.empty((len(values), n_inputs(self._cardinality)))
        _EXPAND(values, *values.shape, self._cardinality, self._filling, inputs.shape[1], inputs)
        return inputs

    def _predict_encoded(self, values: Floats) -> Codes:
        codes = np.zeros(len(values), dtype=np.int64)
        if len(self.classes_) > 1:
            inputs = self._inputs(values)
            signs = self.signs_
            _ROWS(self.vectors_, signs, self.votes_, len(signs), inputs, *inputs.shape, codes)
        return codes

    def complexity(self) -> int:
        """Return the number of vectors (without the zero vector) times their length."""
        return int(self.vectors_.size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _too_many(n_classes: int) -> ArgumentError:
    return ArgumentError(
        f"y must hold at most two classes for voted-perceptron; got {n_classes}. Only binary "
        "classification is supported. The type of the target is multiclass."
    )


_FILLING = Kernel("perceptron_filling", "*f64 i64 i64 *i64 *i64 i64 &f64")
_EXPAND = Kernel("perceptron_expand", "*f64 i64 i64 *i64 *f64 i64 &f64")
_FIT = Kernel("perceptron_fit", "*f64 i64 i64 *bool &i64 &f64 &i64")
_ROWS = Kernel("perceptron_rows", "*f64 *f64 *i64 i64 *f64 i64 i64 &i64")


def n_inputs(cardinality: Codes) -> int:
    """Return the number of inputs, including the constant 1."""
    return int(np.where((cardinality == 0) | (cardinality == 2), 1, cardinality).sum()) + 1
