"""Invariants of every registered learner, on small difficult data sets of every kind."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from bestofk.data import DataSet, read_data
from bestofk.learners import LEARNERS, learner
from bestofk.papers.whole_plans import predict_plan, predict_split_by_split
from bestofk.splits.plans import plan
from bestofk.testing import check_learner

OWN = {
    entry.estimator: name
    for name, entry in reversed(list(LEARNERS.items()))
    if not entry.estimator.startswith("sklearn.")
}
"""One name for each class; the others are entries of the same class."""
WRITTEN = list(OWN.values())
NOMINAL_ONLY = ("tan",)
TWO_CLASSES = ("voted-perceptron",)
PLANS = ("3x2", "kfold:3", "resample:3:0.4", "bootstrap:2", "loo", "2x3+nested")


@st.composite
def data_sets(draw: st.DrawFn, name: str) -> DataSet:
    """Draw few rows with ties, missing cells, unused values, constant columns and rare classes."""
    kinds = ["nominal", *([] if name in NOMINAL_ONLY else ["numeric"])]
    n = draw(st.integers(6, 50))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = draw(st.sampled_from([0.0, 0.0, 0.15, 0.6]))
    columns = {}
    for j in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(kinds))
        if kind == "nominal":
            values = [f"v{k}" for k in range(draw(st.integers(1, 4)))]
            cells = rng.integers(0, max(1, len(values) - draw(st.integers(0, 1))), n)
            cells = np.where(rng.random(n) < missing, -1, cells)
            columns[f"a{j}"] = pd.Categorical.from_codes(cells, categories=values)
        else:
            grain = draw(st.sampled_from(["tied", "decimal", "real", "huge", "constant"]))
            cells = {
                "tied": rng.integers(0, 3, n).astype(float),
                "decimal": rng.integers(-20, 20, n) / 10,
                "real": rng.normal(size=n),
                "huge": rng.normal(size=n) * 10.0 ** rng.integers(-12, 12, n),
                "constant": np.full(n, 0.1),
            }[grain]
            cells[rng.random(n) < missing] = np.nan
            columns[f"a{j}"] = cells
    classes = [f"c{k}" for k in range(2 if name in TWO_CLASSES else draw(st.integers(2, 4)))]
    y = rng.integers(0, len(classes), n)
    y[:2] = [0, len(classes) - 1]
    if draw(st.booleans()):  # something to learn: the first column decides
        first = next(iter(columns.values()))
        codes = first.codes if isinstance(first, pd.Categorical) else np.nan_to_num(first)
        y = np.where(rng.random(n) < 0.8, (codes > np.median(codes)).astype(int), y)
        y[:2] = [0, len(classes) - 1]
    labels = pd.Categorical.from_codes(y, categories=classes[::-1])
    return read_data(pd.DataFrame(columns), labels)


COMMON = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in NOMINAL_ONLY])
def test_every_entry_passes_the_checks_for_plugins(name: str) -> None:
    check_learner(name)


@pytest.mark.parametrize("name", WRITTEN)
def test_whole_plans_equal_their_splits_prediction_by_prediction(name: str) -> None:
    @COMMON
    @given(st.data())
    def check(drawn: st.DataObject) -> None:
        data = drawn.draw(data_sets(name))
        spec = drawn.draw(st.sampled_from(PLANS))
        seed = drawn.draw(st.integers(0, 99))
        splits = plan(spec, stratified=False, random_state=seed).materialise(data.n)
        whole = predict_plan(learner(name), data, splits)
        one_by_one = predict_split_by_split(learner(name), data, splits)
        assert len(whole) == len(one_by_one) == len(splits)
        for (run, fold, _, test), a, b in zip(splits, whole, one_by_one, strict=True):
            assert a.shape == test.shape, (run, fold)
            np.testing.assert_array_equal(a, b, err_msg=f"{spec} run {run}, fold {fold}")

    check()


@pytest.mark.parametrize("name", WRITTEN)
def test_a_row_is_predicted_for_itself_and_nothing_is_written(name: str) -> None:
    @COMMON
    @given(st.data())
    def check(drawn: st.DataObject) -> None:
        data = drawn.draw(data_sets(name))
        X, y = data.X.copy(), data.y.copy()
        model = learner(name).fit(data.X, data.y)
        predicted = model.predict(data.X)
        pd.testing.assert_frame_equal(data.X, X)
        pd.testing.assert_series_equal(data.y, y)
        order = np.random.default_rng(0).permutation(data.n)
        np.testing.assert_array_equal(model.predict(data.X.iloc[order]), predicted[order])
        assert set(predicted) <= set(data.y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(data.X), predicted)
        assert model.complexity() >= 1
        if hasattr(model, "predict_proba"):
            shares = model.predict_proba(data.X)
            np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-9)
            assert (shares >= 0).all()
            assert shares.shape == (data.n, len(model.classes_))

    check()


@pytest.mark.parametrize("name", WRITTEN)
def test_a_value_never_declared_counts_as_missing(name: str) -> None:
    X = pd.DataFrame({"a": list("xyxyxyxz"), "b": list("ppqqppqq")})
    y = list("uvuvuvuv")
    model = learner(name).fit(X, y)
    new = pd.DataFrame({"a": ["x", "y"], "b": ["never", "never"]})
    gone = pd.DataFrame({"a": ["x", "y"], "b": [None, None]})
    np.testing.assert_array_equal(model.predict(new), model.predict(gone))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_class_without_training_rows_is_never_predicted(name: str) -> None:
    X = pd.DataFrame({"a": list("xyxyxyxy")})
    y = pd.Categorical(list("uvuvuvuv"), categories=["never", "v", "u"])
    model = learner(name).fit(X, y)
    assert model.classes_.tolist() == ["v", "u"]
    assert set(model.predict(X)) <= {"u", "v"}


@parametrize_with_checks([learner(name) for name in WRITTEN if name not in NOMINAL_ONLY])
def test_scikit_learn_conventions(estimator, check) -> None:
    check(estimator)
