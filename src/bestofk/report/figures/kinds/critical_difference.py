"""The critical difference diagram: scores on a line, bars over learners not shown to differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk._base.formatting import counted, printable, rounded
from bestofk.report.figures.axes import lanes_apart, ticks_apart, x_axis
from bestofk.report.figures.comparisons import (
    Comparisons,
    comparisons_of,
    decision_of,
    losses_of,
)
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper, name_size
from bestofk.stats.multiple import nemenyi

_MIN_LINE = 150.0
"""If the line would be shorter, the names go one below the other."""
_LANE = 6.0
"""Distance between parallel bars."""


def layout_critical_difference(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw learners by their scores, with a bar over those that are not shown to differ.

    Parameters
    ----------
    value : Decision or Study
    paper : Paper, optional

    Notes
    -----
    A bar joins all learners between its ends only if no two of them are shown to differ, including
    its ends and equal scores. Two learners that do not differ therefore share no bar if a learner
    between them differs from either.

    References
    ----------
    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 1-30.
    """
    return _diagram(comparisons_of(decision_of(value), intervals=False), paper)


def _diagram(pairs: Comparisons, paper: Paper) -> Picture:
    order = np.argsort(pairs.scores, kind="stable")
    scores = pairs.scores[order]
    K = len(order)
    bars = bars_of(scores, pairs.different[np.ix_(order, order)])
    sheet = Sheet(paper)
    size = name_size(K)
    half = (K + 1) // 2
    labels = sheet.labels([pairs.names[k] for k in order], paper.share(0.24, 280.0), size)
    numbers = rounded(scores.tolist(), pairs.uncertainty)
    number_width = sheet.widest(numbers, SMALL) + 6
    left_width = sheet.widest(labels[:half], size) + number_width
    # Coarse screens round letters to whole pixels, which lengthens long names.
    right_width = 1.03 * sheet.widest(labels[half:], size) + number_width
    start = 10 + left_width + 14
    line = paper.rest(start + 14 + right_width + 10, 360.0 if K <= 20 else 460.0)
    if line < _MIN_LINE:
        return _upright(sheet, pairs, order.tolist(), bars)
    end = start + line
    scale = _scale(pairs, scores, start, end)
    axis = 30.0
    if pairs.critical_difference is not None:
        axis = _ruler(sheet, scale, pairs.critical_difference)
    best = K - 1 if pairs.higher_is_better else 0
    title = f"{pairs.score_name}, the best at the {'right' if best else 'left'}"
    # Words above the line may reach over the names, which begin below it.
    sheet.write((start + end) / 2, axis - 22, title, size=SMALL, colour="muted", anchor="middle")
    sheet.line((start, axis), (end, axis), colour="ink", width=1.2)
    for tick, label in zip(*ticks_apart(sheet, scale), strict=True):
        sheet.line((scale(tick), axis - 3.5), (scale(tick), axis), colour="ink", width=0.9)
        sheet.write(scale(tick), axis - 9, label, size=SMALL, colour="muted", anchor="middle")
    positions = [scale(float(score)) for score in scores]
    lanes = lanes_apart([(positions[first], positions[last]) for first, last in bars], gap=7.0)
    below = axis + 9 + (max(lanes, default=-1) + 1) * _LANE + 6
    pitch = size * LINE_HEIGHT + 2.5
    for k, (x, label, number) in enumerate(zip(positions, labels, numbers, strict=True)):
        left = k < half
        # The outermost learners of each side have the shortest way down.
        row = k if left else K - 1 - k
        y = below + (row + 0.5) * pitch
        edge = start - 10 if left else end + 10
        colour = "blue" if k == best else "ink"
        sheet.line((x, axis), (x, y), (edge, y), colour="muted", width=0.8)
        sheet.dot(x, axis, 2.2, fill=colour)
        if left:
            sheet.write(edge - 4, y, number, size=SMALL, colour="muted", anchor="end")
            sheet.write(edge - 4 - number_width, y, label, size=size, colour=colour, anchor="end")
        else:
            sheet.write(edge + 4, y, number, size=SMALL, colour="muted")
            sheet.write(edge + 4 + number_width, y, label, size=size, colour=colour)
    for (first, last), lane in zip(bars, lanes, strict=True):
        y = axis + 9 + lane * _LANE
        # Extend the bar beyond its ends, to show which learners it includes.
        ends = positions[first] - 2.5, positions[last] + 2.5
        sheet.line((ends[0], y), (ends[1], y), colour="ink", width=3.2)
    width, bottom = end + 14 + right_width + 10, below + half * pitch
    return _finish(sheet, pairs, bars, labels[best], width, bottom + 6, scale)


