"""Nested cross-validation that stops early: its bounds hold, and `compare` uses them."""

import numpy as np
import pytest

import bestofk as bk
from bestofk.decide.stopping import PlannedNested, StopRule, replay
from bestofk.stats.pairwise.nested_cv import nested_cv_t

RUNS, K = 4, 3
TEST = PlannedNested(runs=RUNS, folds=K * K, df=23.0, span=1.0)


def statistic(d):
    """The registered test of differences (P, runs, K * K), whose losses have another order."""
    flat = np.concatenate(
        [part.reshape(len(d), -1) for part in (d[..., :K], d[..., K:])], axis=1
    )  # fmt: skip
    return nested_cv_t(flat, np.zeros_like(flat), runs=d.shape[1], folds=K).statistic


def drawn(rng, pairs, runs=RUNS):
    """Differences of coarse losses with a small effect."""
    return np.round(rng.normal(0.05, 0.2, (pairs, runs, K * K)), 1).clip(-1.0, 1.0)


def test_the_statistic_so_far_is_the_test_on_the_complete_runs():
    d = drawn(np.random.default_rng(1), 20)
    for runs in (2, 3, 4):
        some = np.where(np.arange(RUNS)[:, None] < runs, d, np.nan)
        # a run without one of its pairs of folds is incomplete
        if runs < RUNS:
            some[:, runs, :-1] = d[:, runs, :-1]
        assert TEST.so_far(some).evidence == pytest.approx(statistic(d[:, :runs]))
    bounds = TEST.exact(d)
    assert bounds.t_low == pytest.approx(statistic(d))
    assert (bounds.t_low < bounds.t_high).all()


@pytest.mark.parametrize("done", [1, 2, 3])
def test_no_ending_leaves_the_bounds_without_risk(done):
    rng = np.random.default_rng(done)
    d = drawn(rng, 30)
    bounds = TEST.exact(np.where(np.arange(RUNS)[:, None] < done, d, np.nan))
    extremes = [np.full((30, RUNS, K * K), value) for value in (-1.0, 0.0, 1.0)]
    same = np.broadcast_to(d[:, :1], d.shape)
    random = [rng.choice([-1.0, 0.0, 0.3, 1.0], d.shape) for _ in range(20)]
    for ending in (*extremes, same, *random):
        full = np.where(np.arange(RUNS)[:, None] < done, d, ending)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = statistic(full)
        assert (bounds.t_low <= t).all()
        assert (t <= bounds.t_high).all()
        mean = full[..., :K].mean(axis=(1, 2))
        assert (bounds.mean_low - 1e-12 <= mean).all()
        assert (mean <= bounds.mean_high + 1e-12).all()


def test_the_full_plan_ends_within_the_prediction():
    # a seeded simulation of 600 plans; the chance of each side is 0.05, so about 30 end outside
    d = np.random.default_rng(7).normal(0.1, 0.2, (600, 10, 25))
    test = PlannedNested(runs=10, folds=25, df=149.0)
    full = test.so_far(d).evidence
    for runs in (2, 4, 8):
        bounds = test.predicted(d[:, :runs], risk=0.05)
        assert np.mean(full < bounds.t_low) < 0.08
        assert np.mean(full > bounds.t_high) < 0.08
    bounds = test.predicted(d, risk=0.05)
    assert bounds.t_low == pytest.approx(full)
    assert bounds.t_high == pytest.approx(full)


def test_a_constant_difference_is_certain_only_at_the_end():
    same = np.full((1, RUNS, K * K), 0.25)
    assert TEST.exact(same).t_low == TEST.exact(same).t_high == np.inf
    same[:, -1] = np.nan
    assert TEST.exact(same).t_low < 10


def test_an_unknown_spread_stays_open():
    equal = np.zeros((1, 3, 25))
    test = PlannedNested(runs=10, folds=25, df=149.0)
    assert test.predicted(equal, risk=0.01).t_high == np.inf
    assert test.predicted(equal, risk=0.01, floor=1e-4).t_high < 10
    gap = np.where(np.arange(25) == 24, np.nan, equal)
    assert test.predicted(gap, risk=0.01, floor=1e-4).t_high == np.inf


def test_compare_stops_the_default_plan_as_a_replay_of_the_full_plan(tmp_path):
    learners = ["max", "nmc", "naive-bayes", "c4.5"]
    options = {"prefer": "listed", "progress": False}
    full = bk.compare(learners, "wine", **options, n_jobs=1)
    assert full.outcome.record.plan == "10x5+nested"
    store = tmp_path / "study.db"
    stopped = bk.compare(learners, "wine", stop="settled", **options, n_jobs=2, store=store)
    assert stopped.decision.test == full.decision.test == "nested-cv-t"
    outer, inner = full.scores.losses[:, 0, ..., 0], full.scores.subset_values[:, 0, ..., 0]
    losses = np.concatenate([outer, inner.reshape(4, 10, 20)], axis=2)
    rows = 178
    test = PlannedNested(runs=10, folds=25, df=149.0, span=1.0)
    family = full.decision.evidence.family
    alone = replay(losses, test, family, StopRule(), floor=(5 / rows) ** 2)
    assert list(stopped.outcome.race.runs.values()) == alone.runs.tolist()
    assert stopped.recommended == full.recommended
    assert set(stopped.decision.claims) <= set(full.decision.evidence.claims())
    # five losses of models on folds and twenty of models without a pair of them
    assert (
        stopped.outcome.race.fits
        == 25 * alone.runs.sum()
        < stopped.outcome.race.planned_fits
        == 1000
    )
    used = stopped.scores.losses[:, 0, ..., 0]
    assert np.array_equal(used[~np.isnan(used)], outer[~np.isnan(used)])
    for row, name in enumerate(learners):
        runs = stopped.outcome.race.runs[name]
        assert stopped.decision.means[name] == pytest.approx(outer[row, :runs].mean())
    assert bk.open_study(store).to_dict() == stopped.to_dict()
