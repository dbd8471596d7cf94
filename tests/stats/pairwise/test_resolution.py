"""The resolution of losses, and the smallest p-values of discrete tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.papers.stats.repeated_kfold import VARIANTS, _variance, repeated_kfold_t
from bestofk.stats.pairwise import (
    PAIRWISE_TESTS,
    all_pairs,
    corrected_repeated_kfold_t,
    five_by_two_f,
    five_by_two_t,
    kfold_t,
    resolution_of,
    smallest_pvalue,
)


def rates(n, learners=5, folds=10, seed=0, error=0.3):
    return np.random.default_rng(seed).binomial(n, error, (learners, folds)) / n


@pytest.mark.parametrize("n", [1, 2, 7, 10, 33, 100, 1000, 4096])
@pytest.mark.parametrize("unit", [1.0, 100.0, 1e-12, 1e12, np.pi])
def test_error_rates_are_multiples_of_one_row(n, unit):
    assert resolution_of(unit * rates(n)) == pytest.approx(unit / n, rel=1e-9)
    # accuracies, and means of three repetitions
    assert resolution_of(unit * (1 - rates(n))) == pytest.approx(unit / n, rel=1e-9)
    thirds = (rates(n) + rates(n, seed=1) + rates(n, seed=2)) / 3
    assert resolution_of(unit * thirds) == pytest.approx(unit / n / 3, rel=1e-9)


@given(
    st.lists(st.integers(0, 400), min_size=2, max_size=30).filter(lambda k: len(set(k)) > 1),
    st.sampled_from([0.01, 0.05, 1 / 7, 1 / 300, 3.0]),
)
def test_the_step_is_the_greatest_common_divisor(counts, unit):
    want = np.gcd.reduce(np.array(counts)) * unit
    step = resolution_of(np.array(counts) * unit)
    assert step / want == pytest.approx(round(step / want), rel=1e-9)
    assert step >= want * (1 - 1e-9)
    if unit in (1 / 7, 1 / 300):  # no decimals, so nothing may have been rounded
        assert step == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize(("n", "decimals"), [(7, 2), (30, 3), (30, 4), (33, 4), (150, 5), (300, 4)])
def test_rounded_rates_show_their_rows(n, decimals):
    assert resolution_of(rates(n).round(decimals)) == pytest.approx(1 / n, rel=0.01)
    assert resolution_of((100 * rates(n)).round(decimals)) == pytest.approx(100 / n, rel=0.01)


def test_real_losses_have_no_resolution():
    rng = np.random.default_rng(3)
    assert resolution_of(rng.random((4, 9))) == 0.0
    assert resolution_of(rng.random((4, 9)).round(3)) == pytest.approx(0.001)
    assert resolution_of(rng.random((4, 9)).round(5)) == pytest.approx(1e-5)
    for same in (np.zeros((2, 3)), np.full((2, 3), 0.3), [0.7], [], np.full((2, 2), np.nan)):
        assert resolution_of(same) == 0.0
    with pytest.raises(ArgumentError, match="values"):
        resolution_of("many")
    # rounding error alone is no step
    assert resolution_of([0.1 + 0.2, 0.3, 0.6]) == pytest.approx(0.3)


def test_constant_learners_and_missing_losses():
    assert resolution_of([[0.9] * 3, [0.1] * 3]) == pytest.approx(0.1)
    assert resolution_of([[0.5] * 3, [0.0] * 3]) == pytest.approx(0.5)
    holed = rates(10)
    holed[2, 3:6] = np.nan
    assert resolution_of(holed) == pytest.approx(0.1)


@pytest.mark.parametrize("learners", [2, 3, 10])
@pytest.mark.parametrize("seed", range(5))
def test_folds_of_unequal_size_count_one_by_one(learners, seed):
    """11, 10, 10 rows: a step of 1/110 would let folds that differ by one row each look calm."""
    rng = np.random.default_rng(seed)
    sizes = np.array([11, 10, 10, 10, 11])
    table = rng.binomial(sizes, 0.4, (learners, 5)) / sizes
    assert 0.99 / 11 < resolution_of(table) < 1.01 / 10


def test_the_smallest_variance_is_that_of_one_instance_of_each_learner():
    """Three folds that differ by 0.1 each: S^2 = 2 * 0.1^2 / 3, so t = 0.1 / sqrt(S^2 / 3)."""
    a, b = [0.3, 0.2, 0.4], [0.2, 0.1, 0.3]
    r = kfold_t(a, b, resolution=0.1)
    t = 0.1 / np.sqrt(0.02 / 3 / 3)
    assert r.statistic == pytest.approx(t)
    assert r.pvalue == pytest.approx(2 * stats.t.sf(t, 2))
    corrected = corrected_repeated_kfold_t(a, b, resolution=0.1)
    assert corrected.statistic == pytest.approx(0.1 / np.sqrt(0.02 / 3 * (1 / 3 + 1 / 2)))
    # a larger variance is left alone
    rough = kfold_t([0.5, 0.2, 0.4], [0.2, 0.1, 0.3], resolution=0.1)
    assert rough.pvalue == kfold_t([0.5, 0.2, 0.4], [0.2, 0.1, 0.3]).pvalue


@pytest.mark.parametrize("variant", [v for v in VARIANTS if not v.endswith("-averaged-t")])
def test_every_variant_counts_one_instance_in_one_fold(variant):
    """The variance that the variant itself gives one step among zeros, twice."""
    runs, folds, step = 4, 3, 0.1
    single = np.zeros((runs, folds, 1))
    single[1, 2] = step
    least = 2 * _variance(variant, single, single.mean(axis=(0, 1)))[0]
    b = np.full((runs, folds), 0.2)
    r = repeated_kfold_t(b + 0.1, b, variant=variant, resolution=step)
    assert r.standard_error == pytest.approx(np.sqrt(least / (r.df + 1)))


def test_halvings_without_spread():
    """All ten differences 0.1: sum s_i^2 = 0.01, so t = 0.1 / sqrt(0.01 / 5), f = 0.1 / 0.02."""
    b = np.full((5, 2), 0.2)
    t, f = (test(b + 0.1, b, resolution=0.1) for test in (five_by_two_t, five_by_two_f))
    assert t.statistic == pytest.approx(np.sqrt(5))
    assert f.statistic == pytest.approx(5.0)
    assert f.pvalue == pytest.approx(stats.f.sf(5, 10, 5))


@pytest.mark.parametrize("name", ["kfold-t", "corrected-repeated-kfold-t"])
def test_ten_equal_learners_on_three_folds_of_ten_rows(name):
    """Rejections by chance of no spread: 38 of 100 studies and more without the resolution.

    2,000 studies; with a rate of 0.01 more than 40 rejections have a chance of 1e-5.
    """
    rng = np.random.default_rng(17)
    wrong = rng.binomial(10, 0.2, (10, 2_000, 1, 3)) / 10
    table = wrong if name.startswith("corrected") else wrong[:, :, 0]
    blind = all_pairs(name, table).pvalue.min(axis=0) * 45 <= 0.05
    seeing = all_pairs(name, table, resolution=0.1).pvalue.min(axis=0) * 45 <= 0.05
    assert blind.sum() > 600
    assert seeing.sum() <= 40


DISCRETE = [entry for entry in PAIRWISE_TESTS.values() if entry.smallest_pvalue is not None]
every_discrete = pytest.mark.parametrize("entry", DISCRETE, ids=lambda entry: entry.name)


def call(entry, a, b, alternative="two-sided"):
    return entry.load()(a, b, alternative=alternative, **entry.arguments)


@every_discrete
@pytest.mark.parametrize("n", [1, 2, 3, 7, 12, 40])
def test_all_wins_give_the_smallest(entry, n):
    b = np.zeros(n)
    a = b + 1.0 if entry.zero_one else b + np.arange(1, n + 1)
    assert call(entry, a, b).pvalue == pytest.approx(entry.smallest_pvalue(n), rel=1e-9)
    if not entry.zero_one:
        for side in ("greater", "less"):
            sign = 1 if side == "greater" else -1
            got = call(entry, sign * a, b, side).pvalue
            assert got == pytest.approx(smallest_pvalue(n, side), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sign", {}),
        ("wilcoxon", {}),
        ("wilcoxon", {"zeros": "split"}),
        ("permutation", {}),
        ("mcnemar", {}),
        ("mcnemar", {"exact": True}),
        ("paired-t", {}),
        ("paired-t", {"resolution": 1e-3}),
        ("signed-rank-bayes", {"random_state": 0, "samples": 200}),
    ],
)
def test_no_number_of_units_makes_a_pvalue_of_0(name, options):
    # 2^-n leaves the range of numbers from n = 1075 on
    entry = PAIRWISE_TESTS[name]
    n = 100_000 if name in ("sign", "mcnemar", "wilcoxon", "paired-t") else 3_000
    b = np.zeros(n)
    a = b + 1.0 if entry.zero_one else b + np.arange(1, n + 1) / n
    for alternative, other in (("two-sided", None), ("greater", "less"), ("less", "greater")):
        first, second = (b, a) if alternative == "less" else (a, b)
        result = entry.load()(first, second, alternative=alternative, **options)
        assert 0.0 < result.pvalue < 0.05
        if other and not entry.bayesian:
            assert entry.load()(first, second, alternative=other, **options).pvalue == 1.0


def test_smallest_pvalue_by_hand():
    assert smallest_pvalue(5) == 2 / 32
    assert smallest_pvalue(5, "less") == 1 / 32
    assert (smallest_pvalue(0), smallest_pvalue(1)) == (1.0, 1.0)
    assert smallest_pvalue(10**9) == np.finfo(float).tiny
    for bad in (-1, 2.5, "7", True):
        with pytest.raises(ArgumentError, match="n must be"):
            smallest_pvalue(bad)
