"""Measure memory: MiB instead of seconds; the limit of each row is a ratio of at least 1.

- ``memory-200000x50``: three times the data, over the memory that a comparison adds at its peak.
- ``csv``: three times the file, over the memory that reading a CSV data set of 400,000 x 26 adds.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from timing import Row

ROWS, COLUMNS, FILE_ROWS, FILE_COLUMNS = 200_000, 50, 400_000, 25
READ = """
import pathlib, re, sys
import numpy, pandas, pyarrow.csv
import bestofk as bk

def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024

before = peak()
bk.read_data(sys.argv[1], target="y")
print(peak() - before)
"""


LEAST = 0.01
"""MiB; small data may add nothing to the peak."""


def comparison() -> Row:
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB

    import bestofk as bk

    learners = {"dummy": DummyClassifier(), "bayes": GaussianNB()}
    options = {"cv": "kfold:5", "execution": bk.Execution(engine="serial"), "progress": False}
    rng = np.random.default_rng(0)
    small = rng.normal(size=(200, 5))
    bk.compare(learners, small, (small[:, 0] > 0).astype(int), **options)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = (X[:, 0] > 0).astype(int)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    bk.compare(learners, X, y, **options)
    added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
    limit = 3 * X.nbytes / 2**20
    return f"memory-{ROWS}x{COLUMNS}", limit / max(added, LEAST), added, limit


def reading() -> Row:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.csv")
        write_data(path)
        done = subprocess.run(
            [sys.executable, "-c", READ, str(path)], check=True, capture_output=True, text=True
        )
        added, limit = float(done.stdout), 3 * path.stat().st_size / 2**20
    return "csv", limit / max(added, LEAST), added, limit


def write_data(path: Path) -> None:
    rng = np.random.default_rng(1)
    with path.open("w") as file:
        print(*(f"c{k}" for k in range(FILE_COLUMNS)), "y", sep=",", file=file)
        for row in rng.normal(size=(FILE_ROWS, FILE_COLUMNS)).tolist():
            print(*row, "yes" if row[0] > 0 else "no", sep=",", file=file)


def measure() -> Iterator[Row]:
    yield comparison()
    yield reading()
