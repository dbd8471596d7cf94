"""Axes of a picture: ticks that never touch, quiet grid lines, a title."""

from __future__ import annotations

from collections.abc import Sequence

from bestofk.report.figures.picture import SIZE, SMALL, Sheet
from bestofk.report.figures.scales import Scale, tick_words
from bestofk.report.figures.text_width import LINE, text_width

TICK = 3.0
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
) -> float:
    """A horizontal axis at `bottom` with grid lines up to `top`; where its words end.

    With `whole`, only whole numbers have ticks.
    """
    ticks, words = _apart(scale, whole=whole)
    if top is not None:
        for tick in ticks:
            sheet.line((scale(tick), top), (scale(tick), bottom), colour="wash", width=0.8)
    sheet.line((scale.start, bottom), (scale.end, bottom), colour="muted", width=0.8)
    y = bottom + TICK + 2 + SMALL * LINE / 2
    for tick, word in zip(ticks, words, strict=True):
        x = scale(tick)
        sheet.line((x, bottom), (x, bottom + TICK), colour="muted", width=0.8)
        sheet.say(x, y, word, size=SMALL, colour="muted", anchor="middle")
    y += SMALL * LINE / 2 + SIZE * LINE / 2 + 2
    sheet.say((scale.start + scale.end) / 2, y, title, anchor="middle")
    return y + SIZE * LINE / 2


def y_axis(sheet: Sheet, scale: Scale, *, left: float, right: float, title: str) -> None:
    """A vertical axis at `left` with grid lines to `right`; its title stands above it."""
    ticks = scale.ticks(max(2, int(abs(scale.end - scale.start) / 34)))
    for tick, word in zip(ticks, tick_words(ticks), strict=True):
        y = scale(tick)
        sheet.line((left, y), (right, y), colour="wash", width=0.8)
        sheet.say(left - 4, y, word, size=SMALL, colour="muted", anchor="end")
    sheet.say(left, min(scale.start, scale.end) - SIZE * LINE, title)


def _apart(scale: Scale, *, whole: bool) -> tuple[tuple[float, ...], Sequence[str]]:
    """The most ticks whose words stand clear of each other."""
    for most in range(8, 1, -1):
        ticks = tuple(tick for tick in scale.ticks(most) if not whole or tick == int(tick))
        words = (
            [f"{tick:g}" for tick in ticks] if whole or scale.kind == "log" else tick_words(ticks)
        )
        places = [scale(tick) for tick in ticks]
        half = [text_width(word, SMALL) / 2 + 3 for word in words]
        if all(
            abs(places[k + 1] - places[k]) >= half[k] + half[k + 1] for k in range(len(ticks) - 1)
        ):
            return ticks, words
    return ticks[:1], list(words)[:1]


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
