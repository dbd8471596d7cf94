"""Any scikit-learn estimator on any data set: nominal columns and missing cells made digestible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestofk.data.schema import Schema, is_categorical
from bestofk.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd


def for_data(estimator: Any, X: pd.DataFrame, *, schema: Schema | None = None) -> Any:
    """The estimator, behind a preparation of the columns of `X` where it needs one.

    Parameters
    ----------
    estimator : scikit-learn estimator or pipeline
        Left as it is.
    X : DataFrame
        The columns of a data set. Only their kinds, their declared values and whether any cell
        is missing are read.
    schema : Schema, optional
        The columns of `X`, where they are known already.

    Returns
    -------
    estimator
        The same object if it takes the columns as they are: one of our learners, one that
        declares it, a pipeline with a ``ColumnTransformer`` of its own, or any estimator on
        numbers without missing cells. Else a pipeline that is fitted as a whole to the training
        rows of each split, so that test rows are never seen.

    Notes
    -----
    Nominal columns become 1-of-n inputs, one for every declared value, zeros for a missing one
    (estimators that say they take categories get the columns as they are). Missing numbers take
    the mean of the training rows (estimators that say they take NaN get NaN).

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    >>> model = for_data(DecisionTreeClassifier(random_state=0), X).fit(X, ["a", "b", "a"])
    >>> model.predict(X).tolist()
    ['a', 'b', 'a']
    """
    from bestofk.learners.preparation.declared import takes

    check_estimator_like(estimator, "learner")
    if hasattr(estimator, "fit_encoded"):
        return estimator
    declared = takes(estimator)
    if declared.columns:
        return estimator
    schema = Schema.of(X) if schema is None else schema
    numeric = [column for column, kind in schema.kinds.items() if kind == "numeric"]
    nominal = [column for column, kind in schema.kinds.items() if kind == "nominal"]
    taken = declared.text or (
        declared.categories and all(is_categorical(X[column]) for column in nominal)
    )
    encode = bool(nominal) and not taken
    impute = not declared.missing and bool(X[numeric].isna().to_numpy().any())
    if not encode and not impute:
        return estimator
    return behind_columns(estimator, schema, encode=encode, impute=impute)


def behind_columns(estimator: Any, schema: Schema, *, encode: bool, impute: bool) -> Any:
    """The estimator behind 1-of-n inputs, training means, or both."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    from bestofk.learners.preparation.adapted import copy_of

    numeric, nominal = (
        [column for column, found in schema.kinds.items() if found == kind]
        for kind in ("numeric", "nominal")
    )
    numbers: Any = "passthrough"
    if impute:
        numbers = SimpleImputer(strategy="mean", keep_empty_features=True)
    words: Any = "passthrough"
    if encode:
        declared = dict(zip(schema.columns, schema.categories, strict=True))
        words = OneHotEncoder(
            categories=[_object_array(declared[column]) for column in nominal],
            handle_unknown="ignore",
            sparse_output=False,
        )
    parts = [("numeric", numbers, numeric), ("nominal", words, nominal)]
    preparation = ColumnTransformer(
        [part for part in parts if part[2]], verbose_feature_names_out=encode
    )
    if nominal and not encode:  # categories stay categories
        preparation.set_output(transform="pandas")
    return Pipeline([("preparation", preparation), ("learner", copy_of(estimator))])


def _object_array(values: Any) -> Any:
    import numpy as np

    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def check_estimator_like(value: Any, where: str) -> None:
    """Refuse what cannot be fitted, cloned and asked for predictions."""
    if isinstance(value, type):
        raise ArgumentError(
            f"{where} must be an estimator, not its class: write {value.__name__}() instead of "
            f"{value.__name__}."
        )
    for method in ("fit", "predict", "get_params"):
        # a method that a class offers under conditions may not be there before it is fitted
        try:
            there = callable(getattr(value, method, None)) or hasattr(type(value), method)
        except Exception as raised:  # any class may raise anything
            raise ArgumentError(
                f"{where} cannot be used: asked for its {method}, it raises "
                f"{type(raised).__name__}."
            ) from None
        if not there:
            raise ArgumentError(
                f"{where} must be a scikit-learn estimator with fit, predict and get_params; got "
                f"{type(value).__name__}, which has no {method}."
            )
