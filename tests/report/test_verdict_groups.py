"""The forest plot of a page: rows, axis and folded parts."""

import re

import numpy as np
import pytest
from tests.report.page_kinds import table

import bestofk as bk
from bestofk.report.verdict_groups import MAX_OPEN_LEARNERS, forest_of


@pytest.mark.parametrize(
    "options", [{}, {"prefer": "listed"}, {"margin": 0.02, "prefer": "listed"}]
)
def test_bars_stand_where_the_numbers_say(options):
    """Places are linear in the numbers: two of them fix the axis, and all others must agree."""
    order = bk.order(table(6, 5, 10), **options)
    forest = forest_of(order)
    bars = [one.bar for group in forest.groups for one in group.members]
    standings = {one.name: one for one in order.standings}
    drawn = {
        member.name.striptags(): member.bar for group in forest.groups for member in group.members
    }
    assert drawn[order.recommended].at == forest.zero
    pairs = [(0.0, forest.zero)]
    for name, one in standings.items():
        bar = drawn[name]
        pairs += [(one.difference, bar.at)]
        pairs += [] if bar.open_left else [(one.low, bar.left)]
        pairs += [] if bar.open_right else [(one.high, bar.right)]
    pairs += [(float(word.replace("−", "-")), place) for place, word in forest.ticks]
    values, places = np.array(pairs).T
    slope, zero = np.polyfit(values, places, 1)
    assert slope > 0
    assert places == pytest.approx(zero + slope * values, abs=0.02)
    assert all(0 <= bar.left <= bar.at <= bar.right <= 100 for bar in bars)
    if "margin" in options:
        assert forest.margin == pytest.approx((zero - 0.02 * slope, zero + 0.02 * slope), abs=0.02)


def test_more_than_twelve_are_folded_and_none_is_lost():
    order = bk.order(table(60, 5, 10))
    groups = forest_of(order).groups
    assert sum(len(group.members) for group in groups) == 60
    for group in groups:
        assert (*group.first, *group.rest) == group.members
        assert len(group.first) <= MAX_OPEN_LEARNERS + 1
        # one alone is not worth a fold
        assert len(group.rest) != 1


def test_a_decision_without_pairs_has_no_forest():
    assert forest_of(None) is None
    values = np.random.default_rng(1).random((3, 5, 2))
    assert forest_of(bk.order(values, procedure="anova-choice")) is None


def test_a_difference_and_its_interval_have_equal_decimals():
    order = bk.order(bk.read_losses("breast-cancer-10x10"))
    members = [member for group in forest_of(order).groups for member in group.members]
    shown = [member.worse_by for member in members if member.interval]
    assert "0.352 (0.332 to 0.372)" in shown
    for text in shown:
        assert len({len(end) for end in re.findall(r"\.(\d+)", text)}) == 1, text
