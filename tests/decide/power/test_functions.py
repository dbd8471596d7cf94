import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from bestofk.decide.power import halves_power, mcnemar_power, t_power, unit_power
from bestofk.decide.power.simulated import DRAWS
from bestofk.stats import pairwise


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


def test_sample_size_of_a_textbook():
    # Cohen (1988), Table 2.4.1: two-sided .05, power .80, one-sample d = .5 needs n = 34
    # (exact noncentral t: G*Power 3.1 prints n = 34, power .808)
    assert t_power(0.5 * np.sqrt(34), 33, 0.05) == pytest.approx(0.8077775, abs=1e-6)
    assert t_power(0.5 * np.sqrt(33), 32, 0.05) < 0.8


ERROR = 4 * np.sqrt(0.25 / DRAWS)
"""Four standard errors of a simulated power, 4.5 points."""


@pytest.mark.parametrize(
    ("n", "effect", "level", "expected"),
    # computed once with 20,000 simulations of each test (permutation: 5,000)
    [
        (6, 1.0, 0.05, {"wilcoxon": 0.357, "permutation": 0.355, "skew-corrected-t": 0.180}),
        (8, 1.2, 0.05, {"wilcoxon": 0.765, "permutation": 0.800, "skew-corrected-t": 0.507}),
        (12, 0.9, 0.0125, {"wilcoxon": 0.546, "permutation": 0.564, "skew-corrected-t": 0.297}),
        (15, 0.8, 0.005, {"wilcoxon": 0.401, "permutation": 0.443, "skew-corrected-t": 0.218}),
        (25, 0.6, 0.05, {"wilcoxon": 0.801, "permutation": 0.821, "skew-corrected-t": 0.742}),
        (100, 0.3, 0.05, {"wilcoxon": 0.827, "permutation": 0.844, "skew-corrected-t": 0.828}),
    ],
)
def test_simulated_power_of_units(n, effect, level, expected):
    for test, power in expected.items():
        assert unit_power(test, effect, n, level) == pytest.approx(power, abs=ERROR)


@pytest.mark.parametrize(
    ("test", "expected"),
    # by numerical integration over the distributions of the statistics
    [("5x2cv-f", (0.1567, 0.5247, 0.9818)), ("5x2cv-t", (0.1194, 0.3885, 0.8836))],
)
def test_simulated_power_of_five_halvings(test, expected):
    assert halves_power(test, [1.0, 2.0, 4.0], 0.05) == pytest.approx(expected, abs=ERROR)


def test_the_combined_f_keeps_below_its_level_as_computed_from_f():
    # with all runs alike f = 1/2 + F(1, 5) / 2
    c = 2 * stats.f.isf(0.05, 10, 5) - 1
    assert halves_power("5x2cv-f", 0.0, 0.05) == pytest.approx(stats.f.sf(c, 1, 5), abs=ERROR)
    noncentral = stats.ncf.sf(c, 1, 5, 2 * 1.5**2)
    assert halves_power("5x2cv-f", 1.5, 0.05) == pytest.approx(noncentral, abs=ERROR)


@pytest.mark.parametrize(("test", "n"), [("wilcoxon", 5), ("permutation", 5), (None, 1)])
def test_too_few_units_show_nothing(test, n):
    assert unit_power(test, 1e3, n, 0.05) == 0.0


def test_six_differences_all_on_one_side_is_all_that_permutation_rejects():
    # at .05 one of 64 sign patterns in each tail: P(all positive) + P(all negative)
    expected = stats.norm.cdf(1.0) ** 6 + stats.norm.cdf(-1.0) ** 6
    assert unit_power("permutation", 1.0, 6, 0.05) == pytest.approx(expected, abs=ERROR)


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
@settings(max_examples=8)
def test_power_rises_with_the_effect_and_lies_between_0_and_1(effect, more, n, level):
    for power in (
        lambda e: unit_power("wilcoxon", e, n, level),
        lambda e: unit_power("permutation", e, n, level),
        lambda e: unit_power("skew-corrected-t", e, n, level),
        lambda e: t_power(e * np.sqrt(n), n - 1, level),
        lambda e: halves_power("5x2cv-f", e, level),
        lambda e: mcnemar_power(10 * n, 0.6, e / 10, level),
    ):
        low, high = float(power(effect)), float(power(effect + more))
        # claims on the wrong side become fewer, so a simulated curve can fall at first
        assert -1e-12 <= low <= high + ERROR / 4
        assert high <= 1 + 1e-8
