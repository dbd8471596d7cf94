"""The forest plot of a page: rows, axis and folded parts."""

import numpy as np
import pytest
from tests.report.page_kinds import table

import bestofk as bk
from bestofk.report.verdict_groups import forest_of


@pytest.mark.parametrize(
    "options", [{}, {"prefer": "listed"}, {"margin": 0.02, "prefer": "listed"}]
)
def test_bars_stand_where_the_numbers_say(options):
    """Places are linear in the numbers: two of them fix the axis, and all others must agree."""
    order = bk.compare_scores(table(6, 5, 10), **options).outcome
    forest = forest_of(order)
    drawn = {
        member.name.striptags(): member.bar for group in forest.groups for member in group.members
    }
    assert sorted(drawn) == sorted(order.by_preference)
    pairs = [(0.0, forest.zero)]
    for row in order.standings:
        bar = drawn[row.name]
        pairs += [(row.difference, bar.at), (row.at_least, bar.left)]
        pairs += [] if bar.open_right else [(row.at_most, bar.right)]
    pairs += [(float(word), place) for place, word in forest.ticks]
    values, places = np.array(pairs).T
    slope, zero = np.polyfit(values, places, 1)
    assert slope > 0
    assert places == pytest.approx(zero + slope * values, abs=0.02)
    # nothing starts below 0
    assert all(forest.zero <= bar.left <= bar.right <= 100 for bar in drawn.values())
    if "margin" in options:
        assert forest.margin == pytest.approx(zero + 0.02 * slope, abs=0.02)


def test_groups_follow_the_verdicts():
    order = bk.compare_scores(table(6, 5, 10), prefer="listed", margin=0.05).outcome
    shown = {
        group.title.lower(): [member.name.striptags() for member in group.members]
        for group in forest_of(order).groups
    }
    expected = {}
    for row in order.standings:
        expected.setdefault(row.verdict, []).append(row.name)
    assert shown == expected


def test_a_decision_without_bounds_has_rows_without_bars_and_says_why():
    values = table(5, 12, dims=("learner", "dataset"))
    for options, why in (
        ({"test": "sign"}, "it does not compare means"),
        ({"rule": "multitest"}, "The verdicts compare with"),
    ):
        forest = forest_of(bk.compare_scores(values, **options).outcome)
        members = [member for group in forest.groups for member in group.members]
        assert len(members) == 5
        assert not any(member.bar or member.worse for member in members)
        assert why in forest.note


def test_without_a_recommendation_by_pairs_there_is_no_forest():
    assert forest_of(None) is None
    values = np.random.default_rng(1).random((3, 5, 2))
    assert forest_of(bk.compare_scores(values, rule="anova-choice").outcome) is None
    cycle = bk.Scores(
        np.tile([[1.0, 2.0, 3.0], [2.0, 3.0, 1.0], [3.0, 1.0, 2.0]], 20),
        dims=("learner", "dataset"),
    )
    order = bk.compare_scores(cycle, test="sign").outcome
    assert order.recommended is None
    assert forest_of(order) is None
