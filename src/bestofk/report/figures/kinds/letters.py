"""Compact letters: learners that share one are not shown to differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bestofk.multiple.compact_letters import compact_letters
from bestofk.report.figures.captions import aligned
from bestofk.report.figures.comparisons import two_sided_comparisons_of
from bestofk.report.figures.paint import paint
from bestofk.report.figures.picture import SIZE, SMALL, Picture, Sheet
from bestofk.report.figures.text_width import LINE, all_fitted, widest
from bestofk.wording import counted, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def layout_letters(value: Any, **options: Any) -> LettersLayout:
    """Place learners with their letters.

    Parameters
    ----------
    value : NemenyiResult, PosthocResult, TukeyResult, NewmanKeulsResult, Order or Study
    **options
        As for `comparisons_of`: `names`, `alpha`.
    """
    pairs = two_sided_comparisons_of(value, **options)
    order = pairs.by_score()
    found = compact_letters(pairs.different, order=order)
    K = len(order)
    size = SIZE if K <= 30 else SMALL
    pitch = size * LINE + 3
    labels = all_fitted([pairs.names[k] for k in order], 230.0, size)
    numbers = aligned([float(pairs.scores[k]) for k in order])
    at = 12 + widest(labels, size) + 14 + widest(numbers, SMALL)
    step = max(widest(found.letters, SIZE) + 3, 9.0)
    columns = tuple(at + 18 + step * c for c in range(len(found.letters)))
    sheet = Sheet()
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
            if learner in group:
                sheet.say(x, y, letter, size=size, anchor="middle")
    width = max(columns[-1] + step + 8, 330.0)
    note = (
        f"By {pairs.score_name}, the best on top. Between learners that share a letter there is no "
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


def draw_letters(layout: LettersLayout, ax: Axes | None = None) -> Axes:
    """Draw the letters."""
    return paint(layout.picture, ax)
