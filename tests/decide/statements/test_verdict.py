"""The first paragraph: the recommendation, its reason, and what the data cannot show."""

import re

import numpy as np
import pytest

import bestofk as bk
from bestofk.decide.choose_test import smallest_pvalue
from bestofk.decide.statements.verdict import units_needed

DISCRETE = ("wilcoxon", "sign", "permutation")


def extreme(learners, n):
    """Every learner is better than the one before it on every data set, by amounts of its own."""
    steps = np.linspace(0.01, 0.02, n)
    return np.array([0.9 - k * 0.05 - k * steps for k in range(learners)])


def families():
    yield {}
    yield {"family": "preference", "prefer": "listed"}
    yield {"family": "control", "control": "a"}
    yield {"correction": "bonferroni", "alpha": 0.01}
    yield {"correction": "shaffer"}
    yield {"correction": "benjamini-hochberg"}
    yield {"correction": "none"}


@pytest.mark.parametrize("test", DISCRETE)
@pytest.mark.parametrize("asked", list(families()), ids=str)
@pytest.mark.parametrize("learners", [2, 3, 5])
def test_the_number_of_data_sets_that_is_needed_is_right(on_data_sets, learners, asked, test):
    few = bk.order(on_data_sets(extreme(learners, 2)), test=test, **asked)
    assert not few.decidable
    assert few.claims == ()
    needed = int(re.search(r"At least (\d+) are needed", few.headline())[1])
    assert needed == units_needed(few)
    enough = bk.order(on_data_sets(extreme(learners, needed)), test=test, **asked)
    assert enough.decidable
    # and what is possible there does come out on the most extreme data
    assert enough.claims
    assert enough.evidence.adjusted_pvalue.min() == pytest.approx(enough.smallest_possible)
    assert "cannot decide" not in enough.headline()
    fewer = bk.order(on_data_sets(extreme(learners, needed - 1)), test=test, **asked)
    assert not fewer.decidable
    assert fewer.claims == ()
    assert fewer.evidence.adjusted_pvalue.min() == pytest.approx(fewer.smallest_possible)


@pytest.mark.parametrize("learners", [2, 3, 6])
def test_the_number_of_instances_that_is_needed_is_right(learners):
    def table(n):
        wrong = np.zeros((learners, n))
        wrong[0] = 1
        return bk.Losses(wrong, dims=("algorithm", "instance"))

    few = bk.order(table(2))
    needed = units_needed(few)
    assert f"At least {needed} are needed" in few.headline()
    assert not bk.order(table(needed - 1)).decidable
    enough = bk.order(table(needed), correction="bonferroni")
    assert enough.decidable
    assert enough.claims
    # exact: two in 2^n patterns of signs
    assert smallest_pvalue(enough.test_choice, needed) == 2 / 2**needed


def test_test_first_says_it_too(on_data_sets):
    asked = {"procedure": "test-first", "test": "wilcoxon", "prefer": "listed"}
    few = bk.order(on_data_sets(extreme(3, 4)), **asked)
    assert not few.decidable
    # one-sided and over two pairs: 2 / 2^n <= 0.05
    assert "At least 6 are needed" in few.headline()
    assert not bk.order(on_data_sets(extreme(3, 5)), **asked).decidable
    assert bk.order(on_data_sets(extreme(3, 6)), **asked).recommended == "c"


def test_the_advice_of_a_test_that_can_decide_works(on_data_sets):
    table = on_data_sets(extreme(4, 4))
    few = bk.order(table, test="wilcoxon")
    other = re.search(r"\(([a-z-]+)\) could decide", few.headline())[1]
    assert bk.order(table, test=other).claims


def test_t_tests_can_always_decide(cross_validated):
    assert bk.order(cross_validated()).decidable
    assert bk.order(cross_validated()).smallest_possible == 0.0


def test_auto_takes_one_test_for_any_number_of_data_sets(on_data_sets):
    for learners in (2, 5):
        for n in (2, 3, 6, 13):
            decision = bk.order(on_data_sets(extreme(learners, n)))
            assert decision.test == "skew-corrected-t"
            assert decision.decidable


