"""The studentized range against Student's t, mpmath, scipy and published tables."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import special, stats

from bestofk._base.errors import ArgumentError
from bestofk.papers.stats.studentized_range import quantile, survival


def by_mpmath(q, k, df=None):
    """The textbook integral, 1 - k int phi(z) (Phi(z) - Phi(z - q))^(k-1) dz, averaged over the
    scale: plain sums with 40 digits and other steps than ours."""
    with mp.workdps(40):

        def known(u):
            h = mp.mpf(1) / 12
            z = [(n + mp.mpf("0.3")) * h for n in range(-190, 200)]
            return 1 - k * h * mp.fsum(
                mp.npdf(x) * (mp.ncdf(x) - mp.ncdf(x - u)) ** (k - 1) for x in z
            )

        if df is None:
            return known(mp.mpf(q))
        nu = mp.mpf(df)
        c = 2 * (nu / 2) ** (nu / 2) / mp.gamma(nu / 2)
        h = 1 / mp.sqrt(2 * nu) / 3
        peak = mp.log(nu / (nu + mp.mpf(q) ** 2 / 2)) / 2
        s = [peak + (n + mp.mpf("0.4")) * h for n in range(-60, 45)]
        return h * mp.fsum(
            c * mp.exp(nu * x - nu / 2 * mp.exp(2 * x)) * known(q * mp.exp(x)) for x in s
        )


@pytest.mark.parametrize("df", [0.5, 1, 2, 3, 7, 10, 40, 300, 2700, 1e6, math.inf])
def test_two_means_are_students_t(df):
    q = np.array([1e-6, 0.01, 0.5, 1.0, 3.0, 6.0, 15.0, 30.0, 52.0])
    t = q / math.sqrt(2.0)
    exact = 2.0 * (special.ndtr(-t) if math.isinf(df) else special.stdtr(df, -t))
    np.testing.assert_allclose(survival(q, groups=2, df=df), exact, rtol=1e-10)


def test_tail_reaches_the_smallest_numbers():
    # erfc(q / 2) for two means; 1.3e-304 at q = 52.8.
    q = np.array([40.0, 52.0, 52.8])
    np.testing.assert_allclose(survival(q, groups=2), special.erfc(q / 2), rtol=1e-12)
    # Far out the pairs are disjoint events: k (k - 1) / 2 times that of one pair.
    pairs = 300 * 299 / 2
    np.testing.assert_allclose(survival(q, groups=300), pairs * special.erfc(q / 2), rtol=1e-9)


@pytest.mark.parametrize("k", [3, 10, 300])
@pytest.mark.parametrize("q", [0.7, 4.0, 9.0])
def test_known_scale_equals_mpmath(q, k):
    expected = by_mpmath(q, k)
    assert abs(float(survival(q, groups=k)) / expected - 1) < 1e-12


# by_mpmath(q, k, df), kept because each takes many seconds.
MPMATH_FINITE = [(4.2, 5, 20, 0.052353576673558355), (25.0, 3, 30, 6.17340207116729069e-17)]


@pytest.mark.parametrize(("q", "k", "df", "expected"), MPMATH_FINITE)
def test_finite_df_equals_mpmath(q, k, df, expected):
    assert float(survival(q, groups=k, df=df)) == pytest.approx(expected, rel=1e-12)


# scipy.stats.studentized_range is good to 1e-9 only for moderate k, q and df: in the tails it
# loses digits to 1 - cdf, for k = 300 and small df it is off by up to 1e-5.
@pytest.mark.parametrize("k", [3, 10, 50])
@pytest.mark.parametrize("df", [2, 5, 40, math.inf])
def test_equals_scipy_where_scipy_is_good(k, df):
    for q in (1.5, 3.0, 4.5):
        expected = stats.studentized_range.sf(q, k, df)
        assert float(survival(q, groups=k, df=df)) == pytest.approx(expected, rel=2e-9)


# Upper 5 and 1 percent points as printed in the tables of Harter (1960), to three decimals.
PRINTED = [
    (0.05, 3, 10, 3.877),
    (0.05, 5, 20, 4.232),
    (0.05, 4, 20, 3.958),
    (0.05, 2, 10, 3.151),
    (0.05, 20, math.inf, 5.012),
    (0.05, 10, math.inf, 4.474),
    (0.01, 3, 10, 5.270),
    (0.01, 3, 20, 4.639),
]


@pytest.mark.parametrize(("alpha", "k", "df", "printed"), PRINTED)
def test_printed_tables(alpha, k, df, printed):
    assert float(quantile(alpha, groups=k, df=df)) == pytest.approx(printed, abs=0.00101)


def test_printed_values_of_nemenyi():
    # Demsar 2006, Table 5(a): q / sqrt(2) for 2 to 10 classifiers.
    k = np.arange(2, 11)
    at_05 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    at_10 = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]
    np.testing.assert_allclose(quantile(0.05, groups=k) / math.sqrt(2), at_05, atol=0.00101)
    np.testing.assert_allclose(quantile(0.10, groups=k) / math.sqrt(2), at_10, atol=0.00101)


@settings(max_examples=15, deadline=None)
@given(
    alpha=st.floats(1e-12, 0.999),
    k=st.integers(2, 400),
    df=st.sampled_from([3.0, 8.0, 60.0, 999.0, math.inf]),
)
def test_quantile_inverts_survival(alpha, k, df):
    q = quantile(alpha, groups=k, df=df)
    assert float(survival(q, groups=k, df=df)) == pytest.approx(alpha, rel=1e-12)


def test_ends():
    for df in (4.0, math.inf):
        assert survival([0.0, np.inf], groups=5, df=df).tolist() == [1.0, 0.0]
        assert float(survival(1e-8, groups=5, df=df)) == pytest.approx(1.0)


def test_refuses():
    with pytest.raises(ArgumentError, match="groups of at least 2"):
        survival(1.0, groups=1)
    with pytest.raises(ArgumentError, match="q of at least 0"):
        survival(-1.0, groups=3)
    with pytest.raises(ArgumentError, match="alpha between 0 and 1"):
        quantile(1.0, groups=3)


def test_one_degree_of_freedom_is_allowed():
    # two means: q = sqrt(2) t, and with 1 df t(.975) is tan(.475 pi), the Cauchy quantile
    result = float(quantile(0.05, groups=2, df=1))
    assert result == pytest.approx(np.sqrt(2) * np.tan(0.475 * np.pi), rel=1e-9)
    assert float(quantile(0.05, groups=2, df=0.5)) > result


def test_each_value_with_its_own_number_of_groups():
    q, k = np.linspace(0.5, 6, 60), np.where(np.arange(60) % 2, 3, 8)
    together = survival(q, groups=k, df=12.0)
    for groups in (3, 8):
        rows = np.flatnonzero(k == groups)
        alone = stats.studentized_range.sf(q[rows[::10]], groups, 12.0)
        np.testing.assert_allclose(together[rows[::10]], alone, rtol=1e-7)
