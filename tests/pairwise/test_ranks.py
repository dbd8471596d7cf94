"""Expected values: enumeration of all signs, scipy.stats.wilcoxon where it is exact."""

from __future__ import annotations

from itertools import accumulate, product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bestofk.errors import ArgumentError
from bestofk.pairwise import wilcoxon
from bestofk.pairwise.walsh import nth_walsh_average

ALTERNATIVES = ("two-sided", "greater", "less")


def enumerated(d, alternative, zeros):
    """P-value from all 2^n signs of the midranks."""
    d = np.asarray(d, dtype=float)
    if zeros == "drop":
        d = d[d != 0]
    ranks = np.where(d == 0, 0.0, stats.rankdata(np.abs(d)))
    plus = ranks[d > 0].sum()
    ranks = ranks[ranks > 0]
    if len(ranks) == 0:
        return 0.0, 1.0
    sums = np.array([np.dot(signs, ranks) for signs in product((0, 1), repeat=len(ranks))])
    above, below = np.mean(sums >= plus), np.mean(sums <= plus)
    p = {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}
    return (min(plus, ranks.sum() - plus) if alternative == "two-sided" else plus), p[alternative]


@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=9),
    st.sampled_from(ALTERNATIVES),
    st.sampled_from(["drop", "pratt"]),
)
@settings(max_examples=50, deadline=None)
def test_exact_with_ties_and_zeros(d, alternative, zeros):
    statistic, p = enumerated(d, alternative, zeros)
    r = wilcoxon(d, np.zeros(len(d)), alternative=alternative, zeros=zeros)
    assert r.statistic == statistic
    assert r.pvalue == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [2, 12, 50])
def test_agrees_with_scipy_without_ties(alternative, n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.32, 0.1, n), rng.normal(0.3, 0.1, n)
    want = stats.wilcoxon(a, b, alternative=alternative, method="exact")
    got = wilcoxon(a, b, alternative=alternative)
    assert got.statistic == want.statistic
    assert got.pvalue == pytest.approx(want.pvalue, rel=1e-10)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("zeros", ["drop", "pratt"])
def test_agrees_with_scipy_normal_approximation(alternative, zeros):
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 9, 120), rng.integers(0, 8, 120)
    method = {"drop": "wilcox", "pratt": "pratt"}[zeros]
    want = stats.wilcoxon(a, b, zero_method=method, alternative=alternative, method="asymptotic")
    got = wilcoxon(a, b, alternative=alternative, zeros=zeros)
    assert got.statistic == want.statistic
    assert got.pvalue == pytest.approx(want.pvalue, rel=1e-10)
    exact = wilcoxon(a, b, alternative=alternative, zeros=zeros, method="exact").pvalue
    assert exact == pytest.approx(got.pvalue, rel=0.1)


def test_one_tail_is_half_of_two():
    """A one-tailed test that reports the two-tailed value is a known error of other tools."""
    d = np.array([1.0, 2, 3, 4, 5, 6, 7, -8])
    both = wilcoxon(d, d * 0).pvalue
    assert wilcoxon(d, d * 0, alternative="greater").pvalue == pytest.approx(both / 2)
    assert wilcoxon(d, d * 0, alternative="less").pvalue > 0.5


def test_smallest_pvalue_of_fifty():
    d = np.arange(1, 51)
    assert wilcoxon(d, d * 0, alternative="greater").pvalue == 0.5**50
    many = np.arange(1.0, 1001)
    deep = wilcoxon(many, many * 0, alternative="greater").pvalue
    z = (1000 * 1001 / 4) / np.sqrt(1000 * 1001 * 2001 / 24)
    assert deep == pytest.approx(stats.norm.sf(z), rel=1e-10)
    assert 0 < deep < 1e-160


def test_decimal_ties_are_ties():
    # |0.3 - 0.2|, |0.2 - 0.1| and |0.4 - 0.5| differ by 1e-17
    r = wilcoxon([0.3, 0.2, 0.4, 0.9], [0.2, 0.1, 0.5, 0.3], alternative="greater")
    assert r.statistic == 2 + 2 + 4
    assert r.pvalue == enumerated([1, 1, -1, 6], "greater", "drop")[1]


def test_many_pairs_with_different_ties():
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 6, (12, 9))
    r = wilcoxon(losses[:, None], losses[None])
    for i in range(12):
        for j in range(12):
            statistic, p = enumerated(losses[i] - losses[j], "two-sided", "drop")
            assert r.pvalue[i, j] == pytest.approx(p, rel=1e-12)
            assert r.statistic[i, j] == statistic


def test_interval_from_walsh_averages():
    d = np.array([1.1, 2.7, -0.4, 3.9, 2.2, 0.9, 5.3])
    averages = np.sort([(d[i] + d[j]) / 2 for i in range(7) for j in range(i, 7)])
    # n = 7: P(W <= 2) = 3/128 <= 0.025 < P(W <= 3) = 5/128 (tables of the signed rank test)
    assert wilcoxon(d, d * 0).confidence_interval(0.95) == pytest.approx(
        (averages[2], averages[-3])
    )
    assert wilcoxon(d, d * 0, alternative="less").confidence_interval(0.95) == pytest.approx(
        (-inf, averages[-4])
    )
    assert wilcoxon(d[:4], d[:4] * 0).confidence_interval(0.95) == (-inf, inf)


def test_interval_is_what_the_test_accepts():
    d = np.random.default_rng(3).normal(1, 1, 14)
    low, high = wilcoxon(d, d * 0).confidence_interval(0.95)
    for inside, outside in ((low + 1e-6, low - 1e-6), (high - 1e-6, high + 1e-6)):
        assert wilcoxon(d, np.full(14, inside)).pvalue > 0.05
        assert wilcoxon(d, np.full(14, outside)).pvalue <= 0.05


def test_walsh_averages_of_many_numbers_by_bisection():
    x = np.sort(np.random.default_rng(0).normal(size=1200))
    i, j = np.triu_indices(1200)
    averages = np.sort((x[i] + x[j]) / 2)
    for rank in (0, 1, 5000, 360_299, 720_599):
        assert nth_walsh_average(x, rank) == pytest.approx(averages[rank], rel=1e-12)
    low, high = wilcoxon(x, x * 0).confidence_interval(0.95)
    assert low < np.median(averages) < high


def test_refusals():
    with pytest.raises(ArgumentError, match="zeros"):
        wilcoxon([1.0], [2.0], zeros="split")
    with pytest.raises(ArgumentError, match="method"):
        wilcoxon([1.0], [2.0], method="approx")


@pytest.mark.parametrize(("n", "level"), [(50, 0.5), (50, 0.9), (50, 0.999), (51, 0.5), (51, 0.99)])
def test_interval_at_both_sides_of_the_exact_limit(n, level):
    d = np.random.default_rng(n).normal(0.3, 1, n)
    averages = np.sort([(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)])
    tail = (1 - level) / 2
    if n == 50:  # counts of subsets of 1..n by their sum, in whole numbers
        ways = [1] + [0] * len(averages)
        for rank in range(1, n + 1):
            for s in range(len(averages), rank - 1, -1):
                ways[s] += ways[s - rank]
        cut = sum(c <= tail * 2**n for c in accumulate(ways)) - 1
    else:
        sd = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        cut = int(np.floor(n * (n + 1) / 4 + sd * stats.norm.ppf(tail)))
    assert wilcoxon(d, d * 0).confidence_interval(level) == pytest.approx(
        (averages[cut], averages[-1 - cut]), rel=1e-12
    )
