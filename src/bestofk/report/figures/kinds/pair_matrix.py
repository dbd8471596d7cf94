"""The pairwise matrix: the difference of every pair, its interval and p, and the better one."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from bestofk._base.formatting import counted, pvalue_text, pvalue_words
from bestofk.report.figures.comparisons import Comparisons, comparisons_of, decision_of, minus
from bestofk.report.figures.labels import ELLIPSIS, LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Sheet, short_number
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper

_MAX_FULL = 8
"""Up to this many learners, a cell shows the difference, its interval and p."""
_MAX_SHORT = 24
"""Up to this many learners, a cell shows the difference and p."""


def layout_matrix(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw every pair of learners as a cell of a triangle, the best learner first.

    Parameters
    ----------
    value : Decision or Study
    paper : Paper, optional
    """
    decision = decision_of(value)
    # Cells have no space for an interval if there are more learners.
    pairs = comparisons_of(decision, intervals=len(decision.by_preference) <= _MAX_FULL)
    order = pairs.order
    K = len(order)
    sheet = Sheet(paper)
    left, top = 10.0, 8.0
    detail, (width, height), size = _cell_size(sheet, pairs)
    name_width = min(paper.rest(left + (K - 1) * width + 13, 280.0), 280.0)
    labels = sheet.labels([pairs.names[a] for a in order], name_width, size)
    cells = [
        (order[row], order[column], left + column * width, top + row * height)
        for row in range(K)
        for column in range(row)
    ]
    boxes = []
    largest = float(np.abs(pairs.difference).max()) or 1.0
    for a, b, x, y in cells:
        better = int(pairs.better[a, b])
        share = abs(float(pairs.difference[a, b])) / largest
        # Words must stay readable on the darkest colour.
        opacity = 0.3 + 0.03 * round(20 * share) if detail == "colour" else 0.16 + 0.34 * share
        colour = {1: "blue", -1: "vermillion", 0: "wash"}[better]
        boxes.append((colour, opacity if better else 1.0, x, y))
    if detail == "colour":
        # Neighbours of one style share it in the SVG.
        boxes.sort()
    for colour, opacity, x, y in boxes:
        right, bottom = x + width - 0.75, y + height - 0.75
        sheet.box(x + 0.75, y + 0.75, right, bottom, fill=colour, opacity=opacity)
    for a, b, x, y in cells:
        _write_cell(sheet, pairs, a, b, (x + width / 2, y + height / 2), detail)
    ends = []
    for row, label in enumerate(labels):
        x = left + row * width + 5
        whole = sheet.fitted(pairs.names[order[row]], min(paper.rest(x + 8, 280.0), 280.0), size)
        # Upper rows are shorter, so their names have more space.
        label = label if ELLIPSIS in whole else whole
        sheet.write(x, top + (row + 0.5) * height, label, size=size)
        ends.append(x + sheet.text_width(label, size))
    if paper.width is not None:
        sheet.shift(max(0.0, (paper.width - max(ends) - 8) / 2 - left))
    count = int(np.triu(pairs.different).sum())
    return sheet.finish(
        paper.rest(0.0, max(max(ends) + 8, 420.0)),
        top + K * height + 8,
        note=_note(pairs, detail),
        alt=f"Matrix of {counted(K * (K - 1) // 2, 'pair')} of {K} {pairs.noun}s; a difference is "
        f"shown in {count}.",
    )


def _cell_size(sheet: Sheet, pairs: Comparisons) -> tuple[str, tuple[float, float], float]:
    """Return what fits into a cell, its width and height, and the font size of the names."""
    K = len(pairs.order)
    # The remaining width is for the name of the last row.
    most = sheet.paper.rest(23 + sheet.paper.share(0.24, 190.0), 1e9) / max(K - 1, 1)
    if K <= _MAX_FULL:
        texts = [_full(pairs, a, b) for a in pairs.order for b in pairs.order if a != b]
        width = max(sheet.text_width(line, SMALL, bold=True) for lines in texts for line in lines)
        if width + 8 <= most:
            height = max(map(len, texts)) * SMALL * LINE_HEIGHT + 8
            return "full", (max(min(width + 12, most), 58.0), height), SIZE
    if K <= _MAX_SHORT and most >= 30.0:
        return "short", (min(34.0, most), 22.0), SIZE
    return "colour", (12.0 if sheet.paper.width is None else min(20.0, most), 12.0), SMALL


