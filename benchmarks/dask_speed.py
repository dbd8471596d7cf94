"""Measure the engine dask on local clusters.

- ``dask-cells-W``: 0.3 ms per cell over the CPU seconds per cell of the client, the scheduler and
  the worker, which are threads of one process here, for tiny fits on a cluster of W threads (limit:
  at least 1). The start of the cluster and the decision are included, the fits are not.
- ``dask-data-W``: worker processes against a cluster of W threads, on large data (limit: at least
  1 / 1.5).
- ``dask-memory-W``: two copies of the data over the peak memory of all processes of the cluster, in
  bytes (limit: at least 1).

The first takes 100,000 cells, the others 500 MB; the times of the latter are wall times.

    python benchmarks/run.py dask_speed:cells
    python benchmarks/run.py dask_speed:cells-20000    fewer cells
    python benchmarks/run.py dask_speed:data
    python benchmarks/run.py dask_speed:data-100       fewer megabytes
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import bestofk as bk
from timing import Row

WORKERS = (1, 2, 4)


def seconds(
    X: Any, y: Any, plan: str, clock: Callable[[], float] = time.perf_counter, **options: Any
) -> float:
    from sklearn.dummy import DummyClassifier

    learners = {"first": DummyClassifier(), "second": DummyClassifier(strategy="prior")}
    begin = clock()
    bk.compare(learners, X, y, cv=plan, progress=False, execution=bk.Execution(**options))
    return clock() - begin


def on_cluster(
    X: Any, y: Any, plan: str, workers: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the seconds on a local cluster, with its start."""
    from distributed import LocalCluster

    begin = clock()
    with LocalCluster(
        processes=False, n_workers=1, threads_per_worker=workers, memory_limit=0,
        dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL,
    ) as cluster:  # fmt: skip
        seconds(X, y, plan, scheduler=cluster)
        return clock() - begin


def cells(number: int = 100_000, workers: Sequence[int] = WORKERS) -> Iterator[Row]:
    runs = number // 20
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    for count in workers:
        spent = on_cluster(X, y, f"{runs}x10", count, time.process_time)
        per_cell = spent / (runs * 10 * 2)
        yield f"dask-cells-{count}", 3e-4 / per_cell, per_cell, 3e-4


def memory_of(group: int) -> int:
    """Return the bytes that the processes of a session and their descendants have to themselves."""
    parents, sizes = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            pid = int(folder.name)
            parents[pid] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            rollup = (folder / "smaps_rollup").read_text()
            sizes[pid] = 1024 * int(rollup.split("Pss:")[1].split()[0])
        except (OSError, IndexError):
            continue
    mine, total = {group}, 0
    for _ in range(5):
        mine |= {pid for pid, parent in parents.items() if parent in mine}
    for pid in mine:
        total += sizes.get(pid, 0)
    return total


def data(megabytes: int = 500, workers: Sequence[int] = WORKERS) -> Iterator[Row]:
    X = np.random.default_rng(0).normal(size=(megabytes * 1250, 100))
    y = (X[:, 0] > 0).astype(int)
    # everything is imported, and the fork server runs
    seconds(X[:100], y[:100], "kfold:5", engine="processes", n_jobs=1)
    before = memory_of(os.getpid())
    for count in workers:
        peak, done = [0], threading.Event()

        def watch(peak: list[int] = peak, done: threading.Event = done) -> None:
            while not done.wait(0.5):
                peak[0] = max(peak[0], memory_of(os.getpid()))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            spent = on_cluster(X, y, "kfold:5", count)
        finally:
            done.set()
            watcher.join()
        direct = seconds(X, y, "kfold:5", engine="processes", n_jobs=count)
        yield f"dask-data-{count}", direct / spent, spent, direct
        more = peak[0] - before
        yield f"dask-memory-{count}", 2 * X.nbytes / more, more, 2 * X.nbytes


PARTS = {"cells": cells, "data": data}


def measure(parts: Sequence[str] = tuple(PARTS)) -> Iterator[Row]:
    for part in parts:
        name, _, size = part.partition("-")
        yield from PARTS[name](int(size)) if size else PARTS[name]()
