"""Tails of sums of differences with random signs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestofk.stats.null_distributions.sign_flips import two_sided, upper_tail
from bestofk.stats.pairwise import permutation


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=9),
    st.sampled_from([1, 10, 6]),
)
def test_sign_flips_are_the_enumerated_fraction(pairs, denominator):
    a, b = np.array(pairs, dtype=float).T / denominator
    d = [x - y for x, y in pairs]
    sums = [
        sum(s * v for s, v in zip(signs, d, strict=True))
        for signs in product((1, -1), repeat=len(d))
    ]
    upper = Fraction(sum(t >= sum(d) for t in sums), len(sums))
    lower = Fraction(sum(t <= sum(d) for t in sums), len(sums))
    assert upper_tail(a[None], b[None])[0][0] == float(upper)
    assert upper_tail(b[None], a[None])[0][0] == float(lower)
    assert two_sided(a[None], b[None])[0][0] == float(min(1, 2 * min(lower, upper)))


def test_many_pairs_at_once_equal_one_after_the_other():
    """Pairs with few and many zeros go different ways together."""
    rng = np.random.default_rng(6)
    a, b = rng.random((2, 40, 36))
    b = np.where(rng.random((40, 36)) < np.linspace(0, 1, 40)[:, None], a, b)
    together = upper_tail(a, b)[0]
    alone = np.concatenate([upper_tail(a[i : i + 1], b[i : i + 1])[0] for i in range(40)])
    np.testing.assert_array_equal(together, alone)
    # the row without zeros meets in the middle, the one with zeros only is certain
    assert 0 < together[0] < 1
    assert together[-1] == 1.0


@pytest.mark.parametrize("n", [30, 32, 33, 40])
def test_sign_flips_of_whole_numbers_by_the_count_of_subsets(n):
    """Around pi, so that every difference carries rounding; the subsets by dictionary."""
    d = np.random.default_rng(n).integers(-9, 12, size=n)
    a, b = np.pi + d, np.full(n, np.pi)
    ways = {0: 1}
    for v in np.abs(d).tolist():
        grown = dict(ways)
        for total, count in ways.items():
            grown[total + v] = grown.get(total + v, 0) + count
        ways = grown if v else {t: 2 * c for t, c in ways.items()}
    w = int(d[d > 0].sum())
    upper = Fraction(sum(c for t, c in ways.items() if t >= w), 2**n)
    assert upper_tail(a[None], b[None])[0][0] == pytest.approx(float(upper), rel=1e-13)


def test_far_tails_keep_their_digits():
    """All of 900 differences positive: one of 2^900 flips, or of 2^1800 below the range."""
    d = np.ones((1, 900))
    assert upper_tail(d, 0 * d)[0][0] == pytest.approx(2.0**-900, rel=1e-10)
    d = np.ones((1, 1800))
    assert 0 < upper_tail(d, 0 * d)[0][0] < 1e-300


@pytest.mark.parametrize("n", [40, 700])
def test_both_sides_count_the_observed_sum(n):
    rng = np.random.default_rng(1)
    a = rng.binomial(4, 0.6, (6, n)) / 4
    b = rng.binomial(4, rng.uniform(0.4, 0.7, (6, 1)), (6, n)) / 4
    result = permutation(a, b)
    assert result.pvalue == pytest.approx(two_sided(a, b)[0], rel=1e-10)
    assert result.estimate == pytest.approx((a - b).mean(axis=1))
    greater = permutation(a, b, alternative="greater").pvalue
    less = permutation(a, b, alternative="less").pvalue
    assert (greater + less > 1 - 1e-12).all()
    assert np.minimum(1, 2 * np.minimum(greater, less)) == pytest.approx(result.pvalue)
