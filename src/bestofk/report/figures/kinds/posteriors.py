"""What Bayesian tests say of pairs, as the figures of posteriors take it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, pi, sqrt
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, number, printable
from bestofk.report.figures.axes import columns_beside, columns_width, spread, x_axis
from bestofk.report.figures.comparisons import decision_of
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Anchor, Picture, Point, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.stats.pairwise.bayesian import PosteriorResult
from bestofk.stats.pairwise.result import two_names
from bestofk.stats.tails import t_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Student:
    """The Student t distribution of a difference; all of it at the centre where the scale is 0."""

    centre: float
    scale: float
    df: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPosterior:
    """One learner against another, from the loss of the one less that of the other.

    Attributes
    ----------
    name, other : object
    worse, equivalent, better : float
        Probability that the loss of `name` is larger by more than the rope, that the two are
        equivalent, and that it is smaller.
    student : Student or None
        The distribution of the difference, where the test gives one.
    """

    name: object
    other: object
    worse: float
    equivalent: float
    better: float
    student: Student | None

    @property
    def words(self) -> str:
        """The most probable of the three."""
        said = {"worse": self.worse, "equivalent": self.equivalent, "better": self.better}
        return max(said, key=lambda word: said[word])


@dataclass(frozen=True, slots=True, kw_only=True)
class Posteriors:
    """Learners against one other.

    Attributes
    ----------
    pairs : tuple of PairPosterior
    rope : float
        Differences up to so much count as none.
    test, metric_words : str
        The test, and what the difference is of.
    single : PosteriorResult or None
        Where there is one pair, given as the result of a test.
    """

    pairs: tuple[PairPosterior, ...]
    rope: float
    test: str
    metric_words: str
    single: PosteriorResult | None = None


def posteriors_of(value: Any, kind: str, names: Sequence[str] | None = None) -> Posteriors:
    """The posterior of every learner against the recommended one, or of the one pair of a test.

    Parameters
    ----------
    value : PosteriorResult, Decision or Study
    kind : str
        The figure that asks.
    names : two str, optional
        Of the learners of a PosteriorResult.
    """
    if isinstance(value, PosteriorResult):
        if np.ndim(value.pvalue):
            raise ArgumentError(
                f"figure {kind!r}: the result of one pair is needed; got several pairs."
            )  # fmt: skip
        a, b = two_names(names)
        return Posteriors(
            pairs=(_one(value, a, b),),
            rope=value.rope_width,
            test=value.test,
            metric_words="loss",
            single=value,
        )
    order = decision_of(value)
    evidence = order.evidence
    if evidence.bayesian is None or evidence.rope is None:
        raise ArgumentError(
            f"figure {kind!r}: it shows posterior probabilities, and there are none: decide with "
            "rope=, the largest difference that does not matter, such as rope=0.01."
        )
    own = order.smallest_mean if order.recommended is None else order.recommended
    at = {name: k for k, name in enumerate(evidence.names)}
    others = sorted(
        (name for name in order.by_preference if name != own), key=lambda n: order.means[n]
    )
    sample: Any = evidence.found.get("bayesian sample", evidence.values)
    tested: Any = evidence.bayesian(
        sample[[at[name] for name in others]], sample[[at[own]] * len(others)], "two-sided"
    )
    return Posteriors(
        pairs=tuple(_one(tested, name, own, k) for k, name in enumerate(others)),
        rope=float(evidence.rope),
        test=evidence.bayesian.name,
        metric_words=order.metric.mean,
    )


def _one(
    result: PosteriorResult, name: object, other: object, row: int | None = None
) -> PairPosterior:
    def number(part: Any) -> float:
        array = np.asarray(part, dtype=float)
        return float(array if array.ndim == 0 else array[row])

    student = None
    if result.standard_error is not None and result.pivot is not None:
        df = result.df if isinstance(result.df, int | float) else 1.0
        student = Student(
            centre=number(result.pivot), scale=number(result.standard_error), df=float(df)
        )
    return PairPosterior(
        name=name,
        other=other,
        worse=number(result.right),
        equivalent=number(result.rope),
        better=number(result.left),
        student=student,
    )


def share(probability: float) -> str:
    """A probability in little room; nothing is certain.

    Examples
    --------
    >>> share(0.5), share(0.99999), share(0.00001), share(0.0)
    ('0.50', '>0.99', '<0.01', '<0.01')
    """
    if probability > 0.995:
        return ">0.99"
    return "<0.01" if probability < 0.005 else f"{probability:.2f}"


# The posterior of a difference: its density, the region of equivalence, three probabilities.


_POINTS = 121
_REACH = 4.0
"""Standard errors to either side that are drawn; few degrees of freedom reach further."""
_ACROSS = 330.0
_LEAST = 110.0
_PARTS = ("green", "faint", "vermillion")
"""Better, equivalent and worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DensityLayout:
    """One density per learner, over one axis of differences.

    Attributes
    ----------
    labels : tuple of str
    names : tuple of names
    probabilities : tuple of (better, equivalent, worse)
    rope : float
    grid : tuple of tuple of float
        Differences at which each density is given.
    densities : tuple of tuple of float
    picture : Picture
    """

    labels: tuple[str, ...]
    names: tuple[object, ...]
    probabilities: tuple[tuple[float, float, float], ...]
    rope: float
    grid: tuple[tuple[float, ...], ...]
    densities: tuple[tuple[float, ...], ...]
    picture: Picture


