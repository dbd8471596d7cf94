"""Bounds on the rest of a plan, tested by a search for counterexamples."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestofk.decide.stopping import PlannedT
from bestofk.stats.pairwise import corrected_repeated_kfold_t

RUNS, FOLDS = 4, 5


def planned(span=1.0, step=0.0):
    n = RUNS * FOLDS
    return PlannedT(
        runs=RUNS, folds=FOLDS, df=n - 1, test_share=1 / (FOLDS - 1), span=span, step=step
    )


def statistic(d, resolution=None):
    """The test of the library itself, on losses whose differences are `d`."""
    low = np.minimum(d, 0.0)
    return corrected_repeated_kfold_t(d - low, -low, resolution=resolution).statistic


def worst_tails(d, done, rng, span):
    """Completions that try to push the statistic up and down: constants, steps, and a climb."""
    left = RUNS * FOLDS - done
    for y in (*np.linspace(-span, span, 9), 0.0):
        yield np.full(left, y)
    for share in (0.2, 0.5, 0.8):
        tail = np.full(left, span)
        tail[: int(share * left)] = -span
        yield tail
    total, squares = d[:done].sum(), np.square(d[:done]).sum()
    for sign in (1.0, -1.0):
        if total * sign > 0:
            yield np.full(left, np.clip(squares / total, -span, span))
    for _ in range(5):
        yield rng.uniform(-span, span, left)


@given(
    seed=st.integers(0, 2**32 - 1),
    done=st.integers(2, RUNS * FOLDS - 1),
    shift=st.floats(-0.4, 0.4),
    coarse=st.booleans(),
)
def test_no_tail_leaves_the_exact_bounds(seed, done, shift, coarse):
    rng = np.random.default_rng(seed)
    d = np.clip(rng.normal(shift, 0.2, RUNS * FOLDS), -1, 1)
    step = 0.1 if coarse else 0.0
    if coarse:
        d = np.round(d, 1)
    part = d.copy()
    part[done:] = np.nan
    bounds = planned(step=step).exact(part.reshape(1, RUNS, FOLDS))
    for tail in worst_tails(d, done, rng, 1.0):
        full = d.copy()
        full[done:] = np.round(tail, 1) if coarse else tail
        t = statistic(full.reshape(RUNS, FOLDS), resolution=step or None)
        assert bounds.t_low[0] - 1e-9 <= t <= bounds.t_high[0] + 1e-9
        assert bounds.mean_low[0] - 1e-12 <= full.mean() <= bounds.mean_high[0] + 1e-12


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), done=st.integers(2, RUNS * FOLDS - 1))
def test_no_tail_of_any_size_leaves_the_bounds_of_unbounded_losses(seed, done):
    rng = np.random.default_rng(seed)
    d = rng.normal(rng.normal(0, 0.3), 0.2, RUNS * FOLDS)
    part = d.copy()
    part[done:] = np.nan
    bounds = planned(span=None).exact(part.reshape(1, RUNS, FOLDS))
    for size in (0.01, 1.0, 100.0):
        for tail in worst_tails(d, done, rng, size):
            full = d.copy()
            full[done:] = tail
            t = statistic(full.reshape(RUNS, FOLDS))
            assert bounds.t_low[0] - 1e-9 <= t <= bounds.t_high[0] + 1e-9


@pytest.mark.parametrize("span", [1.0, None])
def test_the_bound_is_reached_so_that_no_tighter_one_is_right(span):
    rng = np.random.default_rng(3)
    d = np.clip(rng.normal(0.2, 0.2, RUNS * FOLDS), -1, 1)
    part = d.copy()
    part[12:] = np.nan
    # the best tail is constant, at sum of squares over sum, as far as losses reach
    best = np.square(d[:12]).sum() / d[:12].sum()
    full = d.copy()
    full[12:] = best if span is None else min(best, span)
    high = planned(span=span).exact(part.reshape(1, RUNS, FOLDS)).t_high[0]
    assert statistic(full.reshape(RUNS, FOLDS)) == pytest.approx(high, rel=1e-7)


def test_differences_that_are_alike_so_far_and_have_no_step_stay_open():
    test = planned(span=None, step=None)
    for alike in (0.0, 0.25):
        result = test.predicted(np.full((1, 2, FOLDS), alike), risk=0.01)
        assert (result.t_low[0], result.t_high[0]) == (-np.inf, np.inf)
    # a step says how much one instance would change
    known = replace(test, span=1.0, step=0.05).predicted(np.zeros((1, 2, FOLDS)), risk=0.01)
    assert -np.inf < known.t_low[0] < 0 < known.t_high[0] < np.inf


@pytest.mark.parametrize("mean", [0.05, -0.1])
@pytest.mark.parametrize("m", [2, 4, 7])
def test_predictions_of_runs_that_are_drawn_alike_hold_as_often_as_they_say(m, mean):
    # the folds of a run are independent here, which is the worst that is allowed for
    rng = np.random.default_rng(6)
    test = PlannedT(runs=10, folds=10, df=99, test_share=1 / 9)
    d = rng.normal(mean, 0.1, (4000, 10, 10))
    full = test.exact(d).t_high
    bounds = test.predicted(d[:, :m], risk=0.05)
    # 95 percent of 4000 draws: between 0.043 and 0.057; the guard makes it smaller
    for outside in (full < bounds.t_low, full > bounds.t_high):
        assert 0.005 < outside.mean() < 0.058


def test_predictions_are_mirrored():
    rng = np.random.default_rng(7)
    test = PlannedT(runs=10, folds=10, df=99, test_share=1 / 9)
    d = rng.normal(0.1, 0.1, (200, 3, 10))
    one, other = test.predicted(d, risk=0.001), test.predicted(-d, risk=0.001)
    np.testing.assert_allclose(one.t_low, -other.t_high)
    np.testing.assert_allclose(one.t_high, -other.t_low)


def test_means_that_may_end_equal_stay_open_whatever_the_rounding():
    # three cells of -1/3 and a last one of 1, in every size: their sum may round to less than 0
    for size in np.linspace(0.01, 1.0, 500):
        part = np.array([size / 3, size / 3, size / 3, np.nan]).reshape(1, 4, 1)
        for sign in (1, -1):
            bounds = PlannedT(runs=4, folds=1, df=3, span=size).exact(sign * part)
            assert bounds.mean_low[0] <= 0 <= bounds.mean_high[0]
