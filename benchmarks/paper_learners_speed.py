"""Measure built-in learners against scikit-learn.

``uci``: the five learners of the MultiTest paper over 5x2cv. One row for each learner and one for
all five; seconds are summed over the data sets. The sets are the 30 UCI sets of the folder
BESTOFK_DATA, or the embedded ones without it.

The peers get arrays that are 1-of-n encoded, filled and (logistic, nn) standardised outside the
clock; bestofk starts from the data set. Both sides are CPU seconds of one thread, set by set in
turn. bestofk is timed on 20 times 5x2 and scaled to one 5x2, because it evaluates a plan as a whole
and shares work between splits (a study has up to 1000 times 5x2).

``large``: data of 10,000 rows and more, for ten folds as a whole plan (as in `compare`) and for one
direct fit and predict. The peers fit and predict bare arrays; those of nn and logistic regression
get scaled arrays. CPU seconds of one thread, the best of several in turn.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from timing import Row, one_thread, turns

TIMES = 20
LARGE = ((10_000, 10, 2), (10_000, 50, 5), (20_000, 3, 2), (20_000, 50, 5))
"""Rows, columns and classes."""


def uci_sets() -> list:
    from bestofk.data import read_data

    folder = os.environ.get("BESTOFK_DATA")
    if folder is None:
        return [read_data(name) for name in ("iris", "wine", "breast-cancer", "digits")]
    root = Path(folder, "uci")
    entries = json.loads((root / "MANIFEST.json").read_text())["datasets"]
    return [read_data(root / entry["file"], task="classification") for entry in entries]


def arrays(data, *, standardised: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the numeric arrays of the peer."""
    from bestofk.learners.logistic import inputs_of

    encoded = data.encoded()
    X = inputs_of(encoded.values, encoded.cardinality)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mean, spread = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    X = np.where(np.isnan(X), np.nan_to_num(mean), X)
    if standardised:
        X = (X - mean) / np.where(spread > 0, spread, 1.0)
    return np.ascontiguousarray(X), encoded.y


def seconds_of_peer(make, data, splits, *, standardised: bool) -> float:
    X, y = arrays(data, standardised=standardised)
    rows = [(train, test) for _, _, train, test in splits]
    begin = time.process_time()
    for train, test in rows:
        make().fit(X[train], y[train]).predict(X[test])
    return time.process_time() - begin


def compare(name: str, make, *, standardised: bool) -> Row:
    from bestofk.learners import learner
    from bestofk.papers.whole_plans import predict_plan
    from bestofk.splits.plans import plan

    ours = peer = 0.0
    for data in uci_sets():
        one = plan("5x2", stratified=False, random_state=0).materialise(data.n)
        many = plan(f"{5 * TIMES}x2", stratified=False, random_state=0).materialise(data.n)
        predict_plan(learner(name), data, one)
        begin = time.process_time()
        predict_plan(learner(name), data, many)
        ours += (time.process_time() - begin) / TIMES
        peer += seconds_of_peer(make, data, one, standardised=standardised)
    return f"{name}-5x2cv-all-sets", peer / ours, ours, peer


def uci() -> list[Row]:
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
    from sklearn.tree import DecisionTreeClassifier

    peers = {
        "max": DummyClassifier,
        "nmc": NearestCentroid,
        "logistic": LogisticRegression,
        "c4.5": DecisionTreeClassifier,
        "nn": partial(KNeighborsClassifier, 1),
    }
    with one_thread():
        rows = [
            compare(name, make, standardised=name in ("logistic", "nn"))
            for name, make in peers.items()
        ]
    ours, peer = (sum(row[column] for row in rows) for column in (2, 3))
    return [*rows, ("five-learners-5x2cv-all-sets", peer / ours, ours, peer)]


def large(shapes: Sequence[tuple[int, int, int]] = LARGE, rounds: int = 4) -> Iterator[Row]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

    from bestofk.data.schema import Encoded
    from bestofk.learners import learner
    from bestofk.learners.base import predict_encoded_splits
    from bestofk.splits.plans import plan

    peers = {
        "nmc": NearestCentroid,
        "naive-bayes": GaussianNB,
        "nn": partial(KNeighborsClassifier, 1),
        "logistic": LogisticRegression,
        "logistic (peer with the same tolerance)": partial(
            LogisticRegression, tol=1e-9, max_iter=10_000
        ),
    }
    for n, d, c in shapes:
        rng = np.random.default_rng(n + d)
        y = rng.integers(0, c, n)
        X = rng.normal(size=(c, d))[y] + 1.5 * rng.normal(size=(n, d))
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        encoded = Encoded(values=X, cardinality=np.zeros(d), y=y, classes=np.arange(c))
        splits = plan("kfold:10", random_state=0).materialise(n, y)
        train, test = splits.train(0, 0), splits.test(0, 0)
        rows = X[train], y[train], X[test]
        for name, make in peers.items():
            ours = learner(name.split(" ")[0])
            splitwise = partial(predict_encoded_splits, ours)
            at_once = getattr(ours, "_predict_plan", splitwise)
            sides = (
                partial(at_once, encoded, splits),
                partial(_fit_and_predict, lambda ours=ours: ours, rows),
                partial(_fit_and_predict, make, rows),
            )
            with one_thread():
                whole, direct, peer = map(min, turns(*sides, rounds=rounds))
            yield f"plan-{n}x{d}x{c}-{name}", 10 * peer / whole, whole, 10 * peer
            yield f"direct-{n}x{d}x{c}-{name}", peer / direct, direct, peer


def _fit_and_predict(make, rows: tuple[np.ndarray, ...]) -> None:
    make().fit(*rows[:2]).predict(rows[2])


PARTS = {"uci": uci, "large": large}


def measure(parts: Sequence[str] = tuple(PARTS)) -> Iterator[Row]:
    for part in parts:
        yield from PARTS[part]()
