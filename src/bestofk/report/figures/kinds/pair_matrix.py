"""The pairwise matrix: the difference of every pair, its interval and p, and who is better."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from bestofk._base.formatting import counted, printable
from bestofk.report.figures.comparisons import (
    Comparisons,
    comparisons_of,
    learners_of,
    minus,
    short_p,
)
from bestofk.report.figures.labels import LINE
from bestofk.report.figures.picture import Picture, Point, Sheet, short_number
from bestofk.report.figures.style import ANY_PAPER, SIZE, SMALL, Paper

_IN_FULL = 8
"""Up to so many learners a cell holds the difference, its interval and p."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixLayout:
    """A triangle: the cell in row r and column c (c < r) compares two learners.

    Attributes
    ----------
    labels : tuple of str
        Best first; each stands on the diagonal, at the end of its row and on top of its column.
    order : tuple of int
        Those learners as the result counts them.
    cells : tuple of (row, column, left, top, better)
        Where a cell stands, and who is shown to be better: -1 the row, 1 the column, 0 neither.
    side : (float, float)
        Width and height of a cell.
    detail : {"full", "short", "colour"}
        What fits into a cell.
    picture : Picture
    """

    labels: tuple[str, ...]
    order: tuple[int, ...]
    cells: tuple[tuple[int, int, float, float, int], ...]
    side: tuple[float, float]
    detail: str
    picture: Picture


def layout_matrix(value: Any, *, paper: Paper = ANY_PAPER, **options: Any) -> MatrixLayout:
    """Place every pair of learners in a triangle.

    Parameters
    ----------
    value : Decision, Study, PosthocResult, TukeyResult, NemenyiResult or NewmanKeulsResult
    paper : Paper, optional
        What it must fit.
    **options
        As for `comparisons_of`: `names`, `alpha`, `level`.
    """
    # cells of more learners have no room for an interval
    if learners_of(value) > _IN_FULL:
        options = {**options, "level": None}
    pairs = comparisons_of(value, **options)
    K = len(pairs.order)
    sheet = Sheet(paper)
    left, top = 10.0, 8.0
    detail, side, size = _cell_size(sheet, pairs)
    room = paper.rest(left + (K - 1) * side[0] + 13, 190.0)
    labels = sheet.labels([pairs.names[a] for a in pairs.order], min(room, 190.0), size)
    cells = []
    boxes = []
    ink = _strength(pairs, words=detail != "colour")
    for row in range(K):
        a = pairs.order[row]
        y = top + row * side[1]
        for column in range(row):
            b = pairs.order[column]
            x = left + column * side[0]
            better = int(pairs.better[a, b])
            cells.append((row, column, x, y, better))
            # the better placed learner is the one expected to be better
            colour = {1: "blue", -1: "vermillion", 0: "wash"}[better]
            boxes.append((colour, ink(a, b) if better else 1.0, x, y))
    if detail == "colour":
        # neighbours of one style are written together
        boxes.sort()
    for colour, opacity, x, y in boxes:
        right, bottom = x + side[0] - 0.75, y + side[1] - 0.75
        sheet.box(x + 0.75, y + 0.75, right, bottom, fill=colour, opacity=opacity)
    for row, column, x, y, _ in cells:
        _write(sheet, pairs, pairs.order[row], pairs.order[column], (x, y), side, detail)
    for row, label in enumerate(labels):
        sheet.say(left + row * side[0] + 5, top + (row + 0.5) * side[1], label, size=size)
    edges = [
        left + row * side[0] + 5 + sheet.text_width(label, size) for row, label in enumerate(labels)
    ]
    width = max(max(edges) + 8, 420.0)
    if paper.width is not None:
        sheet.shift(max(0.0, (paper.width - max(edges) - 8) / 2 - left))
        width = paper.width
    bottom = sheet.note(
        _reading(pairs, detail), left=left, top=top + K * side[1] + 8, width=width - 2 * left
    )
    return MatrixLayout(
        labels=labels,
        order=pairs.order,
        cells=tuple(cells),
        side=side,
        detail=detail,
        picture=sheet.picture(width, bottom + 6, alt=_alt(pairs)),
    )


def _cell_size(sheet: Sheet, pairs: Comparisons) -> tuple[str, tuple[float, float], float]:
    """What fits into a cell, its width and height, and the size of the names."""
    K = len(pairs.order)
    # what the cells leave is for the name of the last row
    most = sheet.paper.rest(23 + sheet.paper.share(0.24, 190.0), 1e9) / max(K - 1, 1)
    if K <= _IN_FULL:
        texts = [_full(pairs, a, b) for a in pairs.order for b in pairs.order if a != b]
        wide = max(sheet.text_width(line, SMALL, bold=True) for lines in texts for line in lines)
        if wide + 8 <= most:
            high = max(map(len, texts)) * SMALL * LINE + 8
            return "full", (max(wide + 12 if wide + 12 <= most else most, 58.0), high), SIZE
    if K <= 24 and most >= 30.0:
        return "short", (min(34.0, most), 22.0), SIZE
    high = 12.0
    free = sheet.paper.width is None
    return "colour", (high if free else min(20.0, most), high), SMALL


