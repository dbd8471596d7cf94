"""A 1 - alpha interval excludes 0 exactly if the p-value is at most alpha."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestofk.stats.pairwise import mcnemar, paired_t, sign, wilcoxon
from bestofk.stats.pairwise.signed_ranks import nth_walsh_average, walsh_averages_at

ALTERNATIVES = ("two-sided", "greater", "less")
LEVELS = (0.5, 0.75, 0.8, 0.9, 0.9375, 0.95, 0.96875, 0.99, 0.999)
TESTS = {
    "sign": (sign, {}),
    "wilcoxon": (wilcoxon, {}),
    "wilcoxon, pratt": (wilcoxon, {"zeros": "pratt"}),
    "wilcoxon, split": (wilcoxon, {"zeros": "split"}),
    "wilcoxon, normal": (wilcoxon, {"method": "normal"}),
    "paired-t": (paired_t, {"resolution": 1.0}),
    "mcnemar": (mcnemar, {}),
    "mcnemar, exact": (mcnemar, {"exact": True}),
    "mcnemar, auto": (mcnemar, {"exact": "auto"}),
}
every_test = pytest.mark.parametrize("name", TESTS)


def pairs(name, d):
    """Losses with these differences; zero-one ones of their signs for McNemar's test."""
    d = np.asarray(d, dtype=float)
    if TESTS[name][0] is mcnemar:
        return (d > 0).astype(float), (d < 0).astype(float)
    return d, np.zeros_like(d)


def agrees(name, d, alternative, level):
    function, options = TESTS[name]
    result = function(*pairs(name, d), alternative=alternative, **options)
    low, high = (np.asarray(end) for end in result.confidence_interval(level))
    assert (low <= high).all()
    assert not np.isnan([low, high]).any()
    if alternative == "greater":
        assert (high == np.inf).all()
    if alternative == "less":
        assert (low == -np.inf).all()
    p = np.asarray(result.pvalue)
    outside = (low > 0) | (high < 0)
    # a p-value that is 1 - level but for rounding is on no side; t of equal means on none
    close = np.abs(p - (1 - level)) < 1e-9
    if name == "paired-t":
        close |= np.asarray(result.estimate) == 0
    return ((outside == (p <= 1 - level)) | (close & (name == "paired-t"))).all()


@every_test
@settings(max_examples=60, deadline=None)
@given(
    d=st.lists(st.integers(-3, 3), min_size=2, max_size=14),
    alternative=st.sampled_from(ALTERNATIVES),
    level=st.sampled_from(LEVELS),
)
def test_whole_steps(name, d, alternative, level):
    assert agrees(name, d, alternative, level)


@every_test
@settings(max_examples=40, deadline=None)
@given(
    d=st.lists(
        st.one_of(st.just(0.0), st.floats(-1, 1), st.sampled_from([0.1, -0.1, 0.3])),
        min_size=2,
        max_size=30,
    ),
    alternative=st.sampled_from(ALTERNATIVES),
    level=st.sampled_from(LEVELS),
)
def test_any_differences(name, d, alternative, level):
    assert agrees(name, d, alternative, level)


@every_test
@pytest.mark.parametrize(("place", "n"), list(enumerate([6, 20, 100, 101, 140])))
def test_many_tables(name, place, n):
    rng = np.random.default_rng(n)
    d = rng.integers(-4, 5, (150, n)) * (rng.random((150, n)) < 0.7)
    d = d + rng.integers(0, 2, (150, 1)) * (rng.random((150, n)) < 0.2)
    # each alternative with each level, at one number or another
    levels = np.roll([0.8, 0.95, 0.99], place)
    for alternative, level in zip(ALTERNATIVES, levels, strict=True):
        assert agrees(name, d, alternative, level)


@every_test
def test_levels_are_nested(name):
    rng = np.random.default_rng(3)
    d = rng.integers(-2, 4, (60, 15))
    function, options = TESTS[name]
    result = function(*pairs(name, d), **options)
    narrow, wide = (result.confidence_interval(level) for level in (0.8, 0.95))
    assert (wide.low <= narrow.low).all()
    assert (narrow.high <= wide.high).all()


def test_nothing_moves_where_nothing_is_tied():
    # without ties and zeros the order statistics and the test agree by themselves
    rng = np.random.default_rng(4)
    d = rng.normal(0.3, 1, (300, 12))
    result = wilcoxon(d, d * 0)
    low, high = result.confidence_interval(0.9)
    # n = 12: P(W <= 17) = 0.0461, P(W <= 18) = 0.0549 (tables of the signed rank test)
    for row in range(0, 300, 30):
        ordered = np.sort(d[row])
        assert low[row] == pytest.approx(nth_walsh_average(ordered, 17), rel=1e-12)
        assert high[row] == pytest.approx(nth_walsh_average(ordered, 78 - 1 - 17), rel=1e-12)


def test_walsh_averages_of_many_columns():
    x = np.sort(np.random.default_rng(0).normal(size=(31, 400)), axis=0)
    low, high = walsh_averages_at(x, (40, 455))
    for column in (0, 17, 399):
        assert low[column] == nth_walsh_average(x[:, column], 40)
        assert high[column] == nth_walsh_average(x[:, column], 455)
    long = np.sort(np.random.default_rng(0).normal(size=(1100, 2)), axis=0)
    assert walsh_averages_at(long, (5, 70))[1][1] == nth_walsh_average(long[:, 1], 70)
