"""One-way analysis of variance against scipy, exact fractions and its limits."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.stats.multiple import anova


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
    one, other = anova(losses), anova(losses * unit)
    assert other.statistic == pytest.approx(one.statistic, rel=1e-12)
    assert other.pvalue == pytest.approx(one.pvalue, rel=1e-12)


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