def layout_posterior(
    value: Any, *, names: Sequence[str] | None = None, paper: Paper = ANY_PAPER
) -> DensityLayout:
    """Place the posterior density of the difference of learners, and the region of equivalence.

    Parameters
    ----------
    value : PosteriorResult, Decision or Study
        A result of `correlated_t`; or a decision with a rope on the folds of one data set, whose
        other learners are then compared with the recommended one.
    names : two str, optional
        Of the learners of a PosteriorResult.
    paper : Paper, optional
        What it must fit.

    Notes
    -----
    The density is that of the correlated t test, ``St(m, (1/n + rho / (1 - rho)) S^2, n - 1)``:
    its areas left of, in and right of the region are the three probabilities.

    References
    ----------
    G. Corani and A. Benavoli (2015). A Bayesian approach for comparing cross-validated
    algorithms on multiple data sets. Machine Learning 100, 285-304.
    doi:10.1007/s10994-015-5486-z

    Examples
    --------
    >>> from bestofk import pairwise
    >>> r = pairwise.correlated_t([0.30, 0.25, 0.28, 0.27], [0.26, 0.24, 0.23, 0.25], rope=0.01,
    ...     rho=0.25)
    >>> layout_posterior(r, names=["nn", "nmc"]).labels
    ('nn',)
    """
    found = posteriors_of(value, "posterior", names)
    students = [pair.student for pair in found.pairs if pair.student is not None]
    if len(students) < len(found.pairs):
        raise ArgumentError(
            f"figure 'posterior': {found.test!r} gives probabilities and no density of a "
            "difference: draw 'simplex'."
        )
    pairs = found.pairs
    K = len(pairs)
    sheet = Sheet(paper)
    size = SIZE if K <= 30 else SMALL
    other, *labels = sheet.labels(
        [pairs[0].other, *(pair.name for pair in pairs)], paper.share(0.3, 170.0), size
    )
    single = K == 1
    pitch = 96.0 if single else 34.0 if K <= 8 else max(18.0, min(28.0, 460.0 / K))
    start = 20.0 if single else 10 + sheet.widest(labels, size) + 12
    columns = [] if single else _columns(pairs)
    across = _across(sheet, columns, start)
    if across < _LEAST:
        columns = []
        across = _across(sheet, columns, start)
    grids = [_grid(student, found.rope) for student in students]
    ends = [end for grid in grids for end in (float(grid[0]), float(grid[-1]))]
    low, high = around(min(0.0, -found.rope, *ends), max(0.0, found.rope, *ends), margin=0.02)
    scale = Scale(low=low, high=high, start=start, end=start + across)
    top = 8 + (2 if single else 1) * (SMALL * LINE + 2)
    bottom = top + K * pitch + 3
    rope = (scale(-found.rope), scale(found.rope))
    if found.rope:
        sheet.box(rope[0], top, rope[1], bottom, fill="orange", opacity=0.18)
    title = (
        f"loss of {labels[0]} − loss of {other}"
        if found.single is not None
        else f"{found.metric_words}: how much worse than {other}"
    )
    end = x_axis(sheet, scale, top=top, bottom=bottom, title=printable(title))
    sheet.line((scale(0.0), top), (scale(0.0), bottom), colour="ink", width=0.9, dash=(4, 3))
    densities = [
        density_at(student, grid) for student, grid in zip(students, grids, strict=True)
    ]  # fmt: skip
    # a height says as much in every row; a lone spike must not flatten the others
    peaks = [float(density.max()) for density in densities if density.max() > 0] or [1.0]
    tallest = min(max(peaks), 2.5 * float(np.median(peaks)))
    for k, (student, grid, density) in enumerate(zip(students, grids, densities, strict=True)):
        row = top + (k + 1) * pitch
        lift = np.minimum(density / tallest, 1.0) * (pitch - 7)
        _ridge(sheet, scale, student, (grid, lift), row, found.rope, pitch)
        if not single:
            sheet.say(start - 12, row - pitch / 2 + 3, labels[k], size=size, anchor="end")
    if single:
        _three(sheet, pairs[0], scale, rope, top)
    middles = [top + (k + 0.5) * pitch + 3 for k in range(K)]
    heading = top - SMALL * LINE / 2 - 2
    x = columns_beside(sheet, columns, left=scale.end + 4, heading=heading, rows=middles)
    width = x + 12
    end = sheet.note(_reading(found, labels, other), left=10, top=end + 6, width=width - 20)
    return DensityLayout(
        labels=tuple(labels),
        names=tuple(pair.name for pair in pairs),
        probabilities=tuple((p.better, p.equivalent, p.worse) for p in pairs),
        rope=found.rope,
        grid=tuple(tuple(grid.tolist()) for grid in grids),
        densities=tuple(tuple(density.tolist()) for density in densities),
        picture=sheet.picture(width, end + 6, alt=_alt(found), x_scale=scale),
    )


