"""Welch's t test against scipy, an independent implementation."""

import numpy as np
import pytest
from scipy import stats

from bestofk.stats.pairwise import skew_corrected_welch_t, welch_t

A, B = np.random.default_rng(4).normal(
    [[[0.3]], [[0.29]]], [[[0.02]], [[0.05]]], size=(2, 5, 8)
)  # fmt: skip


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("scale", [1.0, 1e-60, 1e60])
def test_scipy_gives_the_same(alternative, scale):
    result = welch_t(scale * A, scale * B, alternative=alternative)
    expected = stats.ttest_ind(A, B, axis=1, equal_var=False, alternative=alternative)
    np.testing.assert_allclose(result.statistic, expected.statistic, rtol=1e-10)
    np.testing.assert_allclose(result.pvalue, expected.pvalue, rtol=1e-9)
    low, high = result.confidence_interval(0.9)
    ends = expected.confidence_interval(0.9)
    np.testing.assert_allclose(low, scale * ends.low, rtol=1e-8)
    np.testing.assert_allclose(high, scale * ends.high, rtol=1e-8)


def test_learners_may_have_different_numbers_of_runs():
    fewer = np.where(np.arange(8) < 5, B, np.nan)
    expected = stats.ttest_ind(A, B[:, :5], axis=1, equal_var=False).pvalue
    np.testing.assert_allclose(welch_t(A, fewer).pvalue, expected, rtol=1e-9)


def test_the_corrected_test_is_halls_transformation():
    """Zhou and Dinh 2005: t + g t^2 / 3 + g^2 t^3 / 27 + g / 6, with g computed by scipy."""
    rng = np.random.default_rng(3)
    a, b = -rng.lognormal(size=12), rng.lognormal(size=9) - 7.0
    plain, corrected = welch_t(a, b), skew_corrected_welch_t(a, b)
    se = plain.standard_error
    cubes = [stats.skew(x, bias=False) * x.std(ddof=1) ** 3 / x.size**2 for x in (a, b)]
    g, t = (cubes[0] - cubes[1]) / se**3, plain.statistic
    hall = t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6
    assert abs(hall) < abs(t)
    assert corrected.statistic == pytest.approx(hall)
    low, high = corrected.confidence_interval(0.95)
    for end in (low, high):
        assert skew_corrected_welch_t(a - end, b).pvalue == pytest.approx(0.05, rel=1e-6)
    # two runs of each learner show no skewness
    assert skew_corrected_welch_t(a[:2], b[:2]).pvalue == welch_t(a[:2], b[:2]).pvalue
