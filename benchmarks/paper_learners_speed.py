"""Measure the five learners of the MultiTest paper against scikit-learn, over 5x2cv.

One row for each learner and one for all five; seconds are summed over the data sets. The sets are
the 30 UCI sets of the folder BESTOFK_DATA, or the embedded ones without it.

The peers get arrays that are 1-of-n encoded, filled and (logistic, nn) standardised outside the
clock; bestofk starts from the data set. Both sides are CPU seconds of one thread, set by set in
turn. bestofk is timed on 20 times 5x2 and scaled to one 5x2, because it evaluates a plan as a whole
and shares work between splits (a study has up to 1000 times 5x2).
"""

from __future__ import annotations

import json
import os
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from timing import Row

TIMES = 20


def uci_sets() -> list:
    from bestofk.data import load, read_dataset

    folder = os.environ.get("BESTOFK_DATA")
    if folder is None:
        return [load(name) for name in ("iris", "wine", "breast-cancer", "digits")]
    root = Path(folder, "uci")
    entries = json.loads((root / "MANIFEST.json").read_text())["datasets"]
    return [read_dataset(root / entry["file"], task="classification") for entry in entries]


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
    from bestofk.data.dataset import forget
    from bestofk.learners import learner, predict_plan
    from bestofk.splits.plans import plan

    ours = peer = 0.0
    for data in uci_sets():
        one = plan("5x2", stratified=False, random_state=0).materialise(data.n)
        many = plan(f"{5 * TIMES}x2", stratified=False, random_state=0).materialise(data.n)
        predict_plan(learner(name), data, one)
        forget()
        begin = time.process_time()
        predict_plan(learner(name), data, many)
        ours += (time.process_time() - begin) / TIMES
        peer += seconds_of_peer(make, data, one, standardised=standardised)
    return f"{name}-5x2cv-all-sets", peer / ours, ours, peer


def measure() -> list[Row]:
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
    from sklearn.tree import DecisionTreeClassifier
    from threadpoolctl import threadpool_limits

    peers = {
        "max": DummyClassifier,
        "nmc": NearestCentroid,
        "logistic": LogisticRegression,
        "c4.5": DecisionTreeClassifier,
        "nn": partial(KNeighborsClassifier, 1),
    }
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [
            compare(name, make, standardised=name in ("logistic", "nn"))
            for name, make in peers.items()
        ]
    ours, peer = (sum(row[column] for row in rows) for column in (2, 3))
    return [*rows, ("five-learners-5x2cv-all-sets", peer / ours, ours, peer)]
