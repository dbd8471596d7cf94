"""Few arrangements and few sums, counted: against enumeration and whole numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestofk.stats.null_distributions.sums import tail_by_enumeration, tails_by_distinct_sums

tables = st.integers(2, 4).flatmap(
    lambda a: st.integers(1, 5).flatmap(
        lambda d: st.lists(
            st.lists(st.integers(0, 9), min_size=d, max_size=d), min_size=a, max_size=a
        )
    )
)


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(0, 30))
def test_few_arrangements_are_counted(table, deficit):
    costs = np.array(table, dtype=float)
    costs -= costs.min(axis=0)
    sums = [sum(pick) for pick in product(*costs.T.tolist())]
    truth = Fraction(sum(s <= deficit for s in sums), len(sums))
    assert tail_by_enumeration(costs, float(deficit)) == pytest.approx(float(truth), rel=1e-13)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 40)), min_size=1, max_size=4),
    st.integers(0, 200),
)
def test_few_sums_are_counted(groups, at):
    """Sizes that come many times: the ways by a dictionary of whole numbers."""
    ways = {0: 1}
    for size, count in groups:
        grown: dict[int, int] = {}
        for total, number in ways.items():
            for k in range(count + 1):
                grown[total + size * k] = grown.get(total + size * k, 0) + number * comb(count, k)
        ways = grown
    n = sum(count for _, count in groups)
    sizes = np.repeat([float(s) for s, _ in groups], [c for _, c in groups]) * np.pi
    lower, upper = tails_by_distinct_sums(sizes, at * np.pi, 1e-9)
    for got, kept in ((lower, lambda t: t <= at), (upper, lambda t: t >= at)):
        truth = Fraction(sum(c for t, c in ways.items() if kept(t)), 2**n)
        assert got == pytest.approx(float(truth), rel=1e-12, abs=1e-300)


def test_what_takes_long_to_count_is_not_counted():
    rng = np.random.default_rng(0)
    sizes = rng.random(60)
    assert tails_by_distinct_sums(sizes, 30.0, 0.0) is None
    assert tail_by_enumeration(np.stack([0 * sizes, sizes]), 20.0) is None
    assert tail_by_enumeration(rng.random((300, 12)) * np.arange(300)[:, None], 900.0) is None
    assert tail_by_enumeration(np.ones((2, 2000)) * [[0], [1]], 0.0) is None
