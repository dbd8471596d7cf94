import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from bestofk.decide.power import (
    five_by_two_f_power,
    five_by_two_t_power,
    mcnemar_power,
    permutation_power,
    signed_rank_power,
    t_noncentrality,
    t_power,
)
from bestofk.decide.power.functions import critical_sum, rejected_flips
from bestofk.stats import pairwise


def within(count, trials, p, width=0.0):
    """Whether `count` of `trials` is what probability p (give or take `width`) gives, to 1e-4."""
    low = stats.binom.ppf(5e-5, trials, max(p - width, 0.0))
    high = stats.binom.ppf(1 - 5e-5, trials, min(p + width, 1.0))
    return low <= count <= high


@pytest.mark.parametrize("df", [1, 2, 5, 9, 40, 41, 99, 9999])
@pytest.mark.parametrize("level", [0.05, 0.0005])
def test_t_power_is_that_of_the_noncentral_t_of_scipy(df, level):
    ncp = np.array([0.0, 0.5, 2.0, 5.0, 20.0])
    c = stats.t.isf(level / 2, df)
    # scipy has NaN in the far tail where nothing is left
    expected = stats.nct.sf(c, df, ncp) + np.nan_to_num(stats.nct.cdf(-c, df, ncp))
    np.testing.assert_allclose(t_power(ncp, df, level), expected, atol=1e-8)


def test_t_power_of_a_known_spread_is_that_of_the_normal_distribution():
    expected = stats.norm.sf(1.959963984540054 - 1.5) + stats.norm.cdf(-1.959963984540054 - 1.5)
    assert t_power(1.5, np.inf, 0.05) == pytest.approx(expected, abs=1e-12)


def test_t_power_takes_infinite_noncentrality_and_broadcasts():
    result = t_power([[1.0], [np.inf]], [4.0, 50.0], 0.05)
    assert result.shape == (2, 2)
    assert (result[1] == 1.0).all()


@given(
    power=st.floats(0.1, 0.99), df=st.floats(1.0, 500.0), level=st.sampled_from([0.05, 0.005, 1e-4])
)
@settings(max_examples=40, deadline=None)
def test_noncentrality_is_the_inverse_of_power(power, df, level):
    assert t_power(t_noncentrality(power, df, level), df, level) == pytest.approx(power, abs=1e-7)


def test_sample_size_of_a_textbook():
    # Cohen (1988), Table 2.4.1: two-sided .05, power .80, one-sample d = .5 needs n = 34
    # (exact noncentral t: G*Power 3.1 prints n = 34, power .808)
    assert t_power(0.5 * np.sqrt(34), 33, 0.05) == pytest.approx(0.8077775, abs=1e-6)
    assert t_power(0.5 * np.sqrt(33), 32, 0.05) < 0.8


def test_the_combined_f_keeps_below_its_level_as_computed_from_f():
    # with all runs alike f = 1/2 + F(1, 5) / 2, with independent ones 1/2 + F(5, 5) / 2
    c = 2 * stats.f.isf(0.05, 10, 5) - 1
    assert five_by_two_f_power(0.0, 0.05, 0.5) == pytest.approx(stats.f.sf(c, 1, 5), abs=1e-6)
    assert five_by_two_f_power(0.0, 0.05, 0.0) == pytest.approx(stats.f.sf(c, 5, 5), abs=1e-6)
    noncentral = stats.ncf.sf(c, 1, 5, 2 * 1.5**2)
    assert five_by_two_f_power(1.5, 0.05, 0.5) == pytest.approx(noncentral, abs=1e-6)


@pytest.mark.parametrize("correlation", [0.1, 0.5])
def test_five_by_two_power_is_what_the_tests_do(correlation):
    rng = np.random.default_rng(5)
    many, effect = 20_000, 2.0
    shared = np.sqrt(correlation) * rng.standard_normal((many, 1))
    own = np.sqrt(0.5 - correlation) * rng.standard_normal((many, 5))
    gap = np.sqrt(0.5) * rng.standard_normal((many, 5))
    mean = effect + shared + own
    d = np.stack([mean + gap, mean - gap], axis=2)
    zero = np.zeros((5, 2))
    f = int((pairwise.five_by_two_f(d, zero).pvalue <= 0.05).sum())
    t = int((pairwise.five_by_two_t(d, zero).pvalue <= 0.05).sum())
    assert within(f, many, float(five_by_two_f_power(effect, 0.05, correlation)))
    assert within(t, many, float(five_by_two_t_power(effect, 0.05)))


