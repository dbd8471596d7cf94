"""The simplex: how probable better, equivalent and worse are, as places in a triangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.report.figures.axis_marks import columns_beside, columns_width, spread
from bestofk.report.figures.kinds.posteriors.posteriors import (
    PairPosterior,
    Posteriors,
    posteriors_of,
    share,
)
from bestofk.report.figures.paper import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.report.figures.picture import Anchor, Picture, Point, Sheet
from bestofk.report.figures.text_width import LINE
from bestofk.wording import counted, number, printable

_SIDE = 280.0
_SURE = 0.95
"""A probability that is called decided."""
_DRAWS = 1500
_LOOKS = {"worse": "vermillion", "equivalent": "ink", "better": "green"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimplexLayout:
    """A triangle: worse at the right, better at the left, equivalent on top.

    Attributes
    ----------
    labels : tuple of str
    names : tuple of names
    probabilities : tuple of (better, equivalent, worse)
    points : tuple of points
        Where each learner stands.
    corners : (better, worse, equivalent)
        Of the triangle.
    draws : tuple of points
        Of one pair tested by signed ranks: where draws from the posterior stand.
    picture : Picture
    """

    labels: tuple[str, ...]
    names: tuple[object, ...]
    probabilities: tuple[tuple[float, float, float], ...]
    points: tuple[Point, ...]
    corners: tuple[Point, Point, Point]
    draws: tuple[Point, ...]
    picture: Picture


def layout_simplex(
    value: Any, *, names: Sequence[str] | None = None, paper: Paper = ANY_PAPER
) -> SimplexLayout:
    """Place every learner by how probably it is better than, equivalent to or worse than another.

    Parameters
    ----------
    value : PosteriorResult, Order or Study
        A result of `correlated_t` or `signed_rank_bayes`; or a decision with a rope, whose other
        learners are then compared with the recommended one.
    names : two str, optional
        Of the learners of a PosteriorResult.
    paper : Paper, optional
        What it must fit.

    References
    ----------
    A. Benavoli, G. Corani, J. Demsar and M. Zaffalon (2017). Time for a change: a tutorial for
    comparing multiple classifiers through Bayesian analysis. Journal of Machine Learning
    Research 18(77), 1-36.

    Examples
    --------
    >>> from bestofk import pairwise
    >>> r = pairwise.correlated_t([0.30, 0.25, 0.28, 0.27], [0.26, 0.24, 0.23, 0.25], rope=0.01,
    ...     rho=0.25)
    >>> [round(p, 2) for p in layout_simplex(r).probabilities[0]]
    [0.03, 0.09, 0.88]
    """
    found = posteriors_of(value, "simplex", names)
    sheet = Sheet(paper)
    return _single(sheet, found) if len(found.pairs) == 1 else _several(sheet, found)


def _corners(left: float, top: float, side: float) -> tuple[Point, Point, Point]:
    tall = side * sqrt(3) / 2
    return (left, top + tall), (left + side, top + tall), (left + side / 2, top)


def _single(sheet: Sheet, found: Posteriors) -> SimplexLayout:
    """One pair: the names and the probabilities stand at the corners."""
    pair = found.pairs[0]
    paper = sheet.paper
    side = min(_SIDE, paper.rest(28.0, _SIDE))
    width = paper.rest(0.0, side + 28)
    one, other = sheet.labels((pair.name, pair.other), side / 2 + 2)
    corners = _corners((width - side) / 2, 8 + SIZE * LINE + 6, side)
    _triangle(sheet, corners)
    below = corners[0][1] + 4 + SIZE * LINE / 2
    said: tuple[tuple[float, Anchor, str, float, str], ...] = (
        (corners[0][0] - 6, "start", one, pair.better, "green"),
        (corners[1][0] + 6, "end", other, pair.worse, "vermillion"),
    )
    for x, anchor, name, probability, colour in said:
        sheet.say(x, below, name, colour=colour, anchor=anchor)
        word = f"better: {share(probability)}"
        sheet.say(x, below + SIZE * LINE, word, colour=colour, anchor=anchor)
    word = f"equivalent: {share(pair.equivalent)}"
    sheet.say(corners[2][0], corners[2][1] - 4 - SIZE * LINE / 2, word, anchor="middle")
    draws = _draws(found, corners)
    for draw in draws:
        sheet.dot(*draw, 0.9, fill="blue", opacity=0.3)
    point = _place((pair.better, pair.worse, pair.equivalent), corners)
    if not draws:
        # shares that are drawn and the probabilities that count them are two things
        _mark(sheet, pair, point)
    end = below + 1.5 * SIZE * LINE
    note = _reading(found, other, draws=bool(draws))
    end = sheet.note(note, left=10, top=end + 6, width=width - 20)
    return _layout(sheet, found, (one,), (point,), corners, draws, (width, end + 6))


def _several(sheet: Sheet, found: Posteriors) -> SimplexLayout:
    """Learners against one other: a mark each, names and probabilities beside the triangle."""
    pairs, paper = found.pairs, sheet.paper
    other, *labels = sheet.labels(
        [pairs[0].other, *(pair.name for pair in pairs)], paper.share(0.28, 150.0), SMALL
    )
    pitch = SMALL * LINE + 1
    columns: list[tuple[str, ...]] = [
        (word, *(share(getattr(pair, word)) for pair in pairs))
        for word in ("better", "equivalent", "worse")
    ]
    names_wide = sheet.widest(labels, SMALL)

    def side_of() -> float:
        beside = 10 + 24 + names_wide + columns_width(sheet, columns) + 10
        return min(_SIDE, paper.rest(10 + beside, _SIDE))

    if side_of() < 150.0:
        # the places tell the probabilities
        columns.clear()
    side, top = side_of(), 8 + SIZE * LINE + 6
    corners = _corners(10.0, top, side)
    tall = corners[0][1] - top
    height = max(tall, (len(pairs) + 1) * pitch - 12)
    _triangle(sheet, corners)
    below = corners[0][1] + 4 + SIZE * LINE / 2
    sheet.say(corners[0][0] - 4, below, "better", colour="green")
    sheet.say(corners[1][0] + 4, below, "worse", colour="vermillion", anchor="end")
    sheet.say(corners[2][0], top - 4 - SIZE * LINE / 2, "equivalent", anchor="middle")
    points = tuple(_place((p.better, p.worse, p.equivalent), corners) for p in pairs)
    edge = corners[1][0] + 24
    places = spread([y for _, y in points], gap=pitch, low=top + pitch / 2, high=top + height)
    for point, y in zip(points, places, strict=True):
        sheet.line(point, (edge - 3, y), colour="faint", width=0.5)
    for pair, point, label, y in zip(pairs, points, labels, places, strict=True):
        _mark(sheet, pair, point)
        sheet.say(edge, y, label, size=SMALL, colour=_LOOKS[pair.words])
    heading = min(places) - pitch
    end_x = columns_beside(sheet, columns, left=edge + names_wide, heading=heading, rows=places)
    width = paper.rest(0.0, end_x + 10)
    end = top + height + 4 + SIZE * LINE
    end = sheet.note(_reading(found, other), left=10, top=end + 6, width=width - 20)
    return _layout(sheet, found, tuple(labels), points, corners, (), (width, end + 6))


def _layout(
    sheet: Sheet,
    found: Posteriors,
    labels: tuple[str, ...],
    points: tuple[Point, ...],
    corners: tuple[Point, Point, Point],
    draws: tuple[Point, ...],
    size: tuple[float, float],
) -> SimplexLayout:
    return SimplexLayout(
        labels=labels,
        names=tuple(pair.name for pair in found.pairs),
        probabilities=tuple((p.better, p.equivalent, p.worse) for p in found.pairs),
        points=points,
        corners=corners,
        draws=draws,
        picture=sheet.picture(*size, alt=_alt(found)),
    )


def _mark(sheet: Sheet, pair: PairPosterior, point: Point) -> None:
    """Filled where one of the three is decided."""
    sure = max(pair.worse, pair.equivalent, pair.better) >= _SURE
    colour = _LOOKS[pair.words]
    sheet.dot(*point, 3.4, fill=colour if sure else "paper", colour=colour, width=1.4)


def _place(weights: tuple[float, float, float], corners: tuple[Point, ...]) -> Point:
    """The point whose distances from the sides are as these probabilities."""
    total = sum(weights) or 1.0
    x = sum(w * corner[0] for w, corner in zip(weights, corners, strict=True)) / total
    y = sum(w * corner[1] for w, corner in zip(weights, corners, strict=True)) / total
    return x, y


def _triangle(sheet: Sheet, corners: tuple[Point, Point, Point]) -> None:
    """The sides, the parts in which each statement leads, and those in which it is decided."""
    (bx, by), (wx, wy), (ex, ey) = corners
    middle = _place((1, 1, 1), corners)
    for k, fill in ((0, "green"), (1, "vermillion"), (2, "faint")):
        one = corners[k]
        reach = [
            (one[0] + (1 - _SURE) * (o[0] - one[0]), one[1] + (1 - _SURE) * (o[1] - one[1]))
            for j, o in enumerate(corners)
            if j != k
        ]
        halves = [
            ((one[0] + o[0]) / 2, (one[1] + o[1]) / 2) for j, o in enumerate(corners) if j != k
        ]
        sheet.area(one, halves[0], middle, halves[1], fill=fill, opacity=0.1)
        sheet.area(one, *reach, fill=fill, opacity=0.55)
        for half in halves:
            sheet.line(half, middle, colour="muted", width=0.7, dash=(3, 2.5))
    sheet.line((bx, by), (wx, wy), (ex, ey), (bx, by), colour="muted", width=1.0)


def _draws(found: Posteriors, corners: tuple[Point, ...]) -> tuple[Point, ...]:
    """Draws of the three shares from the posterior, where the test is by signed ranks."""
    if found.single is None or found.pairs[0].student is not None or len(found.single.losses) != 2:
        return ()
    from bestofk.pairwise.bayesian.signed_rank_bayes import share_draws

    shares: Floats = share_draws(*found.single.losses, rope=found.rope, draws=_DRAWS)
    leads = np.bincount(shares.argmax(axis=1), minlength=3) / len(shares)
    pair = found.pairs[0]
    told = np.array([pair.better, pair.equivalent, pair.worse])
    if np.abs(leads - told).max() > 0.08:
        # another prior was used: these draws are not those of the result
        return ()
    places = [_place((row[0], row[2], row[1]), corners) for row in shares.tolist()]
    return tuple(places)


def _reading(found: Posteriors, other: str, *, draws: bool = False) -> str:
    rope = f"{number(found.rope)} either way" if found.rope else "none"
    subject = "Each learner" if len(found.pairs) > 1 else str(found.pairs[0].name)
    against = f"{subject} against {other}"
    if draws:
        read = (
            f"{against}: each dot is a draw of the three shares from the posterior; the "
            "probabilities count which of them leads"
        )
    else:
        read = (
            f"{against}: the nearer to a corner, the more probable; in the dark corners at least "
            f"{_SURE:g} (filled marks)"
        )
    parts = [f"{read}. {found.test}; region of practical equivalence: {rope}."]
    return " ".join(parts)


def _alt(found: Posteriors) -> str:
    if len(found.pairs) == 1:
        pair = found.pairs[0]
        return printable(
            f"{pair.name} against {pair.other}: better with probability {share(pair.better)}, "
            f"equivalent {share(pair.equivalent)}, worse {share(pair.worse)}."
        )
    said = [pair.words for pair in found.pairs]
    tally = ", ".join(f"{said.count(w)} probably {w}" for w in _LOOKS if w in said)
    return printable(
        f"{counted(len(said), 'learner')} against {found.pairs[0].other} in a triangle: {tally}."
    )
