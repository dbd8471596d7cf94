import numpy as np
import pytest
from scipy import stats

from bestofk._base.errors import DesignError
from bestofk.decide.compare_scores import decide_by_rule

# Ten residuals with sum 0 and sample variance 1: every learner then has the variance 1, so the
# Newman-Keuls statistic of two learners is their distance in means times sqrt(10), with 45 df.
RESIDUALS = np.array([1, -1, 1, -1, 1, -1, 1, -1, 1, -1]) * np.sqrt(9 / 10)


def losses_of(means):
    """(5, 10) losses of learners 1..5 given as {learner: mean}."""
    return np.array([means[learner] + RESIDUALS for learner in sorted(means)])


def critical(size):
    """Distance in means that a window of this size must exceed (R's qtukey through scipy)."""
    return stats.studentized_range.ppf(0.95, size, 45) / np.sqrt(10)


# The examples of section 4.2 of Yildiz and Alpaydin; the scan lost the underlines, so they are
# put back from what the text says of each: sorted learners, their means, the expected choice.
CASES = {
    "first not underlined: 3 (5 4) (2 1)": ({3: 0, 5: 2, 4: 2.5, 2: 5, 1: 5.5}, 3),
    "line of the first meets no other: (5 4 3) (2 1)": ({5: 0, 4: 0.3, 3: 0.6, 2: 3, 1: 3.3}, 3),
    "overlap without the chosen: (2 4 5) (5 3) 1": ({2: 0, 4: 0.4, 5: 0.9, 3: 1.7, 1: 5}, 2),
    "overlap holds no simpler one: (5 2 4) (4 3) 1": ({5: 0, 2: 0.4, 4: 0.9, 3: 1.7, 1: 5}, 2),
    "not found: (5 4 2) (2 1) 3": ({5: 0, 4: 0.4, 2: 0.9, 1: 1.7, 3: 5}, None),
}


@pytest.mark.parametrize(("means", "best"), CASES.values(), ids=CASES.keys())
def test_newman_keuls_choice_of_section_4_2(means, best):
    chosen = decide_by_rule("newman-keuls-choice", losses_of(means), alpha=0.05)
    # Learners are counted from 0 here, from 1 in the paper.
    assert chosen.recommended == (None if best is None else best - 1)
    assert chosen.ranking == (() if best is None else (best - 1,))
    # it is said why, unless the chosen one has the smallest mean itself
    first = min(means, key=means.get)
    assert ("the most preferred of its group" in chosen.explain()) == (best not in (None, first))


def test_the_cases_lie_where_they_claim():
    assert 0.9 < critical(3) < 1.3 < 1.7 > critical(4)
    assert critical(2) > 1.7 - 0.9
    assert critical(2) < 2


def test_anova_choice_takes_the_most_preferred_when_nothing_differs():
    losses = losses_of({1: 0.0, 2: 0.1, 3: -0.1, 4: 0.05, 5: 0.0})
    assert stats.f_oneway(*losses).pvalue > 0.05
    assert decide_by_rule("anova-choice", losses).recommended == 0


def test_anova_choice_finds_none_when_something_differs():
    losses = losses_of({1: 0.0, 2: 0.1, 3: 5.0, 4: 0.05, 5: 0.0})
    chosen = decide_by_rule("anova-choice", losses)
    assert chosen.recommended is None
    assert chosen.ranking == ()
    assert "finds no best" in chosen.explain()


def test_hepatitis_newman_keuls_underlines_all():
    # Section 4.3: ANOVA accepts, Newman-Keuls underlines all five, so the simplest is taken.
    losses = losses_of({1: 0.2, 2: 0.1, 3: 0.0, 4: 0.25, 5: 0.05})
    assert decide_by_rule("newman-keuls-choice", losses).recommended == 0
    assert decide_by_rule("anova-choice", losses).recommended == 0


def test_pendigits_newman_keuls_underlines_none():
    # Section 4.3: 5 3 4 2 1, nothing underlined.
    chosen = decide_by_rule("newman-keuls-choice", losses_of({5: 0, 3: 2, 4: 4, 2: 6, 1: 8}))
    assert chosen.recommended == 4
    assert "differs from all others" in chosen.explain()


def test_one_number_a_learner_is_refused():
    with pytest.raises(DesignError, match="nothing to test"):
        decide_by_rule("anova-choice", [[0.1], [0.2]])


def test_a_pvalue_at_the_level_is_a_difference():
    from bestofk.papers.stats import anova

    losses = np.array([[0.30, 0.34, 0.32], [0.29, 0.31, 0.28]])
    p = float(anova(losses).pvalue)
    assert decide_by_rule("anova-choice", losses, alpha=p).recommended is None
    assert decide_by_rule("anova-choice", losses, alpha=p * (1 - 1e-12)).recommended == 0
