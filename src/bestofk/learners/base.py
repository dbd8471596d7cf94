"""Base classes of the built-in learners: scikit-learn classifiers that work on encoded rows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
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

    from bestofk.splits.splits import Splits


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


# Predictions of encoded rows, and the seeds of learners

_SEED_NAMES = ("random_state", "random_seed")


def predict_subsets(
    estimator: Any, encoded: Encoded, splits: Splits, runs: Sequence[int]
) -> Iterator[Codes]:
    """Predict the folds of some runs on subsets of the rows, one run at a time."""
    if not runs:
        return
    predicted = estimator._predict_plan(encoded, splits.pairs_left_out(runs))
    for run, codes in zip(runs, predicted, strict=True):
        tested = splits.folds_tested(run)
        yield from (codes[tested == fold] for fold in range(splits.folds_in(run)))


def predict_encoded_splits(
    estimator: Any, encoded: Encoded, splits: Splits, *, seeds: Sequence[int] | None = None
) -> list[Codes]:
    """Predict class codes with one fit per split of encoded rows, in the order (run, fold)."""
    return [
        with_seed(estimator, seeds, split)
        .fit_encoded(encoded.take(train))
        .predict_encoded(encoded.values[test])
        for split, (_, _, train, test) in enumerate(splits)
    ]


def with_seed(estimator: Any, seeds: Sequence[int] | None, split: int) -> Any:
    """Return a copy of the estimator with the seed of a split."""
    from sklearn.base import clone

    model = clone(estimator)
    if seeds is not None:
        model.set_params(**{name: int(seeds[split]) for name in seed_names(estimator)})
    return model


def seed_names(estimator: Any) -> list[str]:
    """Return the parameters of an estimator, or of nested estimators, that are unset seeds.

    A seed that the user set stays as it is. A built-in learner declares with `_uses_seed` whether
    a seed can matter with its parameters.
    """
    return [name for name, seed in seeds_of(estimator).items() if seed is None]


def seeds_of(estimator: Any) -> dict[str, Any]:
    """Return the seeds of an estimator and of nested estimators; None if the user set none.

    A seed that equals the default of its class counts as unset.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> seeds_of(RandomForestClassifier(random_state=3)), seeds_of(RandomForestClassifier())
    ({'random_state': 3}, {'random_state': None})
    """
    if not hasattr(estimator, "get_params"):
        return {}
    if hasattr(estimator, "_uses_seed") and not estimator._uses_seed():
        return {}
    params = estimator.get_params(deep=True)
    seeds: dict[str, Any] = {}
    for name, value in params.items():
        path, _, last = name.rpartition("__")
        if last in _SEED_NAMES:
            owner: Any = type(params.get(path, estimator))
            default = _arguments(owner).get(last)
            is_set = value is not None and not (default is not None and value is default.default)
            seeds[name] = value if is_set else None
    for name, part in {"": estimator, **params}.items():
        # get_params of some classes lists only parameters that were set
        kind: Any = type(part)
        if hasattr(part, "get_params") and "random_state" in _arguments(kind):
            prefix = f"{name}__" if name else ""
            if not any(f"{prefix}{seed}" in params for seed in _SEED_NAMES):
                seeds[f"{prefix}random_state"] = None
    return seeds


@cache
def _arguments(kind: Any) -> Mapping[str, Parameter]:
    """Return the arguments of a class by name."""
    try:
        return signature(kind).parameters
    except (TypeError, ValueError):
        return {}
