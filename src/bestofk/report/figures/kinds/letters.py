"""Compact letters: groups of learners not shown to differ."""

from __future__ import annotations

from typing import Any

from bestofk._base.formatting import counted
from bestofk.report.figures.comparisons import aligned, two_sided_comparisons_of
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Sheet
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, name_size
from bestofk.stats.multiple.post_hoc import compact_letters


def layout_letters(value: Any, *, paper: Paper = ANY_PAPER, **options: Any) -> Picture:
    """Draw one row per learner, the best score on top, and one column per letter.

    Parameters
    ----------
    value : NemenyiResult, TukeyResult, NewmanKeulsResult, Decision or Study
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
    width = centred(sheet, columns[-1] + step / 2 + 8)
    what = "letter" if written else "column with a dot"
    return sheet.finish(
        width,
        top + K * pitch + 6,
        note=f"By {pairs.score_name}, the best on top. Learners that share a {what} are not "
        f"shown to differ; those that share none are. {pairs.note}",
        alt=f"{counted(K, 'learner')} with {counted(count, 'letter')}; {labels[0]} has the best "
        f"{pairs.score_name}.",
    )


def centred(sheet: Sheet, width: float) -> float:
    """Centre what was drawn on the paper; return the width of the picture."""
    if sheet.paper.width is None:
        return max(width, 330.0)
    sheet.shift((sheet.paper.width - width) / 2)
    return sheet.paper.width
