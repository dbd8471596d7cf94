"""The forest plot of a page: learners in groups by verdict, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

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
from bestofk.decide.preference import Name
from bestofk.decide.statements.stopped import NOT_SETTLED
from bestofk.decide.statements.wording import shown_means, worse_than_best
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
    RULED_OUT: ("out", "Ruled out"),
    "worse": ("out", "Significantly worse"),
    "not tested": ("open", "Not tested"),
    NOT_SETTLED: ("open", "Not settled"),
}
"""Class of the style sheet and heading by verdict."""
MAX_OPEN_LEARNERS = 12
"""Learners of a group before the rest is folded."""
PAPER_PIXELS = 230.0
"""Length of the axis on paper, between the columns of text."""
PIXELS_PER_CHARACTER = 6.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisker:
    """Positions of a difference and its bounds, in percent of the width."""

    at: float
    left: float
    right: float
    open_right: bool = False
    """The bar goes on beyond the axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A learner of a group."""

    name: Markup
    mean: str
    worse: str
    """How much worse than the best it is; empty without a bound."""
    bar: Whisker | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Learners with the same verdict."""

    kind: str
    title: str
    members: tuple[Member, ...]

    @property
    def first(self) -> tuple[Member, ...]:
        """The learners that are shown at once; folding a single one saves no space."""
        count = len(self.members)
        return self.members[: count if count <= MAX_OPEN_LEARNERS + 1 else MAX_OPEN_LEARNERS]

    @property
    def rest(self) -> tuple[Member, ...]:
        """The learners that are folded."""
        return self.members[len(self.first) :]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """The groups, and the axis of their rows.

    Attributes
    ----------
    zero : float or None
        Position of the best in percent; None without bounds.
    ticks : tuple of (float, str)
    mean : str
        ``mean error``.
    margin : float or None
        The end of the band of the margin, in percent.
    note : str
        The promise of the bounds, and the test.
    longest : int
        Characters of the longest name.
    """

    groups: tuple[Group, ...]
    zero: float | None
    ticks: tuple[tuple[float, str], ...]
    mean: str
    margin: float | None
    note: str
    longest: int


def forest_of(order: Decision | None) -> Forest | None:
    """Return the groups with their axis; None if no learner is recommended by pairs."""
    if order is None or order.recommended is None or not len(order.evidence):
        return None
    bounded = any(row.at_most is not None for row in order.standings)
    scale = layout_forest(order).x_scale if bounded else None
    margin = order.margin
    return Forest(
        groups=_groups(order, scale),
        zero=None if scale is None else _percent(scale, 0.0),
        ticks=() if scale is None else _ticks(scale),
        mean=order.metric.mean,
        margin=None if scale is None or margin is None else _percent(scale, margin),
        note=" ".join(filter(None, (bounds_note(order), basis(order)))),
        longest=max(len(one_line(name)) for name in order.by_preference),
    )


def _ticks(scale: Scale) -> tuple[tuple[float, str], ...]:
    """Return the most ticks whose labels do not touch on paper, where the axis is shortest."""
    for max_ticks in range(8, 1, -1):
        values = scale.ticks(max_ticks)
        labels = tick_words(values)
        positions = [_percent(scale, value) for value in values]
        gap = 100 * (PIXELS_PER_CHARACTER * max(map(len, labels), default=0) + 8) / PAPER_PIXELS
        if all(b - a >= gap for a, b in pairwise(positions)):
            break
    return tuple(zip(positions, labels, strict=True))


def _groups(order: Decision, scale: Scale | None) -> tuple[Group, ...]:
    means = _means(order)
    members: dict[str, list[Member]] = {}
    for row in order.standings:
        member = Member(
            name=html_name(row.name),
            mean=means[row.name],
            worse=worse_than_best(order, row),
            bar=None if scale is None else _bar(row, scale),
        )
        members.setdefault(row.verdict, []).append(member)
    return tuple(
        Group(kind=kind, title=title, members=tuple(members[verdict]))
        for verdict, (kind, title) in GROUPS.items()
        if verdict in members
    )


def _percent(scale: Scale, value: float) -> float:
    return round(100 * (scale(value) - scale.start) / (scale.end - scale.start), 2)


def _bar(row: Standing, scale: Scale) -> Whisker:
    at = _percent(scale, row.difference)
    if row.at_most is None:
        return Whisker(at=at, left=at, right=at)
    return Whisker(
        at=at,
        left=_percent(scale, row.at_least or 0.0),
        right=_percent(scale, row.at_most),
        open_right=row.at_most > scale.high,
    )


def _means(order: Decision) -> dict[Name, str]:
    """Return ``0.1657`` by learner, or ``0.1657 over 2 runs`` for a stopped race."""
    texts = shown_means(order)
    runs = {name: order.runs_of(name) for name in texts}
    return {
        name: text if count is None else f"{text} over {counted(count, order.run_noun)}"
        for (name, text), count in zip(texts.items(), runs.values(), strict=True)
    }
