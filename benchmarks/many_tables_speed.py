"""Decisions on many tables at once: `order_many` against `order`, table by table.

Seconds of the processor for 300 tables of five learners in 10x10 folds, by every procedure; then
what the MultiTest paper decides on 30 data sets of 1,000 runs of 5x2 folds (the peer on 100 of the
runs, for as many as there are), and the false claims of the lab on 300 tables against `order` on
each of them.

    python benchmarks/run.py many_tables_speed
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np

from bestofk import lab
from bestofk.decide import PROCEDURES, order_many
from bestofk.decide.order import order
from bestofk.papers.multitest.tables import decide

TABLES = 300
TIMES = 3


def seconds(call: Any, times: int = TIMES) -> float:
    """The least of several measurements."""
    found = []
    for _ in range(times):
        start = process_time()
        call()
        found.append(process_time() - start)
    return min(found)


def _as_published(tables: Any) -> None:
    for table in tables:
        for procedure in ("anova-choice", "newman-keuls-choice"):
            order(table, procedure=procedure, prefer="listed")
        order(table, procedure="test-first", test="5x2cv-t", prefer="listed")
        order(table, test="5x2cv-t", family="preference", guard=False, prefer="listed")


def measure() -> list[tuple[str, float, float, float]]:
    """(name, ratio, our seconds, the peer's seconds), for `run.py`."""
    rng = np.random.default_rng(0)
    means = np.array([0.30, 0.25, 0.22, 0.22, 0.24])
    losses = means[:, None, None] + rng.normal(0, 0.02, (TABLES, 5, 10, 10))
    rows = []
    for name, entry in PROCEDURES.items():
        if not entry.takes_losses:
            continue
        asked: dict[str, Any] = {"procedure": name, "prefer": "listed"}
        if name == "cheapest-adequate":
            asked["margin"] = 0.01

        def one_by_one(asked: dict[str, Any] = asked) -> None:
            for table in losses:
                order(table, **asked)

        ours = seconds(lambda asked=asked: order_many(losses, **asked))
        peer = seconds(one_by_one, 1)
        rows.append((f"order_many {name}", peer / ours, ours, peer))

    paper = np.round(means[:, None, None] + rng.normal(0, 0.05, (30, 1000, 5, 5, 2)), 2)
    ours = seconds(lambda: decide(paper))
    some = paper[0, :100]
    peer = paper[:, :, 0, 0, 0].size / len(some) * seconds(lambda: _as_published(some), 1)
    rows.append(("the paper's 30,000 decisions", peer / ours, ours, peer))

    simulation = lab.simulate(problem="many-data-sets(means=(0.3, 0.2, 0.2))", sets=TABLES)
    ours = seconds(lambda: lab.false_claims(simulation=simulation))
    peer = seconds(lambda: [order(simulation.table(one)) for one in range(TABLES)], 1)
    rows.append(("false_claims", peer / ours, ours, peer))
    return rows
