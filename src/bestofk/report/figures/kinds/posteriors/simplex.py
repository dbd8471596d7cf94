"""The simplex: how probable better, equivalent and worse are, as places in a triangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.report.figures.axis_marks import spread
from bestofk.report.figures.kinds.posteriors.posteriors import Posteriors, posteriors_of, share
from bestofk.report.figures.paper import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.report.figures.picture import Picture, Point, Sheet
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
    pairs = found.pairs
    sheet = Sheet(paper)
    other, *labels = sheet.labels(
        [pairs[0].other, *(pair.name for pair in pairs)], paper.share(0.28, 150.0), SMALL
    )
    pitch = SMALL * LINE + 1
    words = [
        ("", "better", "equivalent", "worse"),
        *(
            (label, share(pair.better), share(pair.equivalent), share(pair.worse))
            for label, pair in zip(labels, pairs, strict=True)
        ),
    ]
    columns = [
        max(sheet.text_width(cell, SMALL) for cell in column) for column in zip(*words, strict=True)
    ]
    beside = 24 + columns[0] + sum(10 + wide for wide in columns[1:]) + 10
    corner_room = 10.0
    side = paper.rest(2 * corner_room + beside, _SIDE)
    if side < 150.0:
        # the places tell the probabilities
        columns[1:] = []
        beside = 24 + columns[0] + 10
        side = paper.rest(2 * corner_room + beside, _SIDE)
    side = min(side, _SIDE)
    tall = side * sqrt(3) / 2
    top = 8 + SIZE * LINE + 6
    left = corner_room
    height = max(tall, (len(pairs) + 1) * pitch - 12)
    corners = ((left, top + tall), (left + side, top + tall), (left + side / 2, top))
    _triangle(sheet, corners)
    draws = _draws(found, corners)
    for point in draws:
        sheet.dot(*point, 0.9, fill="blue", opacity=0.25)
    points = tuple(_place((p.better, p.worse, p.equivalent), corners) for p in pairs)
    edge = left + side + corner_room + 14
    many = len(pairs) > 1
    places = spread(
        [y for _, y in points], gap=pitch, low=top + pitch / 2, high=top + height
    ) if many else (top + tall / 2,)  # fmt: skip
    for point, y in zip(points, places, strict=True):
        sheet.line(point, (edge - 3, y), colour="faint", width=0.5)
    for pair, point, label, y in zip(pairs, points, labels, places, strict=True):
        sure = max(pair.worse, pair.equivalent, pair.better) >= _SURE
        colour = _LOOKS[pair.words]
        sheet.dot(*point, 3.4, fill=colour if sure else "paper", colour=colour, width=1.4)
        sheet.say(edge, y, label, size=SMALL, colour=colour)
        x = edge + columns[0]
        cells = (pair.better, pair.equivalent, pair.worse)
        for wide, cell in zip(columns[1:], cells, strict=False):
            x += 10 + wide
            sheet.say(x, y, share(cell), size=SMALL, colour="muted", anchor="end")
    x, heading = edge + columns[0], min(places) - pitch
    for wide, word in zip(columns[1:], words[0][1:], strict=False):
        x += 10 + wide
        sheet.say(x, heading, word, size=SMALL, colour="muted", anchor="end")
    end = top + height + 4 + SIZE * LINE
    width = edge + beside - 14
    end = sheet.note(_reading(found, other, bool(draws)), left=10, top=end + 6, width=width - 20)
    return SimplexLayout(
        labels=tuple(labels),
        names=tuple(pair.name for pair in pairs),
        probabilities=tuple((p.better, p.equivalent, p.worse) for p in pairs),
        points=points,
        corners=corners,
        draws=draws,
        picture=sheet.picture(width, end + 6, alt=_alt(found)),
    )


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
    below = by + 4 + SIZE * LINE / 2
    sheet.say(bx - 4, below, "better", colour="green")
    sheet.say(wx + 4, below, "worse", colour="vermillion", anchor="end")
    sheet.say(ex, ey - 4 - SIZE * LINE / 2, "equivalent", anchor="middle")


def _draws(found: Posteriors, corners: tuple[Point, ...]) -> tuple[Point, ...]:
    """Draws of the three shares from the posterior, where the test is by signed ranks."""
    if found.single is None or found.test != "signed-rank-bayes" or len(found.single.losses) != 2:
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


def _reading(found: Posteriors, other: str, draws: bool) -> str:
    rope = f"{number(found.rope)} either way" if found.rope else "none"
    subject = "Each learner" if len(found.pairs) > 1 else str(found.pairs[0].name)
    parts = [
        f"{subject} against {other}: the nearer to a corner, the more probable; in the dark "
        f"corners at least {_SURE:g} (filled marks). {found.test}; region of practical "
        f"equivalence: {rope}."
    ]
    if draws:
        parts.append("Small dots: draws of the three shares; the probabilities count which leads.")
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
