"""False claims and recommendations, counted by hand for known truths."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy import stats

from bestofk._base.errors import ArgumentError, BestOfKError
from bestofk.papers import lab

CLEAR = lab.simulate(
    problem=lab.problem("many-data-sets", means=(0.4, 0.2, 0.3), sds=0.001, datasets=12), sets=5
)
"""Tables on which every pair is told apart: learner 2 before 3 before 1."""


def believed(*means: float) -> lab.Simulation:
    """The same tables, had the learners had other expected losses."""
    return replace(CLEAR, problem=replace(CLEAR.problem, means=means))


def test_true_claims_are_no_error() -> None:
    result = lab.false_claims(simulation=CLEAR, prefer=list(CLEAR.learners)).at()
    assert (result.count, result.n, result.reversed_count) == (0, 5, 0)
    assert (result.equal_pairs, result.different_pairs) == (0, 3)
    assert result.found is not None
    assert result.found >= 2 / 3


def test_claims_about_equal_learners_are_false_but_not_reversed() -> None:
    result = lab.false_claims(simulation=believed(0.2, 0.2, 0.2))
    row = result.at()
    assert (row.count, row.reversed_count, row.found) == (5, 0, None)
    assert (row.equal_pairs, row.different_pairs) == (3, 0)
    assert "makes false claims too often" in result.explain()


def test_claims_the_wrong_way_round() -> None:
    # learner 2 is called better than 1 and 3, of which 1 is in truth the best
    result = lab.false_claims(simulation=believed(0.1, 0.2, 0.3)).at()
    assert (result.count, result.reversed_count) == (5, 5)
    assert result.found is not None
    assert 0 < result.found < 1


def test_what_cannot_be_decided_is_refused_before_the_work() -> None:
    huge = {"problem": "many-data-sets(datasets=40)", "sets": 10**9}
    with pytest.raises(BestOfKError, match="'5x2cv-t' covers five runs of two folds"):
        lab.false_claims(test="5x2cv-t", **huge)
    with pytest.raises(ArgumentError, match="must have known expected losses"):
        lab.false_claims(problem="network(paper=2)", sets=10**6)


@pytest.mark.parametrize("family", ["all", "preference", "control"])
@pytest.mark.parametrize("rule", ["multitest", "most-wins", "test-first"])
def test_what_is_counted_is_all_that_a_decision_claims(family: str, rule: str) -> None:
    from bestofk.decide.compare_scores import compare_scores

    asked = {"family": family} if rule == "multitest" else {}
    if family == "control" and asked:
        asked["control"] = "learner 2"
    generated = lab.simulate(
        problem="many-data-sets(means=(0.3, 0.25, 0.27, 0.2), sds=0.05)", sets=20
    )
    for one in range(20):
        decision = compare_scores(
            generated.table(one), prefer=list(generated.learners), rule=rule, **asked
        )
        claims = set(decision.decision.claims)
        assert len(claims) == len(decision.decision.claims)
        assert {(better, worse) for worse, better in decision.decision.edges} <= claims
        for standing in decision.decision.standings:
            pair = (decision.recommended, standing.name)
            assert (standing.verdict == "worse") == (pair in claims)
            assert (standing.verdict == "better") == (pair[::-1] in claims)


@pytest.mark.parametrize("K", [2, 5, 10])
@pytest.mark.parametrize("shape", ["normal", "lognormal", "rounded"])
def test_false_claims_keep_to_alpha(K: int, shape: str) -> None:
    generated = lab.problem("many-data-sets", means=(0.35,) * (K // 2) + (0.25,) * (K - K // 2),
                       datasets=12, shape=shape)  # fmt: skip
    result = lab.false_claims(problem=generated, sets=400, random_state=K)
    # nine such tests: one in 10,000 of a decision that errs at 5 % fails here
    assert result.at().count <= stats.binom.isf(1e-4, 400, 0.05)
