"""Run comparisons for a long time while processes are killed and a report is written.

    python studies/soak.py --minutes 30 --seed 0

Two processes work on the same study in one store. Each is killed or ended at random moments and
started again, until the study is complete; then the next study begins. Meanwhile a third process
opens the store and writes a report, again and again. The command fails unless

- every study has bit-for-bit the losses of an undisturbed run, and no failed fit,
- no process and no file except the stores and the report is left,
- neither the memory nor the open files of the reporting process grow.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = str(Path(__file__).resolve().parent)
PLAN = "8x10"
PACE = "0.03"
MAX_GROWTH = 1.2
"""Allowed ratio of the memory in the last third of the reports to that in the second third."""

RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import kill_matrix
kill_matrix.comparison(sys.argv[2], sys.argv[3], engine="processes")
"""

REPORT = """
import gc, json, os, sys, time
import bestofk as bk
from bestofk._base.errors import BestOfKError
from bestofk.report.write_report import write_report
for line in sys.stdin:
    store, target = json.loads(line)
    written = False
    try:
        write_report(bk.open_study(store), target)
        written = True
    except BestOfKError as error:
        # nothing was evaluated yet, or the study cannot be decided so early
        pass
    gc.collect()
    pages = int(open("/proc/self/statm").read().split()[1])
    files = len(os.listdir("/proc/self/fd"))
    print(json.dumps([written, pages * 4096, files]), flush=True)
"""


class Reporter:
    """The process that writes reports."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.written = 0
        self.memory: list[int] = []
        self.files: list[int] = []
        self._process = subprocess.Popen(
            [sys.executable, "-c", REPORT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def write(self, store: Path) -> None:
        """Write the report of a store that may be incomplete."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(store), str(self.target)]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the reporting process ended"
        written, memory, files = json.loads(answer)
        self.written += written
        self.memory.append(memory)
        self.files.append(files)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)

    def check(self) -> str:
        """Fail if memory or open files grew; return a summary."""
        n = len(self.memory) // 3
        if n >= 5:
            before = statistics.median(self.memory[n : 2 * n])
            after = statistics.median(self.memory[-n:])
            assert after <= MAX_GROWTH * before, f"memory grew from {before} to {after} bytes"
            assert max(self.files[-n:]) <= max(self.files[: 2 * n]) + 2, "open files grew"
        return (
            f"{self.written} reports, memory {min(self.memory) / 1e6:.0f} to "
            f"{max(self.memory) / 1e6:.0f} MB, at most {max(self.files)} open files"
        )


def start(store: Path) -> subprocess.Popen[bytes]:
    """Start a process that works on the study of a store."""
    return subprocess.Popen(
        [sys.executable, "-c", RUN, HERE, str(store), PLAN],
        env={**os.environ, "PACE": PACE, "SOAK": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def soak_study(store: Path, reporter: Reporter, moments: random.Random) -> int:
    """Run one study with kills until it is complete; return the number of kills."""
    runs = [start(store), start(store)]
    kills, next_kill = 0, time.monotonic() + moments.uniform(1.0, 6.0)
    while True:
        codes = [run.poll() for run in runs]
        if 0 in codes:
            for run in runs:
                assert run.wait(timeout=300) is not None
            return kills
        for at, code in enumerate(codes):
            if code is not None:
                runs[at] = start(store)
        if time.monotonic() >= next_kill:
            victim = moments.choice(runs)
            victim.send_signal(moments.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
            kills += 1
            next_kill = time.monotonic() + moments.uniform(1.0, 8.0)
        if store.exists():
            reporter.write(store)
        time.sleep(0.3)


def left_behind() -> list[int]:
    """Return the processes that the runs left behind."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if b"SOAK=1" in (entry / "environ").read_bytes():
                    processes.append(int(entry.name))
            except OSError:
                continue
    return processes


def check_losses(store: Path, expected: Any) -> None:
    """Compare the losses in a store with those of an undisturbed run."""
    from kill_matrix import comparison

    study = comparison(str(store), PLAN, engine="serial")  # completes fits that were hit too often
    assert study.failures.empty, study.failures
    assert (study.scores.losses == expected).all(), "other losses than in an undisturbed run"


def main() -> int:
    """Run studies until the time is over."""
    sys.path.insert(0, HERE)
    from kill_matrix import comparison

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    expected = comparison(None, PLAN, engine="serial").scores.losses
    end, kills, studies = time.monotonic() + 60 * options.minutes, 0, 0
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        reporter = Reporter(folder / "report.html")
        while time.monotonic() < end:
            store = folder / f"study{studies}.db"
            kills += soak_study(store, reporter, moments)
            check_losses(store, expected)
            studies += 1
            print(f"{studies} studies, {kills} kills, {reporter.written} reports", flush=True)
        deadline = time.monotonic() + 10
        while left_behind() and time.monotonic() < deadline:
            time.sleep(0.2)
        assert not left_behind(), f"processes {left_behind()} are left"
        summary = reporter.check()
        reporter.close()
        files = {path.name for path in folder.iterdir()}
        allowed = {f"study{n}.db" for n in range(studies)} | {"report.html"}
        assert files <= allowed, f"files left: {sorted(files - allowed)}"
    cells = studies * expected.size
    print(f"{studies} studies, {cells} equal losses, {kills} kills; {summary}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
