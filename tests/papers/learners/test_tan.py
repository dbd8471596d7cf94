"""Tree-augmented naive Bayes against a direct implementation of its definition."""

from math import lgamma, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from bestofk.data.schema import Encoded
from bestofk.papers.learners.tan import TreeAugmentedNaiveBayes


def marginal_likelihood(child, parents, v):
    """Return the log marginal likelihood of a column under a Dirichlet of 0.5 per cell."""
    total = 0.0
    for state in sorted(set(parents)):
        counts = np.bincount([c for c, p in zip(child, parents, strict=True) if p == state])
        counts = np.pad(counts, (0, v - len(counts)))
        total += lgamma(v / 2) - lgamma(counts.sum() + v / 2)
        total += sum(lgamma(count + 0.5) - lgamma(0.5) for count in counts)
    return total


def draw(seed, n, cardinality, n_classes):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    columns = [rng.integers(cardinality[0], size=n)]
    for v in cardinality[1:]:  # each leans on the one before it and on the class
        lean = (columns[-1] + y) % v
        columns.append(np.where(rng.random(n) < 0.6, lean, rng.integers(v, size=n)))
    return np.column_stack(columns), y


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 3))
def test_links_join_the_columns_with_the_best_scores(seed, n_classes):
    cardinality = [2, 3, 2, 4]
    codes, y = draw(seed, 120, cardinality, n_classes)
    data = Encoded(
        values=codes.astype(float),
        cardinality=np.array(cardinality),
        y=y,
        classes=np.arange(n_classes),
    )
    model = TreeAugmentedNaiveBayes().fit_encoded(data)
    score = np.zeros((4, 4))
    for i in range(4):
        alone = marginal_likelihood(codes[:, i], [(c,) for c in y], cardinality[i])
        for j in range(4):
            both = list(zip(y.tolist(), codes[:, j].tolist(), strict=True))
            score[i, j] = marginal_likelihood(codes[:, i], both, cardinality[i]) - alone
    # The best spanning tree by the better direction of each link, by trying all edge sets.
    best = np.maximum(score, score.T)
    edges = {frozenset((i, int(p))) for i, p in enumerate(model.parent_) if p >= 0}
    assert len(edges) == 3
    assert sum(model.parent_ < 0) == 1
    inside, total = {0}, 0.0
    while len(inside) < 4:  # Prim from any column gives the weight of a maximal tree
        i, j = max(
            ((i, j) for i in inside for j in range(4) if j not in inside), key=lambda e: best[e]
        )
        inside.add(j)
        total += best[i, j]
    assert sum(best[tuple(edge)] for edge in edges) == pytest.approx(total, rel=1e-9)


def test_log_probabilities_add_half_a_row_to_every_cell():
    # By hand: one column has no other parent, so P(v | c) = (count + 0.5) / (n_c + 0.5 * 3).
    X = pd.DataFrame({"a": pd.Categorical(list("xxzxz"), categories=["x", "z", "unused"])})
    model = TreeAugmentedNaiveBayes().fit(X, list("uuuvv"))
    assert model.parent_.tolist() == [-1]
    np.testing.assert_allclose(model.prior_, [log(3.5 / 6), log(2.5 / 6)])
    expected = [[2.5 / 4.5, 1.5 / 3.5], [1.5 / 4.5, 1.5 / 3.5], [0.5 / 4.5, 0.5 / 3.5]]
    np.testing.assert_allclose(np.exp(model.tables_), expected)
    assert model.complexity() == 2 * (1 + 3)


def test_a_dependence_that_naive_bayes_cannot_see_is_learned():
    X = pd.DataFrame({"a": list("xxzz") * 10, "b": list("xzxz") * 10})
    y = np.array(["same", "not", "not", "same"] * 10)
    assert (TreeAugmentedNaiveBayes().fit(X, y).predict(X) == y).all()


def test_unknown_cells_take_the_most_frequent_value():
    X = pd.DataFrame({"a": ["x", "x", "z", None], "b": ["p", "q", "p", "q"]})
    y = ["u", "v", "u", "v"]
    filled = X.fillna("x")
    a, b = TreeAugmentedNaiveBayes().fit(X, y), TreeAugmentedNaiveBayes().fit(filled, y)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(filled))