def _columns(pairs: tuple[PairPosterior, ...]) -> list[tuple[str, ...]]:
    return [
        (word, *(share(getattr(pair, word)) for pair in pairs))
        for word in ("better", "equivalent", "worse")
    ]


def _across(sheet: Sheet, columns: list[tuple[str, ...]], start: float) -> float:
    return sheet.paper.rest(start + 4 + columns_width(sheet, columns) + 12, _ACROSS)


def _grid(student: Student, rope: float) -> Floats:
    """Differences with those at the ends of the rope among them, so that its parts end there."""
    reach = _REACH * (1.0 + 2.0 / max(student.df, 1.0)) * student.scale
    grid = np.linspace(student.centre - reach, student.centre + reach, _POINTS)
    inside = [end for end in (-rope, rope) if grid[0] < end < grid[-1]]
    found: Floats = np.unique(np.concatenate([grid, inside]))
    return found


def density_at(student: Student, x: Floats) -> Floats:
    """The density of the distribution; 0 where it has none."""
    if not student.scale:
        return np.zeros(len(x))
    df = student.df
    z = (x - student.centre) / student.scale
    log_c = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * np.log(df * pi)
    found: Floats = np.exp(log_c - (df + 1) / 2 * np.log1p(z * z / df)) / student.scale
    return found


def _ridge(
    sheet: Sheet,
    scale: Scale,
    student: Student,
    curve: tuple[Floats, Floats],
    row: float,
    rope: float,
    pitch: float,
) -> None:
    """A density in its three parts; a spike where nothing spreads."""
    grid, lift = curve
    sheet.line((scale.start, row), (scale.end, row), colour="faint", width=0.6)
    if not student.scale:
        at = scale(student.centre)
        sheet.line((at, row), (at, row - pitch + 7), colour="ink", width=2.0)
        return
    parts = (grid <= -rope, (grid >= -rope) & (grid <= rope), grid >= rope)
    for part, fill in zip(parts, _PARTS, strict=True):
        points = [
            (scale(float(g)), row - float(h))
            for g, h in zip(grid[part], lift[part], strict=True)
        ]  # fmt: skip
        if len(points) > 1:
            base = ((points[0][0], row), (points[-1][0], row))
            opacity = 0.75 if fill == "faint" else 0.5
            sheet.area(base[0], *points, base[1], fill=fill, opacity=opacity)
    outline = [(scale(float(g)), row - float(h)) for g, h in zip(grid, lift, strict=True)]
    sheet.line(*outline, colour="ink", width=1.0)
    half = float(t_quantile(0.975, student.df)) * student.scale
    ends = scale(student.centre - half), scale(student.centre + half)
    sheet.line((ends[0], row), (ends[1], row), colour="ink", width=2.4)
    middle = scale(student.centre)
    sheet.line((middle, row + 3), (middle, row - 4), colour="ink", width=1.6)


