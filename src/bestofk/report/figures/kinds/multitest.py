"""The graph of MultiTest and its steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import ordinal
from bestofk.decide.statements.wording import listing
from bestofk.report.figures.comparisons import basis, decision_of
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Point, Sheet
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, name_size

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision

Edges = Sequence[tuple[int, int]]
"""(i, j) leads from learner i of the preference to j, which is shown to be better."""

_MAX_LEVEL = 8
"""Up to this many learners are drawn left to right; more top to bottom."""


def layout_graph(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the learners left to right by preference, with an arc for each edge.

    Parameters
    ----------
    value : Decision or Study
        With a stated preference.
    paper : Paper, optional

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Scores([[0.4, 0.5, 0.4, 0.5], [0.1, 0.2, 0.1, 0.2], [0.3, 0.1, 0.2, 0.3]],
    ...     learners=["max", "nmc", "nn"])
    >>> layout_graph(bk.compare_scores(losses, prefer="listed")).alt
    'Graph of 3 learners by preference: the data put nmc over max.'
    """
    order = decision_of(value)
    K = len(order.by_preference)
    edges = edges_of(order)
    sheet = Sheet(paper)
    free = min(116.0 if K <= 6 else 84.0, paper.rest(0.0, 1e9) / K)
    labels = sheet.labels(order.by_preference, free - 10)
    spacing = min(max(54.0, min(free, sheet.widest(labels) + 14)), free)
    cramped = spacing < 60.0 and any("…" in label for label in labels)
    if K > _MAX_LEVEL or cramped:
        return _upright(order, sheet, edges)
    radius = 11.0
    width = paper.rest(0.0, max(spacing * K, 330.0))
    left = (width - spacing * (K - 1)) / 2
    y = 10 + arc_height(edges, spacing) + radius + 6
    nodes = {k: (left + k * spacing, y) for k in range(K)}
    _draw_graph(sheet, order, nodes, radius, spacing, numbered=True)
    top = y + radius + 4
    for k, label in enumerate(labels):
        sheet.write(nodes[k][0], top + SIZE * LINE_HEIGHT / 2, label, anchor="middle")
    top += SIZE * LINE_HEIGHT
    for k, position in enumerate(positions_of(order)):
        first = position == 1
        sheet.write(
            nodes[k][0],
            top + SMALL * LINE_HEIGHT / 2,
            ordinal(position),
            size=SMALL,
            colour="blue" if first else "muted",
            anchor="middle",
            bold=first,
        )
    return _finish(sheet, order, width, top + SMALL * LINE_HEIGHT + 10)


def _upright(order: Decision, sheet: Sheet, edges: Edges) -> Picture:
    """Draw the learners top to bottom by preference, arcs on the left and names on the right."""
    K = len(order.by_preference)
    chosen, positions = recommended_index(order), positions_of(order)
    size = name_size(K)
    numbered = K <= _MAX_LEVEL
    pitch, radius = (24.0, 9.0) if numbered else (size * LINE_HEIGHT + 3.5, 5.0)
    spacing = arc_spacing(edges, pitch, sheet.paper.share(0.3, 160.0))
    x = 10 + arc_height(edges, spacing) + radius
    position_width = sheet.widest([ordinal(K)], SMALL) + 8 if positions else 0.0
    name_left = x + radius + 8
    labels = sheet.labels(
        order.by_preference, sheet.paper.rest(name_left + position_width + 6, 230.0), size
    )
    top = 8.0
    nodes = {k: (x, top + (k + 0.5) * pitch) for k in range(K)}
    _draw_graph(sheet, order, nodes, radius, spacing, numbered=numbered, upright=True)
    right = name_left + sheet.widest(labels, size) + position_width
    for k, (_, y) in nodes.items():
        sheet.write(name_left, y, labels[k], size=size, colour="blue" if k == chosen else "ink")
        if positions:
            colour = "blue" if positions[k] == 1 else "muted"
            sheet.write(right, y, ordinal(positions[k]), size=SMALL, colour=colour, anchor="end")
    width = sheet.paper.rest(0.0, max(right + 6, 330.0))
    sheet.shift(max(0.0, (width - right - 6) / 2))
    return _finish(sheet, order, width, top + K * pitch + 6, upright=True)


def _draw_graph(
    sheet: Sheet,
    order: Decision,
    nodes: Mapping[int, Point],
    radius: float,
    spacing: float,
    *,
    numbered: bool,
    upright: bool = False,
) -> None:
    edges, chosen = edges_of(order), recommended_index(order)
    draw_arcs(sheet, nodes, edges, radius=radius, chosen=chosen, spacing=spacing, upright=upright)
    candidates = set(nodes) - {i for i, _ in edges}
    draw_nodes(
        sheet, nodes, radius=radius, numbered=numbered, candidates=candidates, chosen=chosen
    )  # fmt: skip


