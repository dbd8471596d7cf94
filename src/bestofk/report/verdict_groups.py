"""The forest plot of a page: learners in groups by verdict, one row each."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from bestofk._base.formatting import counted
from bestofk.decide.decision import (
    MAY_BE_BEST,
    NOT_SHOWN,
    RECOMMENDED,
    RULED_OUT,
    WITHIN_MARGIN,
    Decision,
    Standing,
)
from bestofk.decide.statements.stopped import NOT_SETTLED
from bestofk.decide.statements.wording import shown_means, worse_than_best
from bestofk.decide.stopping.result import StoppedDecision
from bestofk.report.figures.comparisons import basis, bounds_note
from bestofk.report.figures.kinds.forest import layout_forest
from bestofk.report.figures.picture import Scale, tick_words
from bestofk.report.names import html_name, one_line

GROUPS = {
    RECOMMENDED: ("recommended", "Recommended"),
    "better": ("better", "Significantly better"),
    WITHIN_MARGIN: ("within", "Within the margin"),
    MAY_BE_BEST: ("candidate", "May be the best"),
    NOT_SHOWN: ("candidate", "No difference shown"),
    NOT_SETTLED: ("open", "Stopped early"),
    RULED_OUT: ("out", "Ruled out"),
    "worse": ("out", "Significantly worse"),
    "not tested": ("open", "Not tested"),
}
"""Class of the style sheet and heading by verdict."""
PAPER_PIXELS = 230.0
"""Length of the axis on paper, between the columns of text."""
PIXELS_PER_CHARACTER = 6.5


class DifferenceBar(NamedTuple):
    """Positions of a difference and its bounds, in percent of the width."""

    at: float
    left: float
    right: float
    open_right: bool = False
    """The bar goes on beyond the axis."""


class Member(NamedTuple):
    """A learner of a group."""

    name: Markup
    mean: str
    worse: str
    """How much worse than the best it is, or why it stopped; empty if neither is known."""
    bar: DifferenceBar | None = None


class Group(NamedTuple):
    """Learners with the same verdict."""

    kind: str
    title: str
    members: list[Member]


class Forest(NamedTuple):
    """The groups, and the axis of their rows.

    - `zero`: Position of the best in percent; None without bounds.
    - `ticks`: Positions and labels.
    - `mean`: ``mean error``.
    - `margin`: The end of the band of the margin, in percent.
    - `note`: The promise of the bounds, and the test.
    - `longest`: Characters of the longest name.
    """

    groups: list[Group]
    zero: float | None
    ticks: list[tuple[float, str]]
    mean: str
    margin: float | None
    note: str
    longest: int


def forest_of(decision: Decision | None) -> Forest | None:
    """Return the groups with their axis; None if no learner is recommended by pairs."""
    if decision is None or decision.recommended is None or not len(decision.evidence):
        return None
    rows = decision.standings
    bounded = any(row.at_most for row in rows)
    scale = layout_forest(decision).x_scale if bounded else None
    means, members = shown_means(decision), dict[str, list[Member]]()
    for row in rows:
        member = Member(html_name(row.name), means[row.name], worse_than_best(decision, row))
        if scale is not None:
            member = member._replace(bar=_bar(row, scale))
        elif isinstance(decision, StoppedDecision):
            member = _raced(decision, row, member)
        members.setdefault(row.verdict, []).append(member)
    margin = decision.margin
    return Forest(
        groups=[
            Group(*GROUPS[verdict], members[verdict]) for verdict in GROUPS if verdict in members
        ],
        zero=None if scale is None else _percent(scale, 0.0),
        ticks=[] if scale is None else _ticks(scale),
        mean=decision.metric.mean,
        margin=None if scale is None or margin is None else _percent(scale, margin),
        note=" ".join(filter(None, (bounds_note(decision), basis(decision)))),
        longest=max(len(one_line(name)) for name in decision.by_preference),
    )


def _raced(decision: StoppedDecision, row: Standing, member: Member) -> Member:
    """Return the row of a race: the runs behind the mean, and why the learner stopped."""
    entry = next(one for one in decision.race.learners if one.learner == str(row.name))
    runs = counted(entry.runs, decision.run_noun)
    return member._replace(mean=f"{member.mean} over {runs}", worse=entry.why)


def _ticks(scale: Scale) -> list[tuple[float, str]]:
    """Return the most ticks whose labels do not touch on paper, where the axis is shortest."""
    for max_ticks in range(8, 1, -1):
        values = scale.ticks(max_ticks)
        labels = tick_words(values)
        positions = [_percent(scale, value) for value in values]
        gap = 100 * (PIXELS_PER_CHARACTER * max(map(len, labels), default=0) + 8) / PAPER_PIXELS
        if all(b - a >= gap for a, b in pairwise(positions)):
            break
    return list(zip(positions, labels, strict=True))


def _percent(scale: Scale, value: float) -> float:
    return round(100 * (scale(value) - scale.start) / (scale.end - scale.start), 2)


def _bar(row: Standing, scale: Scale) -> DifferenceBar:
    at = _percent(scale, row.difference)
    if row.at_most is None:
        return DifferenceBar(at, at, at)
    left, right = _percent(scale, row.at_least or 0.0), _percent(scale, row.at_most)
    return DifferenceBar(at, left, right, row.at_most > scale.high)
