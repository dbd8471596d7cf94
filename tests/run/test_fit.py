"""A cell is a pure function: fit, predict and one loss, independent of other cells."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import bestofk as bk
from bestofk.run.fit import (
    Evaluator,
    model_size,
)

sys.path.insert(0, str(Path(__file__).parent))
import strange_learners as strange


def drawn():
    """Two classes, three classes and numbers to predict."""
    rng = np.random.default_rng(9)
    two = rng.normal(size=(50, 3)), np.where(rng.random(50) < 0.4, "no", "yes")
    three = rng.normal(size=(61, 3)), np.array(["c", "a", "b"])[np.arange(61) % 3]
    return two, three, (rng.normal(size=(40, 3)), rng.normal(size=40))


TWO, THREE, NUMBERS = drawn()


def cells(live, places=None):
    return strange.by_place(live, Evaluator(live).evaluate(places or live.record.cells()))


def one_fold(live, run, fold):
    X, y = live.datasets[0].X.to_numpy(), np.asarray(live.datasets[0].y)
    splits = live.splits[0]
    train, test = splits.train(run, fold), splits.test(run, fold)
    return X[train], y[train], X[test], y[test]


# Every loss against scikit-learn's own metric on a model that is fitted by hand.
BY_HAND = {
    "zero-one": lambda m, X, y: metrics.zero_one_loss(y, m.predict(X)),
    "log-loss": lambda m, X, y: metrics.log_loss(y, m.predict_proba(X), labels=m.classes_),
    "brier": lambda m, X, y: np.mean(
        np.sum((m.predict_proba(X) - (y[:, None] == m.classes_)) ** 2, axis=1)
    ),
}


@pytest.mark.parametrize("loss", BY_HAND)
def test_losses_of_classification_equal_scikit_learns(loss):
    learners = {"logistic": LogisticRegression(C=0.3), "neighbours": KNeighborsClassifier(7)}
    live = strange.make_live(learners, {"d": THREE}, "2x3", loss=loss)
    found = cells(live)
    assert len(found) == 12
    for (name, _, run, fold, _), cell in found.items():
        X, y, X_test, y_test = one_fold(live, run, fold)
        model = clone(learners[name]).fit(X, y)
        assert cell.loss == pytest.approx(BY_HAND[loss](model, X_test, y_test), abs=1e-12)
        assert cell.fit_time > 0
        assert cell.predict_time > 0


@pytest.mark.parametrize(
    ("loss", "metric"),
    [
        ("squared", metrics.mean_squared_error),
        ("absolute", metrics.mean_absolute_error),
        (bk.metric(metrics.max_error, higher_is_better=False), metrics.max_error),
    ],
)
def test_losses_of_regression_equal_scikit_learns(loss, metric):
    learners = {"ridge": Ridge(), "tree": DecisionTreeRegressor(max_depth=2, random_state=0)}
    live = strange.make_live(learners, {"d": NUMBERS}, "kfold:4", loss=loss)
    for (name, _, run, fold, _), cell in cells(live).items():
        X, y, X_test, y_test = one_fold(live, run, fold)
        expected = metric(y_test, clone(learners[name]).fit(X, y).predict(X_test))
        assert cell.loss == pytest.approx(expected, abs=1e-12)


def test_a_class_that_the_training_rows_lack_has_probability_zero():
    X = np.arange(14.0).reshape(-1, 1)
    y = np.array(["a"] * 6 + ["b"] * 7 + ["rare"])
    live = strange.make_live(
        {"bayes": GaussianNB(), "max": "max"}, {"d": (X, y)}, "loo", loss="brier"
    )
    rare = cells(live)["bayes", 0, 0, 13, 0]
    model = GaussianNB().fit(X[:13], y[:13])
    expected = np.sum(model.predict_proba(X[13:]) ** 2) + 1.0
    assert rare.loss == pytest.approx(expected)


@pytest.mark.parametrize("plan", ["2x3", "2x3+nested"])
def test_cells_do_not_depend_on_what_is_evaluated_before_or_beside_them(plan):
    learners = {
        "forest": RandomForestClassifier(n_estimators=3),
        "nn": "nn",
        "nmc": "nmc",
        "raises": strange.Raises(),
        "counted": strange.Counted(),
    }
    live = strange.make_live(
        learners, {"d": THREE, "e": TWO}, plan, repetitions=2, keep_predictions=True
    )
    together = strange.outcomes(live, Evaluator(live).evaluate(live.record.cells()))
    places = list(live.record.cells())
    evaluator = Evaluator(live)
    order = np.random.default_rng(0).permutation(len(places))
    alone = [result for at in order for result in evaluator.evaluate([places[at]])]
    assert strange.outcomes(live, alone) == together


def test_a_learner_that_writes_on_its_rows_changes_them_for_nobody():
    before = (TWO[0].copy(), TWO[1].copy())
    beside = {"bayes": GaussianNB(), "ols": LogisticRegression(), "frame": strange.Counted()}
    clean = strange.make_live(beside, {"d": TWO}, "2x3")
    expected = {at: cell.loss for at, cell in cells(clean).items()}
    mixed = strange.make_live({"writes": strange.WritesOnData(), **beside}, {"d": TWO}, "2x3")
    found = cells(mixed)
    assert {at: cell.loss for at, cell in found.items() if at[0] != "writes"} == expected
    assert all(cell.failure is None for cell in found.values())
    np.testing.assert_array_equal(TWO[0], before[0])
    np.testing.assert_array_equal(TWO[1], before[1])


def test_mixed_columns_reach_learners_in_the_form_they_take():
    rng = np.random.default_rng(10)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=40),
            "colour": rng.choice(["red", "blue"], 40),
            "gap": np.where(rng.random(40) < 0.3, np.nan, 1.0),
        }
    )
    y = np.where(frame["size"] > 0, "big", "small")
    by_name = make_pipeline(
        make_column_transformer(("passthrough", ["size"])), DecisionTreeClassifier()
    )
    learners = {"tree": DecisionTreeClassifier(), "by name": by_name, "bayes": "naive-bayes"}
    live = strange.make_live(learners, {"d": (frame, y)}, "kfold:4")
    found = cells(live)
    assert all(cell.failure is None for cell in found.values())
    assert np.mean([found["by name", 0, 0, fold, 0].loss for fold in range(4)]) < 0.1


@pytest.mark.parametrize(
    "labels",
    [
        np.tile([3, -1, 7], 14),
        np.tile([True, False], 21),
        np.tile(["a", "b"], 21).astype(object),
        pd.Categorical(np.tile(["z", "a"], 21), categories=["z", "a"]),
        np.tile([1.0, 2.0], 21),
    ],
    ids=["whole numbers", "truth values", "objects", "categorical", "whole floats"],
)
def test_labels_of_every_type(labels):
    X = np.random.default_rng(11).normal(size=(42, 2))
    learners = {"dummy": DummyClassifier(), "max": "max", "tree": DecisionTreeClassifier()}
    live = strange.make_live(learners, {"d": (X, labels)}, "kfold:3")
    found = cells(live)
    assert all(cell.failure is None for cell in found.values())
    for fold in range(3):  # two majorities, ours and scikit-learn's; any of the most frequent
        _, train, _, test = one_fold(live, 0, fold)
        classes, counts = np.unique(train, return_counts=True)
        losses = {np.mean(test != label) for label in classes[counts == counts.max()]}
        for name in ("max", "dummy"):
            assert found[name, 0, 0, fold, 0].loss in losses


def test_size_is_that_of_the_pickled_model():
    X, y = TWO
    assert model_size(np.zeros(2000)) - model_size(np.zeros(1000)) == 8 * 1000
    small, large = (
        KNeighborsClassifier(algorithm="brute").fit(np.tile(X, (times, 1)), np.tile(y, times))
        for times in (1, 9)
    )
    # 8 times 50 rows of three numbers and the number of a class; 450 has a byte more than 50
    assert 0 <= model_size(large) - model_size(small) - 8 * 50 * (3 + 1) * 8 <= 4
    assert model_size(one for one in ()) is None
