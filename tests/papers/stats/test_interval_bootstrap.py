"""Bootstrap-B, and the intervals of repetitions that it uses."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.papers.stats.bootstrap import bootstrap_a
from bestofk.papers.stats.interval_bootstrap import (
    bootstrap_b,
    interval_convergence,
    repetition_intervals,
)
from bestofk.stats.pairwise import all_pairs


def scalar_p(table, a):
    """Bootstrap-A's p-value of learner a by enumeration."""
    observed = sum(table[a])
    sums = [sum(pick) for pick in product(*zip(*table, strict=True))]
    lower, upper = sum(t <= observed for t in sums), sum(t >= observed for t in sums)
    return min(Fraction(1), 2 * Fraction(min(lower, upper), len(sums)))


def corners(low, high):
    """All tables with every cell at one of its ends."""
    shape = low.shape
    for ends in product((0, 1), repeat=low.size):
        yield np.where(np.reshape(ends, shape), high, low)


def random_intervals(seed, shape, width):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 12, size=shape)
    return low, low + rng.integers(0, width + 1, size=shape)


@pytest.mark.parametrize(("shape", "width"), [((2, 3), 4), ((3, 3), 3), ((4, 2), 5)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_vertex_rule_encloses_every_table_and_is_attained(seed, shape, width):
    """All corners and many points inside; p- and p+ are reached by some of them."""
    low, high = random_intervals(seed, shape, width)
    got = bootstrap_b(intervals=[low, high]).pvalues
    rng = np.random.default_rng(seed)
    tables = list(corners(low, high))
    # whole numbers inside are where ties, and so the jumps of p, lie
    tables += [rng.integers(low, high + 1) for _ in range(400)]
    inside = [low + (high - low) * rng.random(shape) for _ in range(200)]
    for a in range(shape[0]):
        ps = [float(scalar_p(table.tolist(), a)) for table in tables + inside]
        assert min(ps) >= got[a, 0] - 1e-12
        assert max(ps) <= got[a, 1] + 1e-12
        assert min(ps) == pytest.approx(got[a, 0], rel=1e-12)
        if got[a, 1] < 1:
            assert max(ps) == pytest.approx(got[a, 1], rel=1e-12)


def test_a_range_that_holds_the_middle_reaches_one():
    """Corners at p = 1/2 on either side; between them, at equal losses, p is 1."""
    low = np.array([[0.0, 0.0], [2.0, 2.0]])
    high = np.array([[4.0, 4.0], [2.0, 2.0]])
    result = bootstrap_b(intervals=[low, high])
    assert result.pvalues.tolist() == [[0.5, 1.0], [0.5, 1.0]]
    assert bootstrap_a([[2, 2], [2, 2]]).pvalues.tolist() == [1.0, 1.0]
    assert bootstrap_a(low).pvalues.tolist() == bootstrap_a(high).pvalues.tolist() == [0.5, 0.5]


def printed_rule(low, high, a, members):
    """p- and p+ by enumeration, the learners `members` being exchangeable; eq. 22 is strict."""
    lows = [sum(pick) for pick in product(*zip(*[low[m] for m in members], strict=True))]
    highs = [sum(pick) for pick in product(*zip(*[high[m] for m in members], strict=True))]
    q_low, q_high, n = sum(low[a]), sum(high[a]), len(lows)
    largest = min(sum(t <= q_high for t in lows), sum(t > q_low for t in highs))
    smallest = min(sum(t <= q_low for t in highs), sum(t > q_high for t in lows))
    return [float(min(Fraction(1), 2 * Fraction(k, n))) for k in (smallest, largest)]


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_printed_rule_by_enumeration(seed):
    low, high = random_intervals(seed, (3, 5), 2)
    result = bootstrap_b(intervals=[low / 10, high / 10], rule="paper")
    truth = [printed_rule(low.tolist(), high.tolist(), a, range(3)) for a in range(3)]
    np.testing.assert_allclose(result.pvalues, truth, rtol=1e-13)
    pairs = [(0, 1), (1, 0), (2, 0)]
    truth = [printed_rule(low.tolist(), high.tolist(), i, (i, j)) for i, j in pairs]
    np.testing.assert_allclose(result.posthoc(pairs=pairs), truth, rtol=1e-13)


def test_the_printed_rule_is_wider_and_not_symmetric_in_pairs():
    low, high = random_intervals(4, (3, 8), 3)
    vertex = bootstrap_b(intervals=[low, high])
    paper = bootstrap_b(intervals=[low, high], rule="paper")
    assert (paper.pvalues[:, 0] <= vertex.pvalues[:, 0] + 1e-12).all()
    assert (paper.pvalues[:, 1] >= vertex.pvalues[:, 1] - 1e-12).all()
    forth, back = ([(0, 1), (0, 2), (1, 2)], [(1, 0), (2, 0), (2, 1)])
    np.testing.assert_allclose(vertex.posthoc(pairs=forth), vertex.posthoc(pairs=back), rtol=1e-13)
    assert (paper.posthoc(pairs=forth) != paper.posthoc(pairs=back)).any()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pairs_by_the_vertex_rule_enclose_every_table(seed):
    low, high = random_intervals(seed, (3, 3), 3)
    pairs = bootstrap_b(intervals=[low, high]).posthoc()
    for (i, j), (smallest, largest) in zip(combinations(range(3), 2), pairs, strict=True):
        ps = [float(scalar_p(table.tolist(), 0)) for table in corners(low[[i, j]], high[[i, j]])]
        assert min(ps) == pytest.approx(smallest, rel=1e-12)
        assert max(ps) <= largest + 1e-12
        if largest < 1:
            assert max(ps) == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("shape", [(2, 1), (3, 4), (5, 12), (4, 64), (3, 20, 5), (3, 9, 4, 1)])
def test_width_zero_is_bootstrap_a(shape):
    losses = np.random.default_rng(6).random(shape)
    scalar = bootstrap_a(losses)
    result = bootstrap_b(losses)
    np.testing.assert_allclose(result.pvalues, np.stack([scalar.pvalues] * 2, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(result.intervals, np.stack([scalar.estimates] * 2, axis=1))
    flips = all_pairs("permutation", scalar.cells).pvalue
    np.testing.assert_allclose(result.posthoc(), np.stack([flips] * 2, axis=1), rtol=1e-12)
    drawn = bootstrap_b(losses, method="resample", resamples=300, random_state=1)
    drawn_a = bootstrap_a(losses, method="resample", resamples=300, random_state=1)
    np.testing.assert_array_equal(drawn.pvalues, np.stack([drawn_a.pvalues] * 2, axis=1))


@settings(max_examples=25)
@given(
    st.integers(2, 4),
    st.integers(1, 15),
    st.integers(0, 9999),
    st.sampled_from(["vertex", "paper"]),
)
def test_labels_units_and_wider_intervals(learners, n_datasets, seed, rule):
    rng = np.random.default_rng(seed)
    low, high = random_intervals(seed, (learners, n_datasets), 3)
    low, high = low / 20, high / 20
    p = bootstrap_b(intervals=[low, high], rule=rule).pvalues
    assert (p[:, 0] <= p[:, 1]).all()
    if rule == "vertex":
        assert (p > 0).all()
    order = rng.permutation(learners)
    moved = bootstrap_b(intervals=[low[order], high[order]], rule=rule).pvalues
    np.testing.assert_allclose(moved, p[order], rtol=1e-12)
    scaled = bootstrap_b(intervals=[3 * low + 1, 3 * high + 1], rule=rule).pvalues
    np.testing.assert_allclose(scaled, p, rtol=1e-12)
    wider = bootstrap_b(intervals=[low - 0.05, high + 0.1], rule=rule).pvalues
    assert (wider[:, 0] <= p[:, 0] * (1 + 1e-12)).all()
    assert (wider[:, 1] >= p[:, 1] * (1 - 1e-12)).all()


@pytest.mark.parametrize("rule", ["vertex", "paper"])
def test_random_rearrangements_agree(rule):
    rng = np.random.default_rng(10)
    low = rng.random((4, 50)) + np.array([[0.1], [0.0], [0.05], [0.0]])
    ends = [low, low + 0.02]
    exact = bootstrap_b(intervals=ends, rule=rule)
    drawn = bootstrap_b(
        intervals=ends, rule=rule, method="resample", resamples=200_000, random_state=3
    )
    sd = 2 * np.sqrt(exact.pvalues / 2 / 200_000)
    assert (np.abs(exact.pvalues - drawn.pvalues) <= 5 * sd + 1e-5).all()
    assert drawn.method == "resample"
    assert drawn.resamples == 200_000


def test_verdicts_of_all_three_kinds():
    """Far below, far above and sure; in the middle and wide; in the middle and sure."""
    rng = np.random.default_rng(1)
    base = rng.random((4, 24)) * 0.1
    low = base + np.array([[0.0], [2.0], [0.9], [1.0]])
    high = low + np.array([[0.01], [0.01], [0.4], [0.0]])
    high[2] += 0.8
    low[2] -= 0.8
    result = bootstrap_b(intervals=[low, high], names=["a", "b", "c", "d"])
    p = result.adjusted_pvalues
    assert result.verdicts[0] == result.verdicts[1] == "significant"
    assert result.verdicts[2] == "inconclusive"
    assert p[2, 0] <= 0.05 <= p[2, 1]
    for (smallest, largest), verdict in zip(p, result.verdicts, strict=True):
        assert (verdict == "significant") == (largest < 0.05)
        assert (verdict == "not significant") == (smallest > 0.05)
    sure = bootstrap_b(np.tile(base[0], (3, 1)))
    assert sure.verdicts == ("not significant",) * 3
    np.testing.assert_allclose(p, np.minimum(4 * result.pvalues, 1))
    text = result.explain()
    assert "a has a mean loss between" in text
    assert "below the mean of all learners: significant" in text
    assert "above the mean of all learners: significant" in text
    assert "may lie on either side of the mean of all learners: inconclusive" in text


def test_missing_cells_span_the_range_of_the_loss():
    losses = np.random.default_rng(1).random((3, 6))
    losses[1, 2] = np.nan
    result = bootstrap_b(losses, missing="allow")
    filled = np.stack([np.where(np.isnan(losses), end, losses) for end in (0.0, 1.0)])
    np.testing.assert_array_equal(result.pvalues, bootstrap_b(intervals=filled).pvalues)
    direct = np.stack([losses, losses])
    np.testing.assert_array_equal(
        result.pvalues, bootstrap_b(intervals=direct, missing="allow").pvalues
    )
    wider = bootstrap_b(losses, missing="allow", loss_range=(-1, 3)).pvalues
    assert (wider[:, 0] <= result.pvalues[:, 0]).all()
    assert (wider[:, 1] >= result.pvalues[:, 1]).all()
    with pytest.raises(ArgumentError, match="missing='allow'"):
        bootstrap_b(losses)
    with pytest.raises(ArgumentError, match="loss_range must contain all losses"):
        bootstrap_b(losses, missing="allow", loss_range=(0, 0.1))


def test_folds_of_intervals_are_averaged():
    low = np.random.default_rng(1).random((3, 4, 5))
    direct = bootstrap_b(intervals=[low, low + 0.25])
    np.testing.assert_allclose(direct.intervals[:, 0], low.mean(axis=(1, 2)))
    np.testing.assert_allclose(direct.intervals[:, 1], low.mean(axis=(1, 2)) + 0.25)
    for wrong in (low, low[None, :, :1], np.ones((2, 1, 4)), np.ones((2, 2, 2, 2, 2))):
        with pytest.raises(ArgumentError, match="intervals must have the axes"):
            bootstrap_b(intervals=wrong)


# eleven repetitions 0.0, 0.1, ..., 1.0 out of order: the quantile q is q itself
LADDER = np.random.default_rng(0).permutation(11)[None, None, None] / 10


@pytest.mark.parametrize(
    ("interval", "low", "high"),
    [
        ("central", 0.45, 0.55),
        ("interquartile", 0.25, 0.75),
        ((0.1, 0.6), 0.1, 0.6),
        ([0.0, 1.0], 0.0, 1.0),
        # median 0.5; a tenth of 11 is 1.1, so two are covered: 0.5 and a neighbour
        (("median-radius", 0.10), 0.4, 0.6),
        # half of 11 is 5.5, so six: the third neighbour on one side
        (("median-radius", 0.5), 0.2, 0.8),
    ],
)
def test_ends_by_hand(interval, low, high):
    ends = repetition_intervals(LADDER, interval)
    assert ends.shape == (2, 1, 1, 1)
    assert ends.ravel() == pytest.approx([low, high], abs=1e-12)


def test_a_tenth_of_thirty_is_three():
    losses = np.arange(30.0)[None, None, None]
    ends = repetition_intervals(losses, ("median-radius", 0.1)).ravel()
    # median 14.5, distances 0.5, 0.5, 1.5
    assert ends.tolist() == [13.0, 16.0]


@pytest.mark.parametrize("interval", ["central", "interquartile", ("median-radius", 0.3)])
def test_a_missing_repetition_is_enclosed_whatever_it_was(interval):
    losses = np.random.default_rng(2).random((2, 3, 2, 7))
    holes = losses.copy()
    holes[0, 1, 0, 4] = np.nan
    holes[1, 2, 1] = np.nan
    ends = repetition_intervals(holes, interval, missing="allow")
    assert ends[:, 1, 2, 1].tolist() == [0.0, 1.0]
    for value in np.linspace(0, 1, 21):
        complete = repetition_intervals(np.where(np.isnan(holes), value, holes), interval)
        assert (ends[0] <= complete[0] + 1e-15).all()
        assert (ends[1] >= complete[1] - 1e-15).all()
    whole = ~np.isnan(holes).any(axis=-1)
    same = repetition_intervals(losses, interval)
    np.testing.assert_array_equal(ends[:, whole], same[:, whole])


def test_typical_values_and_shortest_intervals_by_hand():
    """Six repetitions: four near 2, two far away."""
    losses = np.array([1.9, 2.0, 2.1, 2.15, 9.0, 0.0]).reshape(1, 1, 1, 6)

    def of(interval):
        return repetition_intervals(losses, interval).ravel().tolist()

    assert of("median") == pytest.approx([2.05, 2.05])
    # without one of six at each end: 1.9, 2.0, 2.1, 2.15
    assert of("censored-mean") == pytest.approx([2.0375, 2.0375])
    # the densest half is 2.0, 2.1, 2.15, the densest half of that 2.1, 2.15
    assert of("mode") == pytest.approx([2.125, 2.125])
    # half of six: three neighbours; the closest are 2.0 to 2.15
    assert of(("shortest", 0.5)) == pytest.approx([2.0, 2.15])
    assert of(("shortest", 0.1)) == pytest.approx([0.0, 0.0])


def test_widths_converge_with_the_repetitions():
    """Half the range of two normal numbers is 1 / sqrt(pi) on average; the limit is 1.349."""
    widths = interval_convergence(np.random.default_rng(0).normal(size=(5000, 64)), "interquartile")
    assert list(widths) == [2, 4, 8, 16, 32, 64]
    assert widths[2] == pytest.approx(1 / np.sqrt(np.pi), abs=0.02)
    assert widths[64] == pytest.approx(1.349, abs=0.04)
    assert list(widths.values()) == sorted(widths.values())
