"""Costs of a fit: the size of a model does not depend on what was resumed."""

import sqlite3

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
