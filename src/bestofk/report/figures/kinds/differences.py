"""Densities beside the graph: what the data look like where they override the preference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, number, printable, pvalue_words
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import basis, losses_of, preferring
from bestofk.report.figures.kinds.multitest import arc_height, draw_arcs, draw_nodes, edges_of
from bestofk.report.figures.picture import Picture, Point, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.stats.pairwise.bayesian import PosteriorResult
from bestofk.stats.pairwise.result import PairwiseResult

_POINTS = 96
"""Places at which a density is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DensitiesLayout:
    """One row per learner, by preference: its node, its name, and the density of its values.

    Attributes
    ----------
    labels : tuple of str
    nodes : tuple of points
        Middle of each node, top to bottom by preference.
    edges : tuple of (int, int)
        Places in the preference, as in the graph.
    grid : tuple of float
        Values of the user's metric at which the densities are given.
    densities : tuple of tuple of float
        Of each learner at `grid`.
    means : tuple of float
    picture : Picture
    """

    labels: tuple[str, ...]
    nodes: tuple[Point, ...]
    edges: tuple[tuple[int, int], ...]
    grid: tuple[float, ...]
    densities: tuple[tuple[float, ...], ...]
    means: tuple[float, ...]
    picture: Picture


def layout_densities(
    value: Any, *, losses: Any = None, paper: Paper = ANY_PAPER
) -> DensitiesLayout:
    """Place the graph upright, and beside each learner the density of its values.

    Parameters
    ----------
    value : Study or Decision
        With a stated preference.
    losses : Losses, optional
        What the order was found from, where it does not say so itself.
    paper : Paper, optional
        What it must fit.

    Notes
    -----
    Gaussian kernel with Silverman's width, 0.9 min(s, IQR / 1.34) n^(-1/5), over all folds of
    a learner; over data-set means where there are several data sets.

    References
    ----------
    O. T. Yildiz and E. Alpaydin (2006), doi:10.1109/TPAMI.2006.61, Figs. 3 and 4.

    B. W. Silverman, Density estimation for statistics and data analysis (1986), eq. 3.31.
    """
    order = preferring(value, "densities")
    table = losses_of(value, losses)
    if table is None:
        raise ArgumentError(
            "figure 'densities': the order does not say what it was decided from; give losses=."
        )
    metric = table.metric
    if losses is None and order.problem is not None and not table.complete:
        # what was decided on, so that the means are those of the decision
        sample = metric.shown(order.problem.sample(1))
    else:
        sample = metric.shown(sample_of(table, tuple(str(name) for name in order.by_preference)))
    K = len(order.by_preference)
    edges = edges_of(order)
    chosen = None if order.recommended is None else order.by_preference.index(order.recommended)
    pitch = 34.0 if K <= 8 else max(15.0, min(26.0, 620.0 / K))
    size = SIZE if K <= 30 else SMALL
    sheet = Sheet(paper)
    labels = sheet.labels(order.by_preference, paper.share(0.3, 190.0), size)
    radius = 10.0 if K <= 8 else max(4.5, pitch * 0.3)
    longest, spacing = max((j - i for i, j in edges), default=0), pitch
    while arc_height(longest, spacing) > paper.share(0.22, 1e9):
        spacing *= 0.9
    reach = arc_height(longest, spacing)
    x = 10 + reach + radius
    top = 8 + pitch * 0.9
    nodes = tuple((x, top + k * pitch) for k in range(K))
    beaten = {i for i, _ in edges}
    draw_arcs(sheet, nodes, edges, radius=radius, chosen=chosen, spacing=spacing, upright=True)
    draw_nodes(
        sheet,
        nodes,
        radius=radius,
        numbers=range(1, K + 1) if K <= 8 else None,
        thick=tuple(k for k in range(K) if k not in beaten),
        shaded=chosen,
    )
    name_at = x + radius + 8
    start = name_at + sheet.widest(labels, size) + 14
    low, high = around(float(np.nanmin(sample)), float(np.nanmax(sample)), margin=0.08)
    scale = Scale(low=low, high=high, start=start, end=start + paper.rest(start + 14, 300.0))
    grid = np.linspace(low, high, _POINTS)
    densities = [_density(row[np.isfinite(row)], grid) for row in sample]
    means = [float(np.nanmean(row)) for row in sample]
    bottom = top + (K - 1) * pitch + 8
    end = x_axis(sheet, scale, top=8, bottom=bottom, title=printable(metric.name))
    # A height says as much in every row; a lone spike must not flatten the others.
    peaks = [float(density.max()) for density in densities]
    tallest = min(max(peaks), 2.0 * float(np.median(peaks)))
    for k, (label, density) in enumerate(zip(labels, densities, strict=True)):
        base = nodes[k][1] + radius * 0.5
        lift = np.minimum(density / tallest, 1.0) * pitch * 0.9
        shown = lift > 0.004 * pitch
        colour = "blue" if k == chosen else "muted"
        outline = [
            (scale(float(g)), base - float(h))
            for g, h in zip(grid[shown], lift[shown], strict=True)
        ]
        sheet.line((scale.start, base), (scale.end, base), colour="faint", width=0.5)
        sheet.area(
            (outline[0][0], base),
            *outline,
            (outline[-1][0], base),
            fill=colour,
            opacity=0.22,
        )
        sheet.line(*outline, colour=colour, width=1.2)
        sheet.line(
            (scale(means[k]), base), (scale(means[k]), base - pitch * 0.3), colour=colour, width=1.4
        )
        sheet.say(name_at, nodes[k][1], label, size=size, colour="blue" if k == chosen else "ink")
    width = scale.end + 12
    what = "the data-set means" if len(table.datasets) > 1 else f"the {metric.name} on the folds"
    note = (
        f"Density of {what} of each learner, its mean marked. Top to bottom by preference. Arrows: "
        f"the data override the preference. {basis(order)}"
    )
    end = sheet.note(note, left=8, top=end + 6, width=width - 16)
    return DensitiesLayout(
        labels=labels,
        nodes=nodes,
        edges=edges,
        grid=tuple(grid.tolist()),
        densities=tuple(tuple(density.tolist()) for density in densities),
        means=tuple(means),
        picture=sheet.picture(
            width,
            end + 6,
            alt=printable(
                f"Graph of {K} learners by preference, with the density of the {metric.name} of "
                "each."
            ),
            x_scale=scale,
        ),
    )


