"""Scorers and callables as losses: values of scikit-learn, direction of the user."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    brier_score_loss,
    f1_score,
    get_scorer,
    get_scorer_names,
    make_scorer,
    mean_absolute_error,
    r2_score,
)
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

import bestofk as bk
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.losses.losses import metric_of
from bestofk.run.metrics import as_loss, as_losses, loss_shown
from bestofk.splits.plans import plan as make_plan

SERIAL = bk.Execution(engine="serial", progress=False)

QUICK = {"cv": "kfold:3", "execution": SERIAL}
CANCER = load_breast_cancer()
X, Y = CANCER.data[:150, :5], CANCER.target_names[CANCER.target[:150]].astype(str)
NUMBERS = load_diabetes()
P, Q = NUMBERS.data[:120], NUMBERS.target[:120]
CLASSIFIERS = {"bayes": GaussianNB(), "logistic": LogisticRegression(max_iter=300)}
REGRESSORS = {"weak": Ridge(alpha=10.0), "ridge": Ridge()}


def folds(X, y):
    made = make_plan("kfold:3", random_state=0).materialise(len(y), y)
    return [(made.train(0, fold), made.test(0, fold)) for fold in range(3)]


@pytest.mark.parametrize(
    "name",
    [
        "accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "f1_macro", "f1_weighted",
        "matthews_corrcoef", "d2_log_loss_score",
    ],
)  # fmt: skip
def test_values_of_classification_are_those_of_scikit_learn(name):
    if name not in get_scorer_names():
        pytest.skip(f"this scikit-learn has no scorer {name}")
    study = bk.compare(CLASSIFIERS, X, Y, scoring=name, **QUICK)
    ours = study.scores.metric.shown(study.scores.losses[:, 0, 0, :, 0])
    sign = -1.0 if name.startswith("neg_") else 1.0
    for row, learner in zip(ours, CLASSIFIERS.values(), strict=True):
        theirs = cross_val_score(learner, X, Y, cv=folds(X, Y), scoring=name)
        np.testing.assert_allclose(row, sign * theirs, rtol=1e-12)
    assert study.scores.metric.higher_is_better is (sign > 0)


def test_the_brier_score_is_the_same_for_either_class():
    ours = bk.compare(CLASSIFIERS, X, Y, scoring="neg_brier_score", **QUICK).scores.losses[
        :, 0, :, :, 0
    ]
    for label in ("benign", "malignant"):
        made = make_scorer(brier_score_loss, response_method="predict_proba", pos_label=label)
        theirs = cross_val_score(GaussianNB(), X, Y, cv=folds(X, Y), scoring=made)
        np.testing.assert_allclose(ours[0, 0], theirs)


@pytest.mark.parametrize("name", ["r2", "neg_mean_absolute_error", "neg_root_mean_squared_error"])
def test_values_of_regression_are_those_of_scikit_learn(name):
    study = bk.compare(
        REGRESSORS, P, Q, scoring=name, cv="kfold:3", task="regression", execution=SERIAL
    )
    ours = study.scores.metric.shown(study.scores.losses[:, 0, 0, :, 0])
    sign = -1.0 if name.startswith("neg_") else 1.0
    made = make_plan("kfold:3", random_state=0).materialise(len(Q), bk.DataSet(
        name="d", X=pd.DataFrame(P), y=pd.Series(Q), task="regression").y)  # fmt: skip
    cv = [(made.train(0, fold), made.test(0, fold)) for fold in range(3)]
    for row, learner in zip(ours, REGRESSORS.values(), strict=True):
        theirs = cross_val_score(learner, P, Q, cv=cv, scoring=name)
        np.testing.assert_allclose(row, sign * theirs, rtol=1e-12)


def test_the_class_that_counts_is_told_or_evident():
    study = bk.compare(CLASSIFIERS, X, Y, scoring="f1:malignant", **QUICK)
    mine = make_scorer(f1_score, pos_label="malignant")
    theirs = cross_val_score(GaussianNB(), X, Y, cv=folds(X, Y), scoring=mine)
    np.testing.assert_allclose(1 - study.scores.losses[:, 0, :, :, 0][0, 0], theirs)
    assert study.scores.metric.name == "f1 of malignant"
    with pytest.raises(ArgumentError) as caught:
        bk.compare(CLASSIFIERS, X, Y, scoring="average_precision", **QUICK)
    assert str(caught.value) == (
        "metric 'average_precision' needs a positive class, and the names do not tell "
        "which it is: scoring='average_precision:benign' or scoring='average_precision:malignant'."
    )
    # advice works, and the rows of the rarer class decide
    assert bk.compare(CLASSIFIERS, X, Y, scoring="average_precision:malignant", **QUICK).recommended
    with pytest.raises(UnknownNameError, match="no class 'bengin': did you mean 'benign'"):
        bk.compare(CLASSIFIERS, X, Y, scoring="f1:bengin", **QUICK)


@pytest.mark.parametrize(
    ("classes", "positive"),
    [
        ([0, 1], 1), ([-1, 1], 1), (["1", "0"], "1"), (["yes", "no"], "yes"),
        (["neg", "pos"], "pos"), ([False, True], True), ([1, 2], None), (["a", "b"], None),
    ],
)  # fmt: skip
def test_which_class_is_positive(classes, positive):
    if positive is None:
        with pytest.raises(ArgumentError, match="do not tell which"):
            as_loss("recall", classes=np.array(classes))
        return
    assert as_loss("recall", classes=np.array(classes)).name == f"recall:{positive}"


def mine(y_true, y_pred):
    return float(np.mean(y_true != y_pred))


def scorer(estimator, X, y):
    return float(estimator.score(X, y))


def test_callables_of_every_kind():
    plain = bk.compare(CLASSIFIERS, X, Y, **QUICK).scores.losses[:, 0, :, :, 0]
    by_mine = bk.compare(
        CLASSIFIERS, X, Y, scoring=bk.metric(mine, higher_is_better=False), **QUICK
    )
    np.testing.assert_array_equal(by_mine.scores.losses[:, 0, :, :, 0], plain)
    assert (by_mine.scores.metric.name, by_mine.scores.metric.higher_is_better) == ("mine", False)
    by_scorer = bk.compare(CLASSIFIERS, X, Y, scoring=scorer, **QUICK)
    np.testing.assert_allclose(by_scorer.scores.losses[:, 0, :, :, 0], plain - 1.0)
    assert by_scorer.scores.metric.higher_is_better
    assert "metric scorer (higher is better)" in by_scorer.explain()
    assert by_scorer.recommended == by_mine.recommended
    made = make_scorer(mean_absolute_error, greater_is_better=False)
    study = bk.compare(REGRESSORS, P, Q, scoring=made, **QUICK)
    same = bk.compare(REGRESSORS, P, Q, scoring="absolute", **QUICK)
    np.testing.assert_allclose(
        study.scores.losses[:, 0, :, :, 0], same.scores.losses[:, 0, :, :, 0]
    )
    assert study.scores.metric.name == "mean_absolute_error"


def my_accuracy(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def test_a_function_without_a_direction_is_refused():
    # the name says accuracy, but names are never trusted
    with pytest.raises(ArgumentError, match=r"bk\.metric\(my_accuracy, higher_is_better=True\)"):
        bk.compare(CLASSIFIERS, X, Y, scoring=my_accuracy, **QUICK)
    advised = bk.metric(my_accuracy, higher_is_better=True)
    study = bk.compare(CLASSIFIERS, X, Y, scoring=advised, **QUICK)
    assert study.recommended == bk.compare(CLASSIFIERS, X, Y, **QUICK).recommended
    with pytest.raises(ArgumentError, match="is a scorer"):
        bk.metric(scorer, higher_is_better=True)
    with pytest.raises(ArgumentError, match="True or False"):
        bk.metric(my_accuracy, higher_is_better="yes")


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (sklearn.metrics.roc_auc_score, "scoring='roc_auc_ovr'"),
        (sklearn.metrics.f1_score, "scoring='f1_macro'"),
        (sklearn.metrics.hamming_loss, "scoring=bk.metric(hamming_loss, higher_is_better=False)"),
    ],
)
def test_functions_of_scikit_learn_are_refused_with_the_line_that_works(function, advice):
    with pytest.raises(ArgumentError) as caught:
        bk.compare("max,logistic", "iris", scoring=function, **QUICK)
    assert f"use {advice}" in str(caught.value)
    names = {"bk": bk, function.__name__: function}
    scoring = eval(advice.removeprefix("scoring="), names)
    assert bk.compare("max,logistic", "iris", scoring=scoring, **QUICK).recommended == "logistic"


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        ("f1", "cannot score 50 test rows of 'iris'.*use scoring='f1_macro'"),
        ("roc_auc", "use scoring='roc_auc_ovr'"),
        (
            "neg_mean_squared_log_error",
            "is for regression.*use scoring='zero-one'",
        ),
        (lambda y_true: 0.0, r"must take \(y_true, y_pred\), or \(estimator, X, y\).*takes 1"),
        (
            bk.metric(lambda y_true, y_pred: y_true == y_pred, higher_is_better=True),
            "it gave an array of shape",
        ),
        (bk.metric(lambda y_true, y_pred: 1 / 0, higher_is_better=True), "ZeroDivisionError"),
        ("squared", "is for regression.*use scoring='zero-one'"),
        (make_scorer(r2_score), "metric 'r2_score' is for regression.*use scoring='zero-one'"),
        (bk.metric(r2_score, higher_is_better=True), "metric 'r2_score' is for regression"),
        (3.5, "a name, a callable, a cost matrix or a list of them"),
        (["accuracy", "accuracy"], "scoring names 'accuracy' twice"),
    ],
)
def test_refused_before_the_first_fit(loss, sentence):
    class Never(GaussianNB):
        def fit(self, X, y):
            raise AssertionError("fitted")

    with pytest.raises(ArgumentError, match=sentence):
        bk.compare(
            {"a": Never(), "b": Never()},
            "iris",
            scoring=loss,
            cv="kfold:3",
            progress=False,
            execution=bk.Execution(on_failure="stop", engine="serial"),
        )


@pytest.mark.parametrize(
    ("name", "same"),
    [("log_loss", "log-loss"), ("mse", "squared"), ("mae", "absolute"), ("error", "zero-one"),
     ("mean_absolute_error", "neg_mean_absolute_error"), ("rmse", "neg_root_mean_squared_error")],
)  # fmt: skip
def test_names_that_people_use(name, same):
    classes = np.array(["a", "b"]) if same in ("log-loss", "zero-one") else None
    assert as_loss(name, classes=classes).name == same


def test_every_scorer_is_shown_in_its_own_direction():
    from sklearn.metrics import get_scorer_names

    for name in get_scorer_names():
        metric = metric_of(loss_shown(name))
        assert metric.higher_is_better is (get_scorer(name)._sign > 0), name
        assert not metric.name.startswith(("neg_", "neg ", "-", "1 -"))


def test_a_cost_matrix_by_names_in_any_order():
    costs = pd.DataFrame(
        [[0, 5.0], [1, 0]], index=["malignant", "benign"], columns=["malignant", "benign"]
    )
    turned = costs.loc[["benign", "malignant"], ["benign", "malignant"]]
    classes = np.array(["benign", "malignant"])
    one, other = (as_loss(c, classes=classes) for c in (costs, turned))
    assert one.name == other.name
    # a benign case taken for malignant costs 1, a malignant one taken for benign 5
    truth = np.array(["benign", "malignant", "malignant", "benign"])
    said = np.array(["malignant", "benign", "malignant", "benign"])
    assert one.value(truth, said) == (1 + 5) / 4
    with pytest.raises(ArgumentError, match=r"must name the classes benign, malignant in its rows"):
        as_loss(costs.rename(index={"benign": "begnin"}), classes=classes)
    assert len(as_losses([costs, "accuracy"], classes=classes)) == 2
    assert as_losses([[0, 1], [5, 0]], classes=classes)[0].name.startswith("cost:")


@pytest.mark.parametrize(
    ("data", "cv", "scoring"),
    [("breast-cancer", "loo", "roc_auc"), ("breast-cancer", "loo", "auc"),
     ("wine", "kfold:60", "roc_auc_ovr"), ("diabetes", "loo", "r2")],
)  # fmt: skip
def test_a_metric_that_no_split_can_show_is_refused_before_the_fits(data, cv, scoring, monkeypatch):
    import bestofk.run.compare as module

    def no_run(*_args, **_options):
        raise AssertionError("fitted")

    monkeypatch.setattr(module, "run_comparison", no_run)
    with pytest.raises(bk.BestOfKError, match=r"cannot score \d test rows? of .*: use scoring='"):
        bk.compare(None, data, cv=cv, scoring=scoring)
    with pytest.raises(AssertionError, match="fitted"):
        bk.compare(None, data, cv="10x10", scoring=scoring)


def exits(_y_true, _y_pred):
    raise SystemExit(3)


def writes_the_truth(y_true, _y_pred):
    y_true[:] = y_true[0]
    return 0.0


def gives_text(_y_true, _y_pred):
    return "low"


HOSTILE = [
    (exits, "RuntimeError: it raised SystemExit: 3"),
    (writes_the_truth, "ValueError: assignment destination is read-only"),
    (gives_text, "ValueError: could not convert string to float: 'low'"),
]


class OnModels:
    """A hostile metric as a scorer, which is not tried before the first fit."""

    def __init__(self, function):
        self.function = function

    def __call__(self, model, X, y):
        return self.function(y, model.predict(X))


@pytest.mark.parametrize(
    ("function", "reason"), HOSTILE, ids=[function.__name__ for function, _ in HOSTILE]
)
def test_a_hostile_metric_changes_no_other_and_ends_no_run(function, reason):
    sentence = f"cannot score 50 test rows of 'data' .{re.escape(reason)}"
    with pytest.raises(ArgumentError, match=sentence):
        bk.compare(CLASSIFIERS, X, Y, scoring=bk.metric(function, higher_is_better=False), **QUICK)
    alone = bk.compare(CLASSIFIERS, X, Y, scoring="zero-one", **QUICK)
    study = bk.compare(CLASSIFIERS, X, Y, scoring=["zero-one", OnModels(function)], **QUICK)
    np.testing.assert_array_equal(study.scores.losses, alone.scores.losses)
    explained = " ".join(study.explain().split())
    assert "no learner has a value in every fold" in explained
