"""Any scikit-learn estimator on any data set: nominal columns and missing cells made digestible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestofk.data.schema import Schema
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
        The same object if it takes the columns as they are: one of our learners, a pipeline that
        starts with a ``ColumnTransformer`` of its own, or any estimator on numbers without
        missing cells. Else a pipeline that is fitted as a whole to the training rows of each
        split, so that test rows are never seen.

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
    from sklearn.utils import get_tags

    check_estimator_like(estimator, "learner")
    if hasattr(estimator, "fit_encoded") or _prepares_columns(estimator):
        return estimator
    tags = get_tags(estimator).input_tags
    schema = Schema.of(X) if schema is None else schema
    by_kind = {kind: [c for c, k in schema.kinds.items() if k == kind]
               for kind in ("numeric", "nominal")}  # fmt: skip
    takes_words = tags.categorical or tags.string
    encode = bool(by_kind["nominal"]) and not takes_words
    impute = not tags.allow_nan and bool(X[by_kind["numeric"]].isna().to_numpy().any())
    if not encode and not impute:
        return estimator
    return _prepared(
        estimator,
        schema,
        by_kind["numeric"],
        by_kind["nominal"],
        encode=encode,
        impute=impute,
    )


def _prepared(
    estimator: Any,
    schema: Schema,
    numeric: list[Any],
    nominal: list[Any],
    *,
    encode: bool,
    impute: bool,
) -> Any:
    from sklearn.base import clone
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

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
    preparation = ColumnTransformer([part for part in parts if part[2]])
    return Pipeline([("preparation", preparation), ("learner", clone(estimator))])


def _object_array(values: Any) -> Any:
    import numpy as np

    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _prepares_columns(estimator: Any) -> bool:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[0][1]
    return isinstance(estimator, ColumnTransformer)


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
