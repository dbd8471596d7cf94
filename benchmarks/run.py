"""Measure speed as ratios, with both sides in one run.

    python benchmarks/run.py                  list the benchmarks
    python benchmarks/run.py NAME ...         print `NAME ratio=... ours=... peer=...` lines
    python benchmarks/run.py NAME:PART,PART   measure some parts of a benchmark
    python benchmarks/run.py all

Every module here with a function `measure` is a benchmark. It returns rows of (name, ratio, seconds
of bestofk, seconds of the peer); with a ratio above 1 bestofk is faster. README.md lists them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent


def names() -> list[str]:
    """Return the names of all benchmarks."""
    return sorted(
        path.stem
        for path in HERE.glob("*.py")
        if path != Path(__file__) and "def measure(" in path.read_text(encoding="utf-8")
    )


def main(selected: list[str]) -> int:
    known = names()
    if not selected:
        print("\n".join(known))
        return 0
    for selection in known if selected == ["all"] else selected:
        name, _, parts = selection.partition(":")
        if name not in known:
            print(f"No benchmark {name!r}; choose from {', '.join(known)}.", file=sys.stderr)
            return 2
        measure = import_module(name).measure
        for row, ratio, ours, peer in measure(parts.split(",")) if parts else measure():
            print(f"{row} ratio={ratio:.4g} ours={ours:.4g}s peer={peer:.4g}s", flush=True)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main(sys.argv[1:]))
