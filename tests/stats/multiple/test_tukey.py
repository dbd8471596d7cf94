"""Tukey's differences against scipy.stats.tukey_hsd and the t test."""

import math
import time

import numpy as np
import pytest
from scipy import stats

from bestofk.stats.multiple import tukey


def test_equals_scipy():
    losses = np.random.default_rng(0).random((4, 6)) + np.array([[0.3], [0.0], [0.9], [0.35]])
    expected = stats.tukey_hsd(*losses)
    result = tukey(losses)
    np.testing.assert_allclose(result.pvalues, expected.pvalue, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(result.estimates, expected.statistic, rtol=1e-12, atol=1e-15)
    low, high = result.confidence_interval(0.9)
    interval = expected.confidence_interval(0.9)
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(low[off], interval.low[off], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(high[off], interval.high[off], rtol=1e-6, atol=1e-9)
    assert (np.diag(low) == 0.0).all()


def test_two_learners_are_the_unpaired_t():
    losses = np.array([[0.2, 0.3, 0.5, 0.1], [0.6, 0.4, 0.7, 0.9]])
    result = tukey(losses)
    t = stats.ttest_ind(*losses)
    assert result.pvalues[0, 1] == pytest.approx(t.pvalue, rel=1e-11)
    assert result.statistics[0, 1] == pytest.approx(abs(t.statistic) * math.sqrt(2), rel=1e-12)
    low, high = result.confidence_interval(0.95)
    interval = t.confidence_interval(0.95)
    assert low[0, 1] == pytest.approx(interval.low, rel=1e-10)
    assert high[0, 1] == pytest.approx(interval.high, rel=1e-10)


def test_interval_excludes_zero_exactly_when_significant():
    losses = np.random.default_rng(4).random((6, 5)) + np.arange(6)[:, None] * 0.2
    result = tukey(losses)
    low, high = result.confidence_interval(0.95)
    off = ~np.eye(6, dtype=bool)
    apart = (low > 0) | (high < 0)
    assert np.array_equal(apart[off], (result.pvalues < 0.05)[off])
    assert apart[off].any()
    assert not apart[off].all()


def test_no_spread():
    result = tukey([[0.3] * 4, [0.1 + 0.2] * 4, [0.9] * 4])
    assert result.pvalues.tolist() == [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert result.statistics[0, 2] == np.inf
    assert (tukey(np.full((3, 4), 0.1)).pvalues == 1.0).all()


def test_three_hundred_learners():
    losses = np.random.default_rng(2).random((300, 4)) + np.linspace(0, 3, 300)[:, None]
    start = time.process_time()
    result = tukey(losses)
    assert time.process_time() - start < 6.0
    i, j = 10, 200
    q, df = result.statistics[i, j], 900.0
    assert result.pvalues[i, j] == pytest.approx(
        float(stats.studentized_range.sf(q, 300, df)), rel=1e-4
    )
    assert np.array_equal(result.pvalues, result.pvalues.T)
    assert "more." in result.explain()


def test_explains():
    result = tukey([[9, 10, 11], [1, 2, 3], [5, 6, 7]])
    text = result.explain(names=["svm", "tree", "knn"])
    assert "tree below svm" in text
    assert "svm below" not in text
    assert "Of the 3 pairs, 3 differ" in text
    assert "None of the 3 pairs" in tukey([[1, 2], [1, 2], [1, 2]]).explain()
