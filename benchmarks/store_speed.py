"""Measure the store: keeping and reading single cells, and a million stored fits.

``cells`` (SQLite on a disk; the keys are known beforehand, as in a comparison):

- ``store-put``: 3 percent of a second of work, over the seconds that 1,000 cells take to be kept
  and committed one by one (limit: at least 1).
- ``store-get``: 2 seconds of work, over the seconds to read 100,000 stored cells (at least 1).

A second of work is the wall time of one CPU second; it is measured between the rounds, because
other processes stretch it.

``million`` (10 learners, 10 data sets, 10 times 100x10, stored without a fit; CPU seconds):

- ``scale-write``: 30 microseconds over those of a stored cell (at least 1).
- ``scale-resume``: 8 times a plain `SELECT` of the same columns in sqlite3, over the time of
  `bk.compare` to find that nothing is left to do and to decide (at least 1).
- ``scale-show``, ``scale-report``: the same with 10 times the `SELECT`.
- ``scale-*-memory``: 400 MB over the peak memory; ``scale-report-size``: 2 MB over the size of the
  page (bytes instead of seconds).

    python benchmarks/run.py store_speed:cells
    python benchmarks/run.py store_speed:million
    python benchmarks/run.py store_speed:100000      fewer stored fits
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

import bestofk as bk
from bestofk.run.cells import Cell
from bestofk.run.record import DataRecord, LearnerRecord, StudyRecord
from bestofk.run.store.store import open_store
from bestofk.splits.design import Design
from bestofk.splits.plans import plan as make_plan
from timing import Row

CELLS, ROUNDS = 1000, 100
WORK = 0.03
PUT_LIMIT, GET_LIMIT = 0.03, 2.0
WRITE_LIMIT = 30e-6
LEARNERS, DATASETS, FOLDS, REPETITIONS = 10, 10, 10, 10
STORED = 1_000_000
MEGABYTE = 1_000_000
BATCH = 20_000


RECORD = StudyRecord(
    title="benchmark",
    learners=tuple(
        LearnerRecord(name=f"{k}", fingerprint=f"{k:016x}", settings="") for k in range(11)
    ),
    datasets=tuple(
        DataRecord(name=f"{k}", fingerprint=f"{k:064x}", rows=150, columns=2,
                   splits=tuple((run, None, f"0:{run:016x}") for run in range(1000)))
        for k in range(7)
    ),
    plan="1000x10",
    design=Design(kind="cv", runs=1000, folds=10),
    metrics=("zero-one",),
    metric_keys=("zero-one",),
    repetitions=CELLS * ROUNDS,
    random_state=0,
)  # fmt: skip


def cells(first: int, n: int) -> list[Cell]:
    """Return cells of 11 learners on 7 data sets."""
    return [
        Cell(
            learner=number % 11,
            dataset=number % 7,
            run=number // 100,
            fold=number % 10,
            repetition=number,
            scores=(number / 7,),
            fit_time=number / 3,
            predict_time=number / 13,
            size=number,
        )
        for number in range(first, first + n)
    ]


def stretch() -> float:
    """Return the wall seconds of one CPU second, at this moment."""
    wall, processor = time.perf_counter(), time.process_time()
    while time.process_time() - processor < WORK:
        sum(range(1000))
    return (time.perf_counter() - wall) / (time.process_time() - processor)


def single_cells() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "study.db") as store:
        spent, stretched = [], []
        keys = {}
        for number in range(ROUNDS):
            made = cells(number * CELLS, CELLS)
            stretched.append(stretch())
            keys |= {RECORD.key(cell): cell for cell in made}
            begin = time.perf_counter()
            for cell in made:
                store.put(RECORD, [cell])
            store.flush()
            spent.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        stored = store.find(RECORD, keys)
        get = time.perf_counter() - begin
        assert len(stored) == CELLS * ROUNDS
    put = statistics.median(spent)
    second = statistics.median(stretched)
    yield "store-put", PUT_LIMIT * second / put, put, PUT_LIMIT * second
    yield "store-get", GET_LIMIT * second / get, get, GET_LIMIT * second


def arguments(stored: int):
    """Return the arguments of the comparison."""
    from sklearn.tree import DecisionTreeClassifier

    from bestofk.data import read_data

    rng = np.random.default_rng(0)
    return {
        "learners": {
            f"learner {k}": DecisionTreeClassifier(max_depth=k + 1) for k in range(LEARNERS)
        },
        "data": [
            read_data(rng.normal(size=(40, 2)), np.tile([0, 1], 20), name=f"data {k}")
            for k in range(DATASETS)
        ],
        "cv": f"{stored // (LEARNERS * DATASETS * FOLDS * REPETITIONS)}x{FOLDS}",
        "progress": False,
        "execution": bk.Execution(engine="serial", repetitions=REPETITIONS),
    }


def fill(path: Path, stored: int) -> float:
    """Fill the store of the comparison with made-up losses; return the seconds of a cell."""
    from bestofk.run.compare import _live
    from bestofk.run.inputs import named_estimators

    options = arguments(stored)
    datasets = tuple(options["data"])
    plan = make_plan(options["cv"], random_state=0)
    learners = named_estimators(options["learners"], task=datasets[0].task)
    execution = replace(options["execution"], store=path)
    record = _live(learners, datasets, plan, None, execution, 0).record
    rng = np.random.default_rng(1)
    with open_store(path) as store:
        store.register(record)
        batch: list[Cell] = []
        spent = 0.0
        for number, cell in enumerate(record.cells(), start=1):
            loss = 0.25 + 0.01 * cell.learner + 0.25 * rng.integers(3)
            batch.append(
                replace(cell, scores=(float(loss),), fit_time=1e-3, predict_time=1e-4,
                        size=500 + cell.learner)
            )  # fmt: skip
            if len(batch) == BATCH or number == record.n_cells:
                begin = time.process_time()
                store.put(record, batch)
                store.flush()
                spent += time.process_time() - begin
                batch = []
    return spent / record.n_cells


def select_seconds(path: Path) -> float:
    """Return the seconds of a SELECT of all columns of a cell."""
    columns = "digest, dataset, learner, splits, run, fold, repetition, payload, checksum"
    best = float("inf")
    for _ in range(2):
        with closing(sqlite3.connect(path)) as connection:
            begin = time.process_time()
            cursor = connection.execute(f"SELECT {columns} FROM bestofk_cells")
            while cursor.fetchmany(10_000):
                pass
            best = min(best, time.process_time() - begin)
    return best


def child(command: str, path: str, stored: int) -> None:
    """Run a command; print seconds, peak memory in bytes, and the size of the report."""
    from bestofk.cli.app import run

    options = arguments(stored)
    begin, size = time.process_time(), 0
    if command == "resume":
        bk.compare(**options, store=path)
    elif command == "show":
        with contextlib.redirect_stdout(io.StringIO()):
            run(["show", path])
    else:
        page = Path(path).with_name("report.html")
        with contextlib.redirect_stdout(io.StringIO()):
            run(["show", path, "--report", str(page)])
        size = page.stat().st_size
    spent = time.process_time() - begin
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([spent, peak, size]))


def many_cells(stored: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        spent = fill(path, stored)
        yield "scale-write", WRITE_LIMIT / spent, spent, WRITE_LIMIT
        peer = select_seconds(path)
        for command, times in (("resume", 8), ("show", 10), ("report", 10)):
            done = subprocess.run(
                [sys.executable, __file__, command, str(path), str(stored)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            spent, peak, size = json.loads(done.stdout.splitlines()[-1])
            yield f"scale-{command}", times * peer / spent, spent, times * peer
            yield f"scale-{command}-memory", 400 * MEGABYTE / peak, peak, 400 * MEGABYTE
            if size:
                yield "scale-report-size", 2 * MEGABYTE / size, size, 2 * MEGABYTE


def measure(parts: Sequence[str] = ("cells", "million")) -> Iterator[Row]:
    for part in parts:
        if part == "cells":
            yield from single_cells()
        else:
            yield from many_cells(STORED if part == "million" else int(part))


if __name__ == "__main__":
    child(sys.argv[1], sys.argv[2], int(sys.argv[3]))
