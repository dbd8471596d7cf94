"""What a splitter object costs over the same splits by name, or as pairs of rows.

Rows, where a ratio of 1 means that it costs nothing: the whole of `compare` with two quick learners
of scikit-learn on breast-cancer, with a splitter against the pairs that it gives (``pairs-...``),
and against a plan of ours with as many splits of the same kind (``name-...``). The sides take
turns; the ratio is the median of the rounds' ratios, in seconds of the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

Row = tuple[str, float, float, float]
ROUNDS = 9


def measure() -> list[Row]:
    import numpy as np
    from sklearn import model_selection as ms
    from sklearn.datasets import load_breast_cancer
    from sklearn.naive_bayes import GaussianNB

    import bestofk as bk

    X, y = load_breast_cancer(return_X_y=True)
    learners = {"bayes": GaussianNB(), "smooth": GaussianNB(var_smoothing=1e-3)}
    groups = np.arange(len(y)) // 6

    def run(plan: Any, given: Any = None) -> Callable[[], Any]:
        options = {"groups": given, "progress": False, "execution": bk.Execution(engine="serial")}
        return lambda: bk.compare(learners, X, y, cv=plan, **options)

    cases = [
        ("10x10", ms.RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0), "10x10",
         None),
        ("group-kfold", ms.GroupKFold(10), "group-kfold:10", groups),
        ("time", ms.TimeSeriesSplit(50), "time:50", None),
        ("resample", ms.ShuffleSplit(100, test_size=0.1, random_state=0), "resample:100:0.1", None),
    ]  # fmt: skip
    rows: list[Row] = []
    for name, splitter, named, given in cases:
        pairs = list(splitter.split(X, y, given))
        rows.append(_row(f"pairs-{name}", run(splitter, given), run(pairs, given)))
        rows.append(_row(f"name-{name}", run(splitter, given), run(named, given)))
    return rows


def _row(name: str, ours: Callable[[], Any], peer: Callable[[], Any]) -> Row:
    ours(), peer()
    found = []
    for turn in range(ROUNDS):
        sides = [(0, ours), (1, peer)]
        seconds = [0.0, 0.0]
        for side, call in sides if turn % 2 else reversed(sides):
            begin = process_time()
            call()
            seconds[side] = process_time() - begin
        found.append(tuple(seconds))
    ratio = median(theirs / own for own, theirs in found)
    return name, ratio, median(own for own, _ in found), median(theirs for _, theirs in found)
