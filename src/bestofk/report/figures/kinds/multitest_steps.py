"""The steps of MultiTest: the candidates, those passed over, and the choice."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from bestofk.errors import ArgumentError
from bestofk.ordering.registry import decides_by
from bestofk.report.figures.captions import basis, decision_of, preferring
from bestofk.report.figures.kinds.multitest_graph import arc_height, draw_arcs, draw_nodes, edges_of
from bestofk.report.figures.paper import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.report.figures.picture import Picture, Point, Sheet
from bestofk.report.figures.text_width import LINE
from bestofk.wording import printable

if TYPE_CHECKING:
    from bestofk.ordering.result import Order

_PANELS = 6
"""Up to so many learners have a graph for every step; more have a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsLayout:
    """Where the steps stand.

    Attributes
    ----------
    labels : tuple of str
        Names as they are written, most preferred first.
    nodes : tuple of tuple of points
        For every step, the middle of the node of each learner that remains.
    remaining, candidates, passed_over : tuple of tuple of int
        For every step, who remains, which of them are candidates, and which of those the guard
        passed over, as places in the preference.
    chosen : tuple of int
        Who was taken.
    picture : Picture
    """

    labels: tuple[str, ...]
    nodes: tuple[tuple[Point, ...], ...]
    remaining: tuple[tuple[int, ...], ...]
    candidates: tuple[tuple[int, ...], ...]
    passed_over: tuple[tuple[int, ...], ...]
    chosen: tuple[int, ...]
    picture: Picture


def layout_steps(value: Any, *, paper: Paper = ANY_PAPER) -> StepsLayout:
    """Place every step of MultiTest: a graph each for few learners, a row each for many.

    Parameters
    ----------
    value : Order or Study
        Decided by MultiTest, with a stated preference.
    paper : Paper, optional
        What it must fit.

    References
    ----------
    O. T. Yildiz and E. Alpaydin, Ordering and finding the best of K > 2 supervised learning
    algorithms, IEEE Trans. Pattern Analysis and Machine Intelligence 28 (2006) 392-402,
    doi:10.1109/TPAMI.2006.61, Fig. 2.
    """
    order = decision_of(value)
    if decides_by(order.procedure) != "steps":
        raise ArgumentError(
            f"figure 'steps': the order must come from 'multitest', which has steps; got one from "
            f"{order.procedure!r}."
        )
    order = preferring(value, "steps")
    at = {name: place for place, name in enumerate(order.prior)}
    chosen = tuple(at[step.chosen] for step in order.steps)
    steps = tuple(
        _Step(
            remaining=tuple(sorted(chosen[turn:])),
            candidates=tuple(at[name] for name in step.candidates),
            passed_over=tuple(at[name] for name in step.passed_over),
            chosen=chosen[turn],
        )
        for turn, step in enumerate(order.steps)
    )
    draw = _panels if len(order.prior) <= _PANELS else _rows
    labels, nodes, picture = draw(order, steps, Sheet(paper))
    return StepsLayout(
        labels=labels,
        nodes=nodes,
        remaining=tuple(step.remaining for step in steps),
        candidates=tuple(step.candidates for step in steps),
        passed_over=tuple(step.passed_over for step in steps),
        chosen=chosen,
        picture=picture,
    )


