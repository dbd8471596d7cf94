"""Workers that are killed, silent or late: every cell has a result, and no process is left."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from bestofk.run import reaper
from bestofk.run.fit import Evaluator
from bestofk.run.pool import new_pool
from bestofk.run.task import Blocks, Times

sys.path.insert(0, str(Path(__file__).parents[1]))  # worker processes inherit the path
import strange_learners as strange

DATA = {"d": (np.random.default_rng(11).normal(size=(30, 2)), np.tile(["a", "b", "c"], 10))}
LINUX = pytest.mark.needs("linux", "processes are found in /proc, and workers start at once")


def in_workers(live, **options):
    """Run in workers whose fork server was spawned, or is a fork of this process (`here`)."""
    task, jobs = live, options.pop("jobs", 2)
    blocks = Blocks(task, live.record.cells(), Times({}, workers=jobs))
    return ran(task, blocks, jobs=jobs, **options)


def ran(task, blocks, *, deadline=None, **options):
    created = new_pool(task, **options)
    try:
        yield from created.run(blocks, deadline=deadline)
    finally:
        created.close()


def kinds(live, results):
    """Return {learner: kinds of its failures}."""
    found = {}
    for at, cell in strange.by_place(live, results).items():
        found.setdefault(at[0], set()).add(cell.failure and cell.failure.kind)
    return found


def serially(live):
    return strange.outcomes(live, Evaluator(live).evaluate(live.record.cells()))


def pids_in(log):
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def fields(pid):
    """Return the state of a process, its parent and so on; X if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["X"]


