"""Measure start-up: importing bestofk, and the help text.

- ``import-bestofk``: the time of `import numpy` over ours (limit: at least 1 / 1.6).
- ``help``: twice `import argparse, json` plus 60 ms, over ``bestofk --help`` (limit: at least 1).

Medians of alternating starts.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from timing import Row

STARTS = 31


def start(*command: str) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measure() -> list[Row]:
    python = sys.executable
    script = str(Path(python).with_name("bestofk"))
    commands = {
        "bestofk": (python, "-c", "import bestofk"),
        "numpy": (python, "-c", "import numpy"),
        "help": (script, "--help"),
        "python": (python, "-c", "import argparse, json"),
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            times[name].append(start(*command))
    median = {name: statistics.median(values) for name, values in times.items()}
    limit = 2 * median["python"] + 0.060
    return [
        (
            "import-bestofk",
            median["numpy"] / median["bestofk"],
            median["bestofk"],
            median["numpy"],
        ),
        ("help", limit / median["help"], median["help"], limit),
    ]
