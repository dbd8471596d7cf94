"""The summaries of the published tables count exactly the judged cells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TABLES = sorted((Path(__file__).parents[2] / "docs" / "papers" / "tables").glob("*.md"))


def sections(text: str) -> list[tuple[str, list[str], list[list[str]]]]:
    """(summary, columns, cells) of every table with a summary that counts."""
    parts = []
    for part in text.split("\n### ")[1:]:
        lines = part.splitlines()
        rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in lines
            if line.startswith("|")
        ]
        parts.append((lines[2], rows[0][1:], [row[1:] for row in rows[2:]]))
    return parts


def counted(summary: str, columns: list[str], cells: list[list[str]]) -> tuple[int, int]:
    """Count agreeing and compared cells: `ours / printed`, with a mark if they differ."""
    judged = [
        cell
        for row in cells
        for column, cell in zip(columns, row, strict=True)
        if " / " in cell and not cell.startswith("- / ")
        # the second most selected of Table 2 are shown, not judged
        if not (summary.startswith("Table 2, most (1)") and column.endswith("(2)"))
    ]
    return sum(not cell.endswith(" !") for cell in judged), len(judged)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_the_summary_counts_the_cells(path):
    parts = sections(path.read_text())
    assert parts
    for summary, columns, cells in parts:
        good, total = counted(summary, columns, cells)
        if total:
            assert f": {good} of {total} " in summary
        else:
            assert summary.endswith("there is nothing to compare.")


def test_the_count_sees_marks_and_holes():
    cells = [["1 / 1", "2 / 3 !"], ["- / 4", "5"]]
    assert counted("Table 1", ["a", "b"], cells) == (1, 2)
    words = [["x / x", "y / z"], ["x / y !", ""]]
    assert counted("Table 2, most (1) ...", ["P (1)", "P (2)"], words) == (1, 2)
