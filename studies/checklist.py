"""Run the long commands of the checklist of the papers, and look for the figures of its rows.

    BESTOFK_DATA=DIR python studies/checklist.py [--only TEXT]

`bestofk papers fetch uci --to DIR` and `fetch keel` download the data sets. All commands together
take about an hour; `--only 'reproduce calibrated'` runs those that contain the text.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "papers" / "checklist.md"


@dataclass(frozen=True)
class Row:
    """One item of the papers, the command or test that computes it, and its figure."""

    item: str
    name: str
    source: str
    figure: str
    long: bool


def rows() -> list[Row]:
    """Read the checklist."""
    found = []
    for line in PAGE.read_text().splitlines():
        if line.startswith("| ") and not line.startswith(("| item", "| ---")):
            item, name, source, figure = (cell.strip() for cell in line.strip("|").split(" | "))
            long = source.endswith("*long*")
            source = source.removesuffix("*long*").strip(" `")
            found.append(Row(item, name, source, figure.strip("`"), long))
    return found


def plain(text: str) -> str:
    """Return the text with single blanks, without commas and the borders of tables."""
    return " ".join(text.replace("|", " ").replace(",", "").split())


def main() -> int:
    """Print the figures that the output of their command does not contain."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="run the commands that contain this text")
    only = parser.parse_args().only
    long = [row for row in rows() if row.long and only in row.source]
    missing = 0
    for command in dict.fromkeys(row.source for row in long):
        words = shlex.split(command)
        words = ["-m", *words] if words[0] == "bestofk" else words[1:]
        done = subprocess.run(
            [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        output = plain(done.stdout)
        for row in long:
            if row.source == command and plain(row.figure) not in output:
                missing += 1
                print(f"{command}\n  no '{row.figure}' ({row.item})")
    print(f"{len(long)} figures, {missing} missing")
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
