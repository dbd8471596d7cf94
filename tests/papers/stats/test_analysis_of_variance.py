"""One-way and repeated-measures analysis of variance against references."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import linalg, stats
from statsmodels.stats.anova import AnovaRM

from bestofk.papers.stats import anova, repeated_measures_anova
from bestofk.papers.stats.analysis_of_variance import greenhouse_geisser
from bestofk.stats.multiple import friedman


def by_fractions(rows):
    """F = MST / MSE as printed by Yildiz and Alpaydin 2006, eqs. 9-11, in whole fractions."""
    K, L = len(rows), len(rows[0])
    rows = [[Fraction(x) for x in row] for row in rows]
    m = [sum(row) / L for row in rows]
    grand = sum(m) / K
    mst = L * sum((x - grand) ** 2 for x in m) / (K - 1)
    mse = sum((x - mi) ** 2 for row, mi in zip(rows, m, strict=True) for x in row) / (K * L - K)
    return mst, mse


@given(
    hnp.arrays(
        np.int64, st.tuples(st.integers(2, 6), st.integers(2, 7)), elements=st.integers(-50, 50)
    )
)
def test_equals_exact_fractions(rows):
    mst, mse = by_fractions(rows.tolist())
    result = anova(rows)
    if mse == 0:
        assert result.statistic == (np.inf if mst else 0.0)
        assert result.pvalue == (0.0 if mst else 1.0)
    else:
        assert result.statistic == pytest.approx(float(mst / mse), rel=1e-11)
    assert result.mse == pytest.approx(float(mse), rel=1e-12, abs=1e-25)
    assert result.mst == pytest.approx(float(mst), rel=1e-12, abs=1e-25)


def test_equals_scipy_over_leading_axes():
    losses = np.random.default_rng(0).gamma(2.0, 0.1, (3, 4, 5, 7))
    losses[..., 2, :] += 0.2
    result = anova(losses)
    assert result.statistic.shape == (3, 4)
    assert result.means.shape == (3, 4, 5)
    assert result.df == (4.0, 30.0)
    for index in np.ndindex(3, 4):
        f, p = stats.f_oneway(*losses[index])
        assert result.statistic[index] == pytest.approx(f, rel=1e-11)
        assert result.pvalue[index] == pytest.approx(p, rel=1e-10)


def test_pvalue_far_out_equals_mpmath():
    # P(F > f) as a regularised incomplete beta function of 40 digits.
    rng = np.random.default_rng(2)
    losses = 0.08 * rng.standard_normal((4, 40)) + np.array([[0.0], [1.0], [5.0], [9.0]])
    result = anova(losses)
    with mp.workdps(40):
        d1, d2 = (mp.mpf(x) for x in result.df)
        f = mp.mpf(result.statistic)
        exact = mp.betainc(d2 / 2, d1 / 2, 0, d2 / (d2 + d1 * f), regularized=True)
    assert 1e-308 < exact < 1e-200
    assert result.pvalue == pytest.approx(float(exact), rel=1e-9)


def test_identical_learners_and_constant_losses():
    row = np.array([0.1, 0.7, 0.3])
    same = anova(np.tile(row, (4, 1)))
    assert (same.statistic, same.pvalue) == (0.0, 1.0)
    assert "All 4 learners have the same mean loss" in same.explain()
    constant = anova(np.full((3, 10), 0.1))
    assert (constant.statistic, constant.pvalue) == (0.0, 1.0)
    apart = anova([[0.1] * 10, [0.3] * 10, [0.1] * 10])
    assert (apart.statistic, apart.pvalue) == (np.inf, 0.0)
    assert "infinite" in apart.explain()


@pytest.mark.parametrize("unit", [1e-30, 3.7, 1e100])
def test_the_unit_does_not_matter(unit):
    losses = np.random.default_rng(5).random((4, 6))
    single, other = anova(losses), anova(losses * unit)
    assert other.statistic == pytest.approx(single.statistic, rel=1e-12)
    assert other.pvalue == pytest.approx(single.pvalue, rel=1e-12)


def table(seed=0, shape=(4, 9)):
    rng = np.random.default_rng(seed)
    spread = np.linspace(0.2, 2.0, shape[0])[:, None]
    return rng.random(shape) * spread + rng.random(shape[1]) * 3 + np.arange(shape[0])[:, None] / 9


def contrast_roots(losses):
    """Eigenvalues of the covariance of orthonormal contrasts (Helmert), the textbook way."""
    H = linalg.helmert(len(losses))
    return np.linalg.eigvalsh(H @ np.cov(losses) @ H.T)


@pytest.mark.parametrize("shape", [(2, 6), (4, 9), (7, 5)])
def test_equals_statsmodels(shape):
    losses = table(1, shape)
    K, n = shape
    frame = pd.DataFrame(
        {
            "loss": losses.ravel(),
            "learner": np.repeat(np.arange(K), n),
            "block": np.tile(np.arange(n), K),
        }
    )
    expected = AnovaRM(frame, "loss", "block", within=["learner"]).fit().anova_table.iloc[0]
    result = repeated_measures_anova(losses)
    assert result.statistic == pytest.approx(expected["F Value"], rel=1e-9)
    assert result.pvalue == pytest.approx(expected["Pr > F"], rel=1e-8)
    assert result.df == (expected["Num DF"], expected["Den DF"])


@pytest.mark.parametrize("shape", [(3, 6), (4, 9), (6, 5), (8, 3)])
def test_epsilon_by_contrasts(shape):
    losses = table(3, shape)
    roots = contrast_roots(losses)
    epsilon = roots.sum() ** 2 / ((len(losses) - 1) * (roots**2).sum())
    assert greenhouse_geisser(losses) == pytest.approx(epsilon, rel=1e-10)


def test_corrected_pvalue():
    r = repeated_measures_anova(table(4, (4, 9)))
    expected = stats.f.sf(r.statistic, 3 * r.epsilon, 24 * r.epsilon)
    assert r.adjusted_pvalue == pytest.approx(expected, rel=1e-10)
    assert r.pvalue < r.adjusted_pvalue


def test_constant_differences():
    # Every learner a constant above the first: no interaction is left, up to rounding.
    blocks = np.array([0.13, 0.7, 0.31, 0.55])
    losses = blocks + np.array([[0.0], [0.1], [0.3]])
    result = repeated_measures_anova(losses)
    assert (result.statistic, result.pvalue) == (np.inf, 0.0)
    assert result.adjusted_pvalue == 0.0
    assert result.epsilon == 1.0


def test_identical_learners():
    result = repeated_measures_anova(np.tile([0.2, 0.9, 0.4], (5, 1)))
    assert (result.statistic, result.pvalue) == (0.0, 1.0)
    assert result.adjusted_pvalue == 1.0
    assert "have the same mean loss" in result.explain()


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
