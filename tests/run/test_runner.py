"""The task runner, with a toy task that squares numbers."""

import sys
from pathlib import Path

import pytest

from bestofk.run.task import Blocks, Times

sys.path.insert(0, str(Path(__file__).parent))  # worker processes inherit the path
from squares_task import Squares, run_squares


def test_items_with_one_key_are_evaluated_once(store):
    task = Squares(modulus=10)
    results = run_squares(task, [3, 13, 4, 23], store)
    assert task.seen == [3, 4]
    assert results == {3: 9, 13: 9, 23: 9, 4: 16}


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
