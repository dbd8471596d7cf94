"""Losses that differ in any bit between engines, over losses and numbers of threads.

``python benchmarks/same_bits.py`` runs Ridge and logistic regression with zero-one,
log-loss, AUC and squared error in this process, in workers and on Dask, with 1, 2 and 4
threads a fit, and prints the number of losses that are not equal to those of this process: none.
Beside it stands how many differ between numbers of threads, which is why a store keeps them apart.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression, Ridge

import bestofk as bk

LOSSES = ("zero-one", "log-loss", "auc", "squared")
ENGINES = ("processes", "dask")
THREADS = (1, 2, 4)
ROWS, COLUMNS = 400, 150


def losses(loss: str, engine: str, threads: int) -> npt.NDArray[np.float64]:
    """Of two learners on four splits."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(ROWS, COLUMNS))
    signal = X[:, :5].sum(axis=1) + rng.normal(size=ROWS)
    if loss == "squared":
        learners: dict[str, object] = {"ridge": Ridge(1e-3), "other": Ridge(10.0)}
        y = signal
    else:
        learners = {"logistic": LogisticRegression(max_iter=30), "other": LogisticRegression(C=0.1)}
        y = (signal > 0).astype(np.int64)
    study = bk.compare(
        learners, X, y, loss=loss, plan="2x2", engine=engine, n_jobs=2, threads=threads,
        progress=False,
    )  # fmt: skip
    found: npt.NDArray[np.float64] = study.losses.values
    return found


def rows() -> Iterator[tuple[str, str, int, int]]:
    """What was compared, with how many threads, and how many losses differ."""
    for loss in LOSSES:
        first = losses(loss, "serial", 1)
        for threads in THREADS:
            alone = losses(loss, "serial", threads)
            yield loss, "serial against one thread", threads, int((alone != first).sum())
            for engine in ENGINES:
                other = losses(loss, engine, threads)
                yield loss, f"{engine} against serial", threads, int((other != alone).sum())


if __name__ == "__main__":
    for loss, what, threads, differ in rows():
        sys.stdout.write(f"{loss:10} {what:26} {threads} threads: {differ} of 8 differ\n")
        sys.stdout.flush()
