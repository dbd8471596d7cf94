"""The study of the default plan fits the learners that it names."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import default_plan

ESTIMATORS = {
    "GaussianNB": GaussianNB(), "LDA": LinearDiscriminantAnalysis(solver="lsqr"),
    "1-NN": KNeighborsClassifier(1),
}  # fmt: skip


@pytest.mark.parametrize("name", ESTIMATORS)
def test_losses_are_those_of_scikit_learn(name):
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    X = default_plan.marks(rng, y, 0.0) if name == "GaussianNB" else default_plan.normal(rng, y, 0)
    fold_of = default_plan.deal(rng, y, 1)
    outer, inner = default_plan.LEARNERS[name](X, y, fold_of)

    def error(tested, *left_out):
        train = ~np.isin(fold_of[0], left_out)
        model = ESTIMATORS[name].fit(X[train], y[train])
        rows = fold_of[0] == tested
        return np.mean(model.predict(X[rows]) != y[rows])

    assert outer[0] == pytest.approx([error(fold, fold) for fold in range(5)])
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    assert inner == pytest.approx(np.array([[error(i, i, j), error(j, i, j)] for i, j in pairs]))


def test_a_row_of_the_table_counts_level_power_and_cautions():
    case = default_plan.Case(rows=60, learner="LDA", data="normal", sets=3)
    row = default_plan.measured(case, *default_plan.draw(case), runs=3)
    assert row["fits"] == 45
    assert all(0 <= row[name] <= 100 for name in ("now", "former", "caution", "power now"))
