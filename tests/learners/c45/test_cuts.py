"""Cuts of complete numeric columns: three ways of counting against weighted rows."""

import numpy as np
from hypothesis import given, settings, strategies as st

from bestofk.learners.kernels.c45 import FEW, three_cuts


def by_each_way(x, y, n_labels, min_leaf):
    """(gain, ratio, cut) by the weighted rows, the lists without the lowest value, the table."""
    found, table_left_empty = three_cuts(x, y, n_labels, min_leaf)
    assert table_left_empty
    return found


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
        assert found.tolist() == [-1.0, 0.0, 0.0]
