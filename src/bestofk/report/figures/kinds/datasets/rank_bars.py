"""Ranks over data sets: how often each learner comes first, second, ... and last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.report.figures.axis_marks import columns_beside, columns_width, x_axis
from bestofk.report.figures.kinds.datasets.by_dataset import by_dataset
from bestofk.report.figures.paper import ANY_PAPER, SIZE, SMALL, Paper
from bestofk.report.figures.picture import Picture, Sheet
from bestofk.report.figures.scales import Scale
from bestofk.report.figures.text_width import LINE
from bestofk.wording import counted, printable

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
    value : Losses, Order or Study
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
