"""All pairs of five learners by 5x2 cross-validation, beside mlxtend pair by pair.

``mlxtend-5x2cv``: 5x2 losses of five learners and all 10 pairwise tests against mlxtend's
`paired_ttest_5x2cv` for every pair (promise: 3.5): K fits a split, not K (K - 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from overhead_speed import Row, data_sets, learners, one_thread, row, turns


def measure() -> Iterator[Row]:
    from mlxtend.evaluate import paired_ttest_5x2cv

    import bestofk as bk

    X, y = data_sets()["cancer"]

    def ours() -> None:
        bk.compare(
            learners(), X, y, cv="5x2", progress=False, execution=bk.Execution(engine="serial")
        )

    def theirs() -> None:
        for a, b in combinations(learners().values(), 2):
            paired_ttest_5x2cv(a, b, X, y, random_seed=0)

    with one_thread():
        yield row("mlxtend-5x2cv", *turns(ours, theirs, rounds=3))
