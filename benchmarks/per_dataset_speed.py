"""Decide on ten data sets of the MultiTest paper as published: one run against ten.

Prints the seconds of ``bestofk compare A B C ... --per-dataset --as-published`` and of one command
per data set, and whether their decisions are equal. Needs the UCI data sets (``BESTOFK_DATA``).

Run: ``python benchmarks/per_dataset_speed.py``
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

DATA = (
    "breast", "bupa", "dermatology", "ecoli", "glass", "haberman", "hepatitis", "iris", "wine",
    "zoo",
)  # fmt: skip
COMMAND = [sys.executable, "-m", "bestofk", "compare"]
OPTIONS = ["--target", "class", "--as-published", "--json"]


def answers(*words: str) -> dict[str, Any]:
    """Return the JSON of a command."""
    done = subprocess.run([*COMMAND, *words, *OPTIONS], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def decided(answer: dict[str, Any]) -> tuple[Any, ...]:
    """Return the recommended learner, the order, and the means."""
    means = [(row["name"], row["mean"], row["verdict"]) for row in answer["table"]]
    return answer["recommended"], answer["order"], means


def main() -> None:
    """Print the seconds and the number of equal decisions."""
    folder = Path(os.environ["BESTOFK_DATA"]) / "uci"
    files = {name: str(folder / f"{name}.csv") for name in DATA}
    start = perf_counter()
    together = answers(*files.values(), "--per-dataset")
    middle = perf_counter()
    single = {name: answers(file) for name, file in files.items()}
    end = perf_counter()
    equal = sum(decided(together["by_dataset"][name]) == decided(single[name]) for name in DATA)
    print(f"one run {middle - start:.1f} s, {len(DATA)} runs {end - middle:.1f} s")
    print(f"equal decisions: {equal} of {len(DATA)}")
    print(together["headline"])


if __name__ == "__main__":
    main()
