"""Fig. 1 of the paper: averages over folds, over runs and over sorted runs."""

from __future__ import annotations

import numpy as np

from bestofk._base.checks import Floats
from bestofk.papers.comparison import ComparedTable, figure_variants, unprinted
from bestofk.report.figures.picture import Picture, Sheet
from bestofk.report.figures.style import Paper

EXAMPLE: Floats = np.array([[3.0, -1.0, 4.0], [4.0, 1.0, -2.0], [0.0, 6.0, 3.0]])
"""Differences in accuracy of 3 runs of 3 folds, in percent; the paper's own are not in its text."""
CELL = 46.0
MEAN_COLUMN = ("mean over folds", "mean")
"""The head of the means, on wide and on narrow paper."""
NOTE = (
    "Use all data takes the 9 cells as samples. Folds takes the means in the right column (blue), "
    "runs the means in the lower row (vermillion), and sorted runs the means of the lower row "
    "after sorting (green)."
)
ALT = "Cells of 3 runs of 3 folds with averages over folds, runs and sorted runs."


def with_averages(x: Floats) -> Floats:
    """Append the mean of each run as a column and the mean of each fold as a row.

    Examples
    --------
    >>> with_averages(np.array([[1.0, 3.0], [5.0, 3.0]])).tolist()
    [[1.0, 3.0, 2.0], [5.0, 3.0, 4.0], [3.0, 3.0, 3.0]]
    """
    wide = np.column_stack([x, x.mean(axis=1)])
    return np.vstack([wide, wide.mean(axis=0)])


def first_figure() -> tuple[list[ComparedTable], dict[str, tuple[str, ...]]]:
    """Draw the cells of 3 x 3 cross-validation and the averages that the tests use."""
    k = EXAMPLE.shape[1]
    matrices = {
        "as run": ("fold", with_averages(EXAMPLE)),
        "sorted within each run": ("rank", with_averages(np.sort(EXAMPLE, axis=1))),
    }
    rows = (*(f"run {i + 1}" for i in range(len(EXAMPLE))), "mean over runs")
    tables = []
    names = {"as run": ("folds", "runs"), "sorted within each run": ("", "sorted runs")}
    for title, (noun, values) in matrices.items():
        columns = (*(f"{noun} {j + 1}" for j in range(k)), "mean over folds")
        tables.append(unprinted(
            values, table=f"Fig. 1, {title}: difference in accuracy, percent", rows=rows,
            columns=columns, note="Our example; the numbers of the paper's figure are not in its "
            "text.",
        ))  # fmt: skip

    def layout(paper: Paper) -> Picture:
        narrow = paper.width is not None
        sheet, top = Sheet(paper), 8.0
        for title, (noun, values) in matrices.items():
            columns = (*(f"{noun} {j + 1}" for j in range(k)), MEAN_COLUMN[narrow])
            top = _matrix(sheet, title, rows, columns, values, names[title], top, narrow=narrow)
        width = 110 + (k + 2) * CELL + 80
        return sheet.finish(paper.rest(0.0, width), top, note=NOTE, alt=ALT)

    return tables, {"Fig. 1": figure_variants(layout)}


def _matrix(
    sheet: Sheet,
    title: str,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    values: Floats,
    names: tuple[str, str],
    top: float,
    *,
    narrow: bool,
) -> float:
    """Draw one matrix with its averages; return where it ends."""
    left, cell = (84.0, 32.0) if narrow else (110.0, CELL)
    runs, folds = len(rows) - 1, len(columns) - 1
    lower = "green" if names[1].startswith("sorted") else "vermillion"
    sheet.write(8, top + 8, title, bold=True)
    line = top + 30
    for j, column in enumerate(columns):
        text = column if j < folds or names[0] else ""
        sheet.write(left + (j + (0.5 if j < folds else 1)) * cell, line, text, anchor="middle",
                    colour="muted" if j < folds else "blue")  # fmt: skip
    sheet.box(left, line + 12, left + folds * cell, line + 12 + 20 * runs, fill="wash")
    for i, row in enumerate(rows):
        y = line + 22 + 20 * i + 6 * (i == runs)
        sheet.write(8, y, row, colour="muted" if i < runs else lower)
        for j in range(len(columns)):
            if j == folds and (not names[0] or i == runs):
                continue
            colour = "ink" if i < runs and j < folds else lower if i == runs else "blue"
            x = left + (j + (0.5 if j < folds else 1)) * cell
            sheet.write(x, y, f"{values[i, j]:.2f}" if colour != "ink" else f"{values[i, j]:g}",
                        anchor="middle", colour=colour, bold=colour != "ink")  # fmt: skip
    y = line + 28 + 20 * runs
    if narrow:
        return y + 16
    sheet.write(left + folds * cell + 20, y, f"test {names[1]}", colour=lower)
    if names[0]:
        sheet.write(left + (folds + 2) * cell + 6, line + 32, f"test {names[0]}", colour="blue")
    return y + 20
