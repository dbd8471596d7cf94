"""A learner behind what it does not do itself: labels as codes, categories as words, plain names.

Nothing that changes what is learnt: labels come back as they were, words stand for the same
categories, and columns are only called otherwise.
"""

from __future__ import annotations

import re
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if

MISSING_WORD = "(missing)"
"""Stands for a missing cell of a nominal column where a learner wants words."""
_PLAIN_NAME = re.compile(r"[\w .+*/%()@#-]+")


def plain_names(names: Any) -> bool:
    """Whether the names of columns hold no character that boosting packages refuse."""
    return all(isinstance(name, str) and _PLAIN_NAME.fullmatch(name) for name in names)


def _has(method: str) -> Any:
    def check(self: Any) -> bool:
        return hasattr(self.estimator, method)

    return available_if(check)


class Adapted(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A learner that is handed what it takes, and answers as it was asked.

    Parameters
    ----------
    estimator : estimator
        The learner.
    codes : bool
        It gets the labels of its training rows as 0, 1, ...; predictions are labels again.
    words : tuple of str
        Nominal columns that it gets as text, a missing cell as a word of its own; the argument
        ``cat_features`` of its `fit` names them.
    texts : tuple of str
        Nominal columns whose categories it gets as text, such as ``"True"`` for True.
    rename : bool
        The columns are called x1, x2, ...

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = Adapted(DummyClassifier(), codes=True).fit([[0], [1], [2]], ["b", "a", "b"])
    >>> model.predict([[5]]).tolist(), model.classes_.tolist(), model.estimator_.classes_.tolist()
    (['b'], ['a', 'b'], [0, 1])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        codes: bool = False,
        words: tuple[str, ...] = (),
        texts: tuple[str, ...] = (),
        rename: bool = False,
    ) -> None:
        self.estimator = estimator
        self.codes = codes
        self.words = words
        self.texts = texts
        self.rename = rename

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a copy of the learner."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = copy_of(self.estimator)
        labels = y
        if self.codes:
            self.classes_, labels = np.unique(np.asarray(y), return_inverse=True)
            labels = labels.reshape(-1).astype(np.int64)
        given = self._handed(X)
        if self.words and "cat_features" not in self._stated():
            weights["cat_features"] = [given.columns[X.columns.get_loc(c)] for c in self.words]
        self.estimator_.fit(given, labels, **weights)
        if not self.codes and hasattr(self.estimator_, "classes_"):
            self.classes_ = np.asarray(self.estimator_.classes_)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """What the learner predicts, in the labels that it was asked for."""
        predicted = np.asarray(self.estimator_.predict(self._handed(X)))
        if predicted.ndim == 2 and predicted.shape[1] == 1:
            predicted = predicted[:, 0]
        if not self.codes:
            return predicted
        if predicted.ndim == 2:  # probabilities of the classes
            predicted = predicted.argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[predicted.astype(np.int64)]
        return labels

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """The probability of every class, columns as `classes_`."""
        return np.asarray(self.estimator_.predict_proba(self._handed(X)))

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """The learner's own scores."""
        return np.asarray(self.estimator_.decision_function(self._handed(X)))

    def _stated(self) -> dict[str, Any]:
        found: dict[str, Any] = self.estimator.get_params(deep=False)
        return {name: value for name, value in found.items() if value is not None}

    def _handed(self, X: Any) -> Any:
        if not (self.words or self.texts or self.rename):
            return X
        handed = X.copy()
        for column in self.texts:
            handed[column] = handed[column].cat.rename_categories(str)
        for column in self.words:
            cells = handed[column]
            handed[column] = cells.astype(object).where(cells.notna(), MISSING_WORD).map(str)
        if self.rename:
            handed.columns = [f"x{place + 1}" for place in range(handed.shape[1])]
        return handed

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        try:
            return get_tags(self.estimator)
        except Exception:
            # a class of another package need not have tags
            return super().__sklearn_tags__()


def copy_of(estimator: Any) -> Any:
    """An unfitted copy; of classes that scikit-learn's `clone` refuses, a deep one."""
    try:
        return clone(estimator)
    except Exception:
        # any class may raise anything while it is made
        from copy import deepcopy

        return deepcopy(estimator)
