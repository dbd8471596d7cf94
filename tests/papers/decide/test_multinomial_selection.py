import numpy as np
import pytest
from scipy import stats

from bestofk._base.errors import ArgumentError
from bestofk.papers import decide as ordering


def test_wins_and_evidence_by_hand():
    # 12 instances: a wins 9, b wins 2, c wins 1.
    posteriors = np.full((3, 12), 0.1)
    posteriors[0, :9] = 0.9
    posteriors[1, 9:11] = 0.9
    posteriors[2, 11] = 0.9
    chosen = ordering.multinomial_selection(posteriors, names=["a", "b", "c"], correction="none")
    assert chosen.best == "a"
    assert chosen.order == ("a", "b", "c")
    assert dict(chosen.wins) == {"a": 9, "b": 2, "c": 1}
    # scipy's exact binomial: 9 of 11, 9 of 10.
    assert chosen.pvalues["b"] == pytest.approx(
        stats.binomtest(9, 11, alternative="greater").pvalue
    )
    assert chosen.pvalues["c"] == pytest.approx(
        stats.binomtest(9, 10, alternative="greater").pvalue
    )


def test_holm_over_the_rivals():
    posteriors = np.full((3, 12), 0.1)
    posteriors[0, :9], posteriors[1, 9:11], posteriors[2, 11] = 0.9, 0.9, 0.9
    plain = ordering.multinomial_selection(posteriors, correction="none").pvalues
    holm = ordering.multinomial_selection(posteriors, correction="holm").adjusted_pvalues
    assert holm[2] == pytest.approx(2 * plain[2])
    assert holm[1] == pytest.approx(max(2 * plain[2], plain[1]))


def test_ties_are_split_and_named():
    chosen = ordering.multinomial_selection([[0.5, 0.5], [0.5, 0.5]])
    assert chosen.best is None
    assert dict(chosen.shares) == {0: 0.5, 1: 0.5}
    assert chosen.pvalues[1] >= 0.5
    assert "no single best" in chosen.explain()


@pytest.mark.parametrize(
    ("posteriors", "words"),
    [
        ([[0.1, 1.2], [0.2, 0.3]], "between 0 and 1"),
        ([[0.1, 0.2]], "at least 2 learners"),
        (np.ones((2, 3, 2)), r"must be \(K, N\)"),
    ],
)
def test_bad_input(posteriors, words):
    with pytest.raises(ArgumentError, match=words):
        ordering.multinomial_selection(posteriors)


def test_shared_wins_count_against_the_first():
    # a wins two instances and half of the third: 2 whole wins against 1, P(X <= 1 of 3) = 1/2
    chosen = ordering.multinomial_selection([[1.0, 1.0, 0.5], [0.0, 0.0, 0.5]])
    assert dict(chosen.wins) == {0: 2.5, 1: 0.5}
    assert chosen.shares[0] == pytest.approx(2.5 / 3)
    assert chosen.pvalues[1] == 0.5
    # thirds add up to whole wins: 3 against 1, P(X <= 1 of 4) = 5/16
    thirds = np.full((3, 5), 0.5)
    thirds[1:, 3:] = 0.25
    chosen = ordering.multinomial_selection(thirds, correction="none")
    assert chosen.pvalues[1] == pytest.approx(5 / 16, rel=1e-12)
    assert chosen.best == 0


def test_posteriors_of_0_and_1_are_named():
    # twelve instances: nn is sure of all, and wrong on the last two
    nn = [1.0] * 10 + [0.0, 0.0]
    bayes = np.linspace(0.5, 0.99, 12)
    chosen = ordering.multinomial_selection([nn, bayes], names=["nn", "bayes"])
    assert (chosen.best, chosen.coarse) == ("nn", {"nn": 2})
    assert "Few distinct posteriors, among them 1: nn (2)." in chosen.explain()
    assert not ordering.multinomial_selection([bayes, bayes[::-1]]).coarse
