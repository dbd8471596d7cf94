"""The graph of a decision, with the density of the losses of each learner beside it."""

from __future__ import annotations

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import printable
from bestofk.decide.decision import Decision
from bestofk.losses.losses import Scores
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import basis
from bestofk.report.figures.kinds.difference import kernel_density
from bestofk.report.figures.kinds.multitest import (
    arc_height,
    arc_spacing,
    draw_arcs,
    draw_nodes,
    edges_of,
    recommended_index,
)
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, Paper, name_size

GRID_POINTS = 96


def layout_densities(order: Decision, losses: Scores, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the graph upright, with the density of the losses of each learner beside it.

    Parameters
    ----------
    order : Decision
        With a stated preference.
    losses : Scores
        The losses of its learners on one data set.
    paper : Paper, optional

    Notes
    -----
    Gaussian kernel with Silverman's width, 0.9 min(s, IQR / 1.34) n^(-1/5), over all folds of
    a learner.

    References
    ----------
    O. T. Yildiz and E. Alpaydin (2006), doi:10.1109/TPAMI.2006.61, Figs. 3 and 4.

    B. W. Silverman, Density estimation for statistics and data analysis (1986), eq. 3.31.
    """
    grid, densities, means = densities_of(order, losses)
    K = len(order.by_preference)
    edges = edges_of(order)
    chosen = recommended_index(order)
    pitch, radius, size = 34.0, 10.0, name_size(K)
    sheet = Sheet(paper)
    labels = sheet.labels(order.by_preference, paper.share(0.34, 280.0), size)
    spacing = arc_spacing(edges, pitch, paper.share(0.22, 1e9))
    x = 10 + arc_height(edges, spacing) + radius
    top = 8 + pitch * 0.9
    nodes = {k: (x, top + k * pitch) for k in range(K)}
    draw_arcs(sheet, nodes, edges, radius=radius, chosen=chosen, spacing=spacing, upright=True)
    candidates = set(nodes) - {i for i, _ in edges}
    draw_nodes(
        sheet, nodes, radius=radius, numbered=True, candidates=candidates, chosen=chosen
    )  # fmt: skip
    name_left = x + radius + 8
    start = name_left + sheet.widest(labels, size) + 14
    end = start + paper.rest(start + 14, 300.0)
    scale = Scale(low=float(grid[0]), high=float(grid[-1]), start=start, end=end)
    bottom = top + (K - 1) * pitch + 8
    end = x_axis(sheet, scale, top=8, bottom=bottom, title=printable(losses.metric.name))
    # All rows share one scale of heights; clip a single spike that would flatten the others.
    peaks = [float(density.max()) for density in densities]
    tallest = min(max(peaks), 2.0 * float(np.median(peaks)))
    for k, (label, density) in enumerate(zip(labels, densities, strict=True)):
        base = nodes[k][1] + radius * 0.5
        heights = np.minimum(density / tallest, 1.0) * pitch * 0.9
        shown = heights > 0.004 * pitch
        colour = "blue" if k == chosen else "muted"
        outline = [
            (scale(float(g)), base - float(h))
            for g, h in zip(grid[shown], heights[shown], strict=True)
        ]
        sheet.line((scale.start, base), (scale.end, base), colour="faint", width=0.5)
        ends = (outline[0][0], base), (outline[-1][0], base)
        sheet.area(ends[0], *outline, ends[1], fill=colour, opacity=0.22)
        sheet.line(*outline, colour=colour, width=1.2)
        middle = scale(float(means[k]))
        sheet.line((middle, base), (middle, base - pitch * 0.3), colour=colour, width=1.4)
        colour = "blue" if k == chosen else "ink"
        sheet.write(name_left, nodes[k][1], label, size=size, colour=colour)
    return sheet.finish(
        scale.end + 12,
        end + 6,
        note=f"Density of the {losses.metric.name} on the folds of each learner, with a mark at "
        "its mean. Top to bottom by preference. Arrows: the data override the preference. "
        f"{basis(order)}",
        alt=f"Graph of {K} learners by preference, with the density of the {losses.metric.name} "
        "of each.",
        margin=8,
        x_scale=scale,
    )


def densities_of(order: Decision, losses: Scores) -> tuple[Floats, Floats, Floats]:
    """Return a grid of values of the metric, the density of each learner on it, and the means."""
    table = losses.select(learners=map(str, order.by_preference))
    sample = table.metric.shown(table.losses.reshape(len(order.by_preference), -1))
    low, high = around(float(sample.min()), float(sample.max()), margin=0.08)
    grid = np.linspace(low, high, GRID_POINTS)
    densities = np.array([kernel_density(row, grid) for row in sample])
    return grid, densities, sample.mean(axis=1)
