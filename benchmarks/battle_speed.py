"""Ten million battles between 200 models against a limit of 2 s of CPU time, reading excluded.

- ``plain``: independent battles;
- ``clusters``: the same in 100,000 clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bestofk.decide.battles import Battles, order_battles
from timing import Row, best, one_thread

BATTLES, MODELS, CLUSTERS, LIMIT_SECONDS = 10_000_000, 200, 100_000, 2.0
PARTS = ("plain", "clusters")


def measure(parts: Sequence[str] = PARTS) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    strengths = rng.normal(0.0, 0.5, MODELS)
    first = rng.integers(0, MODELS, BATTLES)
    second = (first + rng.integers(1, MODELS, BATTLES)) % MODELS
    wins = rng.random(BATTLES) < 1.0 / (1.0 + np.exp(strengths[second] - strengths[first]))
    outcome = np.where(rng.random(BATTLES) < 0.2, 1, np.where(wins, 2, 0))
    clusters = rng.integers(0, CLUSTERS, BATTLES)
    names = tuple(f"model {k}" for k in range(MODELS))
    for part in parts:
        battles = Battles(
            models=names, first=first, second=second, outcome=outcome,
            clusters=clusters if part == "clusters" else None,
        )  # fmt: skip
        with one_thread():
            seconds = best(lambda battles=battles: order_battles(battles), times=1)
        yield f"{part}-{BATTLES:.0e}", LIMIT_SECONDS / seconds, seconds, LIMIT_SECONDS
