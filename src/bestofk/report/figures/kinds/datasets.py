"""The mean of every learner on every data set, as the figures over data sets take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, printable
from bestofk.losses.losses import Metric
from bestofk.report.figures.axes import columns_beside, columns_width, x_axis
from bestofk.report.figures.comparisons import aligned, losses_of, minus
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Scale, Sheet
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ByDataset:
    """Means of learners on data sets.

    Attributes
    ----------
    learners, datasets : tuple of str
    losses : (K, D) array
        Smaller is better; NaN where there is none.
    metric : Metric
        How a loss is shown.
    """

    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    losses: Floats
    metric: Metric

    @property
    def behind(self) -> Floats:
        """(K, D): how far each learner is behind the best on each data set; 0 for the best."""
        found: Floats = self.losses - np.nanmin(self.losses, axis=0)
        return found


def by_dataset(value: Any, losses: Any, kind: str) -> ByDataset:
    """The means of learners on data sets that all of them have."""
    table = losses_of(value, losses)
    if table is None:
        raise ArgumentError(
            f"figure {kind!r}: a Losses or a Study is needed, or losses=; got "
            f"{type(value).__name__}."
        )
    if len(table.datasets) < 2:
        raise ArgumentError(
            f"figure {kind!r}: it compares learners over several data sets, and there is one: draw "
            "'losses' or 'matrix'."
        )
    values = table.values
    absent = np.isnan(values)
    count = (~absent).sum(axis=(2, 3, 4))
    total = np.where(absent, 0.0, values).sum(axis=(2, 3, 4))
    means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    whole = np.flatnonzero(np.isfinite(means).all(axis=0))
    if len(whole) < 2:
        raise ArgumentError(
            f"figure {kind!r}: fewer than two data sets have losses of all learners."
        )  # fmt: skip
    return ByDataset(
        learners=table.algorithms,
        datasets=tuple(table.datasets[d] for d in whole),
        losses=means[:, whole],
        metric=table.metric,
    )


# Learners by data sets: how far each is behind the best, as a map.


_NARROW = SMALL * LINE
"""A column that is narrower has no name of its own."""
_WIDE = 40.0
"""Columns are not wider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatmapLayout:
    """One cell per learner and data set.

    Attributes
    ----------
    rows, columns : tuple of str
        What stands beside the rows and on top of the columns; empty where names have no room.
    learners, datasets : tuple of str
        In the order drawn: learners by their mean, data sets by how far the first learner is
        behind the best on them.
    learners_across : bool
        Learners are the columns; else they are the rows.
    behind : tuple of tuple of float
        By learner and data set: how far behind the best on that data set, 0 for the best.
    cell : (float, float)
        Width and height.
    written : bool
        Whether cells hold the values.
    picture : Picture
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    learners_across: bool
    behind: tuple[tuple[float, ...], ...]
    cell: tuple[float, float]
    written: bool
    picture: Picture


def layout_heatmap(
    value: Any, *, losses: Any = None, paper: Paper = ANY_PAPER
) -> HeatmapLayout:  # fmt: skip
    """Place a cell for every learner on every data set, the darker the further behind the best.

    Parameters
    ----------
    value : Losses, Decision or Study
        Over several data sets.
    losses : Losses, optional
        What an order was found from, where it does not say so itself.
    paper : Paper, optional
        What it must fit.

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Losses([[0.1, 0.4, 0.2], [0.2, 0.3, 0.2]], dims=("algorithm", "dataset"),
    ...     algorithms=["nn", "nmc"], datasets=["iris", "wine", "zoo"])
    >>> layout = layout_heatmap(losses)
    >>> layout.learners, layout.datasets
    (('nn', 'nmc'), ('iris', 'zoo', 'wine'))
    """
    table = _ordered(by_dataset(value, losses, "heatmap"))
    K, D = table.losses.shape
    behind = table.behind
    most = _most(behind)
    sheet = Sheet(paper)
    sizes = {True: _cells(sheet, table.datasets, K), False: _cells(sheet, table.learners, D)}
    # learners stand on top where their names have room there, as data sets are often many
    across = (D >= K and sizes[True] >= _NARROW) or sizes[False] < _NARROW <= sizes[True]
    row_names, column_names = table.datasets, table.learners
    shades, values = behind.T, table.metric.shown(table.losses).T
    if not across:
        row_names, column_names, shades, values = column_names, row_names, shades.T, values.T
    texts = [_numbers(row) for row in values.tolist()]
    wide = sizes[across]
    widest_text = max(sheet.widest(row, SMALL) for row in texts)
    written = wide >= widest_text + 6 and len(row_names) * len(column_names) <= 600
    wide = min(wide, _WIDE if not written else max(_WIDE, widest_text + 8))
    size = SIZE if len(row_names) <= 30 else SMALL
    high = 17.0 if written or len(row_names) <= 16 else max(12.0, size * LINE + 1)
    rows = sheet.labels(row_names, paper.share(0.34, 170.0), size)
    left = 10 + sheet.widest(rows, size) + 6
    named = wide >= _NARROW
    columns, top = _column_names(sheet, column_names if named else (), left, wide)
    for r, row in enumerate(shades.tolist()):
        y = top + r * high
        sheet.say(left - 6, y + high / 2, rows[r], size=size, anchor="end")
        for c, gap in enumerate(row):
            x = left + c * wide
            best = gap <= 1e-9 * most
            _cell(sheet, (x, y), (wide, high), _shade(gap, most), best=best)
            if written:
                # a little up, clear of the bar at the foot
                middle = (x + wide / 2, y + high / 2 - 1.5)
                sheet.say(*middle, texts[r][c], size=SMALL, anchor="middle")
    width = left + len(column_names) * wide + 10
    moved = (paper.rest(0.0, width) - width) / 2
    sheet.shift(moved)
    bottom = top + len(row_names) * high + 6
    bottom = _legend(sheet, behind, left=left + moved, top=bottom)
    width = paper.rest(0.0, max(width, 330.0))
    note = _reading(table, across=across, written=written, named=named)
    bottom = sheet.note(note, left=10, top=bottom + 4, width=width - 20)
    return HeatmapLayout(
        rows=rows,
        columns=columns,
        learners=table.learners,
        datasets=table.datasets,
        learners_across=across,
        behind=tuple(tuple(row) for row in behind.tolist()),
        cell=(wide, high),
        written=written,
        picture=sheet.picture(width, bottom + 6, alt=_alt(table, behind)),
    )


def _ordered(table: ByDataset) -> ByDataset:
    """Learners by mean; data sets by how far the first of them is behind, then by the others."""
    learners = np.argsort(table.losses.mean(axis=1), kind="stable")
    behind = table.behind[learners]
    datasets = np.lexsort((-behind[1:].mean(axis=0), behind[0]))
    return ByDataset(
        learners=tuple(table.learners[k] for k in learners),
        datasets=tuple(table.datasets[d] for d in datasets),
        losses=table.losses[np.ix_(learners, datasets)],
        metric=table.metric,
    )


def _cells(sheet: Sheet, row_names: tuple[str, ...], count: int) -> float:
    """How wide a cell may be beside these names."""
    if sheet.paper.width is None:
        return _WIDE if count <= 14 else max(_NARROW + 2, 560.0 / count)
    size = SIZE if len(row_names) <= 30 else SMALL
    labels = sheet.labels(row_names, sheet.paper.share(0.34, 170.0), size)
    free = sheet.paper.width - (10 + sheet.widest(labels, size) + 6) - 10
    return free / count


def _numbers(values: list[float]) -> tuple[str, ...]:
    """Three decimals say enough of an error rate."""
    if all(abs(value) < 10 for value in values) and any(abs(value) >= 1e-3 for value in values):
        return tuple(minus(f"{value:.3f}") for value in values)
    return aligned(values)


def _column_names(
    sheet: Sheet, names: tuple[str, ...], left: float, wide: float
) -> tuple[tuple[str, ...], float]:
    """Names over the columns, level where all fit, else upright; where the cells begin."""
    if not names:
        return (), 8.0
    level = sheet.labels(names, wide - 4, SMALL)
    if list(level) == [" ".join(name.split()) for name in names]:
        for c, label in enumerate(level):
            x = left + (c + 0.5) * wide
            sheet.say(x, 8 + SMALL * LINE / 2, label, size=SMALL, anchor="middle")
        return level, 8 + SMALL * LINE + 4
    labels = sheet.labels(names, 110.0, SMALL)
    top = 8 + sheet.widest(labels, SMALL) + 4
    for c, label in enumerate(labels):
        sheet.say(left + (c + 0.5) * wide, top - 4, label, size=SMALL, rotation=90.0)
    return labels, top


def _most(behind: Floats) -> float:
    """Where the darkest shade begins: few data sets on which all is lost must not pale the rest."""
    positive = behind[behind > 0]
    return float(np.quantile(positive, 0.95)) if len(positive) else 0.0


def _shade(gap: float, most: float) -> float:
    return 0.0 if most == 0 else 0.05 + 0.5 * round(min(gap / most, 1.0) * 20) / 20


def _cell(
    sheet: Sheet,
    corner: tuple[float, float],
    size: tuple[float, float],
    shade: float,
    *,
    best: bool,
) -> None:
    (x, y), (wide, high) = corner, size
    gap = 0.5 if wide >= 6 else 0.0
    sheet.box(x + gap, y + gap, x + wide - gap, y + high - gap, fill="wash")
    if best:
        # a bar at the foot, to be seen without colours too
        sheet.box(x + gap, y + high - 3, x + wide - gap, y + high - gap, fill="blue")
    else:
        right, bottom = x + wide - gap, y + high - gap
        sheet.box(x + gap, y + gap, right, bottom, fill="vermillion", opacity=shade)


def _legend(sheet: Sheet, behind: Floats, *, left: float, top: float) -> float:
    """The shades with their numbers; where it ends."""
    most = _most(behind)
    beyond = " or more" if float(behind.max()) > most * 1.02 else ""
    words = f"to {most:.2g}{beyond} behind the best"
    step = 12.0
    long = 6 * step + 29 + sheet.text_width("best", SMALL) + sheet.text_width(words, SMALL)
    y, x = top + 8, min(left, max(12.0, sheet.paper.rest(long + 10, 1e9)))
    _cell(sheet, (x, y - 6), (step, 12.0), 0.0, best=True)
    sheet.say(x + step + 5, y, "best", size=SMALL, colour="muted")
    if most == 0:
        return y + 10
    x += step + 5 + sheet.text_width("best", SMALL) + 14
    for k in range(5):
        shade = _shade(most * (k + 0.5) / 5, most)
        _cell(sheet, (x + k * step, y - 6), (step, 12.0), shade, best=False)
    at = x + 5 * step + 5
    if at + sheet.text_width(words, SMALL) > sheet.paper.rest(4.0, 1e9):
        at, y = 12.0, y + 14
    sheet.say(at, y, words, size=SMALL, colour="muted")
    return y + 10


def _reading(table: ByDataset, *, across: bool, written: bool, named: bool) -> str:
    where = ("left", "top") if across else ("top", "left")
    parts = [
        f"Shaded: how far a learner is behind the best on a data set, by {table.metric.mean}"
        + (", which is written in each cell." if written else "."),
        f"Learners by mean, the best at the {where[0]}; data sets by how far "
        f"{table.learners[0]} is behind, where it leads at the {where[1]}.",
    ]
    if not named:
        parts.append("The columns are too narrow for names.")
    return " ".join(parts)


def _alt(table: ByDataset, behind: Floats) -> str:
    wins = (behind <= 1e-9 * _most(behind)).sum(axis=1)
    first = int(wins.argmax())
    return printable(
        f"Map of {counted(len(table.learners), 'learner')} on "
        f"{counted(len(table.datasets), 'data set')}; {table.learners[first]} is the best on "
        f"{int(wins[first])} of them, {table.learners[0]} has the best mean."
    )


# Ranks over data sets: how often each learner comes first, second, ... and last.


_LEAST = 110.0
"""An axis that would be shorter takes the room of the columns beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RanksLayout:
    """One row per learner, the best mean rank on top.

    Attributes
    ----------
    labels : tuple of str
    order : tuple of int
        Those learners as places in the table.
    mean_ranks : tuple of float
    counts : tuple of tuple of float
        By learner and rank: on how many data sets it has that rank. Learners that tie share
        their ranks in equal parts.
    rows : tuple of float
        Where the bars of each row stand.
    picture : Picture
    """

    labels: tuple[str, ...]
    order: tuple[int, ...]
    mean_ranks: tuple[float, ...]
    counts: tuple[tuple[float, ...], ...]
    rows: tuple[float, ...]
    picture: Picture


