"""The forest plot: how much worse every other learner is than the recommended one."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, number, printable
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import decision_of, evidence_words, interval_words, short_p
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, name_size
from bestofk.stats.adjust import CORRECTIONS

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision, Standing

_AXIS_LENGTH = 330.0
_MIN_AXIS_LENGTH = 90.0
"""If the axis would be shorter, drop columns beside it."""
_LOOKS = {
    "worse": ("vermillion", "worse", "significantly worse"),
    "too close to call": ("blue", "too close to call", "too close to call"),
    "better": ("green", "better", "significantly better"),
    "not tested": ("muted", "not tested", "not tested"),
}
"""By verdict: the colour of its mark, its text in the legend, and in the alternative text."""
_LEGEND = ("worse", "better", "too close to call", "not tested")
_MARGIN_WORDS = {
    "better": "better",
    "not worse by more than the margin": "not worse",
    "worse": "worse",
    "open": "open",
}
_MAX_REACH = 6.0
"""An interval may end in an arrow if it is this many times as long as the median interval."""


def layout_forest(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the difference of every learner from the recommended one, with its interval.

    Parameters
    ----------
    value : Decision or Study
        That recommends a learner and compares pairs.
    paper : Paper, optional

    Notes
    -----
    All numbers are those of the evidence: simultaneous intervals and adjusted p-values. A learner
    to the right of 0 is worse, for losses and for scores.

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Losses([[0.4, 0.5, 0.4, 0.5], [0.1, 0.2, 0.1, 0.2], [0.2, 0.1, 0.2, 0.3]],
    ...     algorithms=["max", "nmc", "nn"])
    >>> print(layout_forest(bk.order(losses)).alt)
    Differences of 2 learners from nmc: 1 significantly worse, 1 too close to call.
    """
    order = decision_of(value)
    standings = order.standings
    if not standings:
        raise ArgumentError(
            "figure 'forest' compares the other learners with the recommended one, and this order "
            f"by {order.procedure!r} has no such pairs; draw 'losses'."
        )
    sheet = Sheet(paper)
    size = name_size(len(standings))
    pitch = 22.0 if len(standings) <= 12 else max(13.0, 18.0 - 0.1 * len(standings))
    names = [order.recommended, *(standing.name for standing in standings)]
    best, *labels = sheet.labels(names, paper.share(0.45, 280.0), size)
    start = 10 + max(sheet.widest(labels, size), 40.0) + 12
    low, high = _limits(order)
    columns = _columns(order)
    while columns and _axis_length(sheet, columns, start) < _MIN_AXIS_LENGTH:
        # The marks show the verdict, and the band shows the margin.
        columns.pop()
    end = start + _axis_length(sheet, columns, start)
    scale = Scale(low=low, high=high, start=start, end=end)
    top = _legend(sheet, standings, left=10) + SIZE * LINE_HEIGHT + 6
    bottom = top + len(standings) * pitch + 2
    if order.margin is not None:
        sheet.box(
            scale(-order.margin), top, scale(order.margin), bottom, fill="orange", opacity=0.18
        )
    title = f"{order.metric.mean}: how much worse than {best}"
    end = x_axis(sheet, scale, top=top, bottom=bottom, title=printable(title))
    zero = scale(0.0)
    sheet.line((zero, top), (zero, bottom), colour="ink", width=1.0)
    heading = top - SMALL * LINE_HEIGHT / 2 - 1
    if zero - 6 - sheet.text_width("← better", SMALL) >= scale.start - 8:
        sheet.write(zero - 6, heading, "← better", size=SMALL, colour="muted", anchor="end")
    if zero + 6 + sheet.text_width("worse →", SMALL) <= scale.end + 8:
        sheet.write(zero + 6, heading, "worse →", size=SMALL, colour="muted")
    lefts = [scale.end + 14]
    for column in columns:
        lefts.append(lefts[-1] + _column_width(sheet, column) + 14)
    for x, column in zip(lefts, columns, strict=False):
        sheet.write(x, heading, column[0], size=SMALL, colour="muted")
    beyond = False
    for k, standing in enumerate(standings):
        row = top + (k + 0.5) * pitch
        sheet.write(start - 12, row, labels[k], size=size, anchor="end")
        beyond |= _interval(sheet, scale, standing, row)
        _mark(sheet, scale(standing.difference), row, standing.verdict)
        for x, column in zip(lefts, columns, strict=False):
            bold = standing.verdict in ("worse", "better") and column is columns[0]
            colour = "ink" if bold else "muted"
            sheet.write(x, row, column[k + 1], size=SMALL, colour=colour, bold=bold)
    verdicts = [standing.verdict for standing in standings]
    tally = ", ".join(
        f"{verdicts.count(verdict)} {text}"
        for verdict, (*_, text) in _LOOKS.items()
        if verdict in verdicts
    )
    return sheet.finish(
        paper.rest(0.0, lefts[-1] - 4),
        end + 6,
        note=_note(order, beyond=beyond),
        alt=f"Differences of {counted(len(standings), order.noun)} from {order.recommended}: "
        f"{tally}.",
        x_scale=scale,
    )


