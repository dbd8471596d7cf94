"""The first paragraph: the recommendation, its bound, and what the data cannot show."""

import re

import numpy as np
import pytest

import bestofk as bk

DISCRETE = ("wilcoxon", "sign", "permutation")


def extreme(learners, n):
    """Every learner is better than the one before it on every data set, by amounts of its own."""
    steps = np.linspace(0.01, 0.02, n)
    return np.array([0.9 - k * 0.05 - k * steps for k in range(learners)])


FAMILIES = [
    {},
    {"family": "all"},
    {"family": "preference", "prefer": "listed"},
    {"family": "control", "control": "a"},
    {"family": "all", "correction": "bonferroni", "alpha": 0.01},
    {"family": "all", "correction": "shaffer"},
    {"family": "all", "correction": "none"},
]


@pytest.mark.parametrize("test", DISCRETE)
@pytest.mark.parametrize("asked", FAMILIES, ids=str)
@pytest.mark.parametrize("learners", [2, 5])
def test_a_decision_is_possible_exactly_if_extreme_data_show_it(
    on_data_sets, learners, asked, test
):
    possible = []
    for n in (2, 4, 6, 8, 12):
        decision = bk.compare_scores(on_data_sets(extreme(learners, n)), test=test, **asked)
        possible.append(decision.decision.decidable)
        assert decision.decision.decidable == decision.decision.evidence.better.any()
        assert decision.decision.evidence.adjusted_pvalue.min() == pytest.approx(
            decision.decision.smallest_possible
        )
        if not asked:
            impossible = decision.headline.startswith("Nothing can be ruled out")
            assert impossible == (not decision.decision.decidable)
    assert possible[-1]
    assert not possible[0]


@pytest.mark.parametrize("learners", [2, 3, 6])
def test_too_few_instances(learners):
    def table(n):
        wrong = np.zeros((learners, n))
        wrong[0] = 1
        return bk.Scores(wrong, dims=("learner", "instance"))

    # exact: two in 2^n patterns of signs, times K - 1
    needed = next(n for n in range(2, 20) if (learners - 1) * 2 / 2**n <= 0.05)
    assert not bk.compare_scores(table(needed - 1)).decision.decidable
    enough = bk.compare_scores(table(needed))
    assert enough.decision.decidable
    assert 0 not in enough.candidates
    assert enough.decision.test_choice.smallest_pvalue(needed) == 2 / 2**needed


def test_t_tests_can_always_decide(cross_validated, on_data_sets):
    assert bk.compare_scores(cross_validated()).decision.smallest_possible == 0.0
    for n in (2, 6):
        decision = bk.compare_scores(on_data_sets(extreme(5, n)))
        assert decision.test == "skew-corrected-t"
        assert decision.decision.decidable


# One sentence per case, with the numbers of a small table.


def headline(table, **asked):
    return bk.compare_scores(table, **asked).headline


def test_some_candidates_are_left(cross_validated):
    assert re.fullmatch(
        r"Use b: it is at most 0\.01\d* worse than the best of the four \(95 % confidence\)\. "
        r"c may be as good; the other two are ruled out\.",
        headline(cross_validated([0.4, 0.2, 0.2005, 0.3])),
    )


@pytest.mark.parametrize(
    ("means", "others"),
    [
        ([0.22, 0.2, 0.25, 0.4], "b is the best; the other two are ruled out."),
        ([0.22, 0.2, 0.2001, 0.4], "b and c are within the margin; d is ruled out."),
    ],
)
def test_the_preferred_one_is_within_the_margin(cross_validated, means, others):
    text = headline(cross_validated(means), prefer=["a"], margin=0.05)
    first, second = text.split(" (95 % confidence). ")
    assert re.fullmatch(
        r"Use a, which you prefer: it is at most 0\.04\d* worse than the best of the four, which "
        r"is within your margin of 0\.05",
        first,
    )
    assert second == others


def test_a_bound_above_the_mean_is_called_wide(cross_validated):
    wide = cross_validated([0.02, 0.021], spread=0.05)
    row = bk.compare_scores(wide).decision.standings[0]
    assert row.at_most > row.mean > 0
    assert headline(wide).endswith("worse (95 % confidence; wide: more data would help).")
    assert "wide" not in headline(cross_validated([0.2, 0.2002]))


def test_a_test_without_means_has_no_bound(on_data_sets):
    rng = np.random.default_rng(0)
    decision = bk.compare_scores(on_data_sets(rng.random((3, 12))), test="wilcoxon")
    assert decision.headline.endswith(
        "The wilcoxon test gives no bound: it does not compare means."
    )
    assert {row.at_most for row in decision.decision.standings} == {None}
    assert "bounds" not in decision.explain()
    losses = np.array([[0.5], [0.2], [0.2]]) + 0.1 * rng.random((3, 12))
    assert headline(on_data_sets(losses), test="wilcoxon", prefer="listed").startswith(
        "Use b, the first listed that may be the best. The wilcoxon test gives no bound"
    )
