"""The critical difference diagram: scores on a line, bars where no difference is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk._base.formatting import counted, printable
from bestofk.report.figures.axes import ticks_apart, x_axis
from bestofk.report.figures.comparisons import Comparisons, aligned, two_sided_comparisons_of
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper

_SHORTEST = 150.0
"""A line that would be shorter gives way to names one below the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalDifferenceLayout:
    """Learners on a line: small scores at the left, so that the best of a loss stands there.

    Attributes
    ----------
    labels : tuple of str
        By ascending score.
    order : tuple of int
        Those learners as the result counts them.
    places : tuple of float
        Where each stands on the line, in points.
    bars : tuple of (first, last)
        Places in `order` that a bar reaches from and to. Nobody under a bar, its ends included,
        differs from anybody else under it.
    bar_heights : tuple of float
        How far down each bar is drawn; how far to the right in an upright figure.
    upright : bool
        Names one below the other with upright bars, where a line has no room between the names.
    picture : Picture
    """

    labels: tuple[str, ...]
    order: tuple[int, ...]
    places: tuple[float, ...]
    bars: tuple[tuple[int, int], ...]
    bar_heights: tuple[float, ...]
    upright: bool
    picture: Picture


def layout_critical_difference(
    value: Any, *, paper: Paper = ANY_PAPER, **options: Any
) -> CriticalDifferenceLayout:
    """Place learners by their scores and join those that are not shown to differ.

    Parameters
    ----------
    value : NemenyiResult, PosthocResult, TukeyResult, NewmanKeulsResult, Decision or Study
    paper : Paper, optional
        What it must fit.
    **options
        As for `comparisons_of`: `names`, `alpha`.

    Notes
    -----
    A bar joins all learners between its ends only if no two of them are shown to differ, ends
    and equal scores included; two that are not may therefore stand under no common bar where one
    between them differs from either. Compact letters show every pair.

    References
    ----------
    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 1-30.
    """
    pairs = two_sided_comparisons_of(value, **options)
    order = np.argsort(pairs.scores, kind="stable")
    scores = pairs.scores[order]
    K = len(order)
    bars = bars_of(scores, pairs.different[np.ix_(order, order)])
    sheet = Sheet(paper)
    size = SIZE if K <= 30 else SMALL
    half = (K + 1) // 2
    labels = sheet.labels([pairs.names[k] for k in order], paper.share(0.24, 190.0), size)
    numbers = aligned(scores.tolist())
    number_width = sheet.widest(numbers, SMALL) + 6
    left_width = sheet.widest(labels[:half], size) + number_width
    right_width = sheet.widest(labels[half:], size) + number_width
    start = 10 + left_width + 14
    line = paper.rest(start + 14 + right_width + 10, 360.0 if K <= 20 else 460.0)
    if line < _SHORTEST:
        return _upright(sheet, pairs, order.tolist(), bars)
    end = start + line
    low, high = _ends(pairs, scores)
    scale = Scale(low=low, high=high, start=start, end=end)
    axis = 30.0
    if pairs.critical_difference is not None:
        axis = _ruler(sheet, scale, pairs.critical_difference)
    best = K - 1 if pairs.higher_is_better else 0
    title = f"{pairs.score_name}, the best at the {'right' if best else 'left'}"
    # names begin below the line, so words above it may reach out over them
    sheet.say((start + end) / 2, axis - 22, title, size=SMALL, colour="muted", anchor="middle")
    ticks, words = ticks_apart(sheet, scale)
    sheet.line((start, axis), (end, axis), colour="ink", width=1.2)
    for tick, word in zip(ticks, words, strict=True):
        sheet.line((scale(tick), axis - 3.5), (scale(tick), axis), colour="ink", width=0.9)
        sheet.say(scale(tick), axis - 9, word, size=SMALL, colour="muted", anchor="middle")
    places = tuple(scale(float(score)) for score in scores)
    lanes = _lanes(bars, places)
    step = 6.0
    heights = tuple(axis + 9 + lane * step for lane in lanes)
    below = axis + 9 + (max(lanes, default=-1) + 1) * step + 6
    pitch = size * LINE + 2.5
    for k, (x, label, number) in enumerate(zip(places, labels, numbers, strict=True)):
        left = k < half
        # the outermost of each side have the shortest way down
        row = k if left else K - 1 - k
        y = below + (row + 0.5) * pitch
        edge = start - 10 if left else end + 10
        colour = "blue" if k == best else "ink"
        sheet.line((x, axis), (x, y), (edge, y), colour="faint", width=0.8)
        sheet.dot(x, axis, 2.2, fill=colour)
        if left:
            sheet.say(edge - 4, y, number, size=SMALL, colour="muted", anchor="end")
            sheet.say(edge - 4 - number_width, y, label, size=size, colour=colour, anchor="end")
        else:
            sheet.say(edge + 4, y, number, size=SMALL, colour="muted")
            sheet.say(edge + 4 + number_width, y, label, size=size, colour=colour)
    for (first, last), height in zip(bars, heights, strict=True):
        # a little beyond the ends, so that it is seen whom it holds
        ends = places[first] - 2.5, places[last] + 2.5
        sheet.line((ends[0], height), (ends[1], height), colour="ink", width=3.2)
    bottom = below + half * pitch + 6
    width = end + 14 + right_width + 10
    bottom = sheet.note(_reading(pairs, bars), left=10, top=bottom, width=width - 20)
    return CriticalDifferenceLayout(
        labels=labels,
        order=tuple(order.tolist()),
        places=places,
        bars=bars,
        bar_heights=heights,
        upright=False,
        picture=sheet.picture(
            width, bottom + 6, alt=_alt(pairs, labels[best], bars), x_scale=scale
        ),
    )


