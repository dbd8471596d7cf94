"""Base classes of the built-in learners: scikit-learn classifiers that work on encoded rows."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk.data.schema import (
    Codes,
    Encoded,
    Schema,
    check_codes,
    encode_labels,
    is_categorical,
    is_sparse,
)

if TYPE_CHECKING:
    import pandas as pd


class EncodedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify rows of numeric and nominal columns with missing values.

    In a data frame, categorical, text and boolean columns are nominal and numbers are numeric.
    Arrays are numeric; arrays of objects are treated column by column. A nominal value that was
    not declared when the model was fitted counts as missing. Classes without training rows are
    never predicted.

    A subclass implements `_fit_encoded` and `_predict_encoded`. It may implement
    `_proba_encoded`, which gives it `predict_proba`, and `_predict_plan`, which predicts all the
    splits of a plan at once.

    Attributes
    ----------
    classes_ : array
        The labels of the training rows, in declared order.
    schema_ : Schema
        The columns as they were when the model was fitted (not set by `fit_encoded`).
    """

    _splits_share_most = False
    """True if most of the work of a plan is done once for all its splits."""

    classes_: npt.NDArray[Any]
    class_codes_: Codes
    schema_: Schema
    n_features_in_: int
    _declared: Codes
    _own_preparation = False
    """True if the learner itself makes 1-of-n inputs and fills missing numbers by the mean."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model to the rows of `X`, shape (n, d), and their labels `y`, shape (n,)."""
        if y is None:
            raise ArgumentError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        frame = as_frame(self, X, reset=True)
        declared = is_categorical(y)
        labels = y if declared else column_or_1d(y, warn=True)
        if len(labels) != len(frame):
            raise ArgumentError(
                f"X and y must have the same number of rows; got {len(frame)} and {len(labels)}."
            )
        if not declared:
            if labels.dtype.kind == "f":
                assert_all_finite(labels, input_name="y")
            check_classification_targets(labels)
        codes, classes = encode_labels(labels)
        self.schema_ = Schema.of(frame)
        return self.fit_encoded(
            Encoded(
                values=self.schema_.encode(frame),
                cardinality=self.schema_.cardinality,
                y=codes,
                classes=classes,
            )
        )

    def fit_encoded(self, encoded: Encoded) -> Self:
        """Fit the model to encoded rows; drop the classes without training rows."""
        present, self.class_codes_ = encoded.only_present_classes()
        self.classes_ = present.classes
        self.n_features_in_ = encoded.d
        self._declared = encoded.cardinality
        self._fit_encoded(present)
        return self

    def predict_encoded(self, values: Floats) -> Codes:
        """Return codes of the predicted classes, counted among all declared classes."""
        check_is_fitted(self, "classes_")
        values = np.ascontiguousarray(values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self._declared):
            raise ArgumentError(
                f"The rows must have {len(self._declared)} columns; got the shape {values.shape}."
            )
        check_codes(values, self._declared)
        return self.class_codes_[self._predict_encoded(values)]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the predicted label of every row of `X`."""
        values = self._encode(X)
        predicted: npt.NDArray[Any] = self.classes_[self._predict_encoded(values)]
        return predicted

    def _encode(self, X: Any) -> Floats:
        check_is_fitted(self, "classes_")
        if not hasattr(self, "schema_"):
            raise ArgumentError(
                "This model was fitted to encoded rows, so it has no column names; call "
                "predict_encoded instead."
            )
        return self.schema_.encode(as_frame(self, X, reset=False))

    def load(self, encoded: Encoded) -> None:
        """Import what the first fit imports, so that timed fits do not pay for it.

        The caller catches warnings.
        """
        few = encoded.take(np.arange(min(2, encoded.n)))
        # an error on two rows says nothing about all rows
        with contextlib.suppress(Exception):
            clone(self).fit_encoded(few).predict_encoded(few.values)

    def complexity(self) -> int:
        """Return the number of parameters of the fitted model."""
        raise NotImplementedError

    def _fit_encoded(self, encoded: Encoded) -> None:
        raise NotImplementedError

    def _predict_encoded(self, values: Floats) -> Codes:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class ProbabilisticClassifier(EncodedClassifier):
    """An encoded classifier with class probabilities."""

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities for every row of `X`; columns are ordered as `classes_`."""
        return self._proba_encoded(self._encode(X))

    def _proba_encoded(self, values: Floats) -> Floats:
        raise NotImplementedError


def _are_numbers(X: Any) -> bool:
    # sparse arrays of older versions of scipy cannot be converted; check_array refuses them
    return is_sparse(X) or np.asarray(X).dtype.kind in "fiub"


def as_frame(estimator: Any, X: Any, *, reset: bool) -> pd.DataFrame:
    """Return `X` as a data frame after scikit-learn's checks of names, columns and shape."""
    import pandas as pd

    if not isinstance(X, pd.DataFrame):
        array = check_array(
            X,
            dtype=None,
            ensure_all_finite="allow-nan" if _are_numbers(X) else False,
            estimator=estimator,
        )
        validate_data(estimator, array, reset=reset, skip_check_array=True)
        return pd.DataFrame(array, copy=False)
    if min(X.shape) < 1:
        raise ArgumentError(
            f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) while a minimum "
            "of 1 is required."
        )
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X
