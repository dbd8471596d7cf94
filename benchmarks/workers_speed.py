"""Two worker processes beside one, seconds on the wall; two idle cores are needed.

The work is 40 cells (a tree and a forest of 20 trees, twice ten folds of 10,000 x 20): about 15 s
for one process. Starting up is part of it on both sides.

- ``two-workers``: two workers against one (promise: 1.8).
- ``two-workers-serial``: two workers against this process alone, which starts nothing.
- ``small-work``: `n_jobs=-1` against `n_jobs=1` where there is little to do (promise: not slower).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from overhead_speed import Row, data_sets, learners, one_thread, row, turns


def measure() -> Iterator[Row]:
    import bestofk as bk

    sets = data_sets()
    chosen = {name: learner for name, learner in learners().items() if name in ("tree", "forest")}

    def go(**how: Any) -> None:
        X, y = sets["10000x20"]
        bk.compare(chosen, X, y, cv="2x10", progress=False, **how)

    def little(jobs: int) -> None:
        X, y = sets["iris"]
        bk.compare(chosen, X, y, cv="kfold:10", progress=False, n_jobs=jobs)

    with one_thread():
        two, one, serial = turns(
            lambda: go(engine="processes", n_jobs=2),
            lambda: go(engine="processes", n_jobs=1),
            lambda: go(engine="serial"),
            rounds=3,
            clock=time.perf_counter,
            warm=False,
        )
        yield row("two-workers", two, one)
        yield row("two-workers-serial", two, serial)
        all_cores, alone = turns(
            lambda: little(-1), lambda: little(1), rounds=9, clock=time.perf_counter
        )
        yield row("small-work", all_cores, alone)
