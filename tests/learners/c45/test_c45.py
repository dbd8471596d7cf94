"""C4.5: worked examples, parts of the tree, and pruning."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.data.schema import Encoded
from bestofk.learners.base import predict_encoded_splits
from bestofk.learners.c45 import C45
from bestofk.learners.kernels.c45 import leaf_estimates, predict_lists
from bestofk.learners.kernels.splits import SplitMarks
from bestofk.splits.plans import plan

# Quinlan, C4.5 (1993), Figure 1-1: outlook, temperature, humidity, windy, class.
GOLF = pd.DataFrame(
    [
        ("sunny", 75, 70, True, "play"), ("sunny", 80, 90, True, "don't"),
        ("sunny", 85, 85, False, "don't"), ("sunny", 72, 95, False, "don't"),
        ("sunny", 69, 70, False, "play"), ("overcast", 72, 90, True, "play"),
        ("overcast", 83, 78, False, "play"), ("overcast", 64, 65, True, "play"),
        ("overcast", 81, 75, False, "play"), ("rain", 71, 80, True, "don't"),
        ("rain", 65, 70, True, "don't"), ("rain", 75, 80, False, "play"),
        ("rain", 68, 80, False, "play"), ("rain", 70, 96, False, "play"),
    ],
    columns=["outlook", "temperature", "humidity", "windy", "class"],
)  # fmt: skip


def test_golf_gives_the_tree_of_the_book():
    X, y = GOLF.drop(columns="class"), GOLF["class"]
    model = C45().fit(X, y)
    tree = model.tree_
    # outlook (overcast, rain, sunny); below rain windy, below sunny humidity <= 75.
    assert tree.attribute.tolist() == [0, -1, 3, 2, -1, -1, -1, -1]
    assert tree.n_children.tolist() == [3, 0, 2, 2, 0, 0, 0, 0]
    assert tree.threshold[3] == 75.0
    assert model.complexity() == 8
    assert (model.predict(X) == y).all()


def test_a_row_with_an_unknown_outlook_goes_down_every_branch():
    # By hand: outlook unknown, humidity 90 (don't if sunny), windy False (play if rain).
    # The branches hold 5, 4 and 5 of the 14 rows: don't 5/14, play 9/14.
    X, y = GOLF.drop(columns="class"), GOLF["class"]
    model = C45().fit(X, y)
    row = X.iloc[[0]].assign(outlook=None, humidity=90, windy=False)
    assert model.classes_.tolist() == ["don't", "play"]
    np.testing.assert_allclose(model.predict_proba(row), [[5 / 14, 9 / 14]], rtol=1e-12)


@pytest.mark.parametrize(
    ("n", "rate"),
    [(6, 0.206), (9, 0.143), (1, 0.750)],
)
def test_pessimistic_rates_without_errors_are_those_of_the_book(n, rate):
    estimate = leaf_estimates(0.25, 0.6744897501960817)[n, 0] / n
    assert estimate == pytest.approx(rate, abs=5e-4)


@pytest.mark.parametrize(("n", "errors"), [(16, 1), (5, 2), (120, 60)])
def test_pessimistic_rates_with_errors_solve_the_normal_bound(n, errors):
    # p is the larger root of (p - f)^2 = z^2 p (1 - p) / n with f = (errors + 1/2) / n.
    z = 0.6744897501960817
    p = leaf_estimates(0.25, z)[n, errors] / n
    f = (errors + 0.5) / n
    assert p > f
    assert (p - f) ** 2 == pytest.approx(z * z * p * (1 - p) / n, rel=1e-9)


def test_a_threshold_is_a_value_of_the_training_rows():
    # Cut between 3 and 10 (midpoint 6.5); 6 stands in the column, so 6 it is.
    x = np.array([1.0, 2, 3, 3, 10, 11, 12, 12, 6])
    other = np.array([0.0, 0, 0, 0, 0, 0, 0, 0, 1])
    frame = pd.DataFrame({"x": x, "o": pd.Categorical(other)})
    y = ["l"] * 4 + ["r"] * 4 + ["l"]
    model = C45(pruning=None).fit(frame, y)
    assert model.tree_.attribute[0] == 0
    assert model.tree_.threshold[0] == 6.0


def test_unpruned_trees_are_collapsed():
    # The only test splits 4:4 into two halves with the majority of the whole: no error saved.
    frame = pd.DataFrame({"a": list("xxxxzzzz")})
    assert C45(pruning=None).fit(frame, list("uuuvuuuu")).complexity() == 1


def random_data(rng, n, kinds, missing, n_classes):
    columns, cardinality = [], []
    for kind in kinds:
        cells = rng.normal(size=n).round(1) if kind == 0 else rng.integers(kind, size=n)
        cells = cells.astype(float)
        cells[rng.random(n) < missing] = np.nan
        columns.append(cells)
        cardinality.append(kind)
    y = rng.integers(n_classes, size=n)
    signal = np.nan_to_num(columns[0]) > np.nanmean(columns[0]) if n else y
    y = np.where(rng.random(n) < 0.5, signal.astype(int), y)
    return Encoded(
        values=np.column_stack(columns),
        cardinality=np.array(cardinality),
        y=y.astype(np.int64),
        classes=np.arange(n_classes),
    )


MODELS = (
    C45(),
    C45(pruning=None),
    C45(subtree_raising=False),
    C45(pruning="holdout", random_state=3),
    C45(criterion="gain", min_leaf=1, confidence=0.4),
    C45(min_leaf=5),
)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**32 - 1),
    kinds=st.lists(st.sampled_from([0, 2, 2, 3, 5]), min_size=1, max_size=6),
    missing=st.sampled_from([0.0, 0.0, 0.2]),
    n_classes=st.integers(2, 4),
    model=st.sampled_from(MODELS),
    spec=st.sampled_from(["2x5", "3x2", "resample:3:0.4", "bootstrap:2"]),
)
def test_whole_plan_equals_split_by_split(seed, kinds, missing, n_classes, model, spec):
    rng = np.random.default_rng(seed)
    data = random_data(rng, int(rng.integers(10, 150)), kinds, missing, n_classes)
    splits = plan(spec, stratified=False, random_state=1).materialise(data.n)
    whole = model._predict_plan(data, splits)
    for a, b in zip(whole, predict_encoded_splits(model, data, splits), strict=True):
        np.testing.assert_array_equal(a, b)


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([20, 63, 64, 65, 128, 200, 330, 900]),
    d=st.sampled_from([1, 2, 9, 15, 16, 40, 63, 64, 70]),
    n_values=st.sampled_from([2, 2, 2, 3]),
    n_classes=st.sampled_from([2, 2, 3]),
    model=st.sampled_from([m for m in MODELS if m.pruning != "holdout"]),
)
def test_bit_sets_and_row_lists_give_the_same_trees(seed, n, d, n_values, n_classes, model):
    rng = np.random.default_rng(seed)
    data = random_data(rng, n, [n_values] * d, 0.0, n_classes)
    splits = plan("2x4", stratified=False, random_state=1).materialise(n)
    marks = SplitMarks.of(splits)
    nothing_held = np.zeros(n + 1, dtype=np.int64), np.zeros((1, n), dtype=bool)
    lists = predict_lists(data, marks, model._settings(), *nothing_held)
    for a, b in zip(model._predict_plan(data, splits), marks.cut(lists), strict=True):
        np.testing.assert_array_equal(a, b)


def test_holdout_pruning_keeps_only_subtrees_that_err_less_on_the_held_rows():
    rng = np.random.default_rng(5)
    data = random_data(rng, 400, [3, 4, 2, 0, 2], 0.0, 3)
    model = C45(pruning="holdout", random_state=11)
    model.fit_encoded(data)
    held_out = np.random.default_rng(11).permutation(400)[:80]
    tree = model.tree_

    def errors(node, rows):
        """Count errors of the subtree on the rows, and check every test."""
        as_leaf = int((data.y[rows] != tree.shares[node].argmax()).sum())
        a = tree.attribute[node]
        if a < 0:
            return as_leaf
        cells = data.values[rows, a]
        branch = cells if data.cardinality[a] else cells > tree.threshold[node]
        below = 0
        for k in range(tree.n_children[node]):
            child = tree.first_child[node] + k
            part = rows[branch == k]
            if tree.shares[child].sum() == 0:  # an empty branch predicts as its node
                below += int((data.y[part] != tree.shares[node].argmax()).sum())
            else:
                below += errors(child, part)
        assert below < as_leaf
        return below

    assert tree.shares[0].sum() == 320
    assert errors(0, held_out) < 80
    assert model.complexity() > 1
    assert model.complexity() < C45(pruning=None).fit_encoded(data).complexity()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"criterion": "gini"}, "criterion must be one of 'gain-ratio', 'gain'"),
        ({"min_leaf": 0}, "min_leaf must be a whole number of at least 1"),
        ({"confidence": 0.7}, "confidence must be at most 0.5"),
        ({"pruning": "none"}, "pruning must be one of 'pessimistic', 'holdout'"),
        ({"pruning": "holdout", "holdout_share": 1.5}, "holdout_share must be strictly between"),
    ],
)
def test_parameters_are_refused_by_name(params, message):
    with pytest.raises(ArgumentError, match=message):
        C45(**params).fit([[0.0], [1.0]], [0, 1])
