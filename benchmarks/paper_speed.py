"""Measure whole commands that reproduce a table or a figure of a paper.

- ``table1``: Table 1 of the MultiTest paper, 1,000 runs of 5x2 on 30 data sets with five learners,
  against a limit of 12 core-minutes. ``paper_speed:table1`` does 100 runs against a tenth of it,
  ``paper_speed:table1-1000`` all of them. The data sets are UCI's from the folder BESTOFK_DATA. The
  agreement with the paper is printed.
- ``figure2``: Fig. 2 of the calibrated tests, naive Bayes and C4.5 on 1,000 data sets, 100 times 10
  folds: 2,000,000 fits and the tables of calibrated degrees of freedom, at most 30 s. The peer is
  scikit-learn's BernoulliNB and DecisionTreeClassifier: bare fit and predict on arrays that were
  sliced before, measured on the splits of two data sets and scaled.

Seconds are CPU seconds of the command with its workers, start-up included.

    python benchmarks/run.py paper_speed:table1-1000
    python benchmarks/paper_speed.py figure2            print the tables of Fig. 2
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from time import perf_counter

import numpy as np

from bestofk.papers import lab
from bestofk.papers.stats.repeated_kfold import VARIANTS
from timing import Row, best
from tree_and_bayes_speed import bare_fits, null_sets, sliced

TABLE1_LIMIT, TABLE1_RUNS = 720.0, 1000
SETS, SPLITS, PEER_SETS = 1000, 1000, 2
RUNS = (5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)


def cpu_seconds(command: list[str]) -> tuple[float, str]:
    """Run a command; return the CPU seconds of it and its workers, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


def table1(runs: int) -> Row:
    command = [sys.executable, "-m", "bestofk", "reproduce", "multitest", "--table", "1"]
    seconds, output = cpu_seconds([*command, "--runs", str(runs), "--n-jobs", "2", "--json"])
    for table in json.loads(output)["tables"]:
        print(table["summary"])
    limit = TABLE1_LIMIT * runs / TABLE1_RUNS
    return f"multitest-table-1-{runs}-runs", limit / seconds, seconds, limit


def figure2() -> Row:
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.tree import DecisionTreeClassifier

    ours, _ = cpu_seconds([sys.executable, __file__, "figure2", *map(str, (SETS, *RUNS))])
    parts = sliced(null_sets()[:PEER_SETS], np.float64)
    peer = sum(
        best(lambda make=make: bare_fits(make, parts), times=1)
        for make in (BernoulliNB, DecisionTreeClassifier)
    )
    peer *= SETS * SPLITS / len(parts)
    return "figure2-vs-bare-fits", peer / ours, ours, peer


def print_figure2(sets: int = SETS, *numbers: int) -> None:
    """Print calibrated df (and Type I error in percent) by number of runs, 10 folds, level 5 %."""
    begin = perf_counter()
    longest = max(numbers or RUNS)
    simulation = lab.simulate(cv=f"{longest}x10", sets=sets, random_state=1, progress="log")
    fitted = perf_counter() - begin
    print("runs", *VARIANTS, sep="\t")
    for runs in numbers or RUNS:
        calibrations = [
            lab.calibrate(variant, simulation=simulation.first_runs(runs)) for variant in VARIANTS
        ]
        cells = ["-" if c.df is None else f"{c.df} ({100 * c.type1:.1f})" for c in calibrations]
        print(runs, *cells, sep="\t")
    done = perf_counter() - begin
    print(f"{2 * 10 * longest * sets} fits in {fitted:.1f} s, the tables in {done - fitted:.1f} s")


PARTS = {"table1": lambda: table1(100), "table1-1000": lambda: table1(1000), "figure2": figure2}


def measure(parts: Sequence[str] = ("table1", "figure2")) -> Iterator[Row]:
    for part in parts:
        yield PARTS[part]()


if __name__ == "__main__":
    print_figure2(*map(int, sys.argv[2:]))
