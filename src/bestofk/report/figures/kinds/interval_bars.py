"""Bootstrap-B: intervals against the null, with what stays open drawn open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import counted, printable
from bestofk.losses.losses import Metric
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.comparisons import short_p
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper

_COLOURS = {"significant": "blue", "not significant": "muted", "inconclusive": "orange"}

_LEAST = 200.0
"""Both axes together; if they would be shorter, the words beside them go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalsLayout:
    """One row per learner by the middle of its interval: means at the left, p at the right.

    Attributes
    ----------
    labels : tuple of str
    order : tuple of int
        Those learners as the result counts them.
    means, pvalues : tuple of (float, float)
        Ends of the mean, in the user's metric where an order knows it, and of the adjusted
        p-value.
    null : (float, float)
        Ends of the mean of all learners.
    verdicts : tuple of str
    rows : tuple of float
        Height of each row.
    picture : Picture
    """

    labels: tuple[str, ...]
    order: tuple[int, ...]
    means: tuple[tuple[float, float], ...]
    pvalues: tuple[tuple[float, float], ...]
    null: tuple[float, float]
    verdicts: tuple[str, ...]
    rows: tuple[float, ...]
    picture: Picture


def layout_intervals(value: Any, *, paper: Paper = ANY_PAPER) -> IntervalsLayout:
    """Place the intervals of Bootstrap-B beside their p-values.

    Parameters
    ----------
    value : BootstrapBResult, or an Decision or Study that has one beside it
    paper : Paper, optional
        What it must fit.

    References
    ----------
    J. Otero, L. Sanchez, I. Couso and A. Palacios (2013). Bootstrap analysis of multiple
    repetitions of experiments using an interval-valued multiple comparison procedure. Journal
    of Computer and System Sciences 80, 88-100. doi:10.1016/j.jcss.2013.03.009
    """
    from bestofk.stats.multiple.interval_bootstrap import BootstrapBResult

    decision = getattr(value, "decision", value)
    metric: Metric = getattr(decision, "metric", None) or Metric()
    result = getattr(decision, "bootstrap", decision)
    if not isinstance(result, BootstrapBResult):
        raise ArgumentError(
            "figure 'intervals': a result of bootstrap_b is needed, or an order with one beside it "
            f"(repetitions on several data sets); got {type(value).__name__}."
        )
    order = np.argsort(result.intervals.mean(axis=1), kind="stable")
    ends = np.sort(metric.shown(result.intervals), axis=1)
    K = len(ends)
    null = (float(ends[:, 0].mean()), float(ends[:, 1].mean()))
    size = SIZE if K <= 30 else SMALL
    pitch = 22.0 if K <= 20 else max(13.0, 660.0 / K)
    sheet = Sheet(paper)
    labels = sheet.labels([result.names[a] for a in order], paper.share(0.34, 190.0), size)
    verdicts = tuple(result.verdicts[a] for a in order)
    said = [_said(result, a) for a in order.tolist()]
    start = 10 + sheet.widest(labels, size) + 12
    low, high = around(float(ends.min()), float(ends.max()), margin=0.06)
    gap = paper.share(0.07, 34.0)
    tell_width = sheet.widest(said, SMALL) + 12
    both = paper.rest(start + gap + tell_width + 10, 410.0)
    if both < _LEAST:
        # the looks of the bars tell the verdicts
        said, tell_width = [], 8.0
        both = paper.rest(start + gap + tell_width + 10, 410.0)
    left = Scale(low=low, high=high, start=start, end=start + both * 0.56)
    smallest = float(result.adjusted_pvalues[result.adjusted_pvalues > 0].min(initial=0.01))
    floor = max(min(smallest / 1.5, result.alpha / 5), 1e-8)
    right = Scale(
        low=floor, high=1.0, start=left.end + gap, end=left.end + gap + both * 0.44, kind="log"
    )
    top = 26.0
    rows = tuple(top + (k + 0.5) * pitch for k in range(K))
    bottom = top + K * pitch + 2
    sheet.box(
        left(null[0]),
        top,
        max(left(null[1]), left(null[0]) + 1.2),
        bottom,
        fill="faint",
        opacity=0.75,
    )
    half = sheet.text_width("mean of all", SMALL) / 2
    alpha = right(result.alpha)
    level = f"alpha {result.alpha:g}"
    at_alpha = max(alpha, left.end + gap / 2 + sheet.text_width(level, SMALL) / 2)
    sheet.say(
        min((left(null[0]) + left(null[1])) / 2, left.end + gap / 2 - half - 2),
        top - 8,
        "mean of all",
        size=SMALL,
        colour="muted",
        anchor="middle",
    )
    border = left.end + gap / 2
    end = x_axis(
        sheet,
        left,
        top=None,
        bottom=bottom,
        title=printable(metric.mean),
        within=(0.0, border),
    )
    x_axis(
        sheet,
        right,
        top=None,
        bottom=bottom,
        title="adjusted p" if both < _LEAST else "adjusted p-value",
        within=(border, paper.rest(0.0, right.end + 40.0)),
    )
    sheet.line((alpha, top), (alpha, bottom), colour="vermillion", width=1.1, dash=(4, 2.5))
    sheet.say(at_alpha, top - 8, level, size=SMALL, colour="vermillion", anchor="middle")
    tell = right.end + 12
    for k, (row, a) in enumerate(zip(rows, order.tolist(), strict=True)):
        verdict = verdicts[k]
        colour = _COLOURS[verdict]
        sheet.say(start - 12, row, labels[k], size=size, anchor="end")
        _bar(sheet, left, ends[a], row, colour, open_ended=verdict == "inconclusive")
        _bar(
            sheet,
            right,
            result.adjusted_pvalues[a],
            row,
            colour,
            open_ended=verdict == "inconclusive",
        )
        if said:
            sheet.say(tell, row, said[k], size=SMALL, colour=colour)
    width = right.end + tell_width + 10
    note = (
        f"Bootstrap-B over {counted(result.cells.shape[2], 'data set')}, rule {result.rule!r}, "
        f"p-values adjusted by {result.correction}. Bars reach from the smallest to the largest "
        "value that the data allow. Blue: significant; grey: not; open and dashed: inconclusive, "
        "p lies on both sides of alpha."
    )
    end = sheet.note(note, left=10, top=end + 6, width=width - 20)
    tally = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in _COLOURS if kind in verdicts)
    return IntervalsLayout(
        labels=labels,
        order=tuple(order.tolist()),
        means=tuple((float(ends[a, 0]), float(ends[a, 1])) for a in order),
        pvalues=tuple(
            (float(result.adjusted_pvalues[a, 0]), float(result.adjusted_pvalues[a, 1]))
            for a in order
        ),
        null=null,
        verdicts=verdicts,
        rows=rows,
        picture=sheet.picture(
            width,
            end + 6,
            alt=printable(f"Intervals of {counted(K, 'learner')} against their mean: {tally}."),
            x_scale=left,
        ),
    )


def _said(result: Any, learner: int) -> str:
    p = [short_p(float(p), result.alpha) for p in result.adjusted_pvalues[learner]]
    verdict = result.verdicts[learner]
    return f"{verdict}, p {p[0]}" if p[0] == p[1] else f"{verdict}, p {p[0]} to {p[1]}"


def _bar(
    sheet: Sheet, scale: Scale, ends: Any, row: float, colour: str, *, open_ended: bool
) -> None:
    low, high = scale(float(ends[0])), scale(float(ends[1]))
    if high - low < 3:
        middle = (low + high) / 2
        sheet.dot(
            middle, row, 3.0, fill="paper" if open_ended else colour, colour=colour, width=1.3
        )
        return
    if open_ended:
        sheet.box(low, row - 3.2, high, row + 3.2, fill="paper")
        sheet.line(
            (low, row - 3.2),
            (high, row - 3.2),
            (high, row + 3.2),
            (low, row + 3.2),
            (low, row - 3.2),
            colour=colour,
            width=1.2,
            dash=(3, 2),
        )
    else:
        sheet.box(low, row - 3.2, high, row + 3.2, fill=colour)
