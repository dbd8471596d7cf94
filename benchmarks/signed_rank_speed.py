"""Bayesian signed rank against baycomp, with and without a region of equivalence."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


def _best_of(function: Callable[[], Any], times: int) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure() -> list[tuple[str, float, float, float]]:
    """Name, ratio, our seconds, baycomp's seconds, for 50,000 draws each."""
    from baycomp import SignedRankTest

    from bestofk.stats.pairwise import signed_rank_bayes

    rng = np.random.default_rng(0)
    results = []
    for n, rope in ((30, 0.01), (30, 0.0), (100, 0.01)):
        a = rng.normal(0.21, 0.03, n)
        b = rng.normal(0.20, 0.03, n)
        # baycomp takes scores: what is right for it is left for losses
        peer = _best_of(lambda a=a, b=b, r=rope: SignedRankTest.probs(b, a, r, random_state=0), 2)
        ours = _best_of(lambda a=a, b=b, r=rope: signed_rank_bayes(a, b, rope=r, random_state=0), 5)
        results.append((f"signed-rank-bayes-{n}-rope-{rope:g}", peer / ours, ours, peer))
    return results


if __name__ == "__main__":
    for name, ratio, ours, peer in measure():
        print(f"{name} ratio={ratio:.1f} ours={ours:.4g}s peer={peer:.4g}s")
