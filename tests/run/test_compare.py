import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import bestofk as bk
from bestofk._base.errors import ArgumentError, BestOfKError
from bestofk.splits.plans import plan as make_plan

SERIAL = bk.Execution(engine="serial", progress=False)

QUICK = {"cv": "kfold:3", "execution": SERIAL}


def labels(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.column_stack([y + rng.normal(0, 0.3, n), rng.normal(size=n)])
    return X, np.where(y == 1, "yes", "no")


def test_the_same_twice_to_the_bit():
    forest = "forest=sklearn.ensemble:RandomForestClassifier(n_estimators=3)"
    arguments = {"data": "iris", **QUICK, "execution": bk.Execution(repetitions=2)}
    first = bk.compare(["nmc", forest], **arguments)
    again = bk.compare(["nmc", forest], **arguments)
    other = bk.compare(["nmc", forest], **arguments, random_state=1)
    np.testing.assert_array_equal(first.scores.losses, again.scores.losses)
    assert (first.scores.losses != other.scores.losses).any()
    forest_losses = first.scores.losses[1]
    assert (forest_losses[..., 0] != forest_losses[..., 1]).any()
    np.testing.assert_array_equal(first.scores.losses[0, ..., 0], first.scores.losses[0, ..., 1])


def test_priors_given_priced_and_measured():
    X, y = labels()
    learners = {"a": GaussianNB(), "b": LogisticRegression(), "c": DummyClassifier()}
    assert bk.compare(learners, X, y, prefer=["c", "b", "a"], **QUICK).decision.by_preference == (
        "c", "b", "a",
    )  # fmt: skip
    priced = bk.compare(learners, X, y, prefer={"a": 3, "b": 1, "c": 2}, **QUICK)
    assert priced.decision.by_preference == ("b", "c", "a")
    for measured in ("fit_time", "predict_time", "size"):
        study = bk.compare(learners, X, y, prefer=measured, **QUICK)
        assert str(study.decision.preference) == f"measured: {measured}"
        costs = [
            getattr(study.outcome.costs[name], measured) for name in study.decision.by_preference
        ]
        # never the one that costs twice as much or more first
        for rank, cost in enumerate(costs):
            assert all(cost < 2 * other for other in costs[rank + 1 :])
    assert str(bk.compare(learners, X, y, **QUICK).decision.preference) == "none"


def test_the_number_of_parameters_as_a_prior():
    study = bk.compare(["nn", "nmc", "max"], data="iris", prefer="complexity", **QUICK)
    # c classes, c d and N d parameters: 3, 12 and 600 on iris
    assert study.decision.by_preference == ("max", "nmc", "nn")
    with pytest.raises(ArgumentError, match="count their parameters; 'GaussianNB' does not"):
        bk.compare(["max", GaussianNB()], data="iris", prefer="complexity", **QUICK)


def test_cost_matrix():
    X, y = labels()
    learners = {"nb": GaussianNB(), "dummy": DummyClassifier()}
    plain = bk.compare(learners, X, y, **QUICK).scores.losses
    costs = bk.compare(learners, X, y, scoring=[[0, 2], [2, 0]], **QUICK).scores.losses
    np.testing.assert_allclose(costs, 2 * plain)
    with pytest.raises(ArgumentError, match="2 x 2 finite numbers"):
        bk.compare(learners, X, y, scoring=[[0, 1, 2]] * 3, **QUICK)


def test_regression_by_fractions_of_the_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(0, 0.1, 80)
    learners = ["mean=sklearn.dummy:DummyRegressor()", "ridge=sklearn.linear_model:Ridge()"]
    study = bk.compare(learners, X, y, **QUICK)
    assert study.outcome.record.metric == "squared"
    assert study.recommended == "ridge"
    for loss in ("absolute", "r2", "neg_mean_squared_error"):
        means = bk.compare(learners, X, y, scoring=loss, **QUICK).decision.mean_losses
        assert means["ridge"] < means["mean"] / 3
    with pytest.raises(ArgumentError, match="'zero-one' is for classification"):
        bk.compare({"a": Ridge(), "b": Ridge(2.0)}, X, y, scoring="zero-one", **QUICK)


def test_one_split_is_tested_by_its_instances():
    X, y = labels(120)
    learners = {"dummy": DummyClassifier(), "nb": GaussianNB()}
    study = bk.compare(learners, X, y, cv="holdout:0.5", execution=SERIAL)
    assert study.decision.test == "mcnemar"
    assert study.recommended == "nb"
    (_, _, train, test) = next(make_plan("holdout:0.5").splits(X, y))
    wrong = GaussianNB().fit(X[train], y[train]).predict(X[test]) != y[test]
    np.testing.assert_array_equal(study.scores.losses[1, 0, 0, :, 0], wrong)


def test_several_data_sets():
    study = bk.compare(["max", "nmc", "nn"], data=["iris", "wine"], **QUICK)
    assert study.scores.datasets == ("iris", "wine")
    assert study.decision.test == "skew-corrected-t"
    with pytest.raises(ArgumentError, match="'iris' twice"):
        bk.compare(["max", "nmc"], data=["iris", "iris"], **QUICK)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"learners": []}, "at least one learner"),
        ({"learners": 3}, "learners must be a list"),
        ({"learners": ["max", "max"]}, "'max'"),
        ({"learners": ["max", object()]}, "has no fit"),
        ({"learners": ["max", dict]}, "not its class"),
        ({"learners": ["max", "sklearn.nowhere:X()"]}, "no module"),
        ({"data": None}, "data must be given"),
        ({"target": ["a"] * 60}, "at least two classes"),
        ({"target": ["a"] * 59}, "59"),
        ({"target": [None] * 60}, "y"),
        ({"cv": "10x"}, "10x"),
        ({"cv": "kfold:100"}, "60"),
        ({"random_state": -1}, "random_state must be"),
        ({"prefer": ["max", "who"]}, "'who'"),
        ({"alpha": 1.5}, "alpha must be"),
        ({"data": "iris"}, "target does not apply to 'iris'"),
    ],
)
def test_bad_input_gets_one_sentence(change, words):
    X, y = labels()
    arguments = {"learners": ["max", "nmc"], "data": X, "target": y, **QUICK, **change}
    with pytest.raises(BestOfKError, match=words):
        bk.compare(**arguments)


