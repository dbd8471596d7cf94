"""Blocks cover every cell once, and keep several workers busy until the end."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bestofk.run.comparison_task import ComparisonTask
from bestofk.run.task import Blocks, Times

sys.path.insert(0, str(Path(__file__).parent))
import strange_learners as strange

X, Y = np.random.default_rng(0).normal(size=(90, 2)), np.arange(90) % 3


def made(plan, learners=("a", "b")):
    named = {name: strange.Counted(tag=name) for name in learners}
    return strange.make_live(named, {"d": (X, Y), "e": (X[:60], Y[:60])}, plan)


def paced(live, seconds, workers=2):
    """Return the blocks if each fit of learner k takes ``seconds[k]`` and is done at once."""
    times, task, blocks = Times({}, workers=workers), ComparisonTask(live), []
    for block in Blocks(task, live.record.cells(), times):
        blocks.append(block)
        for cell in block:
            times.done(task.timed_as(cell), seconds[cell.learner])
    return blocks


@pytest.mark.parametrize("workers", [1, 5])
@pytest.mark.parametrize("plan", ["10x4", "3x3+nested", "holdout:0.5"])
@pytest.mark.parametrize("seconds", [0.0, 0.1, 3.0])
def test_every_cell_is_in_one_block_and_folds_that_share_a_model_stay_together(
    workers, plan, seconds
):
    live = made(plan)
    blocks = paced(live, [seconds, seconds / 2], workers)
    assert Counter(cell for block in blocks for cell in block) == Counter(live.record.cells())
    assert all(len({cell.learner for cell in block}) == 1 for block in blocks)
    if "nested" in plan:
        models = [{(c.dataset, c.run, c.learner) for c in block if c.run >= 3} for block in blocks]
        assert sum(map(len, models)) == len(set().union(*models))


def test_fits_of_unknown_and_long_time_are_blocks_of_their_own_and_come_first():
    blocks = paced(made("10x4"), [0.001, 2.0])
    learners = [[cell.learner for cell in block] for block in blocks]
    # one of each learner and data set, then the long ones
    assert sorted(learners[:4]) == [[0], [0], [1], [1]]
    assert learners[4:82] == [[1]] * 78
    assert {0} == set().union(*learners[82:])
    assert len(learners[82:]) < 12