def sample_of(table: Any, names: tuple[str, ...]) -> Floats:
    """(K, n) losses of learners: by fold of one data set, or means of several; NaN is missing."""
    values = table.reorder(names).values
    if len(table.datasets) > 1:
        sums = np.where(np.isnan(values), 0.0, values).sum(axis=(2, 3, 4))
        count = (~np.isnan(values)).sum(axis=(2, 3, 4))
        with np.errstate(invalid="ignore"):
            means: Floats = sums / count
        return means
    return np.asarray(values.reshape(len(values), -1))


def _density(sample: Floats, grid: Floats) -> Floats:
    n = len(sample)
    spread = float(np.std(sample, ddof=1)) if n > 1 else 0.0
    low, high = np.quantile(sample, (0.25, 0.75))
    widths = [w for w in (spread, (high - low) / 1.34) if w > 0]
    step = float(grid[1] - grid[0])
    # no narrower than the grid can show
    width = max(0.9 * min(widths, default=0.0) * n**-0.2, 1.5 * step)
    z = (grid[:, None] - sample) / width
    kernel: Floats = np.exp(-0.5 * z * z).sum(axis=1) / (n * width * np.sqrt(2 * np.pi))
    return kernel


# The difference of two learners: every fold or data set a point, and nested intervals.


LEVELS = (0.99, 0.95, 0.8, 0.5)
"""Of the nested intervals, the widest first."""
_MOST_POINTS = 2000
_WIDTH, _LEFT = 430.0, 24.0
_OPACITY = {0.99: 0.16, 0.95: 0.32, 0.8: 0.5, 0.5: 0.75}


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceLayout:
    """Points and intervals along one axis of differences, zero in it.

    Attributes
    ----------
    points : tuple of points
        Where each difference stands.
    intervals : tuple of (level, left, right)
        Where the nested intervals end, the widest first; empty where the test offers none.
    rope : (left, right) or None
        Where the region of practical equivalence ends, where there is one.
    zero, estimate : float
        Where no difference, and the mean one, stand.
    picture : Picture
    """

    points: tuple[Point, ...]
    intervals: tuple[tuple[float, float, float], ...]
    rope: tuple[float, float] | None
    zero: float
    estimate: float
    picture: Picture


