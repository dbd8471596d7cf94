"""The benchmarks of running comparisons work, on the smallest cases."""

import math
import sys
from pathlib import Path

import pytest

pytest.importorskip("threadpoolctl")
BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")


@pytest.fixture(autouse=True)
def _path(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    # worker processes import the learners of a benchmark
    monkeypatch.setenv("PYTHONPATH", BENCHMARKS)
    yield
    for name in ("parallel_speed", "stopping_speed", "store_speed", "timing", "overhead_speed"):
        sys.modules.pop(name, None)


def test_sleeping_learners():
    import parallel_speed

    ((name, ratio, _, ideal),) = parallel_speed.sleepers([2], shapes=[(2, 2)])
    assert name == "sleep-2-2x2"
    assert ratio > 0
    assert math.isfinite(ideal)
