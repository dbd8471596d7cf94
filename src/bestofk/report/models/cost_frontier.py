"""Quality against cost: every model a point, and the frontier of those that nothing beats."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from bestofk.errors import ArgumentError
from bestofk.model_choice.cost_words import COST_TITLES, shown_cost
from bestofk.report.figures.axis_marks import spread, x_axis, y_axis
from bestofk.report.figures.paint import paint
from bestofk.report.figures.picture import SMALL, Picture, Point, Sheet
from bestofk.report.figures.scales import Scale, around
from bestofk.report.figures.text_width import LINE, all_fitted, widest
from bestofk.wording import counted, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bestofk.model_choice.model_choice import ModelChoice

_ACROSS, _TALL = 340.0, 230.0
_LOOKS = {"recommended": "blue", "worse": "vermillion", "better": "green"}
MANY_TIMES = 10.0
"""Costs that differ by more than this factor stand on a logarithmic scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierLayout:
    """Models by what they cost and how good they are.

    Attributes
    ----------
    names : tuple of str
        The models whose cost is known, the cheapest first.
    points : tuple of points
        Where they stand.
    frontier : tuple of str
        Those than which none is both cheaper and better by its mean.
    picture : Picture
    """

    names: tuple[str, ...]
    points: tuple[Point, ...]
    frontier: tuple[str, ...]
    picture: Picture


def known_cost(choice: ModelChoice) -> str | None:
    """The cost to show: that which was preferred by, else the first that is known."""
    for of in (choice.cost_of, *choice.costs):
        if sum(isfinite(cost) for cost in choice.costs[of].values()) >= 2:
            return of
    return None


def frontier_of(choice: ModelChoice, of: str) -> tuple[str, ...]:
    """The models than which none costs at most as much and has a better mean, cheapest first."""
    costs, means = choice.costs[of], choice.order.means
    known = sorted(
        (name for name in costs if isfinite(costs[name])), key=lambda k: (costs[k], means[k])
    )
    found: list[str] = []
    for name in known:
        if not found or means[name] < means[found[-1]] - 1e-12:
            found.append(name)
    return tuple(found)


def layout_frontier(choice: ModelChoice) -> FrontierLayout:
    """Place the models of a choice by cost and mean score, with the interval of each mean."""
    of = known_cost(choice)
    if of is None:
        raise ArgumentError("figure 'frontier': the costs of fewer than two models are known.")
    costs = {name: shown_cost(cost, of) for name, cost in choice.costs[of].items()}
    metric = choice.order.metric
    frontier = frontier_of(choice, of)
    names = tuple(sorted((k for k in costs if isfinite(costs[k])), key=lambda k: costs[k]))
    means = {name: metric.shown(choice.order.means[name]) for name in names}
    left, top = 52.0, 30.0
    lows, highs = zip(*(_ends(choice, name, means[name]) for name in names), strict=True)
    y = _scale(min(lows), max(highs), start=top + _TALL, end=top)
    cheapest, dearest = costs[names[0]], costs[names[-1]]
    if cheapest > 0 and dearest > MANY_TIMES * cheapest:
        x = Scale(
            low=cheapest / 1.3, high=dearest * 1.3, start=left, end=left + _ACROSS, kind="log"
        )
    else:
        x = _scale(cheapest, dearest, start=left, end=left + _ACROSS, margin=0.08)
    sheet = Sheet()
    y_axis(sheet, y, left=left, right=left + _ACROSS, title=printable(metric.mean))
    end = x_axis(sheet, x, top=top, bottom=top + _TALL, title=COST_TITLES[of])
    steps: list[Point] = []
    for name in frontier:
        if steps:
            steps.append((x(costs[name]), steps[-1][1]))
        steps.append((x(costs[name]), y(means[name])))
    if len(steps) > 1:
        sheet.line(*steps, colour="ink", width=3.0, opacity=0.25)
    verdicts = {str(one.name): one.verdict for one in choice.order.standings}
    points = tuple((x(costs[name]), y(means[name])) for name in names)
    labels = all_fitted(names, 190.0, SMALL)
    edge = left + _ACROSS + 16
    places = spread(
        [point[1] for point in points], gap=SMALL * LINE + 1, low=top, high=top + _TALL
    )  # fmt: skip
    for k, (name, point) in enumerate(zip(names, points, strict=True)):
        word = "recommended" if name == choice.recommended else verdicts.get(name, "")
        colour = _LOOKS.get(word, "ink")
        sheet.line((point[0], y(lows[k])), (point[0], y(highs[k])), colour=colour, width=0.9)
        sheet.line((point[0], point[1]), (edge - 3, places[k]), colour="wash", width=0.8)
        inside = name in frontier
        sheet.dot(*point, 3.4, fill=colour if inside else "paper", colour=colour, width=1.3)
        sheet.say(edge, places[k], labels[k], size=SMALL, colour=colour)
    width = edge + widest(labels, SMALL) + 12
    bottom = max(end, max(places) + SMALL * LINE)
    note = (
        "Filled, and joined by the thick line: no other model is both cheaper and better by its "
        f"mean. Upright lines: {100 * (1 - choice.order.alpha):g} % intervals of each mean alone. "
        "Blue: recommended; vermillion: shown to be worse than it; green: shown to be better."
    )
    bottom = sheet.note(note, left=10, top=bottom + 6, width=width - 20)
    return FrontierLayout(
        names=names,
        points=points,
        frontier=frontier,
        picture=sheet.picture(
            width,
            bottom + 6,
            alt=printable(
                f"{counted(len(names), 'model')} by cost and {metric.mean}; on the frontier: "
                f"{', '.join(frontier[:6])}."
            ),
            x_scale=x,
            y_scale=y,
        ),
    )


def draw_frontier(layout: FrontierLayout, ax: Axes | None = None) -> Axes:
    """Draw quality against cost."""
    return paint(layout.picture, ax)


def _ends(choice: ModelChoice, name: str, mean: float) -> tuple[float, float]:
    low, high = choice.intervals[name]
    return (low if isfinite(low) else mean), (high if isfinite(high) else mean)


def _scale(low: float, high: float, *, start: float, end: float, margin: float = 0.04) -> Scale:
    first, last = around(low, high, margin=margin)
    return Scale(low=first, high=last, start=start, end=end)
