"""Densities beside the graph: what the data look like where they override the preference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.report.figures.axis_marks import x_axis
from bestofk.report.figures.captions import basis, losses_of, preferring
from bestofk.report.figures.kinds.multitest_graph import (
    arc_height,
    draw_arcs,
    draw_nodes,
    edges_of,
)
from bestofk.report.figures.paper import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.report.figures.picture import Picture, Point, Sheet
from bestofk.report.figures.scales import Scale, around
from bestofk.wording import printable

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
    value : Study or Order
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
        sample = metric.shown(sample_of(table, tuple(str(name) for name in order.prior)))
    K = len(order.prior)
    edges = edges_of(order)
    chosen = None if order.recommended is None else order.prior.index(order.recommended)
    pitch = 34.0 if K <= 8 else max(15.0, min(26.0, 620.0 / K))
    size = SIZE if K <= 30 else SMALL
    sheet = Sheet(paper)
    labels = sheet.labels(order.prior, paper.share(0.3, 190.0), size)
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
