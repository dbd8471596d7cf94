"""Tails of sums of independent draws: grids, enumeration and convolution."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestofk.stats.null_distributions.sums import (
    StepGrid,
    common_unit,
    levelled,
    step_grid,
    sum_tails,
    tail_by_enumeration,
)


def enumerated(table: list[list[Fraction]], s: Fraction) -> tuple[Fraction, Fraction]:
    """P(S* <= s), P(S* >= s) over all arrangements; table[a][d]."""
    sums = [sum(pick) for pick in product(*zip(*table, strict=True))]
    lower = Fraction(sum(t <= s for t in sums), len(sums))
    upper = Fraction(sum(t >= s for t in sums), len(sums))
    return lower, upper


def exact_tails(values: np.ndarray) -> tuple[StepGrid, object]:
    rows = np.arange(values.shape[0])
    grid = step_grid(values, choices=rows.size, queries=rows.size)
    return grid, sum_tails(grid, rows, rows)


tables = st.integers(2, 4).flatmap(
    lambda a: st.integers(1, 4).flatmap(
        lambda d: st.lists(
            st.lists(st.integers(-30, 30), min_size=d, max_size=d), min_size=a, max_size=a
        )
    )
)


@given(tables, st.sampled_from([1, 10, 7, 300]))
def test_both_tails_are_the_enumerated_fractions(table, denominator):
    """Decimals such as 0.1 + 0.2 and 0.3 tie although their floats do not."""
    fractions = [[Fraction(v, denominator) for v in row] for row in table]
    _, tails = exact_tails(np.array(table) / denominator)
    for a, row in enumerate(fractions):
        lower, upper = enumerated(fractions, sum(row))
        assert tails.lower[a] == pytest.approx(float(lower), rel=1e-14)
        assert tails.upper[a] == pytest.approx(float(upper), rel=1e-14)


def test_meeting_in_the_middle_counts_out_values_without_a_common_unit():
    rng = np.random.default_rng(5)
    values = rng.random((3, 7))
    grid, tails = exact_tails(values)
    assert grid.method == "meet"
    assert grid.exact
    fractions = [[Fraction(v) for v in row] for row in values.tolist()]
    for a, row in enumerate(fractions):
        lower, upper = enumerated(fractions, sum(row))
        assert tails.lower[a] == float(lower)
        assert tails.upper[a] == float(upper)
    assert (tails.lower_bounds == tails.lower[:, None]).all()


def test_values_with_a_common_unit_are_convolved_without_rounding():
    """5 learners on 64 data sets of 50 rows: compared with a distribution in whole numbers."""
    counts = np.random.default_rng(3).integers(0, 51, size=(5, 64))
    grid, tails = exact_tails(counts / 50)
    assert grid.method == "convolve"
    assert grid.exact
    ways = {0: 1}
    for column in counts.T.tolist():
        grown: dict[int, int] = {}
        for total, n in ways.items():
            for v in column:
                grown[total + v] = grown.get(total + v, 0) + n
        ways = grown
    for a, s in enumerate(counts.sum(axis=1).tolist()):
        lower = Fraction(sum(n for t, n in ways.items() if t <= s), 5**64)
        upper = Fraction(sum(n for t, n in ways.items() if t >= s), 5**64)
        assert tails.lower[a] == pytest.approx(float(lower), rel=1e-12)
        assert tails.upper[a] == pytest.approx(float(upper), rel=1e-12)


def test_shares_take_over_where_counts_would_overflow():
    """5^440 is above the largest float; its reciprocal, 2.8e-308, is not below the smallest."""
    values = np.tile(np.arange(5.0)[:, None], 440)
    _, tails = exact_tails(values)
    assert tails.lower[0] == pytest.approx(float(Fraction(1, 5**440)), rel=1e-12)
    assert tails.upper[0] == pytest.approx(1.0, rel=1e-12)


def test_a_tail_that_is_not_empty_is_never_zero():
    values = np.tile(np.arange(2.0)[:, None], 3000)
    _, tails = exact_tails(values)
    assert 0 < tails.lower[0] < 1e-307
    assert 0 < tails.upper[1] < 1e-307


def test_ties_are_ties_where_no_common_unit_helps():
    """Decimals beside square roots: the decimals tie among themselves, in exact numbers."""
    broken = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        tenths = rng.integers(0, 10, size=(3, 6))
        roots = [Fraction(int(Decimal(k).sqrt() * 10**25), 10**25) for k in (2, 3, 5)]
        exact = [
            [Fraction(int(v), 10) for v in row] + [root]
            for row, root in zip(tenths, roots, strict=True)
        ]
        values = np.array([[float(v) for v in row] for row in exact])
        grid, tails = exact_tails(values)
        assert grid.method == "meet"
        p = np.array([[float(t) for t in enumerated(exact, sum(row))] for row in exact])
        np.testing.assert_array_equal(np.stack([tails.lower, tails.upper], axis=1), p)
        # plain sums of floats take some of these ties apart
        sums = [sum(pick) for pick in product(*values.T.tolist())]
        plain = [np.mean([t <= sum(row) for t in sums]) for row in values.tolist()]
        broken += not np.array_equal(plain, p[:, 0])
    assert broken


cost_tables = st.integers(2, 4).flatmap(
    lambda a: st.integers(1, 5).flatmap(
        lambda d: st.lists(
            st.lists(st.integers(0, 9), min_size=d, max_size=d), min_size=a, max_size=a
        )
    )
)


@given(cost_tables, st.integers(0, 30))
def test_few_arrangements_are_counted(table, deficit):
    costs = np.array(table, dtype=float)
    costs -= costs.min(axis=0)
    sums = [sum(pick) for pick in product(*costs.T.tolist())]
    truth = Fraction(sum(s <= deficit for s in sums), len(sums))
    assert tail_by_enumeration(costs, float(deficit)) == pytest.approx(float(truth), rel=1e-13)


def test_enumeration_has_a_limit():
    rng = np.random.default_rng(0)
    sizes = rng.random(60)
    assert tail_by_enumeration(np.stack([0 * sizes, sizes]), 20.0) is None
    assert tail_by_enumeration(rng.random((300, 12)) * np.arange(300)[:, None], 900.0) is None
    assert tail_by_enumeration(np.ones((2, 2000)) * [[0], [1]], 0.0) is None


@pytest.mark.parametrize("factor", [1.0, np.pi, 1e-9, 1e12])
def test_a_common_unit_is_found_in_any_unit(factor):
    heights = np.array([3, 7, 12, 30]) / 600 * factor
    unit = common_unit(heights, smallest=1e-6 * factor, noise=1e-14 * factor)
    assert unit == pytest.approx(factor / 600, rel=1e-12)


def test_a_unit_that_fits_only_nearly_is_none():
    heights = np.array([3, 7, 12, 30]) / 600
    heights[2] += 1e-8
    assert common_unit(heights, smallest=1e-5, noise=1e-15) is None


def test_values_that_differ_by_the_rounding_of_a_mean_are_equal():
    values = np.array([[0.1 + 0.2, 1.0], [0.3, 2.0]])
    heights, _ = levelled(values)
    assert heights[:, 0].tolist() == [0.0, 0.0]
