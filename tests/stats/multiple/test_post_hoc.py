"""Nemenyi's test and adjusted pairwise tests."""

import math

import numpy as np
import pytest
import scikit_posthocs

from bestofk.stats.multiple import nemenyi
from bestofk.stats.multiple.post_hoc import _bars


@pytest.mark.parametrize("shape", [(3, 4), (5, 12), (10, 30)])
def test_nemenyi_equals_scikit_posthocs(shape):
    rng = np.random.default_rng(sum(shape))
    losses = rng.integers(0, 9, shape) + np.arange(shape[0])[:, None]
    expected = scikit_posthocs.posthoc_nemenyi_friedman(losses.T).to_numpy()
    np.testing.assert_allclose(nemenyi(losses).pvalues, expected, rtol=1e-6, atol=1e-11)


def test_nemenyi_groups_and_differences():
    # Ranks 1, 2, 3, 4 on every one of 12 blocks; CD = 3.633 sqrt(20 / 144) = 1.354.
    losses = np.tile(np.array([[3.0], [1.0], [4.0], [2.0]]), (1, 12))
    result = nemenyi(losses)
    assert result.critical_difference == pytest.approx(3.633 * math.sqrt(20 / 144), abs=1e-3)
    assert result.order == (1, 3, 0, 2)
    assert result.groups == ((1, 3), (3, 0), (0, 2))
    assert result.different(1, 0)
    assert not result.different(1, 3)
    text = result.explain(names=["a", "b", "c", "d"])
    assert "b below c" in text
    assert "Of the 6 pairs, 3 differ" in text


def test_nemenyi_of_three_hundred_learners():
    losses = np.random.default_rng(3).random((300, 20)) + np.arange(300)[:, None] / 100
    result = nemenyi(losses)
    assert result.pvalues.shape == (300, 300)
    assert result.pvalues[0, 299] < 1e-9
    assert "more." in result.explain()


def test_a_bar_holds_two_at_least_and_no_bar_lies_inside_another():
    order = np.array([2, 0, 3, 1])
    assert _bars(order, np.array([1.0, 2.0, 3.0, 9.0]), 2.5) == ((2, 0, 3),)
    assert _bars(order, np.array([1.0, 5.0, 5.5, 9.0]), 1.0) == ((0, 3),)
    assert _bars(order, np.array([1.0, 2.0, 3.0, 4.0]), 1.0) == ((2, 0), (0, 3), (3, 1))
    assert _bars(order, np.array([1.0, 3.0, 5.0, 7.0]), 1.0) == ()
