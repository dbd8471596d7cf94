"""Kill, end and stop runs at random moments, and check that nothing is lost and nothing is left.

    python studies/kill_matrix.py --times 50
    python studies/kill_matrix.py --times 50 --kinds main-short workers-long

Send signals to the process of a comparison and to its workers, with short and with long fits (which
start processes of their own), and resume until all is done. Print one line per kind of kill and
fail unless

- the losses are bit-for-bit those of an undisturbed run,
- no fit is recorded as failed,
- five seconds after a kill no process of the run and no file except the store is left,
- SIGTERM and SIGHUP end a run at once, without a message.

The small form is tests/run/test_kill_matrix.py.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

GONE_WITHIN = 5.0
"""Seconds until all processes and files of a killed run must be gone."""
PLAN = "6x5"
SHORT, LONG = 0.01, 0.15
"""Seconds of a fit."""
WAITS = (0.5, 4.0)
"""Additional seconds within which a run is ended: while it starts, or later."""
FITS = 30
"""Fits within which a run is ended."""


class Drawn(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict random labels, so that seeds matter; the duration of a fit is not a parameter."""

    def __init__(self, tag: str = "", random_state: int | None = None) -> None:
        self.tag = tag
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Drawn:  # noqa: ARG002
        pace = float(os.environ.get("PACE", "0"))
        if pace >= LONG:
            # in the session of the worker, and not awaited
            subprocess.Popen(["sleep", "600"])
        self.classes_ = np.unique(y)
        time.sleep(pace)
        return self

    def predict(self, X: Any) -> Any:
        rng = np.random.default_rng(self.random_state)
        return self.classes_[rng.integers(len(self.classes_), size=len(X))]


def comparison(store: str | None, plan: str = PLAN, **options: Any) -> Any:
    """Run the comparison."""
    import bestofk as bk

    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 3)), np.tile(["a", "b"], 20)
    learners = {"p": Drawn(tag="p"), "q": Drawn(tag="q")}
    execution = bk.Execution(store=store, n_jobs=2, progress=False, **options)
    return bk.compare(learners, X, y, cv=plan, random_state=4, execution=execution)


_HOST = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import kill_matrix
kill_matrix.host()
"""


def host() -> None:
    """Fork a run for every line of stdin, and print its pid and exit code."""
    comparison(None, engine="serial")  # import everything
    # nohup ignores this signal, and the runs would inherit that
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os.dup2(2, 1)  # stdout is for pids and exit codes
            os.environ["PACE"] = str(order["pace"])
            sys.exit(_run(order))
        print(pid, flush=True)
        status = os.waitpid(pid, 0)[1]
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(order: dict[str, Any]) -> int:
    """Run an order as the command line would."""
    from bestofk.cli import app

    def compared() -> int:
        study = comparison(order["store"], **order["options"])
        failed = [cell.reason for cell in study.outcome.failures]
        # written at once, because the reader does not wait
        part = Path(f"{order['answer']}.part")
        part.write_text(json.dumps({"losses": study.scores.losses.tolist(), "failed": failed}))
        part.replace(order["answer"])
        return 0

    app.bestofk.main = lambda **_: compared()
    return app.run([])


@dataclass
class Runs:
    """Runs of the comparison in a folder, which identifies their processes and files."""

    folder: Path
    pace: float
    plan: str = PLAN
    series: int = 0
    """Number of the series; each has its own stores."""
    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "tmp").mkdir(exist_ok=True)
        self.stderr = self.folder / "stderr"
        source = {"PYTHONPATH": str(Path(__file__).resolve().parents[1] / "src")}
        with self.stderr.open("a") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _HOST, str(Path(__file__).resolve().parent)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True,
                env={**os.environ, **source, "TMPDIR": str(self.folder / "tmp")}, cwd=self.folder,
            )  # fmt: skip

    def start(self, *, store: str = "study.db", **options: Any) -> int:
        """Start a run and return its process id."""
        (self.folder / "answer").unlink(missing_ok=True)
        order = {
            "store": str(self.folder / f"{self.series}{store}"),
            "answer": str(self.folder / "answer"),
            "options": {"plan": self.plan, **options},
            "pace": self.pace,
        }
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return int(self._line())

    def code(self) -> int:
        """Return the exit code of the last run."""
        return int(self._line())

    def answer(self) -> dict[str, Any] | None:
        """Return the result of the last run, if it finished."""
        path = self.folder / "answer"
        return json.loads(path.read_text()) if path.exists() else None

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the host of the runs is gone: {self.stderr.read_text()[-2000:]}"
        return line

    def processes(self, excluded: int) -> list[int]:
        """Return the processes of the runs, except one."""
        result = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in (excluded, self.process.pid):
                continue
            try:
                ours = str(self.folder / "tmp").encode() in (entry / "environ").read_bytes()
                dead = (entry / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
            except OSError:
                continue
            if ours and not dead:
                result.append(int(entry.name))
        return result

    def seconds_until_gone(self) -> float:
        """Return the seconds until no process and no file of a run is left; fail after a limit."""
        begin = time.monotonic()
        while True:
            processes, files = self.processes(0), list((self.folder / "tmp").iterdir())
            passed = time.monotonic() - begin
            if not processes and not files:
                return passed
            assert passed < GONE_WITHIN, f"left: {_described(processes)} {files}"
            time.sleep(0.02)

    def close(self) -> None:
        """End the process that forks the runs."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


