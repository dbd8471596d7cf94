"""The difference of two learners: every fold or data set as a point, and nested intervals."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, probability_words, pvalue_words, rounded
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.picture import Picture, Point, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, Paper
from bestofk.stats.pairwise.bayesian import PosteriorResult
from bestofk.stats.pairwise.result import PairwiseResult

LEVELS = (0.99, 0.95, 0.8, 0.5)
"""Coverage of the nested intervals, the widest first."""
_HEIGHTS = {0.99: 1.4, 0.95: 3.2, 0.8: 6.0, 0.5: 10.0}
"""Heights of their bars."""
_MAX_POINTS = 300
"""If there are more differences, draw their density."""
_RADIUS = 2.4
_AXIS_LENGTH, _MARGIN = 430.0, 24.0
_GRID_POINTS = 96


def layout_difference(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the differences behind a pairwise test, and its nested intervals.

    Parameters
    ----------
    value : PairwiseResult
        Result of one pair.
    paper : Paper, optional

    Examples
    --------
    >>> from bestofk.stats import pairwise
    >>> result = pairwise.wilcoxon([0.2, 0.3, 0.4, 0.3], [0.1, 0.3, 0.2, 0.1])
    >>> layout_difference(result).alt[:40]
    '4 differences. wilcoxon: typical differe'
    """
    differences = _differences(value)
    intervals = _intervals(value)
    estimate = float(value.estimate)
    posterior = isinstance(value, PosteriorResult)
    rope = value.rope_width if posterior else 0.0
    ends = [end for _, low, high in intervals for end in (low, high) if np.isfinite(end)]
    values = [-rope, rope, estimate, *ends, *differences.tolist()]
    low, high = around(min(values), max(values))
    length = paper.rest(2 * _MARGIN, _AXIS_LENGTH)
    scale = Scale(low=low, high=high, start=_MARGIN, end=_MARGIN + length)
    sheet = Sheet(paper)
    top, height = 22.0, 46.0 if len(differences) else 0.0
    row = top + height + 8 + max(_HEIGHTS.values()) / 2
    bottom = row + max(_HEIGHTS.values()) / 2 + 8
    zero = scale(0.0)
    if rope:
        sheet.box(scale(-rope), top, scale(rope), bottom, fill="orange", opacity=0.25)
    end = x_axis(sheet, scale, top=top, bottom=bottom, title="loss of a − loss of b")
    sheet.line((zero, top), (zero, bottom), colour="ink", width=1.0, dash=(4, 3))
    heading = top - SIZE * 0.8
    if zero - 6 - sheet.text_width("a is better", SIZE) > 0:
        sheet.write(zero - 6, heading, "a is better", colour="muted", anchor="end")
    if zero + 6 + sheet.text_width("b is better", SIZE) < scale.end + _MARGIN:
        sheet.write(zero + 6, heading, "b is better", colour="muted")
    if len(differences) > _MAX_POINTS:
        _draw_density(sheet, differences, scale, base=top + height, height=height)
    else:
        for x, up in _swarm([scale(float(difference)) for difference in differences], height):
            sheet.dot(x, top + height - up, _RADIUS, fill="blue", opacity=0.75)
    for level, low, high in intervals:
        half = _HEIGHTS[level] / 2
        sheet.box(scale(low), row - half, scale(high), row + half, fill="blue")
    middle = scale(estimate)
    sheet.line((middle, row - 8), (middle, row + 8), colour="vermillion", width=2.2)
    widths = [(high - low) / 2 for level, low, high in intervals if level == 0.95]
    shown = rounded([estimate], next(iter(widths), None))[0]
    note = (
        f"{value.test}: {getattr(value, 'estimand', 'mean')} difference {shown} (the upright "
        f"line), {_probability(value)}."
    )
    if rope:
        note += f" The band is the region of practical equivalence, {rope:g} either way."
    if intervals:
        kind = "credible" if posterior else "confidence"
        note += f" Bars, the thickest first: its {kind} intervals of 50, 80, 95 and 99 %."
    if len(differences) > _MAX_POINTS:
        note += f" The curve is the density of {len(differences):,} differences."
    return sheet.finish(
        2 * _MARGIN + length,
        end + 6,
        note=note,
        alt=f"{counted(len(differences), 'difference')}. {note}",
        margin=_MARGIN,
        x_scale=scale,
    )


def _probability(value: PairwiseResult) -> str:
    if isinstance(value, PosteriorResult):
        shares = {"a is better": value.left, "equal": value.rope, "b is better": value.right}
        return "probabilities: " + ", ".join(
            f"{k} {probability_words(float(p))}" for k, p in shares.items()
        )
    sides = "two-sided" if value.alternative == "two-sided" else "one-sided"
    return f"{sides} {pvalue_words(float(value.pvalue))} for this pair alone"


def _differences(value: PairwiseResult) -> Floats:
    if len(value.losses) != 2:
        return np.empty(0)
    a, b = (np.asarray(losses, dtype=float).ravel() for losses in value.losses)
    return a - b if a.shape == b.shape else np.empty(0)


def _intervals(value: PairwiseResult) -> list[tuple[float, float, float]]:
    """Return level, low and high of the nested intervals; none if the test has none."""
    try:
        intervals = [(level, *value.confidence_interval(level)) for level in LEVELS]
    except ArgumentError:
        return []
    return [
        (level, float(low), float(high)) for level, low, high in intervals if low <= high
    ]  # fmt: skip


def _swarm(positions: list[float], height: float) -> list[Point]:
    """Return a position and a height for each point; points that would overlap rise.

    If the points rise higher than `height`, reduce all heights, so that they overlap.
    """
    size = 2 * _RADIUS + 0.4
    points: list[Point] = []
    for x in sorted(positions):
        near = [(other, up) for other, up in points if x - other < size]
        reach = [(up, sqrt(size**2 - (x - other) ** 2)) for other, up in near]
        lowest = 0.0
        for start, end in sorted((up - half, up + half) for up, half in reach):
            if start >= lowest:
                break
            lowest = max(lowest, end)
        points.append((x, lowest))
    free = height - 2 * _RADIUS
    tallest = max((up for _, up in points), default=0.0)
    shrink = min(1.0, free / tallest) if tallest else 1.0
    return [(x, _RADIUS + shrink * up) for x, up in points]


def _draw_density(
    sheet: Sheet, differences: Floats, scale: Scale, *, base: float, height: float
) -> None:
    grid = np.linspace(scale.low, scale.high, _GRID_POINTS)
    density = kernel_density(differences, grid)
    heights = (density / density.max() * height).tolist()
    outline = [(scale(x), base - up) for x, up in zip(grid.tolist(), heights, strict=True)]
    sheet.area((scale.start, base), *outline, (scale.end, base), fill="blue", opacity=0.3)
    sheet.line(*outline, colour="blue", width=1.2)


def kernel_density(sample: Floats, grid: Floats) -> Floats:
    """Return a Gaussian kernel density with Silverman's width."""
    n = len(sample)
    spread = float(np.std(sample, ddof=1)) if n > 1 else 0.0
    low, high = np.quantile(sample, (0.25, 0.75))
    widths = [width for width in (spread, (high - low) / 1.34) if width > 0]
    # The grid cannot show narrower kernels.
    width = max(0.9 * min(widths, default=0.0) * n**-0.2, 1.5 * float(grid[1] - grid[0]))
    z = (grid[:, None] - sample) / width
    density: Floats = np.exp(-0.5 * z * z).sum(axis=1) / (n * width * np.sqrt(2 * np.pi))
    return density
