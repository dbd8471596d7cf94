"""Compact letters: learners that share one are not shown to differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, printable
from bestofk.report.figures.comparisons import aligned, two_sided_comparisons_of
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Sheet
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.stats.multiple.post_hoc import compact_letters
from bestofk.stats.multiple.result import learner_names


@dataclass(frozen=True, slots=True, kw_only=True)
class LettersLayout:
    """One row per learner, the best score on top, and one column per letter.

    Attributes
    ----------
    labels : tuple of str
    order : tuple of int
        Those learners as the result counts them.
    letters : tuple of tuple of str
        The letters of each.
    columns : tuple of float
        Where each letter stands.
    picture : Picture
    """

    labels: tuple[str, ...]
    order: tuple[int, ...]
    letters: tuple[tuple[str, ...], ...]
    columns: tuple[float, ...]
    picture: Picture


def layout_letters(value: Any, *, paper: Paper = ANY_PAPER, **options: Any) -> LettersLayout:
    """Place learners with their letters.

    Parameters
    ----------
    value : NemenyiResult, PosthocResult, TukeyResult, NewmanKeulsResult, Decision or Study
    paper : Paper, optional
        What it must fit.
    **options
        As for `comparisons_of`: `names`, `alpha`.
    """
    pairs = two_sided_comparisons_of(value, **options)
    order = pairs.by_score()
    found = compact_letters(pairs.different, order=order)
    K = len(order)
    size = SIZE if K <= 30 else SMALL
    pitch = size * LINE + 3
    sheet = Sheet(paper)
    numbers = aligned([float(pairs.scores[k]) for k in order])
    count = len(found.letters)
    step = max(sheet.widest(found.letters, SIZE) + 3, 9.0)
    least = paper.share(0.3, 90.0)
    beside = 12 + 14 + sheet.widest(numbers, SMALL) + 18 + 8
    # letters that have no room become dots in columns of their own
    written = paper.rest(beside + least, 1e9) >= (count + 0.5) * step
    if not written:
        step = min(step, paper.rest(beside + least, 1e9) / (count + 0.5))
    room = paper.rest(beside + (count + 0.5) * step, 230.0)
    labels = sheet.labels([pairs.names[k] for k in order], min(room, 230.0), size)
    at = 12 + sheet.widest(labels, size) + 14 + sheet.widest(numbers, SMALL)
    columns = tuple(at + 18 + step * c for c in range(count))
    top = 8.0
    # a thread down each column holds a letter's learners together
    rank = {learner: place for place, learner in enumerate(order)}
    for x, group in zip(columns, found.groups, strict=True):
        rows = sorted(rank[learner] for learner in group)
        sheet.line(
            (x, top + (rows[0] + 0.5) * pitch),
            (x, top + (rows[-1] + 0.5) * pitch),
            colour="wash",
            width=step * 0.8,
        )
    for k, learner in enumerate(order):
        y = top + (k + 0.5) * pitch
        sheet.say(12, y, labels[k], size=size, colour="blue" if k == 0 else "ink")
        sheet.say(at, y, numbers[k], size=SMALL, colour="muted", anchor="end")
        for x, letter, group in zip(columns, found.letters, found.groups, strict=True):
            if learner in group and written:
                sheet.say(x, y, letter, size=size, anchor="middle")
            elif learner in group:
                sheet.dot(x, y, min(2.4, 0.4 * step), fill="ink")
    width = columns[-1] + step / 2 + 8
    if paper.width is not None:
        sheet.shift((paper.width - width) / 2)
    width = paper.rest(0.0, max(width, 330.0))
    what = "letter" if written else "column with a dot"
    note = (
        f"By {pairs.score_name}, the best on top. Between learners that share a {what} there is no "
        f"evidence of a difference; those that share none differ significantly. {pairs.note}"
    )
    bottom = sheet.note(note, left=10, top=top + K * pitch + 6, width=width - 20)
    return LettersLayout(
        labels=labels,
        order=order,
        letters=tuple(found.of(learner) for learner in order),
        columns=columns,
        picture=sheet.picture(
            width,
            bottom + 6,
            alt=printable(
                f"{counted(K, 'learner')} with {counted(len(found.letters), 'letter')}; "
                f"{labels[0]} has the best {pairs.score_name}."
            ),
        ),
    )


# Newman-Keuls underlines: learners by mean loss, a line under those not shown to differ.


_ACROSS = 620.0
"""Names that fit in so many points stand side by side, others one below the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderlinesLayout:
    """Learners by ascending mean.

    Attributes
    ----------
    labels : tuple of str
    order : tuple of int
        Those learners as the result counts them.
    spans : tuple of (float, float)
        Where each name begins and ends, along the row (or down the column).
    underlines : tuple of (first, last)
        Places in `order`.
    across : bool
        Side by side, with lines under the names; else one below the other, with lines beside.
    picture : Picture
    """

    labels: tuple[str, ...]
    order: tuple[int, ...]
    spans: tuple[tuple[float, float], ...]
    underlines: tuple[tuple[int, int], ...]
    across: bool
    picture: Picture


