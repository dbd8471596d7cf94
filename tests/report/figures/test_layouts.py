"""Layouts as values: who is joined, where edges lead, what stands where."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bestofk as bk
from bestofk import multiple
from bestofk.errors import ArgumentError
from bestofk.ordering import multitest
from bestofk.ordering.result import Order
from bestofk.report.figures.critical_difference import bars_of, layout_critical_difference
from bestofk.report.figures.densities import layout_densities
from bestofk.report.figures.interval_bars import layout_intervals
from bestofk.report.figures.letters import layout_letters
from bestofk.report.figures.loss_points import layout_losses
from bestofk.report.figures.multitest_graph import layout_graph, ordinal
from bestofk.report.figures.multitest_steps import layout_steps
from bestofk.report.figures.pair_matrix import layout_matrix
from bestofk.report.figures.rate_curves import Rates, layout_rates
from bestofk.report.figures.roc_curves import layout_roc
from bestofk.report.figures.sensitivity import layout_alpha, layout_prior
from bestofk.report.figures.terminal_graph import text_graph
from bestofk.report.figures.underlines import layout_underlines


@pytest.fixture
def paper_order():
    """Fig. 2 of Yildiz and Alpaydin (2006): edges 1-2, 1-3, 1-4, 2-3; the order is 3, 2, 4, 1."""
    from dataclasses import replace

    order = multitest(np.random.default_rng(0).random((4, 3, 4)))
    evidence = order.evidence
    edges = {(0, 1), (0, 2), (0, 3), (1, 2)}
    rejected = np.array(
        [(i, j) in edges for i, j in zip(evidence.first, evidence.second, strict=True)]
    )
    found = replace(order, evidence=replace(evidence, rejected=rejected))
    return replace(found, best=2, order=(2, 1, 3, 0))


def test_graph_of_the_papers_figure_2(paper_order):
    layout = layout_graph(paper_order)
    assert layout.edges == ((0, 1), (0, 2), (0, 3), (1, 2))
    assert layout.candidates == (2, 3)
    assert layout.chosen == 2
    assert layout.places == (4, 2, 1, 3)
    x = [x for x, _ in layout.nodes]
    assert x == sorted(x)
    assert len({y for _, y in layout.nodes}) == 1


def test_steps_of_the_papers_figure_2(paper_order):
    layout = layout_steps(paper_order)
    assert layout.remaining == ((0, 1, 2, 3), (0, 1, 3), (0, 3), (0,))
    assert layout.candidates == ((2, 3), (1, 3), (3,), (0,))
    assert layout.chosen == (2, 1, 3, 0)
    # thick: candidates; shaded: chosen; the others have a thin line
    nodes = [shape for shape in layout.picture.shapes if getattr(shape, "radius", 0) == 10.0]
    assert [node.width > 2 for node in nodes[:4]] == [False, False, True, True]
    assert [node.fill for node in nodes[:4]] == ["paper", "paper", "blue", "paper"]
    # who was taken leaves its place empty
    first, second = ([x for x, _ in step] for step in layout.nodes[:2])
    assert second[2] - second[0] == first[3] - first[0]


def test_steps_need_multitest():
    order = bk.order(np.random.default_rng(0).random((3, 3, 4)), procedure="most-wins")
    with pytest.raises(ArgumentError, match="which has steps; got one from 'most-wins'"):
        layout_steps(order)


def test_ordinals():
    assert [ordinal(k) for k in (1, 2, 3, 4, 11, 12, 21, 22, 113)] == [
        *("best", "2nd", "3rd", "4th", "11th", "12th", "21st", "22nd", "113th")
    ]


def test_densities_integrate_to_one_and_stand_by_prior():
    losses = bk.Losses(np.random.default_rng(2).random((3, 4, 25)), algorithms=["a", "b", "c"])
    layout = layout_densities(bk.order(losses, prior=["c", "a", "b"]))
    assert layout.labels == ("c", "a", "b")
    step = layout.grid[1] - layout.grid[0]
    for density in layout.densities:
        assert np.sum(density) * step == pytest.approx(1.0, abs=0.12)  # tails reach off the axis
    assert layout.means == pytest.approx([losses.means()[name] for name in "cab"])


def test_every_fold_is_a_point_and_runs_are_apart():
    losses = bk.Losses(np.random.default_rng(3).random((3, 4, 5)), algorithms=["a", "b", "c"])
    layout = layout_losses(losses)
    assert [len(points) for points in layout.points] == [20, 20, 20]
    by_run = {}
    for _, y, run in layout.points[0]:
        by_run.setdefault(run, set()).add(y)
    assert len(by_run) == 4
    assert all(len(heights) == 1 for heights in by_run.values())
    assert len(set.union(*by_run.values())) == 4
    assert list(layout.means) == sorted(losses.means().values())
    # Nadeau and Bengio's variance, by hand: (1/20 + 1/4) s^2 with 19 degrees of freedom
    sample = losses.by_fold()[layout.order[0]].ravel()
    half = 2.093024 * np.sqrt((1 / 20 + 1 / 4) * sample.var(ddof=1))
    assert layout.highs[0] - layout.means[0] == pytest.approx(half, rel=1e-5)


def test_missing_losses_have_no_point():
    values = np.random.default_rng(3).random((2, 2, 3))
    values[0, 1, 2] = np.nan
    layout = layout_losses(bk.Losses(values, missing="declared"))
    assert sorted(len(points) for points in layout.points) == [5, 6]


def test_matrix_tells_who_wins_two_sided():
    """The preferred learner is the better one: MultiTest did not ask, the matrix must tell."""
    rng = np.random.default_rng(1)
    values = np.array([0.1, 0.3, 0.1])[:, None, None] + 0.01 * rng.random((3, 3, 4))
    order = bk.order(bk.Losses(values, algorithms=["good", "bad", "other"]))
    assert order.edges == (("bad", "other"),)
    layout = layout_matrix(order)
    assert layout.labels == ("good", "other", "bad")
    winners = {(row, column): winner for row, column, *_, winner in layout.cells}
    assert winners == {(1, 0): 0, (2, 0): 1, (2, 1): 1}
    words = [word.text for word in layout.picture.words]
    assert any(" to " in word for word in words)


def test_matrix_over_data_sets_has_t_intervals_and_pairs_are_tested_once():
    """Exact intervals of the permutation test would take longer than everything else."""
    from bestofk.report.figures.comparisons import comparisons_of

    rng = np.random.default_rng(8)
    values = 0.2 + 0.1 * rng.random((4, 1)) + 0.05 * rng.random((4, 30))
    names = ["a", "b", "c", "d"]
    losses = bk.Losses(values, dims=("algorithm", "dataset"), algorithms=names)
    order = bk.order(losses)
    assert order.test == "permutation"
    pairs = comparisons_of(order)
    # Student's interval of the mean difference: t(29) = 2.045230 at 0.975
    difference = values[0] - values[1]
    half = 2.045230 * difference.std(ddof=1) / np.sqrt(30)
    assert pairs.high[0, 1] == pytest.approx(difference.mean() + half, rel=1e-6)
    assert pairs.low[1, 0] == -pairs.high[0, 1]
    assert "95% t intervals" in pairs.interval_note
    for layout in (layout_matrix, layout_critical_difference, layout_letters):
        assert layout(pairs).order == layout(order).order


@st.composite
def lines(draw):
    n = draw(st.integers(2, 12))
    scores = sorted(draw(st.lists(st.integers(0, 8), min_size=n, max_size=n)))
    bits = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    upper = np.triu(np.array(bits, dtype=bool).reshape(n, n), 1)
    return np.array(scores, dtype=float), upper | upper.T


@settings(max_examples=300, deadline=None)
@given(lines())
def test_no_bar_covers_a_pair_that_differs(line):
    """By brute force: bars are exactly the longest stretches of the line without a difference."""
    scores, different = line
    values = np.unique(scores)
    clear = []
    for low, high in itertools.combinations_with_replacement(values, 2):
        under = np.flatnonzero((scores >= low) & (scores <= high))
        if len(under) > 1 and not different[np.ix_(under, under)].any():
            clear.append((int(under[0]), int(under[-1])))
    longest = {
        one
        for one in clear
        if not any(other != one and other[0] <= one[0] and one[1] <= other[1] for other in clear)
    }
    assert set(bars_of(scores, different)) == longest


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("test", ["nemenyi", "posthoc", "newman-keuls", "tukey"])
def test_bars_as_drawn_join_nobody_who_differs(test, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    losses = np.round(rng.random((n, 14)) + np.linspace(0, rng.random() * 2, n)[:, None], 1)
    if test == "nemenyi":
        result = multiple.nemenyi(losses)
        apart = np.abs(np.subtract.outer(*[result.average_ranks] * 2)) > result.critical_difference
    elif test == "posthoc":
        result = multiple.posthoc(losses, "wilcoxon")
        apart = result.matrix() <= 0.05
    elif test == "tukey":
        result = multiple.tukey(losses)
        apart = result.pvalues <= 0.05
    else:
        result = multiple.newman_keuls(losses)
        apart = np.array([[result.different(i, j) for j in range(n)] for i in range(n)])
    layout = layout_critical_difference(result)
    at = np.array(layout.places)
    ends = []
    for (first, last), height in zip(layout.bars, layout.bar_heights, strict=True):
        assert at[last] >= at[first]
        under = [layout.order[k] for k in np.flatnonzero((at >= at[first]) & (at <= at[last]))]
        assert not apart[np.ix_(under, under)].any()
        ends.append((height, at[first], at[last]))
    for (h1, a1, b1), (h2, a2, b2) in itertools.combinations(ends, 2):
        assert h1 != h2 or a1 >= b2 + 7 or a2 >= b1 + 7  # never taken for one bar
    letters = layout_letters(result)
    place = {learner: k for k, learner in enumerate(letters.order)}
    for i, j in itertools.combinations(range(n), 2):
        same = set(letters.letters[place[i]]) & set(letters.letters[place[j]])
        assert bool(same) == (not apart[i, j])


def test_one_sided_evidence_joins_nobody():
    order = multitest(np.random.default_rng(0).random((3, 3, 4)))
    from dataclasses import replace

    alone: Order = replace(order, problem=None, choice=None)
    with pytest.raises(ArgumentError, match="one-sided, so it cannot say"):
        layout_letters(alone)
    assert layout_letters(alone, losses=np.random.default_rng(0).random((3, 3, 4))).letters


@pytest.mark.parametrize("n", [4, 30])
def test_underlines_are_those_of_the_test(n):
    rng = np.random.default_rng(n)
    result = multiple.newman_keuls(rng.random((n, 6)) + np.linspace(0, 1.5, n)[:, None])
    layout = layout_underlines(result, names=[f"a learner with a name {k}" for k in range(n)])
    assert layout.across == (n == 4)
    drawn = [tuple(layout.order[first : last + 1]) for first, last in layout.underlines]
    assert drawn == list(result.underlines)


def test_inconclusive_intervals_are_open():
    lower = np.array([[0.10] * 6, [0.40] * 6, [0.05] * 6, [0.25] * 6])
    upper = lower + np.array([[0.001], [0.01], [0.05], [0.02]])
    result = multiple.bootstrap_b(intervals=[lower, upper])
    layout = layout_intervals(result)
    assert layout.verdicts == tuple(result.verdicts[a] for a in layout.order)
    assert set(layout.verdicts) == {"significant", "not significant", "inconclusive"}
    dashed = [shape for shape in layout.picture.shapes if getattr(shape, "dash", ()) == (3, 2)]
    open_rows = {row for row, v in zip(layout.rows, layout.verdicts, strict=True)
                 if v == "inconclusive"}  # fmt: skip
    assert {np.mean([y for _, y in shape.points[:4]]) for shape in dashed} == open_rows
    assert layout.null == pytest.approx(
        (result.intervals[:, 0].mean(), result.intervals[:, 1].mean())
    )


def test_rates_go_where_they_should():
    rates = Rates(
        x=[1, 2, 3],
        rate=[[0.1, 0.2, 0.3], [0.3, np.nan, 0.1]],
        low=[[0.0, 0.1, 0.2], [0.2, np.nan, 0.0]],
        high=[[0.2, 0.3, 0.4], [0.4, np.nan, 0.2]],
        names=["up", "down"],
    )
    layout = layout_rates(rates)
    assert [len(curve) for curve in layout.curves] == [3, 2]
    assert layout.label_heights[0] < layout.label_heights[1]  # the higher rate stands higher
    with pytest.raises(ArgumentError, match=r"must have shape \(1, 3\)"):
        layout_rates(Rates(x=[1, 2, 3], rate=[[1]], low=[[1]], high=[[1]], names=["a"]))


def test_roc_hull_and_slopes():
    """Points (0, 1/2) and (1/2, 1) of two classifiers: slopes infinite, 1 and 0, by hand."""
    from bestofk.ordering import roc_hull

    hull = roc_hull([[1, 0, 0, 0], [1, 1, 1, 0]], [1, 1, 0, 0], names=["a", "b"])
    layout = layout_roc(hull)
    assert layout.slopes == (float("inf"), 1.0, 0.0)
    assert [text for *_, text in layout.slope_labels] == ["1"]
    assert layout.labels == ("a", "b")
    (x0, y0), (x1, y1), *_ = layout.hull
    assert x0 == x1
    assert y0 - y1 == pytest.approx(290 / 2)


def test_sensitivity_lines_are_the_ranks():
    rng = np.random.default_rng(5)
    values = 0.3 + 0.1 * rng.standard_normal((6, 1, 1)) + 0.05 * rng.standard_normal((6, 3, 4))
    order = multitest(values)
    layout = layout_alpha(order)
    assert len(layout.breaks) >= 1
    for stretch in range(len(layout.breaks) + 1):
        assert sorted(ranks[stretch] for ranks in layout.ranks) == [1, 2, 3, 4, 5, 6]
    ends = [line[-1][1] for line in layout.lines]
    assert np.argsort(np.argsort(ends)).tolist() == [ranks[-1] - 1 for ranks in layout.ranks]
    moved = layout_prior(order, learner=0)
    assert moved.breaks == tuple(sorted(moved.breaks, reverse=True))


def test_graph_in_text():
    losses = bk.Losses(
        [[0.41, 0.52, 0.43], [0.12, 0.21, 0.11], [0.40, 0.51, 0.44]],
        algorithms=["max", "nmc", "<b>x</b>\n\u202e"],
    )
    assert text_graph(bk.order(losses, test="kfold-t")).split("\n") == [
        "1 max         ●",
        "2 nmc         ▲  best",
        "3 <b>x</b> �",
        "▲ is significantly better than the ● above it, which were preferred.",
    ]
    assert text_graph(bk.order([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3]])) == ""


def test_graph_in_text_fits_the_terminal():
    rng = np.random.default_rng(0)
    values = np.linspace(0.5, 0.1, 70)[:, None, None] + 0.01 * rng.random((70, 3, 4))
    order = bk.order(bk.Losses(values, algorithms=[f"learner {k} " + "x" * 90 for k in range(70)]))
    lines = text_graph(order, width=72).split("\n")
    assert max(map(len, lines[:40])) <= 72
    assert "best" not in "".join(lines[:40])  # the best is the last of 70
    assert "... and 30 more" in lines
    assert "too many for this width" in lines[-1]


def test_a_curve_that_is_nowhere_known_is_named_not_drawn():
    nowhere = [float("nan")] * 3
    table = [[9.0, 10.0, 11.0], nowhere, [5.0, 5.0, 60.0]]
    rates = Rates(x=[5, 10, 100], rate=table, low=table, high=table, names=["a", "never", "c"])
    layout = layout_rates(rates)
    assert layout.labels == ("a", "c")
    assert any("Not known anywhere: never." in words.text for words in layout.picture.words)
    # degrees of freedom are no shares: the axis goes beyond 1
    assert layout.picture.y_scale.high > 60
