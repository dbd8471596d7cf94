"""The logistic model against scikit-learn's with a tiny tolerance."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from bestofk._base.errors import ArgumentError
from bestofk.data import read_data
from bestofk.learners import learner
from bestofk.learners.logistic import TOLERANCE, inputs_of, solve_from_zero


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("name", ["iris", "wine", "breast-cancer"])
def test_weights_and_probabilities_as_scikit_learn(name: str, C: float) -> None:
    data = read_data(name)
    X, y = data.X.to_numpy(dtype=float), data.encoded().y
    ours = learner("logistic", C=C).fit(X, y)
    z = StandardScaler().fit_transform(X)
    peer = LogisticRegression(C=C, tol=1e-10, max_iter=100_000).fit(z, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(z), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(z))


@pytest.mark.parametrize("name", ["iris", "breast-cancer"])
def test_the_gradient_vanishes_at_the_solution(name: str) -> None:
    # source: the derivative of the objective, written out with numpy
    data = read_data(name)
    encoded = data.encoded()
    solution = solve_from_zero(encoded.values, encoded.y, encoded.n_classes, 1.0)
    assert solution.converged
    z = solution.inputs(encoded.values)
    scores = z @ solution.weights
    if scores.shape[1] == 1:
        residual = 1 / (1 + np.exp(-scores)) - encoded.y[:, None]
    else:
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        residual = shares / shares.sum(axis=1, keepdims=True) - np.eye(3)[encoded.y]
    penalty = solution.weights.copy()
    penalty[-1] = 0
    assert np.linalg.norm(z.T @ residual + penalty) < 5 * TOLERANCE


def test_one_of_n_inputs_and_missing_cells() -> None:
    values = np.array([[0.5, 1.0], [np.nan, np.nan], [2.0, 2.0]])
    got = inputs_of(values, np.array([0, 3]))
    np.testing.assert_array_equal(
        got, [[0.5, 0, 1, 0], [np.nan, 0, 0, 0], [2.0, 0, 0, 1]]
    )  # fmt: skip
    X = pd.DataFrame({"a": [0.0, np.nan, 2.0, 4.0], "b": ["x", "y", None, "x"]})
    model = learner("logistic").fit(X, [0, 0, 1, 1])
    # the mean of the known cells, 2, stands for a missing number
    filled = model.predict_proba(pd.DataFrame({"a": [2.0], "b": ["x"]}))
    np.testing.assert_allclose(
        model.predict_proba(pd.DataFrame({"a": [np.nan], "b": ["x"]})), filled, rtol=1e-12
    )
    assert model.complexity() == 2 * (3 + 1)


def test_scores_without_evidence_tie_and_go_to_the_class_declared_first() -> None:
    y = pd.Categorical(["u", "v", "u", "v"], categories=["v", "u"])
    X = pd.DataFrame({"a": [1.0, 1.0, 2.0, 2.0]})
    assert learner("logistic").fit(X, y).predict(X).tolist() == ["v"] * 4


def test_separable_and_constant_columns_converge() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat([0.0, 1e6], 50), np.full(100, 0.1), rng.normal(size=100)])
    y = np.repeat([0, 1], 50)
    model = learner("logistic").fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.coef_[0, 1] == 0.0


def test_the_penalty_must_be_a_positive_number() -> None:
    with pytest.raises(ArgumentError, match="C must be a number above 0; got -1"):
        learner("logistic", C=-1).fit([[0.0], [1.0]], [0, 1])
