"""Axes of a picture: ticks that never touch, quiet grid lines, a title."""

from __future__ import annotations

from collections.abc import Sequence

from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Scale, Sheet, short_number, tick_words
from bestofk.report.figures.style import SIZE, SMALL

TICK = 3.0
EDGE = 4.0
"""Between words and the edge of the paper."""
X_AXIS_HEIGHT = TICK + 2 + SMALL * LINE + SIZE * LINE + 4
"""Below the line: ticks, their words and the title."""


def x_axis(
    sheet: Sheet,
    scale: Scale,
    *,
    top: float | None,
    bottom: float,
    title: str,
    whole: bool = False,
    within: tuple[float, float] | None = None,
) -> float:
    """A horizontal axis at `bottom` with grid lines up to `top`; where its words end.

    With `whole`, only whole numbers have ticks. Its title stands between the ends of `within`, by
    default the edges of the paper.
    """
    ticks, words = ticks_apart(sheet, scale, whole=whole)
    if top is not None:
        for tick in ticks:
            sheet.line((scale(tick), top), (scale(tick), bottom), colour="wash", width=0.8)
    sheet.line((scale.start, bottom), (scale.end, bottom), colour="muted", width=0.8)
    y = bottom + TICK + 2 + SMALL * LINE / 2
    for tick, word in zip(ticks, words, strict=True):
        x = scale(tick)
        sheet.line((x, bottom), (x, bottom + TICK), colour="muted", width=0.8)
        sheet.say(x, y, word, size=SMALL, colour="muted", anchor="middle")
    y += SMALL * LINE / 2 + 2
    if within is None and sheet.paper.width is not None:
        within = (0.0, sheet.paper.width)
    for line in _lines(sheet, title, within):
        y += SIZE * LINE / 2
        sheet.say(_middle(sheet, scale, line, within), y, line, anchor="middle")
        y += SIZE * LINE / 2
    return y


def _lines(sheet: Sheet, title: str, within: tuple[float, float] | None) -> tuple[str, ...]:
    """A title in lines that fit."""
    if within is None:
        return (title,)
    return sheet.wrapped(title, within[1] - within[0] - 2 * EDGE, SIZE)


def _middle(sheet: Sheet, scale: Scale, line: str, within: tuple[float, float] | None) -> float:
    """Under the middle of the axis, or as near to it as the ends allow."""
    middle = (scale.start + scale.end) / 2
    if within is None:
        return middle
    half = sheet.text_width(line) / 2 + EDGE
    return min(max(middle, within[0] + half), within[1] - half)


def y_ticks(scale: Scale) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The ticks of a vertical axis, and their words."""
    ticks = scale.ticks(max(2, int(abs(scale.end - scale.start) / 34)))
    return ticks, scale_words(scale, ticks)


def y_room(sheet: Sheet, scale: Scale) -> float:
    """Where a vertical axis stands, so that the words of its ticks are on the sheet."""
    return 8 + max(sheet.widest(y_ticks(scale)[1], SMALL), 18.0) + 4


def y_axis(sheet: Sheet, scale: Scale, *, left: float, right: float, title: str) -> None:
    """A vertical axis at `left` with grid lines to `right`; its title stands above it."""
    for tick, word in zip(*y_ticks(scale), strict=True):
        y = scale(tick)
        sheet.line((left, y), (right, y), colour="wash", width=0.8)
        sheet.say(left - 4, y, word, size=SMALL, colour="muted", anchor="end")
    x = left
    if sheet.paper.width is not None:
        title = sheet.fitted(title, sheet.paper.width - 2 * EDGE)
        x = min(left, sheet.paper.width - EDGE - sheet.text_width(title))
    sheet.say(x, min(scale.start, scale.end) - SIZE * LINE, title)


def scale_words(scale: Scale, ticks: tuple[float, ...]) -> tuple[str, ...]:
    """Words of ticks: equally many decimals on a linear scale."""
    return tuple(map(short_number, ticks)) if scale.kind == "log" else tick_words(ticks)


def ticks_apart(
    sheet: Sheet, scale: Scale, *, whole: bool = False
) -> tuple[tuple[float, ...], Sequence[str]]:  # fmt: skip
    """The most ticks whose words stand clear of each other, and on the sheet."""
    room = float("inf") if sheet.paper.width is None else sheet.paper.width
    for most in range(8, 1, -1):
        ticks = tuple(tick for tick in scale.ticks(most) if not whole or tick == int(tick))
        ticks = tuple(
            tick
            for tick, word in zip(ticks, _words(scale, ticks, whole), strict=True)
            if sheet.text_width(word, SMALL) / 2 <= min(scale(tick), room - scale(tick))
        )
        words = _words(scale, ticks, whole)
        places = [scale(tick) for tick in ticks]
        half = [sheet.text_width(word, SMALL) / 2 + 3 for word in words]
        if all(
            abs(places[k + 1] - places[k]) >= half[k] + half[k + 1] for k in range(len(ticks) - 1)
        ):
            return ticks, words
    return ticks[:1], words[:1]


def _words(scale: Scale, ticks: tuple[float, ...], whole: bool) -> tuple[str, ...]:
    return tuple(map(short_number, ticks)) if whole else scale_words(scale, ticks)


def columns_beside(
    sheet: Sheet,
    columns: Sequence[Sequence[str]],
    *,
    left: float,
    heading: float,
    rows: Sequence[float],
) -> float:
    """Columns of small words, each with its heading, at the right of a figure; where they end."""
    x = left
    for column in columns:
        x += 10 + sheet.widest(column, SMALL)
        for y, text in zip((heading, *rows), column, strict=True):
            sheet.say(x, y, text, size=SMALL, colour="muted", anchor="end")
    return x


def columns_width(sheet: Sheet, columns: Sequence[Sequence[str]]) -> float:
    """What `columns_beside` takes."""
    return sum(10 + sheet.widest(column, SMALL) for column in columns)


def spread(wanted: Sequence[float], *, gap: float, low: float, high: float) -> tuple[float, ...]:
    """Places as near as may be to the wanted ones, in their order, at least `gap` apart.

    Examples
    --------
    >>> spread([5.0, 5.0, 30.0], gap=10, low=0, high=40)
    (0.0, 10.0, 30.0)
    """
    order = sorted(range(len(wanted)), key=lambda k: (wanted[k], k))
    # Least squares with gaps is isotonic regression of what is left after the gaps.
    blocks: list[tuple[float, int]] = []
    for rank, k in enumerate(order):
        mean, size = wanted[k] - rank * gap, 1
        while blocks and blocks[-1][0] > mean:
            other, count = blocks.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        blocks.append((mean, size))
    room = high - gap * (len(wanted) - 1)
    flat = [min(max(mean, low), max(room, low)) for mean, size in blocks for _ in range(size)]
    places = [0.0] * len(wanted)
    for rank, k in enumerate(order):
        places[k] = flat[rank] + rank * gap
    return tuple(places)
