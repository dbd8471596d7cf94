"""Intervals of an error rate against exact fractions, mpmath and statsmodels."""

import warnings
from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestofk._base.errors import ArgumentError, BestOfKWarning
from bestofk.stats import intervals

TWO_SIDED = (intervals.normal, intervals.wilson, intervals.clopper_pearson)


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BestOfKWarning)
        return function(*args, **kwargs)


def at_most(k, n, p):
    """P(Bin(n, p) <= k), p a Fraction or mpf, summed term by term."""
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(
    ("function", "name"),
    [
        (intervals.normal, "normal"),
        (intervals.wilson, "wilson"),
        (intervals.clopper_pearson, "beta"),
    ],
)
def test_equals_statsmodels(function, name, level):
    from statsmodels.stats.proportion import proportion_confint

    k = np.array([1, 7, 30, 77, 299])
    n = np.array([10, 8, 100, 1000, 300])
    low, high = proportion_confint(k, n, alpha=1 - level, method=name)
    r = quiet(function, k, n, level)
    if name == "normal":  # statsmodels cuts off at 0 and 1
        np.testing.assert_allclose(np.clip(r.low, 0, 1), low, rtol=1e-12)
        np.testing.assert_allclose(np.clip(r.high, 0, 1), high, rtol=1e-12)
    else:
        np.testing.assert_allclose(r.low, low, rtol=1e-9)
        np.testing.assert_allclose(r.high, high, rtol=1e-9)
    np.testing.assert_array_equal(r.estimate, k / n)


def test_wilson_by_hand():
    # k = 1, n = 4, z^2 = 1 (level erf(1/sqrt 2)): roots of (1/4 - p)^2 = p (1 - p) / 4,
    # that is 5 p^2 - 3 p + 1/4 = 0: p = (3 -+ 2) / 10.
    r = intervals.wilson(1, 4, level=float(mpmath.erf(1 / mpmath.sqrt(2))))
    assert (r.low, r.high) == (pytest.approx(0.1, rel=1e-14), pytest.approx(0.5, rel=1e-14))


@given(st.integers(1, 25), st.data())
def test_bound_in_exact_fractions(n, data):
    k = data.draw(st.integers(0, n))
    delta = data.draw(st.sampled_from([Fraction(1, 20), Fraction(1, 3), Fraction(1, 10**6)]))
    high = Fraction(intervals.test_set_bound(k, n, float(delta)).high)
    if k == n:
        assert high == 1
        return
    width = Fraction(1, 10**9)
    assert at_most(k, n, high * (1 - width)) > delta > at_most(k, n, min(high * (1 + width), 1))


@given(st.integers(2, 400), st.data())
def test_laws_of_two_sided_intervals(n, data):
    k = data.draw(st.integers(0, n))
    level = data.draw(st.sampled_from([0.5, 0.9, 0.95, 0.999]))
    for function in TWO_SIDED:
        r = quiet(function, k, n, level)
        mirrored = quiet(function, n - k, n, level)
        assert r.low <= r.estimate <= r.high
        assert r.low == pytest.approx(1 - mirrored.high, abs=1e-12)
        wider = quiet(function, k, n, 0.9999)
        assert wider.low <= r.low
        assert wider.high >= r.high
    exact = intervals.clopper_pearson(k, n, level)
    one_sided = intervals.test_set_bound(k, n, (1 - level) / 2)
    assert exact.high == one_sided.high


def test_clopper_pearson_covers_at_its_level():
    n, level = 30, 0.9
    r = intervals.clopper_pearson(np.arange(n + 1), n, level)
    for p in np.linspace(0.01, 0.99, 33):
        pmf = [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        assert np.dot(pmf, (r.low <= p) & (p <= r.high)) >= level


def test_normal_warns_and_does_not_cut_off():
    with pytest.warns(BestOfKWarning, match="below 5"):
        r = intervals.normal(1, 10)
    assert r.low < 0
    assert "leaves the range" in r.explain()
    with pytest.warns(BestOfKWarning, match="in 2 of 3 cases"):
        intervals.normal([1, 5, 50], [10, 10, 100])
    # n p (1 - p) = 5 exactly: no warning (which would be an error here).
    intervals.normal(10, 20)


def test_explains_itself():
    assert intervals.clopper_pearson(1, 20).explain() == (
        "1 error on 20 instances: the error rate is 0.05, with a 95 % confidence interval "
        "(Clopper-Pearson) from 0.001265 to 0.2487."
    )
    assert "at most 0.3437" in intervals.test_set_bound(3, 20).explain()
    assert "share 0.05" in intervals.test_set_bound(3, 20).explain()
    assert "at least" in intervals.test_set_bound(3, 20, side="lower").explain()
    assert "below 5" in quiet(intervals.normal, 4, 30).explain()


@pytest.mark.parametrize(
    ("k", "n", "level", "message"),
    [
        (-1, 10, 0.95, "between 0 and n"),
        (11, 10, 0.95, "between 0 and n"),
        (0, 0, 0.95, "n must be at least 1"),
        (1.5, 10, 0.95, "whole number"),
        (1, 10, 1.0, "level must be strictly between"),
        (1, 10, 95, "level must be strictly between"),
        (float("nan"), 10, 0.95, "finite"),
        ([1, 2], [10, 20, 30], 0.95, "shapes"),
        ("three", 10, 0.95, "array of numbers"),
    ],
)
@pytest.mark.parametrize("function", TWO_SIDED)
def test_refuses(function, k, n, level, message):
    with pytest.raises(ArgumentError, match=message):
        function(k, n, level)


def test_counts_up_to_those_that_scipy_inverts():
    assert intervals.wilson(0, 10**8).n == 10**8
    with pytest.raises(ArgumentError, match="at most 100,000,000"):
        intervals.clopper_pearson(0, 10**9)


def test_bound_refuses():
    with pytest.raises(ArgumentError, match="delta must be strictly"):
        intervals.test_set_bound(1, 10, 0)
    with pytest.raises(ArgumentError, match="side must be one of"):
        intervals.test_set_bound(1, 10, side="both")
