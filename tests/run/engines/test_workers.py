"""Workers that are killed, silent or out of time: every cell has a result."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bestofk.run.comparison_task import ComparisonTask, blocks_of
from bestofk.run.engines.workers import Pool, run_in_workers
from bestofk.run.evaluate import evaluate
from bestofk.run.task import Block

sys.path.insert(0, str(Path(__file__).parents[1]))  # worker processes inherit the path
import strange_learners as strange

DATA = {"d": (np.random.default_rng(11).normal(size=(30, 2)), np.tile(["a", "b", "c"], 10))}


def in_workers(experiment, **options):
    """Run in spawned workers, or in forks of this process (`here`)."""
    blocks = blocks_of(experiment, experiment.cells())
    return run_in_workers(ComparisonTask(experiment), blocks, **{"jobs": 2, **options})


def serially(experiment):
    return strange.outcomes(experiment, evaluate(experiment, experiment.cells()))


def pids_in(log):
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def is_gone(pid, seconds=10.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def waits(tmp_path):
    """An experiment with a slow learner that logs its process id."""

    def make(nap, plan="2x4", **more):
        learners = {
            "waits": strange.Waits(log=str(tmp_path / "pids"), nap=nap),
            "max": "max",
            **more,
        }
        return strange.make_experiment(learners, DATA, plan)

    return make


@pytest.mark.needs("linux", "workers start too late to be killed")
def test_a_worker_killed_from_outside_loses_nothing(waits, tmp_path):
    experiment, log = waits(0.15), tmp_path / "pids"
    expected = serially(experiment)
    log.unlink()
    results, killed = [], []
    for result in in_workers(experiment, here=True):
        results.append(result)
        # kill at another cell, because a cell that is lost twice is recorded as a failure
        if len(pids_in(log)) >= 1 + 5 * len(killed) and len(killed) < 2:
            killed.append(pids_in(log)[-1])
            os.kill(killed[-1], signal.SIGKILL)
    assert len(killed) == 2
    assert strange.outcomes(experiment, results) == expected
    assert len(pids_in(log)) > 8  # lost cells ran again


@pytest.mark.usefixtures("preloaded_workers")
def test_the_process_that_workers_come_from_may_be_killed_too(waits, tmp_path):
    experiment, log = waits(0.1), tmp_path / "pids"
    expected = serially(experiment)
    log.unlink()
    results = []
    for result in in_workers(experiment):
        results.append(result)
        if len(results) == 1:
            while not pids_in(log):
                time.sleep(0.01)
            fields = Path(f"/proc/{pids_in(log)[-1]}/stat").read_text().rpartition(")")[2].split()
            parent = int(fields[1])
            if parent != os.getpid():
                os.kill(parent, signal.SIGKILL)
    assert strange.outcomes(experiment, results) == expected


def test_a_learner_that_kills_its_process_once_is_retried(tmp_path):
    learners = {"once": strange.KilledOnce(log=str(tmp_path / "mark")), "max": "max"}
    experiment = strange.make_experiment(learners, DATA, "kfold:3")
    results = strange.outcomes(experiment, in_workers(experiment, jobs=1, here=True))
    assert results == serially(experiment)


def test_a_package_that_starts_threads_is_not_forked(tmp_path):
    learners = {"threads": strange.StartsThread(), "told": strange.TellsThreads(), "max": "max"}
    experiment = strange.make_experiment(learners, DATA, "kfold:2")
    results = strange.by_place(experiment, in_workers(experiment, jobs=1))
    assert len(results) == 6
    assert {at[0] for at, cell in results.items() if cell.failure} == {"told"}
    # spawned workers use one thread each too
    assert results["told", 0, 0, 0, 0].failure.reason == "RuntimeError: threads [1]"


def test_workers_use_one_thread_each():
    experiment = strange.make_experiment({"t": strange.TellsThreads(), "max": "max"}, DATA)
    results = strange.by_place(experiment, in_workers(experiment, jobs=1))
    assert results["t", 0, 0, 0, 0].failure.reason == "RuntimeError: threads [1]"


def test_a_slow_consumer_causes_no_timeouts(waits):
    experiment = waits(0.05)
    results = []
    for result in in_workers(experiment, timeout=1.0, here=True):
        results.append(result)
        if len(results) == 3:
            time.sleep(1.5)  # longer than the timeout, while workers continue
    assert strange.outcomes(experiment, results) == serially(experiment)


def test_the_timeout_counts_from_the_start_of_a_fit_not_of_its_block(tmp_path):
    # one fold of six learners is one block; together they take longer than the timeout
    learners = {
        f"w{i}": strange.Waits(log=str(tmp_path / "pids"), nap=0.4 + i / 100) for i in range(6)
    }
    experiment = strange.make_experiment(learners, DATA, "holdout:0.5")
    results = strange.by_place(experiment, in_workers(experiment, jobs=1, timeout=1.5, here=True))
    assert [cell.failure for cell in results.values()] == [None] * 6


@pytest.mark.usefixtures("preloaded_workers")
def test_the_deadline_ends_the_work_and_the_workers(waits, tmp_path):
    experiment = waits(60.0)
    begin = time.monotonic()
    results = list(in_workers(experiment, deadline=begin + 1.5))
    assert time.monotonic() - begin < 30.0
    assert all(result.loss is not None for result in results)
    assert all(is_gone(pid) for pid in pids_in(tmp_path / "pids"))


@pytest.mark.usefixtures("preloaded_workers")
def test_a_reader_that_leaves_ends_the_workers_and_leaves_no_files(waits, tmp_path, monkeypatch):
    import tempfile

    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    results = in_workers(waits(0.2))
    next(results)
    assert not list(folder.iterdir())  # the file of the task has no name
    results.close()
    assert not list(folder.iterdir())
    assert all(is_gone(pid) for pid in pids_in(tmp_path / "pids"))


@pytest.mark.usefixtures("preloaded_workers")
def test_a_pool_serves_one_call_after_another(tmp_path):
    experiment = strange.make_experiment({"c": strange.Counted(), "max": "max"}, DATA, "2x3")
    task = ComparisonTask(experiment)
    shipment = task.ship()
    assert shipment.is_local is None
    pool = Pool(task, shipment.packed, jobs=1, timeout=None)
    results = []
    try:
        for block in blocks_of(experiment, experiment.cells()):
            results.extend(pool.run(iter([block])))
            assert len(pool.workers) == 1
    finally:
        pool.close()
    assert strange.outcomes(experiment, results) == serially(experiment)


@pytest.mark.needs("linux", "a new interpreter starts too late")
def test_a_crash_in_a_block_of_alternating_folds_loses_nothing():
    learners = {"max": "max", "nmc": "nmc", "exits": strange.Exits()}
    experiment = strange.make_experiment(learners, DATA, "1x2")
    cells = {(cell.learner, cell.fold): cell for cell in experiment.cells()}
    order = [(0, 0), (2, 1), (1, 0), (1, 1), (0, 1), (2, 0)]
    block = Block(items=tuple(cells[at] for at in order))
    task = ComparisonTask(experiment)
    results = strange.by_place(experiment, run_in_workers(task, [block], jobs=1, here=True))
    kinds = {(at[0], at[3]): cell.failure and cell.failure.kind for at, cell in results.items()}
    expected = {(name, fold): None for name in ("max", "nmc") for fold in (0, 1)}
    assert kinds == {**expected, ("exits", 0): "killed", ("exits", 1): "killed"}
