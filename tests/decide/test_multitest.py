import numpy as np
import pytest

import bestofk as bk
from bestofk import decide as ordering
from bestofk._base.errors import ArgumentError, DesignError, UnknownNameError

PUBLISHED = {"family": "preference", "correction": "bonferroni", "test": "5x2cv-t"}
"""As Yildiz and Alpaydin (2006) publish it."""


def test_as_published_it_is_the_papers(five_by_two, t_by_hand):
    losses = five_by_two([0.32, 0.30, 0.10, 0.12], seed=3, spread=0.02)
    decision = ordering.multitest(losses, alpha=0.05, **PUBLISHED)
    expected = set()
    for i in range(4):
        for j in range(i + 1, 4):
            t, p = t_by_hand(losses[i], losses[j])
            row = next(pair for pair in decision.evidence if (pair.a, pair.b) == (i, j))
            assert row.statistic == pytest.approx(t, rel=1e-12)
            assert row.pvalue == pytest.approx(p, rel=1e-10)
            assert row.adjusted_pvalue == pytest.approx(min(1, 6 * p), rel=1e-10)
            assert row.estimate == pytest.approx(losses[i].mean() - losses[j].mean(), abs=1e-15)
            if p <= 0.05 / 6:
                expected.add((i, j))
    assert expected
    assert set(decision.edges) == expected
    # only edges may be claimed: the opposite direction was not tested
    assert set(decision.claims) == {(j, i) for i, j in expected}


def test_by_default_every_pair_is_tested_in_both_directions(five_by_two, t_by_hand):
    losses = five_by_two([0.10, 0.30, 0.12, 0.32], seed=3, spread=0.005)
    decision = ordering.multitest(losses, test="5x2cv-t", correction="bonferroni")
    claims = set()
    for i in range(4):
        for j in range(i + 1, 4):
            t, p = t_by_hand(losses[i], losses[j])
            row = next(pair for pair in decision.evidence if (pair.a, pair.b) == (i, j))
            assert row.pvalue == pytest.approx(2 * min(p, 1 - p), rel=1e-10)
            assert row.pvalue_greater == pytest.approx(p, rel=1e-10)
            assert row.pvalue_less == pytest.approx(1 - p, rel=1e-10)
            if 12 * min(p, 1 - p) <= 0.05:
                claims.add((j, i) if t > 0 else (i, j))
    assert {(0, 1), (0, 3)} <= claims
    assert set(decision.claims) == claims
    # an edge is a claim for the less preferred one
    assert set(decision.edges) == {(worse, better) for better, worse in claims if worse < better}


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


def test_hepatitis_as_a_graph(five_by_two):
    # Section 4.3: no difference anywhere, so the preference stands.
    losses = five_by_two(np.array([20.65, 19.03, 17.25, 21.24, 18.78]) / 100, seed=1, spread=0.05)
    assert np.argmin(losses.mean(axis=(1, 2))) == 2
    for asked in (PUBLISHED, {"test": "5x2cv-t"}):
        decision = ordering.multitest(losses, **asked)
        assert decision.edges == ()
        assert decision.ranking == (0, 1, 2, 3, 4)
        assert decision.recommended == 0
        assert decision.smallest_mean == 2
        assert decision.steps[0].candidates == (0, 1, 2, 3, 4)
        assert "The data do not override it" in decision.explain()


def test_identical_learners_stay_in_the_order_of_preference(five_by_two):
    losses = np.broadcast_to(five_by_two([0.2]), (4, 5, 2))
    decision = ordering.multitest(losses)
    assert decision.edges == decision.claims == ()
    assert all(pair.pvalue == 1 for pair in decision.evidence)
    assert [one.verdict for one in decision.standings[1:]] == ["no difference shown"] * 3
    assert decision.ranking == (0, 1, 2, 3)


def test_two_sided_tests_can_decide(five_by_two):
    decision = ordering.multitest(five_by_two([0.5, 0.1, 0.3], spread=0.003), test="5x2cv-f")
    assert decision.ranking == (1, 2, 0)


def test_array_shape_that_is_not_5x2_is_refused():
    with pytest.raises(DesignError, match=r"five runs of two folds"):
        ordering.multitest(np.random.default_rng(0).random((3, 10, 10)), test="5x2cv-t")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"alpha": 0}, "alpha must be strictly between 0 and 1; got 0"),
        ({"alpha": "a"}, "alpha must be a number between 0 and 1"),
        ({"correction": "sidak"}, "correction must be one of"),
        ({"prefer": ["a"]}, "'a', which is not one of the learners: 0, 1"),
        ({"df": 3}, "df does not apply to test '5x2cv-f'"),
        ({"rope": -1}, "rope must be"),
    ],
)
def test_bad_arguments_get_one_sentence(five_by_two, arguments, words):
    with pytest.raises(ArgumentError, match=words):
        ordering.multitest(five_by_two([0.1, 0.2]), **arguments)


def test_unknown_test_offers_the_nearest(five_by_two):
    with pytest.raises(UnknownNameError, match=r"did you mean .*'5x2cv-t'"):
        ordering.multitest(five_by_two([0.1, 0.2]), test="5x2cv")


def test_one_learner_is_refused(five_by_two):
    with pytest.raises(ArgumentError, match="at least 2 learners"):
        ordering.multitest(five_by_two([0.1]))


def test_many_learners_are_ordered_by_the_pseudocode(five_by_two):
    # 300 learners: the edges are those of the p-values, the order is a topological sort of them.
    means = np.random.default_rng(0).permutation(np.linspace(0.1, 0.5, 300))
    losses = five_by_two(means, spread=0.01)
    decision = ordering.multitest(losses, test="5x2cv-t", family="preference")
    assert len(decision.evidence) == 300 * 299 // 2
    place = {name: rank for rank, name in enumerate(decision.ranking)}
    assert all(place[j] < place[i] for i, j in decision.edges)
    assert sorted(decision.ranking) == list(range(300))


@pytest.mark.parametrize("procedure", ["multitest", "test-first", "most-wins"])
def test_losses_are_not_written(five_by_two, procedure):
    losses = five_by_two([0.1, 0.2, 0.3])
    losses.flags.writeable = False
    before = losses.copy()
    bk.compare_scores(losses, procedure=procedure, prefer="listed")
    np.testing.assert_array_equal(losses, before)


@pytest.mark.parametrize("procedure", ["multitest", "test-first", "most-wins"])
def test_a_pvalue_at_the_level_rejects(five_by_two, procedure):
    def one_in_twenty(a, b, alternative):
        assert alternative in ("greater", "two-sided")
        return 0.05 if a.mean() > b.mean() or alternative == "two-sided" else 0.95

    losses = five_by_two([0.3, 0.1])
    asked = {"procedure": procedure, "prefer": "listed", "test": one_in_twenty}
    at = bk.compare_scores(losses, correction="none", **asked)
    assert at.recommended == 1
    assert {one.name: one.verdict for one in at.decision.standings} == {
        1: "recommended",
        0: "worse",
    }
    below = bk.compare_scores(losses, correction="none", alpha=0.0499, **asked)
    assert below.recommended != 1
