"""Figures over data sets: a heatmap of learners by data sets, and the ranks of each learner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, rounded
from bestofk.losses.losses import Metric
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import losses_of
from bestofk.report.figures.kinds.loss_points import mean_losses
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Scale, Sheet
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper, name_size

_MIN_COLUMN = SMALL * LINE_HEIGHT
"""A narrower column has no name."""
_MAX_COLUMN = 40.0
_MAX_WRITTEN_CELLS = 600
"""If there are more cells, they do not show their values."""
_MIN_AXIS_LENGTH = 110.0
"""If the axis would be shorter, drop columns beside it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DatasetMeans:
    """Means of learners on data sets.

    Attributes
    ----------
    learners, datasets : tuple of str
    losses : (K, D) array
        Smaller is better.
    metric : Metric
        How to show a loss.
    """

    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    losses: Floats
    metric: Metric
    nouns: tuple[str, str] = ("learner", "data set")

    @property
    def behind(self) -> Floats:
        """Return (K, D): how far each learner is behind the best on each data set."""
        behind: Floats = self.losses - np.nanmin(self.losses, axis=0)
        return behind

    @property
    def darkest(self) -> float:
        """Return the gap that gets the darkest shade; a few larger gaps must not pale the rest."""
        behind = self.behind
        positive = behind[behind > 0]
        return float(np.quantile(positive, 0.95)) if len(positive) else 0.0

    def sorted(self) -> DatasetMeans:
        """Sort learners by mean, data sets by how far the first learner is behind."""
        learners = np.argsort(self.losses.mean(axis=1), kind="stable")
        behind = self.behind[learners]
        datasets = np.lexsort((-behind[1:].mean(axis=0), behind[0]))
        return DatasetMeans(
            learners=tuple(self.learners[k] for k in learners),
            datasets=tuple(self.datasets[d] for d in datasets),
            losses=self.losses[np.ix_(learners, datasets)],
            metric=self.metric,
            nouns=self.nouns,
        )


def dataset_means(value: Any, kind: str) -> DatasetMeans:
    """Return the means of learners on the data sets that all of them have."""
    table = losses_of(value)
    assert table is not None
    means = mean_losses(table, axes=(2, 3, 4))
    complete = np.flatnonzero(np.isfinite(means).all(axis=0))
    if len(complete) < 2:
        raise ArgumentError(
            f"figure {kind!r} needs two data sets with losses of all learners; there are fewer."
        )
    return DatasetMeans(
        learners=table.learners,
        datasets=tuple(table.datasets[d] for d in complete),
        losses=means[:, complete],
        metric=table.metric,
    )


def layout_heatmap(
    value: Any,
    *,
    nouns: tuple[str, str] = ("learner", "data set"),
    paper: Paper = ANY_PAPER,
) -> Picture:
    """Draw a cell for every learner on every data set, darker the further behind the best.

    Parameters
    ----------
    value : Scores, Decision or Study
        Over several data sets.
    nouns : tuple of two str
        The nouns for rows and columns of the table, such as ``("model", "task")``.
    paper : Paper, optional

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Scores([[0.1, 0.4, 0.2], [0.2, 0.3, 0.2]], dims=("learner", "dataset"),
    ...     learners=["nn", "nmc"], datasets=["iris", "wine", "zoo"])
    >>> print(layout_heatmap(losses).alt)
    Map of 2 learners on 3 data sets; nn is the best on 2 of them, nn has the best mean.
    """
    table = replace(dataset_means(value, "heatmap"), nouns=nouns).sorted()
    K, D = table.losses.shape
    behind, darkest = table.behind, table.darkest
    sheet = Sheet(paper)
    learner_width = _column_width(sheet, table.datasets, K)
    dataset_width = _column_width(sheet, table.learners, D)
    # Learners are the columns if their names fit, because there are often many data sets.
    across = learner_width >= _MIN_COLUMN and (D >= K or dataset_width < _MIN_COLUMN)
    width = learner_width if across else dataset_width
    row_names, column_names = table.learners, table.datasets
    gaps, values = behind, table.metric.shown(table.losses)
    if across:
        row_names, column_names, gaps, values = column_names, row_names, gaps.T, values.T
    texts = _texts(values)
    widest = max(sheet.widest(row, SMALL) for row in texts)
    written = width >= widest + 6 and K * D <= _MAX_WRITTEN_CELLS
    width = min(width, max(_MAX_COLUMN, widest + 8) if written else _MAX_COLUMN)
    size = name_size(len(row_names))
    height = 17.0 if written or len(row_names) <= 16 else max(12.0, size * LINE_HEIGHT + 1)
    rows = sheet.labels(row_names, paper.share(0.4, 280.0), size)
    left = 10 + sheet.widest(rows, size) + 6
    named = width >= _MIN_COLUMN
    top = _write_columns(sheet, column_names, left, width) if named else 8.0
    for r, row in enumerate(gaps.tolist()):
        y = top + r * height
        sheet.write(left - 6, y + height / 2, rows[r], size=size, anchor="end")
        for c, gap in enumerate(row):
            x = left + c * width
            _cell(sheet, (x, y), (width, height), gap, darkest)
            if written:
                # Keep clear of the bar at the bottom of the cell.
                middle = (x + width / 2, y + height / 2 - 1.5)
                sheet.write(*middle, texts[r][c], size=SMALL, anchor="middle")
    natural = left + len(column_names) * width + 10
    moved = (paper.rest(0.0, natural) - natural) / 2
    sheet.shift(moved)
    bottom = _legend(sheet, table, left=left + moved, top=top + len(row_names) * height + 6)
    wins = (behind <= 1e-9 * darkest).sum(axis=1)
    first = int(wins.argmax())
    return sheet.finish(
        paper.rest(0.0, max(natural, 330.0)),
        bottom + 4,
        note=_note(table, across=across, written=written, named=named),
        alt=f"Map of {counted(K, nouns[0])} on {counted(D, nouns[1])}; {table.learners[first]} "
        f"is the best on {int(wins[first])} of them, {table.learners[0]} has the best mean.",
    )


