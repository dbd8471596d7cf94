"""Regression tests for the cases of an independent audit."""

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk import decide as ordering
from bestofk._base.errors import DesignError

SEVEN = np.repeat([[0.90], [0.50], [0.40], [0.30], [0.10]], 7, axis=1)


@pytest.mark.parametrize("prefer", [None, "listed", ["a", "b", "c", "d", "e"]])
def test_a_learner_that_loses_by_eighty_points_is_never_recommended(on_data_sets, prefer):
    decision = bk.compare_scores(on_data_sets(SEVEN), prefer=prefer)
    assert decision.recommended == decision.decision.smallest_mean == "e"
    assert decision.test == "skew-corrected-t"
    assert decision.decision.decidable
    assert {row.verdict for row in decision.decision.standings} == {"recommended", "ruled out"}
    assert decision.candidates == ("e",)


def test_seven_data_sets_cannot_decide_between_five_learners_by_ranks(on_data_sets):
    decision = bk.compare_scores(on_data_sets(SEVEN), test="wilcoxon")
    assert not decision.decision.decidable
    assert decision.decision.claims == ()
    # each of four comparisons has p >= 2 / 2^7
    assert decision.decision.smallest_possible == pytest.approx(4 * 2 / 2**7)
    assert decision.headline.startswith("Nothing can be ruled out: with seven data sets")


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_runs_and_folds_does_not_matter_for_five_by_two(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(0.3, 0.02, (4, 1, 1)) + rng.normal(0, 0.02, (4, 5, 2))
    decision = ordering.multitest(values)
    assert decision.test == "5x2cv-f"
    for other in (values[:, ::-1], values[:, :, ::-1], values[:, ::-1, ::-1]):
        again = ordering.multitest(np.ascontiguousarray(other))
        assert again.ranking == decision.ranking
        assert again.claims == decision.claims
        np.testing.assert_allclose(again.evidence.pvalue, decision.evidence.pvalue, rtol=1e-9)
        np.testing.assert_allclose(again.evidence.low, decision.evidence.low, rtol=1e-6, atol=1e-9)


def test_dietterichs_t_says_that_the_order_decides_it(five_by_two):
    decision = ordering.multitest(five_by_two([0.3, 0.2]), test="5x2cv-t")
    assert "The numerator of 5x2cv-t is the first fold listed" in str(decision)


def test_two_learners_are_called_different_in_five_percent_not_ten():
    """With K = 2, "significantly better" in either direction erred in 10.2 percent of tables."""
    rng = np.random.default_rng(2)
    studies, claimed = 1000, 0
    for _ in range(studies):
        claimed += bool(ordering.multitest(rng.normal(size=(2, 8)), test="kfold-t").claims)
    assert stats.binom.sf(claimed - 1, studies, 0.05) > 1e-3
    # and the error that is allowed is used up
    assert stats.binom.cdf(claimed, studies, 0.05) > 1e-3


def test_posteriors_are_refused_on_few_data_sets_and_promise_nothing(on_data_sets):
    rng = np.random.default_rng(4)
    few = on_data_sets(rng.random((3, 9)))
    with pytest.raises(DesignError, match="fewer than 10 data sets; got 9"):
        bk.compare_scores(few, test="signed-rank-bayes")
    enough = on_data_sets(rng.random((3, 10)))
    text = bk.compare_scores(enough, test="signed-rank-bayes", samples=500).explain()
    assert "no error rate is promised" in text
    assert "wrong claim" not in text
