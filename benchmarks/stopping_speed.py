"""Measure a comparison that stops when it is settled against its full plan (wall time).

    python benchmarks/run.py stopping_speed                   all data sets, two workers
    python benchmarks/run.py stopping_speed:breast-cancer     the default learners
    python benchmarks/run.py stopping_speed:ten               the default learners on ten data sets
    python benchmarks/run.py stopping_speed:nested            the same with the default plan
    python benchmarks/run.py stopping_speed:spambase          five scikit-learn learners

The plan is 10x10, in the part `nested` the default with nested cross-validation. Spambase and the
ten are read from the folder BESTOFK_DATA. Both sides run one after the other and must recommend the
same learner. The number of fits, the risk and the share of the full plan's CPU seconds are printed.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bestofk as bk
from timing import Row

SKLEARN = {
    "bayes": "sklearn.naive_bayes:GaussianNB()",
    "tree": "sklearn.tree:DecisionTreeClassifier()",
    "neighbours": "sklearn.neighbors:KNeighborsClassifier()",
    "forest": "sklearn.ensemble:RandomForestClassifier(n_estimators=50)",
    "boosting": "sklearn.ensemble:HistGradientBoostingClassifier(max_iter=50)",
}


TEN = (
    "pima", "segment", "glass", "ecoli", "yeast", "haberman", "balance", "bupa", "cmc", "wine",
)  # fmt: skip


def file_of(name: str) -> Path:
    """Return the path of a data set below the folder."""
    folder = Path(os.environ.get("BESTOFK_DATA", "."))
    files = sorted(path for path in folder.rglob(f"{name}.*") if path.suffix in (".csv", ".arff"))
    if not files:
        raise SystemExit(f"BESTOFK_DATA has no {name}.")
    return files[0]


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its ended workers."""
    own, ended = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def stopped_and_full(name: str, learners: Any, data: Any, **options: Any) -> Row:
    options = {"data": data, "cv": "10x10", "n_jobs": 2, "progress": False, **options}
    # imports and kernels are loaded before the clock runs
    bk.compare(learners, **{**options, "cv": "2x2"})
    begin, cpu = time.perf_counter(), cpu_seconds()
    stopped = bk.compare(learners, stop="settled", **options)
    middle, middle_cpu = time.perf_counter(), cpu_seconds()
    full = bk.compare(learners, **options)
    end, end_cpu = time.perf_counter(), cpu_seconds()
    assert stopped.recommended == full.recommended, (stopped.recommended, full.recommended)
    race = stopped.outcome.race
    assert race is not None
    risk = "exact" if race.exact else f"risk {race.risk:g}"
    share = (middle_cpu - cpu) / (end_cpu - middle_cpu)
    print(
        f"{name}: {race.fits} of {race.planned_fits} fits, {risk}, {share:.2f} of the CPU seconds"
    )
    return f"stopping-{name}", (end - middle) / (middle - begin), middle - begin, end - middle


def measure(parts: Sequence[str] = ("breast-cancer", "ten", "nested", "spambase")) -> Iterator[Row]:
    if "breast-cancer" in parts:
        yield stopped_and_full("breast-cancer", None, "breast-cancer")
    for name in TEN if "ten" in parts else ():
        yield stopped_and_full(name, None, str(file_of(name)))
    for name in TEN if "nested" in parts else ():
        yield stopped_and_full(f"{name}-nested", None, str(file_of(name)), cv="10x5+nested")
    if "spambase" in parts:
        yield stopped_and_full("spambase", SKLEARN, str(file_of("spambase")), prefer="listed")
