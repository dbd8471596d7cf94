"""Expected values: statsmodels (exact and corrected), hand calculation, Tango's own example."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise import mcnemar


def wrongs(both, only_a, only_b, neither):
    a = [1] * both + [1] * only_a + [0] * only_b + [0] * neither
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    return np.array(a), np.array(b)


counts = st.integers(0, 40)


@given(counts, counts, counts)
def test_agrees_with_statsmodels(both, only_a, only_b):
    a, b = wrongs(both, only_a, only_b, 5)
    table = [[both, only_a], [only_b, 5]]
    exact = mcnemar(a, b, exact=True)
    assert exact.pvalue == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue, rel=1e-10)
    assert exact.statistic == min(only_a, only_b)
    if only_a != only_b:  # there statsmodels squares |n01 - n10| - 1 = -1
        want = statsmodels_mcnemar(table, exact=False, correction=True)
        plain = mcnemar(a, b)
        assert plain.statistic == pytest.approx(want.statistic, rel=1e-12)
        assert plain.pvalue == pytest.approx(want.pvalue, rel=1e-11)


def test_one_sided_is_the_signed_root():
    a, b = wrongs(3, 21, 9, 40)
    r = mcnemar(a, b, alternative="greater")
    root = (21 - 9 - 1) / sqrt(30)
    assert r.statistic == pytest.approx(root, rel=1e-14)
    assert r.pvalue == pytest.approx(stats.norm.sf(root), rel=1e-12)
    assert mcnemar(a, b, alternative="less").pvalue == pytest.approx(stats.norm.cdf(root))
    assert mcnemar(a, b).pvalue == pytest.approx(2 * r.pvalue, rel=1e-12)
    exact = mcnemar(a, b, exact=True, alternative="greater")
    assert exact.statistic == 21
    assert exact.pvalue == pytest.approx(stats.binom.sf(20, 30, 0.5), rel=1e-11)
    assert r.estimate == pytest.approx(12 / 73)


def test_auto_is_exact_below_25_disagreements():
    for only_a, only_b, exact in ((16, 8, True), (17, 8, False)):
        a, b = wrongs(2, only_a, only_b, 2)
        assert mcnemar(a, b, exact="auto").pvalue == mcnemar(a, b, exact=exact).pvalue
    a = np.stack([wrongs(2, 16, 8, 3)[0], wrongs(2, 17, 8, 2)[0]])
    b = np.stack([wrongs(2, 16, 8, 3)[1], wrongs(2, 17, 8, 2)[1]])
    both = mcnemar(a, b, exact="auto").pvalue
    assert both[0] == mcnemar(a[0], b[0], exact=True).pvalue
    assert both[1] == mcnemar(a[1], b[1], exact=False).pvalue


def uncorrected_score(only_a, only_b, n, delta):
    """Tango 1998, eq. 9, with the restricted estimate found by maximising the likelihood."""
    from scipy.optimize import minimize_scalar

    def loss(q):  # probabilities only_a: q + delta, only_b: q, agreement: the rest
        p = np.array([q + delta, q, 1 - 2 * q - delta])
        return -(np.array([only_a, only_b, n - only_a - only_b]) * np.log(p)).sum()

    low, high = max(0.0, -delta), (1 - delta) / 2
    q = minimize_scalar(loss, bounds=(low + 1e-12, high - 1e-12), method="bounded",
                        options={"xatol": 1e-12}).x  # fmt: skip
    return (only_a - only_b - n * delta) / sqrt(n * (2 * q + delta * (1 - delta)))


def test_interval_inverts_the_score_test():
    a, b = wrongs(40, 12, 2, 14)
    low, high = mcnemar(a, b).confidence_interval(0.95)
    assert low < 10 / 68 < high
    assert uncorrected_score(12, 2, 68, low) == pytest.approx(1.959963985, abs=1e-4)
    assert uncorrected_score(12, 2, 68, high) == pytest.approx(-1.959963985, abs=1e-4)
    single = mcnemar(a, b, alternative="greater").confidence_interval(0.975)
    assert single == pytest.approx((low, inf))


def test_mcnemar_interval_agrees_with_its_pvalue():
    # chi-squared = 36 / 11 with the correction for continuity: p = 0.0704; the score without it
    # is 7 / sqrt(11) = 2.11
    a, b = wrongs(43, 9, 2, 14)
    result = mcnemar(a, b)
    assert result.pvalue == pytest.approx(0.0704, abs=5e-5)
    low, high = result.confidence_interval(0.95)
    assert low == 0.0
    assert uncorrected_score(9, 2, 68, high) == pytest.approx(-1.959963985, abs=1e-4)
    assert result.confidence_interval(0.9).low > 0


def test_interval_without_any_disagreement_is_symmetric():
    a, _ = wrongs(6, 0, 0, 14)
    low, high = mcnemar(a, a).confidence_interval(0.95)
    assert low == pytest.approx(-high, abs=1e-12)
    # the score test of delta accepts while 20 delta^2 / (delta (1 - delta)) <= z^2
    z_squared = 1.959963984540054**2
    assert high == pytest.approx(z_squared / (20 + z_squared), rel=1e-9)
    swapped = mcnemar(*wrongs(0, 2, 9, 14)).confidence_interval()
    plain = mcnemar(*wrongs(0, 9, 2, 14)).confidence_interval()
    assert swapped == pytest.approx((-plain.high, -plain.low), rel=1e-9)


def test_refusals():
    with pytest.raises(ArgumentError, match=r"wrong_a must contain only 0 and 1; got 0.5"):
        mcnemar([0.5, 1], [1, 0])
    with pytest.raises(ArgumentError, match="wrong_b"):
        mcnemar([0, 1], [2, 0])
    with pytest.raises(ArgumentError, match="exact must be"):
        mcnemar([0, 1], [1, 0], exact="always")
    assert mcnemar([True, False], [False, False]).estimate == 0.5
    assert (
        mcnemar([1, 1, 0, 0], [0, 0, 1, 0]).note
        == "Only the first errs 2 times, only the second 1."
    )
