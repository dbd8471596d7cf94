"""Axes of a picture, and labels moved apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Scale, Sheet, short_number, tick_words
from bestofk.report.figures.style import SIZE, SMALL

TICK_LENGTH = 3.0
EDGE = 4.0
"""Distance between words and the edge of the paper."""


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
    """Draw a horizontal axis at `bottom` with grid lines up to `top`; return where its words end.

    With `whole`, only whole numbers have ticks. The title stays between the ends of `within`, by
    default the edges of the paper.
    """
    ticks, tick_labels = ticks_apart(sheet, scale, whole=whole)
    if top is not None:
        for tick in ticks:
            sheet.line((scale(tick), top), (scale(tick), bottom), colour="wash", width=0.8)
    sheet.line((scale.start, bottom), (scale.end, bottom), colour="muted", width=0.8)
    y = bottom + TICK_LENGTH + 2 + SMALL * LINE_HEIGHT / 2
    for tick, label in zip(ticks, tick_labels, strict=True):
        x = scale(tick)
        sheet.line((x, bottom), (x, bottom + TICK_LENGTH), colour="muted", width=0.8)
        sheet.write(x, y, label, size=SMALL, colour="muted", anchor="middle")
    y += SMALL * LINE_HEIGHT / 2 + 2
    if within is None and sheet.paper.width is not None:
        within = (0.0, sheet.paper.width)
    middle = (scale.start + scale.end) / 2
    lines: tuple[str, ...] = (title,)
    if within is not None:
        lines = sheet.wrapped(title, within[1] - within[0] - 2 * EDGE, SIZE)
    for line in lines:
        x = middle
        if within is not None:
            half = sheet.text_width(line) / 2 + EDGE
            x = min(max(middle, within[0] + half), within[1] - half)
        sheet.write(x, y + SIZE * LINE_HEIGHT / 2, line, anchor="middle")
        y += SIZE * LINE_HEIGHT
    return y


def _y_ticks(scale: Scale) -> tuple[tuple[float, ...], tuple[str, ...]]:
    ticks = scale.ticks(max(2, int(abs(scale.end - scale.start) / 34)))
    return ticks, _tick_labels(scale, ticks)


def y_axis_left(sheet: Sheet, scale: Scale) -> float:
    """Return the leftmost position of a vertical axis whose tick labels are on the sheet."""
    return 8 + max(sheet.widest(_y_ticks(scale)[1], SMALL), 18.0) + 4


def y_axis(sheet: Sheet, scale: Scale, *, left: float, right: float, title: str) -> None:
    """Draw a vertical axis at `left` with grid lines to `right` and its title above it."""
    for tick, label in zip(*_y_ticks(scale), strict=True):
        y = scale(tick)
        sheet.line((left, y), (right, y), colour="wash", width=0.8)
        sheet.write(left - 4, y, label, size=SMALL, colour="muted", anchor="end")
    x = left
    if sheet.paper.width is not None:
        title = sheet.fitted(title, sheet.paper.width - 2 * EDGE)
        x = min(left, sheet.paper.width - EDGE - sheet.text_width(title))
    sheet.write(x, min(scale.start, scale.end) - SIZE * LINE_HEIGHT, title)


def _tick_labels(
    scale: Scale, ticks: tuple[float, ...], *, whole: bool = False
) -> tuple[str, ...]:  # fmt: skip
    if whole or scale.kind == "log":
        return tuple(map(short_number, ticks))
    return tick_words(ticks)


def ticks_apart(
    sheet: Sheet, scale: Scale, *, whole: bool = False
) -> tuple[tuple[float, ...], Sequence[str]]:  # fmt: skip
    """Return the most ticks whose labels do not touch and are on the sheet, and the labels."""
    right = sheet.paper.rest(0.0, float("inf"))
    for max_ticks in range(8, 1, -1):
        ticks = tuple(tick for tick in scale.ticks(max_ticks) if not whole or tick == int(tick))
        ticks = tuple(
            tick
            for tick, label in zip(ticks, _tick_labels(scale, ticks, whole=whole), strict=True)
            if sheet.text_width(label, SMALL) / 2 <= min(scale(tick), right - scale(tick))
        )
        labels = _tick_labels(scale, ticks, whole=whole)
        spans = [
            (scale(tick), sheet.text_width(label, SMALL) / 2 + 3)
            for tick, label in zip(ticks, labels, strict=True)
        ]
        if all(abs(b - a) >= half_a + half_b for (a, half_a), (b, half_b) in pairwise(spans)):
            return ticks, labels
    return ticks[:1], labels[:1]


def spread(targets: Sequence[float], *, gap: float, low: float, high: float) -> tuple[float, ...]:
    """Return positions close to the targets, in the same order and at least `gap` apart.

    Examples
    --------
    >>> spread([5.0, 5.0, 30.0], gap=10, low=0, high=40)
    (0.0, 10.0, 30.0)
    """
    order = sorted(range(len(targets)), key=lambda k: (targets[k], k))
    # Least squares with gaps is isotonic regression of the targets minus the gaps.
    blocks: list[tuple[float, int]] = []
    for rank, k in enumerate(order):
        mean, size = targets[k] - rank * gap, 1
        while blocks and blocks[-1][0] > mean:
            other, count = blocks.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        blocks.append((mean, size))
    limit = max(high - gap * (len(targets) - 1), low)
    flat = [min(max(mean, low), limit) for mean, size in blocks for _ in range(size)]
    positions = [0.0] * len(targets)
    for rank, k in enumerate(order):
        positions[k] = flat[rank] + rank * gap
    return tuple(positions)


def lanes_apart(spans: Sequence[tuple[float, float]], *, gap: float) -> tuple[int, ...]:
    """Return a lane for each span, so that spans in one lane are at least `gap` apart.

    Examples
    --------
    >>> lanes_apart([(0, 2), (1, 3), (3, 4)], gap=1)
    (0, 1, 0)
    """
    ends: list[float] = []
    lanes = [0] * len(spans)
    for k in sorted(range(len(spans)), key=lambda k: spans[k]):
        first, last = spans[k]
        lane = next((index for index, end in enumerate(ends) if first - end >= gap), len(ends))
        ends[lane : lane + 1] = [last]
        lanes[k] = lane
    return tuple(lanes)
