"""Classes that are declared in another order than scikit-learn's, which sorts them.

Reference: scikit-learn's roc_auc_score and log_loss on the same splits.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

import bestofk as bk

REFERENCE = {
    "auc": lambda y, p: roc_auc_score(y, p),
    "roc_auc": lambda y, p: roc_auc_score(y, p),
    "roc_auc_ovr": lambda y, p: roc_auc_score(y, p),
    "neg_log_loss": lambda y, p: log_loss(y, p),
}


@pytest.mark.parametrize("declared", [["sick", "well"], ["well", "sick"]])
@pytest.mark.parametrize("scoring", REFERENCE)
def test_metrics_do_not_depend_on_the_declared_order(declared, scoring):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::3, :4], y[::3]
    labels = pd.Series(pd.Categorical(np.where(y == 1, "well", "sick"), categories=declared))
    frame = pd.DataFrame(X, columns=list("abcd"))
    learners = {"regression": LogisticRegression(C=1e-3), "bayes": GaussianNB(),
                "built-in": "naive-bayes"}  # fmt: skip
    folds = KFold(3, shuffle=True, random_state=0)
    study = bk.compare(learners, frame, labels, cv=folds, scoring=scoring, progress=False)
    for name in ("regression", "bayes"):
        values = []
        for train, test in folds.split(X):
            model = learners[name].fit(X[train], y[train])
            values.append(REFERENCE[scoring](y[test], model.predict_proba(X[test])[:, 1]))
        assert study.decision.means[name] == pytest.approx(np.mean(values), rel=1e-6)
    worst = 0.9 if scoring != "neg_log_loss" else -1.0
    sign = -1.0 if scoring == "neg_log_loss" else 1.0
    assert sign * study.decision.means["built-in"] > worst


def test_one_split_with_unsorted_classes_equals_scikit_learn():
    # scikit-learn's cross_val_score fits and scores the same split
    from sklearn.datasets import load_wine
    from sklearn.model_selection import cross_val_score
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_wine(return_X_y=True)
    names = np.array(["zeta", "alpha", "mid"])[y]
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    frame["y"] = pd.Categorical(names, categories=["zeta", "alpha", "mid"])
    rows = np.random.default_rng(0).permutation(len(frame))
    splits = [(rows[:100], rows[100:])]
    learners = {"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=3, random_state=0)}
    study = bk.compare(
        learners, frame, target="y", cv=splits, scoring="roc_auc_ovr", progress=False
    )
    for name, learner in learners.items():
        (expected,) = cross_val_score(learner, X[:, :3], names, cv=splits, scoring="roc_auc_ovr")
        assert study.decision.means[name] == pytest.approx(expected, rel=1e-12)
