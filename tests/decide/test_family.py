"""Families of hypotheses: which are tested together, which are refused, and working advice."""

import re

import numpy as np
import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.decide.evidence import Family
from bestofk.stats.adjust import CORRECTIONS, adjust


@pytest.mark.parametrize("K", [2, 3, 7])
def test_sizes_and_pairs(K):
    everybody = Family(learners=K, alpha=0.05, correction="holm")
    assert everybody.size == K * (K - 1) // 2
    assert everybody.alternative == "two-sided"
    prefer = Family(name="preference", learners=K, alpha=0.05, correction="holm")
    assert prefer.size == K * (K - 1) // 2
    assert prefer.alternative == "greater"
    for at in range(K):
        control = Family(name="control", learners=K, alpha=0.05, correction="holm", control=at)
        first, second = control.pairs()
        assert control.size == len(first) == K - 1
        assert (first < second).all()
        assert {frozenset(pair) for pair in zip(first.tolist(), second.tolist(), strict=True)} == {
            frozenset((at, other)) for other in range(K) if other != at
        }


def test_the_control_family_adjusts_over_the_others_alone(cross_validated):
    table = cross_validated([0.24, 0.2, 0.21, 0.25], spread=0.03)
    control = bk.compare_scores(table, family="control", control="b")
    everybody = bk.compare_scores(table, family="all")
    raw = {frozenset((row.a, row.b)): row.p for row in everybody.pairs.itertuples()}
    mine = list(control.pairs.itertuples())
    assert len(mine) == 3
    assert all("b" in (row.a, row.b) for row in mine)
    assert [row.p for row in mine] == [raw[frozenset((row.a, row.b))] for row in mine]
    expected = adjust(np.array([row.p for row in mine]), "holm")
    assert [row.adjusted_p for row in mine] == pytest.approx(expected.tolist())


def test_in_the_papers_family_only_edges_are_claims(cross_validated):
    table = cross_validated([0.3, 0.2, 0.4])
    decision = bk.compare_scores(table, family="preference", prefer=["a", "b", "c"])
    assert decision.decision.claims == (("b", "a"),)
    assert {one.name: one.verdict for one in decision.decision.standings} == {
        "a": "worse",
        "b": "recommended",
        "c": "not tested",
    }
    # two-sided, c is shown to be worse too
    both = bk.compare_scores(table, family="all", prefer=["a", "b", "c"])
    assert set(both.decision.claims) == {("b", "a"), ("b", "c"), ("a", "c")}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"family": "control"}, "name it with control="),
        ({"control": "a"}, "control applies to family='control': add that, or leave it out"),
        ({"family": "preference"}, "none is stated: give prefer="),
        ({"family": "some"}, "family must be one of 'all', 'preference', 'control'; got 'some'"),
        ({"family": "preference", "prefer": "listed", "correction": "shaffer"},
         "'shaffer' is for the two-sided tests of all pairs; family='preference' takes 'holm'"),
        ({"family": "control", "control": "a", "correction": "bergmann-hommel"},
         "'bergmann-hommel' is for the two-sided tests of all pairs; family='control' takes"),
    ],
)  # fmt: skip
def test_families_that_do_not_fit_are_refused(cross_validated, asked, words):
    with pytest.raises(ArgumentError, match=re.escape(words)):
        bk.compare_scores(cross_validated(), **asked)


@pytest.mark.parametrize("correction", [*CORRECTIONS])
def test_the_smallest_possible_pvalue_is_reached(correction):
    for K in (2, 3, 5):
        family = Family(learners=K, alpha=0.05, correction=correction)
        p = np.full(family.size, 1.0)
        smallest = family.smallest_adjusted(0.01)
        # all pairs as extreme as can be
        assert family.adjust(np.full(family.size, 0.01)).min() == pytest.approx(smallest)
        # one of them alone is never below
        p[0] = 0.01
        assert family.adjust(p).min() >= smallest - 1e-15
