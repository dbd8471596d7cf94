"""What is promised: the chance of even one wrong claim, in any direction, is at most alpha.

Small seeded simulations; a rate counts as too large where the exact binomial distribution with
the promised rate gives so many wrong studies with probability below 1 in 1,000.
"""

import numpy as np
import pytest
from scipy import stats

import bestofk as bk
from bestofk import decide as ordering
from bestofk.papers.decide import test_first

STUDIES = 1000


def wrongly_claiming(losses, true_means, **options):
    """In how many studies (B, K, ...) a claim (better, worse) is not true.

    test_order_many.py shows that many studies at once are decided as each of them.
    """
    prefer = "listed" if options["family"] == "preference" else None
    claims = ordering.order_many(losses, prefer=prefer, **options).claims
    false = ~(true_means[:, np.newaxis] < true_means)
    return int((claims & false).any(axis=(1, 2)).sum())


def at_most(count, rate, studies=STUDIES):
    return stats.binom.sf(count - 1, studies, rate) > 1e-3


CASES = {
    "complete null": lambda K: np.zeros(K),
    "half are better": lambda K: np.where(np.arange(K) < K // 2, 0.0, -3.0),
    "all different": lambda K: -0.4 * np.arange(K),
}
CROSSED = [
    ("complete null", 2, "all"),
    *((case, 5, family) for case in CASES for family in ("all", "preference")),
]
"""Two learners are one pair, whatever the family."""


@pytest.mark.parametrize(("case", "K", "family"), CROSSED)
def test_data_sets_by_wilcoxon(case, K, family):
    rng = np.random.default_rng([K, *case.encode()])
    means = CASES[case](K)
    losses = means[:, None] + rng.normal(size=(STUDIES, K, 12))
    losses = losses[..., None, None, None]
    wrong = wrongly_claiming(losses, means, test="wilcoxon", family=family)
    assert at_most(wrong, 0.05)


@pytest.mark.parametrize(("case", "K", "family"), CROSSED)
def test_independent_folds_by_their_t_test(case, K, family):
    rng = np.random.default_rng([K, 1, *case.encode()])
    means = CASES[case](K)
    losses = means[:, None] + rng.normal(size=(STUDIES, K, 10))
    wrong = wrongly_claiming(losses, means, test="kfold-t", family=family)
    assert at_most(wrong, 0.05)


@pytest.mark.parametrize("prefer", [None, "listed"])
def test_what_the_text_rules_out_is_shown_to_be_worse(prefer):
    rng = np.random.default_rng(11)
    names = ["ada", "bob", "cat", "dan", "eve"]
    for _ in range(60):
        means = rng.normal(0.3, 0.03, (5, 1))
        table = bk.Scores(means + rng.normal(0, 0.03, (5, 10)), learners=names)
        order = bk.compare_scores(table, prefer=prefer, test="kfold-t")
        out = {row.name for row in order.decision.standings if row.verdict == "ruled out"}
        named = [line for line in order.explain().splitlines() if line.startswith("Ruled out")]
        assert {name for name in names for line in named if f"{name} by " in line} == out
        assert out == set(names) - set(order.candidates)
        # a claim over all pairs is a claim of the K - 1 comparisons of the loser
        assert {worse for _, worse in order.decision.claims} <= out


def test_test_first_seldom_chooses_wrongly():
    """Five equal learners: the chance that another than the first is chosen is at most alpha,
    although single comparisons are rejected more often."""
    rng = np.random.default_rng(3)
    studies, wrong, single = 600, 0, 0
    for _ in range(studies):
        order = test_first(rng.normal(size=(5, 10)), test="kfold-t")
        wrong += order.recommended not in (None, 0)
        single += bool(order.claims)
    assert at_most(wrong, 0.05, studies)
    assert single > 0.06 * studies
    assert "even one wrong claim" not in order.explain()