def _described(processes: list[int]) -> list[str]:
    lines = []
    for pid in processes:
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        lines.append(f"{pid}: {words[:80]}")
    return lines


def _options(moments: random.Random) -> dict[str, Any]:
    """Choose spawned workers, or watched forks, which start at once."""
    return moments.choice([{"engine": "processes"}, {"engine": "serial", "timeout": 60.0}])


def check(answer: dict[str, Any] | None, expected: Any) -> None:
    """Check that the run finished with the right losses and without a failure."""
    assert answer is not None
    assert not answer["failed"], answer["failed"][:3]
    np.testing.assert_array_equal(np.array(answer["losses"]), expected)


def finish(runs: Runs, expected: Any, **options: Any) -> None:
    """Resume until it is done."""
    runs.start(**{**_options(random.Random(0)), **options})
    code = runs.code()
    assert code == 0, (code, runs.stderr.read_text()[-500:])
    check(runs.answer(), expected)
    runs.seconds_until_gone()


def end_main(
    runs: Runs, expected: Any, times: int, number: int, moments: random.Random
) -> dict[str, Any]:
    """Send a signal to the process of the run `times` times, and resume."""
    slowest, done, hit = 0.0, 0, 0
    while hit < times:
        store = f"study{done}.db"
        pid = runs.start(store=store, **_options(moments))
        time.sleep(moments.uniform(0.0, FITS * runs.pace + moments.choice(WAITS)))
        before = len(runs.stderr.read_text())
        _send(pid, number)  # if it has ended, its pid is not in use again yet
        code = runs.code()
        if code == 0:
            check(runs.answer(), expected)
            done += 1
            assert done < 40 * times, "the runs ignore the signal, or end before it"
            continue
        hit += 1
        assert (code, runs.stderr.read_text()[before:]) == (-number, "")
        slowest = max(slowest, runs.seconds_until_gone())
    finish(runs, expected, store=f"study{done}.db")
    return {"times": hit, "gone after at most": f"{slowest:.2f} s", "studies": done + 1}


