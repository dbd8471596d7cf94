"""Nested cross-validation and bayle-cv-z: by hand, against plain Python, and their size."""

import statistics
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestofk._base.errors import ArgumentError
from bestofk.stats.pairwise.nested_cv import nested_cv_t, nested_cv_z, unstable_learners
from bestofk.stats.pairwise.resampled import bayle_cv_z


def test_nested_by_hand():
    # outer differences .04 .04 .10; pairs of folds (0, 1): .13 .00, (0, 2): .15 .02, (1, 2): .01
    # .09. Inner mean without fold 0: (.00 + .02) / 2 = .01; without 1: (.13 + .09) / 2 = .11;
    # without 2: (.15 + .01) / 2 = .08
    outer, inner = [0.04, 0.04, 0.10], [0.13, 0.00, 0.15, 0.02, 0.01, 0.09]
    r = nested_cv_z(np.add(0.2, outer + inner), np.full(9, 0.2), runs=1, folds=3)
    between = statistics.variance(outer)  # .0012
    mse = statistics.mean([0.03**2, 0.07**2, 0.02**2]) - between
    assert between / 3 < mse * 2 / 3 < between  # within its bounds
    assert r.standard_error == pytest.approx(sqrt(mse * 2 / 3))
    centre = 0.2 / 3 - (1 + 1 / 3) * (0.2 / 3 - 0.06)
    assert r.pivot == pytest.approx(centre)
    assert r.statistic == pytest.approx(centre / sqrt(mse * 2 / 3))
    assert r.estimate == pytest.approx(0.06)
    # for the learners: differences of pairs .13, .13 and -.08, so V = .0402 / 3 / 6; their mean is
    # .4 / 6, so VT = (.19 * -.20 + .25 * -.14 + -.17 * .07) / 27 is negative
    row_variance = 0.0402 / 18
    t = nested_cv_t(np.add(0.2, outer + inner), np.full(9, 0.2), runs=1, folds=3)
    assert t.standard_error == pytest.approx(sqrt(row_variance))
    assert t.statistic == pytest.approx(0.06 / t.standard_error)
    assert t.df == 5.0  # 1 * 3 * 4 / 2 = 6 models
    assert nested_cv_t(np.add(0.2, outer + inner), np.full(9, 0.2), runs=1, folds=3, rows=5).df == 4
    # inner means .05, .05 and .10, near the outer ones: the naive variance .0012 / 3 stands
    near = [0.05, 0.04, 0.10, 0.06, 0.10, 0.05]
    r = nested_cv_z(np.add(0.2, outer + near), np.full(9, 0.2), runs=1, folds=3)
    assert r.standard_error == pytest.approx(0.02)
    t = nested_cv_t(np.add(0.2, outer + near), np.full(9, 0.2), runs=1, folds=3)
    assert t.standard_error == pytest.approx(0.02)
    # inner means far from the outer ones: K times the naive one stands
    far = [0.90, 0.90, 0.90, 0.90, 0.90, 0.90]
    r = nested_cv_z(np.add(0.2, outer + far), np.full(9, 0.2), runs=1, folds=3)
    assert r.standard_error == pytest.approx(sqrt(between))
    t = nested_cv_t(np.add(0.2, outer + far), np.full(9, 0.2), runs=1, folds=3)
    mse = statistics.mean([0.86**2, 0.86**2, 0.80**2]) - between
    assert t.standard_error == pytest.approx(sqrt(mse * 2 / 3))  # no upper bound


