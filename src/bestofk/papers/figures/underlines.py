"""Newman-Keuls underlines: groups of learners not shown to differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bestofk._base.formatting import counted
from bestofk.report.figures.axes import lanes_apart
from bestofk.report.figures.comparisons import aligned
from bestofk.report.figures.kinds.letters import centred
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Sheet
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper, name_size
from bestofk.stats.multiple.result import learner_names

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
    >>> from bestofk.papers.stats import newman_keuls
    >>> result = newman_keuls([[9, 10, 11], [1, 2, 3], [4, 5, 6], [2.5, 3.5, 4.5]])
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
        centred(sheet, width),
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
