"""Results of Bayesian tests: posterior densities of differences, and the probability simplex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, pi, sqrt
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import counted, number, printable
from bestofk.report.figures.axes import columns_beside, columns_width, spread, x_axis
from bestofk.report.figures.comparisons import decision_of
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Anchor, Picture, Point, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper, name_size
from bestofk.stats.pairwise.bayesian import PosteriorResult, share_draws
from bestofk.stats.pairwise.result import two_names
from bestofk.stats.tails import t_quantile

_OUTCOMES = ("worse", "equivalent", "better")


@dataclass(frozen=True, slots=True, kw_only=True)
class Student:
    """The Student t distribution of a difference; a point mass at the centre if the scale is 0."""

    centre: float
    scale: float
    df: float

    def density(self, x: Floats) -> Floats:
        """Return the density; 0 for a point mass."""
        if not self.scale:
            return np.zeros(len(x))
        df = self.df
        z = (x - self.centre) / self.scale
        log_c = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * np.log(df * pi)
        density: Floats = np.exp(log_c - (df + 1) / 2 * np.log1p(z * z / df)) / self.scale
        return density


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPosterior:
    """The posterior of the loss of one learner minus that of another.

    Attributes
    ----------
    name, other : object
    worse, equivalent, better : float
        Probability that the loss of `name` is larger by more than the rope, that the two are
        equivalent, and that it is smaller.
    student : Student or None
        The distribution of the difference, if the test gives one.
    """

    name: object
    other: object
    worse: float
    equivalent: float
    better: float
    student: Student | None

    @property
    def outcome(self) -> str:
        """Return the most probable of the three outcomes."""
        return max(_OUTCOMES, key=lambda outcome: float(getattr(self, outcome)))

    def sentence(self) -> str:
        """Return the three probabilities in words."""
        return (
            f"better with probability {share(self.better)}, equivalent {share(self.equivalent)}, "
            f"worse {share(self.worse)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Posteriors:
    """Posteriors of learners against one other.

    Attributes
    ----------
    pairs : tuple of PairPosterior
    rope : float
        Largest difference that counts as none.
    test, metric_words : str
        The test, and the quantity that it compares.
    single : PosteriorResult or None
        The result of a test of one pair.
    """

    pairs: tuple[PairPosterior, ...]
    rope: float
    test: str
    metric_words: str
    single: PosteriorResult | None = None

    def tally(self) -> str:
        """Return how many pairs have each most probable outcome."""
        outcomes = [pair.outcome for pair in self.pairs]
        return ", ".join(
            f"{outcomes.count(outcome)} probably {outcome}"
            for outcome in _OUTCOMES
            if outcome in outcomes
        )

    def columns(self) -> list[tuple[str, ...]]:
        """Return a column with a heading for each of the three probabilities."""
        return [
            (outcome, *(share(getattr(pair, outcome)) for pair in self.pairs))
            for outcome in reversed(_OUTCOMES)
        ]


def posteriors_of(value: Any, kind: str, names: Sequence[str] | None = None) -> Posteriors:
    """Return the posterior of every learner against the recommended one, or of one tested pair.

    Parameters
    ----------
    value : PosteriorResult, Decision or Study
    kind : str
        The figure, for error messages.
    names : two str, optional
        Names of the learners of a PosteriorResult.
    """
    if isinstance(value, PosteriorResult):
        if np.ndim(value.pvalue):
            raise ArgumentError(f"figure {kind!r} needs the result of one pair; got several pairs.")
        a, b = two_names(names)
        return Posteriors(
            pairs=(_pair(value, a, b),),
            rope=value.rope_width,
            test=value.test,
            metric_words="loss",
            single=value,
        )
    order = decision_of(value)
    evidence = order.evidence
    if evidence.bayesian is None or evidence.rope is None:
        raise ArgumentError(
            f"figure {kind!r} shows posterior probabilities, and this order has none; decide with ",
            use(rope=...),
            ", the largest difference that does not matter, such as ",
            use(rope=0.01),
            ".",
        )
    best = order.smallest_mean if order.recommended is None else order.recommended
    index = {name: k for k, name in enumerate(evidence.names)}
    others = sorted(
        (name for name in order.by_preference if name != best), key=lambda n: order.mean_losses[n]
    )
    sample: Any = evidence.values if evidence.bayesian_sample is None else evidence.bayesian_sample
    result: Any = evidence.bayesian(
        sample[[index[name] for name in others]], sample[[index[best]] * len(others)], "two-sided"
    )
    return Posteriors(
        pairs=tuple(_pair(result, name, best, k) for k, name in enumerate(others)),
        rope=float(evidence.rope),
        test=evidence.bayesian.name,
        metric_words=order.metric.mean,
    )


def _pair(
    result: PosteriorResult, name: object, other: object, row: int | None = None
) -> PairPosterior:
    def at_row(values: Any) -> float:
        array = np.asarray(values, dtype=float)
        return float(array if array.ndim == 0 else array[row])

    student = None
    if result.standard_error is not None and result.pivot is not None:
        df = result.df if isinstance(result.df, int | float) else 1.0
        student = Student(
            centre=at_row(result.pivot), scale=at_row(result.standard_error), df=float(df)
        )
    return PairPosterior(
        name=name,
        other=other,
        worse=at_row(result.right),
        equivalent=at_row(result.rope),
        better=at_row(result.left),
        student=student,
    )


def share(probability: float) -> str:
    """Format a probability briefly, never as 0 or 1.

    Examples
    --------
    >>> share(0.5), share(0.99999), share(0.00001), share(0.0)
    ('0.50', '>0.99', '<0.01', '<0.01')
    """
    if probability > 0.995:
        return ">0.99"
    return "<0.01" if probability < 0.005 else f"{probability:.2f}"


# The posterior of a difference: its density, the region of equivalence, three probabilities.

_GRID_POINTS = 121
_REACH = 4.0
"""Standard errors to draw on either side; more for few degrees of freedom."""
_AXIS_LENGTH = 330.0
_MIN_AXIS_LENGTH = 110.0
"""If the axis would be shorter, drop the columns beside it."""


def layout_posterior(
    value: Any, *, names: Sequence[str] | None = None, paper: Paper = ANY_PAPER
) -> Picture:
    """Draw the posterior density of the difference of learners, and the region of equivalence.

    Parameters
    ----------
    value : PosteriorResult, Decision or Study
        A result of `correlated_t`, or a decision with a rope on the folds of one data set. The
        figure of a decision compares the other learners with the recommended one.
    names : two str, optional
        Names of the learners of a PosteriorResult.
    paper : Paper, optional

    Notes
    -----
    The density is that of the correlated t test, ``St(m, (1/n + rho / (1 - rho)) S^2, n - 1)``.
    Its areas left of, in and right of the region are the three probabilities.

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
    >>> layout_posterior(r, names=["nn", "nmc"]).alt[-58:]
    'better with probability 0.03, equivalent 0.09, worse 0.88.'
    """
    posteriors = posteriors_of(value, "posterior", names)
    pairs, rope = posteriors.pairs, posteriors.rope
    students = [pair.student for pair in pairs if pair.student is not None]
    if len(students) < len(pairs):
        raise ArgumentError(
            f"figure 'posterior': {posteriors.test!r} gives probabilities but no density of a "
            "difference; draw 'simplex'."
        )
    K = len(pairs)
    sheet = Sheet(paper)
    size = name_size(K)
    other, *labels = sheet.labels(
        [pairs[0].other, *(pair.name for pair in pairs)], paper.share(0.36, 190.0), size
    )
    single = K == 1
    pitch = 96.0 if single else 34.0 if K <= 8 else max(18.0, min(28.0, 460.0 / K))
    start = 20.0 if single else 10 + sheet.widest(labels, size) + 12
    columns = [] if single else posteriors.columns()

    def axis_length() -> float:
        return paper.rest(start + 4 + columns_width(sheet, columns) + 12, _AXIS_LENGTH)

    if axis_length() < _MIN_AXIS_LENGTH:
        columns = []
    grids = [_grid(student, rope) for student in students]
    ends = [end for grid in grids for end in (float(grid[0]), float(grid[-1]))]
    low, high = around(min(0.0, -rope, *ends), max(0.0, rope, *ends), margin=0.02)
    scale = Scale(low=low, high=high, start=start, end=start + axis_length())
    top = 8 + (2 if single else 1) * (SMALL * LINE_HEIGHT + 2)
    bottom = top + K * pitch + 3
    if rope:
        sheet.box(scale(-rope), top, scale(rope), bottom, fill="orange", opacity=0.18)
    title = (
        f"loss of {labels[0]} − loss of {other}"
        if posteriors.single is not None
        else f"{posteriors.metric_words}: how much worse than {other}"
    )
    end = x_axis(sheet, scale, top=top, bottom=bottom, title=printable(title))
    sheet.line((scale(0.0), top), (scale(0.0), bottom), colour="ink", width=0.9, dash=(4, 3))
    densities = [student.density(grid) for student, grid in zip(students, grids, strict=True)]
    # All rows share one scale of heights; clip a single spike that would flatten the others.
    peaks = [float(density.max()) for density in densities if density.max() > 0] or [1.0]
    tallest = min(max(peaks), 2.5 * float(np.median(peaks)))
    for k, (student, grid, density) in enumerate(zip(students, grids, densities, strict=True)):
        row = top + (k + 1) * pitch
        heights = np.minimum(density / tallest, 1.0) * (pitch - 7)
        _ridge(sheet, scale, student, grid, heights, row, rope, pitch)
        if not single:
            sheet.write(start - 12, row - pitch / 2 + 3, labels[k], size=size, anchor="end")
    if single:
        _write_probabilities(sheet, pairs[0], scale, rope, top)
    middles = [top + (k + 0.5) * pitch + 3 for k in range(K)]
    heading = top - SMALL * LINE_HEIGHT / 2 - 2
    right = columns_beside(sheet, columns, left=scale.end + 4, heading=heading, rows=middles)
    if single:
        subject = (
            f"Posterior of the difference: {labels[0]} is better than {other} with probability "
            f"{share(pairs[0].better)}, equivalent {share(pairs[0].equivalent)}, worse "
            f"{share(pairs[0].worse)}"
        )
        alt = (
            f"Posterior density of the difference of {pairs[0].name} from {pairs[0].other}: "
            f"{pairs[0].sentence()}."
        )
    else:
        subject = f"Posterior of the difference of each learner from {other}, the best mean on top"
        alt = (
            f"Posterior densities of {counted(K, 'difference')} from {pairs[0].other}: "
            f"{posteriors.tally()}."
        )
    region = (
        f"Band: the region of practical equivalence, {number(rope)} either way."
        if rope
        else "There is no region of practical equivalence."
    )
    return sheet.finish(
        right + 12,
        end + 6,
        note=f"{subject}. Left part: better; right part: worse. Thick line: the 95 % credible "
        f"interval. {region} {posteriors.test}.",
        alt=alt,
        x_scale=scale,
    )


def _grid(student: Student, rope: float) -> Floats:
    """Return differences that include the ends of the rope, so that the parts end there."""
    reach = _REACH * (1.0 + 2.0 / max(student.df, 1.0)) * student.scale
    grid = np.linspace(student.centre - reach, student.centre + reach, _GRID_POINTS)
    inside = [end for end in (-rope, rope) if grid[0] < end < grid[-1]]
    return np.unique(np.concatenate([grid, inside]))


def _ridge(
    sheet: Sheet,
    scale: Scale,
    student: Student,
    grid: Floats,
    heights: Floats,
    row: float,
    rope: float,
    pitch: float,
) -> None:
    """Draw a density in its three parts, or a spike for a point mass."""
    sheet.line((scale.start, row), (scale.end, row), colour="faint", width=0.6)
    middle = scale(student.centre)
    if not student.scale:
        sheet.line((middle, row), (middle, row - pitch + 7), colour="ink", width=2.0)
        return
    outline = [(scale(float(g)), row - float(h)) for g, h in zip(grid, heights, strict=True)]
    parts = (
        (grid <= -rope, "green", 0.5),
        ((grid >= -rope) & (grid <= rope), "faint", 0.75),
        (grid >= rope, "vermillion", 0.5),
    )
    for part, fill, opacity in parts:
        points = [outline[k] for k in np.flatnonzero(part)]
        if len(points) > 1:
            ends = (points[0][0], row), (points[-1][0], row)
            sheet.area(ends[0], *points, ends[1], fill=fill, opacity=opacity)
    sheet.line(*outline, colour="ink", width=1.0)
    half = float(t_quantile(0.975, student.df)) * student.scale
    left, right = scale(student.centre - half), scale(student.centre + half)
    sheet.line((left, row), (right, row), colour="ink", width=2.4)
    sheet.line((middle, row + 3), (middle, row - 4), colour="ink", width=1.6)


def _write_probabilities(
    sheet: Sheet, pair: PairPosterior, scale: Scale, rope: float, top: float
) -> None:
    """Write the three probabilities as close to their parts as possible."""
    texts = [f"{share(getattr(pair, word))} {word}" for word in reversed(_OUTCOMES)]
    halves = [sheet.text_width(text, SMALL) / 2 for text in texts]
    low, high = scale(-rope), scale(rope)
    left, middle, right = (scale.start + low) / 2, (low + high) / 2, (high + scale.end) / 2
    limit = sheet.paper.rest(4.0, scale.end + 12)
    middle = max(middle, 4 + 2 * halves[0] + 12 + halves[1])
    middle = min(middle, limit - 2 * halves[2] - 12 - halves[1])
    left = max(min(left, middle - halves[1] - 12 - halves[0]), 4 + halves[0])
    right = min(max(right, middle + halves[1] + 12 + halves[2]), limit - halves[2])
    y = top - SMALL * LINE_HEIGHT / 2 - 3
    colours = ("green", "muted", "vermillion")
    for x, text, colour in zip((left, middle, right), texts, colours, strict=True):
        sheet.write(x, y, text, size=SMALL, colour=colour, anchor="middle")


# The simplex: the probabilities of better, equivalent and worse as positions in a triangle.

_SIDE = 280.0
_DECIDED = 0.95
"""Probability from which an outcome counts as decided."""
_DRAWS = 1500
_COLOURS = {"worse": "vermillion", "equivalent": "ink", "better": "green"}
Corners = tuple[Point, Point, Point]
"""Corners for better, worse and equivalent."""


def layout_simplex(
    value: Any, *, names: Sequence[str] | None = None, paper: Paper = ANY_PAPER
) -> Picture:
    """Draw every learner by the probability that it is better, equivalent or worse.

    Parameters
    ----------
    value : PosteriorResult, Decision or Study
        A result of a Bayesian test, or a decision with a rope. The figure of a decision compares
        the other learners with the recommended one.
    names : two str, optional
        Names of the learners of a PosteriorResult.
    paper : Paper, optional

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
    >>> layout_simplex(r, names=["nn", "nmc"]).alt
    'nn against nmc: better with probability 0.03, equivalent 0.09, worse 0.88.'
    """
    posteriors = posteriors_of(value, "simplex", names)
    sheet = Sheet(paper)
    if len(posteriors.pairs) == 1:
        return _single(sheet, posteriors)
    return _several(sheet, posteriors)


def _corners(left: float, top: float, side: float) -> Corners:
    height = side * sqrt(3) / 2
    return (left, top + height), (left + side, top + height), (left + side / 2, top)


def _single(sheet: Sheet, posteriors: Posteriors) -> Picture:
    """Draw one pair, with names and probabilities at the corners."""
    pair = posteriors.pairs[0]
    paper = sheet.paper
    side = min(_SIDE, paper.rest(28.0, _SIDE))
    width = paper.rest(0.0, side + 28)
    name, other = sheet.labels((pair.name, pair.other), side / 2 + 2)
    corners = _corners((width - side) / 2, 8 + SIZE * LINE_HEIGHT + 6, side)
    _triangle(sheet, corners)
    below = corners[0][1] + 4 + SIZE * LINE_HEIGHT / 2
    texts: tuple[tuple[float, Anchor, str, float, str], ...] = (
        (corners[0][0] - 6, "start", name, pair.better, "green"),
        (corners[1][0] + 6, "end", other, pair.worse, "vermillion"),
    )
    for x, anchor, label, probability, colour in texts:
        sheet.write(x, below, label, colour=colour, anchor=anchor)
        text = f"better: {share(probability)}"
        sheet.write(x, below + SIZE * LINE_HEIGHT, text, colour=colour, anchor=anchor)
    x, y = corners[2]
    text = f"equivalent: {share(pair.equivalent)}"
    sheet.write(x, y - 4 - SIZE * LINE_HEIGHT / 2, text, anchor="middle")
    draws = draws_of(posteriors)
    for weights in draws:
        sheet.dot(*_position(weights, corners), 0.9, fill="blue", opacity=0.3)
    if not draws:
        # The draws are shares, not probabilities, so do not mark both.
        _mark(sheet, pair, corners)
    reading = _simplex_reading()
    if draws:
        reading = (
            "each dot is a draw of the three shares from the posterior; the probabilities count "
            "which of them leads"
        )
    return sheet.finish(
        width,
        below + 1.5 * SIZE * LINE_HEIGHT + 6,
        note=f"{pair.name} against {other}: {reading}. {_region(posteriors)}",
        alt=f"{pair.name} against {pair.other}: {pair.sentence()}.",
    )


def _several(sheet: Sheet, posteriors: Posteriors) -> Picture:
    """Draw a mark per learner, with names and probabilities beside the triangle."""
    pairs, paper = posteriors.pairs, sheet.paper
    other, *labels = sheet.labels(
        [pairs[0].other, *(pair.name for pair in pairs)], paper.share(0.32, 220.0), SMALL
    )
    pitch = SMALL * LINE_HEIGHT + 1
    columns = posteriors.columns()
    name_width = sheet.widest(labels, SMALL)

    def side_length() -> float:
        beside = 10 + 24 + name_width + columns_width(sheet, columns) + 10
        return min(_SIDE, paper.rest(10 + beside, _SIDE))

    if side_length() < 150.0:
        # The positions show the probabilities.
        columns = []
    top = 8 + SIZE * LINE_HEIGHT + 6
    corners = _corners(10.0, top, side_length())
    height = max(corners[0][1] - top, (len(pairs) + 1) * pitch - 12)
    _triangle(sheet, corners)
    below = corners[0][1] + 4 + SIZE * LINE_HEIGHT / 2
    sheet.write(corners[0][0] - 4, below, "better", colour="green")
    sheet.write(corners[1][0] + 4, below, "worse", colour="vermillion", anchor="end")
    sheet.write(corners[2][0], top - 4 - SIZE * LINE_HEIGHT / 2, "equivalent", anchor="middle")
    points = [_position(_weights(pair), corners) for pair in pairs]
    edge = corners[1][0] + 24
    rows = spread([y for _, y in points], gap=pitch, low=top + pitch / 2, high=top + height)
    for point, y in zip(points, rows, strict=True):
        sheet.line(point, (edge - 3, y), colour="muted", width=0.6)
    for pair, label, y in zip(pairs, labels, rows, strict=True):
        _mark(sheet, pair, corners)
        sheet.write(edge, y, label, size=SMALL, colour=_COLOURS[pair.outcome])
    heading = min(rows) - pitch
    right = columns_beside(sheet, columns, left=edge + name_width, heading=heading, rows=rows)
    return sheet.finish(
        paper.rest(0.0, right + 10),
        top + height + 4 + SIZE * LINE_HEIGHT + 6,
        note=f"Each learner against {other}: {_simplex_reading()}. {_region(posteriors)}",
        alt=f"{counted(len(pairs), 'learner')} against {pairs[0].other} in a triangle: "
        f"{posteriors.tally()}.",
    )


def _simplex_reading() -> str:
    return (
        "the nearer to a corner, the more probable; in the dark corners the probability is at "
        f"least {_DECIDED:g} (filled marks)"
    )


def _region(posteriors: Posteriors) -> str:
    rope = f"{number(posteriors.rope)} either way" if posteriors.rope else "none"
    return f"{posteriors.test}; region of practical equivalence: {rope}."


def _weights(pair: PairPosterior) -> tuple[float, float, float]:
    return pair.better, pair.worse, pair.equivalent


def _mark(sheet: Sheet, pair: PairPosterior, corners: Corners) -> None:
    """Draw a mark; fill it if one of the three outcomes is decided."""
    colour = _COLOURS[pair.outcome]
    fill = colour if max(_weights(pair)) >= _DECIDED else "paper"
    sheet.dot(*_position(_weights(pair), corners), 3.4, fill=fill, colour=colour, width=1.4)


def _position(weights: Sequence[float], corners: Corners) -> Point:
    """Return the weighted mean of the corners."""
    total = sum(weights) or 1.0
    x = sum(weight * corner[0] for weight, corner in zip(weights, corners, strict=True)) / total
    y = sum(weight * corner[1] for weight, corner in zip(weights, corners, strict=True)) / total
    return x, y


def _triangle(sheet: Sheet, corners: Corners) -> None:
    """Draw the triangle, with the regions in which each outcome leads and is decided."""

    def between(a: Point, b: Point, part: float) -> Point:
        return a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])

    middle = _position((1, 1, 1), corners)
    for corner, fill in zip(corners, ("green", "vermillion", "faint"), strict=True):
        others = [other for other in corners if other != corner]
        halves = [between(corner, other, 0.5) for other in others]
        decided = [between(corner, other, 1 - _DECIDED) for other in others]
        sheet.area(corner, halves[0], middle, halves[1], fill=fill, opacity=0.1)
        sheet.area(corner, *decided, fill=fill, opacity=0.55)
        for half in halves:
            sheet.line(half, middle, colour="muted", width=0.7, dash=(3, 2.5))
    sheet.line(*corners, corners[0], colour="muted", width=1.0)


def draws_of(posteriors: Posteriors) -> list[tuple[float, float, float]]:
    """Return draws of (better, worse, equivalent) from the posterior of a signed-rank test.

    Return none for other tests, and if the result used another prior than the draws.
    """
    pair, single = posteriors.pairs[0], posteriors.single
    if type(single) is not PosteriorResult or pair.student is not None or len(single.losses) != 2:
        return []
    shares: Floats = share_draws(*single.losses, rope=posteriors.rope, draws=_DRAWS)
    leads = np.bincount(shares.argmax(axis=1), minlength=3) / len(shares)
    if np.abs(leads - [pair.better, pair.equivalent, pair.worse]).max() > 0.08:
        return []
    return [(better, worse, equivalent) for better, equivalent, worse in shares.tolist()]
