"""The task runner, with a toy task that squares numbers."""

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from bestofk._base.errors import Interrupted, RunError
from bestofk.run.engine import Engine
from bestofk.run.progress import Progress
from bestofk.run.runner import run
from bestofk.run.task import Blocks, Times, UnpicklableError, load_task, pack

sys.path.insert(0, str(Path(__file__).parent))  # worker processes inherit the path
from squares_task import Squares


class Watching(Progress):
    def __init__(self):
        self.lines = []

    def start(self, *, total, done, unit="fits", times=None):
        self.lines.append((total, done, unit))

    def item(self, *, label, failed):
        self.lines.append((label, failed))


SERIAL = Engine(name="serial")


def values(results):
    return {item: result.value for item, result in results.items()}


def test_items_with_one_key_are_evaluated_once(store):
    task = Squares(modulus=10)
    results = run(task, [3, 13, 4, 23], engine=SERIAL, store=store)
    assert task.seen == [3, 4]
    assert values(results) == {3: 9, 13: 9, 23: 9, 4: 16}


def test_stored_results_are_reused_and_new_ones_stored(store):
    run(Squares(), [1, 2, -5], engine=SERIAL, store=store)
    task, watching = Squares(), Watching()
    results = run(task, [1, 2, 3, -5], engine=SERIAL, store=store, progress=watching)
    assert task.seen == [3, -5]  # failures are not stored
    assert watching.lines[0] == (4, 2, "squares")
    assert values(results) == {1: 1, 2: 4, 3: 9, -5: None}
    assert store.n_payloads() == 3


def test_an_error_stops_the_run_and_keeps_earlier_results(store):
    task = Squares()

    def stop(result):
        return RunError(f"{result} is negative") if result.value is None else None

    with pytest.raises(RunError, match="-2 is negative"):
        run(task, [1, -2, 3], engine=SERIAL, store=store, stop=stop)
    assert task.seen == [1, -2]
    assert store.n_payloads() == 1


def test_an_interruption_says_what_is_safe(store):
    with pytest.raises(Interrupted, match="interrupted; 2 of 4 squares are safe in the store"):
        run(Squares(interrupts=3), [1, 2, 3, 4], engine=SERIAL, store=store)
    assert store.n_payloads() == 2
    with pytest.raises(Interrupted, match="after 2 of 4 squares; nothing is kept without a store"):
        run(Squares(interrupts=3), [1, 2, 3, 4], engine=SERIAL)


class Held(Squares):
    """A task that cannot be pickled."""

    def __init__(self, **options):
        super().__init__(**options)
        self.lock = threading.Lock()


@pytest.mark.needs("posix", "without forks it runs in this process")
def test_a_task_that_cannot_be_pickled_runs_in_forks():
    here = Held()
    with pytest.raises(UnpicklableError, match="the task"):
        here.ship()
    results = run(here, range(6), engine=Engine(name="processes", jobs=2))
    assert values(results) == {number: number**2 for number in range(6)}
    assert here.seen == []  # this process evaluated none


@pytest.mark.parametrize(("seconds", "size"), [(0.099, 5), (0.0047, 102), (3.0, 1)])
def test_block_sizes_follow_the_time_of_items(seconds, size):
    times = Times({})
    blocks = iter(Blocks(Squares(), range(1000), times))
    assert len(next(blocks)) == 1  # unknown
    times.done(None, seconds)
    assert len(next(blocks)) == size  # half a second, at least one


def test_the_estimate_waits_for_every_kind_and_is_right_for_slow_ones():
    # a fast and a slow learner: 0.01 s and 1 s per fit, 100 fits each
    times, estimates, elapsed = Times({"quick": 100, "slow": 100}), [], 0.0
    for _ in range(100):
        for kind, seconds in (("quick", 0.01), ("slow", 1.0)):
            elapsed += seconds
            times.done(kind, seconds)
            estimates.append((times.left(elapsed=elapsed), 101 - elapsed))
    assert estimates.pop(0)[0] is None
    assert max(abs(estimate - truth) for estimate, truth in estimates) < 1e-6


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_a_loaded_task_are_views(order):
    frozen = np.arange(3)
    frozen.flags.writeable = False
    arrays = [np.asarray(np.arange(12.0).reshape(3, 4), order=order), np.empty(0), frozen]
    packed = bytearray(pack(arrays))
    loaded = load_task(packed)
    for one, other in zip(loaded, arrays, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.flags.writeable == other.flags.writeable
        assert one.flags.f_contiguous == other.flags.f_contiguous
    assert np.shares_memory(loaded[0], np.frombuffer(packed, dtype=np.uint8))
    offset = loaded[0].ctypes.data - np.frombuffer(packed, dtype=np.uint8).ctypes.data
    assert offset % 64 == 0