def _column_width(sheet: Sheet, row_names: tuple[str, ...], count: int) -> float:
    """Return the width of `count` columns beside these names."""
    if sheet.paper.width is None:
        return _MAX_COLUMN if count <= 14 else max(_MIN_COLUMN + 2, 560.0 / count)
    size = name_size(len(row_names))
    labels = sheet.labels(row_names, sheet.paper.share(0.4, 280.0), size)
    return (sheet.paper.width - (10 + sheet.widest(labels, size) + 6) - 10) / count


def _texts(values: Floats) -> list[list[str]]:
    """Format all values with equally many decimals, at most three for error rates."""
    flat = rounded(values.ravel().tolist(), 0.01 if np.abs(values).max() >= 1e-2 else None)
    return [flat[row * values.shape[1] : (row + 1) * values.shape[1]] for row in range(len(values))]


def _write_columns(sheet: Sheet, names: tuple[str, ...], left: float, width: float) -> float:
    """Write names over the columns, upright if they do not fit; return where the cells begin."""
    labels = sheet.labels(names, width - 4, SMALL)
    level = list(labels) == [" ".join(name.split()) for name in names]
    if not level:
        labels = sheet.labels(names, 150.0, SMALL)
    top = 8 + (SMALL * LINE_HEIGHT if level else sheet.widest(labels, SMALL)) + 4
    for c, label in enumerate(labels):
        x = left + (c + 0.5) * width
        if level:
            sheet.write(x, 8 + SMALL * LINE_HEIGHT / 2, label, size=SMALL, anchor="middle")
        else:
            sheet.write(x, top - 4, label, size=SMALL, rotation=90.0)
    return top


def _cell(
    sheet: Sheet, corner: tuple[float, float], size: tuple[float, float], gap: float, darkest: float
) -> None:
    """Draw a cell, shaded by the gap to the best; a bar at the bottom marks the best."""
    (x, y), (width, height) = corner, size
    inset = 0.5 if width >= 6 else 0.0
    left, top, right, bottom = x + inset, y + inset, x + width - inset, y + height - inset
    sheet.box(left, top, right, bottom, fill="wash")
    if gap <= 1e-9 * darkest:
        sheet.box(left, y + height - 3, right, bottom, fill="blue")
    else:
        shade = 0.05 + 0.5 * round(min(gap / darkest, 1.0) * 20) / 20
        sheet.box(left, top, right, bottom, fill="vermillion", opacity=shade)


def _legend(sheet: Sheet, table: DatasetMeans, *, left: float, top: float) -> float:
    """Draw the shades and what they mean; return where the legend ends."""
    darkest = table.darkest
    beyond = " or more" if float(table.behind.max()) > darkest * 1.02 else ""
    text = f"to {darkest:.2g}{beyond} behind the best"
    step = 12.0
    text_width = sheet.text_width(text, SMALL)
    length = 6 * step + 29 + sheet.text_width("best", SMALL) + text_width
    y, x = top + 8, min(left, max(12.0, sheet.paper.rest(length + 10, 1e9)))
    _cell(sheet, (x, y - 6), (step, 12.0), 0.0, darkest)
    sheet.write(x + step + 5, y, "best", size=SMALL, colour="muted")
    if darkest == 0:
        return y + 10
    x += step + 5 + sheet.text_width("best", SMALL) + 14
    for k in range(5):
        _cell(sheet, (x + k * step, y - 6), (step, 12.0), darkest * (k + 0.5) / 5, darkest)
    x += 5 * step + 5
    if x + text_width > sheet.paper.rest(4.0, 1e9):
        x, y = 12.0, y + 14
    sheet.write(x, y, text, size=SMALL, colour="muted")
    return y + 10