def layout_critical_difference_ranks(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw learners by their average rank over the data sets, with Nemenyi's critical difference.

    Parameters
    ----------
    value : Scores, Study or Decision
        With several data sets.
    paper : Paper, optional

    Notes
    -----
    The diagram of Demsar (2006): ranks by data set and Nemenyi's test, at the alpha of the
    decision. The decision itself uses its own test, which may find other differences.

    References
    ----------
    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7, 1-30.
    """
    table = losses_of(value)
    assert table is not None
    alpha = getattr(getattr(value, "decision", value), "alpha", 0.05)
    result = nemenyi(table.by_dataset(), alpha)
    ranks = result.average_ranks
    apart = np.abs(ranks[:, None] - ranks) > result.critical_difference
    pairs = Comparisons(
        names=table.learners,
        scores=ranks,
        score_name="average rank",
        order=tuple(np.argsort(ranks, kind="stable").tolist()),
        pvalue=result.pvalues,
        better=np.sign(np.subtract.outer(ranks, ranks)).astype(np.int8) * apart,
        note=f"Nemenyi's test over {counted(result.blocks, 'data set')}, alpha = {alpha:g}.",
        alpha=alpha,
        # Average ranks have two decimals.
        uncertainty=0.1,
        critical_difference=result.critical_difference,
    )
    return _diagram(pairs, paper)


def _upright(
    sheet: Sheet, pairs: Comparisons, order: list[int], bars: tuple[tuple[int, int], ...]
) -> Picture:
    """Draw one row per learner by score, with upright bars beside those not shown to differ."""
    K = len(order)
    paper = sheet.paper
    size = name_size(K)
    pitch = size * LINE_HEIGHT + 3
    labels = sheet.labels([pairs.names[k] for k in order], paper.share(0.45, 280.0), size)
    # The best learner is on top for losses and for scores.
    rows = [K - 1 - k if pairs.higher_is_better else k for k in range(K)]
    spans = [(min(rows[a], rows[b]), max(rows[a], rows[b])) for a, b in bars]
    lanes = lanes_apart(spans, gap=1)
    beside = 12 + _LANE * (max(lanes, default=-1) + 1)
    start = 10 + sheet.widest(labels, size) + 10
    scores = pairs.scores[order]
    scale = _scale(pairs, scores, start, start + paper.rest(start + beside + 10, 300))
    top = 10.0
    if pairs.critical_difference is not None:
        top = _ruler(sheet, scale, pairs.critical_difference) - 24
    bottom = top + K * pitch + 2
    end = x_axis(sheet, scale, top=top, bottom=bottom, title=printable(pairs.score_name))
    best = K - 1 if pairs.higher_is_better else 0
    for k, label in enumerate(labels):
        x, y = scale(float(scores[k])), top + (rows[k] + 0.5) * pitch
        colour = "blue" if k == best else "ink"
        sheet.line((start, y), (x, y), colour="muted", width=0.8)
        sheet.dot(x, y, 2.6, fill=colour)
        sheet.write(start - 8, y, label, size=size, colour=colour, anchor="end")
    for (first, last), lane in zip(spans, lanes, strict=True):
        x = scale.end + 12 + _LANE * lane
        ends = (top + first * pitch + 2, top + (last + 1) * pitch - 2)
        sheet.line((x, ends[0]), (x, ends[1]), colour="ink", width=3.2)
    return _finish(sheet, pairs, bars, labels[best], scale.end + beside + 10, end + 6, scale)


def _scale(pairs: Comparisons, scores: Floats, start: float, end: float) -> Scale:
    """Return a scale of all possible ranks if there are few, otherwise of the scores."""
    low, high = around(float(scores[0]), float(scores[-1]))
    if pairs.score_name == "average rank" and len(scores) <= 12:
        low, high = 1.0, float(len(scores))
    return Scale(low=low, high=high, start=start, end=end)


def bars_of(scores: Floats, different: Bools) -> tuple[tuple[int, int], ...]:
    """Return the longest stretches of the line without a difference, as first and last index.

    Learners with equal scores share one position on the line: a bar covers all of them or none.
    """
    values, first_at = np.unique(scores, return_index=True)
    last_at = np.append(first_at[1:], len(scores)) - 1
    bars: list[tuple[int, int]] = []
    reach = 0  # no learner from here to the end differs from another
    for end in range(len(values)):
        stop = int(last_at[end])
        rows = np.arange(int(first_at[end]), stop + 1)
        clash = np.flatnonzero(different[: stop + 1, rows].any(axis=1))
        reach = max(reach, int(clash.max()) + 1 if len(clash) else 0)
        # Skip to the next distinct score, because a bar covers ties completely.
        index = int(np.searchsorted(first_at, reach))
        if index > end:
            continue
        start = int(first_at[index])
        if stop > start:
            if bars and bars[-1][0] == start:
                bars.pop()
            bars.append((start, stop))
    return tuple(bars)


def _ruler(sheet: Sheet, scale: Scale, critical_difference: float) -> float:
    """Draw the critical difference as a length; return the height of the axis below it."""
    length = critical_difference * (scale.end - scale.start) / (scale.high - scale.low)
    text = f"critical difference {critical_difference:.3g}"
    y = 12.0
    shown = min(length, scale.end - scale.start)
    sheet.line((scale.start, y), (scale.start + shown, y), colour="vermillion", width=1.6)
    for x in (scale.start, scale.start + shown):
        if x == scale.start or shown == length:
            sheet.line((x, y - 3), (x, y + 3), colour="vermillion", width=1.2)
    x = scale.start + shown + 6
    if x + sheet.text_width(text, SMALL) <= sheet.paper.rest(6.0, scale.end + 60):
        sheet.write(x, y, text, size=SMALL, colour="vermillion")
        return 50.0
    x = min(scale.start, sheet.paper.rest(6.0 + sheet.text_width(text, SMALL), 1e9))
    sheet.write(x, y + 11, text, size=SMALL, colour="vermillion")
    return 62.0


def _finish(
    sheet: Sheet,
    pairs: Comparisons,
    bars: tuple[tuple[int, int], ...],
    best: str,
    width: float,
    top: float,
    scale: Scale,
) -> Picture:
    joined = (
        "Bars join learners of which no two are shown to differ"
        if bars
        else "No bars: every two neighbours are shown to differ"
    )
    alt = (
        f"Critical difference diagram of {counted(len(pairs.names), 'learner')} by "
        f"{pairs.score_name}, {best} the best; {counted(len(bars), 'bar')} over learners that are "
        "not shown to differ."
    )
    return sheet.finish(width, top, note=f"{joined}. {pairs.note}", alt=alt, x_scale=scale)
