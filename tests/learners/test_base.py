"""The base class of the learners: valid and invalid input of fit and predict."""

import numpy as np
import pandas as pd
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.data import read_data
from bestofk.learners import learner


def test_data_frames_arrays_and_lists_are_the_same_rows() -> None:
    X = np.array([[1.0, 5.0], [2.0, 4.0], [8.0, 1.0]])
    y = np.array([3, 3, 7])
    expected = learner("nmc").fit(X, y).predict(X)
    assert expected.dtype == y.dtype
    frame = pd.DataFrame(X, columns=["a", "b"])
    np.testing.assert_array_equal(learner("nmc").fit(frame, y).predict(frame), expected)
    np.testing.assert_array_equal(learner("nmc").fit(X.tolist(), y.tolist()).predict(X), expected)
    np.testing.assert_array_equal(learner("nmc").fit(X.astype(object), y).predict(X), expected)


def test_fit_encoded_is_fit() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=30), "b": rng.choice(list("xy"), 30)})
    data = read_data(X, rng.choice(list("uvw"), 30))
    encoded = data.encoded()
    for name in ("max", "nmc", "logistic"):
        labels = learner(name).fit(data.X, data.y).predict(data.X)
        codes = learner(name).fit_encoded(encoded).predict_encoded(encoded.values)
        np.testing.assert_array_equal(encoded.classes[codes], labels)


def test_predicted_codes_are_those_of_all_declared_classes() -> None:
    y = pd.Categorical(["c", "b", "c"], categories=["a", "b", "c"])
    data = read_data([[0.0], [5.0], [0.0]], y)
    model = learner("nmc").fit_encoded(data.encoded())
    assert model.predict_encoded(np.array([[0.0], [5.0]])).tolist() == [2, 1]
    with pytest.raises(ArgumentError, match="call predict_encoded"):
        model.predict([[0.0]])


def test_columns_must_be_those_of_the_fit() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    model = learner("nmc").fit(X, ["u", "v"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"b": "c"}))
    with pytest.raises(ArgumentError, match="Column 'a' must hold numbers; got 'x'"):
        model.predict(pd.DataFrame({"a": ["x"], "b": [1.0]}))
    with pytest.raises(ArgumentError, match="Column 'b' must hold finite numbers; got infinity"):
        model.predict(pd.DataFrame({"a": [1.0], "b": [np.inf]}))


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[1.0], [2.0]], None, "requires y"),
        (pd.DataFrame({"a": [1.0, 2.0]}), ["u"], "same number of rows; got 2 and 1"),
        (pd.DataFrame({"a": []}), [], "minimum of 1 is required"),
        ([[1.0], [2.0]], pd.Categorical(["u", None]), "missing one in row 2"),
    ],
)
def test_fit_refuses_invalid_data(X, y, sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        learner("max").fit(X, y)
