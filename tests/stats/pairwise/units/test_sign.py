"""Expected values: binomial coefficients by hand, scipy.stats.binomtest."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy import stats

from bestofk.stats.pairwise import sign


def test_by_hand():
    a = np.array([3, 5, 2, 8, 6, 4, 7, 9])
    b = np.array([1, 4, 2, 9, 5, 3, 6, 8])  # a loses 6, wins 1, ties 1
    r = sign(a, b, alternative="greater")
    assert r.statistic == 1.0
    assert r.pvalue == pytest.approx((7 + 1) / 2**7, rel=1e-14)
    assert sign(a, b).pvalue == pytest.approx(2 * 8 / 2**7, rel=1e-14)
    assert sign(a, b, alternative="less").pvalue == pytest.approx(1 - 1 / 2**7, rel=1e-14)
    assert r.df is None


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_agrees_with_scipy(alternative):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, (20, 17)), rng.integers(0, 5, (20, 17))
    r = sign(a, b, alternative=alternative)
    for i in range(20):
        more, fewer = int((a[i] > b[i]).sum()), int((a[i] < b[i]).sum())
        want = stats.binomtest(more, more + fewer, alternative=alternative).pvalue
        assert r.pvalue[i] == pytest.approx(want, rel=1e-11)
        assert r.statistic[i] == fewer


def test_a_thousand_wins():
    r = sign(np.ones(990), np.zeros(990), alternative="greater")
    assert r.pvalue == 0.5**990
    assert sign(np.ones(990), np.zeros(990), alternative="less").pvalue == 1.0


def test_decimal_ties_are_ties_whatever_their_scale():
    a = np.array([0.1 + 0.2, 1e6 + 0.1, 3e-9, 2e-9])
    b = np.array([0.3, 1e6 + 0.1, 2e-9, 1e-9])  # two ties; two small but real differences
    r = sign(a, b, alternative="greater")
    assert r.statistic == 0
    assert r.pvalue == 0.25


def test_interval_of_the_median():
    d = np.array([0.5, -1.0, 2.0, 3.5, 1.5, 4.0, 0.2, 2.5])
    # n = 8: P(X <= 0) = 1/256 and P(X <= 1) = 9/256, so k = 0 at 0.98 and k = 1 at 0.9
    assert sign(d, d * 0).confidence_interval(0.98) == (-1.0, 4.0)
    assert sign(d, d * 0).confidence_interval(0.9) == (0.2, 3.5)
    assert sign(d, d * 0, alternative="greater").confidence_interval(0.95) == (0.2, inf)
    assert sign(d[:3], d[:3] * 0).confidence_interval(0.95) == (-inf, inf)


def test_interval_covers_the_median_as_often_as_it_says():
    rng = np.random.default_rng(8)
    d = rng.exponential(size=(4000, 12)) - np.log(2)
    low, high = sign(d, np.zeros(12)).confidence_interval(0.9)
    share = np.mean((low <= 0) & (high >= 0))
    # exact coverage 1 - 2 P(X <= 2) = 0.9614; 4 standard errors
    assert share == pytest.approx(1 - 2 * 79 / 4096, abs=4 * np.sqrt(0.04 / 4000))


def test_interval_at_a_level_that_is_reached_exactly():
    # n = 5: P(X <= 0) = 1/32 is just within the tail of (1 - 0.9375) / 2 = 1/32
    d = np.array([0.5, -1.0, 2.0, 3.5, 1.5])
    assert sign(d, d * 0).confidence_interval(0.9375) == (-1.0, 3.5)
    assert sign(d, d * 0).confidence_interval(0.94) == (-inf, inf)
