"""Measure the nearest neighbour over 1,000 runs of 5x2cv against KNeighborsClassifier(1).

bestofk is timed on all 10,000 splits, from encoded rows to predicted codes, with its lists of
neighbours (the better of two times). The peer is bare fit and predict on arrays that were sliced
before, timed on a few splits (the best of them) and scaled to 10,000; with scaling inside the fold
it is a pipeline with MinMaxScaler or StandardScaler. It gets nominal columns as whole numbers and
missing cells as 0, which saves it work. Both sides are CPU seconds of one thread in one process.

Rows are generated in the sizes of UCI sets; with BESTOFK_DATA the sets themselves follow. This
takes long: ``python benchmarks/run.py neighbour_speed:spambase,3823x64`` measures some.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time

import numpy as np

from timing import Row

RUNS = 5 * 1000
PEER_SPLITS = 4
SIZES = {
    "150x4": (150, 4, 0),
    "1728x6-nominal": (1728, 0, 6),
    "5000x21": (5000, 21, 0),
    "7494x16": (7494, 16, 0),
    "3823x64": (3823, 64, 0),
    "4601x57": (4601, 57, 0),
    "12960x8-nominal": (12960, 0, 8),
}
REAL = (
    "iris", "glass", "segment", "wave", "spambase", "optdigits", "pendigits", "mushroom", "nursery",
)  # fmt: skip


def generated(n: int, numeric: int, nominal: int):
    """Draw clusters of normal rows, and nominal columns of four values."""
    from bestofk.data.schema import Encoded

    rng = np.random.default_rng(n)
    y = rng.integers(0, 3, n)
    centres = rng.normal(size=(3, numeric))
    values = np.hstack(
        [centres[y] + rng.normal(size=(n, numeric)), rng.integers(0, 4, (n, nominal))]
    )
    cardinality = np.array([0] * numeric + [4] * nominal)
    return Encoded(values=values, cardinality=cardinality, y=y, classes=np.arange(3))


def data_sets(names: Sequence[str]) -> Iterator[tuple[str, object]]:
    for name, size in SIZES.items():
        if name in names:
            yield name, generated(*size)
    folder = os.environ.get("BESTOFK_DATA")
    if folder is not None:
        from bestofk.data import read_data

        for name in (name for name in REAL if name in names):
            path = next(Path(folder, "uci").glob(f"{name}.csv*"))
            yield name, read_data(path, target="class", task="classification").encoded()


def seconds_of_peer(data, splits, scaler: type | None) -> float:
    """Return the seconds of one fit and predict."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from threadpoolctl import threadpool_limits

    X = np.nan_to_num(data.values)
    best = np.inf
    with threadpool_limits(1):
        for split in range(PEER_SPLITS):
            train, test = splits.train(*divmod(split, 2)), splits.test(*divmod(split, 2))
            X_train, y_train, X_test = X[train], data.y[train], X[test]
            start = process_time()
            model = KNeighborsClassifier(1)
            if scaler is not None:
                model = make_pipeline(scaler(), model)
            model.fit(X_train, y_train).predict(X_test)
            best = min(best, process_time() - start)
    return best


def seconds_of_ours(data, splits, scale: str | None) -> float:
    from bestofk.learners.nearest_neighbour import NearestNeighbour

    best = np.inf
    for _ in range(2):  # the first time includes the allocation of memory
        start = process_time()
        predicted = NearestNeighbour(scale)._predict_plan(data, splits)
        best = min(best, process_time() - start)
        assert sum(map(len, predicted)) == splits.runs * splits.n
        del predicted
    return best


def measure(names: Sequence[str] = (*SIZES, *REAL)) -> Iterator[Row]:
    """Yield one row for each data set and scale."""
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    from bestofk.splits import plan

    scalers = {None: None, "range": MinMaxScaler, "std": StandardScaler}
    for name, data in data_sets(names):
        splits = plan(f"{RUNS}x2", stratified=False, random_state=0).materialise(data.n)
        few = plan("1x2", stratified=False, random_state=0).materialise(data.n)
        numeric = bool((data.cardinality == 0).any())
        for scale, scaler in scalers.items():
            if scale is not None and not numeric:
                continue
            seconds_of_ours(data, few, scale)  # load the kernels
            peer = seconds_of_peer(data, splits, scaler) * 2 * RUNS
            ours = seconds_of_ours(data, splits, scale)
            yield f"nn-{name}-{scale or 'unscaled'}", peer / ours, ours, peer
