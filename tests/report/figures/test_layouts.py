"""What the pictures of decisions and tests show, read from their shapes and words."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bestofk as bk
from bestofk._base.results import row_dicts
from bestofk.decide import multitest
from bestofk.decide.statements.wording import worse_than_best
from bestofk.papers.figures.density_rows import densities_of, layout_densities
from bestofk.papers.figures.rate_curves import Rates, layout_rates
from bestofk.report.figures import draw, figure_kinds
from bestofk.report.figures.comparisons import comparisons_of
from bestofk.report.figures.kinds.critical_difference import (
    bars_of,
    layout_critical_difference,
    layout_critical_difference_ranks,
)
from bestofk.report.figures.kinds.forest import layout_forest
from bestofk.report.figures.kinds.loss_points import layout_losses, measured_losses
from bestofk.report.figures.kinds.multitest import edges_of, layout_graph, layout_steps
from bestofk.report.figures.kinds.pair_matrix import layout_matrix
from bestofk.stats import multiple


def texts(picture, **style):
    """Return the texts of the words with this style."""
    return [
        words.text
        for words in picture.words
        if all(getattr(words, name) == value for name, value in style.items())
    ]


def dots(picture, radius):
    return [shape for shape in picture.shapes if getattr(shape, "radius", None) == radius]


def lines(picture, **style):
    """Return the lines and areas with this style."""
    return [
        shape
        for shape in picture.shapes
        if hasattr(shape, "points")
        and all(getattr(shape, name) == value for name, value in style.items())
    ]


@pytest.fixture
def paper_order():
    """Fig. 2 of Yildiz and Alpaydin (2006): edges 1-2, 1-3, 1-4, 2-3; the order is 3, 2, 4, 1."""
    order = multitest(np.random.default_rng(0).random((4, 3, 4)))
    evidence = order.evidence
    edges = {(0, 1), (0, 2), (0, 3), (1, 2)}
    pairs = zip(evidence.first.tolist(), evidence.second.tolist(), strict=True)
    better = np.array([pair in edges for pair in pairs], dtype=np.int8)
    order = replace(order, evidence=replace(evidence, better=better))
    return replace(order, recommended=2, ranking=(2, 1, 3, 0))


def test_graph_of_the_papers_figure_2(paper_order):
    assert edges_of(paper_order) == ((0, 1), (0, 2), (0, 3), (1, 2))
    picture = layout_graph(paper_order)
    assert len(lines(picture, smooth=True)) == 4
    nodes = dots(picture, 11.0)
    assert [node.width > 2 for node in nodes] == [False, False, True, True]
    assert [node.fill for node in nodes] == ["paper", "paper", "blue", "paper"]
    assert {"4th", "2nd", "1st", "3rd"} <= set(texts(picture))
    ordinals = [text for text in texts(picture) if text[1:] in ("st", "nd", "rd", "th")]
    assert ordinals == ["4th", "2nd", "1st", "3rd"]
    x = [node.x for node in nodes]
    assert x == sorted(x)
    assert len({node.y for node in nodes}) == 1


def test_steps_of_the_papers_figure_2(paper_order):
    nodes = dots(layout_steps(paper_order), 10.0)
    # Candidates are thick and the chosen learner is shaded.
    thick = [node.width > 2 for node in nodes]
    assert thick == [False, False, True, True, False, True, True, False, True, True]
    shaded = [k for k, node in enumerate(nodes) if node.fill == "blue"]
    assert shaded == [2, 5, 8, 9]
    # A learner that was taken leaves its position empty.
    assert nodes[6].x - nodes[4].x == nodes[3].x - nodes[0].x


SPREAD = bk.Scores(
    # C beats A; B has the worst mean but varies too much to be shown worse
    np.stack([
        0.27 + 0.01 * np.sin(np.arange(12)),
        0.40 + 0.60 * np.cos(2.7 * np.arange(12)),
        0.25 + 0.01 * np.cos(np.arange(12)),
    ]),
    dims=("learner", "dataset"), learners=["A", "B", "C"],
)  # fmt: skip


def test_figures_fit_what_an_order_has():
    control = bk.compare_scores(SPREAD, rule="multitest", family="control", control="A").outcome
    assert "matrix" not in figure_kinds(control)
    one_sided = bk.compare_scores(
        SPREAD, rule="multitest", prefer="listed", family="preference"
    ).outcome
    assert "matrix" in figure_kinds(one_sided)
    assert "critical-difference" not in figure_kinds(one_sided)
    without_pairs = bk.compare_scores(SPREAD, rule="anova-choice").outcome
    assert figure_kinds(without_pairs) == (
        "losses", "critical-difference-ranks", "heatmap", "ranks"
    )  # fmt: skip


@pytest.mark.parametrize("scores", [False, True])
def test_forest_is_the_standings(scores):
    rng = np.random.default_rng(2)
    values = 0.2 + 0.1 * rng.random((6, 1, 1)) + 0.03 * rng.standard_normal((6, 5, 10))
    losses = bk.Scores(1 - values if scores else values, higher_is_better=scores)
    order = bk.compare_scores(losses, margin=0.03).outcome
    picture = layout_forest(order)
    data = picture.x_scale.data
    rows = order.standings
    assert texts(picture, anchor="end", size=9.0) == [str(row.name) for row in rows]
    bars = [[data(x) for x, _ in line.points] for line in lines(picture, width=1.4)]
    assert bars == [pytest.approx([row.at_least, row.at_most], abs=1e-9) for row in rows]
    shown = [worse_than_best(order, row) for row in rows]
    assert [text for text in texts(picture, size=8.0) if text in shown] == shown
    assert f"{order.metric.mean}: how much worse than the best" in texts(picture)
    (band,) = lines(picture, fill="orange")
    assert {round(data(x), 9) for x, _ in band.points} == {0.0, 0.03}


def test_forest_without_bounds_has_marks_alone():
    order = bk.compare_scores(SPREAD, rule="multitest", family="control", control="A").outcome
    picture = layout_forest(order)
    assert texts(picture, anchor="end", size=9.0) == [row.name for row in order.standings]
    assert {row.verdict for row in order.standings} <= set(texts(picture))
    assert f"how much worse than {order.recommended}" in " ".join(texts(picture))
    assert not lines(picture, colour="vermillion", width=1.4)


def test_a_very_long_bar_ends_in_an_arrow():
    order = bk.compare_scores(SPREAD).outcome
    picture = layout_forest(order)
    heads = [shape for shape in lines(picture, closed=True) if len(shape.points) == 3]
    long = [row for row in order.standings if row.at_most > picture.x_scale.high]
    assert len(heads) == len(long)
    assert ("An arrow: the bar goes on" in picture.note) == bool(long)


@pytest.mark.parametrize("correction", ["bonferroni", "none"])
def test_p_values_that_are_not_adjusted_are_said_to_be_so(correction):
    order = bk.compare_scores(SPREAD, correction=correction).outcome
    text = " ".join(texts(layout_matrix(order)))
    assert ("not adjusted" in text) == (correction == "none")
    assert ("the adjusted p-value" in text) == (correction == "bonferroni")
    assert ("for each pair alone" in text) == (correction == "none")


def test_densities_integrate_to_one_and_follow_the_preference():
    losses = bk.Scores(np.random.default_rng(2).random((3, 4, 25)), learners=["a", "b", "c"])
    order = bk.compare_scores(losses, prefer=["c", "a", "b"]).outcome
    grid, densities, means = densities_of(order, losses)
    assert densities.sum(axis=1) * (grid[1] - grid[0]) == pytest.approx(1.0, abs=0.12)
    assert means == pytest.approx([losses.means()[name] for name in "cab"])
    names = [text for text in texts(layout_densities(order, losses)) if text in "abc"]
    assert names == ["c", "a", "b"]


def test_every_fold_is_a_point_and_runs_are_apart():
    losses = bk.Scores(np.random.default_rng(3).random((3, 4, 5)), learners=["a", "b", "c"])
    points = dots(layout_losses(losses), 2.1)
    assert len(points) == 60
    assert len({point.y for point in points[:20]}) == 4
    assert len({point.y for point in points[:5]}) == 1
    assert "interval" not in " ".join(texts(layout_losses(losses)))


def cell_colours(picture):
    """Return the colours of the cells of a matrix, row by row."""
    return [shape.fill for shape in picture.shapes]


@pytest.mark.parametrize("scores", [False, True])
def test_matrix_shows_the_better_learner_in_either_direction(scores):
    """The preferred learner is the better one: there is no edge, but the matrix shows it."""
    rng = np.random.default_rng(1)
    values = np.array([0.1, 0.3, 0.1])[:, None, None] + 0.01 * rng.random((3, 3, 4))
    values = 1 - values if scores else values
    losses = bk.Scores(values, learners=["good", "bad", "other"], higher_is_better=scores)
    order = bk.compare_scores(losses, prefer="listed").outcome
    assert order.edges == (("bad", "other"),)
    picture = layout_matrix(order)
    assert texts(picture, size=9.0) == ["good", "other", "bad"]
    assert cell_colours(picture) == ["wash", "blue", "blue"]
    assert any(" to " in text for text in texts(picture))
    # bad minus good: about 0.2 more of a loss, 0.2 less of a score
    gap = values[1].mean() - values[0].mean()
    assert f"{gap:+.4f}".replace("-", "−") in texts(picture)


def test_matrix_shows_the_better_learner_by_the_test_and_not_by_the_mean():
    """By ranks b is better on 19 of 20 data sets, but an outlier makes its mean larger."""
    a = np.full(20, 0.30) + 0.001 * np.arange(20)
    b = a - 0.01 - 0.0001 * np.arange(20)
    b[0] += 0.9
    losses = bk.Scores([a, b], dims=("learner", "dataset"), learners=["a", "b"])
    order = bk.compare_scores(losses, test="wilcoxon").outcome
    assert order.smallest_mean == "a"
    assert order.claims == (("b", "a"),)
    picture = layout_matrix(order)
    assert texts(picture, size=9.0) == ["b", "a"]
    assert cell_colours(picture) == ["blue"]


@pytest.mark.parametrize("scores", [False, True])
def test_comparisons_are_the_evidence_in_the_users_metric(scores):
    rng = np.random.default_rng(8)
    values = 0.2 + 0.1 * rng.random((4, 1)) + 0.05 * rng.random((4, 30))
    names = ["a", "b", "c", "d"]
    losses = bk.Scores(
        values,
        dims=("learner", "dataset"),
        learners=names,
        higher_is_better=scores,
        loss_name="accuracy" if scores else "loss",
    )
    order = bk.compare_scores(losses).outcome
    pairs = comparisons_of(order)
    index = {name: k for k, name in enumerate(pairs.names)}
    for facts in row_dicts(order.pair_evidence.columns()):
        row, column = index[facts["a"]], index[facts["b"]]
        assert pairs.difference[row, column] == pytest.approx(facts["difference"], abs=1e-12)
        assert pairs.low[row, column] == facts["low"]
        assert pairs.high[row, column] == facts["high"]
        assert pairs.low[column, row] == -facts["high"]
        assert pairs.pvalue[row, column] == pairs.pvalue[column, row] == facts["adjusted_p"]
        better = {None: 0, facts["a"]: -1, facts["b"]: 1}[facts["better"]]
        assert (pairs.better[row, column], pairs.better[column, row]) == (better, -better)
    assert pairs.score_name == ("mean accuracy" if scores else "mean loss")
    mean = values.mean(axis=1)
    assert pairs.names[pairs.order[0]] == names[int(mean.argmax() if scores else mean.argmin())]


def test_the_better_side_is_right_for_scores():
    rng = np.random.default_rng(4)
    values = np.array([0.9, 0.7, 0.8])[:, None] + 0.01 * rng.random((3, 12))
    losses = bk.Scores(values, dims=("learner", "fold"), learners=["x", "y", "z"],
                       design="kfold:12", higher_is_better=True, loss_name="AUC")  # fmt: skip
    order = bk.compare_scores(losses).outcome
    picture = layout_critical_difference(order)
    assert "mean AUC, the best at the right" in texts(picture)
    assert texts(picture, colour="blue") == ["x"]
    learners = set("xyz")
    points = layout_losses(order)
    assert [text for text in texts(points) if text in learners] == ["x", "z", "y"]
    means = [points.x_scale.data(dot.x) for dot in dots(points, 3.2)]
    assert means == pytest.approx(sorted(values.mean(axis=1), reverse=True))
    assert "AUC" in texts(points)


def test_points_are_the_losses_behind_the_decision():
    """A run with a missing cell is dropped, and the drawn means are those of the decision."""
    rng = np.random.default_rng(6)
    values = rng.random((3, 4, 5))
    values[1, 2, 3] = np.nan
    losses = bk.Scores(values, missing="allow", learners=["a", "b", "c"])
    order = bk.compare_scores(losses, missing="drop", prefer="listed").outcome
    assert len(dots(layout_losses(order), 2.1)) == 45
    measured = measured_losses(order)
    means = dict(zip(measured.names, measured.cells.mean(axis=(1, 2)), strict=True))
    assert means == pytest.approx(order.means)


@st.composite
def scores_and_differences(draw):
    n = draw(st.integers(2, 12))
    scores = sorted(draw(st.lists(st.integers(0, 8), min_size=n, max_size=n)))
    bits = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    upper = np.triu(np.array(bits, dtype=bool).reshape(n, n), 1)
    return np.array(scores, dtype=float), upper | upper.T


@given(scores_and_differences())
def test_no_bar_covers_a_pair_that_differs(example):
    """By brute force: bars are exactly the longest stretches of the line without a difference."""
    scores, different = example
    clear = []
    for low, high in itertools.combinations_with_replacement(np.unique(scores), 2):
        under = np.flatnonzero((scores >= low) & (scores <= high))
        if len(under) > 1 and not different[np.ix_(under, under)].any():
            clear.append((int(under[0]), int(under[-1])))
    longest = {
        bar
        for bar in clear
        if not any(other != bar and other[0] <= bar[0] and bar[1] <= other[1] for other in clear)
    }
    assert set(bars_of(scores, different)) == longest


@pytest.mark.parametrize("seed", range(2))
def test_drawn_bars_join_only_learners_that_do_not_differ(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    values = np.round(rng.random((n, 14)) + np.linspace(0, rng.random() * 2, n)[:, None], 1)
    result = multiple.nemenyi(values)
    ranks = result.average_ranks
    apart = np.abs(np.subtract.outer(ranks, ranks)) > result.critical_difference
    order = np.argsort(ranks, kind="stable")
    picture = layout_critical_difference_ranks(bk.Scores(values, dims=("learner", "dataset")))
    x = [dot.x for dot in dots(picture, 2.2)]
    bars = bars_of(ranks[order], apart[np.ix_(order, order)])
    ends = []
    for (first, last), bar in zip(bars, lines(picture, width=3.2), strict=True):
        (left, y), (right, _) = bar.points
        assert (left, right) == pytest.approx((x[first] - 2.5, x[last] + 2.5))
        under = order[first : last + 1]
        assert not apart[np.ix_(under, under)].any()
        ends.append((y, left, right))
    for (y1, a1, b1), (y2, a2, b2) in itertools.combinations(ends, 2):
        if y1 == y2:  # bars in one lane stay apart
            assert max(a1 - b2, a2 - b1) >= 2 - 1e-9
    assert f"critical difference {result.critical_difference:.3g}" in texts(picture)


def test_rates_go_where_they_should():
    rates = Rates(
        x=[1, 2, 3],
        rate=[[0.1, 0.2, 0.3], [0.3, np.nan, 0.1]],
        low=[[0.0, 0.1, 0.2], [0.2, np.nan, 0.0]],
        high=[[0.2, 0.3, 0.4], [0.4, np.nan, 0.2]],
        names=["up", "down"],
    )
    picture = layout_rates(rates)
    assert [len(curve.points) for curve in lines(picture, width=1.8)] == [3, 2]
    heights = {words.text: words.y for words in picture.words}
    assert heights["up"] < heights["down"]  # the higher rate is higher up


def test_a_curve_without_any_known_rate_is_named_but_not_drawn():
    unknown = [float("nan")] * 3
    table = [[9.0, 10.0, 11.0], unknown, [5.0, 5.0, 60.0]]
    rates = Rates(x=[5, 10, 100], rate=table, low=table, high=table, names=["a", "never", "c"])
    picture = layout_rates(rates)
    assert {"a", "c"} <= set(texts(picture))
    assert "never" not in texts(picture)
    assert "Without any known rate: never." in picture.note
    # Degrees of freedom can be larger than 1, unlike rates.
    assert picture.y_scale.high > 60


def losses_of_datasets():
    values = np.random.default_rng(2).uniform(0.1, 0.2, (4, 12))
    values += np.array([[0.0], [0.02], [0.05], [0.1]])
    return bk.Scores(values, dims=("learner", "dataset"), learners=list("abcd"))


def test_a_long_name_is_whole_if_the_paper_has_no_width():
    name = "sklearn.ensemble.RandomForestClassifier(n_estimators=500)"[:45]
    losses = losses_of_datasets()
    named = bk.Scores(losses.by_dataset(), dims=("learner", "dataset"),
                      learners=["a", name, "c", "d"])  # fmt: skip
    order = bk.compare_scores(named, prefer="listed").outcome
    for kind in ("forest", "losses", "critical-difference", "rank-intervals", "ranks"):
        assert name in texts(draw(order, kind)), kind
