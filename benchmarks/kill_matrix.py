"""Runs that are killed, ended and stopped at random moments: nothing is lost, nothing is left.

``python benchmarks/kill_matrix.py --times 50`` sends signals to the process of a comparison and to
its workers, with short and with long fits (which start processes of their own), and resumes until
all is done. It prints one line per kind of kill and fails unless

- the losses are equal to the bit to those of a run that nobody touched,
- no fit is recorded as failed,
- five seconds after a kill no process of the run and no file but the store are left,
- SIGTERM and SIGHUP end with one sentence and the exit codes 143 and 129.

``--what main-short workers-long`` picks some of the kinds. The small form is
tests/run/test_kill_matrix.py.
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
"""Seconds until everything of a run that was killed must be gone."""
PLAN = "6x5"
SHORT, LONG = 0.01, 0.15
"""Seconds of a fit."""
WAITS = (0.5, 4.0)
"""Seconds within which a run is ended, besides the fits: while it starts, or later."""
FITS = 30
"""Fits within which a run is ended."""


class Drawn(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts labels drawn at random, so that seeds matter, at a pace that is no setting."""

    def __init__(self, tag: str = "", random_state: int | None = None) -> None:
        self.tag = tag
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Drawn:  # noqa: ARG002
        pace = float(os.environ.get("PACE", "0"))
        if pace >= LONG:
            # one in the group of the worker and one in a session of its own, and nobody waits
            for alone in (False, True):
                subprocess.Popen(["sleep", "600"], start_new_session=alone)
        self.classes_ = np.unique(y)
        time.sleep(pace)
        return self

    def predict(self, X: Any) -> Any:
        rng = np.random.default_rng(self.random_state)
        return self.classes_[rng.integers(len(self.classes_), size=len(X))]


def comparison(store: str | None, plan: str = PLAN, **options: Any) -> Any:
    """The study that everybody makes."""
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
    """A loaded process that forks a run for every line that it reads, and tells how it ended."""
    comparison(None, engine="serial")  # everything is imported
    # whoever starts this with nohup has it ignored, and so would the runs
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os.environ["PACE"] = str(order["pace"])
            os._exit(_run(order))
        print(pid, flush=True)
        status = os.waitpid(pid, 0)[1]
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(order: dict[str, Any]) -> int:
    """The run of an order, as the command line would make it."""
    from bestofk.cli import app

    def compared() -> int:
        study = comparison(order["store"], **order["options"])
        failed = [cell.explain() for cell in study.failures]
        with Path(order["answer"]).open("w") as file:
            json.dump({"losses": study.losses.values.tolist(), "failed": failed}, file)
        return 0

    app.bestofk.main = lambda **_: compared()
    return app.run([])


