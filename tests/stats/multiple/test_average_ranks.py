"""Ranks against scipy, and what all tests on ranks share."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.stats.multiple import friedman, kruskal_wallis, nemenyi
from bestofk.stats.multiple.rank_tests import average_ranks


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(np.float64, (2, 3, 7), elements=st.sampled_from([0.0, 0.1, 0.2, 5.0])))
def test_ranks_equal_scipy(values):
    before = values.copy()
    np.testing.assert_array_equal(average_ranks(values), stats.rankdata(values, axis=-1))
    np.testing.assert_array_equal(values, before)


def test_everything_tied():
    losses = np.full((4, 5), 0.1)
    for result in (friedman(losses), kruskal_wallis(losses)):
        assert (result.statistic, result.pvalue) == (0.0, 1.0)
    assert (friedman(losses).f_statistic, friedman(losses).f_pvalue) == (0.0, 1.0)
    assert (nemenyi(losses).pvalues == 1.0).all()
    assert nemenyi(losses).groups == ((0, 1, 2, 3),)
    assert "have the same average rank" in friedman(losses).explain()


def test_the_smallest_loss_has_rank_one():
    assert friedman([[0.1, 0.2], [0.9, 0.8]]).average_ranks.tolist() == [1.0, 2.0]
    assert kruskal_wallis([[0.1, 0.2], [0.9, 0.8]]).mean_ranks.tolist() == [1.5, 3.5]


@pytest.mark.parametrize("function", [friedman, kruskal_wallis, nemenyi])
def test_refuses(function):
    for bad in ([[1.0, 2.0]], [[1.0], [2.0]], [1.0, 2.0], [[np.inf, 1.0], [1.0, 2.0]]):
        with pytest.raises(ArgumentError):
            function(bad)
