"""Expected values: mpmath with 60 digits, or exact fractions."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from bestofk.stats import tails


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workdps(60):
        yield


def t_upper(t, df):
    t, df = mpmath.mpf(float(t)), mpmath.mpf(float(df))
    half = mpmath.betainc(df / 2, mpmath.mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return half if t >= 0 else 1 - half


def assert_close(got, want, rel):
    assert abs(mpmath.mpf(float(got)) / want - 1) <= rel, (float(got), mpmath.nstr(want, 17))


@pytest.mark.parametrize("df", [1, 2, 2.5, 5, 9, 10, 99, 1000])
@pytest.mark.parametrize("t", [-40.0, -3.0, -1e-9, 0.0, 1e-9, 0.3, 2.0, 11.7, 300.0, 1e6, 1e40])
def test_t_tail(t, df):
    want = t_upper(t, df)
    if want > mpmath.mpf("1e-300"):
        assert_close(tails.t_sf(t, df), want, 1e-12)
    else:
        assert tails.t_sf(t, df) <= 1e-300


def test_t_tail_of_five_df_in_bulk_keeps_its_digits():
    t = np.concatenate([np.linspace(-60, 60, 241), [5.9999, 6.0, 6.0001, 1e10, 1e58, -1e10]])
    for value, got in zip(t, tails.t_sf(t, 5), strict=True):
        assert_close(got, t_upper(value, 5), 1e-12)


@pytest.mark.parametrize("df", [1, 2, 5, 9.5, 99])
@pytest.mark.parametrize("size", [1, 100])
def test_infinite_t(df, size):
    plus, minus = np.full(size, np.inf), np.full(size, -np.inf)
    assert (tails.t_sf(plus, df) == 0).all()
    assert (tails.t_sf(minus, df) == 1).all()
    assert (tails.pvalue_of_t(minus, df, "two-sided") == 0).all()
    assert (tails.pvalue_of_t(minus, df, "greater") == 1).all()
    assert (tails.pvalue_of_t(minus, df, "less") == 0).all()
    assert (tails.t_sf(np.full(size, -1e200), df) == 1).all()


@pytest.mark.parametrize("df", [1, 5, 9, 99, 3.3])
@pytest.mark.parametrize("p", [1e-20, 1e-5, 0.025, 0.4])
def test_t_quantile_inverts(p, df):
    q = tails.t_quantile(p, df)
    assert q < 0
    assert_close(p, t_upper(-q, df), 1e-9)  # scipy before 1.17 inverts to nine digits


def test_f_tail_at_the_ends_and_its_quantile():
    assert tails.f_sf(0.0, 10, 5) == 1.0
    assert tails.f_sf(np.inf, 10, 5) == 0.0
    for p in (1e-9, 0.05, 0.7):
        assert tails.f_sf(tails.f_upper_quantile(p, 10, 5), 10, 5) == pytest.approx(p, rel=1e-11)


@pytest.mark.parametrize("z", [-5.0, -0.1, 0.0, 1.96, 12.0, 37.0])
def test_normal_tail(z):
    assert_close(tails.normal_sf(z), mpmath.erfc(mpmath.mpf(z) / mpmath.sqrt(2)) / 2, 1e-12)
    both = tails.pvalue_of_z(z, "two-sided")
    assert both == pytest.approx(min(1.0, 2 * tails.normal_sf(abs(z))), rel=1e-15)
    assert tails.pvalue_of_z(z, "less") == tails.normal_sf(-z)
    assert tails.pvalue_of_z(z, "greater") == tails.normal_sf(z)


def test_binomial_tails_outside_and_without_trials():
    np.testing.assert_array_equal(tails.binomial_at_most([-1, 3, 4], 3), [0, 1, 1])
    np.testing.assert_array_equal(tails.binomial_at_least([0, 4, -2], 3), [1, 0, 1])
    for alternative in ("two-sided", "greater", "less"):
        assert tails.pvalue_of_count(0, 0, alternative) == 1.0
    assert tails.binomial_at_most(0, 990) == 0.5**990  # about 1e-298
