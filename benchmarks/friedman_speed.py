"""Friedman with Nemenyi and the text of both, against autorank with its report.

Both sides start from the same table and end with the sentences; imports are not counted.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

SIZES = ((5, 64), (50, 200))


def _ours(losses: np.ndarray) -> str:
    from bestofk.stats.multiple import friedman, nemenyi

    return friedman(losses).explain() + " " + nemenyi(losses).explain()


def _peer(frame: pd.DataFrame) -> str:
    from autorank import autorank, create_report

    text = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(text):
        warnings.simplefilter("ignore")
        result = autorank(
            frame,
            alpha=0.05,
            order="ascending",
            approach="frequentist",
            force_mode="nonparametric",
        )
        create_report(result)
    return text.getvalue()


def _best(work: Callable[[], str], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        if len(work()) < 100:
            raise RuntimeError("no text came out")
        times.append(time.perf_counter() - start)
    return min(times)


def measure() -> list[tuple[str, float, float, float]]:
    """(name, ratio, our seconds, the peer's seconds) for each size."""
    rows = []
    for learners, blocks in SIZES:
        rng = np.random.default_rng(learners)
        lift = rng.permutation(learners)[:, None] / learners
        losses = rng.random((learners, blocks)) + lift
        frame = pd.DataFrame(losses.T, columns=[f"learner {i}" for i in range(learners)])
        _ours(losses), _peer(frame)
        ours = _best(lambda table=losses: _ours(table), 20)
        peer = _best(lambda table=frame: _peer(table), 3)
        rows.append((f"friedman-{learners}x{blocks}", peer / ours, ours, peer))
    return rows


if __name__ == "__main__":
    for name, ratio, ours, peer in measure():
        print(f"{name} ratio={ratio:.1f} ours={ours:.6f} peer={peer:.6f}")
