"""No ending of the plan undoes a decision made without risk; strange tables."""

import numpy as np
import pytest

import stopping_exact
from bestofk.decide.evidence import Family
from bestofk.decide.stopping import PlannedT, StopRule, look, replay
from bestofk.stats.adjust import CORRECTIONS


def test_race_bounds_cover_every_ending():
    result = stopping_exact.search(12, seed=20)
    assert result["endings"] > 1000
    assert result["counterexamples"] == 0


def planned(K, runs=6, folds=4, **options):
    test = PlannedT(runs=runs, folds=folds, df=runs * folds - 1, test_share=1 / (folds - 1),
                    **{"span": 1.0, "step": 0.0, **options})  # fmt: skip
    return test, K


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("risk", [0.0, 0.05])
@pytest.mark.parametrize("K", [2, 12])
def test_two_or_twelve_learners_with_ties_end_settled_under_every_correction(correction, risk, K):
    if correction == "bergmann-hommel":
        # its work triples with each learner
        K = min(K, 6)
    rng = np.random.default_rng(K)
    losses = np.clip(
        0.1 * rng.integers(0, 5, (K, 1, 1)) + 0.1 * rng.integers(0, 3, (K, 6, 4)), 0, 1
    )
    losses[1] = losses[0]  # never differ
    test, _ = planned(K)
    name = "best" if correction == "bonferroni" else "all"
    family = Family(name=name, learners=K, alpha=0.05, correction=correction)
    raced = replay(losses, test, family, StopRule(risk=risk))
    assert raced.settled
    # a look that knows nothing of earlier ones sees the same
    again = look(raced.losses, test, family, StopRule(risk=risk))
    assert np.array_equal(again.bounds.t_low, raced.look.bounds.t_low)
    assert again.settled


def test_unbounded_losses_never_settle_without_risk():
    rng = np.random.default_rng(1)
    losses = 5.0 * rng.standard_normal((3, 6, 4)) + np.array([0.0, 40.0, 80.0])[:, None, None]
    test, _ = planned(3, span=None)
    family = Family(learners=3, alpha=0.05, correction="holm")
    for runs in range(1, 6):
        part = np.where((np.arange(6) < runs)[:, None], losses, np.nan)
        seen = look(part, test, family, StopRule(risk=0.0))
        assert not seen.verdict.sure.any()


def test_constant_learners_at_different_losses_are_settled_and_no_claim_comes_from_one_run():
    losses = np.broadcast_to(np.array([0.3, 0.2, 0.2])[:, None, None], (3, 6, 4)).copy()
    test, _ = planned(3, step=0.05)
    family = Family(learners=3, alpha=0.05, correction="holm")
    raced = replay(losses, test, family, StopRule(), floor=0.05**2)
    assert raced.settled
    assert raced.runs.min() >= 2