def _ends(pairs: Comparisons, scores: Floats) -> tuple[float, float]:
    """The ends of the line: all possible ranks where there are few."""
    if pairs.score_name == "average rank" and len(scores) <= 12:
        return 1.0, float(len(scores))
    return around(float(scores[0]), float(scores[-1]))


def _reading(pairs: Comparisons, bars: tuple[tuple[int, int], ...]) -> str:
    joined = (
        "Bars join learners without evidence of a difference between any two of them"
        if bars
        else "No bars: every two neighbours differ significantly"
    )
    return f"{joined}. {pairs.note}"


def _upright(
    sheet: Sheet, pairs: Comparisons, order: list[int], bars: tuple[tuple[int, int], ...]
) -> CriticalDifferenceLayout:
    """One row per learner by score, and upright bars beside those not shown to differ."""
    K = len(order)
    paper = sheet.paper
    size = SIZE if K <= 30 else SMALL
    pitch = size * LINE + 3
    labels = sheet.labels([pairs.names[k] for k in order], paper.share(0.36, 190.0), size)
    # the best on top, whatever the direction of the score
    turned = pairs.higher_is_better
    rows = [K - 1 - k if turned else k for k in range(K)]
    spans = [sorted((rows[first], rows[last])) for first, last in bars]
    lanes = _lanes_apart([(first, last) for first, last in spans])
    beside = 12 + 6.0 * (max(lanes, default=-1) + 1)
    start = 10 + sheet.widest(labels, size) + 10
    scores = pairs.scores[order]
    low, high = _ends(pairs, scores)
    scale = Scale(low=low, high=high, start=start, end=start + paper.rest(start + beside + 10, 300))
    top = 10.0
    if pairs.critical_difference is not None:
        top = _ruler(sheet, scale, pairs.critical_difference) - 24
    bottom = top + K * pitch + 2
    end = x_axis(sheet, scale, top=top, bottom=bottom, title=printable(pairs.score_name))
    best = K - 1 if turned else 0
    places = tuple(scale(float(score)) for score in scores)
    for k, (x, label) in enumerate(zip(places, labels, strict=True)):
        y = top + (rows[k] + 0.5) * pitch
        colour = "blue" if k == best else "ink"
        sheet.line((start, y), (x, y), colour="faint", width=0.8)
        sheet.dot(x, y, 2.6, fill=colour)
        sheet.say(start - 8, y, label, size=size, colour=colour, anchor="end")
    heights = tuple(scale.end + 12 + 6.0 * lane for lane in lanes)
    for (first, last), x in zip(spans, heights, strict=True):
        ends = (top + first * pitch + 2, top + (last + 1) * pitch - 2)
        sheet.line((x, ends[0]), (x, ends[1]), colour="ink", width=3.2)
    width = scale.end + beside + 10
    end = sheet.note(_reading(pairs, bars), left=10, top=end + 6, width=width - 20)
    return CriticalDifferenceLayout(
        labels=labels,
        order=tuple(order),
        places=places,
        bars=bars,
        bar_heights=heights,
        upright=True,
        picture=sheet.picture(width, end + 6, alt=_alt(pairs, labels[best], bars), x_scale=scale),
    )


