"""Processes of a fit end with its worker, and all processes end with the run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bestofk.run.comparison_task import ComparisonTask, blocks_of
from bestofk.run.engines import forked_workers
from bestofk.run.engines.process_family import Guard, end_group, end_marked, is_stopped
from bestofk.run.engines.workers import run_in_workers

sys.path.insert(0, str(Path(__file__).parents[1]))  # worker processes inherit the path
import strange_learners as strange

DATA = {"d": (np.random.default_rng(11).normal(size=(30, 2)), np.tile(["a", "b", "c"], 10))}
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who belongs to whom")


def state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def gone(pids, seconds=5.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if all(state(pid) in "ZX" for pid in pids):
            return True
        time.sleep(0.02)
    return False


def pids_in(log):
    return [int(line) for line in log.read_text().split()] if log.exists() else []


@LINUX
@pytest.mark.parametrize("forked", [True, False])
@pytest.mark.parametrize("how", ["timeout", "deadline", "closed"])
def test_what_a_fit_started_ends_with_its_worker(tmp_path, monkeypatch, how, forked):
    if not forked:
        monkeypatch.setattr(forked_workers, "MOST_OPENED", 0)
    log = tmp_path / "pids"
    learners = {"max": "max", "starts": strange.StartsProcesses(log=str(log))}
    experiment = strange.make_experiment(learners, DATA, "holdout:0.5")
    begin = time.monotonic()
    results = run_in_workers(
        ComparisonTask(experiment), blocks_of(experiment, experiment.cells()), jobs=1, here=True,
        timeout=0.5 if how == "timeout" else None,
        deadline=begin + 2.0 if how == "deadline" else None,
    )  # fmt: skip
    if how == "closed":
        next(results)
        while len(pids_in(log)) < 2:
            time.sleep(0.01)
        results.close()
    else:
        kinds = [result.failure and result.failure.kind for result in results]
        assert kinds == ([None, "timeout"] if how == "timeout" else [None])
    assert len(pids_in(log)) == 2  # one in the group of the worker, one in its own session
    assert gone(pids_in(log))


@LINUX
def test_a_group_is_ended_though_it_ignores_to_be_asked():
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{stubborn}; time.sleep(600)"],
        start_new_session=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.readline()
    process.stdout.close()
    end_group(process.pid)
    assert process.wait(timeout=5) == -signal.SIGKILL
    end_group(process.pid)  # nobody is left, and that is no error


@LINUX
def test_those_with_a_mark_are_ended_and_no_others():
    def sleeper(mark):
        return subprocess.Popen(
            ["sleep", "600"], env={**os.environ, "BESTOFK_WORKERS": mark}, start_new_session=True
        )

    ours, theirs = sleeper("one"), sleeper("other")
    try:
        end_marked("one")
        assert ours.wait(timeout=5) == -signal.SIGKILL
        assert theirs.poll() is None
        os.kill(theirs.pid, signal.SIGSTOP)
        while state(theirs.pid) != "T":
            time.sleep(0.01)
        assert is_stopped(theirs.pid)
        assert not is_stopped(os.getpid())
    finally:
        theirs.kill()
        theirs.wait()


@LINUX
def test_a_worker_that_was_stopped_for_a_while_has_not_gone_over_time(tmp_path):
    log = tmp_path / "pids"
    learners = {"waits": strange.Waits(log=str(log), nap=0.4), "max": "max"}
    experiment = strange.make_experiment(learners, DATA, "holdout:0.5")
    results = run_in_workers(
        ComparisonTask(experiment), blocks_of(experiment, experiment.cells()), jobs=1, here=True,
        timeout=1.0,
    )  # fmt: skip
    # who stops it acts from another process, while this one waits
    script = f"""
import os, signal, time
from pathlib import Path
log = Path({str(log)!r})
while not log.exists() or not log.read_text().endswith(chr(10)):
    time.sleep(0.01)
pid = int(log.read_text())
os.kill(pid, signal.SIGSTOP)
time.sleep(1.8)
os.kill(pid, signal.SIGCONT)
"""
    with subprocess.Popen([sys.executable, "-c", script]) as other:
        assert [result.failure for result in results] == [None, None]
        other.wait(timeout=10)


GUARDED = """
import os, subprocess, sys, time
from bestofk.run.engines.process_family import Guard
guard = Guard("guarded", sys.argv[1])
child = subprocess.Popen(
    ["sleep", "600"], env={**os.environ, "BESTOFK_WORKERS": "guarded"}, start_new_session=True
)
print(child.pid, flush=True)
time.sleep(600)
"""


@LINUX
def test_a_guard_tidies_up_behind_a_process_that_is_killed(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", GUARDED, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        child = int(process.stdout.readline())
        process.kill()
        assert gone([child])
    end = time.monotonic() + 5
    while folder.exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not folder.exists()


def test_a_guard_that_is_told_so_leaves_everything_as_it_is(tmp_path):
    guard = Guard("nobody", str(tmp_path))
    guard.close()
    assert tmp_path.exists()
    assert guard._process.returncode == 0


def test_a_signal_that_comes_during_a_fork_is_heard_after_it():
    """What Python calls at a fork, as logging's release of its lock, is done before that."""
    forking, done = [True], []

    def at_fork():
        if forking:
            signal.raise_signal(signal.SIGTERM)
            done.append("released")

    def end(number, frame):
        forking.clear()
        raise InterruptedError

    os.register_at_fork(after_in_parent=at_fork)
    before = signal.signal(signal.SIGTERM, end)
    starter = forked_workers._starter("", 1)
    try:
        with pytest.raises(InterruptedError):
            forked_workers._started_here(lambda *_: None, None, starter)
        assert done == ["released"]
        assert signal.getsignal(signal.SIGTERM) is end
    finally:
        forking.clear()
        signal.signal(signal.SIGTERM, before)
