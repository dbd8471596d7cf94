"""Memory of a comparison beside its data: `ratio` is 3 x the data over what a run adds.

Columns "ours" and "peer" are MiB here: what the run adds at its peak, and 3 times the data. The
promise is a ratio of at least 1.
"""

from __future__ import annotations

import resource

import numpy as np


def measure() -> list[tuple[str, float, float, float]]:
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB

    import bestofk as bk

    learners = {"dummy": DummyClassifier(), "bayes": GaussianNB()}
    quick = {"cv": "kfold:5", "progress": False, "execution": bk.Execution(engine="serial")}
    rng = np.random.default_rng(0)
    small = rng.normal(size=(200, 5))
    bk.compare(learners, small, (small[:, 0] > 0).astype(int), **quick)
    rows = []
    for n, d in ((200_000, 50),):
        X = rng.normal(size=(n, d))
        y = (X[:, 0] > 0).astype(int)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        bk.compare(learners, X, y, **quick)
        added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
        allowed = 3 * X.nbytes / 2**20
        rows.append((f"memory-{n}x{d}", allowed / added, added, allowed))
    return rows
