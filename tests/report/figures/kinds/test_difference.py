"""Positions of points and intervals; expected values by hand from the scale and the test."""

import numpy as np
import pytest

from bestofk._base.errors import ArgumentError
from bestofk.report.figures.kinds.difference import LEVELS, layout_difference
from bestofk.stats import pairwise

A = [0.24, 0.31, 0.12, 0.08, 0.27, 0.19, 0.22, 0.35, 0.05, 0.15]
B = [0.21, 0.29, 0.12, 0.09, 0.22, 0.16, 0.20, 0.30, 0.04, 0.11]


def points_of(picture):
    return [(shape.x, shape.y) for shape in picture.shapes if hasattr(shape, "radius")]


def spans_of(picture, fill):
    """Return the ends of the boxes with this fill, as data."""
    return [
        (picture.x_scale.data(shape.points[0][0]), picture.x_scale.data(shape.points[1][0]))
        for shape in picture.shapes
        if hasattr(shape, "points") and shape.fill == fill
    ]


def estimate_of(picture):
    (line,) = (shape for shape in picture.shapes if shape.colour == "vermillion")
    return picture.x_scale.data(line.points[0][0])


def test_intervals_and_estimate_are_those_of_the_test():
    result = pairwise.wilcoxon(A, B)
    picture = layout_difference(result)
    intervals = [result.confidence_interval(level) for level in LEVELS]
    for span, interval in zip(spans_of(picture, "blue"), intervals, strict=True):
        assert span == pytest.approx(tuple(interval))
    assert estimate_of(picture) == pytest.approx(result.estimate)


def test_every_difference_is_a_point_and_equal_ones_are_stacked():
    picture = layout_difference(pairwise.permutation(A, B))
    points = points_of(picture)
    values = sorted(picture.x_scale.data(x) for x, _ in points)
    assert values == pytest.approx(sorted(np.subtract(A, B)), abs=1e-12)
    assert len(set(points)) == len(A)


def test_a_one_sided_interval_reaches_the_end_of_the_axis():
    picture = layout_difference(pairwise.kfold_t(A, B, alternative="greater"))
    for _, high in spans_of(picture, "blue"):
        assert high == pytest.approx(picture.x_scale.high)


def test_a_test_without_interval_and_identical_learners():
    bayes = layout_difference(pairwise.signed_rank_bayes(A, B, random_state=0))
    assert spans_of(bayes, "blue") == []
    assert estimate_of(layout_difference(pairwise.wilcoxon(A, A))) == pytest.approx(0)


def test_the_region_of_equivalence_is_a_band_and_the_sentence_gives_the_probabilities():
    result = pairwise.signed_rank_bayes(A, B, rope=0.02, random_state=0)
    picture = layout_difference(result)
    assert spans_of(picture, "orange") == [pytest.approx((-0.02, 0.02))]
    assert len(points_of(picture)) == len(A)
    assert f"b is better {result.right:.2f}" in picture.alt
    assert "p =" not in picture.alt
    without = layout_difference(pairwise.correlated_t(A, B, rope=0, rho=0.1))
    assert spans_of(without, "orange") == []
    assert "band" not in without.alt


def test_several_pairs_are_refused():
    with pytest.raises(ArgumentError, match="needs the result of one pair"):
        pairwise.kfold_t([A, B], [B, A]).plot("difference")


def test_points_do_not_overlap_and_many_become_a_curve():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.02, 0.1, (2, 80))
    points = np.array(points_of(layout_difference(pairwise.paired_t(a, b))))
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    assert apart[~np.eye(len(points), dtype=bool)].min() >= 4.8
    a, b = rng.normal(0.02, 0.1, (2, 400))
    many = layout_difference(pairwise.paired_t(a, b))
    assert points_of(many) == []
    assert "The curve is the density of 400 differences." in many.note
