"""The forest plot: how much worse every other learner is than the recommended one."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, number, printable
from bestofk.decide.statements.wording import correction_words, family_words
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import decision_of, interval_words, short_p
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.stats.adjust import CORRECTIONS

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision, Standing

_ACROSS = 330.0
_LEAST = 90.0
"""An axis that would be shorter takes the room of the columns beside it."""
_LOOKS = {
    "worse": ("vermillion", "worse"),
    "better": ("green", "better"),
    "no evidence": ("blue", "no evidence of a difference"),
    "not tested": ("muted", "not tested"),
}
"""Verdict: the colour of its mark, and the words for it. Each has a shape of its own, too."""
_MARGIN_WORDS = {
    "better": "better",
    "not worse by more than the margin": "not worse",
    "worse": "worse",
    "open": "open",
}
_FAR = 6.0
"""An interval that reaches so many times as far as half of the others may end in an arrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestLayout:
    """One row per learner other than the recommended one, by mean.

    Attributes
    ----------
    labels : tuple of str
    names : tuple of names
    rows : tuple of float
        Height of each row.
    differences : tuple of float
        How much worse each learner is than the recommended one; negative: better.
    lows, highs : tuple of float
        Ends of the simultaneous intervals; infinite where an end is open or not known.
    verdicts : tuple of str
        ``"worse"``, ``"better"``, ``"no evidence"`` or ``"not tested"``.
    pvalues : tuple of (float or None)
        Adjusted p-values; None where a pair was not tested.
    margin : (float, float) or None
        Where the band of the margin begins and ends, in points.
    picture : Picture
    """

    labels: tuple[str, ...]
    names: tuple[object, ...]
    rows: tuple[float, ...]
    differences: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    verdicts: tuple[str, ...]
    pvalues: tuple[float | None, ...]
    margin: tuple[float, float] | None
    picture: Picture


def layout_forest(value: Any, *, paper: Paper = ANY_PAPER) -> ForestLayout:
    """Place the difference of every learner from the recommended one, with its interval.

    Parameters
    ----------
    value : Decision or Study
        That recommends a learner, from pairs.
    paper : Paper, optional
        What it must fit.

    Notes
    -----
    All numbers are those of the evidence: simultaneous intervals and adjusted p-values. To the
    right of 0 a learner is worse, whatever the direction of the metric.

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Losses([[0.4, 0.5, 0.4, 0.5], [0.1, 0.2, 0.1, 0.2], [0.2, 0.1, 0.2, 0.3]],
    ...     algorithms=["max", "nmc", "nn"])
    >>> layout = layout_forest(bk.order(losses))
    >>> layout.labels, layout.verdicts
    (('nn', 'max'), ('no evidence', 'worse'))
    """
    order = decision_of(value)
    standings = order.standings
    if not standings:
        raise ArgumentError(
            "figure 'forest': it compares the others with the recommended learner, and this order "
            f"by {order.procedure!r} has no such pairs: draw 'losses'."
        )
    sheet = Sheet(paper)
    size = SIZE if len(standings) <= 30 else SMALL
    pitch = 22.0 if len(standings) <= 12 else max(13.0, 18.0 - 0.1 * len(standings))
    names = [order.recommended, *(one.name for one in standings)]
    best, *others = sheet.labels(names, paper.share(0.36, 190.0), size)
    labels = tuple(others)
    start = 10 + max(sheet.widest(labels, size), 40.0) + 12
    low, high = _reach(order, standings)
    words = _columns(order, standings)
    across = _across(sheet, words, start)
    while words and across < _LEAST:
        # the marks tell the verdict, and the band the margin
        words.pop()
        across = _across(sheet, words, start)
    scale = Scale(low=low, high=high, start=start, end=start + across)
    top = _legend(sheet, standings, left=10) + SIZE * LINE + 6
    rows = tuple(top + (k + 0.5) * pitch for k in range(len(standings)))
    bottom = top + len(standings) * pitch + 2
    band = _margin_band(sheet, order, scale, top=top, bottom=bottom)
    title = f"{order.metric.mean}: how much worse than {best}"
    end = x_axis(sheet, scale, top=top, bottom=bottom, title=printable(title))
    zero = scale(0.0)
    sheet.line((zero, top), (zero, bottom), colour="ink", width=1.0)
    _sides(sheet, zero, scale, top)
    columns = [scale.end + 14]
    for column in words:
        columns.append(columns[-1] + _column_width(sheet, column) + 14)
    for x, column in zip(columns, words, strict=False):
        sheet.say(x, top - SMALL * LINE / 2 - 1, column[0], size=SMALL, colour="muted")
    beyond = False
    for k, (row, standing) in enumerate(zip(rows, standings, strict=True)):
        colour = _LOOKS[standing.verdict][0]
        sheet.say(start - 12, row, labels[k], size=size, anchor="end")
        beyond |= _span(sheet, scale, standing, row, colour)
        _mark(sheet, scale(standing.difference), row, standing.verdict)
        for x, column in zip(columns, words, strict=False):
            bold = standing.verdict in ("worse", "better") and column is words[0]
            ink = "ink" if bold else "muted"
            sheet.say(x, row, column[k + 1], size=SMALL, colour=ink, bold=bold)
    width = columns[-1] - 4 if paper.width is None else paper.width
    note = _reading(order, beyond=beyond)
    end = sheet.note(note, left=10, top=end + 6, width=width - 20)
    return ForestLayout(
        labels=labels,
        names=tuple(one.name for one in standings),
        rows=rows,
        differences=tuple(one.difference for one in standings),
        lows=tuple(one.low for one in standings),
        highs=tuple(one.high for one in standings),
        verdicts=tuple(one.verdict for one in standings),
        pvalues=tuple(one.adjusted_pvalue for one in standings),
        margin=band,
        picture=sheet.picture(width, end + 6, alt=_alt(order, standings), x_scale=scale),
    )


