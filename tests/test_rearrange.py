"""The sum of independent draws, one per block: against enumeration in exact fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from bestofk.rearrange.draws import drawn_tails
from bestofk.rearrange.grid import Placement, common_unit, levelled, place
from bestofk.rearrange.signs import two_sided, upper_tail
from bestofk.rearrange.tails import sum_tails


def enumerated(table: list[list[Fraction]], s: Fraction) -> tuple[Fraction, Fraction]:
    """P(S* <= s), P(S* >= s) over all arrangements; table[a][d]."""
    sums = [sum(pick) for pick in product(*zip(*table, strict=True))]
    lower = Fraction(sum(t <= s for t in sums), len(sums))
    upper = Fraction(sum(t >= s for t in sums), len(sums))
    return lower, upper


def exact_tails(values: np.ndarray) -> tuple[Placement, object]:
    rows = np.arange(values.shape[0])
    placed = place(values, choices=rows.size, queries=rows.size)
    return placed, sum_tails(placed, rows, rows)


tables = st.integers(2, 4).flatmap(
    lambda a: st.integers(1, 4).flatmap(
        lambda d: st.lists(
            st.lists(st.integers(-30, 30), min_size=d, max_size=d), min_size=a, max_size=a
        )
    )
)


@settings(max_examples=50, deadline=None)
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
    placed, tails = exact_tails(values)
    assert placed.count == "meet"
    assert placed.exact
    fractions = [[Fraction(v) for v in row] for row in values.tolist()]
    for a, row in enumerate(fractions):
        lower, upper = enumerated(fractions, sum(row))
        assert tails.lower[a] == float(lower)
        assert tails.upper[a] == float(upper)
    assert (tails.lower_bounds == tails.lower[:, None]).all()


def test_values_with_a_common_unit_are_convolved_without_rounding():
    """5 learners on 64 data sets of 50 rows: compared with a distribution in whole numbers."""
    counts = np.random.default_rng(3).integers(0, 51, size=(5, 64))
    placed, tails = exact_tails(counts / 50)
    assert placed.count == "convolve"
    assert placed.exact
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


def test_many_values_without_a_unit_have_tails_near_normal():
    """64 blocks: the central limit theorem gives two digits, Monte Carlo below gives three."""
    values = np.random.default_rng(0).random((5, 64))
    placed, tails = exact_tails(values)
    assert not placed.exact
    sd = np.sqrt(values.var(axis=0).sum())
    z = (values.sum(axis=1) - values.mean(axis=0).sum()) / sd
    np.testing.assert_allclose(tails.lower, stats.norm.cdf(z), atol=0.01)
    assert (tails.lower + tails.upper >= 1 - 1e-12).all()


@pytest.mark.parametrize(("n", "k"), [(990, 0), (990, 3), (300, 12)])
def test_far_tails_keep_their_relative_accuracy(n, k):
    """Two values, 0 and 1, in n blocks: a binomial tail, down to 2^-990 = 1e-298."""
    table = np.stack([np.zeros(n), np.ones(n), np.r_[np.zeros(k), np.ones(n - k)]])
    placed = place(table, choices=2, queries=1)
    tails = sum_tails(placed, np.arange(2), np.array([2]))
    truth = Fraction(sum(comb(n, i) for i in range(k + 1)), 2**n)
    assert tails.upper[0] == pytest.approx(float(truth), rel=1e-12)


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


def test_sums_outside_the_reach_of_the_draws_have_empty_tails():
    values = np.array([[1.0, 2.0], [3.0, 5.0], [0.0, 0.0], [9.0, 9.0]])
    placed = place(values, choices=2, queries=2)
    tails = sum_tails(placed, np.arange(2), np.array([2, 3]))
    assert tails.lower.tolist() == [0.0, 1.0]
    assert tails.upper.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("factor", [1.0, np.pi, 1e-9, 1e12])
def test_a_common_unit_is_found_in_any_unit(factor):
    heights = np.array([3, 7, 12, 30]) / 600 * factor
    unit = common_unit(heights, smallest=1e-6 * factor, noise=1e-14 * factor)
    assert unit == pytest.approx(factor / 600, rel=1e-12)


def test_no_common_unit_in_arbitrary_numbers():
    heights = np.random.default_rng(1).random(50)
    assert common_unit(heights, smallest=1e-6, noise=1e-15) is None


def test_a_unit_that_fits_only_nearly_is_none():
    heights = np.array([3, 7, 12, 30]) / 600
    heights[2] += 1e-8
    assert common_unit(heights, smallest=1e-5, noise=1e-15) is None


def test_values_that_differ_by_the_rounding_of_a_mean_are_equal():
    values = np.array([[0.1 + 0.2, 1.0], [0.3, 2.0]])
    heights, _ = levelled(values)
    assert heights[:, 0].tolist() == [0.0, 0.0]


def test_random_rearrangements_agree_with_the_distribution():
    """1,000,000 of them; both tails within binomial bounds of chance 1e-6."""
    values = np.random.default_rng(8).random((5, 64)) + 0.02 * np.arange(5)[::-1, None]
    rows = np.arange(5)
    _, exact = exact_tails(values)
    (drawn,) = drawn_tails(
        values,
        rows[None],
        rows[None],
        resamples=1_000_000,
        generator=np.random.default_rng(77),
    )
    for got, bounds in (
        (drawn.lower, exact.lower_bounds),
        (drawn.upper, exact.upper_bounds),
    ):
        hits = np.rint(got * 1_000_001 - 1)
        assert (hits >= stats.binom.ppf(1e-6, 1_000_000, bounds[:, 0])).all()
        assert (hits <= stats.binom.isf(1e-6, 1_000_000, bounds[:, 1])).all()


@pytest.mark.parametrize("shape", [(2, 1), (2, 9), (7, 3), (300, 4)])
def test_groups_of_blocks_of_any_size_are_drawn_evenly(shape):
    values = np.random.default_rng(2).integers(0, 9, size=shape).astype(float)
    rows = np.arange(shape[0])
    _, exact = exact_tails(values)
    (drawn,) = drawn_tails(
        values, rows[None], rows[None], resamples=40_000, generator=np.random.default_rng(4)
    )
    for got, truth in ((drawn.lower, exact.lower), (drawn.upper, exact.upper)):
        hits = np.rint(got * 40_001 - 1)
        assert (hits >= stats.binom.ppf(1e-7, 40_000, truth)).all()
        assert (hits <= stats.binom.isf(1e-7, 40_000, truth)).all()


def test_tables_share_their_rearrangements():
    values = np.random.default_rng(2).random((3, 6))
    rows = np.arange(3)
    twice = drawn_tails(
        values,
        np.stack([rows, rows]),
        np.stack([rows, rows]),
        resamples=999,
        generator=np.random.default_rng(0),
    )
    np.testing.assert_array_equal(twice[0].lower, twice[1].lower)


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


def test_many_tables_in_batches_see_the_same_rearrangements():
    """60 tables of 5^6 sums in 20 groups do not fit at once; each equals the one alone."""
    values = np.random.default_rng(2).random((5, 120))
    rows = np.arange(5)
    rng = np.random.default_rng(0)
    many = drawn_tails(
        values, np.tile(rows, (60, 1)), np.tile(rows, (60, 1)), resamples=99, generator=rng
    )
    once = np.random.default_rng(0)
    (alone,) = drawn_tails(values, rows[None], rows[None], resamples=99, generator=once)
    for tails in many:
        np.testing.assert_array_equal(tails.lower, alone.lower)
    # and the generator is left where one table leaves it
    assert rng.random() == once.random()


def test_ties_are_ties_where_no_common_unit_helps():
    """Decimals beside square roots: the decimals tie among themselves, in exact numbers."""
    broken = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        tenths = rng.integers(0, 10, size=(3, 6))
        roots = [Fraction(int(Decimal(k).sqrt() * 10**25), 10**25) for k in (2, 3, 5)]
        exact = [
            [Fraction(int(v), 10) for v in row] + [root]
            for row, root in zip(tenths, roots, strict=True)
        ]
        values = np.array([[float(v) for v in row] for row in exact])
        placed, tails = exact_tails(values)
        assert placed.count == "meet"
        p = np.array([[float(t) for t in enumerated(exact, sum(row))] for row in exact])
        np.testing.assert_array_equal(np.stack([tails.lower, tails.upper], axis=1), p)
        # plain sums of floats take some of these ties apart
        sums = [sum(pick) for pick in product(*values.T.tolist())]
        plain = [np.mean([t <= sum(row) for t in sums]) for row in values.tolist()]
        broken += not np.array_equal(plain, p[:, 0])
    assert broken