def _column_width(sheet: Sheet, column: list[str]) -> float:
    return max(sheet.text_width(text, SMALL, bold=True) for text in column)


def _axis_length(sheet: Sheet, columns: list[list[str]], start: float) -> float:
    beside = sum(14 + _column_width(sheet, column) for column in columns)
    return sheet.paper.rest(start + beside + (10 if columns else 18), _AXIS_LENGTH)


def _limits(order: Decision) -> tuple[float, float]:
    """Return axis limits that include all differences, and all intervals except very long ones."""
    reaches = [
        (standing.difference, end - standing.difference)
        for standing in order.standings
        for end in (standing.low, standing.high)
        if isfinite(end)
    ]
    lengths = sorted(abs(reach) for _, reach in reaches)
    limit = _MAX_REACH * lengths[len(lengths) // 2] if lengths else 0.0
    differences = [standing.difference for standing in order.standings]
    limit = max(limit, 3.0 * max(map(abs, differences)))
    values = [0.0, *differences]
    values += [difference + min(max(reach, -limit), limit) for difference, reach in reaches]
    if order.margin is not None:
        values += [-order.margin, order.margin]
    return around(min(values), max(values), margin=0.05)


def _legend(sheet: Sheet, standings: tuple[Standing, ...], *, left: float) -> float:
    """Draw the marks that occur, with their meaning; return where they end."""
    verdicts = {standing.verdict for standing in standings}
    x, y = left, 8 + SIZE * LINE_HEIGHT / 2
    for verdict in _LEGEND:
        if verdict in verdicts:
            text = _LOOKS[verdict][1]
            width = 12 + sheet.text_width(text, SMALL)
            if x > left and x + width > sheet.paper.rest(6.0, 1e9):
                x, y = left, y + SIZE * LINE_HEIGHT
            _mark(sheet, x + 4, y, verdict)
            sheet.write(x + 12, y, text, size=SMALL)
            x += width + 16
    return y + SIZE * LINE_HEIGHT / 2


def _columns(order: Decision) -> list[list[str]]:
    """Return heading and cells of the columns at the right end of every row."""
    standings = order.standings
    p = [
        "not tested"
        if standing.adjusted_pvalue is None or standing.verdict == "not tested"
        else short_p(standing.adjusted_pvalue, order.alpha)
        for standing in standings
    ]
    adjusted = CORRECTIONS[order.correction].adjusts and order.evidence.family.size > 1
    columns = [["adjusted p" if adjusted else "p", *p]]
    if order.margins:
        cells = [
            "" if standing.margin is None else _MARGIN_WORDS[standing.margin.verdict]
            for standing in standings
        ]
        columns.append([f"margin {number(order.margin or 0.0)}", *cells])
    return columns


def _interval(sheet: Sheet, scale: Scale, standing: Standing, row: float) -> bool:
    """Draw an interval; return whether an end lies beyond the axis."""
    low, high = standing.low, standing.high
    if not (isfinite(low) or isfinite(high)):
        return False
    colour = _LOOKS[standing.verdict][0]
    left, right = scale(low), scale(high)
    sheet.line((left, row), (right, row), colour=colour, width=1.4)
    beyond = False
    for x, end, toward in ((left, low, -1.0), (right, high, 1.0)):
        if scale.low <= end <= scale.high:
            sheet.line((x, row - 3), (x, row + 3), colour=colour, width=1.2)
        else:
            sheet.arrow_head((x + toward * 4, row), (toward, 0.0), length=6.0, colour=colour)
            beyond = True
    return beyond


def _mark(sheet: Sheet, x: float, y: float, verdict: str) -> None:
    """Draw the mark of a verdict; marks differ in shape, not only in colour."""
    colour = _LOOKS[verdict][0]
    if verdict == "worse":
        sheet.box(x - 3.2, y - 3.2, x + 3.2, y + 3.2, fill=colour)
    elif verdict == "better":
        sheet.area((x, y - 4.4), (x + 4.2, y + 3.2), (x - 4.2, y + 3.2), fill=colour)
    elif verdict == "too close to call":
        sheet.dot(x, y, 3.2, fill="paper", colour=colour, width=1.5)
    else:
        sheet.line((x - 3, y - 3), (x + 3, y + 3), colour=colour, width=1.4)
        sheet.line((x - 3, y + 3), (x + 3, y - 3), colour=colour, width=1.4)


def _note(order: Decision, *, beyond: bool) -> str:
    known = any(isfinite(row.low) or isfinite(row.high) for row in order.standings)
    parts = [
        "By mean, the best on top.",
        interval_words(order) if known else "The test gives no intervals.",
    ]
    if beyond:
        parts.append("An arrow: the interval goes on.")
    if order.margin is not None:
        parts.append("Shaded: differences within the margin.")
    parts.append(evidence_words(order))
    if order.evidence.family.size > 1 and not CORRECTIONS[order.correction].adjusts:
        parts.append("The p-values are not adjusted.")
    return " ".join(parts)
