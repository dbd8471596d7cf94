"""Measure start-up: importing bestofk, the help text, and answers to misspelt calls.

- ``import-bestofk``: the time of `import numpy` over ours (limit: at least 1 / 1.6).
- ``help``: 90 ms over ``bestofk --help`` (limit: at least 1).
- ``refuse-...``: 0.3 CPU-seconds over those of a misspelt file, embedded name, option or learner
  (limit: at least 1).

Medians of alternating starts, in CPU-seconds: user and system time of the process.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path

from timing import Row

STARTS = 31
REFUSAL_SECONDS, HELP_SECONDS = 0.3, 0.09
REFUSED = {
    "refuse-file": ("compare", "chrun.csv"),
    "refuse-name": ("compare", "irsi"),
    "refuse-option": ("compare", "iris", "--metrics", "f1"),
    "refuse-learner": ("compare", "iris", "--learner", "lgistic"),
    "refuse-table": ("order", "brest-cancer-10x10"),
    "refuse-log": ("evals", "nowhere.json"),
}
"""Calls with a mistake."""


def cpu_seconds(*command: str, code: int = 0) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=False, capture_output=True)
    assert done.returncode == code, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure() -> list[Row]:
    python = sys.executable
    script = str(Path(python).with_name("bestofk"))
    commands = {
        "bestofk": (python, "-c", "import bestofk"),
        "numpy": (python, "-c", "import numpy"),
        "help": (script, "--help"),
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            times[name].append(cpu_seconds(*command))
    median = {name: statistics.median(values) for name, values in times.items()}
    refusals = [
        (name, statistics.median(cpu_seconds(script, *words, code=2) for _ in range(STARTS // 3)))
        for name, words in REFUSED.items()
    ]
    return [
        (
            "import-bestofk",
            median["numpy"] / median["bestofk"],
            median["bestofk"],
            median["numpy"],
        ),
        ("help", HELP_SECONDS / median["help"], median["help"], HELP_SECONDS),
        *((name, REFUSAL_SECONDS / own, own, REFUSAL_SECONDS) for name, own in refusals),
    ]
