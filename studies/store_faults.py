"""Inject faults into the writing of SQLite stores, and check that nothing is lost.

    python studies/store_faults.py --faults 500 --seed 0

In each case a process writes cells to a store and reports the cells whose commit succeeded. A fault
strikes at a random statement or moment: the process exits or is killed, the disk fails or is full,
the database is locked, or the process cannot write larger files. Then another process opens the
store and checks that

- every cell whose commit was reported is there, with equal bits,
- every other cell is complete or absent,
- the file is sound, and writing all cells again completes it.

Half of the cases with `flip` then change random bytes of the file: no cell may come back with other
content. The small form is tests/run/test_injected_faults.py.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from contextlib import closing
from dataclasses import astuple
from pathlib import Path
from typing import Any

CELLS = 120
KINDS = ("exit-before", "exit-after", "kill", "ioerr", "full", "busy", "file-limit", "flip")


class Fault:
    """A fault that strikes at one statement of this process."""

    def __init__(self, kind: str, at: int) -> None:
        self.kind, self.at, self.count = kind, at, 0

    def before(self) -> None:
        self.count += 1
        if self.count != self.at:
            return
        if self.kind == "exit-before":
            os._exit(9)
        codes = {"ioerr": sqlite3.SQLITE_IOERR, "full": sqlite3.SQLITE_FULL,
                 "busy": sqlite3.SQLITE_BUSY}  # fmt: skip
        if self.kind in codes:
            error = sqlite3.OperationalError("injected")
            error.sqlite_errorcode = codes[self.kind]
            raise error

    def after(self) -> None:
        if self.kind == "exit-after" and self.count == self.at:
            os._exit(9)


def install(fault: Fault) -> None:
    """Let all new connections of this process pass their statements through the fault."""
    connect = sqlite3.connect

    class Cursor(sqlite3.Cursor):
        def execute(self, *arguments: Any) -> Any:
            fault.before()
            result = super().execute(*arguments)
            fault.after()
            return result

        def executemany(self, *arguments: Any) -> Any:
            fault.before()
            result = super().executemany(*arguments)
            fault.after()
            return result

    class Connection(sqlite3.Connection):
        def cursor(self, factory: Any = Cursor) -> Any:
            return super().cursor(factory)

        def commit(self) -> None:
            fault.before()
            super().commit()
            fault.after()

    def faulty(*arguments: Any, **options: Any) -> Any:
        return connect(*arguments, **{**options, "factory": Connection})

    sqlite3.connect = faulty  # type: ignore[assignment]


def record() -> Any:
    """Return the record of the study of the cells."""
    from bestofk.run.record import DataRecord, LearnerRecord, StudyRecord
    from bestofk.splits.design import Design

    return StudyRecord(
        title="", learners=(LearnerRecord(name="a", fingerprint="abc", settings=""),),
        datasets=(DataRecord(name="d", fingerprint="d" * 64, rows=10, columns=1, splits=()),),
        plan="", design=Design(kind="cv", runs=CELLS, folds=10), metrics=("zero-one",),
        metric_keys=("zero-one",), repetitions=1, random_state=0,
    )  # fmt: skip


def cell(number: int) -> Any:
    """Return the cell of a number."""
    from bestofk.run.cells import Cell

    return Cell(learner=0, dataset=0, run=number // 10, fold=number % 10, scores=(number / 7,),
                fit_time=number / 3, size=number,
                predictions=bytes([number % 251]) * (number * 29 % 700))  # fmt: skip


def write(url: str, fault: Fault, report: int, rng: random.Random) -> None:
    """Write all cells in batches, and report those whose commit succeeded."""
    from bestofk._base.errors import StoreError
    from bestofk.run.store import database
    from bestofk.run.store.store import open_store

    database.BUSY_TIMEOUT = 0.2
    install(fault)
    if fault.kind == "kill":
        wait = rng.uniform(0.0, 0.15)
        killer = threading.Timer(wait, os.kill, (os.getpid(), signal.SIGKILL))
        killer.daemon = True
        killer.start()
    if fault.kind == "file-limit":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = rng.randrange(4_000, 200_000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    number = 0
    try:
        with open_store(url) as store:
            while number < CELLS:
                batch = list(range(number, min(number + rng.choice([1, 3, 10, 25]), CELLS)))
                store.put(record(), [cell(each) for each in batch])
                store.flush()
                os.write(report, bytes(batch))
                number += len(batch)
    except StoreError:
        # a sentence for the user; results that were reported before are safe
        os._exit(3)


def check(url: str, path: Path, reported: set[int], *, flipped: bool) -> None:
    """Check the store after the fault."""
    from bestofk._base.errors import StoreError
    from bestofk.run.store.store import open_store

    study, cells = record(), [cell(number) for number in range(CELLS)]
    keys = {study.key(each): each for each in cells}
    try:
        with open_store(url) as store:
            found = store.find(study, keys)
            for number, (key, expected) in enumerate(keys.items()):
                if not flipped:
                    assert key in found or number not in reported, f"cell {number} is lost"
                if key in found:
                    assert astuple(found[key]) == astuple(expected), f"cell {number} is wrong"
            store.put(study, cells)
            store.flush()
            again = store.find(study, keys)
            assert flipped or len(again) == CELLS, f"{len(again)} cells after writing again"
    except StoreError:
        assert flipped, "the store cannot be opened"
        return
    if not flipped:
        with closing(sqlite3.connect(path)) as connection:
            sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
        assert sound == "ok", sound


def flip(path: Path, rng: random.Random) -> None:
    """Change random bytes of a file."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 4, 30])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def run_case(seed: int, case: int, folder: Path) -> str:
    """Inject one fault and check the store; return its label."""
    rng = random.Random(f"{seed} {case}")
    kind = KINDS[case % len(KINDS)]
    path = folder / f"{case}.db"
    read, report = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            write(str(path), Fault(kind, rng.randrange(1, 90)), report, rng)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(report)
    reported: set[int] = set()
    while data := os.read(read, 4096):
        reported |= set(data)
    os.close(read)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 3, 9, -signal.SIGKILL), f"the writer ended with {code}"
    flipped = kind == "flip" and path.exists()
    if flipped:
        flip(path, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(str(path), path, reported, flipped=flipped)
    outcome = {0: "not hit", 3: "refused", 9: "exited", -signal.SIGKILL: "killed"}[code]
    return f"{kind}: {'flipped' if flipped else outcome}"


def main() -> int:
    """Inject faults; return 1 if a check failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    import bestofk.run.store.store  # noqa: F401  (before the forks)

    outcomes: Counter[str] = Counter()
    failed, begin, case, struck = 0, time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        while struck < options.faults:
            try:
                outcome = run_case(options.seed, case, Path(folder))
                outcomes[outcome] += 1
                struck += not outcome.endswith("not hit")
            except AssertionError as error:
                failed += 1
                struck += 1
                print(f"Case {case} of seed {options.seed} ({KINDS[case % len(KINDS)]}): {error}")
            case += 1
    for outcome, count in sorted(outcomes.items()):
        print(f"{outcome}: {count}")
    print(f"{struck} faults, {failed} with losses, {time.monotonic() - begin:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