def gone(pids, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if all(fields(pid)[0] in "ZX" for pid in pids):
            return True
        time.sleep(0.02)
    return False


def waited_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def waits(tmp_path):
    """An live with a slow learner that logs its process id."""

    def make(nap, plan="2x4", **more):
        learners = {
            "waits": strange.Waits(log=str(tmp_path / "pids"), nap=nap),
            "max": "max",
            **more,
        }
        return strange.make_live(learners, DATA, plan)

    return make


@LINUX
def test_a_worker_killed_from_outside_loses_nothing(waits, tmp_path):
    live, log = waits(0.15), tmp_path / "pids"
    expected = serially(live)
    log.unlink()
    results, killed = [], []
    for result in in_workers(live, here=True):
        results.append(result)
        # kill at another cell, because a cell that is lost often is recorded as a failure
        if len(pids_in(log)) >= 1 + 5 * len(killed) and len(killed) < 2:
            killed.append(pids_in(log)[-1])
            os.kill(killed[-1], signal.SIGKILL)
    assert len(killed) == 2
    assert strange.outcomes(live, results) == expected


@LINUX
@pytest.mark.usefixtures("preloaded_workers")
def test_the_process_that_workers_come_from_may_be_killed_too(waits, tmp_path):
    live, log = waits(0.1), tmp_path / "pids"
    expected = serially(live)
    log.unlink()
    results = []
    for result in in_workers(live):
        results.append(result)
        if len(results) == 1:
            waited_for(lambda: pids_in(log))
            parent = int(fields(pids_in(log)[-1])[1])
            assert parent != os.getpid()
            os.kill(parent, signal.SIGKILL)
    assert strange.outcomes(live, results) == expected


@pytest.mark.needs("posix", "process groups")
def test_a_process_that_is_still_starting_is_killed_too():
    # it does not lead a group, as a worker before its first line
    starting = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    script = Path(reaper.__file__)
    reaping = subprocess.Popen(
        [sys.executable, str(script), str(os.getpid())], stdin=subprocess.PIPE
    )
    reaping.communicate(f"+{starting.pid}\n".encode(), timeout=100)
    assert starting.wait(timeout=100) == -signal.SIGTERM


def test_a_learner_that_kills_its_process_once_is_retried(tmp_path):
    learners = {"once": strange.KilledOnce(log=str(tmp_path / "mark")), "max": "max"}
    live = strange.make_live(learners, DATA, "kfold:3")
    results = strange.outcomes(live, in_workers(live, jobs=1, here=True))
    assert results == serially(live)


def test_a_slow_consumer_causes_no_timeouts(waits):
    live = waits(0.05)
    results = []
    for result in in_workers(live, timeout=2.0, here=True):
        results.append(result)
        if len(results) == 3:
            time.sleep(2.5)  # longer than the timeout, while workers continue
    assert strange.outcomes(live, results) == serially(live)


def test_the_timeout_counts_from_the_start_of_a_fit_not_of_its_block(tmp_path):
    # one fold of a learner on six data sets is one block, which takes longer than the timeout
    sets = {f"d{number}": DATA["d"] for number in range(6)}
    learners = {"w": strange.Waits(log=str(tmp_path / "pids"), nap=0.5)}
    live = strange.make_live(learners, sets, "holdout:0.5")
    block = tuple(live.record.cells())
    task = live
    results = list(ran(task, [block], jobs=1, timeout=2.5, here=True))
    assert [cell.failure for cell in results] == [None] * 6


@pytest.mark.usefixtures("preloaded_workers")
def test_the_deadline_ends_the_work_and_the_workers(waits, tmp_path):
    results = list(in_workers(waits(600.0), deadline=time.monotonic() + 1.5))
    assert all(result.loss is not None for result in results)
    assert gone(pids_in(tmp_path / "pids"))


@pytest.mark.usefixtures("preloaded_workers")
def test_a_reader_that_leaves_ends_the_workers_and_leaves_no_files(waits, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    results = in_workers(waits(0.2))
    next(results)
    assert not list(folder.iterdir())  # the file of the task has no name
    results.close()
    assert not list(folder.iterdir())
    assert gone(pids_in(tmp_path / "pids"))


@LINUX
def test_untrusted_learners_get_their_own_workers(tmp_path):
    logs = [tmp_path / "p", tmp_path / "q"]
    learners = {log.name: strange.Waits(log=str(log)) for log in logs}
    live = strange.make_live(learners, DATA, "2x3")
    task = live
    shared = new_pool(task, jobs=1, here=True)
    results = []
    try:
        for block in Blocks(task, live.record.cells(), Times({})):
            results.extend(shared.run(iter([block])))
            assert len(shared.workers) == 1
    finally:
        shared.close()
    assert len(results) == 12
    assert not set(pids_in(logs[0])) & set(pids_in(logs[1]))


@LINUX
@pytest.mark.usefixtures("preloaded_workers")
@pytest.mark.parametrize("how", ["timeout", "closed"])
def test_processes_of_a_fit_end_with_its_worker(tmp_path, how):
    log = tmp_path / "pids"
    learners = {"max": "max", "starts": strange.StartsProcess(log=str(log))}
    live = strange.make_live(learners, DATA, "holdout:0.5")
    results = in_workers(live, jobs=2, timeout=3.0 if how == "timeout" else None)
    if how == "closed":
        next(results)
        waited_for(lambda: pids_in(log))
        results.close()
    else:
        found = [result.failure and result.failure.kind for result in results]
        assert found == [None, "timeout"]
    assert len(pids_in(log)) == 1
    assert gone(pids_in(log))


@LINUX
def test_a_learner_that_stops_itself_exceeds_the_timeout():
    learners = {"stops": strange.StopsItself(), "max": "max"}
    live = strange.make_live(learners, DATA, "holdout:0.5")
    results = in_workers(live, jobs=1, here=True, timeout=2.0)
    assert kinds(live, results) == {"stops": {"timeout"}, "max": {None}}


UNGUARDED = """
import sys
sys.path.insert(0, sys.argv[1])
import bestofk as bk, strange_learners as strange
from engines.test_pool import DATA
print("begin")
class Own(strange.Majority):
    pass
execution = bk.Execution(engine="processes", n_jobs=1, progress=False)
study = bk.compare({"own": Own(), "max": "max"}, *DATA["d"], cv="kfold:2", execution=execution)
print(len(study.failures))
"""


def test_a_script_needs_no_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, script, Path(__file__).parents[1]],
        capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.stdout == "begin\n0\n", done.stderr
