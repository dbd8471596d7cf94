"""A report of 20 learners on 64 data sets, beside matplotlib drawing the same figures twice.

Ours is the command `bestofk report` from a warm process: the store read, the pairs tested, the
figures laid out, the page written. Theirs draws the figures that are laid out already, twice, and
saves them as SVG. The size of the page, and the most memory that the command takes in a process
of its own, are printed too.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

from bestofk.cli import main
from bestofk.report.figures.output import save_figure
from bestofk.report.page_figures import layouts_of
from bestofk.run.cells import CellKey, CellResult
from bestofk.run.open_study import open_study
from bestofk.run.store.store import open_store
from bestofk.run.store.stored_study import StudyData, StudyLearner, StudySpec

LEARNERS, DATASETS, FOLDS = 20, 64, 10
MEMORY = """
import resource, sys
from bestofk.cli import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
sys.exit(code)
"""


def study() -> StudySpec:
    return StudySpec(
        title="benchmark",
        learners=tuple(
            StudyLearner(name=f"learner {k}", fingerprint=f"l{k}", settings=f"Learner({k})")
            for k in range(LEARNERS)
        ),
        datasets=tuple(
            StudyData(
                name=f"set {d}",
                fingerprint=f"d{d}",
                rows=200,
                columns=8,
                runs=1,
                folds=FOLDS,
                splits=((0, None, f"s{d}"),),
            )
            for d in range(DATASETS)
        ),
        plan=f"kfold:{FOLDS}",
        kind="cv",
        stratified=True,
        loss="zero-one",
        repetitions=1,
        random_state=0,
        versions={"bestofk": "benchmark"},
    )


def fill(path: Path) -> None:
    """Errors on 20 test rows each; some learners differ."""
    rng = np.random.default_rng(0)
    hard, skill = rng.uniform(0.05, 0.4, DATASETS), np.linspace(1.3, 0.7, LEARNERS)
    rate = np.clip(skill[:, None, None] * hard[None, :, None], 0, 1)
    wrong = rng.binomial(20, np.broadcast_to(rate, (LEARNERS, DATASETS, FOLDS)))
    with open_store(path) as store:
        store.register(study())
        store.put(
            CellResult(
                key=CellKey(dataset=f"d{d}", learner=f"l{k}", splits=f"s{d}", loss="zero-one",
                            run=0, fold=f, repetition=0),
                loss=float(wrong[k, d, f]) / 20, n_train=180, n_test=20, fit_time=0.01,
            )
            for k, d, f in np.ndindex(wrong.shape)
        )  # fmt: skip


def measure() -> list[tuple[str, float, float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        store, page = Path(folder) / "study.db", Path(folder) / "report.html"
        fill(store)
        command = ["report", str(store), "--output", str(page)]
        alone = subprocess.run([sys.executable, "-c", MEMORY, *command],
                               capture_output=True, text=True, check=True)  # fmt: skip
        print(f"memory {alone.stderr.split()[-1]} MiB, page {page.stat().st_size / 1e6:.3g} MB")
        ours = min(_seconds(lambda: _quietly(command)) for _ in range(3))
        found = open_study(store)
        assert found.decision is not None
        pictures = [picture for _, picture in layouts_of(found.decision, found.losses)]
        theirs = min(_seconds(lambda: _draw_twice(pictures, folder)) for _ in range(3))
    return [(f"report_{LEARNERS}x{DATASETS}", theirs / ours, ours, theirs)]


def _quietly(command: list[str]) -> None:
    with redirect_stdout(io.StringIO()):
        assert main(command) == 0


def _draw_twice(pictures: list, folder: str) -> None:
    for _ in range(2):
        for place, picture in enumerate(pictures):
            save_figure(picture, Path(folder) / f"{place}.svg")


def _seconds(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
