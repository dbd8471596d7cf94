"""Blocks cover every cell once, and keep several workers busy until the end."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bestofk.run.comparison_task import blocks_of

sys.path.insert(0, str(Path(__file__).parent))
import strange_learners as strange

X, Y = np.random.default_rng(0).normal(size=(3000, 2)), np.arange(3000) % 3


def made(*learners, sets=1, plan="10x4"):
    return strange.make_experiment(
        {name: name for name in learners}, {f"d{k}": (X, Y) for k in range(sets)}, plan
    )


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("hurried", [False, True])
@pytest.mark.parametrize("plan", ["10x4", "kfold:3", "holdout:0.5"])
def test_every_place_is_in_one_block(workers, hurried, plan):
    experiment = made("nn", "c4.5", "nmc", sets=2, plan=plan)
    # as when some are in a store
    places = [place for place in experiment.cells() if (place.run, place.learner) != (4, 1)]
    blocks = list(blocks_of(experiment, iter(places), hurried=hurried, workers=workers))
    assert all(block.items for block in blocks)
    assert Counter(place for block in blocks for place in block.items) == Counter(places)


def test_the_last_blocks_are_small_where_several_work():
    experiment = made("c4.5", "nn", "nmc")
    runs = {
        workers: [
            (block.items[0].learner, len({place.run for place in block.items}))
            for block in blocks_of(experiment, experiment.cells(), workers=workers)
        ]
        for workers in (1, 2)
    }
    # one thread: as long as they may be, which is ten runs of four times 3,000 rows
    assert runs[1] == [(1, 10), (0, 10), (2, 10)]
    # two: half of what is left; those of nn share most of their work, and what is short waits
    halves = [(0, 5), (2, 5), (1, 10), (0, 3), (2, 3), (0, 1), (2, 1), (0, 1), (2, 1)]
    assert runs[2] == halves
