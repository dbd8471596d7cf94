"""How the order depends on alpha, and on the position of one learner in the preference."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

from bestofk.decide.sensitivity import (
    AlphaPath,
    PreferencePath,
    decisions_by_alpha,
    decisions_by_preference,
)
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import basis, preferring
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Anchor, Picture, Point, Scale, Sheet
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper, cycled, name_size


def layout_alpha(
    value: Any, *, low: float = 0.001, high: float = 0.5, paper: Paper = ANY_PAPER
) -> Picture:
    """Draw the order of MultiTest for every alpha between two; breaks are exact.

    Parameters
    ----------
    value : Decision, Study or AlphaPath
    low, high : float
        The smallest and the largest alpha.
    paper : Paper, optional
    """
    sheet = Sheet(paper)
    if isinstance(value, AlphaPath):
        path, note = value, ""
    else:
        order = preferring(value, "alpha")
        path, note = decisions_by_alpha(order, low=low, high=high), basis(order)
    return _layout(
        sheet,
        path.orders,
        path.breaks,
        (path.low, path.high),
        mark=path.alpha,
        mark_label=f"alpha {path.alpha:g}",
        kind="log",
        title="alpha",
        summary="The order for every alpha, the recommended learner on top.",
        finding=f"{_explain(path, _labels(sheet, path.orders[0]))} {note}",
    )


def layout_preference(value: Any, *, learner: Any = None, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the order of MultiTest as one learner moves through the preference.

    Parameters
    ----------
    value : Decision, Study or PreferencePath
    learner : name, optional
        The learner that moves; the least preferred by default.
    paper : Paper, optional
    """
    sheet = Sheet(paper)
    if isinstance(value, PreferencePath):
        path, note = value, ""
    else:
        order = preferring(value, "preference")
        path, note = decisions_by_preference(order, learner), basis(order)
    K = len(path.positions)
    # The axis runs from the last position to the first, half a position beyond either end.
    orders, breaks = [path.orders[-1]], []
    for position in range(K - 1, 0, -1):
        if path.orders[position - 1] != orders[-1]:
            breaks.append(position + 0.5)
            orders.append(path.orders[position - 1])
    return _layout(
        sheet,
        tuple(orders),
        tuple(breaks),
        (K + 0.5, 0.5),
        mark=float(path.position),
        mark_label="its place now",
        kind="linear",
        title="place in the preference, up to the most preferred",
        summary="The order as one learner moves up the preference, the recommended one on top.",
        finding=f"{_explain(path, _labels(sheet, path.orders[-1]))} {note}",
        moving=path.learner,
    )


def _labels(sheet: Sheet, names: tuple[Any, ...]) -> dict[Any, str]:
    labels = sheet.labels(names, sheet.paper.share(0.34, 220.0), name_size(len(names)))
    return dict(zip(names, labels, strict=True))


def _explain(path: AlphaPath | PreferencePath, labels: dict[Any, str]) -> str:
    """Return the explanation of a path, with the labels of the figure."""
    orders = tuple(tuple(labels[name] for name in order) for order in path.orders)
    if isinstance(path, AlphaPath):
        return replace(path, orders=orders).explain()
    return replace(path, orders=orders, learner=labels[path.learner]).explain()


def _layout(
    sheet: Sheet,
    orders: tuple[tuple[Any, ...], ...],
    breaks: tuple[float, ...],
    ends: tuple[float, float],
    *,
    mark: float,
    mark_label: str,
    kind: Literal["linear", "log"],
    title: str,
    summary: str,
    finding: str,
    moving: Any = None,
) -> Picture:
    """Draw a line of ranks for each learner, with names at both ends."""
    first, last = orders[0], orders[-1]
    K = len(first)
    size = name_size(K)
    pitch = 19.0 if K <= 20 else size * LINE_HEIGHT + 2
    labels = _labels(sheet, first)
    name_width = sheet.widest([*labels.values()], size)
    start = 10 + name_width + 10
    end_x = start + sheet.paper.rest(start + 8 + name_width + 10, 330.0)
    scale = Scale(low=ends[0], high=ends[1], start=start, end=end_x, kind=kind)
    top = 26.0
    bottom = top + K * pitch + 2
    end = x_axis(sheet, scale, top=None, bottom=bottom, title=title, whole=kind == "linear")
    x = scale(mark)
    sheet.line((x, top - 2), (x, bottom), colour="vermillion", width=1.1, dash=(4, 2.5))
    half = sheet.text_width(mark_label, SMALL) / 2 + 4
    x = min(max(x, half), sheet.paper.rest(half, 1e9))
    sheet.write(x, top - 9, mark_label, size=SMALL, colour="vermillion", anchor="middle")
    ranks = {name: [order.index(name) for order in orders] for name in first}
    best = {order[0] for order in orders}
    colours = {name: cycled(k)[0] for k, name in enumerate(n for n in first if n in best)}
    if moving is not None:
        colours[moving] = "vermillion"
    edges = [scale.start, *map(scale, breaks), scale.end]
    # Draw the learners that never come first below the others.
    for name in sorted(first, key=lambda name: (name in best, name == moving)):
        strong = name in colours
        sheet.line(
            *_path(edges, [top + (rank + 0.5) * pitch for rank in ranks[name]]),
            colour=colours.get(name, "muted"),
            width=2.2 if strong else 1.0 if len({*ranks[name]}) > 1 else 0.6,
        )
    sides: tuple[tuple[float, Anchor], ...] = ((start - 8, "end"), (scale.end + 8, "start"))
    for k, names in enumerate(zip(first, last, strict=True)):
        y = top + (k + 0.5) * pitch
        for name, (x, anchor) in zip(names, sides, strict=True):
            colour = colours.get(name, "ink")
            sheet.write(x, y, labels[name], size=size, colour=colour, anchor=anchor)
    return sheet.finish(
        scale.end + 8 + name_width + 10,
        end + 6,
        note=f"{summary} {finding}",
        alt=finding,
        x_scale=scale,
    )


def _path(edges: list[float], heights: list[float]) -> list[Point]:
    """Return a line that is level between breaks and slanted over a break."""
    gaps = [right - left for left, right in pairwise(edges)]
    points: list[Point] = [(edges[0], heights[0])]
    for k in range(1, len(heights)):
        if heights[k] != heights[k - 1]:
            half = min(6.0, gaps[k - 1] / 2, gaps[k] / 2)
            points.append((edges[k] - half, heights[k - 1]))
            points.append((edges[k] + half, heights[k]))
    points.append((edges[-1], heights[-1]))
    return points