def _finish(
    sheet: Sheet, order: Decision, width: float, top: float, *, upright: bool = False
) -> Picture:
    count = len(order.edges)
    arrows = "No arrows: the data override the preference nowhere"
    if count == 1:
        arrows = f"1 arrow: from a preferred {order.noun} to one that is shown to be better"
    elif count:
        arrows = f"{count} arrows: from preferred {order.noun}s to ones shown to be better"
    direction, side = ("Top to bottom", "beside") if upright else ("Left to right", "below")
    positions = f"; {side} each, its position in the order" if positions_of(order) else ""
    overridden = listing(f"{j} over {i}" for i, j in order.edges)
    evidence = f"put {overridden}" if count else "override the preference nowhere"
    return sheet.finish(
        width,
        top,
        note=f"{direction} by preference{positions}. {arrows}. Thick: none is shown to be "
        f"better. Shaded: recommended. {basis(order)}",
        alt=f"Graph of {len(order.by_preference)} {order.noun}s by preference: "
        f"the data {evidence}.",
        margin=6,
    )


def edges_of(order: Decision) -> tuple[tuple[int, int], ...]:
    """Return the edges of an order as indices into its preference."""
    index = {name: k for k, name in enumerate(order.by_preference)}
    return tuple((index[i], index[j]) for i, j in order.edges)


def recommended_index(order: Decision) -> int | None:
    """Return the index of the recommended learner in the preference."""
    return None if order.recommended is None else order.by_preference.index(order.recommended)


def positions_of(order: Decision) -> tuple[int, ...]:
    """Return the position in the order of each learner, by preference; empty without an order."""
    if len(order.ranking) != len(order.by_preference):
        return ()
    position = {name: k for k, name in enumerate(order.ranking, start=1)}
    return tuple(position[name] for name in order.by_preference)


def arc_height(edges: Edges, spacing: float) -> float:
    """Return the height of the longest arc."""
    longest = max((j - i for i, j in edges), default=0)
    return _arc_height(longest, spacing) if longest else 0.0


def _arc_height(length: int, spacing: float) -> float:
    """Return the height of an arc; it grows more slowly than its length."""
    reach = length * spacing
    return 14.0 + min(0.42 * reach, 6.5 * sqrt(reach))


def arc_spacing(edges: Edges, spacing: float, height: float) -> float:
    """Return the spacing, reduced until the longest arc fits into a height."""
    longest = max((j - i for i, j in edges), default=0)
    while longest and _arc_height(longest, spacing) > height:
        spacing *= 0.9
    return spacing


def draw_arcs(
    sheet: Sheet,
    nodes: Mapping[int, Point],
    edges: Edges,
    *,
    radius: float,
    chosen: int | None,
    spacing: float,
    upright: bool = False,
) -> None:
    """Draw arcs over a row of nodes, or left of a column of nodes if `upright`."""
    many = len(edges)
    opacity = 0.85 if many <= 40 else max(0.16, 0.85 * (40.0 / many) ** 0.5)
    width = 1.1 if many <= 40 else 0.7
    head = min(7.0, max(4.0, radius * 0.75))

    def away(node: int, distance: float) -> Point:
        x, y = nodes[node]
        return (x - distance, y) if upright else (x, y - distance)

    # Draw the arcs to the recommended learner on top.
    for i, j in sorted(edges, key=lambda edge: (edge[1] == chosen, edge[0] - edge[1])):
        height = 4.0 / 3.0 * _arc_height(j - i, spacing) + radius + 1.0
        points = away(i, radius + 1.0), away(i, height), away(j, height)
        tip = away(j, radius + 1.5 + head * 0.8)
        colour, strength = ("blue", 0.9) if j == chosen else ("muted", opacity)
        sheet.line(*points, tip, colour=colour, width=width, opacity=strength, smooth=True)
    for j in sorted({j for _, j in edges}):
        toward = (1.0, 0.0) if upright else (0.0, 1.0)
        colour = "blue" if j == chosen else "muted"
        sheet.arrow_head(away(j, radius + 1.2), toward, length=head, colour=colour)


def draw_nodes(
    sheet: Sheet,
    nodes: Mapping[int, Point],
    *,
    radius: float,
    numbered: bool,
    candidates: Collection[int],
    chosen: int | None,
) -> None:
    """Draw nodes as in the paper: candidates thick, the chosen one shaded."""
    for k, (x, y) in nodes.items():
        candidate = k in candidates
        colour = "blue" if k == chosen else "ink" if candidate else "muted"
        fill = "blue" if k == chosen else "paper"
        sheet.dot(x, y, radius, fill=fill, colour=colour, width=2.4 if candidate else 0.9)
        if numbered:
            sheet.write(
                x,
                y,
                str(k + 1),
                size=min(SIZE, radius * 0.95),
                anchor="middle",
                colour="paper" if k == chosen else colour,
                bold=k == chosen,
            )