@given(
    seed=st.integers(0, 10**6), runs=st.integers(2, 4), folds=st.integers(3, 5),
    fit_sd=st.sampled_from([0.0, 0.1]),
)  # fmt: skip
def test_nested_against_plain_python(seed, runs, folds, fit_sd):
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(folds) for j in range(i + 1, folds)]
    a, b = rng.normal(0.3, 0.05, (2, runs * folds + 2 * runs * len(pairs)))
    a[runs * folds :] += np.repeat(rng.normal(0.0, fit_sd, runs * len(pairs)), 2)
    d = (a - b).tolist()
    outer = [d[folds * r : folds * (r + 1)] for r in range(runs)]
    squares, rest = [], iter(d[runs * folds :])
    inner = [{pair: (next(rest), next(rest)) for pair in pairs} for _ in range(runs)]
    for r in range(runs):
        for i in range(folds):
            others = [two[1 - pair.index(i)] for pair, two in inner[r].items() if i in pair]
            squares.append((statistics.mean(others) - outer[r][i]) ** 2)
    between = statistics.mean(statistics.variance(run) for run in outer)
    noise = statistics.variance([statistics.mean(run) for run in outer])
    mse = statistics.mean(squares) - between - noise / 2
    both = [two for run in inner for two in run.values()]
    centre = statistics.mean(x for two in both for x in two)
    row_variance = statistics.mean((x - y) ** 2 for x, y in both) / (2 * folds)
    fits = statistics.mean((x - centre) * (y - centre) for x, y in both)
    of_fits = row_variance + (folds - 2) / 2 * max(fits, 0)
    variance = max((folds - 1) / folds * mse, between / folds, of_fits)
    r = nested_cv_t(a, b, runs=runs, folds=folds)
    assert r.standard_error == pytest.approx(sqrt(variance))
    assert r.estimate == pytest.approx(statistics.mean(d[: runs * folds]))
    assert r.df == runs * (folds + len(pairs)) - 1


def nested_losses(rng, learners, fit_sd, runs, folds=5):
    """Draw 200 rows of variance 1, and models of which each adds its own constant."""
    rows = rng.standard_normal((learners, 200))
    order = np.argsort(rng.random((runs, 200)), axis=1).reshape(runs, folds, -1)
    means = rows[:, order].mean(axis=3)
    i, j = np.triu_indices(folds, 1)
    outer = means + fit_sd * rng.standard_normal((learners, runs, folds))
    inner = np.stack([means[..., i], means[..., j]], axis=-1)
    inner = inner + fit_sd * rng.standard_normal((learners, runs, len(i), 1))
    return np.concatenate([part.reshape(learners, -1) for part in (outer, inner)], axis=1)


def test_unstable_learners_by_the_variance_of_their_fits():
    rng = np.random.default_rng(5)
    # V = 2 / 200 and VT = .5^2 for pairs with the second learner, and VT = 0 for the other pair
    losses = np.concatenate([nested_losses(rng, 1, sd, 10) for sd in (0.0, 0.5, 0.0)])
    assert unstable_learners(losses, runs=10, folds=5) == [1]
    # no learner is named because others are alike, and constant losses have no variance
    assert unstable_learners(losses[[0, 2]], runs=10, folds=5) == []
    assert unstable_learners(np.full((3, 250), 0.1), runs=10, folds=5) == []
    few = np.concatenate([losses[:, :15], losses[:, 50:110]], axis=1)
    assert unstable_learners(few, runs=3, folds=5) == [1]


@pytest.mark.parametrize("runs", [3, 10])
def test_stable_learners_are_rarely_called_unstable(runs):
    rng = np.random.default_rng(6)
    # the variance of the fits is 2 * .05^2, half of V = 2 / 200
    stable = [nested_losses(rng, 4, 0.05, runs) for _ in range(100)]
    assert sum(bool(unstable_learners(one, runs=runs, folds=5)) for one in stable) <= 5


def test_bayle_by_hand():
    # ten rows, differences 1 0 0 1 0 0 0 1 0 0: variance .3 * .7 over 10 rows
    a, b = [1, 0, 1, 1, 0, 1, 0, 1, 1, 0], [0, 0, 1, 0, 0, 1, 0, 0, 1, 0]
    r = bayle_cv_z(a, b)
    assert r.statistic == pytest.approx(0.3 / sqrt(0.21 / 10))
    with pytest.raises(ArgumentError, match="at least 2 differences"):
        bayle_cv_z([1.0], [0.0])


@pytest.mark.parametrize("function", [nested_cv_z, nested_cv_t])
def test_refuses_wrong_sizes(function):
    losses = np.linspace(0.2, 0.3, 12)
    with pytest.raises(ArgumentError, match="at least 3; got 2"):
        function(losses, losses, runs=2, folds=2)
    with pytest.raises(ArgumentError, match="3 losses of 1 runs of 3 folds, followed by 6"):
        function(losses, losses, runs=1, folds=3)