def _note(table: DatasetMeans, *, across: bool, written: bool, named: bool) -> str:
    learner_end, dataset_end = ("left", "top") if across else ("top", "left")
    cells = " Each cell shows its value." if written else ""
    learner, dataset = table.nouns
    note = (
        f"Shaded: how far a {learner} is behind the best on a {dataset}, by {table.metric.mean}."
        f"{cells} {learner.capitalize()}s by mean, the best at the {learner_end}; {dataset}s by "
        "how far "
        f"{table.learners[0]} is behind, those where it leads at the {dataset_end}."
    )
    return note if named else f"{note} The columns are too narrow for names."


def layout_ranks(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the distribution of the rank of every learner over data sets, the best on top.

    Parameters
    ----------
    value : Scores, Decision or Study
        Over several data sets.
    paper : Paper, optional
    """
    table = dataset_means(value, "ranks")
    counts = rank_counts(table.losses)
    K, D = table.losses.shape
    means = (counts * np.arange(1, K + 1)).sum(axis=1) / D
    order = np.lexsort((table.losses.mean(axis=1), np.round(means, 9))).tolist()
    sheet = Sheet(paper)
    size = name_size(K)
    pitch = 30.0 if K <= 8 else max(15.0, min(26.0, 420.0 / K))
    labels = sheet.labels([table.learners[k] for k in order], paper.share(0.45, 280.0), size)
    start = 10 + sheet.widest(labels, size) + 10
    columns = [
        ("mean rank", *(f"{means[k]:.2f}" for k in order)),
        ("first", *(_count(counts[k, 0]) for k in order)),
    ]

    def beside() -> float:
        return sum(10 + sheet.widest(column, SMALL) for column in columns)

    while columns and paper.rest(start + beside() + 12, 300.0) < _MIN_AXIS_LENGTH:
        # The upright line shows the mean, the first bar how often a learner is first.
        columns.pop()
    length = paper.rest(start + beside() + 12, 300.0)
    scale = Scale(low=0.5, high=K + 0.5, start=start, end=start + length)
    top = 8 + SMALL * LINE_HEIGHT + 3
    bottom = top + K * pitch + 3
    end = x_axis(
        sheet, scale, top=None, bottom=bottom, title="rank on a data set, 1 the best", whole=True
    )
    tallest = max(float(counts.max()), 1e-9)
    half = 0.42 * length / K
    rows = [top + (k + 1) * pitch for k in range(K)]
    for row, k in zip(rows, order, strict=True):
        sheet.line((scale.start, row), (scale.end, row), colour="faint", width=0.6)
        for rank in range(K):
            height = counts[k, rank] / tallest * (pitch - 5)
            if height > 0:
                x, opacity = scale(rank + 1.0), 1.0 if rank == 0 else 0.45
                sheet.box(x - half, row - height, x + half, row, fill="blue", opacity=opacity)
        x = scale(float(means[k]))
        sheet.line((x, row - pitch + 5), (x, row + 2), colour="vermillion", width=1.6)
    middles = [row - pitch / 2 + 2 for row in rows]
    for middle, label in zip(middles, labels, strict=True):
        sheet.write(start - 8, middle, label, size=size, anchor="end")
    heading = top - SMALL * LINE_HEIGHT / 2 - 2
    right = scale.end
    for column in columns:
        right += 10 + sheet.widest(column, SMALL)
        for y, text in zip((heading, *middles), column, strict=True):
            sheet.write(right, y, text, size=SMALL, colour="muted", anchor="end")
    best, most = table.learners[order[0]], int(np.argmax(counts[:, 0]))
    return sheet.finish(
        right + 12,
        end + 6,
        note=f"Bars: on how many of {D} data sets a learner has that rank by "
        f"{table.metric.mean}, dark for the first; the tallest bar is {tallest:.3g}. Upright line: "
        "its mean rank. Learners that tie share their ranks equally.",
        alt=f"Ranks of {counted(K, 'learner')} on {counted(D, 'data set')}: {best} has the best "
        f"mean rank, {means[order[0]]:.2f}; {table.learners[most]} is first most often, "
        f"{counts[most, 0]:.3g} times.",
        x_scale=scale,
    )


def rank_counts(losses: Floats) -> Floats:
    """Return (K, K): on how many data sets each learner (row) has each rank.

    Learners that tie share their ranks equally.

    Examples
    --------
    >>> rank_counts(np.array([[0.1, 0.2], [0.1, 0.3], [0.4, 0.1]])).tolist()
    [[0.5, 1.5, 0.0], [0.5, 0.5, 1.0], [1.0, 0.0, 1.0]]
    """
    K = len(losses)
    counts = np.zeros((K, K))
    for column in losses.T:
        # Ignore rounding errors.
        keys = np.round(column / (np.abs(column).max() or 1.0), 12)
        for level in np.unique(keys):
            tied = np.flatnonzero(keys == level)
            first = int((keys < level).sum())
            counts[np.ix_(tied, np.arange(first, first + len(tied)))] += 1.0 / len(tied)
    return np.round(counts, 12)


def _count(count: float) -> str:
    return f"{count:g}" if abs(count - round(count)) < 1e-9 else f"{count:.1f}"
