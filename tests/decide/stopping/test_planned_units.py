"""Bounds for data sets that are left hold whatever their losses are."""

import numpy as np
from hypothesis import given, settings, strategies as st

import bestofk as bk
import stopping_datasets
import stopping_exact
from bestofk.decide.evidence import Family
from bestofk.decide.stopping import StopRule, replay
from bestofk.decide.stopping.bounds import PlannedUnits
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.pairwise import sign, wilcoxon

TESTS = {"ranks": wilcoxon, "signs": sign}
LEVELS = [2, 4, 10, 10**6]
"""Numbers of different losses: few of them give ties and zeros."""


def losses_of(rng, shape, levels):
    return rng.integers(0, levels + 1, shape) / levels


def hostile(rng, done, left):
    """Differences that are tied with those that are done, with each other, or beyond; of one sign
    or of both."""
    sizes = np.concatenate([np.abs(done), [0.0, 1e-3, 0.5, 1.0]])
    drawn = rng.choice(sizes, left) if rng.random() < 0.6 else np.full(left, rng.choice(sizes))
    signs = rng.choice([-1, 1], left) if rng.random() < 0.4 else rng.choice([-1, 1])
    return drawn * signs


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(sorted(TESTS)),
    planned=st.integers(1, 9),
    levels=st.sampled_from(LEVELS),
)
def test_bounds_of_units_hold_every_ending(seed, kind, planned, levels):
    rng = np.random.default_rng(seed)
    done = int(rng.integers(planned + 1))
    a, b = losses_of(rng, (2, planned), levels)
    test = PlannedUnits(kind=kind, runs=planned, span=1.0)
    seen = a.copy()
    seen[done:] = np.nan
    bounds = test.exact(seen[np.newaxis, :, np.newaxis], b[np.newaxis, :, np.newaxis])
    for _ in range(12):
        d = hostile(rng, (a - b)[:done], planned - done)
        a[done:], b[done:] = np.maximum(d, 0.0), np.maximum(-d, 0.0)
        for side in ("two-sided", "greater"):
            low, high = test.pvalues(bounds, side)
            assert low[0] <= TESTS[kind](a, b, alternative=side).pvalue <= high[0]
        direction = TESTS[kind](a, b).direction
        assert not (bounds.t_low[0] > 0 >= direction)
        assert not (bounds.t_high[0] < 0 <= direction)
        assert bounds.mean_low[0] - 1e-9 <= np.mean(a - b) <= bounds.mean_high[0] + 1e-9


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(sorted(TESTS)),
    K=st.integers(2, 4),
    planned=st.integers(6, 10),
    levels=st.sampled_from(LEVELS),
    correction=st.sampled_from(sorted(CORRECTIONS)),
    family=st.sampled_from(["best", "all", "preference", "control"]),
    stated=st.booleans(),
    target=st.sampled_from(["best", "order"]),
)
def test_the_full_plan_decides_the_same(
    seed, kind, K, planned, levels, correction, family, stated, target
):
    rng = np.random.default_rng(seed)
    if CORRECTIONS[correction].needs_all_pairs or (not stated and family != "best"):
        family = "all"
    better = rng.choice([0.0, 0.2, 0.5], K)[:, np.newaxis]
    losses = np.clip(losses_of(rng, (K, planned), levels) - better, 0.0, 1.0)
    if rng.random() < 0.5:
        # the end speaks against the beginning
        losses[:, planned // 2 :] = 1.0 - losses[:, planned // 2 :]
    if not stated:
        # who is tied for the smallest mean may be named by either
        losses[:, 0] += 1e-4 * rng.random(K)
    control = int(rng.integers(K)) if family == "control" else None
    full = bk.compare_scores(
        losses, prefer="listed" if stated else None, test=TESTS[kind].__name__,
        correction=correction, family=None if family == "best" else family, control=control,
    )  # fmt: skip
    contents = Family(name=family, learners=K, alpha=0.05, correction=correction, control=control)
    raced = replay(
        losses[:, :, np.newaxis], PlannedUnits(kind=kind, runs=planned, span=1.001), contents,
        StopRule(target=target, risk=0.0), stated=stated,
    )  # fmt: skip
    verdict = raced.look.verdict
    if full.recommended is None:
        # the comparisons contradict each other
        assert not raced.settled
        return
    assert verdict.candidates()[full.recommended]
    if raced.settled:
        assert np.flatnonzero(verdict.candidates()).tolist() == [full.recommended]
        if target == "order":
            assert verdict.order()[0].tolist() == list(full.decision.ranking)
    else:
        assert (raced.runs == planned).any()
    claims = {(int(j), int(i)) for i, j in np.argwhere(verdict.sure)}
    assert claims <= set(full.decision.evidence.claims())
    if family == "control" and raced.settled:
        assert claims == set(full.decision.claims)


def test_a_difference_that_rounding_may_tie_with_another_stays_open():
    test = PlannedUnits(kind="ranks", runs=3)
    a = np.array([0.5, 0.5 + 1e-13, np.nan])[np.newaxis, :, np.newaxis]
    bounds = test.exact(a, np.zeros((1, 3, 1)))
    assert bounds.t_low[0] == -np.inf
    assert bounds.t_high[0] == np.inf


def test_race_bounds_of_units_cover_every_ending():
    how = stopping_datasets.draw, stopping_datasets.first_endings, stopping_datasets.changed
    result = stopping_exact.search(8, 10, *how)
    assert result["endings"] > 500
    assert result["counterexamples"] == 0
