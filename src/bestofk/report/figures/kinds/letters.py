"""Compact letters: learners that share one are not shown to differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bestofk.multiple.compact_letters import compact_letters
from bestofk.report.figures.captions import aligned
from bestofk.report.figures.comparisons import two_sided_comparisons_of
from bestofk.report.figures.paper import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.report.figures.picture import Picture, Sheet
from bestofk.report.figures.text_width import LINE
from bestofk.wording import counted, printable


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
    value : NemenyiResult, PosthocResult, TukeyResult, NewmanKeulsResult, Order or Study
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
