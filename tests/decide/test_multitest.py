import numpy as np
import pytest

import bestofk as bk
from bestofk import decide as ordering

PUBLISHED = {"family": "preference", "correction": "bonferroni", "test": "5x2cv-t"}
"""As Yildiz and Alpaydin (2006) publish it."""


def test_as_published_it_is_the_papers(five_by_two, t_by_hand):
    losses = five_by_two([0.32, 0.30, 0.10, 0.12], seed=3, spread=0.02)
    decision = ordering.multitest(losses, alpha=0.05, **PUBLISHED)
    expected = set()
    for i in range(4):
        for j in range(i + 1, 4):
            t, p = t_by_hand(losses[i], losses[j])
            evidence, row = decision.evidence, decision.evidence.row(i, j)
            gap = losses[i].mean() - losses[j].mean()
            assert evidence.results["greater"][0].statistic[row] == pytest.approx(t, rel=1e-12)
            assert evidence.pvalue[row] == pytest.approx(p, rel=1e-10)
            assert evidence.adjusted_pvalue[row] == pytest.approx(min(1, 6 * p), rel=1e-10)
            assert evidence.estimate[row] == pytest.approx(gap, abs=1e-15)
            if p <= 0.05 / 6:
                expected.add((i, j))
    assert expected
    assert set(decision.edges) == expected
    # only edges may be claimed: the opposite direction was not tested
    assert set(decision.claims) == {(j, i) for i, j in expected}


def test_holm_rejects_what_bonferroni_misses():
    # p = 0.01, 0.02, 0.04 of three pairs: Bonferroni keeps one, Holm all three.
    table = {(0, 1): 0.01, (0, 2): 0.02, (1, 2): 0.04}

    def known(a, b, alternative):
        assert alternative in ("greater", "two-sided")
        return table.get((int(-a[0]), int(-b[0])), 1.0)

    # learner k has the loss -k on every fold: the last is the best
    numbered = np.repeat(-np.arange(3.0)[:, None], 4, axis=1)
    for family in ("all", "preference"):
        asked = {"test": known, "family": family, "alpha": 0.05}
        holm = ordering.multitest(numbered, correction="holm", **asked)
        bonferroni = ordering.multitest(numbered, correction="bonferroni", **asked)
        assert set(holm.edges) == {(0, 1), (0, 2), (1, 2)}
        assert set(bonferroni.edges) == {(0, 1)}
        assert holm.ranking == (2, 1, 0)
        assert bonferroni.ranking == (1, 0, 2)


def test_pendigits_as_a_graph(five_by_two):
    # Section 4.3: every test but H0: mu_3 <= mu_4 is rejected, the order is 5 < 3 < 4 < 2 < 1.
    # Means as printed in Table 1; differences are made constant but for a small spread.
    means = np.array([90.05, 15.70, 6.24, 7.45, 0.74]) / 100
    losses = five_by_two(means, spread=0.002)
    all_pairs = {(i, j) for i in range(5) for j in range(i + 1, 5)}
    for asked in (PUBLISHED, {"test": "5x2cv-t", "correction": "bonferroni"}):
        decision = ordering.multitest(losses, **asked)
        assert set(decision.edges) == all_pairs - {(2, 3)}
        assert decision.ranking == (4, 2, 3, 1, 0)


def test_identical_learners_stay_in_the_order_of_preference(five_by_two):
    losses = np.broadcast_to(five_by_two([0.2]), (4, 5, 2))
    decision = ordering.multitest(losses)
    assert decision.edges == decision.claims == ()
    assert (decision.evidence.pvalue == 1).all()
    assert [one.verdict for one in decision.standings[1:]] == ["no difference shown"] * 3
    assert decision.ranking == (0, 1, 2, 3)


@pytest.mark.parametrize("rule", ["multitest", "test-first", "most-wins"])
def test_a_pvalue_at_the_level_rejects(five_by_two, rule):
    def one_in_twenty(a, b, alternative):
        assert alternative in ("greater", "two-sided")
        return 0.05 if a.mean() > b.mean() or alternative == "two-sided" else 0.95

    losses = five_by_two([0.3, 0.1])
    asked = {"rule": rule, "prefer": "listed", "test": one_in_twenty}
    at = bk.compare_scores(losses, correction="none", **asked)
    assert at.recommended == 1
    assert {one.name: one.verdict for one in at.decision.standings} == {
        1: "recommended",
        0: "worse",
    }
    below = bk.compare_scores(losses, correction="none", alpha=0.0499, **asked)
    assert below.recommended != 1
