"""Friedman's test and the Kruskal-Wallis test against scipy."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from bestofk.stats.multiple import friedman, kruskal_wallis


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


SAMPLES = hnp.arrays(
    np.int64, st.tuples(st.integers(3, 6), st.integers(2, 9)), elements=st.integers(0, 4)
)


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
