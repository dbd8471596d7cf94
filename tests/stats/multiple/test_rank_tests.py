"""Friedman's test and the Kruskal-Wallis test against scipy."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from bestofk.stats.multiple import friedman, kruskal_wallis, nemenyi


def test_the_smallest_loss_has_rank_one():
    assert friedman([[0.1, 0.2], [0.9, 0.8]]).average_ranks.tolist() == [1.0, 2.0]
    assert kruskal_wallis([[0.1, 0.2], [0.9, 0.8]]).mean_ranks.tolist() == [1.5, 3.5]


TABLES = hnp.arrays(
    np.int64, st.tuples(st.integers(3, 6), st.integers(2, 9)), elements=st.integers(0, 4)
)


def friedman_by_fractions(losses):
    """Conover's T1 (Practical nonparametric statistics, 5.8) and Iman and Davenport's F."""
    K, N = losses.shape
    ranks = [[Fraction(2 * r).limit_denominator(2) / 2 for r in row]
             for row in stats.rankdata(losses, axis=0).T]  # fmt: skip
    R = [sum(row[j] for row in ranks) for j in range(K)]
    A1 = sum(r * r for row in ranks for r in row)
    C1 = Fraction(N * K * (K + 1) ** 2, 4)
    if A1 == C1:
        return 0, 0
    T1 = (K - 1) * (sum(r * r for r in R) - N * C1) / (A1 - C1)
    rest = N * (K - 1) - T1
    return T1, (N - 1) * T1 / rest if rest else math.inf


@settings(max_examples=50, deadline=None)
@given(TABLES)
def test_friedman_with_ties_equals_exact_fractions(losses):
    K, N = losses.shape
    chi2, f = friedman_by_fractions(losses)
    result = friedman(losses)
    assert result.statistic == pytest.approx(float(chi2), rel=1e-12)
    assert result.f_statistic == pytest.approx(float(f), rel=1e-12)
    assert result.pvalue == pytest.approx(stats.chi2.sf(float(chi2), K - 1), rel=1e-10)
    assert result.f_pvalue == pytest.approx(
        stats.f.sf(float(f), K - 1, (K - 1) * (N - 1)), rel=1e-9
    )


def test_friedman_of_the_printed_example():
    # Demsar 2006, section 3.2.2: four learners on 14 data sets, average ranks 3.143, 2.000,
    # 2.893 and 1.964, chi-squared 9.28 and F_F(3, 39) = 3.69.
    auc = 1 - np.array(DEMSAR)
    result = friedman(auc.T)
    np.testing.assert_allclose(result.average_ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    # He does not correct for ties: 12 N / (K (K + 1)) (sum R_j^2 - K (K + 1)^2 / 4) = 9.28
    R = result.average_ranks
    assert 12 * 14 / 20 * ((R**2).sum() - 25) == pytest.approx(9.28, abs=0.01)
    assert result.f_df == (3.0, 39.0)
    # and CD = 2.569 sqrt(4 * 5 / (6 * 14)) = 1.25 at level 0.05, 1.12 at 0.10
    assert nemenyi(auc.T).critical_difference == pytest.approx(1.25, abs=0.005)
    assert nemenyi(auc.T, 0.1).critical_difference == pytest.approx(1.12, abs=0.005)


# Demsar 2006: AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets. In the row before
# the last the printed 0.975 and 0.975 have the printed ranks 2 and 3: no tie before rounding.
DEMSAR = [
    (0.763, 0.768, 0.771, 0.798),
    (0.599, 0.591, 0.590, 0.569),
    (0.954, 0.971, 0.968, 0.967),
    (0.628, 0.661, 0.654, 0.657),
    (0.882, 0.888, 0.886, 0.898),
    (0.936, 0.931, 0.916, 0.931),
    (0.661, 0.668, 0.609, 0.685),
    (0.583, 0.583, 0.563, 0.625),
    (0.775, 0.838, 0.866, 0.875),
    (1.000, 1.000, 1.000, 1.000),
    (0.940, 0.962, 0.965, 0.962),
    (0.619, 0.666, 0.614, 0.669),
    (0.972, 0.981, 0.9751, 0.975),
    (0.957, 0.978, 0.946, 0.970),
]


def test_friedman_when_all_blocks_agree():
    result = friedman([[1.0, 2.0, 0.1], [3.0, 5.0, 0.2], [4.0, 9.0, 0.3]])
    assert result.statistic == 6.0
    assert (result.f_statistic, result.f_pvalue) == (math.inf, 0.0)
    assert "infinite" in result.explain()


def test_friedman_names_the_statistic_that_rejects():
    # chi-squared p = 0.0608, F p = 0.047 or the like: only F rejects between them.
    losses = [[1, 1, 1, 3, 1, 2], [2, 2, 3, 1, 2, 1], [3, 3, 2, 2, 3, 3]]
    result = friedman(losses)
    assert result.f_pvalue < result.pvalue
    text = result.explain(alpha=(result.f_pvalue + result.pvalue) / 2)
    assert "is rejected by the F but not by the chi-squared statistic" in text
    assert "rejected by both" in result.explain(alpha=0.9)
    assert "rejected by neither" in result.explain(alpha=1e-9)


def test_efficiency_on_normal_losses():
    """Friedman's test on n data sets finds as much as ANOVA on 3 K / (pi (K + 1)) n of them."""
    K, n, tables = 5, 60, 2000
    fewer = round(3 * K / (np.pi * (K + 1)) * n)  # 0.796 of 60 are 48; the limit is 3 / pi = 0.955
    rng = np.random.default_rng(0)
    shift = np.linspace(0, 0.5, K)[:, None]
    by_ranks = friedman(shift + rng.normal(size=(tables, K, n))).f_pvalue <= 0.05
    x = shift + rng.normal(size=(tables, K, fewer))
    x -= x.mean(axis=1, keepdims=True)
    means = x.mean(axis=2, keepdims=True)
    spread = np.square(x - means).sum(axis=(1, 2)) / ((K - 1) * (fewer - 1))
    f = fewer * np.square(means).sum(axis=(1, 2)) / (K - 1) / spread
    by_means = stats.f.sf(f, K - 1, (K - 1) * (fewer - 1)) <= 0.05
    assert 0.5 < by_means.mean() < 0.9
    # three standard errors of the difference of two shares
    assert abs(by_ranks.mean() - by_means.mean()) < 3 * np.sqrt(2 * 0.25 / tables)


SAMPLES = hnp.arrays(
    np.int64, st.tuples(st.integers(3, 6), st.integers(2, 9)), elements=st.integers(0, 4)
)


@settings(max_examples=50, deadline=None)
@given(SAMPLES)
def test_kruskal_wallis_with_ties_equals_scipy(losses):
    result = kruskal_wallis(losses)
    if losses.min() == losses.max():
        assert (result.statistic, result.pvalue) == (0.0, 1.0)
        return
    expected = stats.kruskal(*losses)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert result.df == len(losses) - 1