# Sentences of the design, with the numbers of small tables.


def test_evidence_decided(cross_validated):
    text = bk.order(cross_validated([0.3, 0.2, 0.2005]), prefer="listed").headline()
    assert text.startswith("Use b: it is significantly better than a, which you prefer, and")


def test_preference_decided():
    values = [[0.30, 0.20, 0.31, 0.22], [0.29, 0.21, 0.28, 0.22]]
    table = bk.Losses(values, algorithms=["a", "b"])
    decision = bk.order(table, prefer=["a", "b"])
    assert decision.recommended == "a"
    first, second = decision.headline().split(". ", 1)
    assert first == "Use a, the first in your list that no other significantly beats"
    assert re.fullmatch(
        r"b has the lower mean loss \([\d.]+ vs [\d.]+\), but the two are too close to call "
        r"\(p = [\d.]+\)\.",
        second,
    )


def test_no_preference(cross_validated):
    decision = bk.order(cross_validated([0.4, 0.2, 0.2005, 0.3]))
    assert re.fullmatch(
        r"b and c are too close to call; d and a are significantly worse\. b has the lowest mean "
        r"loss \([\d.]+ vs [\d.]+\), but that could be chance\.",
        decision.headline(),
    )


def test_the_guard_is_said_only_where_it_acts(on_data_sets):
    rng = np.random.default_rng(3)
    spread = np.array([[0.002], [0.4], [0.002]])
    noise = rng.normal(size=(3, 12))
    noise -= noise.mean(axis=1, keepdims=True)
    table = on_data_sets(np.array([[0.27], [0.40], [0.25]]) + spread * noise)
    guarded = bk.order(table, prefer="listed")
    assert guarded.recommended == "c"
    assert guarded.steps[0].passed_over == ("b",)
    assert "b is passed over although no other significantly beats it" in guarded.headline()
    published = bk.order(table, prefer="listed", guard=False)
    assert published.recommended == "b"
    assert "passed over" not in published.explain()
    assert "a, which you prefer, is out because c is significantly better" in published.headline()
    assert "passed over" not in bk.order(table).explain()


@pytest.mark.parametrize("prefer", [None, "listed"])
def test_every_learner_is_in_the_explanation(cross_validated, prefer):
    names = ("ada", "bob", "cat", "dan", "eve", "fay")
    rng = np.random.default_rng(0)
    for seed in range(10):
        table = cross_validated(rng.normal(0.3, 0.02, 6), names=names, seed=seed, spread=0.03)
        text = bk.order(table, prefer=prefer).explain()
        assert all(name in text for name in names)


def test_recommended_and_smallest_mean_are_both_named(cross_validated):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = cross_validated(rng.normal(0.3, 0.01, 4), seed=seed, spread=0.03)
        decision = bk.order(table, prefer="listed")
        text = decision.headline()
        assert text.startswith(f"Use {decision.recommended}")
        assert decision.smallest_mean in text
        assert "lowest mean loss" in text


@pytest.mark.parametrize("prefer", [None, "listed"])
def test_a_test_that_contradicts_the_means_is_said(on_data_sets, prefer):
    first = np.append(np.linspace(0.20, 0.35, 16), 0.10)
    second = first - np.append(np.linspace(0.010, 0.025, 16), -0.4)
    decision = bk.order(on_data_sets([first, second]), test="wilcoxon", prefer=prefer)
    assert decision.smallest_mean == "a"
    assert decision.claims == (("b", "a"),)
    assert decision.recommended == ("a" if prefer is None else "b")
    text = decision.headline()
    assert "which does not compare means" in text
    assert "look at the single data sets before you decide" in text
    assert "too close to call" not in text
    assert "although its mean is" in decision.explain()
    # the estimate is the typical difference, as the test and its interval
    assert decision.evidence.pair(0).estimate > 0
