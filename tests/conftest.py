"""Settings and fixtures for all tests."""

import compileall
import contextlib
import gc
import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from fork_server import ForkServer, NewInterpreters

if "PYTEST_XDIST_WORKER" in os.environ:
    # there is one worker per core: more threads of BLAS and OpenMP would only spin
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
# a slow example on a busy machine is not a failure
settings.register_profile(
    "suite", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")
SCORES = """learner,fold,error
small,1,0.24
small,2,0.21
small,3,0.25
small,4,0.22
large,1,0.12
large,2,0.10
large,3,0.13
large,4,0.11
"""
DIMS = ("learner", "dataset", "run", "fold", "repetition")
SYSTEMS = {"linux": ("linux",), "posix": ("linux", "darwin", "macos")}
"""Systems on which tests marked with ``needs("linux", reason)`` or ``needs("posix", ...)`` run."""


def pytest_configure():
    # some runners export their width, which would wrap lines in pipes
    os.environ.pop("COLUMNS", None)
    # background jobs and nohup ignore these signals, and child processes inherit that
    with contextlib.suppress(AttributeError, ValueError):
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # without bytecode files every process that a test starts would compile the package again
    if sys.dont_write_bytecode and "PYTEST_XDIST_WORKER" not in os.environ:
        package = Path(find_spec("bestofk").origin).parent
        compileall.compile_dir(package, quiet=2)


def pytest_xdist_auto_num_workers():
    # more than there are cores, because tests of kills, signals and time limits mostly wait
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    gc.disable()
    # let pytest cache the test modules, whatever PYTHONDONTWRITEBYTECODE says
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = before


def pytest_collection_modifyitems(items):
    if "PYTEST_XDIST_WORKER" in os.environ:
        # mix tests that wait for processes with tests that compute
        items.sort(key=lambda item: crc32(item.path.name.encode()))
    # also skip what a simulated system lacks, see studies/simulated_platforms.py
    system = os.environ.get("BESTOFK_SIMULATED_PLATFORM", sys.platform)
    for item in items:
        for mark in item.iter_markers("needs"):
            needed, reason = mark.args
            if system not in SYSTEMS[needed]:
                item.add_marker(pytest.mark.skip(reason=f"needs {needed}: {reason}"))


def pytest_collection_finish():
    # keep thousands of test items out of every later garbage collection
    gc.freeze()
    gc.enable()


@pytest.fixture
def preloaded_workers():
    """Do nothing."""


@pytest.fixture
def three_nested_runs(monkeypatch):
    """Let the default plan have the three runs of large data sets, for tests of no losses."""
    monkeypatch.setattr("bestofk.run.inputs.RUNS_UP_TO_ROWS", {})


@pytest.fixture(scope="session")
def fork_server():
    """Start ``python`` commands with `run` and `start`; see fork_server.py."""
    server = ForkServer() if sys.platform == "linux" else NewInterpreters()
    yield server
    server.close()


@pytest.fixture
def run(capsys):
    """Run the command line; return exit code, stdout and stderr."""

    from bestofk.cli import main

    def call(*arguments):
        code = main(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def five_by_two():
    """Losses (K, 5, 2) around given means."""

    def make(means, seed=0, spread=0.01):
        noise = np.random.default_rng(seed).normal(0, spread, (len(means), 5, 2))
        return np.asarray(means, dtype=float)[:, None, None] + noise

    return make


@pytest.fixture
def t_by_hand():
    """One-sided 5x2cv t test, eq. (7) of Yildiz and Alpaydin, written out."""

    def make(a, b):
        p = a - b
        s2 = sum((p[i, 0] - p[i].mean()) ** 2 + (p[i, 1] - p[i].mean()) ** 2 for i in range(5))
        t = p[0, 0] / np.sqrt(s2 / 5)
        from scipy import stats

        return t, stats.t.sf(t, 5)

    return make


@pytest.fixture
def cross_validated():
    """A table of runs of folds around given means, with names."""

    def make(
        means=(0.4, 0.2, 0.2005), *, names="abcdefgh", runs=4, folds=5, spread=0.01, seed=11, **more
    ):
        noise = np.random.default_rng(seed).normal(0, spread, (len(means), 1, runs, folds, 1))
        values = np.asarray(means)[:, None, None, None, None] + noise
        import bestofk as bk

        return bk.Scores(values, dims=DIMS, learners=list(names)[: len(means)], **more)

    return make


@pytest.fixture
def on_data_sets():
    """A table of one loss per data set, from an array (K, n)."""

    def make(values, *, names="abcdefgh", **more):
        values = np.asarray(values, dtype=float)
        import bestofk as bk

        return bk.Scores(
            values, dims=("learner", "dataset"), learners=list(names)[: len(values)], **more
        )

    return make


@pytest.fixture
def scores(tmp_path):
    """Write a small table of losses."""
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return str(path)
