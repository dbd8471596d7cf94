"""The graph of MultiTest: learners by preference, edges where the data override it."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from bestofk.ordering.words.sentences import listing
from bestofk.report.figures.captions import basis, preferring
from bestofk.report.figures.paper import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.report.figures.picture import Picture, Point, Sheet
from bestofk.report.figures.text_width import LINE
from bestofk.wording import ordinal, printable

if TYPE_CHECKING:
    from typing import Any

    from bestofk.ordering.result import Order

_LEVEL_LABELS = 8
"""Up to so many learners have their names level; more have them slanted."""
_NUMBERED = 20
"""Up to so many nodes hold their number."""
_TILT = 45.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLayout:
    """Where the graph stands.

    Attributes
    ----------
    labels : tuple of str
        Names as they are written, most preferred first.
    nodes : tuple of points
        Middle of each node, left to right by preference; top to bottom on narrow paper.
    edges : tuple of (int, int)
        Places in the preference: (i, j) leads from i to j, which is significantly better.
    candidates : tuple of int
        Nodes without an edge that leads out.
    chosen : int or None
        The recommended one.
    places : tuple of int
        Place of each node in the order found, 1 the first; empty where there is no order.
    picture : Picture
    """

    labels: tuple[str, ...]
    nodes: tuple[Point, ...]
    edges: tuple[tuple[int, int], ...]
    candidates: tuple[int, ...]
    chosen: int | None
    places: tuple[int, ...]
    picture: Picture


def layout_graph(value: Any, *, paper: Paper = ANY_PAPER) -> GraphLayout:
    """Place the learners of an `Order` left to right by preference, and its edges as arcs.

    Parameters
    ----------
    value : Order or Study
        With a stated preference.
    paper : Paper, optional
        What it must fit.

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Losses([[0.4, 0.5, 0.4, 0.5], [0.1, 0.2, 0.1, 0.2], [0.3, 0.1, 0.2, 0.3]],
    ...     algorithms=["max", "nmc", "nn"])
    >>> layout = layout_graph(bk.order(losses, prior="listed"))
    >>> layout.edges, layout.candidates, layout.chosen, layout.places
    (((0, 1),), (1, 2), 1, (2, 1, 3))
    """
    order = preferring(value, "graph")
    K = len(order.prior)
    edges = edges_of(order)
    beaten = {i for i, _ in edges}
    candidates = tuple(k for k in range(K) if k not in beaten)
    chosen = None if order.recommended is None else order.prior.index(order.recommended)
    places = places_of(order)
    sheet = Sheet(paper)
    level = K <= _LEVEL_LABELS
    if level:
        room = min(116.0 if K <= 5 else 84.0, paper.rest(0.0, 1e9) / K)
        labels = sheet.labels(order.prior, room - 10, SIZE)
        size = SIZE
        spacing = min(max(54.0, min(room, sheet.widest(labels, SIZE) + 14)), room)
        margin = max(spacing / 2, 34.0) if paper.width is None else spacing / 2
        below = SIZE * LINE + 4
    else:
        size = SMALL if K > 30 else SIZE
        labels = sheet.labels(order.prior, paper.share(0.3, 130.0), size)
        slant = sheet.widest(labels, size) / sqrt(2.0)
        # of slanted names, the first reach out to the left of their nodes
        least = size * LINE * sqrt(2.0)
        spacing = max(least, min(40.0, paper.rest(slant + 54.0, 700.0) / K))
        margin = max(
            20.0,
            *(
                sheet.text_width(label, size) / sqrt(2.0) - k * spacing + 14
                for k, label in enumerate(labels)
            ),
        )
        below = slant + size
    across = margin + spacing * (K - 1) + (margin if level else 26.0)
    cramped = level and spacing < 60.0 and any("…" in label for label in labels)
    if cramped or across > paper.rest(-0.1, 1e9):
        return _upright(order, sheet, edges, candidates)
    radius = 11.0 if K <= _LEVEL_LABELS else max(4.5, min(9.0, spacing * 0.36))
    peak = arc_height(max((j - i for i, j in edges), default=0), spacing)
    width = paper.rest(0.0, max(across, 330.0))
    shift = (width - across) / 2
    y = 10 + peak + radius + 6
    nodes = tuple((shift + margin + k * spacing, y) for k in range(K))
    draw_arcs(sheet, nodes, edges, radius=radius, chosen=chosen, spacing=spacing)
    draw_nodes(
        sheet,
        nodes,
        radius=radius,
        numbers=range(1, K + 1) if K <= _NUMBERED else None,
        thick=candidates,
        shaded=chosen,
    )
    top = y + radius + 4
    if places:
        for (x, _), place in zip(nodes, places, strict=True):
            best = place == 1
            word = ordinal(place) if level else str(place)
            sheet.say(
                x,
                top + SMALL * LINE / 2 + (SIZE * LINE if level else 0),
                word,
                size=SMALL if spacing >= sheet.text_width("00", SMALL) else 7.0,
                colour="blue" if best else "muted",
                anchor="middle",
                bold=best,
            )
    for (x, _), label in zip(nodes, labels, strict=True):
        if level:
            sheet.say(x, top + SIZE * LINE / 2, label, anchor="middle")
        else:
            start = top + (SMALL * LINE if places else 0.0) + 2
            sheet.say(x + 2, start + 3, label, anchor="end", rotation=_TILT, size=size)
    bottom = top + below + SMALL * LINE + 6
    bottom = sheet.note(_reading(order, edges), left=6, top=bottom, width=width - 12)
    return GraphLayout(
        labels=labels,
        nodes=nodes,
        edges=edges,
        candidates=candidates,
        chosen=chosen,
        places=places,
        picture=sheet.picture(width, bottom + 6, alt=_alt(order, edges)),
    )


def _upright(
    order: Order,
    sheet: Sheet,
    edges: tuple[tuple[int, int], ...],
    candidates: tuple[int, ...],
) -> GraphLayout:
    """Learners top to bottom by preference, arcs at their left and names at their right."""
    K = len(order.prior)
    chosen = None if order.recommended is None else order.prior.index(order.recommended)
    places = places_of(order)
    size = SIZE if K <= 30 else SMALL
    pitch = 24.0 if K <= _LEVEL_LABELS else size * LINE + 3.5
    radius = 9.0 if K <= _LEVEL_LABELS else 5.0
    longest = max((j - i for i, j in edges), default=0)
    spacing = pitch
    while arc_height(longest, spacing) > sheet.paper.share(0.3, 160.0):
        spacing *= 0.9
    x = 10 + arc_height(longest, spacing) + radius
    places_width = sheet.widest([ordinal(K)], SMALL) + 8 if places else 0.0
    name_at = x + radius + 8
    room = sheet.paper.rest(name_at + places_width + 6, 230.0)
    labels = sheet.labels(order.prior, room, size)
    top = 8.0
    nodes = tuple((x, top + (k + 0.5) * pitch) for k in range(K))
    draw_arcs(sheet, nodes, edges, radius=radius, chosen=chosen, spacing=spacing, upright=True)
    numbers = range(1, K + 1) if K <= _LEVEL_LABELS else None
    draw_nodes(
        sheet, nodes, radius=radius, numbers=numbers, thick=candidates, shaded=chosen
    )  # fmt: skip
    at = name_at + sheet.widest(labels, size) + places_width
    for k, (_, y) in enumerate(nodes):
        colour = "blue" if k == chosen else "ink"
        sheet.say(name_at, y, labels[k], size=size, colour=colour)
        if places:
            first = places[k] == 1
            word, ink = ordinal(places[k]), "blue" if first else "muted"
            sheet.say(at, y, word, size=SMALL, colour=ink, anchor="end")
    width = sheet.paper.rest(0.0, max(at + 6, 330.0))
    sheet.shift(max(0.0, (width - at - 6) / 2))
    note = _reading(order, edges).replace("Left to right", "Top to bottom")
    note = note.replace("; below each,", "; beside each,")
    bottom = sheet.note(note, left=6, top=top + K * pitch + 6, width=width - 12)
    return GraphLayout(
        labels=labels,
        nodes=nodes,
        edges=edges,
        candidates=candidates,
        chosen=chosen,
        places=places,
        picture=sheet.picture(width, bottom + 6, alt=_alt(order, edges)),
    )


def edges_of(order: Order) -> tuple[tuple[int, int], ...]:
    """The edges of an order as places in its preference."""
    at = {name: place for place, name in enumerate(order.prior)}
    return tuple((at[i], at[j]) for i, j in order.edges)


def places_of(order: Order) -> tuple[int, ...]:
    """Place of each learner, by preference, where all were ordered."""
    if len(order.order) != len(order.prior):
        return ()
    at = {name: place for place, name in enumerate(order.order, start=1)}
    return tuple(at[name] for name in order.prior)


def arc_height(longest: int, spacing: float) -> float:
    """Height of the arc over so many nodes: it grows, ever more slowly."""
    reach = longest * spacing
    return 0.0 if not longest else 14.0 + min(0.42 * reach, 6.5 * sqrt(reach))


def draw_arcs(
    sheet: Sheet,
    nodes: tuple[Point, ...],
    edges: tuple[tuple[int, int], ...],
    *,
    radius: float,
    chosen: int | None,
    spacing: float,
    upright: bool = False,
) -> None:
    """Arcs over a row of nodes (or, upright, to the left of a column of them)."""
    many = len(edges)
    opacity = 0.85 if many <= 40 else max(0.16, 0.85 * (40.0 / many) ** 0.5)
    width = 1.1 if many <= 40 else 0.7
    head = min(7.0, max(4.0, radius * 0.75))
    # those that lead to the best lie on top
    for i, j in sorted(edges, key=lambda edge: (edge[1] == chosen, edge[0] - edge[1])):
        height = 4.0 / 3.0 * arc_height(j - i, spacing)
        colour = "blue" if j == chosen else "muted"
        start, end = radius + 1.0, radius + 1.5 + head * 0.8
        (xi, yi), (xj, yj) = nodes[i], nodes[j]
        if upright:
            points = ((xi - start, yi), (xi - height - start, yi), (xj - height - start, yj))
            tip = (xj - end, yj)
        else:
            points = ((xi, yi - start), (xi, yi - height - start), (xj, yj - height - start))
            tip = (xj, yj - end)
        sheet.curve(
            *points, tip, colour=colour, width=width, opacity=0.9 if j == chosen else opacity
        )
    for j in sorted({j for _, j in edges}):
        x, y = nodes[j]
        tip, toward = (
            ((x - radius - 1.2, y), (1.0, 0.0)) if upright else ((x, y - radius - 1.2), (0.0, 1.0))
        )
        sheet.arrow_head(tip, toward, length=head, colour="blue" if j == chosen else "muted")


def draw_nodes(
    sheet: Sheet,
    nodes: tuple[Point, ...],
    *,
    radius: float,
    numbers: range | None,
    thick: tuple[int, ...],
    shaded: int | None,
    names: tuple[int, ...] | None = None,
) -> None:
    """Nodes as in the paper: candidates thick, the chosen one shaded."""
    for k, (x, y) in enumerate(nodes):
        number = k if names is None else names[k]
        chosen, candidate = number == shaded, number in thick
        colour = "blue" if chosen else "ink" if candidate else "muted"
        sheet.dot(
            x,
            y,
            radius,
            fill="blue" if chosen else "paper",
            colour=colour,
            width=2.4 if candidate else 0.9,
        )
        if numbers is not None:
            size = min(SIZE, radius * 0.95)
            sheet.say(
                x,
                y,
                str(numbers[k]),
                size=size,
                anchor="middle",
                colour="paper" if chosen else colour,
                bold=chosen,
            )


def _reading(order: Order, edges: tuple[tuple[int, int], ...]) -> str:
    arrows = "No arrows: the data override the preference nowhere"
    if len(edges) == 1:
        arrows = f"1 arrow: from a preferred {order.noun} to one that is significantly better"
    elif edges:
        arrows = f"{len(edges)} arrows: from preferred {order.noun}s to significantly better ones"
    found = "; below each, its place in the order found" if places_of(order) else ""
    return (
        f"Left to right by preference{found}. {arrows}. Thick: none is significantly better. "
        f"Shaded: recommended. {basis(order)}"
    )


def _alt(order: Order, edges: tuple[tuple[int, int], ...]) -> str:
    shown = listing(f"{j} over {i}" for i, j in order.edges)
    said = f"the data put {shown}" if edges else "the data override the preference nowhere"
    return printable(f"Graph of {len(order.prior)} {order.noun}s by preference: {said}.")
