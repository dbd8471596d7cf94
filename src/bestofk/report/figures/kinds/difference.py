"""The difference of two learners: every fold or data set a point, and nested intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.pairwise.bayesian.posterior import PosteriorResult
from bestofk.pairwise.result import PairwiseResult
from bestofk.report.figures.axis_marks import x_axis
from bestofk.report.figures.paper import ANY_PAPER, SIZE, Paper
from bestofk.report.figures.picture import Picture, Point, Sheet
from bestofk.report.figures.scales import Scale, around
from bestofk.wording import counted, number, printable, pvalue_words

LEVELS = (0.99, 0.95, 0.8, 0.5)
"""Of the nested intervals, the widest first."""
_MOST_POINTS = 2000
_WIDTH, _LEFT = 430.0, 24.0
_OPACITY = {0.99: 0.16, 0.95: 0.32, 0.8: 0.5, 0.5: 0.75}


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceLayout:
    """Points and intervals along one axis of differences, zero in it.

    Attributes
    ----------
    points : tuple of points
        Where each difference stands.
    intervals : tuple of (level, left, right)
        Where the nested intervals end, the widest first; empty where the test offers none.
    rope : (left, right) or None
        Where the region of practical equivalence ends, where there is one.
    zero, estimate : float
        Where no difference, and the mean one, stand.
    picture : Picture
    """

    points: tuple[Point, ...]
    intervals: tuple[tuple[float, float, float], ...]
    rope: tuple[float, float] | None
    zero: float
    estimate: float
    picture: Picture


def layout_difference(value: Any, *, paper: Paper = ANY_PAPER) -> DifferenceLayout:
    """Place the differences that a pairwise test was made on, and its intervals.

    Parameters
    ----------
    value : PairwiseResult
        Of one pair.
    paper : Paper, optional
        What it must fit.

    Examples
    --------
    >>> from bestofk import pairwise
    >>> result = pairwise.wilcoxon([0.2, 0.3, 0.4, 0.3], [0.1, 0.3, 0.2, 0.1])
    >>> layout = layout_difference(result)
    >>> len(layout.points), [level for level, _, _ in layout.intervals]
    (4, [0.99, 0.95, 0.8, 0.5])
    """
    if not isinstance(value, PairwiseResult) or np.ndim(value.pvalue):
        got = "several pairs" if isinstance(value, PairwiseResult) else type(value).__name__
        raise ArgumentError(f"figure 'difference': the result of one pair is needed; got {got}.")
    differences = _differences(value)
    spans = _spans(value)
    ends = [end for _, low, high in spans for end in (low, high) if np.isfinite(end)]
    estimate = float(value.estimate)
    width = value.rope_width if isinstance(value, PosteriorResult) else 0.0
    reach = [-width, width, estimate, *ends, *differences.tolist()]
    least, most = around(min(reach), max(reach))
    long = paper.rest(2 * _LEFT, _WIDTH)
    across = Scale(low=least, high=most, start=_LEFT, end=_LEFT + long)
    sheet = Sheet(paper)
    top, points_height, bar = 22.0, 46.0 if len(differences) else 0.0, 9.0
    bar_top = top + points_height + 8
    bottom = bar_top + bar + 8
    zero = across(0.0)
    rope = (across(-width), across(width)) if width else None
    if rope is not None:
        sheet.box(rope[0], top, rope[1], bottom, fill="orange", opacity=0.25)
    end = x_axis(sheet, across, top=top, bottom=bottom, title="loss of a − loss of b")
    sheet.line((zero, top), (zero, bottom), colour="ink", width=1.0, dash=(4, 3))
    # an end of the axis that zero stands at has no room for words, nor a difference to speak of
    if zero - 6 - sheet.text_width("a is better", SIZE) > 0:
        sheet.say(zero - 6, top - SIZE * 0.8, "a is better", colour="muted", anchor="end")
    if zero + 6 + sheet.text_width("b is better", SIZE) < across.end + _LEFT:
        sheet.say(zero + 6, top - SIZE * 0.8, "b is better", colour="muted")
    points = _stacked(differences, across, top=top, height=points_height)
    radius, opacity = (2.6, 0.75) if len(points) <= 40 else (2.0, 0.5)
    for point in points:
        sheet.dot(*point, radius, fill="blue", opacity=opacity)
    placed = tuple((level, across(low), across(high)) for level, low, high in spans)
    for level, low, high in placed:
        sheet.box(low, bar_top, high, bar_top + bar, fill="blue", opacity=_OPACITY[level])
    middle = across(estimate)
    sheet.line((middle, bar_top - 3), (middle, bar_top + bar + 3), colour="vermillion", width=2.2)
    sentence = (
        f"{value.test}: mean difference {number(estimate)} (the upright line), {_evidence(value)}."
    )
    if rope is not None:
        sentence += f" The band is the region of practical equivalence, {width:g} either way."
    if spans:
        kind = "credible" if isinstance(value, PosteriorResult) else "confidence"
        sentence += f" Shaded: its {kind} intervals of 50, 80, 95 and 99 %."
    if len(differences) > len(points):
        sentence += f" {len(points)} of {len(differences)} differences are drawn."
    end = sheet.note(sentence, left=_LEFT, top=end + 6, width=long)
    return DifferenceLayout(
        points=points,
        intervals=placed,
        rope=rope,
        zero=zero,
        estimate=middle,
        picture=sheet.picture(
            2 * _LEFT + long,
            end + 6,
            alt=printable(f"{counted(len(differences), 'difference')}. {sentence}"),
            x_scale=across,
        ),
    )


def _evidence(value: PairwiseResult) -> str:
    if isinstance(value, PosteriorResult):
        shares = {"a is better": value.left, "equal": value.rope, "b is better": value.right}
        return "probabilities: " + ", ".join(f"{k} {float(p):.3g}" for k, p in shares.items())
    sides = "two-sided" if value.alternative == "two-sided" else "one-sided"
    return f"{sides} {pvalue_words(float(value.pvalue))} for this pair alone"


def _differences(value: PairwiseResult) -> Floats:
    if len(value.losses) != 2:
        return np.empty(0)
    a, b = (np.asarray(part, dtype=float).ravel() for part in value.losses)
    return a - b if a.shape == b.shape else np.empty(0)


def _spans(value: PairwiseResult) -> list[tuple[float, float, float]]:
    try:
        found = [(level, value.confidence_interval(level)) for level in LEVELS]
    except ArgumentError:
        return []
    ends = [(level, float(interval.low), float(interval.high)) for level, interval in found]
    return [(level, low, high) for level, low, high in ends if low <= high]


def _stacked(differences: Floats, across: Scale, *, top: float, height: float) -> tuple[Point, ...]:
    """Points side by side where they are apart, one over the other where they are not."""
    if len(differences) > _MOST_POINTS:
        differences = np.sort(differences)[:: len(differences) // _MOST_POINTS + 1]
    places = np.sort([across(float(value)) for value in differences])
    columns: dict[int, list[float]] = {}
    for place in places:
        columns.setdefault(round(place / 5.0), []).append(float(place))
    tallest = max((len(column) for column in columns.values()), default=1)
    step = min(5.5, height / tallest)
    return tuple(
        (place, top + height - step * (rank + 0.5))
        for column in columns.values()
        for rank, place in enumerate(column)
    )
