"""Two stochastic learners: the repetitions of every split, their means and their intervals."""

from __future__ import annotations

import numpy as np

from bestofk._base.formatting import capitalised, printable
from bestofk.losses.losses import Scores
from bestofk.report.figures.axes import x_axis, y_axis, y_axis_left
from bestofk.report.figures.labels import LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, Paper

PANEL_HEIGHT = 96.0
COLOURS = ("blue", "vermillion")
"""Colours of the two learners."""


def layout_repetitions(table: Scores, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the repetitions of two learners by split, then the means, then the intervals.

    Parameters
    ----------
    table : Scores
        Of two learners, with repetitions.
    paper : Paper, optional

    References
    ----------
    J. Otero, L. Sanchez, I. Couso and A. Palacios (2013). Bootstrap analysis of multiple
    repetitions of experiments using an interval-valued multiple comparison procedure. Journal
    of Computer and System Sciences 80, 88-100. doi:10.1016/j.jcss.2013.03.009, Fig. 1.
    """
    from bestofk.papers.stats.interval_bootstrap import repetition_intervals

    metric, names = table.metric, table.learners
    repetitions = table.losses.shape[-1]
    cells = table.losses.reshape(2, -1, repetitions)
    ends = np.sort(metric.shown(repetition_intervals(cells, "interquartile")), axis=0)
    cells = metric.shown(cells)
    n = cells.shape[1]
    low, high = around(float(cells.min()), float(cells.max()))
    sheet = Sheet(paper)
    line = SIZE * LINE_HEIGHT
    for k, label in enumerate(sheet.labels(names, paper.rest(40.0, 400.0))):
        sheet.dot(12, (k + 0.5) * line + 4, 3.0, fill=COLOURS[k])
        sheet.write(22, (k + 0.5) * line + 4, label, colour=COLOURS[k])
    top = 2 * line + 8
    left = y_axis_left(sheet, Scale(low=low, high=high, start=PANEL_HEIGHT, end=0))
    across = Scale(low=0.5, high=n + 0.5, start=left, end=left + paper.rest(left + 14, 400.0))
    step = (across.end - across.start) / n
    radius = min(3.0, max(1.0, 0.12 * step))
    for title in ("repetitions", "means", "intervals"):
        up = Scale(low=low, high=high, start=top + line * 1.5 + PANEL_HEIGHT, end=top + line * 1.5)
        y_axis(sheet, up, left=left, right=across.end, title=title)
        for k, colour in enumerate(COLOURS):
            for split in range(n):
                x = across(split + 1) + (k - 0.5) * 0.4 * step
                if title == "intervals":
                    bottom, head = up(float(ends[0, k, split])), up(float(ends[1, k, split]))
                    sheet.line((x, bottom), (x, head), colour=colour, width=1.4)
                    for y in (bottom, head):
                        sheet.line((x - radius, y), (x + radius, y), colour=colour, width=1.2)
                elif title == "means":
                    sheet.dot(x, up(float(cells[k, split].mean())), 1.3 * radius, fill=colour)
                else:
                    for loss in np.unique(cells[k, split]).tolist():
                        sheet.dot(x, up(loss), radius, fill=colour, opacity=0.5)
        top = up.start + 8
    end = x_axis(sheet, across, top=None, bottom=up.start, title="split", whole=True)
    return sheet.finish(
        across.end + 14,
        end + 6,
        note=f"{capitalised(printable(metric.name))} of {repetitions} repetitions on {n} splits; "
        f"{'larger' if metric.higher_is_better else 'smaller'} is better. From top "
        "to bottom: the repetitions, their means, and the intervals of the typical repetitions.",
        alt=f"Repetitions, means and intervals of {names[0]} and {names[1]} on {n} splits.",
        x_scale=across,
    )
