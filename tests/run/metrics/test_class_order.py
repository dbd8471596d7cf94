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
