"""The forest plot: how much worse than the best every learner is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import counted, printable
from bestofk.decide.decision import (
    MAY_BE_BEST,
    NOT_SHOWN,
    RECOMMENDED,
    RULED_OUT,
    WITHIN_MARGIN,
)
from bestofk.decide.statements.wording import worse_than_best
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import basis, bounds_note, decision_of
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, name_size

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision, Standing

_AXIS_LENGTH = 330.0
_MIN_AXIS_LENGTH = 90.0
"""If the axis would be shorter, drop the column beside it."""
_COLOURS = {
    RECOMMENDED: "blue",
    "better": "green",
    WITHIN_MARGIN: "blue",
    MAY_BE_BEST: "blue",
    NOT_SHOWN: "blue",
    RULED_OUT: "vermillion",
    "worse": "vermillion",
    "not tested": "muted",
}
"""Colour of the mark by verdict, in the order of the legend."""
_MAX_REACH = 6.0
"""A bar ends in an arrow if it is this many times as long as the median bar."""


def layout_forest(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw how much worse than the best every learner is: its bounds, and a dot for its mean.

    Parameters
    ----------
    value : Decision or Study
    paper : Paper, optional

    Notes
    -----
    A bar reaches from `Standing.at_least` to `Standing.at_most`, and the dot is at
    `Standing.difference`. A decision without bounds has dots alone.

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Scores([[0.4, 0.5, 0.4, 0.5], [0.1, 0.2, 0.1, 0.2], [0.2, 0.1, 0.2, 0.3]],
    ...     learners=["max", "nmc", "nn"])
    >>> print(layout_forest(bk.compare_scores(losses)).alt)
    How much worse than the best 3 learners are: 1 recommended, 1 may be the best, 1 ruled out.
    """
    order = decision_of(value)
    rows = order.standings
    sheet = Sheet(paper)
    size = name_size(len(rows))
    pitch = 22.0 if len(rows) <= 12 else max(13.0, 18.0 - 0.1 * len(rows))
    labels = sheet.labels([row.name for row in rows], paper.share(0.45, 280.0), size)
    start = 10 + max(sheet.widest(labels, size), 40.0) + 12
    texts = [worse_than_best(order, row) for row in rows]
    if not any(texts) or _axis_length(sheet, texts, start) < _MIN_AXIS_LENGTH:
        texts = []
    end = start + _axis_length(sheet, texts, start)
    low, high = _limits(order)
    scale = Scale(low=low, high=high, start=start, end=end)
    top = _legend(sheet, rows, left=10) + 6
    bottom = top + len(rows) * pitch + 2
    if order.margin is not None:
        sheet.box(scale(0.0), top, scale(order.margin), bottom, fill="orange", opacity=0.18)
    best = "the best" if order.best is not None else str(order.recommended)
    title = f"{order.metric.mean}: how much worse than {best}"
    axis_end = x_axis(sheet, scale, top=top, bottom=bottom, title=printable(title))
    zero = scale(0.0)
    sheet.line((zero, top), (zero, bottom), colour="ink", width=1.0)
    beyond = False
    for k, row in enumerate(rows):
        y = top + (k + 0.5) * pitch
        colour = "blue" if row.verdict == RECOMMENDED else "ink"
        sheet.write(start - 12, y, labels[k], size=size, anchor="end", colour=colour)
        beyond |= _bar(sheet, scale, row, y)
        _mark(sheet, scale(row.difference), y, row.verdict)
        if texts:
            sheet.write(end + 14, y, texts[k], size=SMALL, colour="muted")
    verdicts = [row.verdict for row in rows]
    tally = ", ".join(
        f"{verdicts.count(verdict)} {verdict}" for verdict in _COLOURS if verdict in verdicts
    )
    return sheet.finish(
        paper.rest(0.0, end + (sheet.widest(texts, SMALL) + 24 if texts else 10)),
        axis_end + 6,
        note=_note(order, beyond=beyond),
        alt=f"How much worse than {best} {counted(len(rows), order.noun)} are: {tally}.",
        x_scale=scale,
    )


