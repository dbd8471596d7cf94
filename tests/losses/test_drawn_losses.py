"""Losses drawn from models whose truth is known: their shape, their moments, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk.errors import ArgumentError
from bestofk.lab import problem, simulate

REPEATED = 0.2
"""Standard deviation between repetitions; the promise of the docstring is a fifth of a loss's."""


def test_repetitions_of_normal_losses() -> None:
    made = problem("normal", means=(0.0, 1.0, 0.5), datasets=4, repetitions=6)
    assert made.design.repetitions == 6
    assert made.describe().endswith("of 3 learners on 4 data sets, 6 repetitions of each")
    drawn = made.tables(np.random.default_rng(0), 2000)
    assert drawn.shape == (2000, 3, 4, 1, 1, 6)
    means = drawn.mean(axis=(0, 2, 3, 4, 5))
    # 8,000 independent losses a learner, each of variance 1 + 0.04 / 6: five standard errors
    np.testing.assert_allclose(means, made.true_means, atol=5 * np.sqrt((1 + 0.04 / 6) / 8000))
    # the sum of squares within a loss is 0.04 chi-squared with 24,000 x 5 degrees of freedom
    within = drawn.var(axis=5, ddof=1).mean()
    assert within == pytest.approx(REPEATED**2, rel=5 * np.sqrt(2 / 120_000))
    # the mean of a loss over its repetitions has the variance 1 + 0.04 / 6
    between = drawn.mean(axis=5).var(axis=0, ddof=1).mean()
    assert between == pytest.approx(1 + REPEATED**2 / 6, rel=5 * np.sqrt(2 / 24_000))


def test_one_repetition_draws_what_it_always_drew() -> None:
    once = problem("normal", plan="5x2", repetitions=1)
    expected = np.random.default_rng(3).standard_normal((2, 2, 1, 5, 2, 1))
    np.testing.assert_array_equal(once.tables(np.random.default_rng(3), 2), expected)
    assert "repetitions" not in once.describe()


def test_repetitions_reach_the_table_of_a_simulation() -> None:
    made = simulate(problem="normal(plan='kfold:3', repetitions=2)", sets=5, random_state=0)
    assert made.losses.shape == (5, 1, 2, 1, 1, 3, 2)
    assert made.design.repetitions == 2


@pytest.mark.parametrize("repetitions", [0, -1, 1.5, "2", True])
def test_wrong_repetitions(repetitions: object) -> None:
    with pytest.raises(ArgumentError, match="repetitions of problem 'normal' must be"):
        problem("normal", repetitions=repetitions)
