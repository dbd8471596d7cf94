"""Quality against cost: every learner a point, and the frontier of those that nothing beats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, joined, printable
from bestofk.decide.statements.models import COST_TITLES, shown_cost
from bestofk.report.figures.axes import spread, x_axis, y_axis, y_room
from bestofk.report.figures.comparisons import decision_of, level_of
from bestofk.report.figures.kinds.loss_points import intervals_of_means
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Point, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision
    from bestofk.evals.model_choice import ModelChoice

_ACROSS, _TALL = 340.0, 230.0
_LOOKS = {"recommended": "blue", "worse": "vermillion", "better": "green"}
_LEARNERS = {
    "fit_time": ("time to fit", ((1e-6, "µs"), (1e-3, "ms"), (1.0, "seconds"))),
    "predict_time": ("time to predict", ((1e-6, "µs"), (1e-3, "ms"), (1.0, "seconds"))),
    "size": ("size of the fitted model", ((1.0, "bytes"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"))),
}
"""What `compare` measures: its words, and the units to show it in."""
MANY_TIMES = 10.0
"""Costs that differ by more than this factor stand on a logarithmic scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierLayout:
    """Learners by what they cost and how good they are.

    Attributes
    ----------
    names : tuple of str
        The learners whose cost is known, the cheapest first.
    labels : tuple of str
        What stands beside each.
    costs, means : tuple of float
        In the unit of the axis, and in the user's metric.
    points : tuple of points
        Where they stand.
    frontier : tuple of str
        Those than which none is both cheaper and better by its mean.
    picture : Picture
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    costs: tuple[float, ...]
    means: tuple[float, ...]
    points: tuple[Point, ...]
    frontier: tuple[str, ...]
    picture: Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class _Costed:
    """What is drawn, of a choice between models as of a comparison of learners."""

    title: str
    costs: Mapping[str, float]
    order: Decision
    intervals: Mapping[str, tuple[float, float]]
    what: str

    @property
    def frontier(self) -> tuple[str, ...]:
        return cheapest_of_each_quality(self.costs, self.order.means)


def cheapest_of_each_quality(
    costs: Mapping[str, float], means: Mapping[Any, float]
) -> tuple[str, ...]:
    """Those than which none costs at most as much and has a smaller mean loss, cheapest first.

    Examples
    --------
    >>> cheapest_of_each_quality({"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 0.3, "b": 0.4, "c": 0.1})
    ('a', 'c')
    """
    known = sorted(
        (name for name in costs if isfinite(costs[name])), key=lambda k: (costs[k], means[k])
    )
    found: list[str] = []
    for name in known:
        if not found or means[name] < means[found[-1]] - 1e-12:
            found.append(name)
    return tuple(found)


def known_cost(choice: ModelChoice) -> str | None:
    """The cost to show: that which was preferred by, else the first that is known."""
    for of in (choice.cost_of, *choice.costs):
        if sum(isfinite(cost) for cost in choice.costs[of].values()) >= 2:
            return of
    return None


def frontier_of(choice: ModelChoice, of: str) -> tuple[str, ...]:
    """The models than which none costs at most as much and has a better mean, cheapest first."""
    return cheapest_of_each_quality(choice.costs[of], choice.decision.means)


def layout_frontier(
    value: Any, *, cost: str | None = None, paper: Paper = ANY_PAPER
) -> FrontierLayout:
    """Place learners by cost and mean, with the interval of each mean.

    Parameters
    ----------
    value : Study or ModelChoice
    cost : str, optional
        Of a study ``"fit_time"``, ``"predict_time"`` or ``"size"``; of a choice between models
        ``"cost"``, ``"tokens"`` or ``"latency"``. By default what was preferred by, else the
        first that is known.
    paper : Paper, optional
        What it must fit.
    """
    shown = _of_study(value, cost) if hasattr(value, "losses") else _of_models(value, cost)
    costs, metric = shown.costs, shown.order.metric
    frontier = shown.frontier
    names = tuple(sorted((k for k in costs if isfinite(costs[k])), key=lambda k: costs[k]))
    means = {name: float(metric.shown(shown.order.means[name])) for name in names}
    sheet = Sheet(paper)
    labels = sheet.labels(names, paper.share(0.32, 190.0), SMALL)
    pitch = SMALL * LINE + 1
    top, tall = 30.0, max(_TALL if paper.width is None else 190.0, len(names) * pitch)
    lows, highs = zip(*(_ends(shown, name, means[name]) for name in names), strict=True)
    y = _scale(min(lows), max(highs), start=top + tall, end=top)
    left = y_room(sheet, y)
    right = left + paper.rest(left + 16 + sheet.widest(labels, SMALL) + 12, _ACROSS)
    x = _cost_scale(costs[names[0]], costs[names[-1]], start=left, end=right)
    y_axis(sheet, y, left=left, right=right, title=printable(metric.mean))
    end = x_axis(sheet, x, top=top, bottom=top + tall, title=shown.title)
    points = tuple((x(costs[name]), y(means[name])) for name in names)
    edge = right + 16
    low_place, high_place = top + pitch / 2, top + tall - pitch / 2
    places = spread([point[1] for point in points], gap=pitch, low=low_place, high=high_place)
    for point, place in zip(points, places, strict=True):
        sheet.line((point[0], point[1]), (edge - 3, place), colour="faint", width=0.5)
    _steps(sheet, [(x(costs[name]), y(means[name])) for name in frontier], right)
    verdicts = {str(one.name): one.verdict for one in shown.order.standings}
    for k, (name, point) in enumerate(zip(names, points, strict=True)):
        word = "recommended" if name == shown.order.recommended else verdicts.get(name, "")
        colour = _LOOKS.get(word, "ink")
        sheet.line((point[0], y(lows[k])), (point[0], y(highs[k])), colour=colour, width=0.9)
        inside = name in frontier
        _mark(sheet, point, word, colour=colour, filled=inside)
        sheet.say(edge, places[k], labels[k], size=SMALL, colour=colour)
    width = edge + sheet.widest(labels, SMALL) + 12
    note = _reading(shown, bool(verdicts))
    bottom = sheet.note(note, left=10, top=end + 6, width=width - 20)
    return FrontierLayout(
        names=names,
        labels=labels,
        costs=tuple(costs[name] for name in names),
        means=tuple(means[name] for name in names),
        points=points,
        frontier=frontier,
        picture=sheet.picture(
            width,
            bottom + 6,
            alt=printable(
                f"{counted(len(names), shown.what)} by {shown.title} and {metric.mean}; on the "
                f"frontier: {', '.join(frontier[:6])}."
            ),
            x_scale=x,
            y_scale=y,
        ),
    )


def _of_models(choice: Any, cost: str | None) -> _Costed:
    of = known_cost(choice) if cost is None else cost
    if cost is not None and cost not in choice.costs:
        raise ArgumentError(
            f"figure 'frontier': cost must be one of {', '.join(map(repr, choice.costs))}; got "
            f"{cost!r}."
        )
    if of is None or sum(map(isfinite, choice.costs[of].values())) < 2:
        raise ArgumentError("figure 'frontier': the costs of fewer than two models are known.")
    return _Costed(
        title=COST_TITLES[of],
        costs={name: shown_cost(cost, of) for name, cost in choice.costs[of].items()},
        order=choice.decision,
        intervals=choice.intervals,
        what="model",
    )


def known_study_cost(study: Any) -> str | None:
    """What a study measured of at least two learners: what was preferred by, else the first."""
    order = study.decision
    if order is None:
        return None
    preferred = order.preference.words if order.preference.kind == "measured" else "fit_time"
    for of in (preferred, *_LEARNERS):
        if of in _LEARNERS and sum(map(isfinite, _study_costs(study, of).values())) >= 2:
            return of
    return None


def _study_costs(study: Any, of: str) -> dict[str, float]:
    found = {}
    for name in study.decision.by_preference:
        measured = study.costs.get(str(name))
        cost = None if measured is None else getattr(measured, of)
        found[str(name)] = nan if cost is None else float(cost)
    return found


def _of_study(study: Any, cost: str | None) -> _Costed:
    order = decision_of(study)
    if cost is not None and cost not in _LEARNERS:
        raise ArgumentError(
            f"figure 'frontier': cost must be one of {', '.join(map(repr, _LEARNERS))}; got "
            f"{cost!r}."
        )
    of = known_study_cost(study) if cost is None else cost
    if of is None or sum(map(isfinite, _study_costs(study, of).values())) < 2:
        raise ArgumentError(
            "figure 'frontier': the costs of fewer than two learners were measured; compare() "
            "measures them where it fits the learners itself."
        )
    costs = _study_costs(study, of)
    words, units = _LEARNERS[of]
    most = max(filter(isfinite, costs.values()))
    factor, unit = max((one for one in units if one[0] <= most), default=units[0])
    return _Costed(
        title=f"{words}, {unit}",
        costs={name: value / factor for name, value in costs.items()},
        order=order,
        intervals=intervals_of_means(study, level_of(order)),
        what="learner",
    )


def _cost_scale(cheapest: float, dearest: float, *, start: float, end: float) -> Scale:
    if cheapest > 0 and dearest > MANY_TIMES * cheapest:
        return Scale(low=cheapest / 1.3, high=dearest * 1.3, start=start, end=end, kind="log")
    low, high = around(cheapest, dearest, margin=0.08)
    # what costs less than nothing is not on the axis
    return Scale(low=max(low, 0.0) if cheapest >= 0 else low, high=high, start=start, end=end)


def _steps(sheet: Sheet, corners: list[Point], right: float) -> None:
    """The frontier: level to the next dearer one that is better, and on to the end of the axis."""
    steps: list[Point] = []
    for point in corners:
        if steps:
            steps.append((point[0], steps[-1][1]))
        steps.append(point)
    if steps:
        sheet.line(*steps, (right, steps[-1][1]), colour="ink", width=3.0, opacity=0.25)


def _mark(sheet: Sheet, point: Point, word: str, *, colour: str, filled: bool) -> None:
    """A ring around the recommended one: not by its colour alone."""
    sheet.dot(*point, 3.4, fill=colour if filled else "paper", colour=colour, width=1.3)
    if word == "recommended":
        sheet.dot(*point, 6.0, fill=None, colour=colour, width=1.2)


def _reading(shown: _Costed, verdicts: bool) -> str:
    what = shown.what
    parts = [
        f"Filled, on the thick line: no other {what} beats it in both."
    ]  # fmt: skip
    if any(map(isfinite, (end for ends in shown.intervals.values() for end in ends))):
        level = f"{100 * (1 - shown.order.alpha):g} %"
        parts.append(f"Upright lines: {level} intervals of each mean alone.")
    colours = ["Blue with a ring: recommended"]
    if verdicts:
        found = {one.verdict for one in shown.order.standings}
        if "worse" in found:
            colours.append("orange: shown to be worse than it")
        if "better" in found:
            colours.append("green: shown to be better")
        if "no evidence" in found:
            colours.append("black: no evidence of a difference from it")
    parts.append("; ".join(colours) + ".")
    unknown = [name for name, cost in shown.costs.items() if not isfinite(cost)]
    if unknown:
        parts.append(f"Not drawn, since the cost is not known: {joined(unknown[:6])}.")
    return " ".join(parts)


def _ends(shown: _Costed, name: str, mean: float) -> tuple[float, float]:
    low, high = shown.intervals.get(name, (inf, inf))
    return (low if isfinite(low) else mean), (high if isfinite(high) else mean)


def _scale(low: float, high: float, *, start: float, end: float) -> Scale:
    first, last = around(low, high)
    return Scale(low=first, high=last, start=start, end=end)
