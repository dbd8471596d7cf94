"""The measured losses of every learner: every fold as a point, and the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted, printable
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import losses_of
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, Paper, name_size

if TYPE_CHECKING:
    from bestofk.losses.losses import Metric, Scores
    from bestofk.splits.design import Design

_MAX_POINTS = 400
"""If a learner has more points, draw points at the same position once."""
_UNITS = {
    "test-set": "test instances",
    "resample": "splits",
    "splits": "splits",
    "bootstrap": "samples",
    "time": "windows",
}
"""Words for the values of a learner by the kind of design; folds otherwise."""


def layout_losses(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw every value of every learner and each mean, the best mean on top.

    Parameters
    ----------
    value : Scores, Decision or Study
    paper : Paper, optional

    Notes
    -----
    The means have no intervals: those of folds are unknown, and t intervals of few skewed losses
    cover too rarely. Learners whose losses overlap may still differ, because the losses are paired.
    """
    measured = measured_losses(value)
    metric = measured.metric
    K, runs, _ = measured.cells.shape
    order = np.argsort(np.nanmean(measured.cells.reshape(K, -1), axis=1), kind="stable").tolist()
    cells = metric.shown(measured.cells)
    flat = cells.reshape(K, -1)
    means = np.nanmean(flat, axis=1)
    pitch = 34.0 if K <= 8 else max(14.0, min(28.0, 640.0 / K))
    size = name_size(K)
    sheet = Sheet(paper)
    labels = sheet.labels([measured.names[a] for a in order], paper.share(0.45, 280.0), size)
    start = 8 + sheet.widest(labels, size) + 12
    low, high = around(float(np.nanmin(flat)), float(np.nanmax(flat)))
    scale = Scale(low=low, high=high, start=start, end=start + paper.rest(start + 16, 380.0))
    top = 8.0
    bottom = top + K * pitch + 2
    end = x_axis(sheet, scale, top=top, bottom=bottom, title=printable(metric.name))
    rows = [top + (k + 0.5) * pitch for k in range(K)]
    n = flat.shape[1]
    radius = 2.1 if K <= 8 and n <= 120 else 1.4
    opacity = 0.75 if n <= 60 else max(0.18, 0.75 * (60 / min(n, _MAX_POINTS)) ** 0.5)
    lanes = runs if runs <= 12 else 1
    spread = pitch * 0.74 if lanes > 1 else 0.0
    for row, a in zip(rows, order, strict=True):
        points: list[tuple[float, float, int]] = []
        for run in range(runs):
            y = row + ((run % lanes + 0.5) / lanes - 0.5) * spread
            known = cells[a, run][np.isfinite(cells[a, run])]
            points.extend((scale(loss), y, run) for loss in known.tolist())
        for x, y, run in dict.fromkeys(points) if n > _MAX_POINTS else points:
            sheet.dot(x, y, radius, fill="sky" if run % 2 == 0 else "orange", opacity=opacity)
    for row, a, label in zip(rows, order, labels, strict=True):
        sheet.dot(scale(float(means[a])), row, 3.2, fill="paper", colour="ink", width=1.5)
        sheet.write(start - 12, row, label, size=size, anchor="end")
    several = measured.n_datasets > 1
    what = "data sets" if several else _UNITS.get(measured.design.kind, "folds")
    colours = (
        "." if several or runs == 1
        else f"; the {counted(runs, 'run')} alternate between blue and orange."
    )  # fmt: skip
    return sheet.finish(
        scale.end + 16,
        end + 6,
        note=f"Each point is one of {n} {what}{colours} Circle: the mean; "
        f"{'larger' if metric.higher_is_better else 'smaller'} is better. Learners whose points "
        "overlap may still differ: the tests compare pairs on the same "
        f"{'data sets' if several else 'splits'}.",
        alt=f"The {metric.name} of {counted(K, 'learner')}, the best mean on top: "
        f"{measured.names[order[0]]}.",
        margin=8,
        x_scale=scale,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredLosses:
    """Losses to draw: cells are (K, runs, folds), or (K, 1, data sets) if there are several."""

    names: tuple[str, ...]
    metric: Metric
    cells: Floats
    design: Design
    n_datasets: int


def measured_losses(value: Any) -> MeasuredLosses:
    """Return the losses behind a decision, so that the means agree; otherwise all losses."""
    table = losses_of(value)
    assert table is not None
    problem = getattr(getattr(value, "decision", value), "problem", None)
    if problem is None or table.complete:
        several = len(table.datasets) > 1
        means = mean_losses(table, axes=(2, 3, 4) if several else (4,))
        return MeasuredLosses(
            names=table.learners,
            metric=table.metric,
            cells=means[:, np.newaxis, :] if several else means[:, 0],
            design=table.design,
            n_datasets=len(table.datasets),
        )
    return MeasuredLosses(
        names=tuple(map(str, problem.names)),
        metric=problem.metric,
        cells=problem.sample(2),
        design=problem.design,
        n_datasets=problem.n_datasets,
    )


def mean_losses(table: Scores, *, axes: tuple[int, ...]) -> Floats:
    """Return means over axes of the table without the missing values; NaN if all are missing."""
    absent = np.isnan(table.losses)
    count = (~absent).sum(axis=axes)
    total = np.where(absent, 0.0, table.losses).sum(axis=axes)
    means: Floats = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return means
