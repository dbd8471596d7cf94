"""Bootstrap-B: intervals of means and of p-values; inconclusive ones are drawn open."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.formatting import counted, pvalue_text
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.picture import Picture, Scale, Sheet, around
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper, name_size

_COLOURS = {"significant": "blue", "not significant": "muted", "inconclusive": "orange"}
_MIN_AXES = 200.0
"""If both axes together would be shorter, drop the words beside them."""
_HALF_BAR = 3.2


def layout_intervals(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw the intervals of Bootstrap-B next to their p-values, one row per learner.

    Parameters
    ----------
    value : BootstrapBResult
    paper : Paper, optional

    References
    ----------
    J. Otero, L. Sanchez, I. Couso and A. Palacios (2013). Bootstrap analysis of multiple
    repetitions of experiments using an interval-valued multiple comparison procedure. Journal
    of Computer and System Sciences 80, 88-100. doi:10.1016/j.jcss.2013.03.009
    """
    order = np.argsort(value.intervals.mean(axis=1), kind="stable").tolist()
    ends = np.sort(value.intervals, axis=1)
    K = len(ends)
    null = (float(ends[:, 0].mean()), float(ends[:, 1].mean()))
    size = name_size(K)
    pitch = 22.0 if K <= 20 else max(13.0, 660.0 / K)
    sheet = Sheet(paper)
    labels = sheet.labels([value.names[a] for a in order], paper.share(0.36, 280.0), size)
    verdicts = [value.verdicts[a] for a in order]
    texts = [_verdict_text(value, a) for a in order]
    start = 10 + sheet.widest(labels, size) + 12
    low, high = around(float(ends.min()), float(ends.max()), margin=0.06)
    gap = paper.share(0.07, 34.0)
    text_width = sheet.widest(texts, SMALL) + 12
    axes = paper.rest(start + gap + text_width + 10, 410.0)
    if axes < _MIN_AXES:
        # The bars show the verdicts.
        texts, text_width = [], 8.0
        axes = paper.rest(start + gap + text_width + 10, 410.0)
    left = Scale(low=low, high=high, start=start, end=start + axes * 0.56)
    p = value.adjusted_pvalues
    floor = max(min(float(p[p > 0].min(initial=0.01)) / 1.5, value.alpha / 5), 1e-8)
    p_start = left.end + gap
    right = Scale(low=floor, high=1.0, start=p_start, end=p_start + axes * 0.44, kind="log")
    top = 26.0
    bottom = top + K * pitch + 2
    x0, x1 = left(null[0]), left(null[1])
    sheet.box(x0, top, max(x1, x0 + 1.2), bottom, fill="faint", opacity=0.75)
    border = left.end + gap / 2
    alpha = right(value.alpha)
    level = f"alpha {value.alpha:g}"
    level_x = max(alpha, border + sheet.text_width(level, SMALL) / 2)
    mean_x = min((x0 + x1) / 2, border - sheet.text_width("mean of all", SMALL) / 2 - 2)
    sheet.write(mean_x, top - 8, "mean of all", size=SMALL, colour="muted", anchor="middle")
    end = x_axis(sheet, left, top=None, bottom=bottom, title="mean loss", within=(0.0, border))
    x_axis(
        sheet,
        right,
        top=None,
        bottom=bottom,
        title="adjusted p" if axes < _MIN_AXES else "adjusted p-value",
        within=(border, paper.rest(0.0, right.end + 40.0)),
    )
    sheet.line((alpha, top), (alpha, bottom), colour="vermillion", width=1.1, dash=(4, 2.5))
    sheet.write(level_x, top - 8, level, size=SMALL, colour="vermillion", anchor="middle")
    for k, a in enumerate(order):
        row = top + (k + 0.5) * pitch
        is_open = verdicts[k] == "inconclusive"
        colour = _COLOURS[verdicts[k]]
        sheet.write(start - 12, row, labels[k], size=size, anchor="end")
        _bar(sheet, left, ends[a], row, colour, is_open=is_open)
        _bar(sheet, right, p[a], row, colour, is_open=is_open)
        if texts:
            sheet.write(right.end + 12, row, texts[k], size=SMALL, colour=colour)
    tally = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in _COLOURS if kind in verdicts)
    return sheet.finish(
        right.end + text_width + 10,
        end + 6,
        note=f"Bootstrap-B over {counted(value.cells.shape[2], 'data set')}, rule "
        f"{value.rule!r}, p-values adjusted by {value.correction}. Bars reach from the smallest "
        "to the largest value that the data allow. Blue: significant; grey: not significant; open "
        "and dashed: inconclusive, because p lies on both sides of alpha.",
        alt=f"Intervals of {counted(K, 'learner')} against their mean: {tally}.",
        x_scale=left,
    )


def _verdict_text(value: Any, learner: int) -> str:
    p = [pvalue_text(float(p), value.alpha) for p in value.adjusted_pvalues[learner]]
    verdict = value.verdicts[learner]
    return f"{verdict}, p {p[0]}" if p[0] == p[1] else f"{verdict}, p {p[0]} to {p[1]}"


def _bar(
    sheet: Sheet, scale: Scale, ends: Any, row: float, colour: str, *, is_open: bool
) -> None:  # fmt: skip
    low, high = scale(float(ends[0])), scale(float(ends[1]))
    top, bottom = row - _HALF_BAR, row + _HALF_BAR
    if high - low < 3:
        fill = "paper" if is_open else colour
        sheet.dot((low + high) / 2, row, 3.0, fill=fill, colour=colour, width=1.3)
    elif is_open:
        sheet.box(low, top, high, bottom, fill="paper")
        corners = ((low, top), (high, top), (high, bottom), (low, bottom), (low, top))
        sheet.line(*corners, colour=colour, width=1.2, dash=(3, 2))
    else:
        sheet.box(low, top, high, bottom, fill=colour)
