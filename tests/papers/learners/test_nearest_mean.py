"""The nearest mean against NearestCentroid, hand calculation and exact fractions."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn.neighbors import NearestCentroid

from bestofk.data import read_data
from bestofk.learners import learner
from bestofk.papers.whole_plans import predict_plan
from bestofk.splits.plans import plan


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300),
        min_size=1,
        max_size=40,
    )
)
def test_means_are_exact_sums_rounded_once(numbers: list[float]) -> None:
    # source: exact rational arithmetic
    assert mean_of(numbers) == float(sum(map(Fraction, numbers))) / len(numbers)


def mean_of(numbers: list[float]) -> float:
    """Return the mean of one class."""
    X = np.array(numbers)[:, np.newaxis]
    return float(learner("nmc").fit(X, ["only"] * len(X)).means_[0, 0])


@pytest.mark.filterwarnings("ignore:self.within_class_std_dev_")
@pytest.mark.parametrize("name", ["iris", "wine", "breast-cancer", "digits"])
def test_raw_numbers_as_nearest_centroid(name: str) -> None:
    data = read_data(name)
    splits = plan("2x2", stratified=False, random_state=1).materialise(data.n)
    X, y = data.X.to_numpy(dtype=float), data.encoded().y
    for (_, _, train, test), ours in zip(
        splits, predict_plan(learner("nmc", scale=None), data, splits), strict=True
    ):
        peer = NearestCentroid().fit(X[train], y[train])
        np.testing.assert_array_equal(ours, peer.predict(X[test]))


@pytest.mark.parametrize("scale", ["std", "range"])
def test_scaled_numbers_as_a_scaler_inside_the_fold(scale: str) -> None:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    data = read_data("wine")
    splits = plan("2x3", stratified=False, random_state=1).materialise(data.n)
    X, y = data.X.to_numpy(dtype=float), data.encoded().y
    scaler = StandardScaler() if scale == "std" else MinMaxScaler()
    predicted = predict_plan(learner("nmc", scale=scale), data, splits)
    for (_, _, train, test), ours in zip(splits, predicted, strict=True):
        peer = make_pipeline(scaler, NearestCentroid()).fit(X[train], y[train])
        np.testing.assert_array_equal(ours, peer.predict(X[test]))


def test_modes_mismatches_and_missing_cells_by_hand() -> None:
    X = pd.DataFrame(
        {
            "size": [1.0, 3.0, np.nan, 10.0, 12.0],
            "colour": pd.Categorical(
                ["red", "blue", "blue", None, None], categories=["green", "red", "blue"]
            ),
            "empty": [np.nan] * 5,
        }
    )
    model = learner("nmc").fit(X, pd.Categorical(["s", "s", "s", "b", "b"], categories=["s", "b"]))
    # means 2 and 11; mode of s is blue; b knows no colour and takes the mode of all rows, blue
    np.testing.assert_array_equal(model.means_[:, 0], [2.0, 11.0])
    assert np.isnan(model.means_[:, 1]).all()
    np.testing.assert_array_equal(model.modes_, [[2], [2]])
    new = pd.DataFrame(
        {"size": [6.5, 6.6, np.nan], "colour": ["red", "red", "red"], "empty": [1.0, 1.0, 1.0]}
    )
    # 4.5^2 + 1 for both: the first class; 4.4^2 against 4.6^2; nothing but the mismatch: first
    assert model.predict(new).tolist() == ["s", "b", "s"]
    assert model.complexity() == 6


def test_ties_of_modes_go_to_the_value_declared_first() -> None:
    X = pd.DataFrame({"a": pd.Categorical(["y", "x"], categories=["x", "y"]), "b": ["p", "q"]})
    model = learner("nmc").fit(pd.concat([X, X]), ["u", "u", "v", "v"])
    np.testing.assert_array_equal(model.modes_, [[0, 0], [0, 0]])


def test_rounding_does_not_break_a_tie() -> None:
    # 0.1 + 0.2 + 0.3 in any order has the mean 0.2 (rounded once); both classes are equally near
    X = np.array([[0.1], [0.2], [0.3], [0.3], [0.2], [0.1]])
    model = learner("nmc").fit(X, ["b", "b", "b", "a", "a", "a"])
    exact = float(Fraction(0.1) + Fraction(0.2) + Fraction(0.3)) / 3
    assert model.means_[:, 0].tolist() == [exact, exact]
    assert model.predict([[0.9]]).tolist() == ["a"]
