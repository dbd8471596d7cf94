"""Compare the figures of two reproductions of a paper, digit by digit.

    bestofk papers reproduce multitest --runs 100 --json > before.json     (with one version)
    bestofk papers reproduce multitest --runs 100 --json > after.json      (with another)
    python studies/same_tables.py before.json after.json

Print every reproduced cell that differs; the exit code is 1 if there is one. Summaries of tables
are not compared.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def tables_of(path: str) -> dict[str, dict[str, Any]]:
    """Return the tables by title."""
    result = json.loads(Path(path).read_text(encoding="utf-8"))
    return {table["table"]: table for table in result["tables"]}


def cells_of(table: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Return the reproduced figures by row and column."""
    return {
        (row, column): cell
        for row, cells in zip(table["rows"], table["ours"], strict=True)
        for column, cell in zip(table["columns"], cells, strict=True)
    }


def main(former_path: str, present_path: str) -> int:
    former, present = tables_of(former_path), tables_of(present_path)
    if former.keys() != present.keys():
        print(f"Only in one file: {sorted(former.keys() ^ present.keys())}")
        return 1
    total = 0
    for title, table in former.items():
        old, new = cells_of(table), cells_of(present[title])
        differing = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
        print(f"{title}: {len(differing)} of {len(old)} cells differ")
        for row, column in sorted(differing):
            before, after = old.get((row, column)), new.get((row, column))
            print(f"    {row}, {column}: {before!r} before, {after!r} after")
        total += len(differing)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
