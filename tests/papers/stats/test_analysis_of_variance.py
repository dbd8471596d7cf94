"""One-way and repeated-measures analysis of variance against references."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import linalg, stats
from statsmodels.stats.anova import AnovaRM

from bestofk._base.errors import ArgumentError
from bestofk.papers.stats import anova, repeated_measures_anova
from bestofk.papers.stats.analysis_of_variance import epsilons, greenhouse_geisser, mauchly


def by_fractions(rows):
    """F = MST / MSE as printed by Yildiz and Alpaydin 2006, eqs. 9-11, in whole fractions."""
    K, L = len(rows), len(rows[0])
    rows = [[Fraction(x) for x in row] for row in rows]
    m = [sum(row) / L for row in rows]
    grand = sum(m) / K
    mst = L * sum((x - grand) ** 2 for x in m) / (K - 1)
    mse = sum((x - mi) ** 2 for row, mi in zip(rows, m, strict=True) for x in row) / (K * L - K)
    return mst, mse


@settings(max_examples=40, deadline=None)
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


def test_two_learners_are_the_unpaired_t():
    rng = np.random.default_rng(1)
    a, b = rng.random(9), rng.random(9) + 0.3
    t = stats.ttest_ind(a, b)
    result = anova([a, b])
    assert result.statistic == pytest.approx(t.statistic**2, rel=1e-12)
    assert result.pvalue == pytest.approx(t.pvalue, rel=1e-12)


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


def test_rounding_is_no_difference():
    # 0.1 + 0.2 is not 0.3 in binary; it is no evidence either.
    result = anova([[0.1 + 0.2] * 5, [0.3] * 5])
    assert (result.statistic, result.pvalue) == (0.0, 1.0)


@pytest.mark.parametrize("unit", [1e-200, 1e-30, 3.7, 1e150])
def test_the_unit_does_not_matter(unit):
    losses = np.random.default_rng(5).random((4, 6))
    single, other = anova(losses), anova(losses * unit)
    assert other.statistic == pytest.approx(single.statistic, rel=1e-12)
    assert other.pvalue == pytest.approx(single.pvalue, rel=1e-12)


def test_explains_in_the_right_direction():
    losses = np.array([[0.5, 0.6, 0.55], [0.1, 0.2, 0.15], [0.3, 0.35, 0.3]])
    text = anova(losses).explain(names=["svm", "tree", "knn"])
    assert text.startswith("tree has the smallest mean loss (0.15), svm the largest (0.55).")
    assert "is rejected at level 0.05" in text
    assert "is not rejected" in anova(losses).explain(alpha=1e-6)
    many = anova(np.stack([losses, losses[:, ::-1]]))
    assert many.explain().startswith("2 tests of 3 learners each")


def test_a_tie_for_the_smallest_is_named():
    text = anova([[1.0, 2.0], [2.0, 1.0], [5.0, 9.0]]).explain()
    assert "Learner 0 and learner 1 share" in text


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[0.1, 0.2]], "at least 2 learners"),
        ([[0.1], [0.2]], "at least 2 learners and 2 losses"),
        ([0.1, 0.2], "at least 2 axes"),
        ([[0.1, np.nan], [0.2, 0.3]], "must be finite"),
        ([["a", "b"], ["c", "d"]], "array of numbers"),
    ],
)
def test_refuses(bad, message):
    with pytest.raises(ArgumentError, match=message):
        anova(bad)


def test_refuses_names_that_do_not_fit():
    with pytest.raises(ArgumentError, match="one name for each of the 2 learners"):
        anova([[1, 2], [3, 4]]).explain(names=["a"])


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


def test_two_learners_are_the_paired_t():
    losses = table(2, (2, 8))
    t = stats.ttest_rel(*losses)
    result = repeated_measures_anova(losses)
    assert result.statistic == pytest.approx(t.statistic**2, rel=1e-11)
    assert result.pvalue == pytest.approx(t.pvalue, rel=1e-11)
    assert result.epsilons.greenhouse_geisser == 1.0
    assert result.huynh_feldt_pvalue == result.lower_bound_pvalue == result.pvalue
    assert result.sphericity.pvalue == 1.0


@pytest.mark.parametrize("shape", [(3, 6), (4, 9), (6, 5), (8, 3)])
def test_epsilons_by_contrasts(shape):
    losses = table(3, shape)
    K, n = shape
    roots = contrast_roots(losses)
    gg = roots.sum() ** 2 / ((K - 1) * (roots**2).sum())
    hf = (n * (K - 1) * gg - 2) / ((K - 1) * (n - 1 - (K - 1) * gg))
    e = epsilons(losses)
    assert e.greenhouse_geisser == pytest.approx(gg, rel=1e-10)
    assert e.huynh_feldt == pytest.approx(min(hf, 1.0), rel=1e-8)
    assert e.lower_bound == 1 / (K - 1)
    assert e.lower_bound <= e.greenhouse_geisser <= e.huynh_feldt <= 1.0


def test_corrected_pvalues():
    losses = table(4, (4, 9))
    r = repeated_measures_anova(losses)
    for epsilon, p in (
        (r.epsilons.greenhouse_geisser, r.greenhouse_geisser_pvalue),
        (r.epsilons.huynh_feldt, r.huynh_feldt_pvalue),
        (r.epsilons.lower_bound, r.lower_bound_pvalue),
    ):
        assert p == pytest.approx(stats.f.sf(r.statistic, 3 * epsilon, 24 * epsilon), rel=1e-10)
    assert r.pvalue < r.greenhouse_geisser_pvalue < r.lower_bound_pvalue


def test_mauchly_by_determinant():
    losses = table(5, (4, 11))
    p, n = 3, 10
    roots = contrast_roots(losses)
    w = roots.prod() / roots.mean() ** p
    rho = 1 - (2 * p * p + p + 2) / (6 * p * n)
    z = -n * rho * np.log(w)
    # Box's expansion as in Anderson 2003, An introduction to multivariate analysis, 10.7.4
    w2 = (
        (p + 2) * (p - 1) * (p - 2) * (2 * p**3 + 6 * p**2 + 3 * p + 2) / (288 * (p * n * rho) ** 2)
    )
    pvalue = stats.chi2.sf(z, 5) + w2 * (stats.chi2.sf(z, 9) - stats.chi2.sf(z, 5))
    m = mauchly(losses)
    assert m.w == pytest.approx(w, rel=1e-9)
    assert m.statistic == pytest.approx(z, rel=1e-9)
    assert m.df == 5.0
    assert m.pvalue == pytest.approx(pvalue, rel=1e-9)


def test_mauchly_needs_as_many_blocks_as_learners():
    assert mauchly(table(6, (6, 5))) is None
    assert repeated_measures_anova(table(6, (6, 5))).sphericity is None


def test_constant_differences():
    # Every learner a constant above the first: no interaction is left, up to rounding.
    blocks = np.array([0.13, 0.7, 0.31, 0.55])
    losses = blocks + np.array([[0.0], [0.1], [0.3]])
    result = repeated_measures_anova(losses)
    assert (result.statistic, result.pvalue) == (np.inf, 0.0)
    assert result.greenhouse_geisser_pvalue == 0.0
    # K = 3 leaves 2 contrasts, whose covariance has 2 * 3 / 2 - 1 = 2 conditions to be spherical
    assert (result.sphericity.w, result.sphericity.df, result.sphericity.pvalue) == (1.0, 2.0, 1.0)
    assert mauchly(losses[:2]).df == 0.0
    assert result.epsilons.greenhouse_geisser == 1.0


def test_identical_learners():
    result = repeated_measures_anova(np.tile([0.2, 0.9, 0.4], (5, 1)))
    assert (result.statistic, result.pvalue) == (0.0, 1.0)
    assert result.greenhouse_geisser_pvalue == result.lower_bound_pvalue == 1.0
    assert "have the same mean loss" in result.explain()


def test_two_blocks():
    result = repeated_measures_anova([[0.1, 0.3], [0.2, 0.25], [0.5, 0.9]])
    assert result.epsilons.greenhouse_geisser == pytest.approx(0.5)
    assert 0.0 < result.huynh_feldt_pvalue < 1.0
    # n = 2, K = 3 and e = 1/2 make Huynh and Feldt's formula 0 / 0: e stands
    assert result.epsilons.huynh_feldt == pytest.approx(0.5)
    # n = K = 3 and e = 1 make it 4 / 0: 1 stands
    assert epsilons(2.0 * np.eye(3)).huynh_feldt == 1.0


def test_three_hundred_learners():
    losses = np.random.default_rng(7).random((300, 5))
    assert 1 / 299 <= greenhouse_geisser(losses) <= 4 / 299 + 1e-12
    assert 0.0 < repeated_measures_anova(losses).greenhouse_geisser_pvalue < 1.0


def test_explains():
    text = repeated_measures_anova(table(8, (3, 9))).explain(names=["a", "b", "c"])
    assert "over 9 blocks, F(2, 16) = " in text
    assert "Greenhouse and Geisser's epsilon" in text
    assert "Mauchly's W" in text


def test_refuses_leading_axes():
    with pytest.raises(ArgumentError, match=r"shape \(K learners, blocks\)"):
        repeated_measures_anova(np.zeros((2, 3, 4)))


def test_huynh_and_feldt_is_at_most_one():
    from bestofk.papers.stats.analysis_of_variance import epsilons

    table = np.array([[2.0, 0, 0, 1, 5, 3], [0, 2, 0, 4, 1, 3], [0, 0, 2, 2, 3, 1]])
    result = epsilons(table)
    # K = 3, n = 6: the formula of Huynh and Feldt gives (12 e - 2) / (2 (5 - 2 e)) = 1.17
    e = result.greenhouse_geisser
    assert (12 * e - 2) / (2 * (5 - 2 * e)) > 1.1
    assert result.huynh_feldt == 1.0


def test_mauchly_takes_exactly_as_many_blocks_as_learners():
    square = np.array([[2.0, 0, 1], [0, 2, 4], [1, 5, 2]])
    assert mauchly(square) is not None
    assert mauchly(square[:, :2]) is None
