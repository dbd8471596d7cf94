"""Clusters: bit-for-bit equal results, also if workers of the cluster are killed."""

import logging
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from bestofk._base.errors import MissingExtraError, RunError
from bestofk.run.dask import DaskCluster
from bestofk.run.engine import Execution
from bestofk.run.fit import Evaluator
from bestofk.run.task import Blocks, Times

sys.path.insert(0, str(Path(__file__).parents[1]))  # worker processes inherit the path
import strange_learners as strange

DATA = {
    "one": (np.random.default_rng(5).normal(size=(45, 4)), np.tile([0, 1, 2], 15)),
    "two": (np.random.default_rng(6).normal(size=(30, 2)), np.tile(["u", "v", "w"], 10)),
}
LEARNERS = {
    "forest": RandomForestClassifier(n_estimators=3),
    "bayes": GaussianNB(),
    "nmc": "nmc",
    "raises": strange.Raises(),
}


def on_cluster(live, **options):
    deadline = options.pop("deadline", None)
    cluster = DaskCluster(live, Execution(engine="dask", **options))
    try:
        blocks = Blocks(live, live.record.cells(), Times({}))
        yield from cluster.run(blocks, deadline=deadline)
    finally:
        cluster.close()


def serially(live):
    return strange.outcomes(live, Evaluator(live).evaluate(live.record.cells()))


@pytest.fixture(scope="module")
def dask():
    """A Dask cluster of two processes with daemonic workers, as clusters have."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    from dask import config

    # fork a process that has everything imported, to save two seconds of imports per worker
    fork = {"distributed.worker.multiprocessing-method": "forkserver"}
    loaded = ["distributed.nanny", "bestofk.run.compare", "sklearn.ensemble"]
    multiprocessing.get_context("forkserver").set_forkserver_preload(loaded)
    with config.set(fork), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    ) as cluster:  # fmt: skip
        yield cluster


def test_dask_loses_nothing_if_a_worker_is_killed(dask, tmp_path):
    log = tmp_path / "pids"
    learners = {"waits": strange.Waits(log=str(log), nap=0.1), "max": "max"}
    live = strange.make_live(learners, DATA, "2x4")
    expected = serially(live)
    results = []
    for result in on_cluster(live, scheduler=dask.scheduler_address):
        results.append(result)
        if len(results) == 2:
            # Dask's own worker, not the process that evaluates cells
            victim = next(iter(dask.workers.values())).pid
            os.kill(victim, signal.SIGKILL)
    assert strange.outcomes(live, results) == expected


def test_dask_records_crashes_and_hangs(dask):
    learners = {
        "segfaults": strange.Segfaults(),
        "hangs": strange.Hangs(),
        "exits": strange.Exits(),
        "max": "max",
    }
    live = strange.make_live(learners, {"one": DATA["one"]}, "holdout:0.4")
    before = {worker.pid for worker in dask.workers.values()}
    results = strange.by_place(
        live,
        # on a busy machine a new process may need seconds to crash
        on_cluster(live, scheduler=dask.scheduler_address, timeout=5.0),
    )
    kinds = {at[0]: cell.failure and cell.failure.kind for at, cell in results.items()}
    assert kinds == {"segfaults": "killed", "hangs": "timeout", "exits": "killed", "max": None}
    # all workers of the cluster survived
    assert {worker.pid for worker in dask.workers.values()} == before


def test_dask_keeps_a_deadline(dask):
    learners = {"waits": strange.Counted(nap=60.0), "max": "max"}
    live = strange.make_live(learners, {"one": DATA["one"]}, "2x3")
    deadline = time.monotonic() + 2.0
    results = on_cluster(live, scheduler=dask.scheduler_address, deadline=deadline)
    # a fit that the deadline had not stopped would end after 60 seconds, with a result
    assert {at[0] for at in strange.by_place(live, results)} <= {"max"}


def test_a_learner_that_cannot_be_pickled_is_refused(dask):
    learners = {"stays": strange.CannotBePickled(), "max": "max"}
    live = strange.make_live(learners, {"one": DATA["one"]})
    with pytest.raises(RunError, match=r"^'stays' cannot be pickled, so no worker"):
        list(on_cluster(live, scheduler=dask))


def test_a_missing_scheduler_is_an_error(monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("bestofk.run.dask.CONNECT_SECONDS", 0.5)
    live = strange.make_live({"a": "max", "b": "nmc"}, {"one": DATA["one"]})
    with pytest.raises(RunError, match=r"there is no Dask scheduler at 'tcp://127\.0\.0\.1:9'"):
        list(on_cluster(live, scheduler="tcp://127.0.0.1:9"))


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    live = strange.make_live({"a": "max", "b": "nmc"}, {"one": DATA["one"]})
    with pytest.raises(MissingExtraError) as missing:
        list(on_cluster(live, scheduler="tcp://x:1"))
    assert str(missing.value) == (
        "The engine dask needs a package that is not installed: pip install distributed."
    )


@pytest.mark.needs("posix", "files without names")
def test_a_worker_keeps_the_task_in_a_file_without_a_name(tmp_path):
    from bestofk.run.dask import Packed

    packed = Packed([b"the ", b"rows"])
    with packed.kept(str(tmp_path)) as file:
        file.seek(0)
        assert file.read() == packed.pieces[0][:] == b"the rows"
        assert list(tmp_path.iterdir()) == []
