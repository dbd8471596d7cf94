"""Weights of rows: which learners accept them, by which argument, and the resulting losses."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import metrics
from sklearn.ensemble import (
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators
from sklearn.utils.validation import has_fit_parameter

import bestofk as bk
from bestofk._base.errors import RunError
from bestofk.learners import learner
from bestofk.run.fit import WEIGHT, weight_argument
from bestofk.run.metrics import LOSSES, as_loss
from bestofk.splits.plans import plan as make_plan

SERIAL = bk.Execution(engine="serial", progress=False)

QUICK = {"cv": "kfold:3", "execution": SERIAL}
LR, KNN = LogisticRegression(), KNeighborsClassifier()
SCALED = make_pipeline(StandardScaler(), LR)


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.column_stack([y + rng.normal(0, 1.0, n), rng.normal(size=n)])
    return X, y, rng.integers(1, 5, n).astype(float)


@pytest.mark.parametrize(
    ("estimator", "argument"),
    [
        (LR, "sample_weight"),
        (learner("naive-bayes"), None),
        (SCALED, "logisticregression__sample_weight"),
        (make_pipeline(StandardScaler(), KNN), None),
        (make_pipeline(StandardScaler(), SCALED), "pipeline__logisticregression__sample_weight"),
        (GridSearchCV(LR, {"C": [1, 2]}), "sample_weight"),
        (GridSearchCV(SCALED, {"logisticregression__C": [1]}), "logisticregression__sample_weight"),
        (BaggingClassifier(KNN), None),
        (BaggingClassifier(DecisionTreeClassifier()), "sample_weight"),
        (VotingClassifier([("a", LR), ("b", KNN)]), None),
        (VotingClassifier([("a", LR), ("b", GaussianNB())]), "sample_weight"),
        (StackingClassifier([("a", GaussianNB())], LR), "sample_weight"),
        (VotingClassifier([("a", SCALED), ("b", LR)]), None),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_the_argument_that_takes_weights_takes_them(estimator, argument):
    assert weight_argument(estimator) == argument
    if argument is not None:
        X, y, w = rows()
        estimator.fit(X, y, **{argument: w})


def test_every_estimator_that_is_said_to_take_weights_does():
    """Against scikit-learn's own account, for all that can be made without arguments."""
    told = {}
    for name, kind in all_estimators(type_filter=["classifier", "regressor"]):
        try:
            made = kind()
        except (TypeError, FutureWarning):
            continue
        told[name] = (weight_argument(made) == "sample_weight", has_fit_parameter(made, WEIGHT))
    assert len(told) > 60
    # those whose default part is chosen as they are fitted are judged by themselves
    assert {name for name, (ours, theirs) in told.items() if ours != theirs} == set()


def test_fits_and_losses_are_those_of_scikit_learn_with_weights():
    X, y, w = rows()
    learners = {"lr": LogisticRegression(), "scaled": SCALED, "knn": KNN}
    for loss, metric in (("zero-one", metrics.zero_one_loss), ("log-loss", metrics.log_loss)):
        study = bk.compare(learners, X, y, sample_weight=w, scoring=loss, **QUICK)
        for _, fold, train, test in make_plan("kfold:3").splits(X, y):
            for place, (name, model) in enumerate(learners.items()):
                how = {} if name == "knn" else {weight_argument(model): w[train]}
                fitted = sklearn.base.clone(model).fit(X[train], y[train], **how)
                guess = fitted.predict if loss == "zero-one" else fitted.predict_proba
                wanted = metric(y[test], guess(X[test]), sample_weight=w[test])
                got = study.scores.losses[place, 0, 0, fold, 0]
                assert got == pytest.approx(wanted, rel=1e-9)
        said = " ".join(study.outcome.notes)
        assert "knn accepts no weights and is fitted without them." in said


def test_weights_pass_the_preparation_of_columns():
    X, y, w = rows()
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(colour=np.where(X[:, 1] > 0, "red", "blue"))
    learners = {"lr": LogisticRegression(), "tree": DecisionTreeClassifier(max_depth=1)}
    study = bk.compare(learners, frame, y, sample_weight=w, **QUICK)
    plain = bk.compare(learners, frame, y, **QUICK)
    assert study.outcome.notes == ()
    assert not study.outcome.failures
    assert (study.scores.losses != plain.scores.losses).any()


def test_whole_weights_are_rows_that_are_there_as_often():
    """A row of weight 3 counts as three rows, in every loss that takes weights."""
    rng = np.random.default_rng(1)
    w = rng.integers(1, 4, 40)
    codes = rng.integers(0, 2, 40)
    p = rng.random(40)
    both = np.column_stack([1 - p, p])
    given = {
        "labels": (codes, (p > 0.5).astype(int)),
        "probabilities": (codes, both),
        "ranking": (codes == 1, np.round(p, 1)),
    }
    costs = as_loss(np.array([[0, 1], [5, 0]]), classes=np.array([0, 1]))
    for loss in [*LOSSES.values(), costs]:
        if loss.needs == "costs":
            continue  # seconds of a fit have no rows
        assert loss.takes_weights
        values = given[loss.needs]
        often = tuple(np.repeat(one, w, axis=0) for one in values)
        got = loss.value(*values, weights=w.astype(float))
        assert got == pytest.approx(loss.value(*often), rel=1e-12), loss.name
        ones = loss.value(*values, weights=np.ones(40))
        assert ones == pytest.approx(loss.value(*values), rel=1e-12)


def test_callables_and_scorers_take_weights_where_they_can():
    X, _, w = rows()
    target = X[:, 0]
    learners = {"ridge": Ridge(), "firm": Ridge(alpha=50)}
    by_name = bk.compare(learners, X, target, sample_weight=w, scoring="absolute", **QUICK)
    by_function = bk.metric(mean_absolute_error, higher_is_better=False)
    for loss in (by_function, "neg_mean_absolute_error"):
        study = bk.compare(learners, X, target, sample_weight=w, scoring=loss, **QUICK)
        np.testing.assert_allclose(study.scores.losses, by_name.scores.losses, rtol=1e-12)
    plain = bk.compare(learners, X, target, sample_weight=w, scoring="neg_max_error", **QUICK)
    assert "accepts no weights: all test rows count equally" in " ".join(plain.outcome.notes)


def test_test_rows_without_weight_have_no_score():
    X, y, w = rows(30)
    w[make_plan("kfold:3").materialise(30, y).test(0, 1)] = 0.0
    with pytest.raises(RunError, match=r"1 of 3 fits failed .*all test rows have the weight 0"):
        bk.compare({"a": LR, "b": GaussianNB()}, X, y, sample_weight=w, **QUICK)


def test_weights_have_cells_of_their_own(tmp_path):
    X, y, w = rows(30)
    learners = {"a": LR, "b": GaussianNB()}
    options = {**QUICK, "store": tmp_path / "s.db"}
    plain = bk.compare(learners, X, y, **options)
    heavy = bk.compare(learners, X, y, sample_weight=w, **options)
    again = bk.compare(learners, X, y, sample_weight=w, **options)
    assert (plain.scores.losses != heavy.scores.losses).any()
    np.testing.assert_array_equal(heavy.scores.losses, again.scores.losses)
    assert bk.open_study(tmp_path / "s.db", 2).explain() == heavy.explain()
