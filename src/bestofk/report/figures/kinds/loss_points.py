"""What was measured, by learner: every fold a point, runs apart, the interval of the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, printable
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import losses_of
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper

if TYPE_CHECKING:
    from bestofk.losses.losses import Losses, Metric
    from bestofk.splits.design import Design

_MOST_POINTS = 400
"""Of one learner; more become faint, not fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LossesLayout:
    """One row per learner, the best mean on top; all in the user's metric.

    Attributes
    ----------
    labels : tuple of str
        By mean, best first.
    order : tuple of int
        Those learners as places in the table.
    rows : tuple of float
        Height of each row.
    points : tuple of tuple of (x, y, run)
        Place of every value, and the run it belongs to.
    means, lows, highs : tuple of float
        Mean and ends of its interval; equal where there is no interval.
    picture : Picture
    """

    labels: tuple[str, ...]
    order: tuple[int, ...]
    rows: tuple[float, ...]
    points: tuple[tuple[tuple[float, float, int], ...], ...]
    means: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    picture: Picture


def layout_losses(
    value: Any, *, level: float = 0.95, losses: Any = None, paper: Paper = ANY_PAPER
) -> LossesLayout:
    """Place every value of every learner, and the interval of each mean.

    Parameters
    ----------
    value : Losses, Decision or Study
    level : float
        Coverage of the interval of a mean.
    losses : Losses, optional
        What an order was found from, where it does not say so itself.
    paper : Paper, optional
        What it must fit.

    Notes
    -----
    The intervals are those of `corrected_repeated_kfold_t` and `corrected_resampled_t`, whose
    variance allows for training rows that folds share; over data sets, of the paired t test.
    They are of each mean alone: learners whose intervals overlap may still differ, because the
    losses are paired.
    """
    shown = _measured(value, losses)
    metric, cells = shown.metric, shown.cells
    K, runs, _ = cells.shape
    ends = _intervals(shown, level)
    order = np.argsort(np.nanmean(cells.reshape(K, -1), axis=1), kind="stable")
    # from here on in the user's metric, where the interval of a score is turned about
    cells = metric.shown(cells)
    lows, highs = sorted_ends(metric.shown(ends[0]), metric.shown(ends[1]))
    flat = cells.reshape(K, -1)
    means = np.nanmean(flat, axis=1)
    lanes = runs if runs <= 12 else 1
    pitch = 34.0 if K <= 8 else max(14.0, min(28.0, 640.0 / K))
    size = SIZE if K <= 30 else SMALL
    sheet = Sheet(paper)
    labels = sheet.labels([shown.names[a] for a in order], paper.share(0.38, 200.0), size)
    start = 8 + sheet.widest(labels, size) + 12
    # an interval far beyond all losses would squeeze them
    inside = float(np.nanmax(flat) - np.nanmin(flat)) or 1.0
    low = max(float(np.nanmin(lows)), float(np.nanmin(flat)) - 0.35 * inside)
    high = min(float(np.nanmax(highs)), float(np.nanmax(flat)) + 0.35 * inside)
    low, high = around(min(low, float(np.nanmin(flat))), max(high, float(np.nanmax(flat))))
    scale = Scale(low=low, high=high, start=start, end=start + paper.rest(start + 16, 380.0))
    top = 8.0
    rows = tuple(top + (k + 0.5) * pitch for k in range(K))
    bottom = top + K * pitch + 2
    end = x_axis(sheet, scale, top=top, bottom=bottom, title=printable(metric.name))
    n = flat.shape[1]
    radius = 2.1 if K <= 8 and n <= 120 else 1.4
    opacity = 0.75 if n <= 60 else max(0.18, 0.75 * (60 / min(n, _MOST_POINTS)) ** 0.5)
    points = []
    for row, a in zip(rows, order.tolist(), strict=True):
        placed: list[tuple[float, float, int]] = []
        for run in range(runs):
            lane = run % lanes
            y = row + ((lane + 0.5) / lanes - 0.5) * pitch * (0.74 if lanes > 1 else 0.0)
            known = cells[a, run][np.isfinite(cells[a, run])]
            placed.extend((scale(one), y, run) for one in known.tolist())
        # thousands of values, as of a test set, stand at few places
        for x, y, run in dict.fromkeys(placed) if n > _MOST_POINTS else placed:
            sheet.dot(x, y, radius, fill="sky" if run % 2 == 0 else "orange", opacity=opacity)
        points.append(tuple(placed))
    for k, (row, a) in enumerate(zip(rows, order.tolist(), strict=True)):
        span = scale(float(lows[a])), scale(float(highs[a]))
        if span[1] > span[0]:
            sheet.line((span[0], row), (span[1], row), colour="ink", width=1.6)
            for x, real in zip(span, (lows[a], highs[a]), strict=True):
                if scale.low < real < scale.high:
                    sheet.line((x, row - 3), (x, row + 3), colour="ink", width=1.2)
        sheet.dot(scale(float(means[a])), row, 3.2, fill="paper", colour="ink", width=1.5)
        sheet.say(start - 12, row, labels[k], size=size, anchor="end")
    width = scale.end + 16
    better = "larger" if metric.higher_is_better else "smaller"
    note = (
        f"{_points_words(shown, n, runs)} Circle and bar: the mean and its {100 * level:g} % "
        f"interval, of each learner by itself; {better} is better. Overlapping bars do not mean "
        "that there is no difference: the learners met the same "
        f"{'data sets' if shown.n_datasets > 1 else 'splits'}, and pairs are compared on them."
    )
    end = sheet.note(note, left=8, top=end + 6, width=width - 16)
    return LossesLayout(
        labels=labels,
        order=tuple(order.tolist()),
        rows=rows,
        points=tuple(points),
        means=tuple(means[order].tolist()),
        lows=tuple(lows[order].tolist()),
        highs=tuple(highs[order].tolist()),
        picture=sheet.picture(
            width,
            end + 6,
            alt=printable(
                f"The {metric.name} of {counted(K, 'learner')}, the best mean on top: "
                f"{shown.names[order[0]]}."
            ),
            x_scale=scale,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Measured:
    """Losses to draw: (K, runs, folds), or (K, 1, data sets) where there are several."""

    names: tuple[str, ...]
    metric: Metric
    cells: Floats
    design: Design
    n_datasets: int


def _measured(value: Any, losses: Any) -> _Measured:
    """What a decision was made on, so that its means are those drawn; else all there is."""
    table = losses_of(value, losses)
    if table is None:
        raise ArgumentError("figure 'losses': a Losses or a Study is needed, or losses=.")
    problem = getattr(getattr(value, "decision", value), "problem", None)
    if problem is None or table.complete:
        return _Measured(
            names=table.algorithms,
            metric=table.metric,
            cells=_cells(table),
            design=table.design,
            n_datasets=len(table.datasets),
        )
    return _Measured(
        names=tuple(map(str, problem.names)),
        metric=problem.metric,
        cells=problem.sample(2),
        design=problem.design,
        n_datasets=problem.n_datasets,
    )


def _points_words(shown: _Measured, n: int, runs: int) -> str:
    if shown.n_datasets > 1:
        return f"Each point is one of {n} data sets."
    what = {
        "test-set": "test instances", "resample": "splits", "splits": "splits",
        "bootstrap": "samples", "time": "windows",
    }.get(shown.design.kind, "folds")  # fmt: skip
    if runs == 1:
        return f"Each point is one of {n} {what}."
    return (
        f"Each point is one of {n} {what}; the {counted(runs, 'run')} alternate between blue and "
        "orange."
    )


def intervals_of_means(value: Any, level: float) -> dict[str, tuple[float, float]]:
    """Learner: the ends of the interval of its mean, in the user's metric."""
    shown = _measured(value, None)
    ends = _intervals(shown, level)
    lows, highs = sorted_ends(shown.metric.shown(ends[0]), shown.metric.shown(ends[1]))
    rows = zip(shown.names, lows.tolist(), highs.tolist(), strict=True)
    return {name: (low, high) for name, low, high in rows}


def sorted_ends(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """The smaller and the larger of two ends."""
    return np.minimum(one, other), np.maximum(one, other)


def _cells(table: Losses) -> Floats:
    """(K, runs, folds), or (K, 1, data sets) where there are several data sets."""
    values = table.values
    absent = np.isnan(values)
    axes = (2, 3, 4) if len(table.datasets) > 1 else (4,)
    count = (~absent).sum(axis=axes)
    total = np.where(absent, 0.0, values).sum(axis=axes)
    mean: Floats = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return mean[:, np.newaxis, :] if len(table.datasets) > 1 else mean[:, 0]


def _intervals(shown: _Measured, level: float) -> tuple[Floats, Floats]:
    """Ends of the interval of each mean, the mean itself where the design allows none."""
    from bestofk.stats import pairwise

    cells, design = shown.cells, shown.design
    K = len(cells)
    flat = cells.reshape(K, -1)
    mean = np.nanmean(flat, axis=1)
    lows, highs = mean.copy(), mean.copy()
    for a in range(K):
        known = flat[a][np.isfinite(flat[a])]
        if len(known) < 2:
            continue
        zeros = np.zeros_like(known)
        result: Any
        if shown.n_datasets > 1 or design.kind in ("test-set", "scores", "holdout"):
            result = pairwise.kfold_t(known, zeros)
        elif design.kind in ("resample", "bootstrap", "time", "splits"):
            share = design.test_share()
            if share is None:
                continue
            result = pairwise.corrected_resampled_t(known, zeros, n_train=1.0, n_test=share)
        elif len(known) == flat.shape[1]:
            result = pairwise.corrected_repeated_kfold_t(
                cells[a], np.zeros_like(cells[a]), test_share=design.test_share()
            )
        else:
            continue
        low, high = result.confidence_interval(level)
        if np.isfinite(low) and np.isfinite(high):
            lows[a], highs[a] = low, high
    return lows, highs
