"""Heatmap and ranks over data sets, against values computed by hand."""

import numpy as np
import pytest
from scipy.stats import rankdata

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.report.figures import figure_kinds, picture_of
from bestofk.report.figures.kinds.datasets import layout_heatmap, layout_ranks, rank_counts

TABLE = np.array([[0.10, 0.40, 0.30, 0.20], [0.20, 0.30, 0.30, 0.60], [0.05, 0.35, 0.30, 0.10]])
SETS = ["iris", "wine", "zoo", "glass"]


def losses_of(table, **more):
    return bk.Losses(table, dims=("algorithm", "dataset"), algorithms=["a", "b", "c"],
                     datasets=SETS, **more)  # fmt: skip


@pytest.mark.parametrize("scores", [False, True])
def test_the_map_is_ordered_by_means_and_by_where_the_best_falls_behind(scores):
    losses = losses_of(1 - TABLE if scores else TABLE, higher_is_better=scores)
    layout = layout_heatmap(losses)
    # means .2, .25, .35; c is the best on iris, glass and zoo (a tie), and .05 behind on wine;
    # of those three the others are furthest behind on glass (.3), then on iris (.1), then on zoo
    assert layout.learners == ("c", "a", "b")
    assert layout.datasets == ("glass", "iris", "zoo", "wine")
    assert layout.behind[0] == pytest.approx((0, 0, 0, 0.05))
    assert layout.behind[2] == pytest.approx((0.5, 0.15, 0, 0))
    assert layout.written
    words = {word.text for word in layout.picture.words}
    shown = 1 - TABLE if scores else TABLE
    assert {f"{value:.3f}" for value in shown.ravel()} <= words
    assert "c is the best on 3 of them" in layout.picture.alt
    # the best of a data set is marked by a bar, not by colour alone: zoo has three, and the key one
    bars = [s for s in layout.picture.shapes if getattr(s, "fill", "") == "blue"]
    assert len(bars) == 1 + 1 + 3 + 1 + 1


def test_the_map_turns_about_where_names_have_more_room():
    wide = bk.Losses(np.random.default_rng(0).random((3, 60)), dims=("algorithm", "dataset"))
    many = bk.Losses(np.random.default_rng(0).random((60, 3)), dims=("algorithm", "dataset"))
    assert layout_heatmap(wide).learners_across
    assert len(layout_heatmap(wide).rows) == 60
    assert not layout_heatmap(many).learners_across


def test_ranks_are_those_of_scipy_and_ties_share():
    rng = np.random.default_rng(4)
    table = np.round(rng.random((5, 40)), 1)
    counts = rank_counts(table)
    assert counts.sum(axis=0) == pytest.approx(np.full(5, 40))
    assert counts.sum(axis=1) == pytest.approx(np.full(5, 40))
    means = (counts * np.arange(1, 6)).sum(axis=1) / 40
    assert means == pytest.approx(rankdata(table, axis=0).mean(axis=1))


def test_rank_rows_by_mean_rank():
    layout = layout_ranks(losses_of(TABLE))
    # ranks of a: 2, 3, 2, 2; of b: 3, 1, 2, 3; of c: 1, 2, 2, 1
    assert layout.labels == ("c", "a", "b")
    assert layout.mean_ranks == pytest.approx((1.5, 2.25, 2.25))
    third = 1 / 3
    assert layout.counts[0] == pytest.approx((2 + third, 1 + third, third))
    assert "c has the best mean rank, 1.50" in layout.picture.alt
    assert "4 data sets" in layout.picture.note


@pytest.mark.parametrize("kind", ["heatmap", "ranks"])
def test_one_data_set_is_refused(kind):
    losses = bk.read_losses("breast-cancer-10x10")
    assert kind not in figure_kinds(losses)
    with pytest.raises(ArgumentError, match="over several data sets, and there is one: draw 'l"):
        picture_of(losses, kind)
    assert kind in figure_kinds(bk.order(losses_of(TABLE)))


def test_identical_learners_are_all_the_best_everywhere():
    losses = losses_of(np.tile([0.1, 0.2, 0.3, 0.4], (3, 1)))
    assert np.max(layout_heatmap(losses).behind) == 0
    assert layout_ranks(losses).mean_ranks == pytest.approx((2, 2, 2))
