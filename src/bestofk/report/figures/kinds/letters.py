"""Compact letters and Newman-Keuls underlines: groups of learners not shown to differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bestofk._base.formatting import counted
from bestofk.report.figures.axes import lanes_apart
from bestofk.report.figures.comparisons import aligned, two_sided_comparisons_of
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Sheet
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, name_size
from bestofk.stats.multiple.post_hoc import compact_letters
from bestofk.stats.multiple.result import learner_names


def layout_letters(value: Any, *, paper: Paper = ANY_PAPER, **options: Any) -> Picture:
    """Draw one row per learner, the best score on top, and one column per letter.

    Parameters
    ----------
    value : NemenyiResult, PosthocResult, TukeyResult, NewmanKeulsResult, Decision or Study
    paper : Paper, optional
    **options
        As for `comparisons_of`: `names`, `alpha`.
    """
    pairs = two_sided_comparisons_of(value, **options)
    order = pairs.by_score()
    compact = compact_letters(pairs.different, order=order)
    K = len(order)
    size = name_size(K)
    pitch = size * LINE_HEIGHT + 3
    sheet = Sheet(paper)
    numbers = aligned([float(pairs.scores[k]) for k in order])
    count = len(compact.letters)
    step = max(sheet.widest(compact.letters, SIZE) + 3, 9.0)
    beside = 12 + 14 + sheet.widest(numbers, SMALL) + 18 + 8
    free = paper.rest(beside + paper.share(0.3, 90.0), 1e9)
    # If the letters do not fit, draw dots in narrower columns.
    written = free >= (count + 0.5) * step
    if not written:
        step = min(step, free / (count + 0.5))
    name_width = min(paper.rest(beside + (count + 0.5) * step, 230.0), 230.0)
    labels = sheet.labels([pairs.names[k] for k in order], name_width, size)
    number_right = 12 + sheet.widest(labels, size) + 14 + sheet.widest(numbers, SMALL)
    columns = [number_right + 18 + step * c for c in range(count)]
    top = 8.0
    rank = {learner: index for index, learner in enumerate(order)}
    for x, group in zip(columns, compact.groups, strict=True):
        ends = [top + (end(rank[learner] for learner in group) + 0.5) * pitch for end in (min, max)]
        sheet.line((x, ends[0]), (x, ends[1]), colour="wash", width=step * 0.8)
    for k, learner in enumerate(order):
        y = top + (k + 0.5) * pitch
        sheet.write(12, y, labels[k], size=size, colour="blue" if k == 0 else "ink")
        sheet.write(number_right, y, numbers[k], size=SMALL, colour="muted", anchor="end")
        for x, letter, group in zip(columns, compact.letters, compact.groups, strict=True):
            if learner in group and written:
                sheet.write(x, y, letter, size=size, anchor="middle")
            elif learner in group:
                sheet.dot(x, y, min(2.4, 0.4 * step), fill="ink")
    width = _centred(sheet, columns[-1] + step / 2 + 8)
    what = "letter" if written else "column with a dot"
    return sheet.finish(
        width,
        top + K * pitch + 6,
        note=f"By {pairs.score_name}, the best on top. Learners that share a {what} are not "
        f"shown to differ; those that share none are. {pairs.note}",
        alt=f"{counted(K, 'learner')} with {counted(count, 'letter')}; {labels[0]} has the best "
        f"{pairs.score_name}.",
    )


def _centred(sheet: Sheet, width: float) -> float:
    """Centre what was drawn on the paper; return the width of the picture."""
    if sheet.paper.width is None:
        return max(width, 330.0)
    sheet.shift((sheet.paper.width - width) / 2)
    return sheet.paper.width


_MAX_ROW = 620.0
"""Names that fit into this width are drawn in a row, others in a column."""


def layout_underlines(
    value: Any, *, names: Sequence[object] | None = None, paper: Paper = ANY_PAPER
) -> Picture:
    """Draw learners by ascending mean, with the lines of the Newman-Keuls test.

    Parameters
    ----------
    value : NewmanKeulsResult
    names : sequence, optional
        Names of the learners.
    paper : Paper, optional

    Examples
    --------
    >>> from bestofk import multiple
    >>> result = multiple.newman_keuls([[9, 10, 11], [1, 2, 3], [4, 5, 6], [2.5, 3.5, 4.5]])
    >>> layout_underlines(result, names="abcd").alt
    '4 learners by mean loss, 2 lines joining them.'
    """
    K = len(value.order)
    strings = learner_names(None if names is None else [str(name) for name in names], K)
    ordered = [strings[k] for k in value.order]
    rank = {learner: index for index, learner in enumerate(value.order)}
    lines = [(rank[line[0]], rank[line[-1]]) for line in value.underlines]
    means = aligned([float(value.means[k]) for k in value.order])
    size = name_size(K)
    sheet = Sheet(paper)
    labels = sheet.labels(ordered, 150.0, size)
    widths = [
        max(sheet.text_width(label, size), sheet.text_width(mean, SMALL))
        for label, mean in zip(labels, means, strict=True)
    ]
    if sum(widths) + 18 * (K - 1) <= paper.rest(28.0, _MAX_ROW):
        width, bottom = _row(sheet, labels, means, widths, lines)
    else:
        labels = sheet.labels(ordered, paper.share(0.5, 230.0), size)
        width, bottom = _column(sheet, labels, means, lines)
    return sheet.finish(
        _centred(sheet, width),
        bottom + 6,
        note="By ascending mean loss. A line: the learners on it are not shown to differ "
        f"(Newman-Keuls, alpha = {value.alpha:g} for each range)."
        + ("" if lines else " No lines: all differ."),
        alt=f"{counted(K, 'learner')} by mean loss, {counted(len(lines), 'line')} joining them.",
    )


def _row(
    sheet: Sheet,
    labels: Sequence[str],
    means: Sequence[str],
    widths: Sequence[float],
    lines: Sequence[tuple[int, int]],
) -> tuple[float, float]:
    """Draw the names side by side with lines below them; return where they end."""
    size = name_size(len(labels))
    height = size * LINE_HEIGHT
    left = 14.0
    spans: list[tuple[float, float]] = []
    for label, mean, width in zip(labels, means, widths, strict=True):
        colour = "ink" if spans else "blue"
        x = left + width / 2
        sheet.write(x, 14, label, size=size, anchor="middle", colour=colour)
        sheet.write(x, 14 + height, mean, size=SMALL, colour="muted", anchor="middle")
        spans.append((left, left + width))
        left += width + 18
    y = 14 + 2 * height
    for first, last in lines:
        sheet.line((spans[first][0], y), (spans[last][1], y), colour="ink", width=2.4)
        y += 7
    return left - 18 + 14, y


def _column(
    sheet: Sheet, labels: Sequence[str], means: Sequence[str], lines: Sequence[tuple[int, int]]
) -> tuple[float, float]:
    """Draw the names one below the other with lines beside them; return where they end."""
    size = name_size(len(labels))
    pitch, top = size * LINE_HEIGHT + 3, 8.0
    right = 12 + sheet.widest(labels, size) + 12 + sheet.widest(means, SMALL)
    for k, (label, mean) in enumerate(zip(labels, means, strict=True)):
        y = top + (k + 0.5) * pitch
        sheet.write(12, y, label, size=size, colour="blue" if k == 0 else "ink")
        sheet.write(right, y, mean, size=SMALL, colour="muted", anchor="end")
    lanes = lanes_apart(lines, gap=1)
    count = max(lanes, default=-1) + 1
    step = min(8.0, sheet.paper.rest(right + 14 + 12, 1e9) / max(count, 1))
    for (first, last), lane in zip(lines, lanes, strict=True):
        x = right + 14 + step * lane
        ends = (top + first * pitch + 2, top + (last + 1) * pitch - 2)
        sheet.line((x, ends[0]), (x, ends[1]), colour="ink", width=2.4)
    return right + 14 + step * count + 8, top + len(labels) * pitch
