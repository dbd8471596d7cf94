"""The posterior of a difference: its density, the region of equivalence, three probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, pi
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.report.figures.axis_marks import columns_beside, columns_width, x_axis
from bestofk.report.figures.kinds.posteriors.posteriors import (
    PairPosterior,
    Posteriors,
    Student,
    posteriors_of,
    share,
)
from bestofk.report.figures.paper import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.report.figures.picture import Picture, Sheet
from bestofk.report.figures.scales import Scale, around
from bestofk.report.figures.text_width import LINE
from bestofk.tails import t_quantile
from bestofk.wording import counted, number, printable

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
    value : PosteriorResult, Order or Study
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
