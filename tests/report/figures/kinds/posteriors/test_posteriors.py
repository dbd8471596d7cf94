"""Posteriors: places in the triangle, densities, and the probabilities that are told."""

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.report.figures import figure_kinds, picture_of
from bestofk.report.figures.kinds.posteriors import layout_posterior, layout_simplex
from bestofk.stats import pairwise

A = np.array([0.30, 0.25, 0.28, 0.27, 0.31, 0.26])
B = np.array([0.26, 0.24, 0.23, 0.25, 0.27, 0.26])


@pytest.fixture(scope="module")
def order():
    rng = np.random.default_rng(7)
    gaps = np.array([0.0, 0.002, 0.03, 0.08])[:, None, None]
    values = 0.2 + gaps + 0.02 * rng.standard_normal((4, 10, 10))
    return bk.order(bk.Losses(values, algorithms=["a", "b", "c", "d"]), rope=0.01)


def test_the_density_is_students_and_its_areas_are_the_probabilities():
    result = pairwise.correlated_t(A, B, rope=0.01, rho=0.25)
    layout = layout_posterior(result, names=["nn", "nmc"])
    # Corani and Benavoli: St(m, (1/n + rho / (1 - rho)) S^2, n - 1)
    d = A - B
    scale = np.sqrt((1 / 6 + 0.25 / 0.75) * d.var(ddof=1))
    grid, density = np.array(layout.grid[0]), np.array(layout.densities[0])
    assert density == pytest.approx(stats.t.pdf(grid, 5, d.mean(), scale))
    inside = (grid >= -0.01) & (grid <= 0.01)
    area = np.trapezoid(density[inside], grid[inside])
    assert area == pytest.approx(layout.probabilities[0][1], abs=1e-3)
    assert layout.probabilities[0] == (result.left, result.rope, result.right)
    words = {word.text for word in layout.picture.words}
    assert {f"{result.right:.2f} worse", f"{result.rope:.2f} equivalent"} <= words
    assert "nn is better than nmc with probability" in layout.picture.note


def test_places_are_the_probabilities_of_the_evidence(order):
    simplex, densities = layout_simplex(order), layout_posterior(order)
    assert simplex.names == densities.names == ("b", "c", "d")
    at = {name: k for k, name in enumerate(simplex.names)}
    better, worse, equivalent = (np.array(corner) for corner in simplex.corners)
    for pair in order.evidence:
        if order.recommended not in (pair.a, pair.b):
            continue
        other, sure = (pair.b, pair.posterior) if pair.a == "a" else (pair.a, pair.posterior)
        own, theirs = (
            (sure.a_better, sure.b_better) if pair.a == "a" else (sure.b_better, sure.a_better)
        )
        told = (theirs, sure.equivalent, own)
        assert simplex.probabilities[at[other]] == pytest.approx(told)
        assert densities.probabilities[at[other]] == pytest.approx(told)
        place = theirs * better + own * worse + sure.equivalent * equivalent
        assert simplex.points[at[other]] == pytest.approx(tuple(place))
    # d is worse by far: filled, at the corner; b is not told from a
    fills = [s.fill for s in simplex.picture.shapes if getattr(s, "radius", 0) == 3.4]
    assert fills == ["paper", fills[1], "vermillion"]
    assert "4 learners" not in simplex.picture.alt
    assert "3 learners against a" in simplex.picture.alt


def test_draws_of_signed_ranks_lie_in_the_triangle_as_often_as_told():
    rng = np.random.default_rng(5)
    a = rng.uniform(0.1, 0.4, 30)
    result = pairwise.signed_rank_bayes(a, a - rng.normal(0.015, 0.02, 30), rope=0.01)
    layout = layout_simplex(result, names=["nn", "nmc"])
    assert {"nmc", f"better: {result.right:.2f}"} <= {word.text for word in layout.picture.words}
    assert len(layout.draws) == 1500
    corners = np.array(layout.corners)
    nearest = np.linalg.norm(np.array(layout.draws)[:, None] - corners, axis=2).argmin(axis=1)
    # a triangle of equal sides: the nearest corner is that of the largest share
    shares = np.bincount(nearest, minlength=3) / 1500
    assert shares == pytest.approx([result.left, result.right, result.rope], abs=0.04)
    # another prior gives other draws, which would not be those of the result
    other = pairwise.signed_rank_bayes(a[:4], a[:4], rope=0.01, prior=50, prior_place="left")
    assert layout_simplex(other).draws == ()


def test_what_has_no_posterior_is_refused(order):
    losses = bk.read_losses("breast-cancer-10x10")
    plain = bk.order(losses)
    for kind in ("simplex", "posterior"):
        assert kind in figure_kinds(order)
        assert kind not in figure_kinds(plain)
        with pytest.raises(ArgumentError, match=f"figure '{kind}': .* decide with rope=, "):
            picture_of(plain, kind)
    ranks = pairwise.signed_rank_bayes(A, B, rope=0.01)
    assert "posterior" not in figure_kinds(ranks)
    with pytest.raises(ArgumentError, match="no density of a difference: draw 'simplex'"):
        picture_of(ranks, "posterior")
    many = pairwise.correlated_t(np.stack([A, A]), np.stack([B, B]), rho=0.2)
    with pytest.raises(ArgumentError, match="the result of one pair is needed; got several"):
        picture_of(many, "simplex")


def test_learners_that_never_differ_are_a_spike_in_the_region():
    layout = layout_posterior(pairwise.correlated_t(A, A, rope=0.01, rho=0.25))
    assert layout.probabilities == ((0.0, 1.0, 0.0),)
    spikes = [s for s in layout.picture.shapes if getattr(s, "width", 0) == 2.0]
    assert len(spikes) == 1
    assert layout_simplex(pairwise.correlated_t(A, A, rho=0.25)).points
