"""Estimators of other packages on data sets with nominal columns and missing cells."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bestofk._base.errors import ArgumentError
from bestofk.data import read_data
from bestofk.learners import learner
from bestofk.learners.preparation import ready_learner


def mixed() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "a": [1.0, np.nan, 4.0, 100.0],
            "b": pd.Categorical(["x", "y", None, "z"], categories=["z", "y", "x", "unused"]),
            "c": [1, 2, 3, 4],
        }
    )


def prepared(estimator, X):
    return ready_learner(estimator, read_data(X, ["u", "v"] * (len(X) // 2))).estimator


def test_prepared_columns_reach_the_learner() -> None:
    X = mixed()
    model = prepared(LogisticRegression(), X)
    train = X.iloc[:3]
    model.fit(train, ["u", "v", "u"])
    seen = model.named_steps["preparation"].transform(X)
    # the mean of the training rows 1 and 4, never of the test row 100; values as declared
    np.testing.assert_array_equal(
        seen,
        [
            [1.0, 1, 0, 0, 1, 0],
            [2.5, 2, 0, 1, 0, 0],
            [4.0, 3, 0, 0, 0, 0],
            [100.0, 4, 1, 0, 0, 0],
        ],
    )


def test_estimators_that_can_take_the_columns_get_them() -> None:
    X = mixed()
    numbers = X[["c"]]
    for model in (
        learner("nmc"),
        make_pipeline(
            make_column_transformer((OneHotEncoder(), ["b"]), remainder="drop"),
            KNeighborsClassifier(1),
        ),
    ):
        assert prepared(model, X) is model
    plain = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    assert prepared(plain, numbers) is plain
    again = prepared(plain, X)
    assert isinstance(again, Pipeline)
    assert prepared(again, X) is again


def test_missing_numbers_stay_for_estimators_that_take_them() -> None:
    X = mixed()
    assert isinstance(prepared(HistGradientBoostingClassifier(), X), HistGradientBoostingClassifier)
    model = prepared(HistGradientBoostingClassifier(categorical_features=None), X)
    seen = model.named_steps["preparation"].fit_transform(X)
    assert np.isnan(seen[1, 0])
    assert prepared(HistGradientBoostingClassifier(), X[["a", "c"]]).__class__ is (
        HistGradientBoostingClassifier
    )


def test_a_column_without_known_values_in_training_is_no_obstacle() -> None:
    X = pd.DataFrame({"a": [np.nan, np.nan, 1, 2], "c": [1, 2, 3, 4]})
    model = prepared(KNeighborsClassifier(1), X).fit(X.iloc[:2], ["u", "v"])
    assert model.predict(X).tolist() == ["u", "v", "v", "v"]


def test_what_is_no_estimator_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"write LogisticRegression\(\) instead"):
        prepared(LogisticRegression, mixed())
    with pytest.raises(ArgumentError, match="got StandardScaler, which has no predict"):
        prepared(StandardScaler(), mixed())
