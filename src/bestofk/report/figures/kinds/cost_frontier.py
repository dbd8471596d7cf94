"""Quality against cost: every learner as a point, and the frontier of undominated ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import counted, joined, printable
from bestofk.decide.decision import MAY_BE_BEST, NOT_SHOWN, RECOMMENDED, RULED_OUT, WITHIN_MARGIN
from bestofk.evals.costs import cost_title, shown_cost
from bestofk.report.figures.axes import spread, x_axis, y_axis, y_axis_left
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Point, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision
    from bestofk.evals.model_choice import ModelChoice

_AXIS_LENGTH, _HEIGHT = 340.0, 230.0
_COLOURS = {
    RECOMMENDED: ("blue", "blue with a ring"),
    RULED_OUT: ("vermillion", "orange"),
    "worse": ("vermillion", "orange"),
    "better": ("green", "green"),
    WITHIN_MARGIN: ("ink", "black"),
    MAY_BE_BEST: ("ink", "black"),
    NOT_SHOWN: ("ink", "black"),
}
"""Colour by verdict, and its name."""
_SECONDS = ((1e-6, "µs"), (1e-3, "ms"), (1.0, "seconds"))
_STUDY_COSTS = {
    "fit_time": ("time to fit", _SECONDS),
    "predict_time": ("time to predict", _SECONDS),
    "size": ("size of the fitted model", ((1.0, "bytes"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"))),
}
"""Costs that `compare` measures, with their titles and units."""
_MAX_LINEAR_RATIO = 10.0
"""Costs whose ratio is larger get a logarithmic scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The costs of models or learners, and the decision between them."""

    title: str
    costs: Mapping[str, float]
    order: Decision

    @property
    def noun(self) -> str:
        return self.order.noun


def cheapest_of_each_quality(
    costs: Mapping[str, float], means: Mapping[Any, float]
) -> tuple[str, ...]:
    """Return the names that no other beats in cost and mean loss, cheapest first.

    Examples
    --------
    >>> cheapest_of_each_quality({"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 0.3, "b": 0.4, "c": 0.1})
    ('a', 'c')
    """
    frontier: list[str] = []
    for name in sorted(_known(costs), key=lambda k: (costs[k], means[k])):
        if not frontier or means[name] < means[frontier[-1]] - 1e-12:
            frontier.append(name)
    return tuple(frontier)


def _known(costs: Mapping[str, float]) -> list[str]:
    return [name for name, cost in costs.items() if isfinite(cost)]


def known_cost(choice: ModelChoice) -> str | None:
    """Return the cost to show: the preferred one, or else the first known for two models."""
    for kind in (choice.cost_of, *choice.costs):
        if len(_known(choice.costs[kind])) >= 2:
            return kind
    return None


def layout_frontier(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw learners by cost and mean.

    Parameters
    ----------
    value : Study or ModelChoice
        The cost is the preferred one, or else the first that is known of two learners.
    paper : Paper, optional
    """
    data = costs_of(value)
    assert data is not None
    costs, order = data.costs, data.order
    metric = order.metric
    frontier = cheapest_of_each_quality(costs, order.mean_losses)
    names = sorted(_known(costs), key=lambda name: costs[name])
    means = [float(order.means[name]) for name in names]
    sheet = Sheet(paper)
    labels = sheet.labels(names, paper.share(0.36, 280.0), SMALL)
    pitch = SMALL * LINE_HEIGHT + 1
    top = 30.0
    bottom = top + max(_HEIGHT if paper.width is None else 190.0, len(names) * pitch)
    low, high = around(min(means), max(means))
    y = Scale(low=low, high=high, start=bottom, end=top)
    left = y_axis_left(sheet, y)
    beside = 16 + sheet.widest(labels, SMALL) + 12
    right = left + paper.rest(left + beside, _AXIS_LENGTH)
    x = _cost_scale(costs[names[0]], costs[names[-1]], start=left, end=right)
    y_axis(sheet, y, left=left, right=right, title=printable(metric.mean))
    end = x_axis(sheet, x, top=top, bottom=bottom, title=data.title)
    points = {name: (x(costs[name]), y(mean)) for name, mean in zip(names, means, strict=True)}
    name_left = right + 16
    rows = spread(
        [point[1] for point in points.values()],
        gap=pitch,
        low=top + pitch / 2,
        high=bottom - pitch / 2,
    )
    for point, row in zip(points.values(), rows, strict=True):
        sheet.line(point, (name_left - 3, row), colour="muted", width=0.6)
    _draw_frontier(sheet, [points[name] for name in frontier], right)
    verdicts = {str(standing.name): standing.verdict for standing in order.standings}
    for k, (name, point) in enumerate(points.items()):
        recommended = name == order.recommended
        colour = _COLOURS.get(verdicts[name], ("ink", ""))[0]
        fill = colour if name in frontier else "paper"
        sheet.dot(*point, 3.4, fill=fill, colour=colour, width=1.3)
        if recommended:
            # Mark the recommended learner by more than its colour.
            sheet.dot(*point, 6.0, fill=None, colour=colour, width=1.2)
        sheet.write(name_left, rows[k], labels[k], size=SMALL, colour=colour)
    return sheet.finish(
        right + beside,
        end + 6,
        note=_note(data),
        alt=f"{counted(len(names), data.noun)} by {data.title} and {metric.mean}; on the "
        f"frontier: {', '.join(frontier[:6])}.",
        x_scale=x,
        y_scale=y,
    )


def costs_of(value: Any) -> Costs | None:
    """Return the preferred cost, or else the first that is known of two learners."""
    if getattr(value, "decision", None) is None or not getattr(value, "costs", None):
        return None
    return _of_study(value) if hasattr(value, "losses") else _of_models(value)


def _of_models(choice: Any) -> Costs | None:
    kind = known_cost(choice)
    if kind is None:
        return None
    return Costs(
        title=cost_title(kind, choice.currency),
        costs={name: shown_cost(cost, kind) for name, cost in choice.costs[kind].items()},
        order=choice.decision,
    )


def _of_study(study: Any) -> Costs | None:
    order: Decision = study.decision
    preferred = order.preference.words if order.preference.kind == "measured" else "fit_time"
    for kind in dict.fromkeys((preferred, *_STUDY_COSTS)):
        measured = {
            name: getattr(study.costs.get(name), kind, None)
            for name in map(str, order.by_preference)
        }
        costs = {name: nan if cost is None else float(cost) for name, cost in measured.items()}
        if kind in _STUDY_COSTS and len(_known(costs)) >= 2:
            words, units = _STUDY_COSTS[kind]
            most = max(filter(isfinite, costs.values()))
            factor, unit = max((unit for unit in units if unit[0] <= most), default=units[0])
            shown = {name: cost / factor for name, cost in costs.items()}
            return Costs(title=f"{words}, {unit}", costs=shown, order=order)
    return None


def _cost_scale(cheapest: float, dearest: float, *, start: float, end: float) -> Scale:
    if cheapest > 0 and dearest > _MAX_LINEAR_RATIO * cheapest:
        margin = (dearest / cheapest) ** 0.06
        low, high = cheapest / margin, dearest * margin
        return Scale(low=low, high=high, start=start, end=end, kind="log")
    low, high = around(cheapest, dearest, margin=0.08)
    # Do not show negative costs on the axis.
    return Scale(low=max(low, 0.0) if cheapest >= 0 else low, high=high, start=start, end=end)


def _draw_frontier(sheet: Sheet, corners: list[Point], right: float) -> None:
    """Draw steps through the frontier, on to the right end of the axis."""
    steps: list[Point] = []
    for point in corners:
        if steps:
            steps.append((point[0], steps[-1][1]))
        steps.append(point)
    if steps:
        sheet.line(*steps, (right, steps[-1][1]), colour="muted", width=2.6, opacity=0.75)


def _note(data: Costs) -> str:
    parts = [f"Filled, on the thick line: no other {data.noun} beats it in both."]
    verdicts = {standing.verdict for standing in data.order.standings}
    names: dict[str, list[str]] = {}
    for verdict, (_, name) in _COLOURS.items():
        if verdict in verdicts:
            names.setdefault(name, []).append(verdict)
    colours = [f"{name}: {' or '.join(meant)}" for name, meant in names.items()]
    text = "; ".join(colours)
    parts.append(f"{text[:1].upper()}{text[1:]}.")
    unknown = [name for name, cost in data.costs.items() if not isfinite(cost)]
    if unknown:
        parts.append(f"Not drawn, because the cost is unknown: {joined(unknown[:6])}.")
    return " ".join(parts)