def _three(
    sheet: Sheet, pair: PairPosterior, scale: Scale, rope: tuple[float, float], top: float
) -> None:
    """The three probabilities over their parts, as near to them as there is room."""
    words = [
        f"{share(pair.better)} better", f"{share(pair.equivalent)} equivalent",
        f"{share(pair.worse)} worse",
    ]  # fmt: skip
    colours = ("green", "muted", "vermillion")
    wide = [sheet.text_width(word, SMALL) for word in words]
    wanted = [
        (scale.start + rope[0]) / 2, (rope[0] + rope[1]) / 2, (rope[1] + scale.end) / 2,
    ]  # fmt: skip
    room = sheet.paper.rest(4.0, scale.end + 12)
    at = [0.0, wanted[1], 0.0]
    at[1] = min(max(at[1], 4 + wide[0] + 12 + wide[1] / 2), room - wide[2] - 12 - wide[1] / 2)
    at[0] = max(min(wanted[0], at[1] - wide[1] / 2 - 12 - wide[0] / 2), 4 + wide[0] / 2)
    at[2] = min(max(wanted[2], at[1] + wide[1] / 2 + 12 + wide[2] / 2), room - wide[2] / 2)
    for x, word, colour in zip(at, words, colours, strict=True):
        sheet.say(x, top - SMALL * LINE / 2 - 3, word, size=SMALL, colour=colour, anchor="middle")


def _reading(found: Posteriors, labels: Sequence[str], other: str) -> str:
    rope = (
        f"Band: the region of practical equivalence, {number(found.rope)} either way."
        if found.rope
        else "There is no region of practical equivalence."
    )
    if len(found.pairs) > 1:
        whose = f"Posterior of the difference of each learner from {other}, the best mean on top"
    else:
        pair = found.pairs[0]
        whose = (
            f"Posterior of the difference: {labels[0]} is better than {other} with probability "
            f"{share(pair.better)}, equivalent {share(pair.equivalent)}, worse {share(pair.worse)}"
        )
    read = "Left part: better; right part: worse. Thick line: the 95 % credible interval"
    return f"{whose}. {read}. {rope} {found.test}."


def _alt(found: Posteriors) -> str:
    pairs = found.pairs
    if len(pairs) == 1:
        pair = pairs[0]
        return printable(
            f"Posterior density of the difference of {pair.name} from {pair.other}: better with "
            f"probability {share(pair.better)}, equivalent {share(pair.equivalent)}, worse "
            f"{share(pair.worse)}."
        )
    said = [pair.words for pair in pairs]
    tally = ", ".join(f"{said.count(w)} probably {w}" for w in ("worse", "equivalent", "better")
                      if w in said)  # fmt: skip
    return printable(
        f"Posterior densities of {counted(len(pairs), 'difference')} from {pairs[0].other}: "
        f"{tally}."
    )


# The simplex: how probable better, equivalent and worse are, as places in a triangle.


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
    value : PosteriorResult, Decision or Study
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
    note = _simplex_reading(found, other, draws=bool(draws))
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
    end = sheet.note(_simplex_reading(found, other), left=10, top=end + 6, width=width - 20)
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
        picture=sheet.picture(*size, alt=_simplex_alt(found)),
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
    from bestofk.stats.pairwise.bayesian import share_draws

    shares: Floats = share_draws(*found.single.losses, rope=found.rope, draws=_DRAWS)
    leads = np.bincount(shares.argmax(axis=1), minlength=3) / len(shares)
    pair = found.pairs[0]
    told = np.array([pair.better, pair.equivalent, pair.worse])
    if np.abs(leads - told).max() > 0.08:
        # another prior was used: these draws are not those of the result
        return ()
    places = [_place((row[0], row[2], row[1]), corners) for row in shares.tolist()]
    return tuple(places)


def _simplex_reading(found: Posteriors, other: str, *, draws: bool = False) -> str:
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


def _simplex_alt(found: Posteriors) -> str:
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
