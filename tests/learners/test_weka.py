"""The classical learners make as many errors as Weka's, fold by fold.

The counts were obtained from Weka 3.9 by studies/make_weka_errors.py, which gave it the same rows
in the same folds. Split by split and over whole plans, every cell must be equal.
"""

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bestofk.data.schema import Encoded
from bestofk.learners import learner
from make_weka_errors import paper_sets

HERE = Path(__file__).parent / "weka"
SETS = json.loads((HERE / "sets.json").read_text())
COUNTS = json.loads((HERE / "counts.json").read_text())
PAPERS = os.environ.get("BESTOFK_DATA")
OURS = {
    "c4.5": learner("c4.5"),
    "c4.5-unpruned": learner("c4.5", pruning=None),
    "c4.5-no-raising": learner("c4.5", subtree_raising=False),
    "naive-bayes": learner("naive-bayes"),
    "tan": learner("tan"),
}
CELLS = [(name, kind) for name in SETS for kind in OURS if kind in COUNTS[name]]


class Folds:
    """Given folds, as much of a materialised plan as whole-plan evaluation reads."""

    def __init__(self, fold_of):
        self.fold_of = np.array(fold_of)
        self.runs, self.n = self.fold_of.shape
        self.folds = int(self.fold_of.max()) + 1

    def train(self, run, fold):
        return np.flatnonzero(self.fold_of[run] != fold)

    def test(self, run, fold):
        return np.flatnonzero(self.fold_of[run] == fold)

    def __iter__(self):
        for run in range(self.runs):
            for fold in range(self.folds):
                yield run, fold, self.train(run, fold), self.test(run, fold)


def as_encoded(fixture):
    cells = [[np.nan if cell is None else cell for cell in row] for row in fixture["rows"]]
    return Encoded(
        values=np.array(cells, dtype=np.float64),
        cardinality=np.array(fixture["cardinality"]),
        y=np.array(fixture["y"]),
        classes=np.arange(fixture["n_classes"]),
    )


def errors(data, folds, predictions):
    wrong = [
        int((codes != data.y[test]).sum())
        for (_, _, _, test), codes in zip(folds, predictions, strict=True)
    ]
    return np.reshape(wrong, (folds.runs, folds.folds)).tolist()


def fit_and_predict(model, data, train, test):
    return model.fit_encoded(data.take(train)).predict_encoded(data.values[test])


@pytest.mark.parametrize(("name", "kind"), CELLS, ids=[f"{kind}-{name}" for name, kind in CELLS])
def test_errors_equal_wekas(name, kind):
    data, folds = as_encoded(SETS[name]), Folds(SETS[name]["fold_of"])
    split_by_split = [fit_and_predict(OURS[kind], data, train, test) for _, _, train, test in folds]
    assert errors(data, folds, split_by_split) == COUNTS[name][kind]
    if hasattr(OURS[kind], "_predict_plan"):
        whole = OURS[kind]._predict_plan(data, folds)
        for a, b in zip(whole, split_by_split, strict=True):
            np.testing.assert_array_equal(a, b)


@cache
def weka_shuffle(n):
    """The order in which Weka's voted perceptron takes n rows.

    java.util.Random with seed 1 (the linear congruential generator of its documentation), from the
    last row down, each swapped with row nextInt(j + 1).
    """
    state = (1 ^ 0x5DEECE66D) & (2**48 - 1)

    def below(bound):
        nonlocal state
        while True:
            state = (state * 0x5DEECE66D + 0xB) & (2**48 - 1)
            bits = state >> 17
            if bound & (bound - 1) == 0:
                return (bound * bits) >> 31
            if bits - bits % bound + bound - 1 < 2**31:
                return bits % bound

    order = np.arange(n)
    for j in range(n - 1, 0, -1):
        i = below(j + 1)
        order[[i, j]] = order[[j, i]]
    return order


@pytest.mark.parametrize("name", [name for name in SETS if "voted-perceptron" in COUNTS[name]])
def test_voted_perceptron_errors_equal_wekas(name):
    data, folds = as_encoded(SETS[name]), Folds(SETS[name]["fold_of"])
    model = learner("voted-perceptron")
    predictions = [
        fit_and_predict(model, data, train[weka_shuffle(len(train))], test)
        for _, _, train, test in folds
    ]
    assert errors(data, folds, predictions) == COUNTS[name]["voted-perceptron"]


def test_fixtures_hold_every_kind_of_data():
    kinds = {SETS[name]["kind"] for name in SETS}
    assert kinds == {"binary", "nominal", "numeric", "mixed", "missing"}
    compared = {kind for name in SETS for kind in COUNTS[name]}
    assert compared == {*OURS, "voted-perceptron"}


@pytest.fixture(scope="module")
def papers():
    """The name, the rows and the folds of each of the papers' data sets."""
    return [
        (name, as_encoded(fixture), Folds(fixture["fold_of"]))
        for name, fixture in paper_sets(Path(PAPERS))
    ]


@pytest.mark.skipif(not PAPERS, reason="BESTOFK_DATA does not name the papers' data sets")
@pytest.mark.parametrize("kind", OURS)
def test_errors_equal_wekas_on_the_papers_data_sets(kind, papers):
    counts = json.loads((HERE / "counts_papers.json").read_text())
    compared = 0
    for name, data, folds in papers:
        if kind not in counts[name]:
            continue
        learner = OURS[kind]
        if hasattr(learner, "_predict_plan"):
            predictions = learner._predict_plan(data, folds)
        else:
            predictions = [fit_and_predict(learner, data, *rows) for _, _, *rows in folds]
        wrong = errors(data, folds, predictions)
        assert wrong == counts[name][kind], name
        compared += np.size(wrong)
    assert compared >= 100