def _full(pairs: Comparisons, a: int, b: int) -> list[str]:
    """Return the difference, its interval and p."""
    largest = float(np.abs(pairs.difference).max())

    def signed(value: float) -> str:
        if largest and (largest < 1e-3 or largest >= 1e6):
            return minus(f"{value:+.3g}")
        return minus(f"{value:+.{4 if largest < 0.1 else 3 if largest < 10 else 1}f}")

    lines = [signed(pairs.difference[a, b])]
    if pairs.low is not None and pairs.high is not None:
        low, high = float(pairs.low[a, b]), float(pairs.high[a, b])
        if isfinite(low) and isfinite(high):
            lines.append(f"{signed(low)} to {signed(high)}")
        elif isfinite(low):
            lines.append(f"from {signed(low)}")
        elif isfinite(high):
            lines.append(f"up to {signed(high)}")
    lines.append(pvalue_words(float(pairs.pvalue[a, b]), pairs.alpha))
    return lines


def _short(pairs: Comparisons, a: int, b: int) -> list[str]:
    """Return the difference and p in at most six characters each."""
    lines = [_three_digits(float(pairs.difference[a, b]), float(np.abs(pairs.difference).max()))]
    return [*lines, _tiny_p(float(pairs.pvalue[a, b]), pairs.alpha)]


def _write_cell(
    sheet: Sheet, pairs: Comparisons, a: int, b: int, middle: tuple[float, float], detail: str
) -> None:
    x, y = middle
    better = int(pairs.better[a, b])
    colour = "ink" if better else "muted"
    if detail == "full":
        lines = _full(pairs, a, b)
        for k, line in enumerate(lines):
            at = y + (k + 0.5 - len(lines) / 2) * SMALL * LINE_HEIGHT
            bold = k == 0 and better != 0
            sheet.write(x, at, line, size=SMALL, anchor="middle", colour=colour, bold=bold)
    elif detail == "short":
        for k, line in enumerate(_short(pairs, a, b)):
            sheet.write(x, y + (k - 0.5) * 9.2, line, size=7.0, anchor="middle", colour=colour)
    elif better < 0:
        # Mark the cell by more than its colour.
        sheet.dot(x, y, 2.0, fill="paper")


def _three_digits(value: float, largest: float) -> str:
    """Format a difference for a narrow cell; `largest` is the largest of the figure."""
    if largest and (largest < 1e-2 or largest >= 1e4):
        text = short_number(value, "+.1e") if value else "0"
        return text if len(text) <= 6 else short_number(value, "+.0e")
    digits = 3 if abs(value) < 0.9995 else 1 if abs(value) < 99.95 else 0
    return minus(f"{value:+.{digits}f}").replace("0.", ".")


def _tiny_p(p: float, alpha: float) -> str:
    if p < 0.001 <= alpha:
        return "p<.001"
    text = pvalue_text(p, alpha).replace(" ", "")
    text = text if len(text) <= 6 else f"{p:.4f}"
    return f"p{text}".replace("0.", ".") if text[0] in "<>" else f"p {text}".replace("0.", ".")


def _note(pairs: Comparisons, detail: str) -> str:
    cell = f"In each cell: the {pairs.score_name} of the row"
    if detail == "full":
        interval = ", its interval" if pairs.low is not None else ""
        content = (
            f"{cell} (named at its right end) minus that of the column (named on top){interval}, "
            f"{pairs.p_words}"
        )
    elif detail == "short":
        content = f"{cell} minus that of the column, and {pairs.p_words}"
    else:
        content = (
            "Each cell compares the row (named at its right end) with the column (named on top); "
            f"darker: a larger difference of the {pairs.score_name}"
        )
    dotted = " with a dot" if detail == "colour" else ""
    intervals = f" {pairs.interval_note}" if detail == "full" and pairs.interval_note else ""
    return (
        f"{content}. Blue: the column is significantly better; orange{dotted}: the row is; grey: "
        f"no difference shown. {pairs.note}{intervals}"
    )
