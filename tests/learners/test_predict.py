"""Evaluation of whole plans: order of splits, seeds, estimators of other packages, failures."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bestofk._base.errors import RunError
from bestofk.data import read_data
from bestofk.learners import learner
from bestofk.papers.whole_plans import predict_plan
from bestofk.splits.plans import plan


@pytest.mark.parametrize("spec", ["2x3", "kfold:4", "holdout:0.3", "resample:3:0.2", "bootstrap:2"])
def test_one_array_a_split_in_order_aligned_with_its_test_rows(spec: str) -> None:
    data = read_data("iris")
    splits = plan(spec, random_state=3).materialise(data.n, data.y)
    for model in (learner("nmc"), KNeighborsClassifier(1)):
        predicted = predict_plan(model, data, splits)
        X, y = data.X, data.y
        for (_, _, train, test), codes in zip(splits, predicted, strict=True):
            expected = model.fit(X.iloc[train], y.iloc[train]).predict(X.iloc[test])
            assert codes.dtype == np.int64
            np.testing.assert_array_equal(data.classes[codes], expected)


def test_seeds_fix_each_split_also_inside_a_pipeline() -> None:
    data = read_data("iris")
    splits = plan("2x2", random_state=0).materialise(data.n, data.y)
    forest = RandomForestClassifier(n_estimators=3, max_depth=1, max_features=1)
    chain = make_pipeline(StandardScaler(), forest)
    once = predict_plan(chain, data, splits, seeds=[1, 2, 3, 4])
    again = predict_plan(chain, data, splits, seeds=[1, 2, 3, 4])
    other = predict_plan(chain, data, splits, seeds=[9, 8, 7, 6])
    assert all((a == b).all() for a, b in zip(once, again, strict=True))
    assert any((a != b).any() for a, b in zip(once, other, strict=True))


class Liar(ClassifierMixin, BaseEstimator):
    """Predicts a class that does not exist."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), "nonsense")


def test_a_prediction_that_is_no_class_is_named() -> None:
    data = read_data("iris")
    splits = plan("kfold:3", random_state=0).materialise(data.n)
    with pytest.raises(RunError, match="Liar predicted 'nonsense', which is not one of"):
        predict_plan(Liar(), data, splits)
