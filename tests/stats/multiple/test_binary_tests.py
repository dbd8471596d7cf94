"""Cochran's Q and Looney's F against statsmodels, exact fractions and the printed formulas."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import linalg, stats
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar

from bestofk._base.errors import ArgumentError
from bestofk.papers.stats import looney
from bestofk.stats.multiple import cochran_q

TABLES = hnp.arrays(
    np.int64, st.tuples(st.integers(2, 5), st.integers(2, 12)), elements=st.integers(0, 1)
)


def looney_by_fractions(x):
    """Yildiz and Alpaydin 2006, eqs. 14-16, as printed."""
    K, N = x.shape
    p_j = [Fraction(int(row.sum()), N) for row in x]
    p_i = [Fraction(int(column.sum()), K) for column in x.T]
    p = Fraction(int(x.sum()), N * K)
    ssa = N * sum(v * v for v in p_j) - N * K * p * p
    ssb = K * sum(v * v for v in p_i) - N * K * p * p
    ssab = N * K * p * (1 - p) - ssa - ssb
    return ssa / (K - 1), ssab / ((K - 1) * (N - 1))


@given(TABLES)
def test_looney_equals_exact_fractions(x):
    K, N = x.shape
    msa, msab = looney_by_fractions(x)
    result = looney(x)
    assert result.df == (K - 1, (K - 1) * (N - 1))
    if msab == 0:
        assert result.statistic == (np.inf if msa else 0.0)
        assert result.adjusted_pvalue == result.pvalue == (0.0 if msa else 1.0)
        return
    f = float(msa / msab)
    assert result.statistic == pytest.approx(f, rel=1e-13)
    assert result.pvalue == pytest.approx(stats.f.sf(f, *result.df), rel=1e-10)
    e = result.epsilon
    adjusted = stats.f.sf(f, e * result.df[0], e * result.df[1])
    assert result.adjusted_pvalue == pytest.approx(adjusted, rel=1e-10)


def test_looney_epsilon_by_contrasts():
    x = (np.random.default_rng(0).random((5, 60)) < np.linspace(0.5, 0.95, 5)[:, None]).astype(int)
    H = linalg.helmert(5)
    roots = np.linalg.eigvalsh(H @ np.cov(x) @ H.T)
    assert looney(x).epsilon == pytest.approx(roots.sum() ** 2 / (4 * (roots**2).sum()), rel=1e-10)


@given(TABLES)
def test_cochran_equals_statsmodels(x):
    result = cochran_q(x)
    disagree = (x.min(axis=0) != x.max(axis=0)).sum()
    assert result.informative == disagree
    if not disagree:
        assert (result.statistic, result.pvalue) == (0.0, 1.0)
        return
    expected = cochrans_q(x.T)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-11)


def test_cochran_with_two_learners_is_mcnemar_without_continuity():
    a = np.array([1] * 30 + [1] * 9 + [0] * 4 + [0] * 7)
    b = np.array([1] * 30 + [0] * 9 + [1] * 4 + [0] * 7)
    expected = mcnemar([[30, 9], [4, 7]], exact=False, correction=False)
    result = cochran_q([a, b])
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-14)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert result.statistic == pytest.approx((9 - 4) ** 2 / 13)


def test_explains_in_the_right_direction():
    x = np.array([[1, 0, 0, 0, 1, 0, 0], [1, 1, 1, 1, 1, 1, 0], [1, 1, 0, 0, 1, 0, 0]])
    for result in (cochran_q(x), looney(x)):
        text = result.explain(names=["svm", "tree", "knn"])
        assert "svm has the smallest share of right answers (0.2857), tree" in text
    assert "F(2, 12)" in looney(x).explain()
    assert "on 4 of 7 instances" in cochran_q(x).explain()


@pytest.mark.parametrize("function", [cochran_q, looney])
def test_answers_must_be_right_or_wrong(function):
    with pytest.raises(ArgumentError, match="1 for a right and 0 for a wrong answer; got 2"):
        function([[1, 0], [2, 1]])
