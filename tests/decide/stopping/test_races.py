"""A comparison that stops early decides as the full plan; without risk, always."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bestofk as bk
from bestofk.decide.evidence import Family
from bestofk.decide.stopping import PlannedT, StopRule, replay

RUNS, FOLDS, ROWS = 10, 5, 100


def tables(rng, K, *, spread):
    """Error rates of folds of 20 rows: coarse, as real ones are."""
    errors = np.clip(0.3 + spread * rng.permutation(np.linspace(0, 1, K)), 0, 1)
    chance = np.clip(errors[:, None, None] + 0.05 * rng.standard_normal((K, 1, FOLDS)), 0.01, 0.99)
    return rng.binomial(20, np.broadcast_to(chance, (K, RUNS, FOLDS))) / 20


def adversarial_tail(rng, losses, done):
    """After `done` runs everything turns about, as far as losses reach."""
    turned = losses.copy()
    turned[:, done:] = rng.integers(0, 2, (len(losses), 1, 1))
    return turned


def planned(K, correction=None):
    """The rule of the best, or MultiTest with a correction."""
    test = PlannedT(
        runs=RUNS, folds=FOLDS, df=RUNS * FOLDS - 1, test_share=1 / (FOLDS - 1), span=1.0,
        step=FOLDS / ROWS,
    )  # fmt: skip
    if correction is None:
        return test, Family(name="best", learners=K, alpha=0.05, correction="bonferroni")
    return test, Family(learners=K, alpha=0.05, correction=correction)


def by_plan(losses, correction=None, *, stated=True):
    table = bk.Scores(
        losses, dims=("learner", "run", "fold"), learners=list("abcde"[: len(losses)])
    )
    more = {} if correction is None else {"family": "all", "correction": correction}
    result = bk.compare_scores(
        table, test="corrected-repeated-kfold-t", prefer="listed" if stated else None, **more
    )
    return ["abcde".index(name) for name in result.decision.ranking]


@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.integers(2, 5),
    spread=st.sampled_from([0.0, 0.1, 0.4]),
    correction=st.sampled_from([None, None, "holm", "bonferroni", "hochberg"]),
    stated=st.booleans(),
    target=st.sampled_from(["best", "order"]),
    turn=st.integers(3, 10),
)
def test_without_risk_the_verdict_is_always_that_of_the_plan(
    seed, K, spread, correction, stated, target, turn
):
    rng = np.random.default_rng(seed)
    losses = adversarial_tail(rng, tables(rng, K, spread=spread), turn)
    test, family = planned(K, correction)
    raced = replay(losses, test, family, StopRule(risk=0.0, target=target), stated=stated)
    if not raced.settled:
        # equal means may leave the order open to the end
        assert (raced.runs == RUNS).any()
        return
    wanted = by_plan(losses, correction, stated=stated)
    verdict = raced.look.verdict
    if target == "best":
        assert np.flatnonzero(verdict.candidates()).tolist() == wanted[:1]
    else:
        assert verdict.order()[0].tolist() == wanted


@pytest.mark.parametrize("correction", [None, "holm"])
def test_with_a_risk_the_verdict_hardly_ever_differs_and_much_is_saved(correction):
    rng = np.random.default_rng(8)
    test, family = planned(5, correction)
    saved, differ = [], 0
    for _ in range(60):
        losses = tables(rng, 5, spread=0.3)
        raced = replay(losses, test, family, StopRule(risk=0.05), floor=(FOLDS / ROWS) ** 2)
        saved.append(1 - raced.runs.mean() / RUNS)
        chosen = np.flatnonzero(raced.look.verdict.candidates())
        differ += bool(raced.settled) and chosen.tolist() != by_plan(losses, correction)[:1]
    # risk 0.05 allows 3 of 60, and so many are never seen
    assert differ <= 1
    assert np.mean(saved) > 0.4


def test_who_runs_depends_on_losses_alone():
    rng = np.random.default_rng(9)
    losses = tables(rng, 4, spread=0.3)
    test, family = planned(4)
    one, two = (replay(losses, test, family, StopRule()) for _ in range(2))
    assert one.runs.tolist() == two.runs.tolist()
    # what was not run is not looked at
    other = np.where(np.isnan(one.losses), rng.random(losses.shape), losses)
    assert replay(other, test, family, StopRule()).runs.tolist() == one.runs.tolist()
