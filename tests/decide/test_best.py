"""The statement about the best: candidates, bounds, recommendation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom, ttest_rel

import best_statement
import bestofk as bk
import contradictions
from bestofk.decide.best import best_of
from bestofk.decide.decision import MAY_BE_BEST, RECOMMENDED, RULED_OUT, WITHIN_MARGIN
from bestofk.losses.losses import DIMS


def table(means, *, n=30, sd=0.03, seed=0, names=None):
    rng = np.random.default_rng(seed)
    values = (
        np.asarray(means)[:, None] + rng.uniform(0, 0.1, n) + rng.normal(0, sd, (len(means), n))
    )
    names = names or [f"m{k}" for k in range(len(means))]
    return bk.Scores(values, dims=("learner", "dataset"), learners=names)


def by_definition(losses, alpha):
    """Return candidates and bounds from scipy's paired t test, pair by pair."""
    x = losses.losses[:, :, 0, 0, 0]
    K = len(x)
    low, high = np.zeros((K, K)), np.zeros((K, K))
    for i in range(K):
        for j in range(K):
            if i != j:
                ends = ttest_rel(x[i], x[j]).confidence_interval(1 - alpha / (K - 1))
                low[i, j], high[i, j] = ends
    candidates = [i for i in range(K) if all(low[i, j] <= 0 for j in range(K))]
    at_most = [max([0.0, *(high[i, j] for j in candidates if j != i)]) for i in range(K)]
    at_least = [
        0.0 if i in candidates else max(0.0, min(low[i, j] for j in candidates)) for i in range(K)
    ]
    return candidates, at_least, at_most


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("means", [(0.2, 0.21, 0.23, 0.3), (0.3, 0.2), (0.2, 0.2, 0.2)])
def test_candidates_and_bounds_by_definition(means, alpha):
    losses = table(means)
    decision = bk.compare_scores(losses, test="paired-t", alpha=alpha)
    candidates, at_least, at_most = by_definition(losses, alpha)
    rows = {row.name: row for row in decision.decision.standings}
    assert set(decision.candidates) == {f"m{k}" for k in candidates}
    for k in range(len(means)):
        assert rows[f"m{k}"].at_least == pytest.approx(at_least[k], abs=1e-12)
        assert rows[f"m{k}"].at_most == pytest.approx(at_most[k], abs=1e-12)


def test_verdicts_and_order_follow_the_preference():
    losses = table((0.20, 0.21, 0.30, 0.205), sd=0.01)
    decision = bk.compare_scores(losses, prefer=["m2", "m3", "m1", "m0"])
    verdicts = {row.name: row.verdict for row in decision.decision.standings}
    assert verdicts == {
        "m3": RECOMMENDED, "m1": RULED_OUT, "m0": MAY_BE_BEST, "m2": RULED_OUT,
    }  # fmt: skip
    assert decision.decision.ranking == tuple(row.name for row in decision.decision.standings)
    decision = bk.compare_scores(losses, prefer=["m1", "m0"], margin=0.05)
    assert decision.recommended == "m1"
    assert {row.name: row.verdict for row in decision.decision.standings}["m3"] == WITHIN_MARGIN


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    K=st.integers(2, 7),
    spread=st.sampled_from([0.0, 0.02, 0.1]),
    margins=st.lists(st.floats(1e-4, 0.5), min_size=2, max_size=5),
)
def test_a_larger_margin_never_leads_to_a_less_preferred_learner(seed, K, spread, margins):
    rng = np.random.default_rng(seed)
    losses = table(0.2 + spread * rng.random(K), n=12, seed=seed)
    prefer = [str(name) for name in rng.permutation(losses.learners)]
    places = [
        prefer.index(bk.compare_scores(losses, prefer=prefer, margin=margin).recommended)
        for margin in sorted(margins)
    ]
    assert places == sorted(places, reverse=True)


def test_claims_in_a_circle_leave_no_candidate_and_no_bound():
    # each learner is better than the next on two thirds of the data sets
    cycle = np.array([[0.1, 0.3, 0.2], [0.2, 0.1, 0.3], [0.3, 0.2, 0.1]])
    losses = bk.Scores(np.tile(cycle, 40), dims=("learner", "dataset"), learners=["a", "b", "c"])
    decision = bk.compare_scores(losses, test="sign")
    assert decision.recommended is None
    assert decision.candidates == ()
    assert all(row.at_most is None for row in decision.decision.standings)
    assert decision.headline == (
        "The comparisons contradict each other, so no learner is the best by this test."
    )


def test_few_units_rule_out_nothing_and_say_so():
    losses = table((0.1, 0.4, 0.5), n=5)
    decision = bk.compare_scores(losses, test="sign")
    assert len(decision.candidates) == 3
    # 2 / 2^5 times 2 comparisons
    assert "Nothing can be ruled out" in decision.headline
    assert "(p = 0.12)" in decision.headline


def test_empty_and_unknown_intervals_give_no_bound():
    beaten = np.zeros((2, 2), dtype=bool)
    infinite = np.full((2, 2), np.inf)
    best = best_of(beaten, -infinite, infinite)
    assert np.isnan(best.at_most).all()
    beaten[0, 1] = beaten[1, 0] = True
    best = best_of(beaten, -np.ones((2, 2)), np.ones((2, 2)))
    assert np.isnan(best.at_most).all()
    assert best.recommended == -1


@pytest.mark.parametrize(
    ("shape", "decimals"),
    [((10, 1, 1, 1), 2), ((10, 1, 1, 1), 16), ((1, 10, 10, 1), 16), ((1, 5, 2, 1), 16),
     ((1, 1, 50, 1), 16)],
    ids=["data sets", "fine data sets", "10x10", "5x2", "time"],
)  # fmt: skip
def test_learners_that_are_equal_everywhere_have_no_bound(shape, decimals):
    losses = np.random.default_rng(0).random((2, *shape)).round(decimals)
    design = {50: "time"}.get(shape[2])
    table = bk.Scores(losses[[0, 0, 1]], dims=DIMS, learners=["a", "b", "c"], design=design)
    for result in (bk.compare_scores(table), bk.compare_scores(table.select(learners=["a", "b"]))):
        bounds = result.table.set_index("name").at_most
        assert bounds[["a", "b"]].isna().all()
        assert result.pairs.set_index(["a", "b"]).high["a", "b"] == np.inf
    assert "There is no bound: a and b are equal on every" in result.headline
    assert "a, which you prefer" in bk.compare_scores(table, prefer=["a"], margin=0.5).headline


@pytest.mark.parametrize("design", ["order: 30 data sets", "evals: 200 right-or-wrong items"])
@pytest.mark.parametrize("K", [2, 6])
def test_statement_holds_as_often_as_promised(design, K):
    row = best_statement.measured(design, K, "all equal", tables=300, seed=1)
    assert row["best_excluded"] * 300 <= binom.ppf(0.999, 300, 0.025)
    assert row["statement_false"] * 300 <= binom.ppf(0.999, 300, 0.05)
    assert row["candidates"] <= row["left_by_holm"]


def test_random_results_do_not_contradict_themselves():
    for case, decision in contradictions.random_results(40, seed=2):
        assert contradictions.contradictions(decision) == [], case
