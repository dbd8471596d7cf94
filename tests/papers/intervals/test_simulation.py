"""The simulated algorithms against means and variances of their binomial model."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk.papers.intervals.experiments import (
    ALGORITHMS,
    DATASETS,
    STEPS,
    draw_problem,
    problem_of,
    simulate,
    simulate_means,
    simulate_null,
)


@pytest.fixture
def problem():
    winners = np.arange(DATASETS) * 7 % ALGORITHMS
    return problem_of(0.04, winners, 10 + np.arange(DATASETS) % 11)


@pytest.mark.parametrize("dp", STEPS[::5])
def test_means_over_data_sets_are_those_of_the_recipe(dp):
    rng = np.random.default_rng(3)
    for _ in range(20):
        drawn = draw_problem(dp, rng)
        assert np.allclose(drawn.errors.mean(axis=1), 0.3 + dp * np.arange(5))
        assert ((drawn.errors == 0.2).sum(axis=0) >= 1).all()
        assert drawn.errors.max() < 1
        assert drawn.sizes.min() >= 10
        assert drawn.sizes.max() <= 20


def test_deterministic_algorithms_repeat_themselves(problem):
    losses = simulate(problem, 2, np.random.default_rng(0), outliers=True)
    same = (losses == losses[..., :1]).all(axis=(0, 2, 3, 4))
    assert same.tolist() == [False, False, True, True, False]
    share = (losses[:, [0, 1, 4]] == 0.75).mean()
    # binomial: 28,800 cells trapped with 0.1, and now and then 0.75 without
    assert 0.095 < share < 0.125


@pytest.mark.parametrize("source", ["cells", "sums"])
def test_means_have_the_variance_of_their_binomials(problem, source):
    rng = np.random.default_rng(1)
    if source == "cells":
        means = simulate(problem, 200, rng).mean(axis=(-2, -1))
    else:
        means = simulate_means(problem, 2000, rng)
    rounds = np.array([30, 30, 1, 1, 30])[:, None]
    variance = problem.errors * (1 - problem.errors) / (problem.sizes * 5 * rounds)
    z = (means - problem.errors) / np.sqrt(variance)
    n = z.size
    assert abs(z.mean()) < 4 / np.sqrt(n)
    assert abs(np.square(z).mean() - 1) < 4 * np.sqrt(2 / n) * 1.1


def test_under_the_null_all_algorithms_are_alike():
    means = simulate_null(3000, np.random.default_rng(2)).mean(axis=-1)
    spread = means.std(axis=0)
    assert np.abs(means.mean(axis=0) - 0.3).max() < 4 * spread.max() / np.sqrt(3000)
    assert spread.max() / spread.min() < 1.1
