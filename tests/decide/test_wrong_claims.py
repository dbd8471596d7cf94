"""What is promised: the chance of even one wrong claim, in any direction, is at most alpha.

Small seeded simulations; a rate counts as too large where the exact binomial distribution with
the promised rate gives so many wrong studies with probability below 1 in 1,000.
"""

import numpy as np
from scipy import stats

from bestofk.decide.compare_scores import decide_by_rule

STUDIES = 1000


def at_most(count, rate, studies=STUDIES):
    return stats.binom.sf(count - 1, studies, rate) > 1e-3


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