def layout_difference(value: Any, *, paper: Paper = ANY_PAPER) -> DifferenceLayout:
    """Place the differences that a pairwise test was made on, and its intervals.

    Parameters
    ----------
    value : PairwiseResult
        Of one pair.
    paper : Paper, optional
        What it must fit.

    Examples
    --------
    >>> from bestofk import pairwise
    >>> result = pairwise.wilcoxon([0.2, 0.3, 0.4, 0.3], [0.1, 0.3, 0.2, 0.1])
    >>> layout = layout_difference(result)
    >>> len(layout.points), [level for level, _, _ in layout.intervals]
    (4, [0.99, 0.95, 0.8, 0.5])
    """
    if not isinstance(value, PairwiseResult) or np.ndim(value.pvalue):
        got = "several pairs" if isinstance(value, PairwiseResult) else type(value).__name__
        raise ArgumentError(f"figure 'difference': the result of one pair is needed; got {got}.")
    differences = _differences(value)
    spans = _spans(value)
    ends = [end for _, low, high in spans for end in (low, high) if np.isfinite(end)]
    estimate = float(value.estimate)
    width = value.rope_width if isinstance(value, PosteriorResult) else 0.0
    reach = [-width, width, estimate, *ends, *differences.tolist()]
    least, most = around(min(reach), max(reach))
    long = paper.rest(2 * _LEFT, _WIDTH)
    across = Scale(low=least, high=most, start=_LEFT, end=_LEFT + long)
    sheet = Sheet(paper)
    top, points_height, bar = 22.0, 46.0 if len(differences) else 0.0, 9.0
    bar_top = top + points_height + 8
    bottom = bar_top + bar + 8
    zero = across(0.0)
    rope = (across(-width), across(width)) if width else None
    if rope is not None:
        sheet.box(rope[0], top, rope[1], bottom, fill="orange", opacity=0.25)
    end = x_axis(sheet, across, top=top, bottom=bottom, title="loss of a − loss of b")
    sheet.line((zero, top), (zero, bottom), colour="ink", width=1.0, dash=(4, 3))
    # an end of the axis that zero stands at has no room for words, nor a difference to speak of
    if zero - 6 - sheet.text_width("a is better", SIZE) > 0:
        sheet.say(zero - 6, top - SIZE * 0.8, "a is better", colour="muted", anchor="end")
    if zero + 6 + sheet.text_width("b is better", SIZE) < across.end + _LEFT:
        sheet.say(zero + 6, top - SIZE * 0.8, "b is better", colour="muted")
    points = _stacked(differences, across, top=top, height=points_height)
    radius, opacity = (2.6, 0.75) if len(points) <= 40 else (2.0, 0.5)
    for point in points:
        sheet.dot(*point, radius, fill="blue", opacity=opacity)
    placed = tuple((level, across(low), across(high)) for level, low, high in spans)
    for level, low, high in placed:
        sheet.box(low, bar_top, high, bar_top + bar, fill="blue", opacity=_OPACITY[level])
    middle = across(estimate)
    sheet.line((middle, bar_top - 3), (middle, bar_top + bar + 3), colour="vermillion", width=2.2)
    sentence = (
        f"{value.test}: mean difference {number(estimate)} (the upright line), {_evidence(value)}."
    )
    if rope is not None:
        sentence += f" The band is the region of practical equivalence, {width:g} either way."
    if spans:
        kind = "credible" if isinstance(value, PosteriorResult) else "confidence"
        sentence += f" Shaded: its {kind} intervals of 50, 80, 95 and 99 %."
    if len(differences) > len(points):
        sentence += f" {len(points)} of {len(differences)} differences are drawn."
    end = sheet.note(sentence, left=_LEFT, top=end + 6, width=long)
    return DifferenceLayout(
        points=points,
        intervals=placed,
        rope=rope,
        zero=zero,
        estimate=middle,
        picture=sheet.picture(
            2 * _LEFT + long,
            end + 6,
            alt=printable(f"{counted(len(differences), 'difference')}. {sentence}"),
            x_scale=across,
        ),
    )


def _evidence(value: PairwiseResult) -> str:
    if isinstance(value, PosteriorResult):
        shares = {"a is better": value.left, "equal": value.rope, "b is better": value.right}
        return "probabilities: " + ", ".join(f"{k} {float(p):.3g}" for k, p in shares.items())
    sides = "two-sided" if value.alternative == "two-sided" else "one-sided"
    return f"{sides} {pvalue_words(float(value.pvalue))} for this pair alone"


def _differences(value: PairwiseResult) -> Floats:
    if len(value.losses) != 2:
        return np.empty(0)
    a, b = (np.asarray(part, dtype=float).ravel() for part in value.losses)
    return a - b if a.shape == b.shape else np.empty(0)


def _spans(value: PairwiseResult) -> list[tuple[float, float, float]]:
    try:
        found = [(level, value.confidence_interval(level)) for level in LEVELS]
    except ArgumentError:
        return []
    ends = [(level, float(interval.low), float(interval.high)) for level, interval in found]
    return [(level, low, high) for level, low, high in ends if low <= high]


def _stacked(differences: Floats, across: Scale, *, top: float, height: float) -> tuple[Point, ...]:
    """Points side by side where they are apart, one over the other where they are not."""
    if len(differences) > _MOST_POINTS:
        differences = np.sort(differences)[:: len(differences) // _MOST_POINTS + 1]
    places = np.sort([across(float(value)) for value in differences])
    columns: dict[int, list[float]] = {}
    for place in places:
        columns.setdefault(round(place / 5.0), []).append(float(place))
    tallest = max((len(column) for column in columns.values()), default=1)
    step = min(5.5, height / tallest)
    return tuple(
        (place, top + height - step * (rank + 0.5))
        for column in columns.values()
        for rank, place in enumerate(column)
    )