def end_workers(
    runs: Runs, expected: Any, times: int, number: int, moments: random.Random
) -> dict[str, Any]:
    """Send a signal to child processes of the run, while it continues."""
    hit, studies = 0, 0
    while hit < times:
        studies += 1
        store = f"study{studies}.db"
        pid = runs.start(store=store, **_options(moments))
        while Path(f"/proc/{pid}").exists() and runs.answer() is None:
            time.sleep(moments.uniform(0.05, 0.6))
            others = runs.processes(pid)
            if hit >= times or not others:
                continue
            try:
                os.kill(moments.choice(others), number)
                hit += 1
            except ProcessLookupError:
                continue
            if number == signal.SIGSTOP:
                time.sleep(moments.uniform(0.0, 0.5))
                for other in others:
                    _continue(other)
        code = runs.code()
        assert code == 0, (code, runs.stderr.read_text()[-500:])
        answer = runs.answer()
        assert answer is not None
        if answer["failed"]:
            # one fit was hit four times; the next run repeats it
            finish(runs, expected, store=store)
        else:
            check(answer, expected)
        runs.seconds_until_gone()
    return {"times": hit, "studies": studies}


def stop_main(
    runs: Runs, expected: Any, times: int, number: int, moments: random.Random
) -> dict[str, Any]:
    """Stop and continue the run, with a time limit per fit that is shorter than some stops.

    The workers continue; the time in which a worker is stopped counts.
    """
    hit, studies = 0, 0
    while hit < times:
        studies += 1
        limit = {"engine": moments.choice(["processes", "serial"]), "timeout": 1.5}
        pid = runs.start(store=f"study{studies}.db", **limit)
        time.sleep(moments.uniform(0.0, 1.0))
        while Path(f"/proc/{pid}").exists() and runs.answer() is None:
            _send(pid, number)
            time.sleep(moments.uniform(0.1, 2.5))
            _continue(pid)
            hit += 1
            if hit >= times:
                break
            time.sleep(moments.uniform(0.1, 1.0))
        code = runs.code()
        assert code == 0, (code, runs.stderr.read_text()[-500:])
        check(runs.answer(), expected)
        runs.seconds_until_gone()
    return {"times": hit, "studies": studies}


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _continue(pid: int) -> None:
    _send(pid, signal.SIGCONT)


Killing = Callable[[Runs, Any, int, int, random.Random], dict[str, Any]]

KINDS: dict[str, tuple[Killing, int, float]] = {
    "main-short": (end_main, signal.SIGKILL, SHORT),
    "main-long": (end_main, signal.SIGKILL, LONG),
    "workers-short": (end_workers, signal.SIGKILL, SHORT),
    "workers-long": (end_workers, signal.SIGKILL, LONG),
    "term-short": (end_main, signal.SIGTERM, SHORT),
    "term-long": (end_main, signal.SIGTERM, LONG),
    "hangup-long": (end_main, signal.SIGHUP, LONG),
    "stop-short": (stop_main, signal.SIGSTOP, SHORT),
    "stop-workers-long": (end_workers, signal.SIGSTOP, LONG),
}
"""Kind: (function, signal, seconds of a fit)."""


def kill(kind: str, times: int, folder: Path, seed: int = 8) -> dict[str, Any]:
    """Kill `times` times in one way and return a summary."""
    function, number, pace = KINDS[kind]
    # import the module by name as the runs do: the name is part of a learner's fingerprint
    compare = importlib.import_module("kill_matrix").comparison
    expected = compare(None, engine="serial").scores.losses
    runs = Runs(folder=folder, pace=pace)
    begin = time.monotonic()
    try:
        summary = function(runs, expected, times, number, random.Random(f"{kind} {seed}"))
    finally:
        runs.close()
    return {**summary, "seconds": round(time.monotonic() - begin)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--seed", type=int, default=8)
    options = parser.parse_args()
    for kind in options.kinds:
        with tempfile.TemporaryDirectory(prefix="kills-") as folder:
            summary = kill(kind, options.times, Path(folder), options.seed)
        print(
            f"{kind}: {', '.join(f'{name} {value}' for name, value in summary.items())}", flush=True
        )


if __name__ == "__main__":
    main()
