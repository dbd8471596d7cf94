"""The voted perceptron of Freund and Schapire, for two classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import EncodedClassifier
from bestofk.papers.learners.kernels import voted_perceptron as kernel


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
        self._filling = kernel.find_filling(encoded.values, encoded.cardinality)
        inputs = self._inputs(encoded.values)
        second = encoded.y == encoded.n_classes - 1
        mistakes, self.signs_, self.votes_ = kernel.train(inputs, second)
        self.vectors_ = inputs[mistakes]

    def _inputs(self, values: Floats) -> Floats:
        return kernel.expand(values, self._cardinality, self._filling)

    def _predict_encoded(self, values: Floats) -> Codes:
        if len(self.classes_) == 1:
            return np.zeros(len(values), dtype=np.int64)
        return kernel.predict_rows(self.vectors_, self.signs_, self.votes_, self._inputs(values))

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
