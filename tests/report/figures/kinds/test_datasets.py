"""Learners on many data sets: heatmap and ranks, with expected values by hand."""

import numpy as np
import pytest
from scipy.stats import rankdata

import bestofk as bk
from bestofk.report.figures.kinds.datasets import (
    dataset_means,
    layout_heatmap,
    layout_ranks,
    rank_counts,
)

TABLE = np.array([[0.10, 0.40, 0.30, 0.20], [0.20, 0.30, 0.30, 0.60], [0.05, 0.35, 0.30, 0.10]])
SETS = ["iris", "wine", "zoo", "glass"]


def losses_of(table, **more):
    return bk.Scores(table, dims=("learner", "dataset"), learners=["a", "b", "c"],
                     datasets=SETS, **more)  # fmt: skip


@pytest.mark.parametrize("scores", [False, True])
def test_the_map_is_ordered_by_means_and_by_where_the_best_falls_behind(scores):
    shown = 1 - TABLE if scores else TABLE
    losses = losses_of(shown, higher_is_better=scores)
    # Means are .2, .25 and .35; c is the best on iris, glass and zoo (a tie), and .05 behind on
    # wine. Of those three, the others are furthest behind on glass (.3), then iris (.1), then zoo.
    means = dataset_means(losses, "heatmap").sorted()
    assert means.learners == ("c", "a", "b")
    assert means.datasets == ("glass", "iris", "zoo", "wine")
    assert means.behind[0] == pytest.approx((0, 0, 0, 0.05))
    assert means.behind[2] == pytest.approx((0.5, 0.15, 0, 0))
    picture = layout_heatmap(losses)
    words = [word.text for word in picture.words]
    assert words[:3] == ["c", "a", "b"]
    assert {f"{value:.2f}" for value in shown.ravel()} <= set(words)
    assert "c is the best on 3 of them" in picture.alt
    # A bar marks the best on a data set: three on zoo (a tie), and one in the legend.
    bars = [shape for shape in picture.shapes if shape.fill == "blue"]
    assert len(bars) == 1 + 1 + 3 + 1 + 1


@pytest.mark.parametrize(("shape", "end"), [((3, 60), "left"), ((60, 3), "top")])
def test_the_map_has_learners_as_columns_if_there_are_more_data_sets(shape, end):
    losses = bk.Scores(np.random.default_rng(0).random(shape), dims=("learner", "dataset"))
    picture = layout_heatmap(losses)
    assert f"Learners by mean, the best at the {end}" in picture.note
    assert sum(words.anchor == "end" for words in picture.words) == 60


def test_ranks_are_those_of_scipy_and_ties_share():
    rng = np.random.default_rng(4)
    table = np.round(rng.random((5, 40)), 1)
    counts = rank_counts(table)
    assert counts.sum(axis=0) == pytest.approx(np.full(5, 40))
    assert counts.sum(axis=1) == pytest.approx(np.full(5, 40))
    means = (counts * np.arange(1, 6)).sum(axis=1) / 40
    assert means == pytest.approx(rankdata(table, axis=0).mean(axis=1))


def test_rank_rows_by_mean_rank():
    # ranks of a: 2, 3, 2, 2; of b: 3, 1, 2, 3; of c: 1, 2, 2, 1
    third = 1 / 3
    assert rank_counts(TABLE)[2] == pytest.approx((2 + third, 1 + third, third))
    picture = layout_ranks(losses_of(TABLE))
    words = [words.text for words in picture.words]
    assert [text for text in words if text in "abc"] == ["c", "a", "b"]
    assert [text for text in words if text in ("1.50", "2.25")] == ["1.50", "2.25", "2.25"]
    assert "c has the best mean rank, 1.50" in picture.alt
    assert "4 data sets" in picture.note
