"""Layouts as values: who is joined, where edges lead, what stands where."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import ordinal
from bestofk.decide import multitest
from bestofk.report.figures.kinds.critical_difference import bars_of, layout_critical_difference
from bestofk.report.figures.kinds.differences import layout_densities
from bestofk.report.figures.kinds.forest import layout_forest
from bestofk.report.figures.kinds.interval_bars import layout_intervals
from bestofk.report.figures.kinds.letters import layout_letters, layout_underlines
from bestofk.report.figures.kinds.loss_points import layout_losses
from bestofk.report.figures.kinds.multitest import layout_graph, layout_steps, text_graph
from bestofk.report.figures.kinds.pair_matrix import layout_matrix
from bestofk.report.figures.kinds.rate_curves import Rates, layout_rates
from bestofk.report.figures.kinds.roc_curves import layout_roc
from bestofk.report.figures.kinds.sensitivity import layout_alpha, layout_preference
from bestofk.stats import multiple


@pytest.fixture
def paper_order():
    """Fig. 2 of Yildiz and Alpaydin (2006): edges 1-2, 1-3, 1-4, 2-3; the order is 3, 2, 4, 1."""
    from dataclasses import replace

    order = multitest(np.random.default_rng(0).random((4, 3, 4)), guard=False)
    evidence = order.evidence
    edges = {(0, 1), (0, 2), (0, 3), (1, 2)}
    pairs = zip(evidence.first.tolist(), evidence.second.tolist(), strict=True)
    better = np.array([pair in edges for pair in pairs], dtype=np.int8)
    found = replace(order, evidence=replace(evidence, better=better))
    return replace(found, recommended=2, ranking=(2, 1, 3, 0))


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


GUARDED = bk.Losses(
    # A is struck out by C; B has the worst mean and spreads too much to be shown worse
    np.stack([
        0.27 + 0.01 * np.sin(np.arange(12)),
        0.40 + 0.60 * np.cos(2.7 * np.arange(12)),
        0.25 + 0.01 * np.cos(np.arange(12)),
    ]),
    dims=("algorithm", "dataset"), algorithms=["A", "B", "C"],
)  # fmt: skip


def test_steps_show_who_is_passed_over():
    order = bk.order(GUARDED, prefer="listed")
    assert order.steps[0].passed_over == ("B",)
    layout = layout_steps(order)
    assert layout.passed_over == ((1,), (), ())
    assert any(word.text == "takes 3, passes over 2" for word in layout.picture.words)
    strikes = [shape for shape in layout.picture.shapes
               if getattr(shape, "points", None) and shape.colour == "vermillion"]  # fmt: skip
    x, y = layout.nodes[0][1]
    assert [np.mean(strike.points, axis=0).tolist() for strike in strikes] == [[x, y]]
    told = " ".join(word.text for word in layout.picture.words)
    assert "struck through" in told
    unguarded = layout_steps(bk.order(GUARDED, prefer="listed", guard=False))
    assert unguarded.chosen == (1, 2, 0)
    assert "struck through" not in " ".join(word.text for word in unguarded.picture.words)


def test_steps_of_many_show_who_is_passed_over():
    values = GUARDED.by_dataset()
    others = 0.9 + 0.001 * np.random.default_rng(0).random((5, 12))
    many = bk.Losses(np.concatenate([values, others]), dims=("algorithm", "dataset"))
    layout = layout_steps(bk.order(many, prefer="listed"))
    assert layout.passed_over[0] == (1,)
    assert sum(getattr(s, "colour", "") == "vermillion" for s in layout.picture.shapes) == sum(
        map(len, layout.passed_over)
    )


@pytest.mark.parametrize("kind", ["graph", "steps", "densities", "alpha", "preference"])
def test_figures_of_a_preference_need_one(kind):
    from bestofk.report.figures import figure, figure_kinds, picture_of

    order = bk.order(GUARDED)
    assert figure_kinds(order)[0] == "forest"
    assert kind not in figure_kinds(order)
    with pytest.raises(ArgumentError, match=f"figure '{kind}': .* none was stated: decide with "):
        figure(order, kind)
    stated = bk.order(GUARDED, prefer="listed")
    assert kind in figure_kinds(stated)
    assert figure_kinds(stated)[0] == "graph"
    assert picture_of(order) == picture_of(order, "forest")


def test_figures_fit_what_an_order_has():
    from bestofk.report.figures import figure_kinds

    control = bk.order(GUARDED, family="control", control="A")
    assert "matrix" not in figure_kinds(control)
    one_sided = bk.order(GUARDED, prefer="listed", family="preference")
    assert "matrix" in figure_kinds(one_sided)
    assert "letters" not in figure_kinds(one_sided)
    nothing = bk.order(GUARDED, procedure="anova-choice")
    assert figure_kinds(nothing) == ("losses", "heatmap", "ranks")
    with pytest.raises(ArgumentError, match="by 'anova-choice' has no such pairs: draw 'losses'"):
        layout_forest(nothing)


def test_forest_is_the_standings():
    rng = np.random.default_rng(2)
    values = 0.2 + 0.1 * rng.random((6, 1, 1)) + 0.03 * rng.standard_normal((6, 5, 10))
    for scores in (False, True):
        losses = bk.Losses(1 - values if scores else values, higher_is_better=scores)
        order = bk.order(losses, margin=0.03)
        layout = layout_forest(order)
        scale = layout.picture.x_scale
        assert layout.names == tuple(one.name for one in order.standings)
        assert layout.pvalues == tuple(one.adjusted_pvalue for one in order.standings)
        means = [order.means[name] for name in layout.names]
        assert means == sorted(means)
        own = order.means[order.recommended]
        assert layout.differences == pytest.approx([mean - own for mean in means])
        # worse is to the right, whatever the direction of the metric
        assert min(layout.differences) >= 0
        spans = {
            round(shape.points[0][1], 3): [scale.data(x) for x, _ in shape.points]
            for shape in layout.picture.shapes
            if getattr(shape, "width", 0) == 1.4 and len(getattr(shape, "points", ())) == 2
        }
        for row, low, high in zip(layout.rows, layout.lows, layout.highs, strict=True):
            assert spans[round(row, 3)] == pytest.approx([low, high])
        assert [scale.data(x) for x in layout.margin] == pytest.approx([-0.03, 0.03])


def test_forest_tells_verdicts_by_shape_too():
    """Square, circle, cross and triangle, and words for each."""
    order = bk.order(GUARDED, family="control", control="A")
    layout = layout_forest(order)
    assert layout.labels == ("A", "B")
    assert layout.verdicts == ("worse", "not tested")
    assert layout.pvalues[1] is None
    words = [word.text for word in layout.picture.words]
    for text in ("worse", "not tested", "worse →"):
        assert text in words
    # nothing is known of B: a mark alone, no line
    row = layout.rows[1]
    assert not [s for s in layout.picture.shapes if len(getattr(s, "points", ())) == 2
                and s.points[0][1] == s.points[1][1] == row]  # fmt: skip


def test_forest_of_one_sided_evidence_has_arrows():
    order = bk.order(GUARDED, prefer=["C", "A", "B"], family="preference")
    layout = layout_forest(order)
    assert set(layout.verdicts) == {"not tested"}
    assert not np.isfinite(layout.lows).any()
    heads = [s for s in layout.picture.shapes
             if len(getattr(s, "points", ())) == 3 and s.closed]  # fmt: skip
    assert len(heads) == 2
    assert any("An arrow: the interval goes on" in word.text for word in layout.picture.words)


@pytest.mark.parametrize("correction", ["holm", "none"])
def test_p_values_that_are_not_adjusted_are_said_to_be_so(correction):
    order = bk.order(GUARDED, correction=correction)
    for layout in (layout_forest(order), layout_matrix(order)):
        told = " ".join(word.text for word in layout.picture.words)
        assert ("not adjusted" in told) == (correction == "none")
        assert ("adjusted p" in told) == (correction == "holm")
        assert ("for each pair alone" in told) == (correction == "none")


def test_ordinals():
    assert [ordinal(k) for k in (1, 2, 3, 4, 11, 12, 21, 22, 113)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "22nd", "113th")
    ]


def test_densities_integrate_to_one_and_stand_by_prior():
    losses = bk.Losses(np.random.default_rng(2).random((3, 4, 25)), algorithms=["a", "b", "c"])
    layout = layout_densities(bk.order(losses, prefer=["c", "a", "b"]))
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
    layout = layout_losses(bk.Losses(values, missing="allow"))
    assert sorted(len(points) for points in layout.points) == [5, 6]


@pytest.mark.parametrize("scores", [False, True])
def test_matrix_tells_who_is_better_in_either_direction(scores):
    """The preferred learner is the better one: no edge, and the matrix must tell."""
    rng = np.random.default_rng(1)
    values = np.array([0.1, 0.3, 0.1])[:, None, None] + 0.01 * rng.random((3, 3, 4))
    values = 1 - values if scores else values
    losses = bk.Losses(values, algorithms=["good", "bad", "other"], higher_is_better=scores)
    order = bk.order(losses, prefer="listed")
    assert order.edges == (("bad", "other"),)
    layout = layout_matrix(order)
    assert layout.labels == ("good", "other", "bad")
    better = {(row, column): who for row, column, *_, who in layout.cells}
    assert better == {(1, 0): 0, (2, 0): 1, (2, 1): 1}
    words = [word.text for word in layout.picture.words]
    assert any(" to " in word for word in words)
    # bad less good: about 0.2 more of a loss, 0.2 less of a score
    gap = values[1].mean() - values[0].mean()
    assert f"{gap:+.3f}".replace("-", "−") in words


def test_matrix_says_who_is_better_by_the_test_and_not_by_the_mean():
    """By ranks b is better on 19 of 20 data sets; one outlier makes its mean the larger one."""
    a = np.full(20, 0.30) + 0.001 * np.arange(20)
    b = a - 0.01 - 0.0001 * np.arange(20)
    b[0] += 0.9
    losses = bk.Losses([a, b], dims=("algorithm", "dataset"), algorithms=["a", "b"])
    order = bk.order(losses)
    assert order.test == "wilcoxon"
    assert order.smallest_mean == "a"
    assert order.claims == (("b", "a"),)
    layout = layout_matrix(order)
    assert layout.labels == ("a", "b")
    assert [who for *_, who in layout.cells] == [-1]
    assert layout_forest(order).verdicts == ("better",)


def test_comparisons_are_the_evidence_in_the_users_metric():
    from bestofk.report.figures.comparisons import comparisons_of

    rng = np.random.default_rng(8)
    values = 0.2 + 0.1 * rng.random((4, 1)) + 0.05 * rng.random((4, 30))
    names = ["a", "b", "c", "d"]
    for scores in (False, True):
        losses = bk.Losses(
            values,
            dims=("algorithm", "dataset"),
            algorithms=names,
            higher_is_better=scores,
            loss_name="accuracy" if scores else "loss",
        )
        order = bk.order(losses)
        pairs = comparisons_of(order)
        at = {name: k for k, name in enumerate(pairs.names)}
        for pair in order.evidence:
            row, column = at[pair.a], at[pair.b]
            told = pair.to_dict()
            assert pairs.difference[row, column] == pytest.approx(told["estimate"], abs=1e-12)
            assert pairs.low[row, column] == told["low"]
            assert pairs.high[row, column] == told["high"]
            assert pairs.low[column, row] == -told["high"]
            assert pairs.pvalue[row, column] == pairs.pvalue[column, row] == told["adjusted_pvalue"]
            who = {None: 0, pair.a: -1, pair.b: 1}[told["better"]]
            assert (pairs.better[row, column], pairs.better[column, row]) == (who, -who)
        assert pairs.score_name == ("mean accuracy" if scores else "mean loss")
        best = pairs.names[pairs.by_score()[0]]
        mean = values.mean(axis=1)
        assert best == names[int(mean.argmax() if scores else mean.argmin())]
        for layout in (layout_matrix, layout_critical_difference, layout_letters):
            assert layout(pairs).order == layout(order).order


def test_the_better_side_is_right_for_scores():
    rng = np.random.default_rng(4)
    values = np.array([0.9, 0.7, 0.8])[:, None] + 0.01 * rng.random((3, 12))
    losses = bk.Losses(values, algorithms=["x", "y", "z"], higher_is_better=True,
                       loss_name="AUC")  # fmt: skip
    order = bk.order(losses)
    line = layout_critical_difference(order)
    assert line.labels == ("y", "z", "x")
    assert any(w.text == "mean AUC, the best at the right" for w in line.picture.words)
    assert {w.text for w in line.picture.words if w.colour == "blue"} == {"x"}
    assert layout_letters(order).labels == ("x", "z", "y")
    points = layout_losses(order)
    assert points.labels == ("x", "z", "y")
    assert points.means == pytest.approx(sorted(values.mean(axis=1), reverse=True))
    assert all(low < mean < high for low, mean, high in
               zip(points.lows, points.means, points.highs, strict=True))  # fmt: skip
    assert any(w.text == "AUC" for w in points.picture.words)
    stated = bk.order(losses, prefer="listed")
    assert layout_densities(stated).means == pytest.approx(values.mean(axis=1))


def test_points_are_of_what_was_decided_on():
    """A run that lacks a cell is dropped: the means drawn are those of the decision."""
    rng = np.random.default_rng(6)
    values = rng.random((3, 4, 5))
    values[1, 2, 3] = np.nan
    losses = bk.Losses(values, missing="allow", algorithms=["a", "b", "c"])
    order = bk.order(losses, missing="drop", prefer="listed")
    layout = layout_losses(order, losses=losses)
    assert [len(points) for points in layout.points] == [15, 15, 15]
    assert dict(zip(layout.labels, layout.means, strict=True)) == pytest.approx(order.means)
    densities = layout_densities(order)
    assert dict(zip(densities.labels, densities.means, strict=True)) == pytest.approx(order.means)


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
        if h1 == h2:  # never taken for one bar
            assert max(a1 - b2, a2 - b1) >= 7
    letters = layout_letters(result)
    place = {learner: k for k, learner in enumerate(letters.order)}
    for i, j in itertools.combinations(range(n), 2):
        same = set(letters.letters[place[i]]) & set(letters.letters[place[j]])
        assert bool(same) == (not apart[i, j])


def test_one_sided_evidence_joins_nobody():
    values = np.random.default_rng(0).random((3, 3, 4))
    with pytest.raises(ArgumentError, match="one-sided, so it cannot say"):
        layout_letters(multitest(values, family="preference"))
    assert layout_letters(multitest(values)).letters


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
    from bestofk.decide import roc_hull

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
    moved = layout_preference(order, learner=0)
    assert moved.breaks == tuple(sorted(moved.breaks, reverse=True))


def test_graph_in_text():
    losses = bk.Losses(
        [[0.41, 0.52, 0.43], [0.12, 0.21, 0.11], [0.40, 0.51, 0.44]],
        algorithms=["max", "nmc", "<b>x</b>\n\u202e"],
    )
    order = bk.order(losses, prefer="listed", test="kfold-t")
    assert text_graph(order).split("\n") == [
        "1 max         ●",
        "2 nmc         ▲  recommended",
        "3 <b>x</b> �",
        "▲ is significantly better than the ● above it, which were preferred.",
    ]
    assert text_graph(multitest([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3]])) == ""


def test_graph_in_text_fits_the_terminal():
    rng = np.random.default_rng(0)
    values = np.linspace(0.5, 0.1, 70)[:, None, None] + 0.01 * rng.random((70, 3, 4))
    names = [f"learner {k} " + "x" * 90 for k in range(70)]
    order = bk.order(bk.Losses(values, algorithms=names), prefer="listed")
    lines = text_graph(order, width=72).split("\n")
    assert max(map(len, lines[:40])) <= 72
    assert "recommended" not in "".join(lines[:40])  # it is the last of 70
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
