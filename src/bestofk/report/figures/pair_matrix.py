"""The pairwise matrix: the difference of every pair, its interval, its p-value, and who wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk.report.figures.comparisons import Comparisons, comparisons_of, learners_of
from bestofk.report.figures.lettering import LINE, all_fitted, text_width
from bestofk.report.figures.painting import paint
from bestofk.report.figures.picture import SIZE, SMALL, Picture, Sheet
from bestofk.report.figures.wordings import minus, short_p
from bestofk.wording import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    cells : tuple of (row, column, left, top, winner)
        Where a cell stands, and who wins: -1 the row, 1 the column, 0 neither.
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


def layout_matrix(value: Any, **options: Any) -> MatrixLayout:
    """Place every pair of learners in a triangle.

    Parameters
    ----------
    value : Order, Study, PosthocResult, TukeyResult, NemenyiResult or NewmanKeulsResult
    **options
        As for `comparisons_of`: `names`, `losses`, `alpha`, `level`.
    """
    # cells of more learners have no room for an interval
    if learners_of(value) > _IN_FULL:
        options = {**options, "level": None}
    pairs = comparisons_of(value, **options)
    K = len(pairs.order)
    if K <= _IN_FULL:
        detail = "full"
        texts = [_full(pairs, a, b) for a in pairs.order for b in pairs.order if a != b]
        wide = max(text_width(line, SMALL) for lines in texts for line in lines) + 12
        side = (max(wide, 58.0), len(texts[0]) * SMALL * LINE + 8)
        size = SIZE
    elif K <= 24:
        detail, side, size = "short", (34.0, 22.0), SIZE
    else:
        detail, side, size = "colour", (12.0, 12.0), SMALL
    labels = all_fitted([pairs.names[a] for a in pairs.order], 190.0, size)
    left, top = 10.0, 8.0
    sheet = Sheet()
    cells = []
    ink = _strength(pairs, words=detail != "colour")
    for row in range(K):
        a = pairs.order[row]
        y = top + row * side[1]
        for column in range(row):
            b = pairs.order[column]
            x = left + column * side[0]
            winner = _winner(pairs, a, b)
            cells.append((row, column, x, y, winner))
            # the better placed learner is the expected winner
            colour = {1: "blue", -1: "vermillion", 0: "wash"}[winner]
            sheet.box(
                x + 0.75,
                y + 0.75,
                x + side[0] - 0.75,
                y + side[1] - 0.75,
                fill=colour,
                opacity=1.0 if not winner else ink(a, b),
            )
            _write(sheet, pairs, a, b, x, y, side, detail, winner)
        sheet.say(left + row * side[0] + 5, y + side[1] / 2, labels[row], size=size)
    edges = [left + row * side[0] + 5 + text_width(label, size) for row, label in enumerate(labels)]
    width = max(max(edges) + 8, 420.0)
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


def draw_matrix(layout: MatrixLayout, ax: Axes | None = None) -> Axes:
    """Draw the pairwise matrix."""
    return paint(layout.picture, ax)


def _winner(pairs: Comparisons, row: int, column: int) -> int:
    if not pairs.different[row, column]:
        return 0
    return 1 if pairs.difference[row, column] > 0 else -1


def _strength(pairs: Comparisons, *, words: bool) -> Any:
    """Darker the larger the difference, within what words can be read on."""
    most = float(np.abs(pairs.difference).max()) or 1.0

    def opacity(a: int, b: int) -> float:
        share = abs(float(pairs.difference[a, b])) / most
        return 0.16 + 0.34 * share if words else 0.3 + 0.6 * share

    return opacity


def _digits(pairs: Comparisons) -> int:
    most = float(np.abs(pairs.difference).max())
    return 4 if most < 0.1 else 3 if most < 10 else 1


def _full(pairs: Comparisons, a: int, b: int) -> list[str]:
    digits = _digits(pairs)
    lines = [minus(f"{pairs.difference[a, b]:+.{digits}f}")]
    if pairs.low is not None and pairs.high is not None:
        low, high = pairs.low[a, b], pairs.high[a, b]
        lines.append(minus(f"{low:+.{digits}f} to {high:+.{digits}f}"))
    if np.isfinite(pairs.pvalue[a, b]):
        lines.append(f"p {short_p(float(pairs.pvalue[a, b]))}")
    return lines


def _write(
    sheet: Sheet,
    pairs: Comparisons,
    a: int,
    b: int,
    x: float,
    y: float,
    side: tuple[float, float],
    detail: str,
    winner: int,
) -> None:
    middle, height = x + side[0] / 2, SMALL * LINE
    colour = "ink" if winner else "muted"
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
                bold=bool(k == 0 and winner),
            )
    elif detail == "short":
        # three digits say it in a narrow cell
        value = pairs.difference[a, b]
        digits = 3 if abs(value) < 0.9995 else 1 if abs(value) < 99.95 else 0
        text = minus(f"{value:+.{digits}f}")
        p = float(pairs.pvalue[a, b])
        lines = [text.replace("0.", "."), _tiny_p(p) if p == p else ""]
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


def _tiny_p(p: float) -> str:
    if p < 0.001:
        return "p<.001"
    if p > 0.995:
        return "p 1"
    return f"p {p:.3f}".replace("0.", ".") if p < 0.1 else f"p {p:.2f}".replace("0.", ".")


def _reading(pairs: Comparisons, detail: str) -> str:
    what = {
        "full": f"In each cell: {pairs.score_name} of the row (named at its right end) less that "
        "of the column (named on top)"
        + (", the interval" if pairs.low is not None else "")
        + (", the p-value" if np.isfinite(pairs.pvalue).all() else ""),
        "short": f"In each cell: {pairs.score_name} of the row less that of the column, and the "
        "p-value",
        "colour": f"Each cell compares the row (named at its right end) with the column (named on "
        f"top); darker: a larger difference of {pairs.score_name}",
    }[detail]
    told = f" {pairs.interval_note}" if detail == "full" and pairs.interval_note else ""
    return (
        f"{what}. Blue: the column is significantly better; orange: the row is; grey: no "
        f"significant difference. {pairs.note}{told}"
    )


def _alt(pairs: Comparisons) -> str:
    count = int(np.triu(pairs.different).sum())
    K = len(pairs.order)
    return printable(
        f"Matrix of {K * (K - 1) // 2} pairs of {K} learners; {count} differ significantly."
    )
