"""Measure start-up: importing bestofk, the help text, misspelt calls, and first runs.

- ``import-bestofk``: the time of `import numpy` over ours (limit: at least 1 / 1.6).
- ``help``: 90 ms over ``bestofk --help`` (limit: at least 1).
- ``refuse-...``: 0.3 CPU-seconds over those of a misspelt file, embedded name, option or learner
  (limit: at least 1).
- ``panel-first``: a second run of the default learners on iris (5x2) over the first one with an
  empty home folder (limit: 1 / 1.1).
- ``panel-imports``: the import of all modules that the run loads, over the second run (limit:
  1 / 1.4).

- ``first-compare`` (part ``first``): a process that imports scikit-learn and, on 5x2 splits of
  iris, clones, fits and scores five learners, over a process that calls `compare` instead (limit:
  1/2).
- ``first-output``: 0.3 CPU-seconds over those until ``bestofk compare`` prints on a terminal
  (limit: at least 1).

``python benchmarks/run.py start_up_speed:panel`` measures only ``panel-...``. Medians of
alternating starts, in CPU-seconds: user and system time of the process. Modules are compiled
before, as by an installation.
"""

from __future__ import annotations

import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from timing import Row, row

STARTS, RUNS = 31, 5
PANEL = ("compare", "iris", "--cv", "5x2", "--set", "n_jobs=1")
MODULES = """
import contextlib, io, sys
from bestofk.cli.app import run
with contextlib.redirect_stdout(io.StringIO()):
    run(sys.argv[1:])
print(*sys.modules)
"""
IMPORT = """
import contextlib, importlib, sys
for name in sys.stdin.read().split():
    with contextlib.suppress(Exception):
        importlib.import_module(name)
"""
LEARNERS = """
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
X, y = load_iris(return_X_y=True)
learners = [GaussianNB(), LogisticRegression(max_iter=1000), DecisionTreeClassifier(),
            KNeighborsClassifier(), LinearDiscriminantAnalysis()]
"""
FIRST_COMPARE = f"""{LEARNERS}
import bestofk
print(bestofk.compare(learners, X, y, cv="5x2", n_jobs=1, progress=False))
"""
FIRST_FITS = f"""{LEARNERS}
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold
for train, test in RepeatedStratifiedKFold(n_splits=2, n_repeats=5).split(X, y):
    for learner in learners:
        print(clone(learner).fit(X[train], y[train]).score(X[test], y[test]))
"""
REFUSAL_SECONDS, HELP_SECONDS, OUTPUT_SECONDS = 0.3, 0.09, 0.3
REFUSED = {
    "refuse-file": ("compare", "chrun.csv"),
    "refuse-name": ("compare", "irsi"),
    "refuse-option": ("compare", "iris", "--metrics", "f1"),
    "refuse-learner": ("compare", "iris", "--learner", "lgistic"),
    "refuse-table": ("scores", "brest-cancer-10x10"),
    "refuse-log": ("evals", "nowhere.json"),
}
"""Calls with a mistake."""


def cpu_seconds(*command: str, code: int = 0, text: str = "", home: str | None = None) -> float:
    environment = os.environ if home is None else {**os.environ, "HOME": home}
    environment = {**environment, "PYTHONDONTWRITEBYTECODE": ""}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, check=False, capture_output=True, input=text.encode(), env=environment
    )
    assert done.returncode == code, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def panel() -> Iterator[Row]:
    python = sys.executable
    command = (python, "-m", "bestofk", *PANEL)
    listed = subprocess.run(
        (python, "-c", MODULES, *PANEL), check=True, capture_output=True, text=True
    ).stdout
    cpu_seconds(*command)
    first, second, imports = [], [], []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as home:
            first.append(cpu_seconds(*command, home=home))
            second.append(cpu_seconds(*command, home=home))
            imports.append(cpu_seconds(python, "-c", IMPORT, text=listed, home=home))
    yield row("panel-first", first, second)
    yield row("panel-imports", second, imports)


def first() -> Iterator[Row]:
    """Measure the first comparison and the first output of a process."""
    programs = FIRST_COMPARE, FIRST_FITS
    times = [[cpu_seconds(sys.executable, "-c", each) for each in programs] for _ in range(RUNS)]
    ours, peer = map(list, zip(*times, strict=True))
    yield row("first-compare", ours, peer)
    waits = [seconds_to_output("compare", "iris", "--cv", "5x2") for _ in range(RUNS)]
    yield row("first-output", waits, [OUTPUT_SECONDS] * RUNS)


def seconds_to_output(*words: str) -> float:
    """Return the CPU time of a command on a terminal until its first byte; then kill it."""
    import pty

    process, terminal = pty.fork()
    if not process:
        os.execv(sys.executable, [sys.executable, "-m", "bestofk", *words])
    assert os.read(terminal, 1)
    os.kill(process, signal.SIGKILL)
    spent = os.wait4(process, 0)[2]
    os.close(terminal)
    return spent.ru_utime + spent.ru_stime


def measure(parts: Sequence[str] = ("start", "first", "panel")) -> Iterator[Row]:
    if "start" in parts:
        yield from start()
    if "first" in parts:
        yield from first()
    if "panel" in parts:
        yield from panel()


def start() -> list[Row]:
    python = sys.executable
    script = str(Path(python).with_name("bestofk"))
    commands = {
        "bestofk": (python, "-c", "import bestofk"),
        "numpy": (python, "-c", "import numpy"),
        "help": (script, "--help"),
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            times[name].append(cpu_seconds(*command))
    median = {name: statistics.median(values) for name, values in times.items()}
    refusals = [
        (name, statistics.median(cpu_seconds(script, *words, code=2) for _ in range(STARTS // 3)))
        for name, words in REFUSED.items()
    ]
    return [
        (
            "import-bestofk",
            median["numpy"] / median["bestofk"],
            median["bestofk"],
            median["numpy"],
        ),
        ("help", HELP_SECONDS / median["help"], median["help"], HELP_SECONDS),
        *((name, REFUSAL_SECONDS / own, own, REFUSAL_SECONDS) for name, own in refusals),
    ]
