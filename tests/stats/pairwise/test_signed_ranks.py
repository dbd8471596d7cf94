"""Wilcoxon's signed rank test and the intervals of shifts."""

from __future__ import annotations

from itertools import accumulate, product

import numpy as np
import pytest
import scipy
from hypothesis import given, strategies as st
from scipy import stats

from bestofk.stats.null_distributions.sign_flips import upper_tail
from bestofk.stats.pairwise import wilcoxon
from bestofk.stats.pairwise.signed_ranks import (
    EXACT_UP_TO,
    least_shift,
    nth_walsh_average,
)

ALTERNATIVES = ("two-sided", "greater", "less")
# scipy renamed both in 1.15
OLD_SCIPY = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15)
ASYMPTOTIC, SEED = ("approx", "random_state") if OLD_SCIPY else ("asymptotic", "rng")
ZEROS = ("wilcox", "pratt", "split")


def enumerated(d, alternative, zeros):
    """P-value from all 2^n signs of the midranks."""
    d = np.asarray(d, dtype=float)
    if zeros == "wilcox":
        d = d[d != 0]
    if zeros == "split" and (d == 0).sum() % 2:
        d = np.delete(d, np.flatnonzero(d == 0)[0])
    if len(d) == 0:
        return 0.0, 1.0
    ranks = stats.rankdata(np.abs(d))
    if zeros == "pratt":
        ranks[d == 0] = 0.0
    plus = ranks[d > 0].sum() + ranks[d == 0].sum() / 2
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
    st.sampled_from(ZEROS),
)
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


@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize(
    ("n", "values"),
    [*((EXACT_UP_TO + 1, values) for values in (1, 2, 3, 4, 6, 12, 1000)), (160, 4), (160, 1000)],
)
def test_beyond_the_exact_limit(n, values, zeros, monkeypatch):
    # the exact p-values of the same differences; the bounds are what the docstring promises
    rng = np.random.default_rng([n, values])
    size = rng.integers(1, values + 1, (40, n))
    sign = np.where(rng.random((40, n)) < rng.uniform(0.5, 0.8, (40, 1)), 1, -1)
    d = (size * sign).astype(float)
    d[::2, :5] = 0
    for alternative in ALTERNATIVES:
        auto = wilcoxon(d, d * 0, alternative=alternative, zeros=zeros).pvalue
        with monkeypatch.context() as patch:
            patch.setattr("bestofk.stats.pairwise.signed_ranks.EXACT_UP_TO", n)
            exact = wilcoxon(d, d * 0, alternative=alternative, zeros=zeros).pvalue
        bound = 0.05 if 3 < values < 10 else 1e-3
        if zeros == "split" and values == 3:
            bound = 0.05  # with the ranks of the zeros these are four sizes
        far = exact > 1e-6
        np.testing.assert_allclose(auto[far], exact[far], rtol=bound)
        assert (auto > 0).all()


def test_smallest_pvalue_of_fifty():
    d = np.arange(1, 51)
    assert wilcoxon(d, d * 0, alternative="greater").pvalue == 0.5**50
    many = np.arange(1.0, 1001)
    deep = wilcoxon(many, many * 0, alternative="greater").pvalue
    assert deep == pytest.approx(0.5**1000, rel=0.2)


def test_decimal_ties_are_ties():
    # |0.3 - 0.2|, |0.2 - 0.1| and |0.4 - 0.5| differ by 1e-17
    r = wilcoxon([0.3, 0.2, 0.4, 0.9], [0.2, 0.1, 0.5, 0.3], alternative="greater")
    assert r.statistic == 2 + 2 + 4
    assert r.pvalue == enumerated([1, 1, -1, 6], "greater", "wilcox")[1]


def test_walsh_averages_of_many_numbers_by_bisection():
    x = np.sort(np.random.default_rng(0).normal(size=1200))
    i, j = np.triu_indices(1200)
    averages = np.sort((x[i] + x[j]) / 2)
    for rank in (0, 1, 5000, 360_299, 720_599):
        assert nth_walsh_average(x, rank) == pytest.approx(averages[rank], rel=1e-12)
    low, high = wilcoxon(x, x * 0).confidence_interval(0.95)
    assert low < np.median(averages) < high


@pytest.mark.parametrize("n", [100, 101])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
def test_interval_at_both_sides_of_the_exact_limit(n, level):
    d = np.random.default_rng(n).normal(0.3, 1, n)
    averages = np.sort([(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)])
    # counts of subsets of 1..n by their sum, in whole numbers
    ways = [1] + [0] * len(averages)
    for rank in range(1, n + 1):
        for s in range(len(averages), rank - 1, -1):
            ways[s] += ways[s - rank]
    cut = sum(c <= (1 - level) / 2 * 2**n for c in accumulate(ways)) - 1
    assert wilcoxon(d, d * 0).confidence_interval(level) == pytest.approx(
        (averages[cut], averages[-1 - cut]), rel=1e-12
    )


def differences(kind, n, seed):
    rng = np.random.default_rng(seed)
    d = rng.standard_normal((12, n)) + 0.4
    if kind == "rounded":
        return np.round(d, 1)
    return d * np.exp(rng.standard_normal(n)) if kind == "uneven" else d


@pytest.mark.parametrize("kind", ["normal", "rounded", "uneven"])
@pytest.mark.parametrize("alpha", [0.025, 0.0025])
def test_least_shift_is_near_the_end_of_the_exact_interval(kind, alpha):
    d = differences(kind, 16, 3)
    ends = least_shift(d, alpha)
    reach = d.mean(axis=1) - ends
    zero = np.zeros_like(d)
    # a little further out the exact test rejects, a little further in it accepts
    apart = 0.25 if kind == "uneven" else 0.12
    outside, inside = (d - (d.mean(axis=1) - f * reach)[:, None] for f in (1 + apart, 1 - apart))
    assert (upper_tail(outside, zero)[0] <= alpha * 1.05).all()
    assert (upper_tail(inside, zero)[0] >= alpha * 0.95).all()
