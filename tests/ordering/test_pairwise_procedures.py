import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk import ordering
from bestofk.errors import ArgumentError, DesignError


def five_by_two(means, seed=0, spread=0.01):
    """Losses (K, 5, 2) around the given means."""
    noise = np.random.default_rng(seed).normal(0, spread, (len(means), 5, 2))
    return np.asarray(means, dtype=float)[:, None, None] + noise


def t_by_hand(a, b):
    """One-sided 5x2cv t test, eq. (7) of Yildiz and Alpaydin, spelt out."""
    p = a - b
    s2 = sum((p[i, 0] - p[i].mean()) ** 2 + (p[i, 1] - p[i].mean()) ** 2 for i in range(5))
    t = p[0, 0] / np.sqrt(s2 / 5)
    return t, stats.t.sf(t, 5)


def test_multitest_is_the_papers_with_bonferroni():
    losses = five_by_two([0.32, 0.30, 0.10, 0.12], seed=3, spread=0.02)
    decision = ordering.multitest(losses, test="5x2cv-t", correction="bonferroni", alpha=0.05)
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


def test_holm_rejects_what_bonferroni_misses():
    # p = 0.01, 0.02, 0.04 of three pairs: Bonferroni keeps one, Holm all three.
    table = {(0, 1): 0.01, (0, 2): 0.02, (1, 2): 0.04}

    class Result:
        def __init__(self, pvalue):
            self.pvalue, self.statistic, self.estimate = pvalue, np.zeros_like(pvalue), pvalue

    def known(a, b, alternative):
        i, j = np.broadcast_arrays(a[..., 0], b[..., 0])
        look = np.vectorize(lambda x, y: table.get((int(x), int(y)), 1.0), otypes=[float])
        return Result(look(i, j))

    numbered = np.repeat(np.arange(3.0)[:, None], 4, axis=1)
    flat = lambda a, b, alternative: known(a[..., 0, :], b[..., 0, :], alternative)  # noqa: E731
    holm = ordering.multitest(numbered, test=flat, correction="holm", alpha=0.05)
    bonferroni = ordering.multitest(numbered, test=flat, correction="bonferroni", alpha=0.05)
    assert set(holm.edges) == {(0, 1), (0, 2), (1, 2)}
    assert set(bonferroni.edges) == {(0, 1)}
    assert holm.order == (2, 1, 0)
    assert bonferroni.order == (1, 0, 2)


def test_pendigits_as_a_graph():
    # Section 4.3: every test but H0: mu_3 <= mu_4 is rejected, the order is 5 < 3 < 4 < 2 < 1.
    # Means as printed in Table 1; differences are made constant but for a small spread.
    means = np.array([90.05, 15.70, 6.24, 7.45, 0.74]) / 100
    decision = ordering.multitest(
        five_by_two(means, spread=0.002), test="5x2cv-t", correction="bonferroni"
    )
    all_pairs = {(i, j) for i in range(5) for j in range(i + 1, 5)}
    assert set(decision.edges) == all_pairs - {(2, 3)}
    assert decision.order == (4, 2, 3, 1, 0)
    first = ordering.test_first(five_by_two(means, spread=0.002), test="5x2cv-t")
    assert first.best == 4


def test_hepatitis_as_a_graph():
    # Section 4.3: no difference anywhere, so the prior stands; TestFirst finds no best because
    # the smallest mean is not the simplest learner's.
    losses = five_by_two(np.array([20.65, 19.03, 17.25, 21.24, 18.78]) / 100, seed=1, spread=0.05)
    assert np.argmin(losses.mean(axis=(1, 2))) == 2
    decision = ordering.multitest(losses, test="5x2cv-t", correction="bonferroni")
    assert decision.edges == ()
    assert decision.order == (0, 1, 2, 3, 4)
    assert decision.best == 0
    assert decision.candidates[0] == (0, 1, 2, 3, 4)
    assert ordering.test_first(losses, test="5x2cv-t").best is None
    assert "No test overrides" in decision.explain()


def test_identical_learners_stay_in_prior_order():
    losses = np.broadcast_to(five_by_two([0.2]), (4, 5, 2))
    decision = ordering.multitest(losses)
    assert decision.edges == ()
    assert all(pair.pvalue == 1 for pair in decision.evidence)
    assert [standing.verdict for standing in decision.standings] == ["tie"] * 3


def test_test_first_uses_alpha_over_k_minus_1():
    losses = five_by_two([0.30, 0.20, 0.25, 0.22], seed=5, spread=0.03)
    first = ordering.test_first(losses, test="5x2cv-t")
    f = int(np.argmin(losses.mean(axis=(1, 2))))
    assert f > 0
    for pair in first.evidence:
        assert pair.b == f
        assert pair.adjusted_pvalue == pytest.approx(
            min(1, 3 * t_by_hand(losses[pair.a], losses[f])[1]), rel=1e-10
        )
    assert len(first.evidence) == f


