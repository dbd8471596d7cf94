"""Measure a comparison that stops when it is settled against its full 10x10 plan (wall time).

    python benchmarks/run.py stopping_speed                   both data sets, two workers
    python benchmarks/run.py stopping_speed:breast-cancer     the default learners
    python benchmarks/run.py stopping_speed:spambase          five scikit-learn learners

Spambase is read from the folder BESTOFK_DATA. Both sides run one after the other and must recommend
the same learner; the number of fits and the risk are printed.
"""

from __future__ import annotations

import os
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


def spambase() -> Path:
    """Return the path of the file below the folder."""
    folder = Path(os.environ.get("BESTOFK_DATA", "."))
    files = sorted(
        path for path in folder.rglob("spambase*") if path.suffix in (".csv", ".arff", ".data")
    )
    if not files:
        raise SystemExit("BESTOFK_DATA has no spambase.")
    return files[0]


def stopped_and_full(name: str, learners: Any, data: Any, **options: Any) -> Row:
    options = {"data": data, "plan": "10x10", "n_jobs": 2, "progress": False, **options}
    # imports and kernels are loaded before the clock runs
    bk.compare(learners, **{**options, "plan": "2x2"})
    begin = time.perf_counter()
    stopped = bk.compare(learners, stop="settled", **options)
    middle = time.perf_counter()
    full = bk.compare(learners, **options)
    end = time.perf_counter()
    assert stopped.recommended == full.recommended, (stopped.recommended, full.recommended)
    race = stopped.race
    assert race is not None
    risk = "exact" if race.exact else f"risk {race.risk:g}"
    print(f"{name}: {race.fits} of {race.planned_fits} fits, {risk}", flush=True)
    return f"stopping-{name}", (end - middle) / (middle - begin), middle - begin, end - middle


def measure(parts: Sequence[str] = ("breast-cancer", "spambase")) -> Iterator[Row]:
    if "breast-cancer" in parts:
        yield stopped_and_full("breast-cancer", None, "breast-cancer")
    if "spambase" in parts:
        yield stopped_and_full("spambase", SKLEARN, str(spambase()), prefer="listed")
