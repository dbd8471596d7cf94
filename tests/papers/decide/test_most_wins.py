import pytest

import bestofk as bk
from bestofk._base.errors import ArgumentError
from bestofk.decide.compare_scores import decide_by_rule


def test_equal_counts_are_named(five_by_two):
    losses = five_by_two([0.5, 0.1, 0.1, 0.3], spread=0.003)
    decision = decide_by_rule("most-wins", losses, test="5x2cv-t", alpha=0.05)
    assert dict(decision.counts) == {0: 0, 1: 2, 2: 2, 3: 1}
    assert decision.recommended is None
    assert decision.ranking == (1, 2, 3, 0)
    assert (
        "Most wins finds no single best: learner 1 and learner 2 have two significant wins each"
        in str(decision)
    )


def test_a_single_winner_is_chosen(five_by_two):
    decision = decide_by_rule(
        "most-wins", five_by_two([0.5, 0.1, 0.3], spread=0.003), test="5x2cv-f"
    )
    assert decision.recommended == 1
    assert [one.verdict for one in decision.standings] == ["recommended", "worse", "worse"]
    # 0 is preferred and worse: that is an edge also of two-sided evidence.
    assert set(decision.edges) == {(0, 1), (0, 2)}


def test_counts_are_those_of_the_claims(cross_validated):
    decision = bk.compare_scores(cross_validated([0.5, 0.1, 0.102, 0.3, 0.2]), rule="most-wins")
    for name in decision.decision.by_preference:
        assert decision.decision.counts[name] == sum(
            better == name for better, _ in decision.decision.claims
        )


def test_one_direction_is_not_enough(five_by_two):
    with pytest.raises(ArgumentError, match="wins need both: use family='all'"):
        decide_by_rule("most-wins", five_by_two([0.5, 0.1]), family="preference")
