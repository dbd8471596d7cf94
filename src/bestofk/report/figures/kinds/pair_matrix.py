"""The pairwise matrix: the difference of every pair, its interval and p, and the better one."""

from __future__ import annotations

import re
from itertools import permutations
from math import isfinite
from typing import Any

import numpy as np

from bestofk._base.formatting import counted, pvalue_words, rounded
from bestofk.report.figures.comparisons import Comparisons, comparisons_of, decision_of, minus
from bestofk.report.figures.labels import ELLIPSIS, LINE_HEIGHT
from bestofk.report.figures.picture import Picture, Sheet
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper

_MAX_FULL = 8
"""Up to this many learners, a cell shows the difference, its interval and p."""
_MAX_SHORT = 24
"""Up to this many learners, a cell shows the difference and p."""
_SHORT_SIZE = 7.0


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
    cell_texts = _texts(pairs) if K <= _MAX_SHORT else {}
    detail, (width, height), size = _cell_size(sheet, K, cell_texts)
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
        lines = [] if detail == "colour" else cell_texts[a, b]
        better = int(pairs.better[a, b])
        _write_cell(sheet, lines, better, (x + width / 2, y + height / 2), detail)
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


def _texts(pairs: Comparisons) -> dict[tuple[int, int], list[str]]:
    """Return the difference, its interval and p of each pair; all numbers have equal decimals."""
    tables = [table for table in (pairs.difference, pairs.low, pairs.high) if table is not None]
    flat = rounded(np.stack(tables).ravel().tolist(), pairs.uncertainty)
    signed = np.array([_signed(text) for text in flat]).reshape(len(tables), -1).tolist()
    K = len(pairs.names)
    texts = {}
    for a, b in permutations(pairs.order, 2):
        difference, *ends = (column[a * K + b] for column in signed)
        lines = [difference]
        if pairs.low is not None and pairs.high is not None:
            low, high = isfinite(pairs.low[a, b]), isfinite(pairs.high[a, b])
            if low and high:
                lines.append(f"{ends[0]} to {ends[1]}")
            elif low or high:
                lines.append(f"from {ends[0]}" if low else f"up to {ends[1]}")
        texts[a, b] = [*lines, pvalue_words(float(pairs.pvalue[a, b]), pairs.alpha)]
    return texts


def _signed(text: str) -> str:
    return f"+{text}" if text[0] != "-" and text.strip("0.") else minus(text)


def _short(lines: list[str]) -> list[str]:
    """Return the difference and p without what a narrow cell has no space for."""
    p = lines[-1].removeprefix("p ").removeprefix("= ").replace(" ", "")
    return [re.sub(r"\b0\.", ".", line) for line in (lines[0], p)]


def _cell_size(
    sheet: Sheet, K: int, texts: dict[tuple[int, int], list[str]]
) -> tuple[str, tuple[float, float], float]:
    """Return what fits into a cell, its width and height, and the font size of the names."""
    # The remaining width is for the name of the last row.
    most = sheet.paper.rest(23 + sheet.paper.share(0.24, 190.0), 1e9) / max(K - 1, 1)
    if K <= _MAX_FULL:
        width = max(
            sheet.text_width(line, SMALL, bold=True) for cell in texts.values() for line in cell
        )
        if width + 8 <= most:
            height = max(map(len, texts.values())) * SMALL * LINE_HEIGHT + 8
            return "full", (max(min(width + 12, most), 58.0), height), SIZE
    if K <= _MAX_SHORT:
        width = max(sheet.widest(_short(cell), _SHORT_SIZE) for cell in texts.values()) + 3
        if width <= most:
            return "short", (max(width, min(34.0, most)), 22.0), SIZE
    return "colour", (12.0 if sheet.paper.width is None else min(20.0, most), 12.0), SMALL


def _write_cell(
    sheet: Sheet, lines: list[str], better: int, middle: tuple[float, float], detail: str
) -> None:
    x, y = middle
    if detail == "colour":
        if better < 0:
            # Mark the cell by more than its colour.
            sheet.dot(x, y, 2.0, fill="paper")
        return
    size = SMALL if detail == "full" else _SHORT_SIZE
    lines = lines if detail == "full" else _short(lines)
    for k, line in enumerate(lines):
        at = y + (k + 0.5 - len(lines) / 2) * 1.3 * size
        bold = detail == "full" and k == 0 and better != 0
        colour = "ink" if better else "muted"
        sheet.write(x, at, line, size=size, anchor="middle", colour=colour, bold=bold)


def _note(pairs: Comparisons, detail: str) -> str:
    cell = f"In each cell: the {pairs.score_name} of the row"
    if detail == "full":
        interval = ", its interval" if pairs.low is not None else ""
        content = (
            f"{cell} (named at its right end) minus that of the column (named on top){interval}, "
            f"{pairs.p_words}"
        )
    elif detail == "short":
        content = f"{cell} minus that of the column, and below it {pairs.p_words}"
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
