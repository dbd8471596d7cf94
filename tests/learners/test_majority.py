"""The majority classifier."""

import numpy as np
import pandas as pd

from bestofk.data import read_data
from bestofk.learners import learner
from bestofk.papers.whole_plans import predict_plan
from bestofk.splits.plans import plan


def test_the_most_frequent_class_and_its_shares() -> None:
    model = learner("max").fit([[1.0], [2.0], [3.0]], ["b", "a", "b"])
    assert model.predict([[7.0], [np.nan]]).tolist() == ["b", "b"]
    np.testing.assert_allclose(model.predict_proba([[7.0]]), [[1 / 3, 2 / 3]])
    assert model.complexity() == 2


def test_ties_go_to_the_class_declared_first() -> None:
    y = pd.Categorical(["a", "b", "b", "a"], categories=["b", "a"])
    assert learner("max").fit(np.zeros((4, 1)), y).predict([[0.0]]).tolist() == ["b"]


def test_whole_plan_by_hand() -> None:
    y = ["a", "a", "a", "b", "b"]
    data = read_data(np.arange(5.0)[:, None], y)
    splits = plan("loo").materialise(5)
    # without an a: 2 to 2, first; without a b: 3 to 1
    assert [p.tolist() for p in predict_plan(learner("max"), data, splits)] == [[0]] * 5
    y = ["b", "b", "a", "a", "a"]
    flipped = read_data(np.arange(5.0)[:, None], pd.Categorical(y, categories=["b", "a"]))
    got = [p.tolist() for p in predict_plan(learner("max"), flipped, splits)]
    assert got == [[1], [1], [0], [0], [0]]
