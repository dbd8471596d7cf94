"""Decisions from predictions on one test set, in Python and on the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, log_loss, r2_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError
from bestofk.run.fit import HeldOutRows
from bestofk.run.one_test_set import MAX_UNITS, Predictions, as_loss, unit_values

SERIAL = bk.Execution(engine="serial", progress=False)


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(2)
    y = (rng.random(150) < 0.4).astype(int)
    good, poor = (np.clip(rng.normal(0.3 + s * y, 0.25), 0.01, 0.99) for s in (0.4, 0.1))
    return y, good, poor


def test_labels_by_mcnemar(answers):
    y, good, poor = answers
    names = np.array(["no", "yes"])
    decision = bk.compare_predictions(
        names[y], {"good": names[(good > 0.5) * 1], "poor": names[(poor > 0.5) * 1]}
    )
    assert decision.test == "mcnemar"
    assert decision.decision.noun == "model"
    assert decision.recommended == "good"
    assert decision.decision.means["good"] == pytest.approx(np.mean(y != (good > 0.5)))


@pytest.mark.parametrize(
    ("scoring", "test", "metric"),
    [
        ("roc_auc", "delong", roc_auc_score),
        ("log-loss", "skew-corrected-t", log_loss),
        ("neg_log_loss", "skew-corrected-t", log_loss),
    ],
)
def test_probabilities(answers, scoring, test, metric):
    y, good, poor = answers
    one = bk.compare_predictions(y, {"good": good, "poor": poor}, scoring=scoring)
    two = bk.compare_predictions(
        y, {n: np.stack([1 - p, p], axis=1) for n, p in (("good", good), ("poor", poor))},
        scoring=scoring,
    )  # fmt: skip
    assert one.test == two.test == test
    assert one.decision.means["good"] == pytest.approx(metric(y, good))
    assert one.decision.means == pytest.approx(two.decision.means)


def test_any_other_metric_by_the_jackknife(answers):
    y, good, poor = answers
    labels = {"good": (good > 0.5) * 1, "poor": (poor > 0.5) * 1}
    decision = bk.compare_predictions(y, labels, scoring="f1")
    assert decision.test == "jackknife-t"
    assert decision.decision.means["good"] == pytest.approx(f1_score(y, labels["good"]))
    # leave out row by row, with scikit-learn's metric
    rows = np.arange(len(y))
    parts = {}
    for name, predicted in labels.items():
        without = np.array([f1_score(np.delete(y, i), np.delete(predicted, i)) for i in rows])
        parts[name] = len(y) * f1_score(y, predicted) - (len(y) - 1) * without
    d = parts["good"] - parts["poor"]
    t = d.mean() / (d.std(ddof=1) / np.sqrt(len(d)))
    # the published pseudo-values have another mean and the same spread
    (result,) = decision.decision.evidence.results["two-sided"]
    assert abs(result.statistic[0]) == pytest.approx(abs(t), rel=0.02)


def test_numbers_and_many_rows():
    rng = np.random.default_rng(4)
    x = rng.normal(size=2 * MAX_UNITS)
    y = x + rng.normal(size=len(x))
    decision = bk.compare_predictions(
        y, pd.DataFrame({"line": x, "half": x / 2, "none": 0 * x}), scoring="r2"
    )
    assert decision.recommended == "line"
    assert decision.decision.means["half"] == pytest.approx(r2_score(y, x / 2))
    assert "500 random blocks" in decision.explain()
    assert bk.compare_predictions(y, {"a": x, "b": x / 2}).recommended == "a"


def test_blocks_estimate_the_variance_of_single_rows():
    rng = np.random.default_rng(6)
    y = rng.normal(size=4 * MAX_UNITS)
    rows, loss = HeldOutRows(truth=y), as_loss("r2", classes=None)
    predicted = y + rng.normal(size=len(y))
    blocks = unit_values(loss, rows, Predictions(labels=predicted))
    by_hand = ((y - predicted) ** 2 - (1 - r2_score(y, predicted)) * (y - y.mean()) ** 2) / y.var()
    exact = by_hand.std() / np.sqrt(len(y))
    estimate = blocks.std(ddof=1) / np.sqrt(len(blocks))
    # a standard deviation of 500 blocks has a relative standard error of 1 / sqrt(1000)
    assert estimate == pytest.approx(exact, rel=4 / np.sqrt(1000))


def test_groups_are_the_units(answers):
    y, good, poor = answers
    four = np.tile(np.arange(150), 4)
    models = {"good": np.tile(good, 4), "poor": np.tile(poor, 4)}
    for scoring in ("roc_auc", "average_precision", "log-loss"):
        alone = bk.compare_predictions(
            y, {"good": good, "poor": poor}, scoring=scoring, groups=np.arange(150)
        )
        copied = bk.compare_predictions(np.tile(y, 4), models, scoring=scoring, groups=four)
        assert copied.decision.evidence.pvalue == pytest.approx(
            alone.decision.evidence.pvalue, rel=0.05
        )
        assert "150 groups" in copied.explain()


@pytest.mark.parametrize(
    ("truth", "predictions", "options", "words"),
    [
        ([0, 1] * 9, {"a": [0.2] * 18, "b": [0.4] * 18}, {}, "scoring='roc_auc'"),
        ([0, 1] * 9, {"a": [0, 1] * 9, "b": [1] * 18}, {"scoring": "roc_auc"}, "a holds labels"),
        ([0, 1] * 9, {"a": [0.1] * 18, "b": [0.4] * 17}, {"scoring": "auc"}, "each of the 18 rows"),
        ([0, 1] * 9, {"a": [0.1] * 18}, {"scoring": "auc"}, "at least 2 models"),
        ([1] * 18, {"a": [1] * 18, "b": [1] * 18}, {"task": "classification"}, "two classes"),
        ([0, None] * 9, {"a": [1] * 18, "b": [1] * 18}, {}, "got none in row 2"),
        ([0, 1] * 9, {"a": [0, 1] * 9, "b": [np.nan, 1] * 9}, {}, "got none in row 1"),
        ([0, 1] * 9, {"a": [0, 1] * 9, "b": [0, 2] * 9, "c": ["x"] * 18}, {}, "none of"),
        ("y", {"a": [1, 2], "b": [2, 1]}, {}, "no column 'y'"),
        ([0.5, 1.5] * 9, {"a": [1.0] * 18, "b": [2.0] * 18}, {"scoring": "max_error"}, "single r"),
        ([0, 1] * 9, {"a": [0, 1] * 9, "b": [1] * 18}, {"scoring": "fit_time"}, "more than"),
        ([0, 1] * 9, [1, 2], {}, "mapping of model to predictions"),
    ],
)  # fmt: skip
def test_refusals(truth, predictions, options, words):
    with pytest.raises(bk.BestOfKError, match=words):
        bk.compare_predictions(truth, predictions, **options)


def test_constant_scores_and_one_class():
    y = np.array([0, 1] * 20)
    scores = {"constant": np.full(40, 0.5), "good": y * 0.5 + np.linspace(0, 0.4, 40)}
    decision = bk.compare_predictions(y, scores, scoring="roc_auc")
    assert decision.decision.means["constant"] == 0.5
    assert decision.recommended == "good"
    with pytest.raises(ArgumentError, match="at least 2 rows of each class"):
        bk.compare_predictions([0] * 39 + [1], scores, scoring="roc_auc")


def test_fitted_models():
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    y = np.where(X.a + rng.normal(size=200) > 0, "up", "down")
    train, test = slice(0, 100), slice(100, 200)
    models = {
        "line": LogisticRegression().fit(X[train], y[train]),
        "svm": LinearSVC().fit(X[train], y[train]),
        "prior": DummyClassifier().fit(X[train], y[train]),
    }
    decision = bk.compare_fitted(models, X[test], y[test], scoring="roc_auc")
    area = roc_auc_score(y[test], models["svm"].decision_function(X[test]))
    assert decision.decision.means["svm"] == pytest.approx(area)
    assert decision.test == "delong"
    frame = X[test].assign(where=y[test])
    assert bk.compare_fitted(models, frame, "where").test == "mcnemar"
    with pytest.raises(ArgumentError, match="new is not fitted"):
        bk.compare_fitted({"new": GaussianNB(), **models}, X[test], y[test])
    z = X.a.to_numpy()
    numbers = [LinearRegression().fit(X[train], z[train]), DummyRegressor().fit(X[train], z[train])]
    assert bk.compare_fitted(numbers, X[test], z[test]).recommended == "LinearRegression"


@pytest.mark.parametrize("scoring", ["auc", "f1:1", "log-loss"])
def test_any_metric_on_one_split(scoring):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(160, 2))
    y = (X[:, 0] + rng.normal(size=160) > 0).astype(int)
    models = {"line": LogisticRegression(), "prior": DummyClassifier(strategy="prior")}
    if scoring == "auc":
        models["svm"] = LinearSVC()
    study = bk.compare(
        models, X, y, cv="holdout:0.5", scoring=scoring, execution=SERIAL
    )  # fmt: skip
    assert study.recommended in ("line", "svm")
    tests = {"roc_auc": "delong", "auc": "delong", "log-loss": "skew-corrected-t"}
    assert study.decision.test == tests.get(scoring, "jackknife-t")
    # the components average to the loss that the run measured
    splits = study.outcome.live.splits[0]
    train, test = splits.train(0, 0), splits.test(0, 0)
    if "auc" in scoring:
        model = LogisticRegression().fit(X[train], y[train])
        area = roc_auc_score(y[test], model.decision_function(X[test]))
        assert study.scores.means()["line"] == pytest.approx(1 - area)


def test_true_values_never_compete(tmp_path):
    for name in ("y_true", "label", "Target", "ground truth", "actual"):
        with pytest.raises(TableError, match="--truth"):
            bk.compare_scores(pd.DataFrame({name: [0, 1] * 9, "a": [0, 1] * 9, "b": [1, 1] * 9}))


def test_predictions_with_folds_are_a_cross_validation(answers):
    y, good, poor = answers
    folds = np.arange(150) % 5
    labels = {"good": (good > 0.5) * 1, "poor": (poor > 0.5) * 1}
    decision = bk.compare_predictions(y, labels, folds=folds)
    assert decision.test == "corrected-repeated-kfold-t"
    assert decision.decision.noun == "learner"
    wrong = np.stack([[(x != y)[folds == k].mean() for k in range(5)] for x in labels.values()])
    # Nadeau and Bengio's variance, with 30 test rows for 120 training rows
    d = wrong[1] - wrong[0]
    t = d.mean() / np.sqrt((1 / 5 + 30 / 120) * d.var(ddof=1))
    (result,) = decision.decision.evidence.results["two-sided"]
    assert abs(result.statistic[0]) == pytest.approx(t)
    # AUC of every fold
    ranked = bk.compare_predictions(y, {"good": good, "poor": poor}, folds=folds, scoring="roc_auc")
    areas = [roc_auc_score(y[folds == k], good[folds == k]) for k in range(5)]
    assert ranked.decision.mean_losses["good"] == pytest.approx(1 - np.mean(areas))


def test_folds_of_predictions_keep_groups_whole(answers):
    y, good, poor = answers
    frame = pd.DataFrame({"y": y, "a": (good > 0.5) * 1, "b": (poor > 0.5) * 1})
    frame["fold"] = np.arange(150) // 30
    decision = bk.compare_predictions("y", frame, folds="fold", groups=np.arange(150) // 3)
    assert decision.decision.problem.design.groups == 50
    with pytest.raises(ArgumentError, match="No group may train and test in one split"):
        bk.compare_predictions("y", frame, folds="fold", groups=np.arange(150) // 4)
    with pytest.raises(ArgumentError, match=r"a column 'fold', .* pass folds='fold'\.$"):
        bk.compare_predictions("y", frame)
    with pytest.raises(ArgumentError, match="folds must name at least 2 folds"):
        bk.compare_predictions("y", frame.drop(columns="fold"), folds=np.ones(150))
    with pytest.raises(ArgumentError, match="one value for each of the 150 rows"):
        bk.compare_predictions("y", frame.drop(columns="fold"), folds=[1, 2])
