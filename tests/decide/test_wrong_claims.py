"""What is promised: the chance of even one wrong claim, in any direction, is at most alpha.

Small seeded simulations; a rate counts as too large where the exact binomial distribution with
the promised rate gives so many wrong studies with probability below 1 in 1,000.
"""

import numpy as np
import pytest
from scipy import stats

from bestofk import decide as ordering
from bestofk.decide.compare_scores import decide_by_rule

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
    "complete null": np.zeros(5),
    "half are better": np.array([0.0, 0.0, -3.0, -3.0, -3.0]),
}


@pytest.mark.parametrize("family", ["all", "preference"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("test", "units"), [("wilcoxon", (12, 1, 1, 1)), ("kfold-t", (10,))])
def test_rate_of_wrong_claims_is_at_most_alpha(test, units, case, family):
    rng = np.random.default_rng([len(units), *case.encode()])
    means = CASES[case]
    losses = means.reshape(5, *(1 for _ in units)) + rng.normal(size=(STUDIES, 5, *units))
    assert at_most(wrongly_claiming(losses, means, test=test, family=family), 0.05)


def test_test_first_seldom_chooses_wrongly():
    """Five equal learners: the chance that another than the first is chosen is at most alpha,
    although single comparisons are rejected more often."""
    rng = np.random.default_rng(3)
    studies, wrong, single = 300, 0, 0
    for _ in range(studies):
        order = decide_by_rule("test-first", rng.normal(size=(5, 10)), test="kfold-t")
        wrong += order.recommended not in (None, 0)
        single += bool(order.claims)
    assert at_most(wrong, 0.05, studies)
    assert single > 0.06 * studies
    assert "even one wrong claim" not in order.explain()
