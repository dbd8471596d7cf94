"""Naive Bayes on null data (300 rows, 10 binary columns) in stratified 10x10 cross-validation.

Peers: scikit-learn's BernoulliNB and CategoricalNB; for numeric columns GaussianNB. Bare fit and
predict on arrays sliced beforehand. All sides are processor seconds of one thread for the same 100
splits of each data set, the best of several rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.data.schema import Encoded
from bestofk.learners.naive_bayes import NaiveBayes
from bestofk.splits import Splits
from tree_speed import COLUMNS, ROWS, best, null_sets


def measure() -> list[tuple[str, float, float, float]]:
    """Rows (name, ratio, our seconds, seconds of the peer)."""
    from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB

    nominal = null_sets()
    numeric = [(_numbers(data, seed), splits) for seed, (data, splits) in enumerate(nominal)]
    rows = []
    for name, sets, peer, dtype in (
        ("naive-bayes-vs-bernoulli", nominal, BernoulliNB(), np.float64),
        ("naive-bayes-vs-categorical", nominal, CategoricalNB(min_categories=2), np.int64),
        ("naive-bayes-vs-gaussian", numeric, GaussianNB(), np.float64),
    ):
        ours = best(lambda sets=sets: _ours(sets), times=20)
        parts = [
            (data.values[train].astype(dtype), data.y[train], data.values[test].astype(dtype))
            for data, splits in sets
            for _, _, train, test in splits
        ]
        theirs = best(lambda peer=peer, parts=parts: _peer(peer, parts), times=2)
        rows.append((name, theirs / ours, ours, theirs))
    return rows


def _numbers(data: Encoded, seed: int) -> Encoded:
    rng = np.random.default_rng(1000 + seed)
    return Encoded(
        values=rng.normal(size=(ROWS, COLUMNS)),
        cardinality=np.zeros(COLUMNS, dtype=np.int64),
        y=data.y,
        classes=data.classes,
    )


def _ours(sets: list[tuple[Encoded, Splits]]) -> None:
    for data, splits in sets:
        NaiveBayes()._predict_plan(data, splits)


def _peer(model: Any, parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> None:
    for train, labels, test in parts:
        model.fit(train, labels).predict(test)


if __name__ == "__main__":
    for name, ratio, ours, theirs in measure():
        print(f"{name} ratio={ratio:.4g} ours={ours:.4g}s peer={theirs:.4g}s")
