import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import roc_auc_score

from bestofk._base.errors import ArgumentError
from bestofk.papers import decide as ordering


def expected_cost(fpr, tpr, slope):
    """Proportional to the expected cost of a point (Provost and Fawcett, section 3)."""
    return slope * fpr + (1 - tpr)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 25), st.booleans())
def test_hull_vertex_has_the_least_cost_of_all_points(seed, n_learners, n, coarse):
    rng = np.random.default_rng(seed)
    scores = rng.random((n_learners, n))
    if coarse:
        scores = np.round(scores, 1)
    truth = rng.random(n) < 0.4
    truth[:2] = [True, False]
    hull = ordering.roc_hull(scores, truth)
    points = [
        (x, y)
        for curve in hull.curves
        for x, y in zip(curve.false_positive_rate, curve.true_positive_rate, strict=True)
    ]
    for share in (0.02, 0.3, 0.5, 0.9):
        slope = (1 - share) / share
        vertex = hull.best(positive_share=share)
        least = min(expected_cost(x, y, slope) for x, y in points)
        assert expected_cost(
            vertex.false_positive_rate, vertex.true_positive_rate, slope
        ) == pytest.approx(least, abs=1e-12)
    x = [vertex.false_positive_rate for vertex in hull.vertices]
    assert x == sorted(x)
    assert hull.area >= max(curve.area for curve in hull.curves) - 1e-12
    highs = [vertex.slope_high for vertex in hull.vertices]
    assert highs == sorted(highs, reverse=True)


def test_area_equals_scikit_learn():
    rng = np.random.default_rng(3)
    truth = rng.random(200) < 0.3
    scores = np.round(truth + rng.normal(0, 1, (2, 200)), 1)
    hull = ordering.roc_hull(scores, truth)
    for curve, row in zip(hull.curves, scores, strict=True):
        assert curve.area == pytest.approx(roc_auc_score(truth, row), rel=1e-12)


def test_a_dominated_classifier_is_never_best():
    truth = [1, 1, 1, 0, 0, 0]
    good, poor = [0.9, 0.8, 0.4, 0.5, 0.2, 0.1], [0.1, 0.2, 0.9, 0.8, 0.7, 0.3]
    hull = ordering.roc_hull([poor, good], truth, names=["poor", "good"])
    assert hull.optimal == ("good",)
    assert "Never best: poor" in hull.explain()


def test_slopes_of_two_answers_by_hand():
    # a: no false positive, half of the positives; b: all positives, half of the negatives.
    # Hull (0,0) (0,1/2) (1/2,1) (1,1): slopes inf, 1, 0.
    truth = [1, 1, 0, 0]
    hull = ordering.roc_hull([[1, 0, 0, 0], [1, 1, 1, 0]], truth, names=["a", "b"])
    assert [(v.false_positive_rate, v.true_positive_rate) for v in hull.vertices] == [
        (0, 0), (0, 0.5), (0.5, 1), (1, 1),
    ]  # fmt: skip
    assert dict(hull.slopes) == {"a": ((1.0, np.inf),), "b": ((0.0, 1.0),)}
    assert "a (slopes above 1) and b (slopes below 1)" in hull.explain()
    assert hull.best(positive_share=0.4).learners == ("a",)
    assert hull.best(positive_share=0.6).learners == ("b",)
    assert hull.best(positive_share=0.4, cost_false_negative=10).learners == ("b",)


def test_worse_than_chance_is_never_best():
    hull = ordering.roc_hull([[0.1, 0.2, 0.9, 0.8]], [1, 1, 0, 0])
    assert hull.optimal == ()
    assert "constant answer" in hull.explain()


@pytest.mark.parametrize(
    ("scores", "truth", "words"),
    [
        ([[0.1, 0.2]], [1, 1], "both positive and negative"),
        ([[0.1, 0.2]], [1, 0, 1], "one label for each of 2"),
        ([[0.1, np.nan]], [1, 0], "finite"),
        ([0.1, 0.2], [1, 0], "at least 2 axes"),
        ([[0.1, 0.2]], [1, 2], "true or false"),
    ],
)
def test_bad_input(scores, truth, words):
    with pytest.raises(ArgumentError, match=words):
        ordering.roc_hull(scores, truth)


def test_words_for_slopes_between_two():
    truth = [1, 1, 1, 1, 0, 0, 0, 0]
    low, middle, high = [1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 0]
    words = ordering.roc_hull([low, middle, high], truth, names=["l", "m", "h"]).explain()
    # corners (0, 1/2), (1/4, 3/4), (3/4, 1), so slopes 1 and 1/2 between them
    assert "l (slopes above 1), m (slopes 0.5 to 1) and h (slopes below 0.5)" in words
    perfect = ordering.roc_hull([truth], truth, names=["p"]).explain()
    assert "p (slopes of any size)" in perfect


def test_slopes_with_unequal_classes_by_hand():
    # (0, 0) (0, 1/2) (1/4, 1) (1, 1): slopes inf, (1/2) / (1/4) = 2 and 0
    truth = [1, 1, 0, 0, 0, 0]
    hull = ordering.roc_hull([[0.9, 0.3, 0.5, 0.2, 0.1, 0.05]], truth)
    assert [(v.slope_high, v.slope_low) for v in hull.vertices] == [
        (np.inf, np.inf), (np.inf, 2.0), (2.0, 0.0), (0.0, 0.0),
    ]  # fmt: skip
    assert dict(hull.slopes) == {0: ((0.0, np.inf),)}
    assert hull.area == pytest.approx(1 / 4 * 3 / 4 + 3 / 4)
    assert [v.thresholds for v in hull.vertices] == [(), (0.9,), (0.3,), ()]
    # at the slope of an edge both ends cost the same, and the first is taken
    at = hull.best(positive_share=0.5, cost_false_positive=2.0)
    assert (at.false_positive_rate, at.true_positive_rate) == (0.0, 0.5)
    beyond = hull.best(positive_share=0.5, cost_false_positive=1.99)
    assert (beyond.false_positive_rate, beyond.true_positive_rate) == (0.25, 1.0)


def test_points_on_an_edge_are_no_corners_and_ranges_may_be_apart():
    truth = [1, 1, 1, 1, 0, 0, 0, 0]
    line = ordering.roc_hull([[4, 3, 2, 1, 4, 3, 2, 1]], truth)
    assert [v.false_positive_rate for v in line.vertices] == [0.0, 1.0]
    # a reaches (0, 1/2) and (3/4, 1), m reaches (1/4, 3/4) between them
    a, m = [2, 2, 1, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 0, 0, 0]
    hull = ordering.roc_hull([a, m], truth, names=["a", "m"])
    assert dict(hull.slopes) == {"a": ((1.0, np.inf), (0.0, 0.5)), "m": ((0.5, 1.0),)}


def test_a_classifier_added_later_gives_the_hull_of_all():
    rng = np.random.default_rng(5)
    truth = rng.random(60) < 0.3
    scores = np.round(truth + rng.normal(0, 1, (4, 60)), 1)
    names = ["a", "b", "c", "d"]
    hull = ordering.roc_hull(scores[:1], truth, names=names[:1])
    for k in range(1, 4):
        hull = hull.added(scores[k], truth, name=names[k])
        together = ordering.roc_hull(scores[: k + 1], truth, names=names[: k + 1])
        assert hull.to_dict() == together.to_dict()
    with pytest.raises(ArgumentError, match="name must be new"):
        hull.added(scores[0], truth, name="a")
    with pytest.raises(ArgumentError, match="the labels that the hull was made with"):
        hull.added(scores[0], ~truth, name="e")
