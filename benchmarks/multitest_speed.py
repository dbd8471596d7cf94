"""MultiTest on K = 3,000 learners: `ratio` is the promised 3 s over our time.

Peak memory is printed beside it; the promise is below 1 GiB.
"""

from __future__ import annotations

import resource
import time

import numpy as np

PROMISED_SECONDS = 3.0


def measure() -> list[tuple[str, float, float, float]]:
    from bestofk import decide as ordering

    rng = np.random.default_rng(0)
    losses = rng.uniform(0.1, 0.5, 3000)[:, None, None] + rng.normal(0, 0.02, (3000, 5, 2))
    ordering.multitest(losses[:50], test="5x2cv-t")
    begin = time.perf_counter()
    decision = ordering.multitest(losses, test="5x2cv-t")
    seconds = time.perf_counter() - begin
    assert len(decision.ranking) == 3000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"multitest-3000 peak memory of the process: {peak:.2f} GiB")
    return [("multitest-3000", PROMISED_SECONDS / seconds, seconds, PROMISED_SECONDS)]
