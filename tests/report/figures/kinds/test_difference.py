"""Positions of points and intervals, against calculations by hand."""

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.report.figures.kinds.differences import LEVELS, layout_difference
from bestofk.stats import pairwise

A = [0.24, 0.31, 0.12, 0.08, 0.27, 0.19, 0.22, 0.35, 0.05, 0.15]
B = [0.21, 0.29, 0.12, 0.09, 0.22, 0.16, 0.20, 0.30, 0.04, 0.11]


def test_intervals_are_nested_and_stand_where_the_test_says():
    result = pairwise.wilcoxon(A, B)
    layout = layout_difference(result)
    assert [level for level, _, _ in layout.intervals] == list(LEVELS)
    lefts = [left for _, left, _ in layout.intervals]
    rights = [right for _, _, right in layout.intervals]
    assert lefts == sorted(lefts)
    assert rights == sorted(rights, reverse=True)
    scale = layout.picture.x_scale
    low, high = result.confidence_interval(0.95)
    assert [scale.data(lefts[1]), scale.data(rights[1])] == pytest.approx([low, high])
    assert scale.data(layout.zero) == pytest.approx(0)
    assert scale.data(layout.estimate) == pytest.approx(np.mean(np.subtract(A, B)))


def test_every_difference_is_a_point_and_equal_ones_are_stacked():
    layout = layout_difference(pairwise.permutation(A, B))
    at = sorted(layout.picture.x_scale.data(x) for x, _ in layout.points)
    assert at == pytest.approx(sorted(np.subtract(A, B)), abs=1e-12)
    assert len(set(layout.points)) == len(A)


def test_one_side_reaches_the_end_of_the_axis():
    layout = layout_difference(pairwise.kfold_t(A, B, alternative="greater"))
    assert {right for _, _, right in layout.intervals} == {layout.picture.x_scale.end}


def test_a_test_without_interval_and_identical_learners():
    assert layout_difference(pairwise.signed_rank_bayes(A, B, random_state=0)).intervals == ()
    same = layout_difference(pairwise.wilcoxon(A, A))
    assert same.zero == same.estimate


def test_the_region_of_equivalence_is_a_band_and_the_sentence_gives_the_probabilities():
    result = pairwise.signed_rank_bayes(A, B, rope=0.02, random_state=0)
    layout = layout_difference(result)
    assert layout.rope is not None
    assert [layout.picture.x_scale.data(x) for x in layout.rope] == pytest.approx([-0.02, 0.02])
    assert len(layout.points) == len(A)
    assert f"b is better {result.right:.3g}" in layout.picture.alt
    assert "p =" not in layout.picture.alt
    without = layout_difference(pairwise.correlated_t(A, B, rope=0, rho=0.1))
    assert without.rope is None
    assert "band" not in without.picture.alt


def test_words_stay_on_the_sheet_wherever_zero_stands():
    for shift in (-5.0, 0.0, 5.0):
        picture = layout_difference(pairwise.wilcoxon(np.add(A, shift), B)).picture
        for words in picture.words:
            for x, y in words.corners():
                assert 0 <= x <= picture.width
                assert 0 <= y <= picture.height


def test_several_pairs_or_something_else_are_refused():
    with pytest.raises(ArgumentError, match="got several pairs"):
        layout_difference(pairwise.kfold_t([A, B], [B, A]))
    with pytest.raises(ArgumentError, match="got int"):
        layout_difference(3)
