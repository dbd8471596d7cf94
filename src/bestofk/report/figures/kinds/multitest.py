"""The graph of MultiTest: learners by preference, edges where the data override it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, ordinal, printable
from bestofk.decide.registry import decides_by
from bestofk.decide.statements.wording import listing
from bestofk.report.figures.comparisons import basis, decision_of, preferring
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Point, Sheet
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper

if TYPE_CHECKING:
    from typing import Any

    from bestofk.decide.decision import Decision

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
    """Place the learners of an `Decision` left to right by preference, and its edges as arcs.

    Parameters
    ----------
    value : Decision or Study
        With a stated preference.
    paper : Paper, optional
        What it must fit.

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Losses([[0.4, 0.5, 0.4, 0.5], [0.1, 0.2, 0.1, 0.2], [0.3, 0.1, 0.2, 0.3]],
    ...     algorithms=["max", "nmc", "nn"])
    >>> layout = layout_graph(bk.order(losses, prefer="listed"))
    >>> layout.edges, layout.candidates, layout.chosen, layout.places
    (((0, 1),), (1, 2), 1, (2, 1, 3))
    """
    order = preferring(value, "graph")
    K = len(order.by_preference)
    edges = edges_of(order)
    beaten = {i for i, _ in edges}
    candidates = tuple(k for k in range(K) if k not in beaten)
    chosen = None if order.recommended is None else order.by_preference.index(order.recommended)
    places = places_of(order)
    sheet = Sheet(paper)
    level = K <= _LEVEL_LABELS
    if level:
        room = min(116.0 if K <= 5 else 84.0, paper.rest(0.0, 1e9) / K)
        labels = sheet.labels(order.by_preference, room - 10, SIZE)
        size = SIZE
        spacing = min(max(54.0, min(room, sheet.widest(labels, SIZE) + 14)), room)
        margin = max(spacing / 2, 34.0) if paper.width is None else spacing / 2
        below = SIZE * LINE + 4
    else:
        size = SMALL if K > 30 else SIZE
        labels = sheet.labels(order.by_preference, paper.share(0.3, 130.0), size)
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
    order: Decision,
    sheet: Sheet,
    edges: tuple[tuple[int, int], ...],
    candidates: tuple[int, ...],
) -> GraphLayout:
    """Learners top to bottom by preference, arcs at their left and names at their right."""
    K = len(order.by_preference)
    chosen = None if order.recommended is None else order.by_preference.index(order.recommended)
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
    labels = sheet.labels(order.by_preference, room, size)
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


def edges_of(order: Decision) -> tuple[tuple[int, int], ...]:
    """The edges of an order as places in its preference."""
    at = {name: place for place, name in enumerate(order.by_preference)}
    return tuple((at[i], at[j]) for i, j in order.edges)


def places_of(order: Decision) -> tuple[int, ...]:
    """Place of each learner, by preference, where all were ordered."""
    if len(order.ranking) != len(order.by_preference):
        return ()
    at = {name: place for place, name in enumerate(order.ranking, start=1)}
    return tuple(at[name] for name in order.by_preference)


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


def _reading(order: Decision, edges: tuple[tuple[int, int], ...]) -> str:
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


def _alt(order: Decision, edges: tuple[tuple[int, int], ...]) -> str:
    shown = listing(f"{j} over {i}" for i, j in order.edges)
    said = f"the data put {shown}" if edges else "the data override the preference nowhere"
    return printable(f"Graph of {len(order.by_preference)} {order.noun}s by preference: {said}.")


# The steps of MultiTest: the candidates, those passed over, and the choice.


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
    value : Decision or Study
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
    at = {name: place for place, name in enumerate(order.by_preference)}
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
    draw = _panels if len(order.by_preference) <= _PANELS else _rows
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


def _panels(order: Decision, steps: tuple[_Step, ...], sheet: Sheet) -> _Placed:
    K = len(order.by_preference)
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
    key = sheet.labels(order.by_preference, paper.share(0.5, 190.0), SIZE)
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
    height = sheet.note(_steps_reading(order), left=8, top=height, width=width - 16)
    return key, tuple(nodes), sheet.picture(width, height + 6, alt=_steps_alt(order))


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


def _rows(order: Decision, steps: tuple[_Step, ...], sheet: Sheet) -> _Placed:
    """One row per step, one column per learner, and at the end of the row who was taken."""
    K = len(order.by_preference)
    paper = sheet.paper
    size = SIZE if K <= 49 else SMALL
    room = paper.share(0.34, 210.0)
    labels = sheet.labels(order.by_preference, room, size)
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
    bottom = sheet.note(_steps_reading(order), left=8, top=y0 + K * pitch + 8, width=width - 16)
    return labels, tuple(nodes), sheet.picture(width, bottom + 6, alt=_steps_alt(order))


def _steps_reading(order: Decision) -> str:
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


def _steps_alt(order: Decision) -> str:
    taken = ", ".join(str(name) for name in order.ranking[:12])
    more = ", ..." if len(order.ranking) > 12 else ""
    return printable(f"Steps of MultiTest: taken in turn are {taken}{more}.")


# The MultiTest graph in text, for a terminal.


NAME_WIDTH = 28
ROWS = 40
_RECOMMENDED = "  recommended"


def text_graph(value: Any, *, width: int = 80) -> str:
    """Learners by preference, a column for each that is better than a preferred one.

    Parameters
    ----------
    value : Decision or Study
        With a stated preference.
    width : int
        Columns of the terminal.

    Returns
    -------
    str
        Empty where the data override the preference nowhere.

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Losses([[0.41, 0.52, 0.43], [0.12, 0.21, 0.11], [0.10, 0.19, 0.12]],
    ...     algorithms=["max", "nmc", "nn"])
    >>> print(text_graph(bk.order(losses, prefer="listed", test="kfold-t")))
    1 max  ● ●
    2 nmc  ▲ │   recommended
    3 nn     ▲
    ▲ is significantly better than the ● above it, which were preferred.
    """
    order = preferring(value, "graph")
    edges = edges_of(order)
    if not edges:
        return ""
    names = [_short(str(name)) for name in order.by_preference]
    digits = len(str(len(names)))
    wide = max(map(_columns, names))
    start = digits + 1 + wide + 2
    over: dict[int, list[int]] = {}
    for i, j in edges:
        over.setdefault(j, []).append(i)
    room = max(1, (width - start - len(_RECOMMENDED)) // 2)
    # the recommended one first: it is what the reader looks for
    at = None if order.recommended is None else order.by_preference.index(order.recommended)
    chosen = sorted(over, key=lambda j: (j != at, j))[:room]
    shown = sorted(chosen)
    last = min(len(names), ROWS)
    lines = []
    for row in range(last):
        marks = [_mark(row, j, over[j]) for j in shown]
        said = _RECOMMENDED if row == at else ""
        name = names[row] + " " * (wide - _columns(names[row]))
        lines.append(f"{row + 1:>{digits}} {name}  {' '.join(marks)}{said}".rstrip())
    if len(names) > last:
        lines.append(f"... and {len(names) - last} more")
    lines.append("▲ is significantly better than the ● above it, which were preferred.")
    left = len(over) - len(shown)
    if left:
        lines.append(f"({counted(left, 'more learner')} of that kind: too many for this width.)")
    return "\n".join(lines)


def _mark(row: int, column: int, beaten: list[int]) -> str:
    if row == column:
        return "▲"
    if row in beaten:
        return "●"
    return "│" if min(beaten) < row < column else " "


def _short(name: str) -> str:
    text = printable(" ".join(name.split())) or "(no name)"
    if len(text) <= NAME_WIDTH:
        return text
    half = (NAME_WIDTH - 1) // 2
    return f"{text[: NAME_WIDTH - 1 - half]}…{text[-half:]}"


def _columns(text: str) -> int:
    """Columns on a terminal: wide characters take two, combining ones none."""
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
