"""Sign flips against enumeration in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestofk.stats.null_distributions.sign_flips import two_sided, upper_tail


@settings(max_examples=50, deadline=None)
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
