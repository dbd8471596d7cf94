"""Run a comparison on a Dask cluster of this machine while its processes are killed.

    python studies/cluster_kills.py                      5 learners that sleep, 3 data sets
    python studies/cluster_kills.py --learners 1000 --datasets 100 --plan kfold:5 --nap 0 --every 60

The commands are those of the section "On a cluster" in docs/use/store.md. Each Dask worker has a
working folder and a memory limit. At intervals one worker is killed and another one joins. After a
third of the fits the scheduler is killed, a new one is started, and the same command resumes. With
``--nap 0`` the learners are built-in decision trees with different confidences.

Print the cells per second, the largest memory and the CPU time of the scheduler and of the caller,
and the size of the store. The command fails unless the store has each cell once, no fit failed, and
the losses on
the first data sets (``--check``) are bit-for-bit those of a run in one process.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[1] / "docs" / "use" / "store.md"
ROWS = 40
MODELS = """
import time
from bestofk.learners.c45 import C45
from sklearn.dummy import DummyClassifier

class Sleeper(DummyClassifier):
    def __init__(self, *, nap=0.0, strategy="stratified", random_state=None):
        super().__init__(strategy=strategy, random_state=random_state)
        self.nap = nap

    def fit(self, X, y):
        time.sleep(self.nap)
        return super().fit(X, y)

if {nap}:
    made = [Sleeper(nap={nap}, random_state=seed) for seed in range({learners})]
else:
    made = [C45(confidence=0.3 * (seed + 1) / {learners}) for seed in range({learners})]
learners = {{f"learner_{{seed}}": one for seed, one in enumerate(made)}}
"""


def recipe() -> list[list[str]]:
    """Return the three commands of the page: scheduler, worker and comparison."""
    section = PAGE.read_text(encoding="utf-8").split("## On a cluster")[1]
    block = section.split("```console\n")[1].split("```")[0].replace("\\\n", " ")
    return [shlex.split(line.removeprefix("$ ")) for line in block.splitlines()]


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


def used(pid: int) -> tuple[int, float]:
    """Return the largest memory of a process, in MB, and its CPU seconds; zeros if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        times = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks = int(times[11]) + int(times[12])
        return int(status.split("VmHWM:")[1].split()[0]) // 1024, ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0, 0.0