_Placed = tuple[tuple[str, ...], tuple[tuple[Point, ...], ...], Picture]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One step, in places of the preference."""

    remaining: tuple[int, ...]
    candidates: tuple[int, ...]
    passed_over: tuple[int, ...]
    chosen: int


def _panels(order: Order, steps: tuple[_Step, ...], sheet: Sheet) -> _Placed:
    K = len(order.prior)
    edges = edges_of(order)
    paper = sheet.paper
    gap, radius = 26.0, 10.0
    spacing = max(24.0, min(42.0, (paper.rest(26.0, 1e9) - 2 * radius) / max(K - 1, 1)))
    kept = [
        tuple(edge for edge in edges if edge[0] in step.remaining and edge[1] in step.remaining)
        for step in steps
    ]
    titles = [sheet.text_width(_taking(step), SIZE, bold=True) for step in steps]
    panel_width = max(spacing * (K - 1) + 2 * radius, 14 + radius + max(titles), 120.0)
    key = sheet.labels(order.prior, paper.share(0.5, 190.0), SIZE)
    key_width = sheet.widest(key, SIZE) + 30
    width = 12 + 2 * panel_width + gap + 24 + key_width + 8
    # on narrow paper the names stand above the panels, and these one below the other
    stacked = width > paper.rest(-0.1, 1e9)
    across = 1 if stacked and 12 + 2 * panel_width + gap + 8 > paper.rest(0.0, 1e9) else 2
    width = paper.rest(0.0, width)
    line = SIZE * LINE * 1.25
    nodes = []
    top = bottom = 8.0 + (K * line + 8 if stacked else 0.0)
    for turn, step in enumerate(steps):
        column = turn % across
        x0 = 12 + column * (panel_width + gap) + radius
        if column == 0:
            # a row is as high as the longest arc in it
            top = bottom
            reach = [j - i for one in kept[turn : turn + across] for i, j in one]
            peak = arc_height(max(reach, default=0), spacing)
            bottom = top + SIZE * LINE + 6 + peak + 2 * radius + 16
        letter = chr(ord("a") + turn)
        sheet.say(x0 - radius, top + SIZE * LINE / 2, f"({letter})", colour="muted")
        sheet.say(
            x0 + 14,
            top + SIZE * LINE / 2,
            _taking(step),
            colour="blue" if turn == 0 else "ink",
            bold=turn == 0,
        )
        y = top + SIZE * LINE + 6 + peak + radius
        # gaps stay where learners were taken, so that each keeps its place
        every = tuple((x0 + k * spacing, y) for k in range(K))
        draw_arcs(sheet, every, kept[turn], radius=radius, chosen=step.chosen, spacing=spacing)
        placed = tuple(every[k] for k in step.remaining)
        for k in range(K):
            if k not in step.remaining:
                sheet.dot(*every[k], 1.6, fill="faint")
        _some_nodes(sheet, placed, step, radius)
        nodes.append(placed)
    x = 8.0 if stacked else 12 + 2 * panel_width + gap + 24
    for k, label in enumerate(key):
        y = 8 + (k + 0.5) * line
        sheet.say(x + 12, y, str(k + 1), colour="muted", anchor="end")
        sheet.say(x + 18, y, label)
    height = max(bottom, 8 + K * line)
    height = sheet.note(_reading(order), left=8, top=height, width=width - 16)
    return key, tuple(nodes), sheet.picture(width, height + 6, alt=_alt(order))


def _some_nodes(
    sheet: Sheet,
    placed: tuple[Point, ...],
    step: _Step,
    radius: float,
) -> None:
    for point, k in zip(placed, step.remaining, strict=True):
        draw_nodes(
            sheet,
            (point,),
            radius=radius,
            numbers=range(k + 1, k + 2),
            thick=step.candidates,
            shaded=step.chosen,
            names=(k,),
        )
        if k in step.passed_over:
            _strike(sheet, point, radius)


def _strike(sheet: Sheet, point: Point, radius: float) -> None:
    """A line through a node that is passed over."""
    (x, y), reach = point, radius * 1.15
    sheet.line(
        (x - reach, y + reach), (x + reach, y - reach), colour="vermillion", width=radius * 0.18
    )


def _taking(step: _Step) -> str:
    passed = ", ".join(str(k + 1) for k in step.passed_over)
    return f"takes {step.chosen + 1}" + (f", passes over {passed}" if passed else "")


def _rows(order: Order, steps: tuple[_Step, ...], sheet: Sheet) -> _Placed:
    """One row per step, one column per learner, and at the end of the row who was taken."""
    K = len(order.prior)
    paper = sheet.paper
    size = SIZE if K <= 49 else SMALL
    room = paper.share(0.34, 210.0)
    labels = sheet.labels(order.prior, room, size)
    free = paper.rest(34.0 + 9 + sheet.widest(labels, size) + 8, 1e9) / K
    cell, pitch = min(free, max(12.0, min(20.0, 640.0 / K))), max(12.0, min(20.0, 640.0 / K))
    x0, y0 = 34.0 + cell / 2, 34.0
    sheet.say(x0 - cell / 2, 10, "by preference", size=SMALL, colour="muted")
    sheet.say(8, y0 - 12, "step", size=SMALL, colour="muted")
    every = max(1, ceil(20.0 / cell)) if K > 25 or cell < 12 else 1
    for k in range(0, K, every):
        sheet.say(x0 + k * cell, y0 - 12, str(k + 1), size=7.5, colour="muted", anchor="middle")
    nodes = []
    radius = min(6.0, cell * 0.36)
    edge = x0 + (K - 0.5) * cell
    for turn, step in enumerate(steps):
        y = y0 + (turn + 0.5) * pitch
        sheet.say(26, y, str(turn + 1), size=SMALL, colour="muted", anchor="end")
        placed = tuple((x0 + k * cell, y) for k in step.remaining)
        sheet.line((x0 + step.chosen * cell, y), (edge + 4, y), colour="faint", width=0.6)
        for (x, _), k in zip(placed, step.remaining, strict=True):
            if k == step.chosen:
                sheet.dot(x, y, radius, fill="blue", colour="blue", width=1.6)
            elif k in step.candidates:
                sheet.dot(x, y, radius * 0.9, fill="paper", colour="ink", width=1.6)
            else:
                sheet.dot(x, y, min(1.1, 0.2 * cell), fill="muted")
            if k in step.passed_over:
                _strike(sheet, (x, y), radius)
        nodes.append(placed)
        first = turn == 0
        sheet.say(edge + 9, y, labels[step.chosen], size=size, colour="blue" if first else "ink")
    width = paper.rest(0.0, max(edge + 9 + sheet.widest(labels, size) + 8, 330.0))
    bottom = sheet.note(_reading(order), left=8, top=y0 + K * pitch + 8, width=width - 16)
    return labels, tuple(nodes), sheet.picture(width, bottom + 6, alt=_alt(order))


def _reading(order: Order) -> str:
    passed = (
        f" A candidate is passed over (struck through) while a {order.noun} preferred to it that "
        f"is out has the {order.metric.smaller} mean."
        if any(step.passed_over for step in order.steps)
        else ""
    )
    return (
        f"At every step the candidates (thick) are those that no remaining {order.noun} is "
        "significantly better than; the most preferred of them is taken (shaded)."
        f"{passed} {basis(order)}"
    )


def _alt(order: Order) -> str:
    taken = ", ".join(str(name) for name in order.order[:12])
    more = ", ..." if len(order.order) > 12 else ""
    return printable(f"Steps of MultiTest: taken in turn are {taken}{more}.")
