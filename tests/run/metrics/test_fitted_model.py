import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer

from bestofk.run.fit import FittedModel, HeldOutRows


class Counted(LogisticRegression):
    asked = 0

    def predict(self, X):
        type(self).asked += 1
        return super().predict(X)

    def predict_proba(self, X):
        type(self).asked += 1
        return super().predict_proba(X)


def test_the_rows_of_the_fold_are_predicted_once_however_many_ask():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.choice([0, 1], 40)
    model = Counted().fit(X, y)
    answers = FittedModel(model, X, HeldOutRows(truth=y), model.predict(X))
    Counted.asked = 0
    for name in ("accuracy", "f1_macro", "neg_log_loss", "roc_auc", "neg_brier_score"):
        assert get_scorer(name)(answers, X, y) == get_scorer(name)(model, X, y)
    # once itself, by predict_proba; the rest are the comparisons with the model
    asked = Counted.asked
    for name in ("accuracy", "f1_macro", "neg_log_loss", "neg_brier_score"):
        get_scorer(name)(answers, X, y)
    assert Counted.asked == asked
    other = X[:5].copy()
    np.testing.assert_array_equal(answers.predict(other), model.predict(other))
    assert answers.coef_ is model.coef_
    assert not hasattr(answers, "predict_backwards")
