"""Repeated measures against statsmodels, and epsilons and sphericity against their definitions."""

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, stats
from statsmodels.stats.anova import AnovaRM

from bestofk._base.errors import ArgumentError
from bestofk.stats.multiple import repeated_measures_anova
from bestofk.stats.multiple.analysis_of_variance import epsilons, greenhouse_geisser, mauchly


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
    from bestofk.stats.multiple.analysis_of_variance import epsilons

    table = np.array([[2.0, 0, 0, 1, 5, 3], [0, 2, 0, 4, 1, 3], [0, 0, 2, 2, 3, 1]])
    found = epsilons(table)
    # K = 3, n = 6: the formula of Huynh and Feldt gives (12 e - 2) / (2 (5 - 2 e)) = 1.17
    e = found.greenhouse_geisser
    assert (12 * e - 2) / (2 * (5 - 2 * e)) > 1.1
    assert found.huynh_feldt == 1.0


def test_mauchly_takes_exactly_as_many_blocks_as_learners():
    square = np.array([[2.0, 0, 1], [0, 2, 4], [1, 5, 2]])
    assert mauchly(square) is not None
    assert mauchly(square[:, :2]) is None
