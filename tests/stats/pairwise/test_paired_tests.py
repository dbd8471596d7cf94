"""The paired t test and the sign test."""

from __future__ import annotations

from math import inf

import mpmath
import numpy as np
import pytest
from scipy import stats

from bestofk.stats.pairwise import paired_t, sign

ALTERNATIVES = ("two-sided", "greater", "less")


def exact_t_quantile(p, df):
    with mpmath.workdps(30):

        def excess(t):
            tail = mpmath.betainc(df / 2, 0.5, 0, df / (df + t * t), regularized=True) / 2
            return tail - (1 - mpmath.mpf(str(p)))

        return float(mpmath.findroot(excess, (1.0, 3.0), solver="anderson"))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [2, 5, 30])
def test_agrees_with_scipy(alternative, n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.32, 0.1, (4, n)), rng.normal(0.3, 0.1, (4, n))
    got = paired_t(a, b, alternative=alternative)
    want = stats.ttest_rel(a, b, axis=1, alternative=alternative)
    np.testing.assert_allclose(got.statistic, want.statistic, rtol=1e-10)
    np.testing.assert_allclose(got.pvalue, want.pvalue, rtol=1e-9)
    # source: the quantile with 30 digits; that of scipy has nine in some supported versions
    quantile = exact_t_quantile(0.95 if alternative == "two-sided" else 0.9, n - 1)
    half = quantile * np.abs(got.estimate / want.statistic)
    low = -inf if alternative == "less" else got.estimate - half
    high = inf if alternative == "greater" else got.estimate + half
    np.testing.assert_allclose(got.confidence_interval(0.9).low, low, rtol=1e-9)
    np.testing.assert_allclose(got.confidence_interval(0.9).high, high, rtol=1e-9)
    assert got.df == n - 1


def test_resolution_by_hand():
    # d = 1, 1, 1, 0 steps of 0.1: mean 0.075, S^2 = 0.0025; se^2 = 0.0025 / 4 + (0.2 / 4)^2
    r = paired_t([0.3, 0.4, 0.2, 0.3], [0.2, 0.3, 0.1, 0.3], resolution=0.1)
    assert r.standard_error == pytest.approx(np.sqrt(0.003125), rel=1e-12)
    assert r.statistic == pytest.approx(0.075 / np.sqrt(0.003125), rel=1e-12)
    assert r.pvalue == pytest.approx(2 * stats.t.sf(0.075 / np.sqrt(0.003125), 3), rel=1e-12)
    q = stats.t.ppf(0.975, 3)
    half = q * np.sqrt(0.003125)
    assert r.confidence_interval() == pytest.approx((0.075 - half, 0.075 + half), rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 7, 40, 5000])
def test_a_constant_difference_of_unknown_resolution(n):
    a, b = np.full(n, 0.4), np.full(n, 0.3)
    both = paired_t(a, b)
    assert both.pvalue == max(2.0 ** (1 - n), np.finfo(float).tiny)
    assert paired_t(a, b, alternative="greater").pvalue == max(0.5**n, np.finfo(float).tiny)
    assert paired_t(a, b, alternative="less").pvalue == 1.0
    assert both.statistic == inf
    # neither more nor less than the signs say
    assert paired_t(a, b, resolution=0).pvalue == both.pvalue
    for level in (0.5, 0.95, 0.99):
        low, high = both.confidence_interval(level)
        if both.pvalue <= 1 - level:
            assert (low, high) == pytest.approx((0.1, 0.1))
        else:
            assert (low, high) == (-inf, inf)


TABLES = 4000


@pytest.mark.parametrize("n", [3, 4, 5, 7, 8, 10, 15, 30])
def test_coarse_losses_of_equal_learners_keep_the_level(n):
    # One step up or down, two steps, counts of errors on ten rows, rounded normal losses; at
    # 0.005 the first step of ten pairs. Rejected: no evidence against 6 and 1 percent.
    rng = np.random.default_rng(n)
    d = [
        rng.choice([-1, 1], (TABLES, n)),
        rng.choice([-1, 0, 1], (TABLES, n)),
        rng.choice([-2, -1, 1, 2], (TABLES, n), p=[0.1, 0.4, 0.4, 0.1]),
        np.diff(rng.binomial(10, 0.3, (2, TABLES, n)), axis=0)[0],
        np.diff(rng.binomial(10, 0.05, (2, TABLES, n)), axis=0)[0],
        np.diff(np.round(rng.normal(0, 0.5, (2, TABLES, n))), axis=0)[0],
    ]
    p = paired_t(np.array(d, float), np.zeros(n), resolution=1).pvalue
    for level, bound in ((0.05, 0.06), (0.005, 0.01)):
        worst = int((p <= level).sum(axis=1).max())
        assert stats.binom.sf(worst - 1, TABLES, bound) > 1e-3


def test_sign_test_by_hand():
    a = np.array([3, 5, 2, 8, 6, 4, 7, 9])
    b = np.array([1, 4, 2, 9, 5, 3, 6, 8])  # a loses 6, wins 1, ties 1
    r = sign(a, b, alternative="greater")
    assert r.statistic == 1.0
    assert r.pvalue == pytest.approx((7 + 1) / 2**7, rel=1e-14)
    assert sign(a, b).pvalue == pytest.approx(2 * 8 / 2**7, rel=1e-14)
    assert sign(a, b, alternative="less").pvalue == pytest.approx(1 - 1 / 2**7, rel=1e-14)
    assert r.df is None


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_sign_agrees_with_scipy(alternative):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, (20, 17)), rng.integers(0, 5, (20, 17))
    r = sign(a, b, alternative=alternative)
    for i in range(20):
        more, fewer = int((a[i] > b[i]).sum()), int((a[i] < b[i]).sum())
        want = stats.binomtest(more, more + fewer, alternative=alternative).pvalue
        assert r.pvalue[i] == pytest.approx(want, rel=1e-11)
        assert r.statistic[i] == fewer


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
