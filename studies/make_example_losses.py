"""Make the example tables of losses of the package from scikit-learn's data sets.

python studies/make_example_losses.py
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import bestofk
from bestofk.losses import Scores
from bestofk.splits.design import Design

HERE = Path(bestofk.__file__).with_name("losses") / "examples"
LEARNERS = {
    "dummy": DummyClassifier(),
    "nearest-centroid": make_pipeline(StandardScaler(), NearestCentroid()),
    "gaussian-nb": GaussianNB(),
    "decision-tree": DecisionTreeClassifier(random_state=0),
    "1-nn": make_pipeline(StandardScaler(), KNeighborsClassifier(n_neighbors=1)),
    "logistic-regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
}


def error_rates(X: np.ndarray, y: np.ndarray, runs: int, folds: int, name: str) -> Scores:
    values = np.empty((len(LEARNERS), runs, folds))
    n_train, n_test = [], []
    for run in range(runs):
        parts = StratifiedKFold(folds, shuffle=True, random_state=run).split(X, y)
        for fold, (train, test) in enumerate(parts):
            n_train.append(len(train))
            n_test.append(len(test))
            for k, learner in enumerate(LEARNERS.values()):
                wrong = learner.fit(X[train], y[train]).predict(X[test]) != y[test]
                values[k, run, fold] = wrong.sum() / len(test)
    return Scores(
        values,
        learners=tuple(LEARNERS),
        dims=("learner", "run", "fold"),
        datasets=[name],
        design=Design(
            kind="cv", runs=runs, folds=folds, n_train=n_train, n_test=n_test, stratified=True
        ),
        loss_name="error rate",
    )


def write(losses: Scores, name: str) -> None:
    frame, design = losses.to_frame(), losses.design
    split = (frame["run"] - 1) * design.folds + frame["fold"] - 1
    frame["design"] = design.kind
    frame["n_train"] = np.array(design.n_train)[split]
    frame["n_test"] = np.array(design.n_test)[split]
    frame["stratified"] = "true"
    frame["loss_name"] = losses.loss_name
    frame.to_csv(HERE / name, index=False)


def main() -> None:
    warnings.simplefilter("ignore")
    HERE.mkdir(exist_ok=True)
    cancer = load_breast_cancer(return_X_y=True)
    digits = load_digits(return_X_y=True)
    write(error_rates(*cancer, 10, 10, "breast-cancer"), "breast-cancer-10x10.csv")
    write(error_rates(*digits, 5, 2, "digits"), "digits-5x2.csv")


if __name__ == "__main__":
    main()
