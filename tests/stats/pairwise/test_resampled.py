"""Expected values: scipy.stats.ttest_rel, and exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.splits import Design
from bestofk.stats.pairwise import (
    corrected_repeated_kfold_t,
    corrected_resampled_t,
    kfold_t,
)

rows = arrays(np.int64, (2, 7), elements=st.integers(0, 50))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_agrees_with_scipy(alternative, n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.32, 0.1, n), rng.normal(0.3, 0.1, n)
    want = stats.ttest_rel(a, b, alternative=alternative)
    got = kfold_t(a, b, alternative=alternative)
    assert got.statistic == pytest.approx(want.statistic, rel=1e-12)
    assert got.pvalue == pytest.approx(want.pvalue, rel=1e-11)
    assert got.df == want.df == n - 1
    assert got.estimate == pytest.approx(a.mean() - b.mean(), rel=1e-12)
    assert got.confidence_interval(0.9) == pytest.approx(
        tuple(want.confidence_interval(0.9)), rel=1e-9
    )


def parts(a, b):
    d = [Fraction(float(x)) - Fraction(float(y)) for x, y in zip(a, b, strict=True)]
    m = sum(d) / len(d)
    return m, sum((x - m) ** 2 for x in d) / (len(d) - 1)


@given(rows, st.sampled_from([None, 2.0, 3.5, 6.0]))
def test_equals_exact_arithmetic(losses, df):
    m, s_squared = parts(*losses)
    plain = kfold_t(*losses, df=df)
    corrected = corrected_resampled_t(*losses, n_train=27, n_test=4, df=df)
    degrees = 6 if df is None else df
    if s_squared == 0:
        want = 0.0 if m == 0 else np.copysign(np.inf, float(m))
        assert plain.statistic == corrected.statistic == want
        assert plain.pvalue == (1.0 if m == 0 else 0.0)
        return
    t = float(m) / sqrt(s_squared) * sqrt(degrees + 1)
    assert plain.statistic == pytest.approx(t, rel=1e-12)
    t /= sqrt(1 + 7 * 4 / 27)  # (1/n + n2/n1) over 1/n
    assert corrected.statistic == pytest.approx(t, rel=1e-12)
    assert corrected.pvalue == pytest.approx(2 * stats.t.sf(abs(t), degrees), rel=1e-11)
    assert corrected.df == degrees


def test_corrected_repeated_kfold_is_the_corrected_test_of_all_folds():
    rng = np.random.default_rng(4)
    a, b = rng.random((2, 3, 5)), rng.random((2, 3, 5))  # 2 data sets, 3 runs, 5 folds
    got = corrected_repeated_kfold_t(a, b)
    want = corrected_resampled_t(a.reshape(2, 15), b.reshape(2, 15), n_train=4, n_test=1)
    np.testing.assert_allclose(got.statistic, want.statistic, rtol=1e-13)
    np.testing.assert_allclose(got.pvalue, want.pvalue, rtol=1e-13)
    assert got.df == 14
    ratio = 37 / 162
    sizes = corrected_repeated_kfold_t(a, b, test_share=ratio)
    np.testing.assert_allclose(
        sizes.statistic, want.statistic * sqrt((1 / 15 + 1 / 4) / (1 / 15 + ratio)), rtol=1e-12
    )


def test_one_axis_is_one_run():
    rng = np.random.default_rng(4)
    a, b = rng.random(5), rng.random(5)
    single, same = corrected_repeated_kfold_t(a, b), corrected_repeated_kfold_t(a[None], b[None])
    assert single.statistic == same.statistic
    d = a - b
    t = d.mean() / np.sqrt((1 / 5 + 1 / 4) * d.var(ddof=1))
    assert single.pvalue == pytest.approx(2 * stats.t.sf(abs(t), 4), rel=1e-11)
    for mixed in ((a, b[None]), (a[None], b)):
        with pytest.raises(ArgumentError, match="at least 2 axes"):
            corrected_repeated_kfold_t(*mixed)


def test_refusals():
    with pytest.raises(ArgumentError, match="at least 2"):
        kfold_t([0.1], [0.2])
    with pytest.raises(ArgumentError, match="n_train"):
        corrected_resampled_t([0.1, 0.2], [0.2, 0.1], n_train=0, n_test=3)
    with pytest.raises(ArgumentError, match="n_test"):
        corrected_resampled_t([0.1, 0.2], [0.2, 0.1], n_train=9, n_test=[3, -3])
    with pytest.raises(ArgumentError, match=r"folds \(the last axis\) must be at least 2"):
        corrected_repeated_kfold_t([[0.1], [0.2]], [[0.2], [0.1]])


def test_a_dropped_fold_keeps_the_ratio_of_the_design():
    """Nine folds of ten: m / sqrt((1/9 + 1/9) S^2), not 1/9 + 1/8."""
    rng = np.random.default_rng(7)
    a, b = rng.normal(0.3, 0.05, (2, 9))
    left = Design(kind="cv", folds=10).select([[True] * 9 + [False]])
    d = a - b
    t = d.mean() / np.sqrt(d.var(ddof=1) * (1 / 9 + 1 / 9))
    r = corrected_repeated_kfold_t(a, b, test_share=left.test_share())
    assert r.statistic == pytest.approx(t, rel=1e-12)
    assert r.pvalue == pytest.approx(2 * stats.t.sf(abs(t), 8), rel=1e-11)
    assert r.pvalue < corrected_repeated_kfold_t(a, b).pvalue


def test_groups_bound_the_degrees_of_freedom_and_nothing_else():
    rng = np.random.default_rng(3)
    a, b = rng.random((2, 6, 5))
    plain = corrected_repeated_kfold_t(a, b)
    grouped = corrected_repeated_kfold_t(a, b, units=9)
    assert (plain.df, grouped.df) == (29.0, 8.0)
    assert grouped.statistic == plain.statistic
    # the two-sided tail of t with 8 degrees of freedom, by scipy
    assert grouped.pvalue == pytest.approx(2 * stats.t.sf(abs(plain.statistic), 8), rel=1e-12)
    assert corrected_repeated_kfold_t(a, b, units=500).pvalue == plain.pvalue
    assert corrected_repeated_kfold_t(a, b, units=9, df=12).df == 12.0
    split = corrected_resampled_t(a.ravel(), b.ravel(), n_train=4, n_test=1, units=9)
    assert split.pvalue == pytest.approx(grouped.pvalue, rel=1e-12)
    with pytest.raises(ValueError, match="units must be a whole number of at least 2"):
        corrected_repeated_kfold_t(a, b, units=1)
