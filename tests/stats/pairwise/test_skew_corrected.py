"""The skewness-corrected t tests: formula, interval, level, and relation to Student's t."""

import numpy as np
import pytest
from scipy import stats

from bestofk.stats.pairwise import (
    all_pairs,
    cluster_t,
    skew_corrected_t,
)
from bestofk.stats.pairwise.skew_corrected import sample_skewness


def draws(*shape, seed=7):
    return np.random.default_rng(seed).exponential(size=shape)


def test_skewness_is_that_of_scipy():
    d = draws(9, 4)
    expected = stats.skew(d, axis=0, bias=False)
    np.testing.assert_allclose(sample_skewness(d - d.mean(axis=0), axis=0), expected)
    assert sample_skewness(np.zeros(5), axis=0) == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_statistic_is_the_smaller_of_student_and_hall(sign):
    # Hall (1992), equation for the cubic transformation, with scipy's moments
    d = sign * (draws(20) - 0.4)
    n, w, g = 20, d.mean() / d.std(ddof=1), stats.skew(d, bias=False)
    hall = np.sqrt(n) * (w + g * w**2 / 3 + g**2 * w**3 / 27 + g / (6 * n))
    student = stats.ttest_1samp(d, 0).statistic
    expected = min(hall, student, key=abs) if hall * student > 0 else 0.0
    assert skew_corrected_t(d, 0 * d).statistic == pytest.approx(expected)


@pytest.mark.parametrize("clusters", [None, np.arange(90) // 3])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_the_interval_holds_the_differences_that_are_not_rejected(clusters, level):
    d = draws(24 if clusters is None else 90) - 0.7

    def test(x):
        if clusters is None:
            return skew_corrected_t(x, 0 * x)
        return cluster_t(x, 0 * x, clusters=clusters)

    result = test(d)
    low, high = result.confidence_interval(level)
    assert low < result.estimate < high
    for end in (low, high):
        assert test(d - end).pvalue == pytest.approx(1 - level, rel=1e-6)


def test_single_items_are_clusters_of_one():
    a, b = draws(2, 30)
    one, other = (test(a, b, widened=1.2) for test in (skew_corrected_t, cluster_t))
    assert one.pvalue == pytest.approx(other.pvalue)
    assert one.df == other.df == 29.0
    np.testing.assert_allclose(one.confidence_interval(0.9), other.confidence_interval(0.9))


def test_level_with_skewed_differences():
    """Equal means, exponential differences, 30 of them; Student's t rejects in about 7 percent."""
    rng = np.random.default_rng(11)
    d = rng.exponential(size=(4000, 30)) - 1.0
    rejected = int((skew_corrected_t(d, 0 * d).pvalue <= 0.05).sum())
    assert rejected <= stats.binom.ppf(0.9999, 4000, 0.05)
    low, high = skew_corrected_t(d, 0 * d).confidence_interval(0.95)
    assert ((low <= 0) & (high >= 0)).sum() == 4000 - rejected


def test_matrix_products_agree_with_each_pair(monkeypatch):
    rng = np.random.default_rng(3)
    losses = rng.gamma(2.0, 1.0, 300) + rng.gamma(1.0, 0.3, (9, 300))
    losses[4] = losses[1]  # no difference
    losses[6] = losses[2] + 0.5  # a constant one
    losses[7] = losses[3] + 1e-6 * rng.random(300)  # too close for products
    each = all_pairs("skew-corrected-t", losses)
    monkeypatch.setattr("bestofk.stats.pairwise.paired_tests.MIN_PRODUCTS", 0)
    together = all_pairs("skew-corrected-t", losses)
    for field in ("statistic", "pvalue", "estimate", "direction"):
        np.testing.assert_allclose(getattr(together, field), getattr(each, field), rtol=1e-8)