def _column_width(sheet: Sheet, column: list[str]) -> float:
    return max(sheet.text_width(text, SMALL, bold=True) for text in column)


def _across(sheet: Sheet, words: list[list[str]], start: float) -> float:
    """The length of the axis beside the names and the columns."""
    beside = sum(14 + _column_width(sheet, column) for column in words)
    return sheet.paper.rest(start + beside + (10 if words else 18), _ACROSS)


def _reach(order: Decision, standings: tuple[Standing, ...]) -> tuple[float, float]:
    """The ends of the axis: all differences, and all intervals but those that go very far."""
    differences = [one.difference for one in standings]
    ends = sorted(
        abs(end - one.difference)
        for one in standings
        for end in (one.low, one.high)
        if isfinite(end)
    )
    far = _FAR * ends[len(ends) // 2] if ends else 0.0
    far = max(far, 3.0 * max(map(abs, differences)))
    places = [0.0, *differences]
    for one in standings:
        for end in (one.low, one.high):
            if isfinite(end):
                away = min(max(end - one.difference, -far), far)
                places.append(one.difference + away)
    if order.margin is not None:
        places += [-order.margin, order.margin]
    return around(min(places), max(places), margin=0.05)


def _margin_band(
    sheet: Sheet, order: Decision, scale: Scale, *, top: float, bottom: float
) -> tuple[float, float] | None:
    if order.margin is None:
        return None
    left, right = scale(-order.margin), scale(order.margin)
    sheet.box(left, top, right, bottom, fill="orange", opacity=0.18)
    return left, right


def _sides(sheet: Sheet, zero: float, scale: Scale, top: float) -> None:
    """Which side is which, where there is room."""
    y = top - SMALL * LINE / 2 - 1
    if zero - 6 - sheet.text_width("← better", SMALL) >= scale.start - 8:
        sheet.say(zero - 6, y, "← better", size=SMALL, colour="muted", anchor="end")
    if zero + 6 + sheet.text_width("worse →", SMALL) <= scale.end + 8:
        sheet.say(zero + 6, y, "worse →", size=SMALL, colour="muted")


def _legend(sheet: Sheet, standings: tuple[Standing, ...], *, left: float) -> float:
    """The marks that occur, each with its words, in as many lines as they need; where they end."""
    found = {one.verdict for one in standings}
    x, y = left, 8 + SIZE * LINE / 2
    for verdict, (_, words) in _LOOKS.items():
        if verdict in found:
            wide = 12 + sheet.text_width(words, SMALL)
            if x > left and x + wide > sheet.paper.rest(6.0, 1e9):
                x, y = left, y + SIZE * LINE
            _mark(sheet, x + 4, y, verdict)
            sheet.say(x + 12, y, words, size=SMALL)
            x += wide + 16
    return y + SIZE * LINE / 2


def _columns(order: Decision, standings: tuple[Standing, ...]) -> list[list[str]]:
    """Heading and cells of what stands at the right end of every row."""
    p = [
        "not tested"
        if one.adjusted_pvalue is None or one.verdict == "not tested"
        else short_p(one.adjusted_pvalue, order.alpha)
        for one in standings
    ]
    adjusted = CORRECTIONS[order.correction].adjusts and order.evidence.family.size > 1
    found = [["adjusted p" if adjusted else "p", *p]]
    if order.margins:
        cells = [
            "" if one.margin is None else _MARGIN_WORDS[one.margin.verdict] for one in standings
        ]
        found.append([f"margin {number(order.margin or 0.0)}", *cells])
    return found


def _span(sheet: Sheet, scale: Scale, standing: Standing, row: float, colour: str) -> bool:
    """The interval; whether an end of it lies beyond the axis."""
    low, high = standing.low, standing.high
    if not (isfinite(low) or isfinite(high)):
        return False
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
    """A shape for every verdict: told apart without colours, too."""
    colour = _LOOKS[verdict][0]
    if verdict == "worse":
        sheet.box(x - 3.2, y - 3.2, x + 3.2, y + 3.2, fill=colour)
    elif verdict == "better":
        sheet.area((x, y - 4.4), (x + 4.2, y + 3.2), (x - 4.2, y + 3.2), fill=colour)
    elif verdict == "no evidence":
        sheet.dot(x, y, 3.2, fill="paper", colour=colour, width=1.5)
    else:
        sheet.line((x - 3, y - 3), (x + 3, y + 3), colour=colour, width=1.4)
        sheet.line((x - 3, y + 3), (x + 3, y - 3), colour=colour, width=1.4)


def _reading(order: Decision, *, beyond: bool) -> str:
    evidence = order.evidence
    parts = [
        f"By mean, the best on top. {interval_words(order)}"
        if any(isfinite(one.low) or isfinite(one.high) for one in order.standings)
        else "By mean, the best on top. The test gives no intervals."
    ]
    if beyond:
        parts.append("An arrow: the interval goes on.")
    if order.margin is not None:
        parts.append("Shaded: differences within the margin.")
    parts.append(
        f"{order.test}, {family_words(evidence)}, alpha = {order.alpha:g}"
        f"{correction_words(evidence)}."
    )
    if evidence.family.size > 1 and not CORRECTIONS[order.correction].adjusts:
        parts.append("The p-values are not adjusted.")
    return " ".join(parts)


def _alt(order: Decision, standings: tuple[Standing, ...]) -> str:
    tally = []
    for verdict, words in (
        ("worse", "shown to be worse"),
        ("no evidence", "without evidence of a difference"),
        ("better", "shown to be better"),
        ("not tested", "not tested"),
    ):
        count = sum(one.verdict == verdict for one in standings)
        if count:
            tally.append(f"{count} {words}")
    return printable(
        f"Differences of {counted(len(standings), 'learner')} from {order.recommended}: "
        f"{', '.join(tally)}."
    )