# The steps of MultiTest: the candidates and the choice.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One step, in indices of the preference."""

    remaining: tuple[int, ...]
    candidates: tuple[int, ...]
    chosen: int

    @property
    def title(self) -> str:
        return f"takes {self.chosen + 1}"


def layout_steps(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw every step of MultiTest as a graph.

    Parameters
    ----------
    value : Decision or Study
        Decided by MultiTest between a few learners, with a stated preference.
    paper : Paper, optional

    References
    ----------
    O. T. Yildiz and E. Alpaydin, Ordering and finding the best of K > 2 supervised learning
    algorithms, IEEE Trans. Pattern Analysis and Machine Intelligence 28 (2006) 392-402,
    doi:10.1109/TPAMI.2006.61, Fig. 2.
    """
    order = decision_of(value)
    index = {name: k for k, name in enumerate(order.by_preference)}
    chosen = [index[step.chosen] for step in order.steps]
    steps = [
        _Step(
            remaining=tuple(sorted(chosen[turn:])),
            candidates=tuple(index[name] for name in step.candidates),
            chosen=chosen[turn],
        )
        for turn, step in enumerate(order.steps)
    ]
    sheet = Sheet(paper)
    width, top = _panels(order, steps, sheet)
    names = ", ".join(map(str, order.ranking))
    return sheet.finish(
        width,
        top,
        note=f"At every step the candidates (thick) are those that no remaining {order.noun} is "
        "significantly better than; MultiTest takes the most preferred of them (shaded). "
        f"{basis(order)}",
        alt=f"Steps of MultiTest, which takes {names} in turn.",
        margin=8,
    )


def _panels(order: Decision, steps: Sequence[_Step], sheet: Sheet) -> tuple[float, float]:
    """Draw a graph per step; return the width and where the graphs end."""
    K = len(order.by_preference)
    paper = sheet.paper
    gap, radius = 26.0, 10.0
    spacing = max(22.0, min(42.0, (paper.rest(26.0, 1e9) - 2 * radius) / max(K - 1, 1)))
    remaining_edges = [
        [edge for edge in edges_of(order) if {*edge} <= {*step.remaining}] for step in steps
    ]
    title_width = max(sheet.text_width(step.title, SIZE, bold=True) for step in steps)
    panel_width = max(spacing * (K - 1) + 2 * radius, 14 + radius + title_width, 120.0)
    labels = sheet.labels(order.by_preference, paper.share(0.5, 280.0), SIZE)
    panels_width = 12 + 2 * panel_width + gap
    width = panels_width + 24 + sheet.widest(labels, SIZE) + 30 + 8
    # On narrow paper, write the names above the panels and draw the panels in one column.
    stacked = width > paper.rest(-0.1, 1e9)
    across = 1 if stacked and panels_width + 8 > paper.rest(0.0, 1e9) else 2
    line = SIZE * LINE_HEIGHT * 1.25
    top = bottom = 8.0 + (K * line + 8 if stacked else 0.0)
    for turn, step in enumerate(steps):
        column = turn % across
        x = 12 + column * (panel_width + gap) + radius
        if column == 0:
            # A row of panels is as high as its longest arc.
            top = bottom
            row_edges = [edge for edges in remaining_edges[turn : turn + across] for edge in edges]
            peak = arc_height(row_edges, spacing)
            bottom = top + SIZE * LINE_HEIGHT + 6 + peak + 2 * radius + 16
        title_y = top + SIZE * LINE_HEIGHT / 2
        sheet.write(x - radius, title_y, f"({chr(ord('a') + turn)})", colour="muted")
        colour = "blue" if turn == 0 else "ink"
        sheet.write(x + 14, title_y, step.title, colour=colour, bold=turn == 0)
        y = top + SIZE * LINE_HEIGHT + 6 + peak + radius
        # Learners keep their positions; dots replace those that were taken.
        nodes = {k: (x + k * spacing, y) for k in range(K)}
        draw_arcs(
            sheet, nodes, remaining_edges[turn], radius=radius, chosen=step.chosen, spacing=spacing
        )
        for k in range(K):
            if k not in step.remaining:
                sheet.dot(*nodes[k], 1.6, fill="faint")
        draw_nodes(
            sheet,
            {k: nodes[k] for k in step.remaining},
            radius=radius,
            numbered=True,
            candidates=step.candidates,
            chosen=step.chosen,
        )
    x = 8.0 if stacked else panels_width + 24
    for k, label in enumerate(labels):
        y = 8 + (k + 0.5) * line
        sheet.write(x + 12, y, str(k + 1), colour="muted", anchor="end")
        sheet.write(x + 18, y, label)
    return paper.rest(0.0, width), max(bottom, 8 + K * line)
