"""ROC hull and multinomial selection from data to answer."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.svm import LinearSVC

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.papers.decide import multinomial_selection, roc_hull
from bestofk.papers.decide.by_scores import select_by_scores
from bestofk.splits.plans import plan


def test_both_equal_scikit_learns_scores_on_the_same_folds():
    data = bk.read_data("breast-cancer")
    X, y = data.X.to_numpy()[:, :5], data.encoded().y
    learners = {"lda": LinearDiscriminantAnalysis(), "other": LinearDiscriminantAnalysis(tol=0.5)}
    splits = plan("kfold:4", random_state=0).materialise(len(y), y)
    folds = PredefinedSplit(splits.fold_of[0])
    proba = np.stack([
        cross_val_predict(learner, X, y, cv=folds, method="predict_proba")
        for learner in learners.values()
    ])  # fmt: skip
    hull = select_by_scores(learners, X, y, rule="roc-hull", cv="kfold:4")
    expected = roc_hull(proba[:, :, 1], y == 1, names=list(learners))
    assert hull.optimal == expected.optimal
    assert hull.area == pytest.approx(expected.area)
    chosen = select_by_scores(learners, X, y, rule="multinomial-selection", cv="kfold:4")
    by_hand = multinomial_selection(proba[:, np.arange(len(y)), y], names=list(learners))
    assert chosen.explain() == by_hand.explain()


def test_learners_without_posteriors_give_decision_values_or_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0, "yes", "no")
    hull = select_by_scores(
        {"svc": LinearSVC(), "nn": "nn"}, X, y, rule="roc-hull", cv="kfold:5", positive="yes"
    )
    points = dict(
        zip(hull.names, (len(curve.false_positive_rate) for curve in hull.curves), strict=True)
    )
    # labels alone give one point between the corners
    assert points["svc"] > 5
    assert points["nn"] == 3


def test_wrong_calls_are_refused():
    iris = bk.read_data("iris")
    with pytest.raises(ArgumentError, match="two classes"):
        select_by_scores(["max", "nn"], iris, rule="roc-hull")
    with pytest.raises(ArgumentError, match="at most once"):
        select_by_scores(["max", "nn"], iris, rule="multinomial-selection", cv="5x2")