def _strength(pairs: Comparisons, *, words: bool) -> Any:
    """Darker the larger the difference, within what words can be read on."""
    most = float(np.abs(pairs.difference).max()) or 1.0

    def opacity(a: int, b: int) -> float:
        share = abs(float(pairs.difference[a, b])) / most
        return 0.16 + 0.34 * share if words else 0.3 + 0.03 * round(20 * share)

    return opacity


def _signed(pairs: Comparisons, value: float) -> str:
    """A difference with as many decimals as the others of the figure."""
    most = float(np.abs(pairs.difference).max())
    if most and (most < 1e-3 or most >= 1e6):
        return minus(f"{value:+.3g}")
    return minus(f"{value:+.{4 if most < 0.1 else 3 if most < 10 else 1}f}")


def _full(pairs: Comparisons, a: int, b: int) -> list[str]:
    lines = [_signed(pairs, pairs.difference[a, b])]
    if pairs.low is not None and pairs.high is not None:
        low, high = float(pairs.low[a, b]), float(pairs.high[a, b])
        if isfinite(low) and isfinite(high):
            lines.append(f"{_signed(pairs, low)} to {_signed(pairs, high)}")
        elif isfinite(low):
            lines.append(f"from {_signed(pairs, low)}")
        elif isfinite(high):
            lines.append(f"up to {_signed(pairs, high)}")
    if np.isfinite(pairs.pvalue[a, b]):
        lines.append(f"p {short_p(float(pairs.pvalue[a, b]), pairs.alpha)}")
    return lines


def _write(
    sheet: Sheet,
    pairs: Comparisons,
    a: int,
    b: int,
    corner: Point,
    side: tuple[float, float],
    detail: str,
) -> None:
    x, y = corner
    middle, height = x + side[0] / 2, SMALL * LINE
    better = int(pairs.better[a, b])
    colour = "ink" if better else "muted"
    if detail == "full":
        lines = _full(pairs, a, b)
        start = y + (side[1] - len(lines) * height) / 2
        for k, line in enumerate(lines):
            sheet.say(
                middle,
                start + (k + 0.5) * height,
                line,
                size=SMALL,
                anchor="middle",
                colour=colour,
                bold=bool(k == 0 and better),
            )
    elif detail == "short":
        # three digits say it in a narrow cell
        value = pairs.difference[a, b]
        text = _three_digits(float(value), float(np.abs(pairs.difference).max()))
        p = float(pairs.pvalue[a, b])
        lines = [text, _tiny_p(p, pairs.alpha) if p == p else ""]
        for k, line in enumerate(lines):
            if line:
                sheet.say(
                    middle,
                    y + side[1] / 2 + (k - 0.5) * 9.2,
                    line,
                    size=7.0,
                    anchor="middle",
                    colour=colour,
                )
    elif better < 0:
        # not by the colour alone
        sheet.dot(middle, y + side[1] / 2, 2.0, fill="paper")


def _three_digits(value: float, most: float) -> str:
    """A difference in a narrow cell, where the largest of the figure is `most`."""
    if most and (most < 1e-2 or most >= 1e4):
        text = short_number(value, "+.1e") if value else "0"
        return text if len(text) <= 6 else short_number(value, "+.0e")
    digits = 3 if abs(value) < 0.9995 else 1 if abs(value) < 99.95 else 0
    return minus(f"{value:+.{digits}f}").replace("0.", ".")


def _tiny_p(p: float, alpha: float) -> str:
    if p < 0.001 <= alpha:
        return "p<.001"
    text = short_p(p, alpha)
    # four decimals are all that a narrow cell holds
    text = text if len(text) <= 6 else f"{p:.4f}"
    return f"p{text}".replace("0.", ".") if text[0] in "<>" else f"p {text}".replace("0.", ".")


def _reading(pairs: Comparisons, detail: str) -> str:
    what = {
        "full": f"In each cell: the {pairs.score_name} of the row (named at its right end) less "
        "that of the column (named on top)"
        + (", its interval" if pairs.low is not None else "")
        + (f", {pairs.p_words}" if np.isfinite(pairs.pvalue).all() else ""),
        "short": f"In each cell: the {pairs.score_name} of the row less that of the column, and "
        f"{pairs.p_words}",
        "colour": f"Each cell compares the row (named at its right end) with the column (named on "
        f"top); darker: a larger difference of the {pairs.score_name}",
    }[detail]
    said = f" {pairs.interval_note}" if detail == "full" and pairs.interval_note else ""
    dotted = " with a dot" if detail == "colour" else ""
    return (
        f"{what}. Blue: the column is significantly better; orange{dotted}: the row is; grey: no "
        f"evidence of a difference. {pairs.note}{said}"
    )


def _alt(pairs: Comparisons) -> str:
    count = int(np.triu(pairs.different).sum())
    K = len(pairs.order)
    return printable(
        f"Matrix of {counted(K * (K - 1) // 2, 'pair')} of {K} learners; a difference is shown in "
        f"{count}."
    )
