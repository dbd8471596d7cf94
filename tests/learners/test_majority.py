"""The majority classifier."""

import numpy as np
import pandas as pd

from bestofk.learners import learner


def test_the_most_frequent_class_and_its_shares() -> None:
    model = learner("max").fit([[1.0], [2.0], [3.0]], ["b", "a", "b"])
    assert model.predict([[7.0], [np.nan]]).tolist() == ["b", "b"]
    np.testing.assert_allclose(model.predict_proba([[7.0]]), [[1 / 3, 2 / 3]])
    assert model.complexity() == 2


def test_ties_go_to_the_class_declared_first() -> None:
    y = pd.Categorical(["a", "b", "b", "a"], categories=["b", "a"])
    assert learner("max").fit(np.zeros((4, 1)), y).predict([[0.0]]).tolist() == ["b"]
