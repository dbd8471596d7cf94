"""The permutation test against scipy, enumeration and counting in whole numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy import stats

from bestofk.stats.null_distributions.sign_flips import two_sided
from bestofk.stats.pairwise.permutation_tests import permutation


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [2, 5, 9, 12])
def test_scipy_permutation_test_agrees(n, alternative):
    a, b = np.random.default_rng(n).normal(size=(2, n))
    peer = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        alternative=alternative,
        n_resamples=np.inf,
    )
    result = permutation(a, b, alternative=alternative)
    assert result.pvalue == pytest.approx(peer.pvalue, rel=1e-12)
    assert result.statistic == pytest.approx(peer.statistic, rel=1e-12)
    assert result.df is None


def test_differences_that_tie_only_in_decimals():
    """d = 0.1, 0.2, -0.3: T = 0 is a tie with four of eight flips (+-0.6, +-0.4, +-0.2, 0, 0)."""
    result = permutation([0.1, 0.2, 0.0], [0.0, 0.0, 0.3], alternative="greater")
    assert result.pvalue == 5 / 8
    assert result.estimate == 0.0
    assert "the same mean loss" in result.explain()


def test_equal_losses_drop_out():
    a, b = np.random.default_rng(1).random((2, 11))
    padded = permutation(np.r_[a, np.ones(500)], np.r_[b, np.ones(500)])
    assert padded.pvalue == permutation(a, b).pvalue


@pytest.mark.parametrize(("wins", "losses"), [(1000, 0), (900, 100), (70, 40), (3, 3)])
def test_zero_one_losses_are_a_binomial_tail(wins, losses):
    """Instances that one of the two gets wrong: the sign test, down to p = 1e-300."""
    a = np.r_[np.ones(wins), np.zeros(losses), np.ones(50)]
    b = np.r_[np.zeros(wins), np.ones(losses), np.ones(50)]
    n = wins + losses
    tail = Fraction(sum(comb(n, i) for i in range(losses + 1)), 2**n)
    result = permutation(a, b)
    assert result.pvalue == pytest.approx(float(min(1, 2 * tail)), rel=1e-12)
    assert permutation(a, b, alternative="greater").pvalue == pytest.approx(float(tail), rel=1e-12)


def test_more_differences_than_can_be_counted_are_bracketed():
    """60 real differences: the bounds are close."""
    rng = np.random.default_rng(12)
    a, b = rng.random((2, 60)) + np.array([[0.08], [0.0]])
    result = permutation(a, b)
    _, ((low, high),) = two_sided(a[None], b[None])
    assert 0.995 * high < low <= result.pvalue <= high
    assert result.note == ""
    flipped = rng.choice([-1.0, 1.0], (200_000, 60)) @ (a - b)
    hits = int((flipped >= (a - b).sum()).sum())
    assert (
        stats.binom.ppf(1e-6, 200_000, low / 2) <= hits <= stats.binom.isf(1e-6, 200_000, high / 2)
    )


def test_notes_give_wide_bounds_of_the_pvalue(monkeypatch):
    from bestofk.stats.pairwise import permutation_tests as permuted

    monkeypatch.setattr(permuted, "WIDE", 1.0)
    a, b = np.random.default_rng(12).random((2, 3, 60))
    assert "The p-value lies between 0." in permutation(a[0], b[0]).note
    assert "The p-values are known to within" in permutation(a, b).note


def subset_means(d):
    return sorted(
        float(np.mean(s)) for r in range(1, len(d) + 1) for s in combinations(d.tolist(), r)
    )


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
def test_the_interval_ends_in_ordered_subset_means(level):
    """Hartigan 1969: delta is kept while more than alpha/2 of the flips reach the sum.

    d - delta flipped on J reaches the observed sum when the mean of d over J is at most delta,
    so the tail is (1 + number of such means) / 2^n.
    """
    a, b = np.random.default_rng(9).normal(size=(2, 9))
    means = subset_means(a - b)
    rank = int(np.floor((1 - level) / 2 * 2**9 + 1e-9))
    interval = permutation(a, b).confidence_interval(level)
    assert interval.low == pytest.approx(means[rank - 1], rel=1e-9)
    assert interval.high == pytest.approx(means[-rank], rel=1e-9)


def test_intervals_open_with_the_alternative_and_where_n_is_too_small():
    a, b = np.random.default_rng(2).normal(size=(2, 3, 8))
    greater = permutation(a, b, alternative="greater").confidence_interval(0.9)
    assert np.isinf(greater.high).all()
    assert np.isfinite(greater.low).all()
    short = permutation(a[0, :4], b[0, :4]).confidence_interval(0.95)
    assert short == (-np.inf, np.inf)
    # 1/32 is above 0.025, 1/64 is not
    assert permutation(a[0, :5], b[0, :5]).confidence_interval(0.95) == (-np.inf, np.inf)
    assert np.isfinite(permutation(a[0, :6], b[0, :6]).confidence_interval(0.95)).all()
    # 1/32 is not above 0.03125; of d - delta > 0 only one flip in 32 reaches the sum, at
    # delta = 1 the difference that is then 0 makes it two
    d = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    exactly = permutation(d, d * 0, alternative="greater").confidence_interval(0.96875)
    assert exactly == pytest.approx((1.0, np.inf), rel=1e-9)


@pytest.mark.parametrize(
    ("n", "levels"), [(60, (0.8, 0.95)), (1_000, (0.8, 0.95)), (20_000, (0.95,))]
)
@pytest.mark.parametrize("kind", ["normal", "heavy", "zero-one"])
def test_intervals_of_many_differences_agree_with_the_pvalue(n, levels, kind):
    rng = np.random.default_rng([n, len(kind)])
    a = {
        "normal": lambda: rng.normal(size=n) + 1.9 / np.sqrt(n),
        "heavy": lambda: rng.standard_t(2, n),
        "zero-one": lambda: rng.choice([-1.0, 0.0, 0.0, 1.0], n),
    }[kind]()
    result = permutation(a, 0 * a)
    for level in levels:
        low, high = result.confidence_interval(level)
        assert low < result.estimate < high
        assert (low <= 0 <= high) == (result.pvalue > 1 - level)
        hair = 1e-3 * (high - low)
        for edge, sign in ((low, 1), (high, -1)):
            inside, outside = edge + sign * hair, edge - sign * hair
            # the ends come from a saddlepoint, whose tail is right to a few percent
            assert permutation(a - inside, 0 * a).pvalue > (1 - level) * 0.9
            assert permutation(a - outside, 0 * a).pvalue <= (1 - level) * 1.1


def test_notes_give_the_smallest_possible_pvalue():
    assert (
        "two-sided p-value cannot fall below 0.0625" in permutation(np.arange(5), np.zeros(5)).note
    )
    assert permutation(np.arange(6), np.zeros(6)).note == ""
    assert permutation([1.0], [2.0]).pvalue == 1.0
