"""Large tables beside their limits, each command in a process of its own.

    order-200x50     seconds of `bestofk order` on 200 learners x 50 data sets, against 2
    report-200x50    the same with `--report`, against 8
    page-200x50      MB of that page, against 4
    csv              MiB that reading a CSV data set of 400,000 x 26 adds, against 3 times its size

A ratio of at least 1 keeps the promise; "ours" and "peer" are in the unit of the row.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

READ = """
import pathlib, re, sys
import numpy, pandas, pyarrow.csv
import bestofk as bk

def most():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024

before = most()
bk.read_dataset(sys.argv[1], target="y")
print(most() - before)
"""


def scores(path: Path, *, learners: int = 200, datasets: int = 50) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0.3, 0.05, (datasets, 1)) + np.linspace(0, 0.1, learners)
    values = values + rng.normal(0, 0.03, values.shape)
    with path.open("w") as file:
        print("dataset", *(f"learner-{k}" for k in range(learners)), sep=",", file=file)
        for d, row in enumerate(values):
            print(f"set-{d}", *row.tolist(), sep=",", file=file)


def data(path: Path, *, rows: int = 400_000, columns: int = 25) -> None:
    rng = np.random.default_rng(1)
    with path.open("w") as file:
        print(*(f"c{k}" for k in range(columns)), "y", sep=",", file=file)
        for row in rng.normal(size=(rows, columns)).tolist():
            print(*row, "yes" if row[0] > 0 else "no", sep=",", file=file)


def seconds(*arguments: str) -> float:
    begin = time.perf_counter()
    command = [sys.executable, "-m", "bestofk", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measure() -> list[tuple[str, float, float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        table, page, large = (Path(folder, name) for name in ("s.csv", "page.html", "data.csv"))
        scores(table)
        order = ["order", str(table), "--lower-is-better"]
        plain, reported = seconds(*order), seconds(*order, "--report", str(page))
        size = page.stat().st_size / 1e6
        data(large)
        reading = subprocess.run(
            [sys.executable, "-c", READ, str(large)], check=True, capture_output=True, text=True
        )
        added, allowed = float(reading.stdout), 3 * large.stat().st_size / 2**20
    return [
        ("order-200x50", 2 / plain, plain, 2.0),
        ("report-200x50", 8 / reported, reported, 8.0),
        ("page-200x50", 4 / size, size, 4.0),
        ("csv", allowed / added, added, allowed),
    ]
