"""How long a comparison takes that stops when it is settled, against its full plan, in one run.

    python benchmarks/stopping_wall.py                    both, 2 workers
    python benchmarks/stopping_wall.py breast-cancer      the default panel
    python benchmarks/stopping_wall.py spambase           five learners of scikit-learn

Spambase is read from the folder of BESTOFK_DATA. The full plan is 10x10; both sides run in this
process one after the other, from nothing, and must recommend the same learner.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import bestofk as bk

SKLEARN = {
    "bayes": "sklearn.naive_bayes:GaussianNB()",
    "tree": "sklearn.tree:DecisionTreeClassifier()",
    "neighbours": "sklearn.neighbors:KNeighborsClassifier()",
    "forest": "sklearn.ensemble:RandomForestClassifier(n_estimators=50)",
    "boosting": "sklearn.ensemble:HistGradientBoostingClassifier(max_iter=50)",
}


def spambase() -> Path:
    """The file, wherever it lies below the folder."""
    folder = Path(os.environ.get("BESTOFK_DATA", "."))
    found = sorted(
        path for path in folder.rglob("spambase*") if path.suffix in (".csv", ".arff", ".data")
    )
    if not found:
        raise SystemExit("There is no spambase below the folder of BESTOFK_DATA.")
    return found[0]


def measure(name: str, learners: Any, data: Any, jobs: int, **options: Any) -> None:
    given = {"data": data, "cv": "10x10", "n_jobs": jobs, "progress": False, **options}
    # imports and compiled kernels are paid for before
    bk.compare(learners, **{**given, "cv": "2x2"})
    begin = time.perf_counter()
    stopped = bk.compare(learners, stop="settled", **given)
    middle = time.perf_counter()
    full = bk.compare(learners, **given)
    end = time.perf_counter()
    assert stopped.recommended == full.recommended, (stopped.recommended, full.recommended)
    race = stopped.race
    assert race is not None
    print(
        f"{name}: {race.fits} of {race.planned_fits} fits, {middle - begin:.1f} s against "
        f"{end - middle:.1f} s of the full plan: {(middle - begin) / (end - middle):.2f} of it; "
        f"recommended {stopped.recommended}, {'exact' if race.exact else f'risk {race.risk:g}'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", nargs="*", help="breast-cancer, spambase")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    which = asked.which or ["breast-cancer", "spambase"]
    if "breast-cancer" in which:
        measure("breast-cancer", None, "breast-cancer", asked.jobs)
    if "spambase" in which:
        measure("spambase", SKLEARN, str(spambase()), asked.jobs, prefer="listed")


if __name__ == "__main__":
    main()
