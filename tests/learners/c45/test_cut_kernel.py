"""Cuts of complete numeric columns: three ways of counting against the test of weighted rows."""

import numpy as np
from hypothesis import given, settings, strategies as st

from bestofk.learners.c45.cut_kernel import FEW, cut_test, table_test
from bestofk.learners.c45.test_kernel import entropy_terms, numeric_test


def by_each_way(x, y, n_labels, min_leaf):
    """(gain, ratio, cut) by the weighted rows, the lists without the lowest value, the table."""
    n = len(x)
    terms = entropy_terms(n)
    order = np.argsort(x, kind="stable")
    node = np.bincount(y, minlength=n_labels).astype(float)
    n_classes = int((node > 0).sum())
    scratch = np.zeros((2, n_labels))
    general = numeric_test(
        x, order.astype(np.uint32), y, np.ones(n), *scratch, float(n), n_classes, min_leaf, terms
    )
    counts = np.zeros((2, n_labels), dtype=np.uint64)
    labels = y.astype(np.uint32)
    listed = order[x[order] > x.min()].astype(np.uint32)
    by_list = cut_test(
        x, listed, x.min(), labels, node, *counts, n_classes, min_leaf, terms, np.diff(terms)
    )
    values, number = np.unique(x, return_inverse=True)
    shift = int(n_labels - 1).bit_length()
    table = np.zeros(FEW << shift, dtype=np.uint64)
    codes = ((number << shift) | y).astype(np.uint32)
    few = np.zeros(FEW)
    few[: len(values)] = values
    by_table = table_test(
        codes, np.uint32(shift), few, np.arange(n), node, table, *counts, n_classes, min_leaf,
        terms,
    )  # fmt: skip
    assert not table.any()
    return general, by_list, by_table


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 120),
    n_values=st.integers(1, FEW),
    n_labels=st.sampled_from([2, 3, 5]),
    min_leaf=st.sampled_from([1.0, 2.0, 7.0]),
)
def test_every_way_finds_the_same_cut(seed, n, n_values, n_labels, min_leaf):
    rng = np.random.default_rng(seed)
    x = rng.choice(rng.normal(size=n_values), size=n)
    y = np.where(
        rng.random(n) < 0.5, (x > np.median(x)).astype(int), rng.integers(n_labels, size=n)
    )
    general, by_list, by_table = by_each_way(x, y, n_labels, min_leaf)
    np.testing.assert_allclose(by_list, general, rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_table, general, rtol=0, atol=1e-12)


def test_a_cut_by_hand():
    # 1 1 1 2 | 3 3, classes a a a a | b b: two cuts, gain H(4, 2) less log2(2) / 6,
    # split information the same entropy.
    x = np.array([3.0, 1, 2, 1, 3, 1])
    y = np.array([1, 0, 0, 0, 1, 0])
    entropy = -(2 / 3) * np.log2(2 / 3) - (1 / 3) * np.log2(1 / 3)
    want = (entropy - 1 / 6, (entropy - 1 / 6) / entropy, 2.5)
    for found in by_each_way(x, y, 2, 2.0):
        np.testing.assert_allclose(found, want, rtol=1e-12)


def test_a_constant_column_has_no_cut():
    for found in by_each_way(np.full(8, 4.0), np.arange(8) % 2, 2, 2.0):
        assert found == (-1.0, 0.0, 0.0)