@dataclass
class Runs:
    """Runs of the comparison in a folder, which is how their processes and files are known."""

    folder: Path
    pace: float
    plan: str = PLAN
    series: int = 0
    """Each has stores of its own."""
    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "tmp").mkdir(exist_ok=True)
        self.said = self.folder / "said"
        with self.said.open("a") as said:
            self.process = self.python(
                ["-c", _HOST, str(Path(__file__).resolve().parent)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True,
                env={**os.environ, "TMPDIR": str(self.folder / "tmp")}, cwd=self.folder,
            )  # fmt: skip

    def python(self, words: list[str], **options: Any) -> subprocess.Popen[str]:
        """Start Python; tests have one that is loaded."""
        return subprocess.Popen([sys.executable, *words], **options)

    def start(self, *, store: str = "study.db", **options: Any) -> int:
        """The process id of a new run."""
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
        """How the run that was started last ended."""
        return int(self._line())

    def answer(self) -> dict[str, Any] | None:
        """What it found, if it came to an end."""
        path = self.folder / "answer"
        found: dict[str, Any] | None = json.loads(path.read_text()) if path.exists() else None
        return found

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the host of the runs is gone: {self.said.read_text()[-2000:]}"
        return line

    def offspring(self, but: int) -> list[int]:
        """The processes of the runs, but for one."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in (but, self.process.pid):
                continue
            try:
                ours = str(self.folder / "tmp").encode() in (entry / "environ").read_bytes()
                dead = (entry / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
            except OSError:
                continue
            if ours and not dead:
                found.append(int(entry.name))
        return found

    def seconds_until_gone(self) -> float:
        """Seconds until no process and no file of a run is left; what is left after a while."""
        begin = time.monotonic()
        while True:
            processes, files = self.offspring(0), list((self.folder / "tmp").iterdir())
            passed = time.monotonic() - begin
            if not processes and not files:
                return passed
            assert passed < GONE_WITHIN, f"left: {_described(processes)} {files}"
            time.sleep(0.02)

    def close(self) -> None:
        """End the host."""
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
    """A way to run it: in spawned workers, or in watched forks that start at once."""
    return moments.choice([{"engine": "processes"}, {"engine": "serial", "timeout": 60.0}])


def check(found: dict[str, Any] | None, expected: Any) -> None:
    """The run came to its end, with the right losses and without a failure."""
    assert found is not None
    assert not found["failed"], found["failed"][:3]
    np.testing.assert_array_equal(np.array(found["losses"]), expected)


def finish(runs: Runs, expected: Any, **options: Any) -> None:
    """Resume until it is done."""
    runs.start(**{**_options(random.Random(0)), **options})
    code = runs.code()
    assert code == 0, (code, runs.said.read_text()[-500:])
    check(runs.answer(), expected)
    runs.seconds_until_gone()


def end_main(
    runs: Runs, expected: Any, times: int, number: int, moments: random.Random
) -> dict[str, Any]:
    """Send a signal to the process of the run, as often as asked, and resume."""
    slowest, done, hit = 0.0, 0, 0
    while hit < times:
        store = f"study{done}.db"
        pid = runs.start(store=store, **_options(moments))
        time.sleep(moments.uniform(0.0, FITS * runs.pace + moments.choice(WAITS)))
        before = len(runs.said.read_text())
        _send(pid, number)  # which may have ended: nobody else has its number yet
        code = runs.code()
        # on a busy machine a signal may come before the command has begun to hear it
        unheard = number != signal.SIGKILL and code == -number
        if code == 0 or unheard:
            if code == 0:
                check(runs.answer(), expected)
            done += 1
            assert done < 40 * times, "the runs do not heed the signal, or end before it comes"
            continue
        hit += 1
        said = runs.said.read_text()[before:]
        if number == signal.SIGKILL:
            assert code == -signal.SIGKILL, code
        else:
            assert code == 128 + number, (code, said)
            assert said.count("\n") == 1, said
            assert "Traceback" not in said
        slowest = max(slowest, runs.seconds_until_gone())
    finish(runs, expected, store=f"study{done}.db")
    return {"times": hit, "gone after at most": f"{slowest:.2f} s", "studies": done + 1}


def end_workers(
    runs: Runs, expected: Any, times: int, number: int, moments: random.Random
) -> dict[str, Any]:
    """Send a signal to processes that the run has started, while it goes on."""
    hit, studies = 0, 0
    while hit < times:
        studies += 1
        store = f"study{studies}.db"
        pid = runs.start(store=store, **_options(moments))
        while Path(f"/proc/{pid}").exists() and runs.answer() is None:
            time.sleep(moments.uniform(0.05, 0.6))
            others = runs.offspring(pid)
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
        assert code == 0, (code, runs.said.read_text()[-500:])
        found = runs.answer()
        assert found is not None
        if found["failed"]:
            # one fit was hit four times: the next run makes it
            finish(runs, expected, store=store)
        else:
            check(found, expected)
        runs.seconds_until_gone()
    return {"times": hit, "studies": studies}


def stop_main(
    runs: Runs, expected: Any, times: int, number: int, moments: random.Random
) -> dict[str, Any]:
    """Stop the run and let it go on, with a limit on the time of a fit that is shorter."""
    hit, studies = 0, 0
    while hit < times:
        studies += 1
        limit = {"engine": moments.choice(["processes", "serial"]), "timeout": 1.5}
        pid = runs.start(store=f"study{studies}.db", **limit)
        time.sleep(moments.uniform(0.0, 1.0))
        while Path(f"/proc/{pid}").exists() and runs.answer() is None:
            stopped = [pid, *(runs.offspring(pid) if moments.random() < 0.5 else [])]
            for one in stopped:
                _send(one, number)
            time.sleep(moments.uniform(0.1, 2.5))
            for one in stopped:
                _continue(one)
            hit += 1
            if hit >= times:
                break
            time.sleep(moments.uniform(0.1, 1.0))
        code = runs.code()
        assert code == 0, (code, runs.said.read_text()[-500:])
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
"""Kind: (what is done, the signal, seconds of a fit)."""


def kill(kind: str, times: int, folder: Path, seed: int = 8) -> dict[str, Any]:
    """Kill so many times in one way; what was seen."""
    how, number, pace = KINDS[kind]
    # as the runs see it: a learner is also known by the name of its module
    made = importlib.import_module("kill_matrix").comparison
    expected = made(None, engine="serial").losses.values
    runs = Runs(folder=folder, pace=pace)
    begin = time.monotonic()
    try:
        seen = how(runs, expected, times, number, random.Random(f"{kind} {seed}"))
    finally:
        runs.close()
    return {**seen, "seconds": round(time.monotonic() - begin)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--what", nargs="*", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--seed", type=int, default=8)
    asked = parser.parse_args()
    for kind in asked.what:
        with tempfile.TemporaryDirectory(prefix="kills-") as folder:
            seen = kill(kind, asked.times, Path(folder), asked.seed)
        print(f"{kind}: {', '.join(f'{name} {value}' for name, value in seen.items())}", flush=True)


if __name__ == "__main__":
    main()
