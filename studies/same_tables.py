"""Whether two reproductions of a paper have the same figures, digit for digit.

    bestofk reproduce multitest --runs 100 --json > before.json     (with one version)
    bestofk reproduce multitest --runs 100 --json > after.json      (with another)
    python studies/same_tables.py before.json after.json

Every cell of our side that differs is printed; the exit code is 1 where there is one. What is said
about a table (which cells are judged, and the summary) is not compared.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def tables_of(path: str) -> dict[str, dict[str, Any]]:
    """By title."""
    said = json.loads(Path(path).read_text(encoding="utf-8"))
    return {table["table"]: table for table in said["tables"]}


def cells_of(table: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Our figures by row and column."""
    return {
        (row, column): cell
        for row, cells in zip(table["rows"], table["ours"], strict=True)
        for column, cell in zip(table["columns"], cells, strict=True)
    }


def main(before: str, after: str) -> int:
    former, present = tables_of(before), tables_of(after)
    if former.keys() != present.keys():
        print(f"Other tables: {sorted(former.keys() ^ present.keys())}")
        return 1
    found = 0
    for title, table in former.items():
        old, new = cells_of(table), cells_of(present[title])
        differing = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
        print(f"{title}: {len(differing)} of {len(old)} cells differ")
        for row, column in sorted(differing):
            said = old.get((row, column)), new.get((row, column))
            print(f"    {row}, {column}: {said[0]!r} before, {said[1]!r} after")
        found += len(differing)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
