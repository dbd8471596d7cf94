"""What a fit costs: the size of a model is the same however and whenever it was run."""

import sqlite3

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import bestofk as bk
from bestofk.run.store.schema import cells

LEARNERS = {"nmc": "nmc", "nn": "nn", "nb": GaussianNB(), "knn": KNeighborsClassifier()}


def sizes(study):
    return {name: cost.size for name, cost in study.costs.items()}


def compare(**options):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = np.column_stack([y + rng.normal(0, 0.6, 60), rng.normal(size=60)])
    return bk.compare(LEARNERS, X, y, plan="3x4", progress=False, prior="size", **options)


@pytest.fixture(scope="module")
def alone():
    return compare(engine="serial")


def test_sizes_are_known_and_the_preference_follows_them(alone):
    found = sizes(alone)
    assert all(size is not None and size > 0 for size in found.values())
    assert str(alone.decision.preference) == "measured: size"
    assert found["knn"] > found["nb"]


def test_the_same_twice_and_whichever_engine(alone):
    assert sizes(compare(engine="serial")) == sizes(alone)
    processes = compare(engine="processes", n_jobs=2)
    assert sizes(processes) == sizes(alone)
    assert processes.decision.prior == alone.decision.prior


@pytest.mark.parametrize("gone", ["run = 2", "fold % 2 = 0", "run > 0 or fold > 0", "run = 0"])
def test_the_same_whatever_was_resumed(alone, tmp_path, gone):
    store = tmp_path / "study.db"
    first = compare(engine="serial", store=store)
    with sqlite3.connect(store) as database:
        database.execute(f"delete from {cells.name} where {gone}")
    database.close()
    again = compare(engine="serial", store=store)
    assert sizes(again) == sizes(first) == sizes(alone)
    assert again.decision.prior == alone.decision.prior


def test_the_same_for_whole_plans(monkeypatch):
    import bestofk.run.evaluation.evaluate as evaluating

    split_by_split = sizes(compare(engine="serial"))
    monkeypatch.setattr(evaluating, "WHOLE_PLAN_FROM", 0)
    assert sizes(compare(engine="serial")) == split_by_split
