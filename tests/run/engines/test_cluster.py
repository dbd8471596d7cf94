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

from bestofk._base.errors import BestOfKError, MissingExtraError, RunError
from bestofk.run.comparison_task import ComparisonTask, blocks_of
from bestofk.run.engines.cluster import run_on_cluster
from bestofk.run.engines.engine import Engine
from bestofk.run.evaluate import evaluate

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
    "stays": strange.CannotBePickled(),
}


def on_cluster(experiment, **options):
    return run_on_cluster(
        ComparisonTask(experiment), blocks_of(experiment, experiment.cells()), **options
    )


def serially(experiment):
    return strange.outcomes(experiment, evaluate(experiment, experiment.cells()))


@pytest.fixture(scope="module")
def dask():
    """A Dask cluster of two processes, whose workers are daemons as a cluster's are."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    from dask import config

    # forks of a process that has imported it all, not three times two seconds of imports
    fork = {"distributed.worker.multiprocessing-method": "forkserver"}
    loaded = ["distributed.nanny", "bestofk.run.compare", "sklearn.ensemble"]
    multiprocessing.get_context("forkserver").set_forkserver_preload(loaded)
    with config.set(fork), distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    ) as cluster:  # fmt: skip
        yield cluster


@pytest.mark.usefixtures("preloaded_workers")
def test_dask_started_here_gives_the_same_to_the_bit():
    pytest.importorskip("distributed", reason="Dask is not installed")
    experiment = strange.make_experiment(LEARNERS, DATA, "2x3", repetitions=2)
    places = list(experiment.cells())
    engine = Engine(name="dask", jobs=2)
    found = strange.outcomes(
        experiment, engine.run(ComparisonTask(experiment), places, total=len(places))
    )
    assert found == serially(experiment)


def test_dask_at_an_address_with_a_worker_killed_loses_nothing(dask, tmp_path):
    log = tmp_path / "pids"
    learners = {"waits": strange.Waits(log=str(log), nap=0.1), "max": "max"}
    experiment = strange.make_experiment(learners, DATA, "2x4")
    expected = serially(experiment)
    results = []
    for result in on_cluster(experiment, backend="dask", scheduler=dask.scheduler_address):
        results.append(result)
        if len(results) == 2:
            # the process of Dask itself, not the one that it evaluates cells in
            victim = next(iter(dask.workers.values())).pid
            os.kill(victim, signal.SIGKILL)
    assert strange.outcomes(experiment, results) == expected


def test_crashes_and_hangs_on_a_cluster_are_recorded_as_on_one_machine(dask):
    learners = {
        "segfaults": strange.Segfaults(),
        "hangs": strange.Hangs(),
        "exits": strange.Exits(),
        "max": "max",
    }
    experiment = strange.make_experiment(learners, {"one": DATA["one"]}, "holdout:0.4")
    before = {worker.pid for worker in dask.workers.values()}
    found = strange.by_place(
        experiment,
        on_cluster(experiment, backend="dask", scheduler=dask.scheduler_address, timeout=1.0),
    )
    kinds = {at[0]: cell.failure and cell.failure.kind for at, cell in found.items()}
    assert kinds == {"segfaults": "killed", "hangs": "timeout", "exits": "killed", "max": None}
    # no worker of the cluster died of it
    assert {worker.pid for worker in dask.workers.values()} == before


def test_a_deadline_is_kept_on_a_cluster(dask):
    learners = {"waits": strange.Counted(nap=60.0), "max": "max"}
    experiment = strange.make_experiment(learners, {"one": DATA["one"]}, "2x3")
    begin = time.monotonic()
    list(on_cluster(experiment, backend="dask", scheduler=dask.scheduler_address,
                    deadline=begin + 2.0))  # fmt: skip
    assert time.monotonic() - begin < 50.0  # one fit takes 60


def test_no_scheduler_at_the_address_is_said(monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    from bestofk.run.engines import cluster_dask

    monkeypatch.setattr(cluster_dask, "CONNECT_LIMIT", 0.5)
    experiment = strange.make_experiment({"a": "max", "b": "nmc"}, {"one": DATA["one"]})
    with pytest.raises(RunError, match=r"there is no Dask scheduler at 'tcp://127\.0\.0\.1:9'"):
        list(on_cluster(experiment, backend="dask", scheduler="tcp://127.0.0.1:9"))


@pytest.mark.parametrize(("backend", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_a_package_that_is_not_installed_is_named(monkeypatch, backend, package):
    monkeypatch.setitem(sys.modules, package, None)
    experiment = strange.make_experiment({"a": "max", "b": "nmc"}, {"one": DATA["one"]})
    with pytest.raises(MissingExtraError) as missing:
        list(on_cluster(experiment, backend=backend))
    assert str(missing.value) == (
        f"The engine {backend} needs an extra: pip install 'bestofk[{backend}]'."
    )


def test_other_backends_are_refused():
    experiment = strange.make_experiment({"a": "max", "b": "nmc"}, {"one": DATA["one"]})
    with pytest.raises(BestOfKError, match="backend"):
        list(on_cluster(experiment, backend="spark"))


RAY = """
import sys
sys.path[:0] = sys.argv[1:3]
import test_cluster as here
experiment = here.strange.make_experiment(here.LEARNERS, here.DATA, "2x3")
found = here.strange.outcomes(experiment, here.on_cluster(experiment, backend="ray", jobs=2))
assert found == here.serially(experiment)
print("equal")
"""


@pytest.mark.skipif(
    "BESTOFK_TEST_RAY" not in os.environ,
    reason="a Ray cluster takes half a minute to start: set BESTOFK_TEST_RAY=1 to test it",
)
def test_ray_started_here_gives_the_same_to_the_bit_and_leaves_nothing_behind():
    import subprocess
    import tempfile

    pytest.importorskip("ray", reason="Ray is not installed")
    # a short path, for sockets; in a process of its own: Ray leaves threads and warnings behind
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp") as folder:
        done = subprocess.run(
            [sys.executable, "-c", RAY, str(Path(__file__).parent), str(Path(__file__).parents[1])],
            capture_output=True, text=True, timeout=300, check=False,
            env={**os.environ, "TMPDIR": folder},
        )  # fmt: skip
        assert done.stdout.strip().endswith("equal"), done.stderr
        assert list(Path(folder).iterdir()) == []
