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
from bestofk.run.engines.process_cleanup import end_group, end_marked, is_stopped
from bestofk.run.engines.workers import run_in_workers

sys.path.insert(0, str(Path(__file__).parents[1]))  # worker processes inherit the path
import strange_learners as strange

DATA = {"d": (np.random.default_rng(11).normal(size=(30, 2)), np.tile(["a", "b", "c"], 10))}
LINUX = pytest.mark.needs("linux", "processes, their state and environment are in /proc")


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
def test_processes_of_a_fit_end_with_its_worker(tmp_path, monkeypatch, how, forked):
    if not forked:
        monkeypatch.setattr(forked_workers, "MAX_SERVER_STARTS", 0)
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
def test_a_fork_without_a_mark_ends_with_the_run(tmp_path):
    log = tmp_path / "pids"
    learners = {"leaves": strange.LeavesFork(log=str(log)), "exits": strange.Exits()}
    experiment = strange.make_experiment(learners, DATA, "holdout:0.5")
    blocks = blocks_of(experiment, experiment.cells())
    results = run_in_workers(ComparisonTask(experiment), blocks, jobs=1, here=True)
    assert [result.failure and result.failure.kind for result in results] == [None, "killed"]
    assert len(pids_in(log)) == 1
    assert gone(pids_in(log))


@LINUX
def test_a_group_that_ignores_sigterm_is_killed():
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{stubborn}; time.sleep(600)"],
        start_new_session=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.readline()
    process.stdout.close()
    end_group(process.pid)
    assert process.wait(timeout=5) == -signal.SIGKILL
    end_group(process.pid)  # an empty group is not an error


@LINUX
def test_only_marked_processes_are_ended():
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
def test_a_stopped_worker_does_not_exceed_the_timeout(tmp_path):
    log = tmp_path / "pids"
    learners = {"waits": strange.Waits(log=str(log), nap=0.4), "max": "max"}
    experiment = strange.make_experiment(learners, DATA, "holdout:0.5")
    results = run_in_workers(
        ComparisonTask(experiment), blocks_of(experiment, experiment.cells()), jobs=1, here=True,
        timeout=1.0,
    )  # fmt: skip
    # another process stops the worker while this one waits
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


@pytest.mark.needs("posix", "forks have hooks")
def test_a_signal_during_a_fork_is_deferred():
    """Fork hooks, such as that of logging, finish first."""
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
    starter = forked_workers._starter(1)
    try:
        with pytest.raises(InterruptedError):
            forked_workers._started_here(lambda *_: None, None, starter)
        assert done == ["released"]
        assert signal.getsignal(signal.SIGTERM) is end
    finally:
        forking.clear()
        signal.signal(signal.SIGTERM, before)


@LINUX
def test_a_learner_that_stops_itself_exceeds_the_timeout():
    learners = {"stops": strange.StopsItself(), "max": "max"}
    experiment = strange.make_experiment(learners, DATA, "holdout:0.5")
    blocks = blocks_of(experiment, experiment.cells())
    begin = time.monotonic()
    results = run_in_workers(ComparisonTask(experiment), blocks, jobs=1, here=True, timeout=0.3)
    kinds = {at[0]: cell.failure and cell.failure.kind
             for at, cell in strange.by_place(experiment, results).items()}  # fmt: skip
    assert kinds == {"stops": "timeout", "max": None}
    assert time.monotonic() - begin < 60.0


@LINUX
def test_the_time_of_a_paused_worker_does_not_count():
    """The fit takes 0.6 s, and the worker runs again before the timeout has passed."""
    experiment = strange.make_experiment({"paused": strange.IsPaused()}, DATA, "holdout:0.5")
    blocks = blocks_of(experiment, experiment.cells())
    results = run_in_workers(ComparisonTask(experiment), blocks, jobs=1, here=True, timeout=1.5)
    assert [cell.failure for cell in strange.by_place(experiment, results).values()] == [None]