class Cluster:
    """A scheduler, workers, and the comparison that uses them."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.folder, self.options = folder, options
        self.scheduler_words, self.worker_words, self.compare_words = recipe()
        self.workers: list[subprocess.Popen[bytes]] = []
        self.started = 0
        self.used: dict[str, dict[int, tuple[int, float]]] = {"scheduler": {}, "caller": {}}
        """Memory and CPU seconds by process id."""

    def start(self, words: list[str], folder: Path, **changes: str) -> subprocess.Popen[bytes]:
        """Start a command of the page with this machine's names."""
        changes = {"tcp://head:8786": f"tcp://127.0.0.1:{self.port}", **changes}
        for old, new in changes.items():
            words = [word.replace(old, new) for word in words]
        programs = Path(sys.executable).parent
        folder.mkdir(exist_ok=True)
        with (self.folder / f"{words[0]}.log").open("ab") as log:
            return subprocess.Popen(
                [str(programs / words[0]), *words[1:]], cwd=folder, start_new_session=True,
                stdout=log, stderr=log, env={**os.environ, "COLUMNS": "100"},
            )  # fmt: skip

    def start_scheduler(self) -> None:
        self.port = free_port()
        self.scheduler = self.start(
            [*self.scheduler_words, "--host", "127.0.0.1", "--no-dashboard"], self.folder,
            **{"8786": str(self.port)},
        )  # fmt: skip

    def start_worker(self) -> None:
        self.started += 1
        own = self.folder / f"node{self.started}"
        words = [*self.worker_words, "--no-dashboard"]
        self.workers.append(self.start(words, own, **{"/scratch/dask": str(own / "scratch")}))

    def start_workers(self, count: int) -> None:
        """Start several workers, and wait until they have joined."""
        log = self.folder / "dask.log"
        joined = log.read_text(encoding="utf-8").count("Registered to") + count
        for _ in range(count):
            self.start_worker()
        while log.read_text(encoding="utf-8").count("Registered to") < joined:
            time.sleep(0.2)

    def start_comparison(self) -> None:
        data = [str(path) for path in sorted(self.folder.glob("*.csv"))]
        words = [each for word in self.compare_words
                 for each in (data if word == "*.arff" else [word])]  # fmt: skip
        words += ["--learner", str(self.folder / "models.py"), "--cv", self.options.plan]
        self.caller = self.start(
            [*words, "--quiet"], self.folder,
            **{"postgresql+psycopg://me@db/studies": str(self.store)},
        )  # fmt: skip

    @property
    def store(self) -> Path:
        return self.folder / "study.db"

    def stored(self) -> int:
        """Return the number of stored cells."""
        try:
            with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=60) as database:
                return int(database.execute("SELECT count(*) FROM bestofk_cells").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # it is not there yet

    def run_for(self, seconds: float) -> bool:
        """Watch the memory for some seconds; return False if the comparison has ended."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for name, process in (("scheduler", self.scheduler), ("caller", self.caller)):
                before = self.used[name].get(process.pid, (0, 0.0))
                self.used[name][process.pid] = max(before, used(process.pid))
            if self.caller.poll() is not None:
                return False
            time.sleep(0.2)
        return True

    def close(self) -> None:
        for process in (*self.workers, self.scheduler, self.caller):
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and the processes of its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--learners", type=int, default=5)
    parser.add_argument("--datasets", type=int, default=3)
    parser.add_argument("--plan", default="4x5")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--nap", type=float, default=0.2, help="seconds of a fit")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two kills")
    parser.add_argument("--check", type=int, default=3, help="data sets compared with one process")
    options = parser.parse_args(words)

    import bestofk as bk
    from bestofk.splits.plans import plan

    splits = len(plan(options.plan).materialise(ROWS, np.arange(ROWS) % 2))
    order, rng = random.Random(3), np.random.default_rng(3)
    with tempfile.TemporaryDirectory(prefix="bestofk-cluster-") as name:
        folder = Path(name)
        models = MODELS.format(learners=options.learners, nap=options.nap)
        (folder / "models.py").write_text(models, encoding="utf-8")
        for number in range(options.datasets):
            values = np.column_stack([rng.normal(size=(ROWS, 2)), np.arange(ROWS) % 2])
            table = folder / f"data{number:03}.csv"
            np.savetxt(table, values, fmt="%.6f,%.6f,c%d", header="a,b,class", comments="")
        cluster = Cluster(folder, options)
        begin, kills = time.monotonic(), 0
        cluster.start_scheduler()
        cluster.start_workers(options.workers)
        cluster.start_comparison()
        total = options.learners * options.datasets * splits
        lost_scheduler, after_kill = False, 0
        while cluster.run_for(options.every):
            done = cluster.stored()
            print(f"{time.monotonic() - begin:.0f} s: {done:,} of {total:,} cells", flush=True)
            if done and not lost_scheduler and 3 * done >= total:
                lost_scheduler = True
                for process in (cluster.scheduler, *cluster.workers):
                    end(process)
                code = cluster.caller.wait(timeout=120)
                print(f"without a scheduler the command ends with {code}", flush=True)
                cluster.workers.clear()
                cluster.start_scheduler()
                cluster.start_workers(options.workers)
                cluster.start_comparison()
            elif done > after_kill:  # the new worker may need long to start
                after_kill = done
                end(cluster.workers.pop(order.randrange(len(cluster.workers))))
                cluster.start_worker()
                kills += 1
        seconds = time.monotonic() - begin
        code = cluster.caller.wait()
        cluster.close()
        if code:
            print((folder / "bestofk.log").read_text(encoding="utf-8"))
            return 1
        study = bk.open_study(cluster.store)
        stored, size = cluster.stored(), cluster.store.stat().st_size
        few = [str(path) for path in sorted(folder.glob("*.csv"))[: options.check]]
        sys.path.insert(0, name)
        import models as written  # type: ignore[import-not-found]

        expected = bk.compare(
            written.learners, few, "class", cv=options.plan, progress=False,
            execution=bk.Execution(engine="serial"),
        ).scores.losses  # fmt: skip
        values = study.scores.losses
        equal = np.array_equal(values[:, : len(few)], expected)
    complete = stored == total and bool(np.isfinite(values).all())
    print(f"{stored:,} of {total:,} cells stored, {kills} workers killed, "
          f"scheduler lost: {lost_scheduler}, equal: {equal}")  # fmt: skip
    print(f"{total / seconds:.0f} cells per second, {seconds:.0f} s")
    for what, processes in cluster.used.items():
        memory, cpu = max(processes.values())[0], sum(each[1] for each in processes.values())
        print(f"{what}: {memory} MB, {cpu / total * 1e3:.3f} ms of CPU time per cell")
    print(f"store: {size / 1e6:.0f} MB")
    return 0 if complete and equal else 1


if __name__ == "__main__":
    sys.exit(main())
