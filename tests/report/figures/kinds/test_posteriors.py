"""Posteriors: positions in the triangle, densities and probabilities."""

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.report.figures import figure_kinds, picture_of
from bestofk.report.figures.kinds.posteriors import (
    draws_of,
    layout_posterior,
    layout_simplex,
    posteriors_of,
)
from bestofk.stats import pairwise

A = np.array([0.30, 0.25, 0.28, 0.27, 0.31, 0.26])
B = np.array([0.26, 0.24, 0.23, 0.25, 0.27, 0.26])


@pytest.fixture(scope="module")
def order():
    rng = np.random.default_rng(7)
    gaps = np.array([0.0, 0.002, 0.03, 0.08])[:, None, None]
    values = 0.2 + gaps + 0.02 * rng.standard_normal((4, 10, 10))
    return bk.compare_scores(bk.Scores(values, learners=["a", "b", "c", "d"]), rope=0.01)


def test_the_density_is_students_and_its_areas_are_the_probabilities():
    result = pairwise.correlated_t(A, B, rope=0.01, rho=0.25)
    (pair,) = posteriors_of(result, "posterior").pairs
    # Corani and Benavoli: St(m, (1/n + rho / (1 - rho)) S^2, n - 1)
    d = A - B
    scale = np.sqrt((1 / 6 + 0.25 / 0.75) * d.var(ddof=1))
    grid = np.linspace(-0.01, 0.01, 201)
    density = pair.student.density(grid)
    assert density == pytest.approx(stats.t.pdf(grid, 5, d.mean(), scale))
    assert np.trapezoid(density, grid) == pytest.approx(pair.equivalent, abs=1e-3)
    assert (pair.better, pair.equivalent, pair.worse) == (result.left, result.rope, result.right)
    picture = layout_posterior(result, names=["nn", "nmc"])
    words = {word.text for word in picture.words}
    assert {f"{result.right:.2f} worse", f"{result.rope:.2f} equivalent"} <= words
    assert "nn is better than nmc with probability" in picture.note


def test_positions_are_the_probabilities_of_the_evidence(order):
    pairs = {pair.name: pair for pair in posteriors_of(order, "simplex").pairs}
    assert list(pairs) == ["b", "c", "d"]
    picture = layout_simplex(order)
    marks = [shape for shape in picture.shapes if getattr(shape, "radius", 0) == 3.4]
    (triangle,) = (
        shape
        for shape in picture.shapes
        if len(getattr(shape, "points", ())) == 4 and not shape.closed
    )
    better, worse, equivalent = (np.array(corner) for corner in triangle.points[:3])
    for evidence in order.evidence:
        if order.recommended not in (evidence.a, evidence.b):
            continue
        posterior = evidence.posterior
        name, p_better, p_worse = (
            (evidence.b, posterior.b_better, posterior.a_better)
            if evidence.a == "a"
            else (evidence.a, posterior.a_better, posterior.b_better)
        )
        pair = pairs[name]
        expected = (p_better, posterior.equivalent, p_worse)
        assert (pair.better, pair.equivalent, pair.worse) == pytest.approx(expected)
        position = p_better * better + p_worse * worse + posterior.equivalent * equivalent
        mark = marks["bcd".index(name)]
        assert (mark.x, mark.y) == pytest.approx(tuple(position))
    # d is clearly worse, so its mark is filled; that of b is not.
    assert (marks[0].fill, marks[2].fill) == ("paper", "vermillion")
    assert "3 learners against a" in picture.alt


def test_draws_of_signed_ranks_have_the_probabilities_of_the_result():
    rng = np.random.default_rng(5)
    a = rng.uniform(0.1, 0.4, 30)
    result = pairwise.signed_rank_bayes(a, a - rng.normal(0.015, 0.02, 30), rope=0.01)
    picture = layout_simplex(result, names=["nn", "nmc"])
    assert {"nmc", f"better: {result.right:.2f}"} <= {word.text for word in picture.words}
    assert sum(getattr(shape, "radius", 0) == 0.9 for shape in picture.shapes) == 1500
    draws = np.array(draws_of(posteriors_of(result, "simplex")))
    shares = np.bincount(draws.argmax(axis=1), minlength=3) / 1500
    assert shares == pytest.approx([result.left, result.right, result.rope], abs=0.04)
    # Another prior gives other draws, which are not those of the result.
    other = pairwise.signed_rank_bayes(a[:4], a[:4] - 0.05, rope=0.01, prior=50)
    assert draws_of(posteriors_of(other, "simplex")) == []


def test_values_without_a_posterior_are_refused(order):
    plain = bk.compare_scores(bk.read_scores("breast-cancer-10x10"))
    for kind in ("simplex", "posterior"):
        assert kind in figure_kinds(order)
        assert kind not in figure_kinds(plain)
        with pytest.raises(ArgumentError, match=rf"figure '{kind}' .* decide with rope=\.\.\., "):
            picture_of(plain, kind)
    ranks = pairwise.signed_rank_bayes(A, B, rope=0.01)
    assert "posterior" not in figure_kinds(ranks)
    with pytest.raises(ArgumentError, match="no density of a difference; draw 'simplex'"):
        picture_of(ranks, "posterior")
    several = pairwise.correlated_t(np.stack([A, A]), np.stack([B, B]), rho=0.2)
    with pytest.raises(ArgumentError, match="needs the result of one pair; got several"):
        picture_of(several, "simplex")


def test_learners_that_never_differ_are_a_spike_in_the_region():
    picture = layout_posterior(pairwise.correlated_t(A, A, rope=0.01, rho=0.25))
    assert "equivalent >0.99" in picture.alt
    spikes = [shape for shape in picture.shapes if getattr(shape, "width", 0) == 2.0]
    assert len(spikes) == 1
    assert layout_simplex(pairwise.correlated_t(A, A, rho=0.25)).shapes