def test_test_first_takes_the_most_preferred_without_a_test():
    first = ordering.test_first(five_by_two([0.1, 0.3, 0.3]), test="5x2cv-t")
    assert first.best == 0
    assert len(first.evidence) == 0
    assert "none is preferred to it" in first.explain()


def test_most_wins_counts_and_names_ties():
    losses = five_by_two([0.5, 0.1, 0.1, 0.3], spread=0.003)
    decision = ordering.most_wins(losses, test="5x2cv-t", alpha=0.05)
    assert dict(decision.counts) == {0: 0, 1: 2, 2: 2, 3: 1}
    assert decision.best is None
    assert decision.order == (1, 2, 3, 0)
    assert "1 and 2 are tied with 2 significant wins each" in decision.explain()
    minus = ordering.most_wins(losses, test="5x2cv-t", minus_losses=True)
    assert dict(minus.counts) == {0: -3, 1: 2, 2: 2, 3: -1}


def test_most_wins_chooses_a_single_winner():
    decision = ordering.most_wins(five_by_two([0.5, 0.1, 0.3], spread=0.003), test="5x2cv-f")
    assert decision.best == 1
    assert all(standing.verdict == "worse" for standing in decision.standings)
    # 0 is preferred and worse: that is an edge also of two-sided evidence.
    assert set(decision.edges) == {(0, 1), (0, 2)}


def test_two_sided_tests_are_refused_where_a_direction_is_needed():
    with pytest.raises(DesignError, match="two-sided only"):
        ordering.multitest(five_by_two([0.1, 0.2]), test="5x2cv-f")


def test_array_shape_that_is_not_5x2_is_refused():
    with pytest.raises(DesignError, match=r"five runs of two folds"):
        ordering.multitest(np.random.default_rng(0).random((3, 10, 10)), test="5x2cv-t")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"alpha": 0}, "alpha must be strictly between 0 and 1; got 0"),
        ({"alpha": "a"}, "alpha must be a number between 0 and 1"),
        ({"correction": "sidak"}, "correction must be one of"),
        ({"prior": ["a"]}, "prior applies to named learners"),
        ({"df": 3}, "df does not apply to test '5x2cv-t'"),
    ],
)
def test_bad_arguments_get_one_sentence(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        ordering.multitest(five_by_two([0.1, 0.2]), **arguments)


def test_unknown_test_offers_the_nearest():
    with pytest.raises(bk.UnknownNameError, match="did you mean '5x2cv-t'"):
        ordering.multitest(five_by_two([0.1, 0.2]), test="5x2cv")


def test_one_learner_is_refused():
    with pytest.raises(ArgumentError, match="at least 2 learners"):
        ordering.multitest(five_by_two([0.1]))


def test_many_learners_are_ordered_by_the_pseudocode():
    # 300 learners: the edges are those of the p-values, the order is a topological sort of them.
    means = np.random.default_rng(0).permutation(np.linspace(0.1, 0.5, 300))
    decision = ordering.multitest(five_by_two(means, spread=0.01), test="5x2cv-t")
    assert len(decision.evidence) == 300 * 299 // 2
    place = {name: rank for rank, name in enumerate(decision.order)}
    assert all(place[j] < place[i] for i, j in decision.edges)
    assert sorted(decision.order) == list(range(300))


def test_losses_are_not_written():
    losses = five_by_two([0.1, 0.2, 0.3])
    losses.flags.writeable = False
    before = losses.copy()
    for procedure in (ordering.multitest, ordering.test_first, ordering.most_wins):
        procedure(losses)
    np.testing.assert_array_equal(losses, before)


class OneInTwenty:
    """Evidence of exactly 0.05 for every pair."""

    def __init__(self, a, b):
        self.estimate = np.asarray((a - b).mean(axis=(-2, -1)))
        self.statistic, self.pvalue = self.estimate, np.full(self.estimate.shape, 0.05)


def test_a_pvalue_at_the_level_rejects():
    def one_in_twenty(a, b, alternative):
        return OneInTwenty(a, b)

    losses = five_by_two([0.3, 0.1])
    for procedure in (ordering.multitest, ordering.test_first, ordering.most_wins):
        at = procedure(losses, test=one_in_twenty, correction="none")
        assert at.best == 1
        assert [standing.verdict for standing in at.standings] == ["worse"]
        below = procedure(losses, test=one_in_twenty, correction="none", alpha=0.0499)
        assert below.best != 1
