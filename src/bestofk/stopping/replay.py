"""What a rule would have done on losses that are all known: how much of the plan it uses."""

from __future__ import annotations

import numpy as np

from bestofk.checks import Floats, Ints
from bestofk.ordering.evidence.family import Family
from bestofk.stopping.interval_verdict import PlannedTest
from bestofk.stopping.race import Raced, race
from bestofk.stopping.rule import StoppingRule


def replay(
    losses: Floats,
    test: PlannedTest,
    family: Family,
    rule: StoppingRule,
    *,
    guard: bool = True,
    stated: bool = True,
    floor: float = 0.0,
    ranks: Floats | None = None,
) -> Raced:
    """Race on losses (K, runs, folds) that are all known."""

    def fill(runs: Ints) -> Floats:
        known = np.arange(losses.shape[1]) < runs[:, np.newaxis]
        return np.where(known[:, :, np.newaxis], losses, np.nan)

    return race(
        fill, len(losses), test, family, rule, guard=guard, stated=stated, floor=floor, ranks=ranks
    )
