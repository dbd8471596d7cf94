"""The forest plot of a page: learners in groups by verdict, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import floor, isfinite, log10

from markupsafe import Markup

from bestofk._base.formatting import counted, pvalue_words
from bestofk.decide.decision import Decision, Standing
from bestofk.decide.preference import Name
from bestofk.decide.statements.stopped import NOT_SETTLED
from bestofk.decide.statements.wording import (
    difference_texts,
    level_words,
    shown_means,
    uncertainty_of,
)
from bestofk.report.figures.comparisons import basis, interval_words, minus
from bestofk.report.figures.kinds.forest import layout_forest
from bestofk.report.figures.picture import Scale, tick_words
from bestofk.report.names import html_name, one_line

GROUPS = {
    "recommended": "Recommended",
    "better": "Significantly better",
    "adequate": "Too close to call",
    "worse": "Significantly worse",
    "untested": "Not tested",
    "unsettled": "Not settled",
}
"""Heading by class of the style sheet."""
_GROUPS_BY_VERDICT = {
    "better": "better",
    "too close to call": "adequate",
    "worse": "worse",
    "not tested": "untested",
    NOT_SETTLED: "unsettled",
}
MAX_OPEN_LEARNERS = 12
"""Learners of a group before the rest is folded."""
PAPER_PIXELS = 230.0
"""Length of the axis on paper, between the columns of text."""
PIXELS_PER_CHARACTER = 6.5


def open_rows(count: int) -> int:
    """Return how many of the learners to show; folding a single one saves no space."""
    return count if count <= MAX_OPEN_LEARNERS + 1 else MAX_OPEN_LEARNERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisker:
    """Positions of a difference and its interval, in percent of the width."""

    at: float
    left: float
    right: float
    open_left: bool = False
    open_right: bool = False
    """The interval goes on beyond the axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A learner of a group, and its difference from the recommended one."""

    name: Markup
    mean: str
    difference: str = ""
    """How much worse it is; negative if it is better."""
    interval: str = ""
    p: str = ""
    bar: Whisker | None = None

    @property
    def worse_by(self) -> str:
        """The difference as the page shows it: ``0.028 (−0.086 to 0.14)``."""
        return minus(f"{self.difference} ({self.interval})" if self.interval else self.difference)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Learners with the same verdict."""

    kind: str
    title: str
    members: tuple[Member, ...]

    @property
    def first(self) -> tuple[Member, ...]:
        """The learners that are shown at once."""
        return self.members[: open_rows(len(self.members))]

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
        Position of a difference of 0 in percent; None if differences have no axis.
    ticks : tuple of (float, str)
    mean : str
        ``mean error``.
    recommended : Markup
    level : str
        ``95 %``.
    margin : (float, float) or None
        The band of irrelevant differences, in percent.
    note : str
        The promise of the intervals, and the test.
    longest : int
        Characters of the longest name.
    """

    groups: tuple[Group, ...]
    zero: float | None
    ticks: tuple[tuple[float, str], ...]
    mean: str
    recommended: Markup
    level: str
    margin: tuple[float, float] | None
    note: str
    longest: int


def forest_of(order: Decision | None) -> Forest | None:
    """Return the groups with their axis; None if no learner is recommended by pairs."""
    if order is None or order.recommended is None or not order.standings:
        return None
    scale = _scale(order)
    bounded = any(isfinite(standing.low) or isfinite(standing.high) for standing in order.standings)
    notes = [basis(order)]
    if scale is None:
        notes.insert(0, f"Differences are over the {order.run_noun}s that both completed.")
    elif bounded:
        notes.insert(0, interval_words(order))
    return Forest(
        groups=_groups(order, scale),
        zero=None if scale is None else _percent(scale, 0.0),
        ticks=() if scale is None else _ticks(scale),
        mean=order.metric.mean,
        recommended=html_name(order.recommended),
        level=level_words(order.alpha) if bounded else "",
        margin=None
        if scale is None or order.margin is None
        else (_percent(scale, -order.margin), _percent(scale, order.margin)),
        note=" ".join(notes),
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
    best, means = order.recommended, _means(order)
    assert best is not None
    zero = None if scale is None else _percent(scale, 0.0)
    recommended = Member(
        name=html_name(best),
        mean=means[best],
        bar=None if zero is None else Whisker(at=zero, left=zero, right=zero),
    )
    members: dict[str, list[Member]] = {"recommended": [recommended]}
    for standing in order.standings:
        group = _GROUPS_BY_VERDICT[standing.verdict]
        members.setdefault(group, []).append(_member(order, standing, scale, means))
    return tuple(
        Group(kind=kind, title=title, members=tuple(members[kind]))
        for kind, title in GROUPS.items()
        if kind in members
    )


def _member(
    order: Decision, standing: Standing, scale: Scale | None, means: dict[Name, str]
) -> Member:
    tested = standing.verdict != "not tested"
    p = standing.adjusted_pvalue
    difference, interval = difference_texts(standing, uncertainty_of(order))
    return Member(
        name=html_name(standing.name),
        mean=means[standing.name],
        difference=difference,
        interval=interval if tested else "",
        p=pvalue_words(p, order.alpha) if tested and p is not None else "",
        bar=None if scale is None else _bar(standing, scale, tested=tested),
    )


def _scale(order: Decision) -> Scale | None:
    """Return the axis of the figure; None for a race, whose learners have different runs."""
    if order.runs_of(order.by_preference[0]) is not None:
        return None
    return layout_forest(order).x_scale


def _percent(scale: Scale, value: float) -> float:
    return round(100 * (scale(value) - scale.start) / (scale.end - scale.start), 2)


def _bar(standing: Standing, scale: Scale, *, tested: bool) -> Whisker:
    at = _percent(scale, standing.difference)
    low, high = standing.low, standing.high
    if not tested or not (isfinite(low) or isfinite(high)):
        return Whisker(at=at, left=at, right=at)
    return Whisker(
        at=at,
        left=_percent(scale, low),
        right=_percent(scale, high),
        open_left=low < scale.low,
        open_right=high > scale.high,
    )


def _means(order: Decision) -> dict[Name, str]:
    """Return ``0.1657`` by learner, or ``0.1657 over 2 runs`` for a stopped race."""
    names = order.by_preference
    texts = shown_means(order)
    shown = [texts[name] for name in names]
    runs = [order.runs_of(name) for name in names]
    return {
        name: text if count is None else f"{text} over {counted(count, order.run_noun)}"
        for name, text, count in zip(names, shown, runs, strict=True)
    }


def two_digits(value: float) -> str:
    """Format a difference with two significant digits, without an exponent if possible.

    Examples
    --------
    >>> two_digits(0.0022471), two_digits(-1234.5), two_digits(0.0), two_digits(2.3e-9)
    ('0.0022', '-1234', '0', '2.3e-09')
    """
    if value == 0 or not abs(value) >= 1e-6:
        return f"{value + 0.0:.2g}"
    return f"{value:.{max(0, 1 - floor(log10(abs(value))))}f}"
