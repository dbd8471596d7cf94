"""Measure speed as ratios, both sides in one process.

    python benchmarks/run.py            list the names
    python benchmarks/run.py NAME ...   print `NAME ratio=... ours=... peer=...` lines
    python benchmarks/run.py NAME:PART,PART   of a benchmark that takes parts, those alone
    python benchmarks/run.py all

Every module here with a function `measure()` is a benchmark; it returns rows of
(name, ratio, our seconds, the peer's seconds), where a ratio above 1 means that ours is faster.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent


def names() -> list[str]:
    """Benchmarks by module name."""
    return sorted(
        path.stem
        for path in HERE.glob("*.py")
        if path != Path(__file__) and "def measure(" in path.read_text(encoding="utf-8")
    )


def main(wanted: list[str]) -> int:
    known = names()
    if not wanted:
        print("\n".join(known))
        return 0
    for asked in known if wanted == ["all"] else wanted:
        name, _, parts = asked.partition(":")
        if name not in known:
            print(f"There is no benchmark {name!r}: there are {', '.join(known)}.", file=sys.stderr)
            return 2
        measure = import_module(name).measure
        for row, ratio, ours, peer in measure(parts.split(",")) if parts else measure():
            print(f"{row} ratio={ratio:.4g} ours={ours:.4g}s peer={peer:.4g}s", flush=True)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main(sys.argv[1:]))
