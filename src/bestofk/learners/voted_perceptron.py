"""The voted perceptron of Freund and Schapire, for two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk.data.schema import Codes, Encoded
from bestofk.learners.base import EncodedClassifier

if TYPE_CHECKING:
    from bestofk.splits.splits import Splits

_MOST_ROWS_FOR_PRODUCTS = 2000
"""Up to this many rows all dot products are kept (32 MB)."""


class VotedPerceptron(EncodedClassifier):
    """Predict by the vote of all the vectors that a perceptron went through.

    Two classes only: more are refused. Where the training rows hold one class, it is predicted.

    Attributes
    ----------
    vectors_ : array of shape (mistakes, inputs)
        The rows on which the perceptron erred, in order; vector k is the signed sum of the first
        k of them.
    signs_ : array of shape (mistakes,)
        1 where the row was of the second class, else -1.
    votes_ : array of shape (mistakes + 1,)
        For how many rows each vector was right, the row that made it included; the first vector
        is zero.

    Notes
    -----
    One pass over the training rows **as they come**: the order matters, shuffle before if it
    carries meaning. A score of at least 0 means the second class. Inputs are the numeric columns
    as they are, nominal columns of two values as 0 and 1, other nominal columns as one 0/1
    input a value, and a constant 1. A row takes the second class when the votes of the vectors
    that give it are more than the others', ties go to the first [1]_.

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

    _own_preparation = frozenset({"one_of_n", "filled", "modes"})
    vectors_: Floats
    signs_: Floats
    votes_: Codes

    def _fit_encoded(self, encoded: Encoded) -> None:
        if encoded.n_classes > 2:
            raise _too_many(encoded.n_classes)
        from bestofk.learners.kernels import voted_perceptron as kernel

        self._cardinality = encoded.cardinality
        self._filling = kernel.find_filling(encoded.values, encoded.cardinality)
        inputs = self._inputs(encoded.values)
        second = encoded.y == encoded.n_classes - 1
        mistakes, self.signs_, self.votes_ = kernel.train(inputs, second)
        self.vectors_ = inputs[mistakes]

    def _inputs(self, values: Floats) -> Floats:
        from bestofk.learners.kernels import voted_perceptron as kernel

        return kernel.expand(values, self._cardinality, self._filling)

    def _predict_encoded(self, values: Floats) -> Codes:
        from bestofk.learners.kernels import voted_perceptron as kernel

        if len(self.classes_) == 1:
            return np.zeros(len(values), dtype=np.int64)
        return kernel.predict_rows(self.vectors_, self.signs_, self.votes_, self._inputs(values))

    def _predict_plan(self, encoded: Encoded, splits: Splits) -> list[Codes]:
        from bestofk.learners.kernels import voted_perceptron as kernel
        from bestofk.learners.kernels.splits import SplitMarks
        from bestofk.learners.predict import predict_encoded_splits

        marks = SplitMarks.of(splits)
        if marks is None:
            return predict_encoded_splits(self, encoded, splits)
        predicted, refused = kernel.predict_marks(
            encoded, marks, with_products=encoded.n <= _MOST_ROWS_FOR_PRODUCTS
        )
        if refused >= 0:
            raise _too_many(encoded.n_classes)
        return marks.cut(predicted)

    def complexity(self) -> int:
        """Vectors (the zero vector left out) times their length."""
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
