"""Measure the last of 200 runs of the gate on 10,000 items, against 1 s.

- ``binary``: items that are right or wrong; ``graded``: scores from 0 to 1.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bestofk.release.gate import gate
from timing import Row

ITEMS, BUILDS, LIMIT = 10_000, 200, 1.0


def measure(parts: list[str] | None = None) -> Iterator[Row]:
    """Yield one row per kind of score."""
    rng = np.random.default_rng(0)
    for name in parts or ["binary", "graded"]:

        def scores(name: str = name) -> np.ndarray:
            values = rng.random(ITEMS)
            return values if name == "graded" else (values < 0.7) * 1.0

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "gate.json"
            for build in range(BUILDS):
                begin = time.perf_counter()
                gate(scores(), scores() if build == 0 else None, ledger=path)
                seconds = time.perf_counter() - begin
            print(f"{name}: the ledger has {path.stat().st_size / 1e6:.1f} MB")
        yield name, LIMIT / seconds, seconds, LIMIT
