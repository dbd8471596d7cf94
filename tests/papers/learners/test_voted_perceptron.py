"""The voted perceptron against its definition with explicit vectors."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.papers.learners.voted_perceptron import VotedPerceptron


def plain(inputs, y, new):
    """Freund and Schapire's figure 1, one epoch, with all vectors kept; 1 is the second class."""
    inputs, new = (np.column_stack([part, np.ones(len(part))]) for part in (inputs, new))
    vectors, votes = [np.zeros(inputs.shape[1])], [0]
    for x, label in zip(inputs, y, strict=True):
        if (vectors[-1] @ x >= 0) == bool(label):
            votes[-1] += 1
        else:
            vectors.append(vectors[-1] + (1 if label else -1) * x)
            votes.append(1)
    signs = np.where(new @ np.array(vectors).T >= 0, 1, -1)
    return (signs @ np.array(votes) > 0).astype(int), vectors, votes


def test_by_hand():
    # Zero vector says second class for x = 1 (right, 1 vote); wrong at x = -1, the vector becomes
    # (1, -1): right at x = 2 and x = -2.
    model = VotedPerceptron().fit([[1.0], [-1.0], [2.0], [-2.0]], [1, 0, 1, 0])
    assert model.vectors_.tolist() == [[-1.0, 1.0]]
    assert model.signs_.tolist() == [-1.0]
    assert model.votes_.tolist() == [1, 3]
    assert model.predict([[3.0], [0.5]]).tolist() == [1, 0]
    assert model.complexity() == 2


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 80))
def test_equals_the_plain_definition(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, 3)).astype(float)  # whole numbers: sums are exact
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    y[:2] = [0, 1]
    new = rng.integers(-3, 4, size=(20, 3)).astype(float)
    model = VotedPerceptron().fit(X, y)
    expected, _, votes = plain(X, y, new)
    assert model.votes_.tolist() == votes
    np.testing.assert_array_equal(model.predict(new), expected)


def test_nominal_columns_become_inputs():
    X = pd.DataFrame(
        {
            "two": pd.Categorical(["no", "yes", "no", "yes"], categories=["no", "yes"]),
            "three": pd.Categorical(["a", "b", "c", "a"], categories=["a", "b", "c"]),
        }
    )
    model = VotedPerceptron().fit(X, ["u", "u", "u", "v"])
    assert model.vectors_[0].tolist() == [0, 1, 0, 0, 1]


def test_one_class_in_training_is_predicted_and_three_are_refused():
    assert VotedPerceptron().fit([[1.0], [2.0]], ["u", "u"]).predict([[9.0]]).tolist() == ["u"]
    with pytest.raises(ArgumentError, match="at most two classes for voted-perceptron; got 3"):
        VotedPerceptron().fit([[1.0], [2.0], [3.0]], ["u", "v", "w"])