def test_stored_cells_without_predictions_are_evaluated_again_where_those_are_needed(tmp_path):
    import sqlite3

    from bestofk.run.store.database import cells

    store = tmp_path / "study.db"
    arguments = {"data": "iris", **QUICK, "cv": "holdout:0.33", "store": store}
    first = bk.compare(["max", "nmc"], **arguments)
    connection = sqlite3.connect(store)
    connection.execute(f"UPDATE {cells.name} SET predictions = NULL")
    connection.commit()
    again = bk.compare(["max", "nmc"], **arguments)
    assert again.decision.test == first.decision.test == "mcnemar"
    np.testing.assert_array_equal(again.scores.losses, first.scores.losses)
    (held,) = connection.execute(f"SELECT COUNT(predictions) FROM {cells.name}")
    connection.close()
    assert held == (2,)


def test_a_comparison_needs_at_most_three_times_the_memory_of_its_data():
    import tracemalloc

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 50))
    y = (X[:, 0] > 0).astype(int)
    # a data frame may hold its columns one after another
    frame = pd.DataFrame(np.asfortranarray(X), copy=False)
    learners = {"dummy": DummyClassifier(), "nb": GaussianNB()}
    before = X.copy()
    bk.compare(learners, X[:200], y[:200], **QUICK)  # import everything first
    # pandas before 3 copies more often
    for rows, most in ((X, 2 if int(pd.__version__.split(".")[0]) > 2 else 3), (frame, 3)):
        tracemalloc.start()
        bk.compare(learners, rows, y, **QUICK)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < most * X.nbytes
    np.testing.assert_array_equal(X, before)


def test_a_recommendation_that_does_not_beat_a_baseline_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), rng.integers(0, 2, 60)
    learners = {"guess": DummyClassifier(), "tree": DecisionTreeClassifier(random_state=0)}
    study = bk.compare(learners, X, y, cv="5x2", progress=False)
    assert study.headline.endswith("guess, which ignores the columns, may be the best.")
    assert "ignores" not in bk.compare(["max", "nmc"], "iris", cv="5x2", progress=False).headline
