"""Bootstrap-A, 5 learners x 64 data sets: the exact distribution and the fast resampler.

The peer is numpy's `Generator.permuted`, the shortest way to write the resampling down: every
data set's losses shuffled among the learners, 1,000,000 times. It is measured on 50,000
resamples, in chunks that fit in memory, and scaled.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from bestofk.stats.multiple.bootstrap import bootstrap_a

RESAMPLES = 1_000_000
MEASURED = 50_000
CHUNK = 5_000


def measure() -> list[tuple[str, float, float, float]]:
    """Rows (name, ratio, our seconds, seconds of the peer)."""
    losses = np.random.default_rng(0).random((5, 64)) + 0.02 * np.arange(5)[:, None]
    bootstrap_a(losses)  # imports
    peer = _best(lambda: _permuted(losses), times=3) * (RESAMPLES / MEASURED)
    exact = _best(lambda: bootstrap_a(losses), times=20)
    resample = _best(
        lambda: bootstrap_a(losses, method="resample", resamples=RESAMPLES, random_state=0),
        times=5,
    )
    return [
        ("bootstrap-a-exact", peer / exact, exact, peer),
        ("bootstrap-a-resample", peer / resample, resample, peer),
    ]


def _permuted(losses: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(1)
    observed = losses.mean(axis=1)
    tails = np.zeros((2, losses.shape[0]))
    for _ in range(0, MEASURED, CHUNK):
        tables = np.broadcast_to(losses, (CHUNK, *losses.shape))
        means = rng.permuted(tables, axis=1).mean(axis=2)
        tails[0] += (means <= observed).sum(axis=0)
        tails[1] += (means >= observed).sum(axis=0)
    return np.minimum(2 * (tails.min(axis=0) + 1) / (MEASURED + 1), 1.0)


def _best(call: Callable[[], object], *, times: int) -> float:
    seconds = []
    for _ in range(times):
        start = perf_counter()
        call()
        seconds.append(perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    for name, ratio, ours, theirs in measure():
        print(f"{name} ratio={ratio:.1f} ours={ours:.6f} peer={theirs:.3f}")
