"""A million stored fits: how long a comparison takes to resume, to show and to report.

    python benchmarks/run.py store_scale            10 learners, 10 data sets, 10 times 100x10
    python benchmarks/run.py store_scale:100000     fewer fits

The store is made without a single fit. `scale-resume` is 8 times what a plain `SELECT` of the same
columns takes in sqlite3, over what `bk.compare` takes to find that nothing is left to be done and
to decide (the promise: at least 1); `scale-resume-memory` is 400 MB over the peak of its memory,
`scale-report-size` 2 MB over the size of the HTML of `bestofk report` (both in bytes in place of
seconds). `scale-show` and `scale-report` are as `scale-resume`, with 10 times each.
"""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

LEARNERS, DATASETS, FOLDS, REPETITIONS = 10, 10, 10, 10
CELLS = 1_000_000
MEGABYTE = 1_000_000
BATCH = 20_000


def question(cells: int):
    """The arguments of the comparison."""
    from sklearn.tree import DecisionTreeClassifier

    from bestofk.data import as_dataset
    from bestofk.run.execution import Execution

    rng = np.random.default_rng(0)
    return {
        "learners": {
            f"learner {k}": DecisionTreeClassifier(max_depth=k + 1) for k in range(LEARNERS)
        },
        "data": [
            as_dataset(rng.normal(size=(40, 2)), np.tile([0, 1], 20), name=f"data {k}")
            for k in range(DATASETS)
        ],
        "cv": f"{cells // (LEARNERS * DATASETS * FOLDS * REPETITIONS)}x{FOLDS}",
        "progress": False,
        "execution": Execution(repetitions=REPETITIONS, engine="serial"),
    }


def fill(path: Path, cells: int) -> None:
    """Make the store of the comparison, with losses by a rule."""
    import bestofk as bk
    from bestofk.run.cells import CellResult
    from bestofk.run.compare import _experiment
    from bestofk.run.inputs import named_estimators
    from bestofk.run.store import cells as store_cells
    from bestofk.run.store.store import open_store
    from bestofk.run.store.stored_study import study_of

    asked = question(cells)
    datasets = tuple(asked["data"])
    plan = bk.plan(asked["cv"], random_state=0)
    learners = named_estimators(asked["learners"], task=datasets[0].task)
    experiment = _experiment(learners, datasets, plan, None, asked["execution"], 0)
    rng = np.random.default_rng(1)
    with open_store(path) as store:
        store.register(study_of(experiment, plan=plan.spec))
        batch = []
        for place in experiment.places():
            loss = 0.25 + 0.01 * place.learner + 0.25 * rng.integers(3)
            batch.append(
                CellResult(key=experiment.key(place), loss=float(loss), fit_time=1e-3,
                           predict_time=1e-4, size=500 + place.learner, n_train=36, n_test=4)
            )  # fmt: skip
            if len(batch) == BATCH:
                store._database.commit(lambda each: store_cells.write(each, batch), lightly=True)  # noqa: B023
                batch = []
        if batch:
            store._database.commit(lambda each: store_cells.write(each, batch), lightly=True)


def plain(path: Path) -> float:
    """Seconds of a SELECT of all that a cell is made of."""
    columns = (
        "digest, dataset, learner, splits, loss_name, run, fold, repetition, loss, fit_time, "
        "predict_time, size, n_train, n_test, failure_kind, failure_reason, warnings, checksum"
    )
    best = float("inf")
    for _ in range(2):
        with closing(sqlite3.connect(path)) as connection:
            begin = time.perf_counter()
            cursor = connection.execute(f"SELECT {columns} FROM bestofk_cells")
            while cursor.fetchmany(10_000):
                pass
            best = min(best, time.perf_counter() - begin)
    return best


def child(what: str, path: str, cells: int) -> None:
    """Do it and print the seconds, the peak of the memory in bytes, and the size of a report."""
    import contextlib
    import io

    import bestofk as bk
    from bestofk.cli.app import run

    asked = question(cells)
    begin, size = time.perf_counter(), 0
    if what == "resume":
        bk.compare(**asked, store=path)
    elif what == "show":
        with contextlib.redirect_stdout(io.StringIO()):
            run(["show", path])
    else:
        page = Path(path).with_name("report.html")
        with contextlib.redirect_stdout(io.StringIO()):
            run(["report", path, "--output", str(page)])
        size = page.stat().st_size
    spent = time.perf_counter() - begin
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([spent, peak, size]))


def measure(parts: list[str] | None = None) -> list[tuple[str, float, float, float]]:
    cells = int(parts[0]) if parts else CELLS
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        fill(path, cells)
        peer = plain(path)
        for what, times in (("resume", 8), ("show", 10), ("report", 10)):
            done = subprocess.run(
                [sys.executable, __file__, what, str(path), str(cells)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            spent, peak, size = json.loads(done.stdout.splitlines()[-1])
            rows.append((f"scale-{what}", times * peer / spent, spent, times * peer))
            rows.append((f"scale-{what}-memory", 400 * MEGABYTE / peak, peak, 400 * MEGABYTE))
            if size:
                rows.append(("scale-report-size", 2 * MEGABYTE / size, size, 2 * MEGABYTE))
    return rows


if __name__ == "__main__":
    child(sys.argv[1], sys.argv[2], int(sys.argv[3]))
