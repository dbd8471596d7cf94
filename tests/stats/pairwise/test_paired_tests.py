"""The paired t test and the sign test."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.stats.adjust import adjust
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


def test_seven_data_sets_with_the_same_errors_on_each():
    losses = np.repeat([[0.9], [0.5], [0.4], [0.3], [0.1]], 7, axis=1)
    i, j = np.triu_indices(5, 1)
    r = paired_t(losses[i], losses[j], resolution=0.1)
    # t = (steps) 7 / 2 on 6 df; the smallest difference is one step
    steps = np.round((losses[i] - losses[j]).mean(axis=1) * 10)
    np.testing.assert_allclose(r.pvalue, 2 * stats.t.sf(steps * 3.5, 6), rtol=1e-9)
    assert (adjust(r.pvalue) <= 0.05).all()
    assert (r.confidence_interval().low > 0).all()


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


@given(
    d=st.lists(st.integers(-3, 3), min_size=2, max_size=9),
    alternative=st.sampled_from(ALTERNATIVES),
    resolution=st.sampled_from([None, 0.0, 1.0, 0.5]),
    level=st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]),
)
@settings(max_examples=200, deadline=None)
def test_the_interval_says_what_the_pvalue_says(d, alternative, resolution, level):
    a, b = np.array(d, float), np.zeros(len(d))
    r = paired_t(a, b, alternative=alternative, resolution=resolution)
    assert 0.0 < r.pvalue <= 1.0
    if abs(r.pvalue - (1 - level)) < 1e-9:
        return  # at the edge rounding decides
    low, high = r.confidence_interval(level)
    outside = low > 0 or high < 0
    if alternative != "two-sided" and r.estimate == 0:
        return  # of equal means neither side is claimed
    assert outside == (r.pvalue <= 1 - level)


def test_a_known_step_never_lowers_the_pvalue_of_spread_differences():
    rng = np.random.default_rng(4)
    a, b = rng.normal(0.3, 0.05, (2, 200, 8))
    steps = [paired_t(a, b, resolution=r).pvalue for r in (None, 0.001, 0.01, 0.1)]
    for finer, coarser in pairwise(steps):
        assert (finer <= coarser).all()
    np.testing.assert_allclose(steps[0], steps[1], rtol=0.05)


def test_the_unit_of_losses_and_resolution_together_does_not_matter():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 4, (2, 50, 6)) / 10
    plain = paired_t(a, b, resolution=0.1)
    for unit in (1e-120, 1e-3, 7.0, 1e120):
        other = paired_t(a * unit, b * unit, resolution=0.1 * unit)
        np.testing.assert_allclose(other.pvalue, plain.pvalue, rtol=1e-9)
        np.testing.assert_allclose(other.standard_error, plain.standard_error * unit, rtol=1e-9)


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


def test_without_the_resolution_they_do_not():
    # six of seven signs agree with probability 2 * 8 / 128 = 0.125, and t = 2.5 > 2.447
    d = np.random.default_rng(7).choice([-1.0, 1.0], (TABLES, 7))
    assert (paired_t(d, np.zeros(7)).pvalue <= 0.05).mean() > 0.1
    assert (paired_t(d, np.zeros(7), resolution=1).pvalue <= 0.05).mean() < 0.03


def test_family_wise_error_of_coarse_tables():
    # five equal learners, ten rows of each of seven data sets, all pairs, Holm
    rng = np.random.default_rng(0)
    losses = rng.binomial(10, 0.3, (3000, 5, 7)) / 10
    i, j = np.triu_indices(5, 1)
    p = paired_t(losses[:, i], losses[:, j], resolution=0.1).pvalue
    errors = int((adjust(p) <= 0.05).any(axis=1).sum())
    assert stats.binom.sf(errors - 1, 3000, 0.05) > 1e-3


def test_refusals():
    for bad in (-0.1, np.nan, inf, "fine"):
        with pytest.raises(ArgumentError, match="resolution must be a number of at least 0"):
            paired_t([0.1, 0.2], [0.2, 0.3], resolution=bad)
    with pytest.raises(ArgumentError, match="at least 2 differences"):
        paired_t([0.1], [0.2])


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
def test_sign_agrees_with_scipy(alternative):
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
