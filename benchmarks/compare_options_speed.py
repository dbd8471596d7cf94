"""Measure what options of `compare` cost: more metrics, and splitter objects.

- ``two-metrics-DATA``: accuracy and log-loss against accuracy alone, four scikit-learn learners.
  The fits are shared; the limit is a ratio of at least 1/1.10 = 0.909.
- ``three-metrics-DATA``: also scikit-learn's f1_macro.
- ``pairs-PLAN``: a splitter object against the pairs of rows that it yields.
- ``name-PLAN``: a splitter object against a named plan with as many splits of the same kind.

The sides alternate; ratios are medians over the rounds, of CPU seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bestofk as bk
from timing import Row, row, turns

DATA = ("iris", "breast-cancer")
ROUNDS = 9
CV = "2x5"
TREES = 20
SPLITTERS = ("10x10", "group-kfold", "time", "resample")
METRICS = {
    "two-metrics": ["accuracy", "log-loss"],
    "three-metrics": ["accuracy", "log-loss", "f1_macro"],
}


def comparison(learners: Any, **options: Any) -> Callable[[], Any]:
    return lambda: bk.compare(
        learners, progress=False, **options, execution=bk.Execution(engine="serial")
    )


def metrics() -> Iterator[Row]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    learners = {
        "logistic": LogisticRegression(max_iter=200),
        "tree": DecisionTreeClassifier(random_state=0),
        "forest": RandomForestClassifier(n_estimators=TREES, random_state=0),
        "bayes": GaussianNB(),
    }
    for name in DATA:
        options = {"data": bk.read_data(name), "cv": CV}
        alone = comparison(learners, scoring=["accuracy"], **options)
        for label, losses in METRICS.items():
            together = comparison(learners, scoring=losses, **options)
            yield row(f"{label}-{name}", *turns(together, alone, rounds=min(ROUNDS, 5)))


def splitters() -> Iterator[Row]:
    from sklearn import model_selection as ms
    from sklearn.datasets import load_breast_cancer
    from sklearn.naive_bayes import GaussianNB

    X, y = load_breast_cancer(return_X_y=True)
    learners = {"bayes": GaussianNB(), "smooth": GaussianNB(var_smoothing=1e-3)}
    groups = np.arange(len(y)) // 6
    cases = [
        ("10x10", ms.RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0), "10x10",
         None),
        ("group-kfold", ms.GroupKFold(10), "group-kfold:10", groups),
        ("time", ms.TimeSeriesSplit(50), "time:50", None),
        ("resample", ms.ShuffleSplit(100, test_size=0.1, random_state=0), "resample:100:0.1", None),
    ]  # fmt: skip
    for name, splitter, plan, group in cases:
        if name not in SPLITTERS:
            continue
        options = {"data": X, "target": y, "groups": group}
        pairs = list(splitter.split(X, y, group))
        ours = comparison(learners, cv=splitter, **options)
        for label, peer in (("pairs", pairs), ("name", plan)):
            seconds = turns(ours, comparison(learners, cv=peer, **options), rounds=ROUNDS)
            yield row(f"{label}-{name}", *seconds)


def measure() -> Iterator[Row]:
    yield from metrics()
    yield from splitters()