def _axis_length(sheet: Sheet, texts: list[str], start: float) -> float:
    beside = sheet.widest(texts, SMALL) + 24 if texts else 18.0
    return sheet.paper.rest(start + beside, _AXIS_LENGTH)


def _limits(order: Decision) -> tuple[float, float]:
    """Return axis limits that include all dots, and all bars except very long ones."""
    differences = [row.difference for row in order.standings]
    ends = [row.at_most for row in order.standings if row.at_most is not None]
    lengths = sorted(
        row.at_most - (row.at_least or 0.0) for row in order.standings if row.at_most is not None
    )
    limit = 3.0 * max(map(abs, differences))
    if lengths:
        limit = max(limit, _MAX_REACH * lengths[len(lengths) // 2])
    values = [0.0, *differences, *(min(end, limit) for end in ends), order.margin or 0.0]
    low, high = around(min(values), max(values), margin=0.03)
    return (low if min(values) < 0 else 0.0), high


def _legend(sheet: Sheet, rows: tuple[Standing, ...], *, left: float) -> float:
    """Draw the marks that occur, with their meaning; return where they end."""
    verdicts = {row.verdict for row in rows}
    x, y = left, 8 + SIZE * LINE_HEIGHT / 2
    for verdict in _COLOURS:
        if verdict in verdicts:
            width = 12 + sheet.text_width(verdict, SMALL)
            if x > left and x + width > sheet.paper.rest(6.0, 1e9):
                x, y = left, y + SIZE * LINE_HEIGHT
            _mark(sheet, x + 4, y, verdict)
            sheet.write(x + 12, y, verdict, size=SMALL)
            x += width + 10
    return y + SIZE * LINE_HEIGHT / 2


def _bar(sheet: Sheet, scale: Scale, row: Standing, y: float) -> bool:
    """Draw the bounds of a learner; return whether the upper one lies beyond the axis."""
    if row.at_most is None:
        return False
    colour = _COLOURS[row.verdict]
    left, right = scale(row.at_least or 0.0), scale(row.at_most)
    sheet.line((left, y), (right, y), colour=colour, width=1.4)
    if row.at_least:
        sheet.line((left, y - 3), (left, y + 3), colour=colour, width=1.2)
    if row.at_most <= scale.high:
        sheet.line((right, y - 3), (right, y + 3), colour=colour, width=1.2)
        return False
    sheet.arrow_head((right + 4, y), (1.0, 0.0), length=6.0, colour=colour)
    return True


def _mark(sheet: Sheet, x: float, y: float, verdict: str) -> None:
    """Draw the mark of a verdict; marks differ in shape, not only in colour."""
    colour = _COLOURS[verdict]
    if verdict == RECOMMENDED:
        sheet.area((x, y - 4.8), (x + 4.8, y), (x, y + 4.8), (x - 4.8, y), fill=colour)
    elif verdict in (RULED_OUT, "worse"):
        sheet.box(x - 3.2, y - 3.2, x + 3.2, y + 3.2, fill=colour)
    elif verdict == "better":
        sheet.area((x, y - 4.4), (x + 4.2, y + 3.2), (x - 4.2, y + 3.2), fill=colour)
    elif verdict == "not tested":
        sheet.line((x - 3, y - 3), (x + 3, y + 3), colour=colour, width=1.4)
        sheet.line((x - 3, y + 3), (x + 3, y - 3), colour=colour, width=1.4)
    else:
        fill = colour if verdict == WITHIN_MARGIN else "paper"
        sheet.dot(x, y, 3.2, fill=fill, colour=colour, width=1.5)


def _note(order: Decision, *, beyond: bool) -> str:
    parts = [bounds_note(order)]
    if any(row.at_most for row in order.standings):
        parts[0] = f"Bars: {parts[0][0].lower()}{parts[0][1:]} Marks: the means of the data."
    if beyond:
        parts.append("An arrow: the bar goes on.")
    if order.margin is not None:
        parts.append("Shaded: within the margin.")
    return " ".join([*filter(None, parts), basis(order)])