def test_critical_sums_are_those_of_the_tables():
    # Wilcoxon's table, two-sided .05 and .01 (Siegel 1956, Table G)
    assert [critical_sum(n, 0.05) for n in (6, 8, 10, 15, 20, 25)] == [0, 3, 8, 25, 52, 89]
    assert [critical_sum(n, 0.01) for n in (7, 8, 10, 15, 20, 25)] == [-1, 0, 3, 15, 37, 68]


@pytest.mark.parametrize(("n", "effect", "level"), [(8, 1.2, 0.05), (15, 0.8, 0.005),
                                                    (25, 0.6, 0.05), (30, 0.6, 0.005)])  # fmt: skip
def test_signed_rank_power_is_what_the_test_does(n, effect, level):
    rng = np.random.default_rng(n)
    d = rng.normal(effect, 1.0, (4000, n))
    rejected = int((pairwise.wilcoxon(d, np.zeros(n)).pvalue <= level).sum())
    assert within(rejected, 4000, float(signed_rank_power(effect, n, level)), width=0.02)


@pytest.mark.parametrize(("n", "effect", "level"), [(6, 1.5, 0.05), (10, 1.2, 0.005),
                                                    (13, 0.8, 0.05)])  # fmt: skip
def test_permutation_power_is_what_the_test_does(n, effect, level):
    rng = np.random.default_rng(n)
    d = rng.normal(effect, 1.0, (1000, n))
    rejected = int((pairwise.permutation(d, np.zeros(n)).pvalue <= level).sum())
    assert within(rejected, 1000, float(permutation_power(effect, n, level)), width=0.02)


def test_six_differences_all_on_one_side_is_all_that_permutation_rejects():
    # at .05 one of 64 sign patterns in each tail: P(all positive) + P(all negative)
    expected = stats.norm.cdf(1.0) ** 6 + stats.norm.cdf(-1.0) ** 6
    assert rejected_flips(6, 0.05) == 1
    assert within(round(5000 * float(permutation_power(1.0, 6, 0.05))), 5000, expected)


def mcnemar_by_enumeration(n, discordance, difference, level):
    """All numbers n10 and n01 of a small test set, each judged by the test itself."""
    p = [(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance]
    total = 0.0
    for n10 in range(n + 1):
        for n01 in range(n + 1 - n10):
            wrong = np.zeros((2, n))
            wrong[0, :n10] = 1
            wrong[1, n10 : n10 + n01] = 1
            if pairwise.mcnemar(*wrong, exact="auto").pvalue <= level:
                total += stats.multinomial.pmf([n10, n01, n - n10 - n01], n, p)
    return total


@pytest.mark.parametrize(("difference", "level"), [(0.0, 0.05), (0.3, 0.05), (0.4, 0.01)])
def test_mcnemar_power_is_the_sum_over_all_test_sets(difference, level):
    expected = mcnemar_by_enumeration(30, 0.6, difference, level)
    assert mcnemar_power(30, 0.6, difference, level) == pytest.approx(expected, abs=1e-10)


def test_mcnemar_power_of_many_instances_is_near_the_normal_one():
    # Connor (1987): n = (z_a sqrt(q) + z_b sqrt(q - d^2))^2 / d^2
    n, q, d = 2_000_000, 0.1, 0.0006
    z = d * np.sqrt(n) / np.sqrt(q)
    assert mcnemar_power(n, q, d, 0.05) == pytest.approx(float(t_power(z, np.inf, 0.05)), abs=2e-3)


@given(
    effect=st.floats(0.0, 3.0), more=st.floats(0.0, 2.0), n=st.integers(6, 40),
    level=st.sampled_from([0.05, 0.005]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_power_rises_with_the_effect_and_lies_between_0_and_1(effect, more, n, level):
    for power in (
        lambda e: signed_rank_power(e, n, level),
        lambda e: permutation_power(e, n, level),
        lambda e: t_power(e * np.sqrt(n), n - 1, level),
        lambda e: five_by_two_f_power(e, level),
        lambda e: five_by_two_t_power(e, level),
        lambda e: mcnemar_power(10 * n, 0.6, e / 10, level),
    ):
        low, high = float(power(effect)), float(power(effect + more))
        assert -1e-12 <= low <= high + 1e-9 <= 1 + 1e-8
