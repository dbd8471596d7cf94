"""Blocks cover every cell once, and keep several workers busy until the end."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bestofk.run.comparison_task import ComparisonTask, units_of
from bestofk.run.task import Times

sys.path.insert(0, str(Path(__file__).parent))
import strange_learners as strange

X, Y = np.random.default_rng(0).normal(size=(3000, 2)), np.arange(3000) % 3


def made(*learners, sets=1, plan="10x4"):
    return strange.make_live(
        {name: name for name in learners}, {f"d{k}": (X, Y) for k in range(sets)}, plan
    )


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("has_deadline", [False, True])
@pytest.mark.parametrize("plan", ["10x4", "kfold:3", "holdout:0.5"])
def test_every_place_is_in_one_block(workers, has_deadline, plan):
    live = made("nn", "c4.5", "nmc", sets=2, plan=plan)
    # as when some are in a store
    places = [place for place in live.record.cells() if (place.run, place.learner) != (4, 1)]
    task, times = ComparisonTask(live), Times({}, workers=workers)
    blocks = list(task.blocks(iter(places), times, has_deadline=has_deadline))
    assert all(block.items for block in blocks)
    assert Counter(place for block in blocks for place in block.items) == Counter(places)


def test_blocks_of_whole_plans_give_every_worker_two():
    live = made("c4.5", "nn", "naive-bayes")
    runs = {
        workers: [
            (unit.cells[0].learner, len({place.run for place in unit.cells}))
            for unit in units_of(live, live.record.cells(), workers=workers)
        ]
        for workers in (1, 2)
    }
    # one worker: ten runs of four times 3,000 rows
    assert runs[1] == [(0, 10), (1, 10), (2, 10)]
    # two: three runs each, so that there are four blocks; those of nn share most of their work
    assert Counter(runs[2]) == Counter(
        [(learner, size) for learner in (0, 2) for size in (3, 3, 3, 1)] + [(1, 10)]
    )


def paced(live, seconds, workers=2):
    """Return the blocks if each fit of learner k takes ``seconds[k]`` and is done at once."""
    times, task, blocks = Times({}, workers=workers), ComparisonTask(live), []
    for block in task.blocks(live.record.cells(), times):
        blocks.append(block)
        for cell in block.items:
            times.done(task.timed_as(cell), seconds[cell.learner])
    return blocks


@pytest.mark.parametrize("plan", ["10x4", "3x3+nested", "holdout:0.5"])
@pytest.mark.parametrize("seconds", [0.0, 0.1, 3.0])
def test_paced_blocks_cover_every_cell_once(plan, seconds):
    live = strange.make_live(
        {"a": strange.Raises(), "b": strange.Warns()}, {"d": (X[:90], Y[:90])}, plan
    )
    blocks = paced(live, [seconds, seconds / 2])
    cells = list(live.record.cells())
    assert Counter(cell for block in blocks for cell in block.items) == Counter(cells)
    models = [{(c.run, c.learner) for c in block.items if c.run >= 3} for block in blocks]
    if "nested" in plan:
        # the folds that share a model stay together
        assert sum(map(len, models)) == len(set().union(*models))


def test_fits_of_unknown_and_long_time_are_blocks_of_their_own_and_come_first():
    live = strange.make_live(
        {"quick": strange.Raises(), "long": strange.Warns()}, {"d": (X[:90], Y[:90])}, "10x4"
    )
    blocks = [[cell.learner for cell in block.items] for block in paced(live, [0.001, 2.0])]
    assert blocks[:2] == [[0], [1]]
    assert blocks[2:41] == [[1]] * 39
    assert {0} == set().union(*blocks[41:])
    assert len(blocks[41:]) < 10


def test_quick_fits_of_many_folds_are_joined_to_half_a_second():
    live = strange.make_live({"quick": strange.Raises()}, {"d": (X[:90], Y[:90])}, "300x4")
    sizes = [len(block.items) for block in paced(live, [0.0097])]
    assert sizes[0] == 1
    assert max(sizes) == 50
    assert sizes[-1] < 10


def test_learners_of_unknown_time_start_once_each_and_then_from_the_last():
    learners = {f"forest {k}": strange.Counted(tag=str(k)) for k in range(3)}
    live = strange.make_live(learners, {"d": (X[:60], Y[:60])}, "kfold:2")
    blocks = ComparisonTask(live).blocks(live.record.cells(), Times({}, workers=6))
    order = [(cell.learner, cell.fold) for block in blocks for cell in block.items]
    assert order == [(0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1)]