def _lanes_apart(spans: list[tuple[int, int]]) -> tuple[int, ...]:
    """Lanes for upright bars: those of one lane share no row."""
    ends: list[int] = []
    lanes = [0] * len(spans)
    for k in sorted(range(len(spans)), key=lambda k: spans[k]):
        first, last = spans[k]
        lane = next((at for at, end in enumerate(ends) if end < first), len(ends))
        ends[lane : lane + 1] = [last]
        lanes[k] = lane
    return tuple(lanes)


def bars_of(scores: Floats, different: Bools) -> tuple[tuple[int, int], ...]:
    """Largest stretches of the line on which no two learners differ, as first and last place.

    Learners with equal scores stand at one place of the line: a bar holds all of them or none.
    """
    values, first_at = np.unique(scores, return_index=True)
    last_at = np.append(first_at[1:], len(scores)) - 1
    bars: list[tuple[int, int]] = []
    reach = 0  # nobody from here on differs from anybody up to the end
    for end in range(len(values)):
        stop = int(last_at[end])
        rows = np.arange(int(first_at[end]), stop + 1)
        clash = np.flatnonzero(different[: stop + 1, rows].any(axis=1))
        reach = max(reach, int(clash.max()) + 1 if len(clash) else 0)
        # a tie is taken whole: move on to the next distinct score
        at = int(np.searchsorted(first_at, reach))
        if at > end:
            continue
        start = int(first_at[at])
        if stop > start:
            if bars and bars[-1][0] == start:
                bars.pop()
            bars.append((start, stop))
    return tuple(bars)


def _lanes(bars: tuple[tuple[int, int], ...], places: tuple[float, ...]) -> tuple[int, ...]:
    """Bars of one lane stand clear of each other, so that two are never taken for one."""
    ends: list[float] = []
    lanes = []
    for first, last in bars:
        clear = places[first] - 7.0
        lane = next((k for k, end in enumerate(ends) if end <= clear), len(ends))
        ends[lane : lane + 1] = [places[last]]
        lanes.append(lane)
    return tuple(lanes)


def _ruler(sheet: Sheet, scale: Scale, critical_difference: float) -> float:
    """The critical difference as a length; the height of the axis below it."""
    length = critical_difference * (scale.end - scale.start) / (scale.high - scale.low)
    words = f"critical difference {critical_difference:.3g}"
    y = 12.0
    shown = min(length, scale.end - scale.start)
    sheet.line((scale.start, y), (scale.start + shown, y), colour="vermillion", width=1.6)
    for x in (scale.start, scale.start + shown):
        if x == scale.start or shown == length:
            sheet.line((x, y - 3), (x, y + 3), colour="vermillion", width=1.2)
    at = scale.start + shown + 6
    if at + sheet.text_width(words, SMALL) <= sheet.paper.rest(6.0, scale.end + 60):
        sheet.say(at, y, words, size=SMALL, colour="vermillion")
    else:
        x = min(scale.start, sheet.paper.rest(6.0 + sheet.text_width(words, SMALL), 1e9))
        sheet.say(x, y + 11, words, size=SMALL, colour="vermillion")
        return 62.0
    return 50.0


def _alt(pairs: Comparisons, best: str, bars: tuple[tuple[int, int], ...]) -> str:
    return printable(
        f"Critical difference diagram of {counted(len(pairs.names), 'learner')} by "
        f"{pairs.score_name}, {best} the best; {counted(len(bars), 'bar')} over learners without "
        "evidence of a difference."
    )