def layout_underlines(
    value: Any, *, names: Sequence[object] | None = None, paper: Paper = ANY_PAPER
) -> UnderlinesLayout:
    """Place learners in the order of their means with the lines of the Newman-Keuls test.

    Parameters
    ----------
    value : NewmanKeulsResult
    names : sequence, optional
        Of the learners.
    paper : Paper, optional
        What it must fit.

    Examples
    --------
    >>> from bestofk import multiple
    >>> result = multiple.newman_keuls([[9, 10, 11], [1, 2, 3], [4, 5, 6], [2.5, 3.5, 4.5]])
    >>> layout = layout_underlines(result, names="abcd")
    >>> layout.labels, layout.underlines
    (('b', 'd', 'c', 'a'), ((0, 1), (1, 2)))
    """
    from bestofk.stats.multiple.range_tests import NewmanKeulsResult

    if not isinstance(value, NewmanKeulsResult):
        raise ArgumentError(
            f"figure 'underlines': a result of newman_keuls is needed; got {type(value).__name__}."
        )
    K = len(value.order)
    named = learner_names(None if names is None else [str(name) for name in names], K)
    at = {learner: place for place, learner in enumerate(value.order)}
    lines = tuple((at[line[0]], at[line[-1]]) for line in value.underlines)
    means = aligned([float(value.means[k]) for k in value.order])
    note = (
        "By ascending mean loss. A line: no evidence of a difference between the learners on it "
        f"(Newman-Keuls, alpha = {value.alpha:g} for each range)."
        + ("" if lines else " No lines: all differ.")
    )
    size = SIZE if K <= 30 else SMALL
    sheet = Sheet(paper)
    labels = sheet.labels([named[k] for k in value.order], 150.0, size)
    widths = [
        max(sheet.text_width(label, size), sheet.text_width(mean, SMALL))
        for label, mean in zip(labels, means, strict=True)
    ]
    across = sum(widths) + 18 * (K - 1) <= paper.rest(28.0, _ACROSS)
    place = _row if across else _column
    if not across:
        labels = sheet.labels([named[k] for k in value.order], paper.share(0.5, 230.0), size)
    spans, width, bottom = place(sheet, labels, means, widths, lines, size)
    if paper.width is not None:
        sheet.shift((paper.width - width) / 2)
    width = paper.rest(0.0, max(width, 330.0))
    bottom = sheet.note(note, left=10, top=bottom + 6, width=width - 20)
    alt = f"{counted(K, 'learner')} by mean loss, {counted(len(lines), 'line')} joining them."
    return UnderlinesLayout(
        labels=labels,
        order=value.order,
        spans=spans,
        underlines=lines,
        across=across,
        picture=sheet.picture(width, bottom + 6, alt=printable(alt)),
    )


_Spans = tuple[tuple[float, float], ...]


def _row(
    sheet: Sheet,
    labels: Sequence[str],
    means: Sequence[str],
    widths: Sequence[float],
    lines: tuple[tuple[int, int], ...],
    size: float,
) -> tuple[_Spans, float, float]:
    x = 14.0
    spans: list[tuple[float, float]] = []
    for label, mean, width in zip(labels, means, widths, strict=True):
        best = not spans
        sheet.say(
            x + width / 2, 14, label, size=size, anchor="middle", colour="blue" if best else "ink"
        )
        sheet.say(
            x + width / 2, 14 + size * LINE, mean, size=SMALL, colour="muted", anchor="middle"
        )
        spans.append((x, x + width))
        x += width + 18
    y = 14 + 2 * size * LINE
    for first, last in lines:
        sheet.line((spans[first][0], y), (spans[last][1], y), colour="ink", width=2.4)
        y += 7
    return tuple(spans), x - 18 + 14, y


def _column(
    sheet: Sheet,
    labels: Sequence[str],
    means: Sequence[str],
    widths: Sequence[float],
    lines: tuple[tuple[int, int], ...],
    size: float,
) -> tuple[_Spans, float, float]:
    del widths
    pitch, top = size * LINE + 3, 8.0
    spans = tuple((top + k * pitch, top + (k + 1) * pitch) for k in range(len(labels)))
    number_width, name_width = sheet.widest(means, SMALL), sheet.widest(labels, size)
    at = 12 + name_width + 12 + number_width
    for k, (label, mean) in enumerate(zip(labels, means, strict=True)):
        y = sum(spans[k]) / 2
        sheet.say(12, y, label, size=size, colour="blue" if k == 0 else "ink")
        sheet.say(at, y, mean, size=SMALL, colour="muted", anchor="end")
    # a line returns to the first free lane, so that few lanes hold many lines
    ends: list[int] = []
    lanes = []
    for first, last in lines:
        lane = next((k for k, end in enumerate(ends) if end < first), len(ends))
        ends[lane : lane + 1] = [last]
        lanes.append(lane)
    step = min(8.0, sheet.paper.rest(at + 14 + 12, 1e9) / max(len(ends), 1))
    for (first, last), lane in zip(lines, lanes, strict=True):
        x = at + 14 + step * lane
        sheet.line((x, spans[first][0] + 2), (x, spans[last][1] - 2), colour="ink", width=2.4)
    return spans, at + 14 + step * len(ends) + 8, spans[-1][1]
