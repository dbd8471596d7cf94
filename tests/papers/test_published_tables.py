"""The summaries of the published tables count exactly the judged cells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "papers" / "tables"
TABLES = sorted(path for path in FOLDER.glob("*.md") if "### " in path.read_text())


def sections(text: str) -> list[tuple[str, list[list[str]]]]:
    """(summary, cells) of every table with a summary that counts."""
    parts = []
    for part in text.split("\n### ")[1:]:
        lines = part.splitlines()
        rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in lines
            if line.startswith("|")
        ]
        parts.append((lines[2], [row[1:] for row in rows[2:]]))
    return parts


def counted(cells: list[list[str]]) -> tuple[int, int]:
    """Count agreeing and judged cells: `ours / printed`, with a mark otherwise."""
    judged = [
        cell
        for row in cells
        for cell in row
        if " / " in cell and not cell.startswith("- / ") and not cell.endswith(" ?")
    ]
    return sum(not cell.endswith(" !") for cell in judged), len(judged)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_the_summary_counts_the_cells(path):
    parts = sections(path.read_text())
    assert parts
    for summary, cells in parts:
        good, total = counted(cells)
        if total:
            assert f": {good} of {total} " in summary
        else:
            assert re.search(": not judged|ours only", summary)
