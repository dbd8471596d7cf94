"""Worst cases of missing scores, against every possible completion."""

from itertools import product

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError, TableError
from bestofk.stats.pairwise import cluster_sign_flip


def verdict(a, b, clusters=None):
    """On the first, by its scores: what the sign-flip test says at level .05."""
    found = cluster_sign_flip(1 - a, 1 - b, clusters=clusters)
    if found.pvalue > 0.05:
        return "too close to call"
    return "better" if found.estimate < 0 else "worse"


def every_completion(scores):
    holes = np.argwhere(np.isnan(scores))
    for filled in product((0.0, 0.5, 1.0), repeat=len(holes)):
        whole = scores.copy()
        whole[tuple(holes.T)] = filled
        yield whole


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("clustered", [False, True])
def test_two_models_against_every_completion(evals_of, seed, clustered):
    rng = np.random.default_rng(seed)
    n = 14
    scores = np.stack([rng.random(n) < 0.95, rng.random(n) < (0.1, 0.45)[seed % 2]]).astype(float)
    scores[rng.integers(0, 2, 5), rng.choice(n, 5, replace=False)] = np.nan
    clusters = np.arange(n) // 2 if clustered else None
    choice = bk.choose_model(evals_of(scores, clusters=clusters), missing="bounds")
    who = int(choice.recommended[-1])
    (found,) = choice.missing_bounds.rivals
    seen, ahead = set(), []
    for whole in every_completion(scores):
        seen.add(verdict(whole[who], whole[1 - who], clusters))
        ahead.append(whole[who].mean() - whole[1 - who].mean())
    assert set(found.could_be) == seen
    assert (found.low, found.high) == pytest.approx((min(ahead), max(ahead)))


def test_what_is_said(evals_of):
    good = np.ones(30)
    scores = np.stack([good, np.zeros(30), good])
    scores[0, :10] = np.nan
    scores[2, 29] = 0
    choice = bk.choose_model(evals_of(scores), missing="bounds", prefer="cost")
    assert choice.recommended == "model-0"
    bounds = choice.missing_bounds
    assert bounds.missing == {"model-0": 10, "model-1": 0, "model-2": 0}
    could_be = {one.name: one.could_be for one in bounds.rivals}
    assert could_be["model-1"] == ("better",)
    assert could_be["model-2"] == ("too close to call", "worse")
    said = choice.explain()
    assert "10 scores of 30 items are missing (model-0 10)." in said
    assert "Whatever they are, model-0 is significantly better than model-1" in said
    assert "were wrong and all those of the others right, model-2 would be recommended" in said
    held = choice.to_dict()["choice"]["missing_bounds"]
    assert held["rivals"][0]["name"] == bounds.rivals[0].name


def test_a_failed_epoch_may_have_been_anything(evals_of):
    """One of four answers failed: the mean of that item lies between 2/4 and 3/4."""
    scores = np.zeros((2, 6, 4))
    scores[0, 0] = [1, 1, 0, np.nan]
    (found,) = bk.choose_model(evals_of(scores), missing="bounds").missing_bounds.rivals
    assert (found.low, found.high) == pytest.approx((0.5 / 6, 0.75 / 6))


@pytest.mark.parametrize("higher", [True, False])
def test_directions_and_weights(evals_of, higher):
    scores = np.random.default_rng(3).integers(0, 2, (3, 24)).astype(float)
    scores[1, 3] = scores[2, 20:22] = np.nan
    evals = evals_of(scores, tasks=["a"] * 18 + ["b"] * 6, higher_is_better=higher)
    choice = bk.choose_model(evals, missing="bounds", macro=True)
    who = int(choice.recommended[-1])
    sign = 1 if higher else -1
    for one in choice.missing_bounds.rivals:
        ends = []
        for whole in every_completion(scores):
            means = (whole[:, :18].mean(axis=1) + whole[:, 18:].mean(axis=1)) / 2
            ends.append(sign * (means[who] - means[int(one.name[-1])]))
        assert (one.low, one.high) == pytest.approx((min(ends), max(ends)))


def test_nothing_missing(evals_of):
    choice = bk.choose_model(evals_of(np.eye(2, 8)), missing="bounds")
    assert "No score is missing" in choice.explain()
    assert bk.choose_model(evals_of(np.eye(2, 8)), missing="refuse").recommended is not None


def test_what_cannot_be_bounded_is_one_sentence(evals_of):
    scores = np.array([[3.0, np.nan, 1.0], [0.0, 2.0, 1.0]])
    with pytest.raises(ArgumentError, match="scores between 0 and 1"):
        bk.choose_model(evals_of(scores), missing="bounds")
    with pytest.raises(TableError, match="2 of 3 items have a score of every model"):
        bk.choose_model(evals_of(scores), missing="refuse")
    with pytest.raises(ArgumentError, match="does not work with pass_at"):
        bk.choose_model(evals_of(scores), missing="bounds", pass_at=1)
