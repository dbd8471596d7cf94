"""What a store costs where a thousand cells a second are finished.

`store-put` is 3 percent of a second of work over the seconds that 1,000 cells take to be kept and
committed, cell by cell (the promise: at least 1); on a disk, so the disk's own pace is in it.
`store-get` is 2 seconds of work over the seconds that 100,000 stored cells take to come back (at
least 1). A second of work is what a processor does in a second; other processes stretch it, so it
is measured between the rounds. Medians, on SQLite; the keys are known beforehand, as they are in
a comparison.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from bestofk.run.cells import CellKey, CellResult
from bestofk.run.store.store import open_store

CELLS = 1000
ROUNDS = 100
WORK = 0.03
ALLOWED_TO_PUT = 0.03
ALLOWED_TO_GET = 2.0


def cells(first: int, n: int) -> list[CellResult]:
    """Cells of 11 learners on 7 data sets."""
    made = [
        CellResult(
            key=CellKey(
                dataset=f"{number % 7:064x}",
                learner=f"{number % 11:016x}",
                splits=f"0:{number // 100:016x}",
                loss="zero-one",
                run=number // 100,
                fold=number % 10,
                repetition=number,
            ),
            loss=number / 7,
            fit_time=number / 3,
            predict_time=number / 13,
            size=number,
            n_train=135,
            n_test=15,
        )
        for number in range(first, first + n)
    ]
    for result in made:
        _ = result.key.digest
    return made


def stretch() -> float:
    """Seconds on the wall for a second of work, at this moment."""
    wall, processor = time.perf_counter(), time.process_time()
    while time.process_time() - processor < WORK:
        sum(range(1000))
    return (time.perf_counter() - wall) / (time.process_time() - processor)


def measure() -> list[tuple[str, float, float, float]]:
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "study.db") as store:
        spent, stretched = [], []
        keys = []
        for start in range(ROUNDS):
            made = cells(start * CELLS, CELLS)
            stretched.append(stretch())
            keys += [result.key for result in made]
            begin = time.perf_counter()
            for result in made:
                store.put([result])
            store.flush()
            spent.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        found = store.get(keys)
        fetched = time.perf_counter() - begin
        assert len(found) == CELLS * ROUNDS
    put = statistics.median(spent)
    second = statistics.median(stretched)
    return [
        ("store-put", ALLOWED_TO_PUT * second / put, put, ALLOWED_TO_PUT * second),
        ("store-get", ALLOWED_TO_GET * second / fetched, fetched, ALLOWED_TO_GET * second),
    ]
