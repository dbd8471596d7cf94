"""How the order depends on alpha, and on where one learner stands in the preference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from bestofk._base.formatting import printable
from bestofk.decide.sensitivity import (
    AlphaPath,
    PreferencePath,
    decisions_by_alpha,
    decisions_by_preference,
)
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import basis, preferring
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Point, Scale, Sheet
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, cycled


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityLayout:
    """Ranks from left to right: names at both ends, a line for each learner.

    Attributes
    ----------
    left, right : tuple of str
        Names as they are written, best first, at the left and at the right end.
    breaks : tuple of float
        Where the order changes, along the axis.
    ranks : tuple of tuple of int
        For each learner (in the order of the left end), its rank in every stretch, 1 the best.
    lines : tuple of tuple of points
        Where each of them goes.
    picture : Picture
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    breaks: tuple[float, ...]
    ranks: tuple[tuple[int, ...], ...]
    lines: tuple[tuple[Point, ...], ...]
    picture: Picture


def layout_alpha(
    value: Any, *, low: float = 0.001, high: float = 0.5, paper: Paper = ANY_PAPER
) -> SensitivityLayout:
    """Place the order of MultiTest for every alpha between two; breaks are exact.

    Parameters
    ----------
    value : Decision, Study or AlphaPath
    low, high : float
        The levels to look between.
    paper : Paper, optional
        What it must fit.
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
        mark_words=f"alpha {path.alpha:g}",
        kind="log",
        title="alpha",
        note="The order found for every alpha, the recommended one on top. "
        f"{_told(path, _labels(sheet, path.orders[0]))} {note}",
        moving=None,
    )


def layout_preference(
    value: Any, *, learner: Any = None, paper: Paper = ANY_PAPER
) -> SensitivityLayout:
    """Place the order of MultiTest as one learner moves through the preference.

    Parameters
    ----------
    value : Decision, Study or PreferencePath
    learner : name, optional
        Who moves; the least preferred by default.
    paper : Paper, optional
        What it must fit.
    """
    sheet = Sheet(paper)
    if isinstance(value, PreferencePath):
        path, note = value, ""
    else:
        order = preferring(value, "preference")
        path, note = decisions_by_preference(order, learner), basis(order)
    K = len(path.positions)
    # a stretch reaches half a place to either side of a position, from the last to the first
    orders, breaks = [path.orders[-1]], []
    for position in range(K - 1, 0, -1):
        found = path.orders[position - 1]
        if found != orders[-1]:
            breaks.append(position + 0.5)
            orders.append(found)
    return _layout(
        sheet,
        tuple(orders),
        tuple(breaks),
        (K + 0.5, 0.5),
        mark=float(path.position),
        mark_words="its place now",
        kind="linear",
        title="place in the preference, up to the most preferred",
        note="The order found, the recommended one on top, as one learner moves up the preference. "
        f"{_told(path, _labels(sheet, path.orders[-1]))} {note}",
        moving=path.learner,
    )


def _labels(sheet: Sheet, names: tuple[Any, ...]) -> dict[Any, str]:
    """Names as they are written at the left end."""
    size = SIZE if len(names) <= 30 else SMALL
    return dict(zip(names, sheet.labels(names, sheet.paper.share(0.3, 170.0), size), strict=True))


def _told(path: AlphaPath | PreferencePath, short: dict[Any, str]) -> str:
    """What the path says of itself, with names as they are written in the figure."""
    orders = tuple(tuple(short[name] for name in order) for order in path.orders)
    if isinstance(path, AlphaPath):
        return replace(path, orders=orders).explain()
    return replace(path, orders=orders, learner=short[path.learner]).explain()


def _layout(
    sheet: Sheet,
    orders: tuple[tuple[Any, ...], ...],
    breaks: tuple[float, ...],
    ends: tuple[float, float],
    *,
    mark: float,
    mark_words: str,
    kind: Any,
    title: str,
    note: str,
    moving: Any,
) -> SensitivityLayout:
    names = orders[0]
    K = len(names)
    size = SIZE if K <= 30 else SMALL
    pitch = 19.0 if K <= 20 else size * LINE + 2
    labels = _labels(sheet, names)
    left = tuple(labels[name] for name in names)
    right = tuple(labels[name] for name in orders[-1])
    start = 10 + sheet.widest(left, size) + 10
    across = sheet.paper.rest(start + 8 + sheet.widest(right, size) + 10, 330.0)
    scale = Scale(low=ends[0], high=ends[1], start=start, end=start + across, kind=kind)
    top = 26.0
    bottom = top + K * pitch + 2
    end = x_axis(sheet, scale, top=None, bottom=bottom, title=title, whole=kind == "linear")
    ranks = {name: tuple(order.index(name) + 1 for order in orders) for name in names}
    at_mark = scale(mark)
    sheet.line((at_mark, top - 2), (at_mark, bottom), colour="vermillion", width=1.1, dash=(4, 2.5))
    half = sheet.text_width(mark_words, SMALL) / 2 + 4
    middle = min(max(at_mark, half), sheet.paper.rest(half, 1e9))
    sheet.say(middle, top - 9, mark_words, size=SMALL, colour="vermillion", anchor="middle")
    places = [scale(level) for level in breaks]
    best = {order[0] for order in orders}
    movers = [name for name in names if len(set(ranks[name])) > 1]
    coloured = {name: cycled(k)[0] for k, name in enumerate(n for n in names if n in best)}
    edges = [scale.start, *places, scale.end]
    lines = [_path(edges, [top + (rank - 0.5) * pitch for rank in ranks[name]]) for name in names]
    # quiet lines first
    for name, path in sorted(
        zip(names, lines, strict=True), key=lambda pair: (pair[0] in coloured, pair[0] == moving)
    ):
        colour = "vermillion" if name == moving else coloured.get(name, "muted")
        strong = name == moving or name in coloured
        sheet.line(
            *path,
            colour=colour,
            width=2.2 if strong else 1.0,
            opacity=1.0 if strong else 0.55 if name in movers else 0.3,
        )
    for place, (before, after) in enumerate(zip(names, orders[-1], strict=True)):
        y = top + (place + 0.5) * pitch
        for name, x, anchor in ((before, start - 8, "end"), (after, scale.end + 8, "start")):
            colour = "vermillion" if name == moving else coloured.get(name, "ink")
            sheet.say(x, y, labels[name], size=size, colour=colour, anchor=anchor)  # type: ignore[arg-type]
    width = scale.end + 8 + sheet.widest(right, size) + 10
    end = sheet.note(note, left=10, top=end + 6, width=width - 20)
    return SensitivityLayout(
        left=left,
        right=right,
        breaks=breaks,
        ranks=tuple(ranks[name] for name in names),
        lines=tuple(lines),
        picture=sheet.picture(
            width, end + 6, alt=printable(note.partition(". ")[2] or note), x_scale=scale
        ),
    )


def _halves(edges: list[float]) -> list[float]:
    """Half of the way that lines take over each break: short where the next break is near."""
    gaps = [b - a for a, b in pairwise(edges)]
    return [min(6.0, a / 2, b / 2) for a, b in pairwise(gaps)]


def _path(edges: list[float], heights: list[float]) -> tuple[Point, ...]:
    """Level in a stretch, slanted over a break."""
    halves = _halves(edges)
    points: list[Point] = [(edges[0], heights[0])]
    for k in range(1, len(heights)):
        if heights[k] != heights[k - 1]:
            points.append((edges[k] - halves[k - 1], heights[k - 1]))
            points.append((edges[k] + halves[k - 1], heights[k]))
    points.append((edges[-1], heights[-1]))
    return tuple(points)
