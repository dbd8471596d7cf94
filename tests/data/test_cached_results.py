"""Results that depend on the rows alone are cached, and freed with the rows."""

import gc
import weakref

import numpy as np
import pytest

from bestofk.data import dataset as module
from bestofk.data.dataset import made_once
from bestofk.data.schema import Encoded
from bestofk.learners.logistic import WarmStart
from bestofk.learners.specification import parse_learner
from bestofk.splits.plans import plan


def rows(seed=0, n=60):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return Encoded(
        values=rng.normal(size=(n, 4)) + y[:, None],
        cardinality=np.zeros(4, dtype=np.int64),
        y=y,
        classes=np.arange(3),
    )


def test_made_once_for_each_setting_unless_the_rows_are_many(monkeypatch):
    calls = []

    def count(encoded, number):
        calls.append(number)
        return encoded.n + number

    data = rows()
    assert [made_once(data, count, number) for number in (1, 2, 1, 2)] == [61, 62, 61, 62]
    assert calls == [1, 2]
    monkeypatch.setattr(module, "MAX_CACHED_BYTES", data.values.nbytes - 1)
    assert made_once(data, count, 1) == 61
    assert calls == [1, 2, 1]


@pytest.mark.parametrize("spec", ["c4.5", "naive-bayes", "logistic", "logistic(C=0.01)"])
def test_cached_rows_are_freed_and_predictions_unchanged(spec):
    data, splits = rows(), plan("3x4", random_state=0).materialise(60)
    learner = parse_learner(spec)[1]
    first = learner._predict_plan(data, splits)
    parse_learner("logistic(C=100)")[1]._predict_plan(data, splits)
    for codes, again, fresh in zip(
        first, learner._predict_plan(data, splits), learner._predict_plan(rows(), splits),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(codes, again)
        np.testing.assert_array_equal(codes, fresh)
    alive = weakref.ref(data)
    del data
    gc.collect()
    assert alive() is None


def test_blocks_of_a_plan_start_from_one_logistic_solution(monkeypatch):
    solved = []
    of = WarmStart.of
    monkeypatch.setattr(WarmStart, "of", lambda *block: solved.append(1) or of(*block))
    data, learner = rows(), parse_learner("logistic")[1]
    for seed in (0, 1, 2):
        learner._predict_plan(data, plan("1x4", random_state=seed).materialise(60))
    assert len(solved) == 1
