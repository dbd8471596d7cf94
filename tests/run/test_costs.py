"""Costs of a fit: the size of a model does not depend on the engine."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import bestofk as bk
from bestofk.run.store.database import cells

LEARNERS = {"nmc": "nmc", "nn": "nn", "nb": GaussianNB(), "knn": KNeighborsClassifier()}


def sizes(study):
    return {name: cost.size for name, cost in study.outcome.costs.items()}


def compare(**options):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = np.column_stack([y + rng.normal(0, 0.6, 60), rng.normal(size=60)])
    return bk.compare(LEARNERS, X, y, cv="3x4", progress=False, prefer="size", **options)


@pytest.fixture(scope="module")
def alone():
    return compare(execution=bk.Execution(engine="serial"))


def test_sizes_are_known_and_the_preference_follows_them(alone):
    found = sizes(alone)
    assert all(size is not None and size > 0 for size in found.values())
    assert str(alone.decision.preference) == "measured: size"
    assert found["knn"] > found["nb"]


@pytest.mark.usefixtures("preloaded_workers")
def test_the_same_twice_and_whichever_engine(alone):
    assert sizes(compare(execution=bk.Execution(engine="serial"))) == sizes(alone)
    processes = compare(n_jobs=2, execution=bk.Execution(engine="processes"))
    assert sizes(processes) == sizes(alone)
    assert processes.decision.by_preference == alone.decision.by_preference


@pytest.mark.parametrize("gone", ["run = 2", "fold % 2 = 0", "run > 0 or fold > 0", "run = 0"])
def test_the_same_whatever_was_resumed(alone, tmp_path, gone):
    store = tmp_path / "study.db"
    first = compare(store=store, execution=bk.Execution(engine="serial"))
    with sqlite3.connect(store) as database:
        database.execute(f"delete from {cells.name} where {gone}")
    database.close()
    again = compare(store=store, execution=bk.Execution(engine="serial"))
    assert sizes(again) == sizes(first) == sizes(alone)
    assert again.decision.by_preference == alone.decision.by_preference


TEXTS = """
from sklearn.base import BaseEstimator

class Remembering(BaseEstimator):
    # a class that workers cannot import, which holds texts twice and a function
    def __init__(self, word="beta"):
        self.word = word

    def fit(self, X, y):
        self.classes_ = sorted(set(y))
        self.words_ = [self.word, "classes_", *self.classes_, str(y[0])]
        self.kind_, self.how_, self.rows_ = type(self), (lambda x: x), X
        return self

    def predict(self, X):
        return [self.classes_[0]] * len(X)

    predict.first = fit
"""


def test_texts_and_classes_weigh_the_same_in_every_process(monkeypatch):
    import __main__

    space = {"__name__": "__main__"}
    exec(TEXTS, space)
    kind = space["Remembering"]
    monkeypatch.setattr(__main__, "Remembering", kind, raising=False)
    X = np.arange(40.0).reshape(20, 2)
    y = np.array(["alpha", "beta"] * 10)
    learners = {"mine": kind("beta"), "knn": KNeighborsClassifier(), "nb": GaussianNB()}
    found = [
        sizes(bk.compare(learners, X, y, cv="2x2", progress=False, **how))
        for how in (
            {"execution": bk.Execution(engine="serial")},
            {"n_jobs": 2, "execution": bk.Execution(engine="processes")},
        )
    ]
    assert found[0] == found[1]
    assert found[0]["mine"] is not None


@pytest.mark.usefixtures("preloaded_workers")
def test_the_same_after_a_kill(alone, tmp_path, fork_server):
    store = tmp_path / "study.db"
    script = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); import test_costs as here\n"
        "from bestofk.run.store.store import Store, open_store\n"
        "from bestofk.run.comparison_task import ComparisonTask as Task\n"
        "keep, kept = Task.keep, []\n"
        "def die(self, store, result):\n"
        "    keep(self, store, result); kept.append(result)\n"
        "    if len(kept) == 7: store.flush(); os.kill(os.getpid(), 9)\n"
        "Task.keep = die\n"
        "here.compare(execution=here.bk.Execution(engine='serial'), store=sys.argv[2])\n"
    )
    done = fork_server.run(["-c", script, Path(__file__).parent, store])
    assert done.returncode == -9
    with sqlite3.connect(store) as database:
        (held,) = database.execute(f"select count(*) from {cells.name}").fetchone()
    database.close()
    assert held == 7
    assert sizes(
        compare(n_jobs=2, store=store, execution=bk.Execution(engine="processes"))
    ) == sizes(alone)
