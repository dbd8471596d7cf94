"""The benchmarks of running comparisons work, on the smallest cases."""

import json
import math
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("threadpoolctl")
BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")


@pytest.fixture(autouse=True)
def _path(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    # worker processes import the learners of a benchmark
    monkeypatch.setenv("PYTHONPATH", BENCHMARKS, prepend=os.pathsep)
    yield
    for name in ("parallel_speed", "stopping_speed", "store_speed", "timing", "overhead_speed"):
        sys.modules.pop(name, None)


def test_sleeping_learners():
    import parallel_speed

    ((name, ratio, _, ideal), known) = parallel_speed.sleepers([2], shapes=[(2, 2)])
    assert name == "sleep-2-2x2"
    assert ratio > 0
    assert math.isfinite(ideal)
    assert known[:2] == ("known-2-2x2", pytest.approx(1.0))  # (0.35 + 0.1) s on each worker


def test_stopping():
    import stopping_speed

    name, ratio, *_ = stopping_speed.stopped_and_full(
        "iris", ["nmc", "max"], "iris", cv="3x3", n_jobs=1
    )
    assert name == "stopping-iris"
    assert ratio > 0


def test_dask():
    pytest.importorskip("distributed", reason="Dask is not installed")
    import dask_speed

    ((name, ratio, *_),) = dask_speed.cells(20, [1])
    assert name == "dask-cells-1"
    assert ratio > 0
    if sys.platform == "linux":
        assert dask_speed.memory_of(os.getpid()) > 0


def test_stored_cells(monkeypatch, tmp_path, capsys):
    import store_speed

    for name, count in {"LEARNERS": 2, "DATASETS": 2, "FOLDS": 2, "REPETITIONS": 1}.items():
        monkeypatch.setattr(store_speed, name, count)
    path = tmp_path / "study.db"
    store_speed.fill(path, 8)
    for command in ("resume", "show"):
        store_speed.child(command, str(path), 8)
        assert float(json.loads(capsys.readouterr().out)[0]) > 0
    assert store_speed.select_seconds(path) > 0
