"""Losses drawn from known models: shape, moments and validation."""

from __future__ import annotations

import numpy as np
import pytest

from bestofk.papers.lab import problem

REPEATED = 0.2
"""Standard deviation between repetitions; the promise of the docstring is a fifth of a loss's."""


def test_repetitions_of_normal_losses() -> None:
    generated = problem("normal", means=(0.0, 1.0, 0.5), datasets=4, repetitions=6)
    assert generated.design.repetitions == 6
    assert generated.describe().endswith("of 3 learners on 4 data sets, 6 repetitions of each")
    drawn = generated.tables(np.random.default_rng(0), 2000)
    assert drawn.shape == (2000, 3, 4, 1, 1, 6)
    means = drawn.mean(axis=(0, 2, 3, 4, 5))
    # 8,000 independent losses a learner, each of variance 1 + 0.04 / 6: five standard errors
    np.testing.assert_allclose(means, generated.true_means, atol=5 * np.sqrt((1 + 0.04 / 6) / 8000))
    # the sum of squares within a loss is 0.04 chi-squared with 24,000 x 5 degrees of freedom
    within = drawn.var(axis=5, ddof=1).mean()
    assert within == pytest.approx(REPEATED**2, rel=5 * np.sqrt(2 / 120_000))
    # the mean of a loss over its repetitions has the variance 1 + 0.04 / 6
    between = drawn.mean(axis=5).var(axis=0, ddof=1).mean()
    assert between == pytest.approx(1 + REPEATED**2 / 6, rel=5 * np.sqrt(2 / 24_000))


def test_instances_in_folds_are_those_of_the_test_set() -> None:
    whole = problem("right-or-wrong", errors=(0.3, 0.1, 0.2), instances=30)
    folds = problem("right-or-wrong", errors=(0.3, 0.1, 0.2), instances=30, folds=3)
    assert folds.design.n_test == (10, 10, 10)
    assert folds.design.n_train == (20, 20, 20)
    one, three = (generated.tables(np.random.default_rng(5), 4) for generated in (whole, folds))
    assert three.shape == (4, 3, 1, 1, 3, 1)
    np.testing.assert_allclose(three[..., 0], one.reshape(4, 3, 1, 1, 3, 10).mean(axis=5))


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_shared_instances_leave_the_error_rates(shared: float) -> None:
    generated = problem("right-or-wrong", errors=(0.3, 0.1, 0.3), instances=50, shared=shared)
    drawn = generated.tables(np.random.default_rng(6), 2000)[:, :, 0, 0, :, 0]
    np.testing.assert_allclose(
        drawn.mean(axis=(0, 2)), generated.errors, atol=5 * 0.46 / 100_000**0.5
    )
    # two learners of error p disagree on a share (1 - shared) 2 p (1 - p) of the instances
    disagree = (drawn[:, 0] != drawn[:, 2]).mean()
    assert disagree == pytest.approx((1 - shared) * 2 * 0.3 * 0.7, abs=0.008)


SHAPES = ("normal", "lognormal", "rounded", "counts")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("varying", [False, True])
def test_means_over_data_sets_are_exact_whatever_the_shape(shape: str, varying: bool) -> None:
    if shape == "counts" and varying:
        pytest.skip("the scatter of counts is that of the binomial")
    generated = problem("many-data-sets", means=(0.35, 0.25, 0.25), sds=(0.01, 0.03, 0.02),
                   datasets=7, shape=shape, varying=varying)  # fmt: skip
    drawn = generated.tables(np.random.default_rng(7), 4000)[..., 0, 0, 0]
    assert drawn.shape == (4000, 3, 7)
    for i, j, gap in ((0, 1, 0.1), (1, 2, 0.0)):
        difference = drawn[:, i] - drawn[:, j]
        assert abs(difference.mean() - gap) < 5 * difference.std() / 28_000**0.5
