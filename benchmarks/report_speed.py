"""Measure reports, and decisions on a large table.

- ``report_20x64``: `bestofk report` of 20 learners on 64 data sets from a warm process (read the
  store, test the pairs, lay out the figures, write the page) against matplotlib, which draws the
  same layouts twice and saves them as SVG. The size of the page and the peak memory of the command
  in a process of its own are printed.
- ``order-200x50``: seconds of the command `bestofk scores` on 200 learners x 50 data sets, against
  2; ``report-200x50``: with ``--report``, against 8; ``page-200x50``: MB of that page, against 4.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from bestofk.cli import main
from bestofk.decide import Settings
from bestofk.report.figures.output import save
from bestofk.report.figures.registry import FIGURES
from bestofk.report.page_figures import PAGE_FIGURES
from bestofk.report.subject import subject_of
from bestofk.run.cells import Cell
from bestofk.run.open_study import open_study
from bestofk.run.record import DataRecord, LearnerRecord, StoredDecision, StudyRecord
from bestofk.run.store.store import open_store
from bestofk.splits.design import Design
from timing import Row, best

LEARNERS, DATASETS, FOLDS = 20, 64, 10
TIMES = 3
MEMORY = """
import resource, sys
from bestofk.cli import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
sys.exit(code)
"""


def study() -> StudyRecord:
    return StudyRecord(
        title="benchmark",
        learners=tuple(
            LearnerRecord(name=f"learner {k}", fingerprint=f"l{k}", settings=f"Learner({k})")
            for k in range(LEARNERS)
        ),
        datasets=tuple(
            DataRecord(
                name=f"set {d}",
                fingerprint=f"d{d}",
                rows=200,
                columns=8,
                splits=((0, None, f"s{d}"),),
            )
            for d in range(DATASETS)
        ),
        plan=f"kfold:{FOLDS}",
        design=Design(kind="cv", folds=FOLDS, stratified=True),
        metrics=("zero-one",),
        metric_keys=("zero-one",),
        repetitions=1,
        random_state=0,
        versions={"bestofk": "benchmark"},
        decisions=(StoredDecision(options=Settings().to_dict()),),
    )


def fill(path: Path) -> None:
    """Store errors on 20 test rows each; some learners differ."""
    rng = np.random.default_rng(0)
    hard, skill = rng.uniform(0.05, 0.4, DATASETS), np.linspace(1.3, 0.7, LEARNERS)
    rate = np.clip(skill[:, None, None] * hard[None, :, None], 0, 1)
    wrong = rng.binomial(20, np.broadcast_to(rate, (LEARNERS, DATASETS, FOLDS)))
    with open_store(path) as store:
        store.register(study())
        results = (
            Cell(
                learner=k, dataset=d, run=0, fold=f,
                scores=(float(wrong[k, d, f]) / 20,), fit_time=0.01,
            )
            for k, d, f in np.ndindex(wrong.shape)
        )  # fmt: skip
        store.put(study(), results)


def small_report() -> Row:
    with tempfile.TemporaryDirectory() as folder:
        store, page = Path(folder) / "study.db", Path(folder) / "report.html"
        fill(store)
        command = ["show", str(store), "--report", str(page)]
        alone = subprocess.run([sys.executable, "-c", MEMORY, *command],
                               capture_output=True, text=True, check=True)  # fmt: skip
        print(f"memory {alone.stderr.split()[-1]} MiB, page {page.stat().st_size / 1e6:.3g} MB")
        clock = time.perf_counter
        ours = best(lambda: _quietly(command), times=TIMES, clock=clock, warm_up=False)
        opened = open_study(store)
        assert opened.decision is not None
        subject = subject_of(opened)
        pictures = [
            FIGURES[figure.kind].layout(opened)
            for figure in PAGE_FIGURES
            if FIGURES[figure.kind].fits(opened) and figure.condition(subject)
        ]
        theirs = best(
            lambda: _draw_twice(pictures, folder), times=TIMES, clock=clock, warm_up=False
        )
    return f"report_{LEARNERS}x{DATASETS}", theirs / ours, ours, theirs


def _quietly(command: list[str]) -> None:
    with redirect_stdout(io.StringIO()):
        assert main(command) == 0


def _draw_twice(pictures: list[Any], folder: str) -> None:
    for _ in range(2):
        for number, picture in enumerate(pictures):
            save(picture, Path(folder) / f"{number}.svg")


def large_table() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        table, page = Path(folder, "scores.csv"), Path(folder, "page.html")
        write_scores(table)
        order = ["scores", str(table), "--lower-is-better"]
        plain, reported = seconds(*order), seconds(*order, "--report", str(page))
        size = page.stat().st_size / 1e6
    yield "order-200x50", 2 / plain, plain, 2.0
    yield "report-200x50", 8 / reported, reported, 8.0
    yield "page-200x50", 4 / size, size, 4.0


def write_scores(path: Path, *, learners: int = 200, datasets: int = 50) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0.3, 0.05, (datasets, 1)) + np.linspace(0, 0.1, learners)
    values = values + rng.normal(0, 0.03, values.shape)
    with path.open("w") as file:
        print("dataset", *(f"learner-{k}" for k in range(learners)), sep=",", file=file)
        for d, row in enumerate(values):
            print(f"set-{d}", *row.tolist(), sep=",", file=file)


def seconds(*arguments: str) -> float:
    begin = time.perf_counter()
    command = [sys.executable, "-m", "bestofk", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measure() -> Iterator[Row]:
    yield small_report()
    yield from large_table()