def layout_ranks(value: Any, *, losses: Any = None, paper: Paper = ANY_PAPER) -> RanksLayout:
    """Place the distribution of the rank of every learner over data sets.

    Parameters
    ----------
    value : Losses, Decision or Study
        Over several data sets.
    losses : Losses, optional
        What an order was found from, where it does not say so itself.
    paper : Paper, optional
        What it must fit.

    Examples
    --------
    >>> import bestofk as bk
    >>> losses = bk.Losses([[0.1, 0.4, 0.2], [0.2, 0.3, 0.2]], dims=("algorithm", "dataset"),
    ...     algorithms=["nn", "nmc"])
    >>> layout_ranks(losses).counts
    ((1.5, 1.5), (1.5, 1.5))
    """
    table = by_dataset(value, losses, "ranks")
    counts = rank_counts(table.losses)
    K, D = table.losses.shape
    means = (counts * np.arange(1, K + 1)).sum(axis=1) / D
    order = np.lexsort((table.losses.mean(axis=1), np.round(means, 9)))
    sheet = Sheet(paper)
    size = SIZE if K <= 30 else SMALL
    pitch = 30.0 if K <= 8 else max(15.0, min(26.0, 420.0 / K))
    labels = sheet.labels([table.learners[k] for k in order], paper.share(0.36, 190.0), size)
    start = 10 + sheet.widest(labels, size) + 10
    firsts = [f"{counts[k, 0]:g}" if _whole(counts[k, 0]) else f"{counts[k, 0]:.1f}" for k in order]
    said = [f"{means[k]:.2f}" for k in order]
    columns = ("mean rank", *said), ("first", *firsts)
    shown = list(columns)
    while shown and paper.rest(start + columns_width(sheet, shown) + 12, 300.0) < _LEAST:
        # the upright line tells the mean, the first bar how often it is first
        shown.pop()
    across = paper.rest(start + columns_width(sheet, shown) + 12, 300.0)
    scale = Scale(low=0.5, high=K + 0.5, start=start, end=start + across)
    top = 8 + SMALL * LINE + 3
    rows = tuple(top + (k + 1) * pitch for k in range(K))
    bottom = top + K * pitch + 3
    end = x_axis(
        sheet, scale, top=None, bottom=bottom, title="rank on a data set, 1 the best", whole=True
    )
    tallest = max(float(counts.max()), 1e-9)
    half = 0.42 * across / K
    for row, k in zip(rows, order.tolist(), strict=True):
        sheet.line((scale.start, row), (scale.end, row), colour="faint", width=0.6)
        for rank in range(K):
            high = counts[k, rank] / tallest * (pitch - 5)
            if high > 0:
                x = scale(rank + 1.0)
                colour, opacity = ("blue", 1.0) if rank == 0 else ("blue", 0.45)
                sheet.box(x - half, row - high, x + half, row, fill=colour, opacity=opacity)
        at = scale(float(means[k]))
        sheet.line((at, row - pitch + 5), (at, row + 2), colour="vermillion", width=1.6)
    for k, label in enumerate(labels):
        sheet.say(start - 8, rows[k] - pitch / 2 + 2, label, size=size, anchor="end")
    middles = [row - pitch / 2 + 2 for row in rows]
    heading = top - SMALL * LINE / 2 - 2
    width = columns_beside(sheet, shown, left=scale.end, heading=heading, rows=middles) + 12
    note = (
        f"Bars: on how many of {D} data sets a learner has that rank by {table.metric.mean}, dark "
        f"for the first; the tallest bar is {tallest:.3g}. Upright line: its mean rank. Learners "
        "that tie share their ranks in equal parts."
    )
    end = sheet.note(note, left=10, top=end + 6, width=width - 20)
    best, most = table.learners[order[0]], int(np.argmax(counts[:, 0]))
    return RanksLayout(
        labels=labels,
        order=tuple(order.tolist()),
        mean_ranks=tuple(means[order].tolist()),
        counts=tuple(tuple(row) for row in counts[order].tolist()),
        rows=rows,
        picture=sheet.picture(
            width,
            end + 6,
            alt=printable(
                f"Ranks of {counted(K, 'learner')} on {counted(D, 'data set')}: {best} has the "
                f"best mean rank, {means[order[0]]:.2f}; {table.learners[most]} is first most "
                f"often, {counts[most, 0]:.3g} times."
            ),
            x_scale=scale,
        ),
    )


def rank_counts(losses: Floats) -> Floats:
    """(K, K): on how many data sets each learner (row) has each rank; ties in equal parts.

    Examples
    --------
    >>> rank_counts(np.array([[0.1, 0.2], [0.1, 0.3], [0.4, 0.1]])).tolist()
    [[0.5, 1.5, 0.0], [0.5, 0.5, 1.0], [1.0, 0.0, 1.0]]
    """
    K = len(losses)
    counts = np.zeros((K, K))
    for column in losses.T:
        # losses that differ by rounding alone are equal
        keys = np.round(column / (np.abs(column).max() or 1.0), 12)
        for level in np.unique(keys):
            tied = np.flatnonzero(keys == level)
            first = int((keys < level).sum())
            counts[np.ix_(tied, np.arange(first, first + len(tied)))] += 1.0 / len(tied)
    return np.round(counts, 12)


def _whole(count: float) -> bool:
    return abs(count - round(count)) < 1e-9
