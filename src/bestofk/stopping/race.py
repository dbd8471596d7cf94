"""A race: round by round, those learners alone whose results can still matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bestofk.checks import Floats, Ints
from bestofk.ordering.evidence.family import Family
from bestofk.stopping.bounds import PlannedT
from bestofk.stopping.interval_verdict import PlannedTest
from bestofk.stopping.look import Look, look
from bestofk.stopping.predictions import Predictions
from bestofk.stopping.rule import StoppingRule

Fill = Callable[[Ints], Floats]
"""Given how many runs every learner must have, the losses (K, runs, folds), NaN beyond."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Raced:
    """How a race went.

    Attributes
    ----------
    looks : tuple of Look
        One after every round.
    runs : (K,) array of int
        Runs that every learner was given.
    losses : (K, runs, folds) array
        What was used, NaN beyond.
    """

    looks: tuple[Look, ...]
    runs: Ints
    losses: Floats

    @property
    def settled(self) -> bool:
        """Whether the last look left nothing open."""
        return self.looks[-1].settled


def race(
    fill: Fill,
    learners: int,
    test: PlannedTest,
    family: Family,
    rule: StoppingRule,
    *,
    guard: bool = True,
    stated: bool = True,
    floor: float = 0.0,
    ranks: Floats | None = None,
    watch: Callable[[Look, Ints], None] | None = None,
) -> Raced:
    """Run round by round, those learners alone whose results can still matter.

    Which cells are asked for depends on losses alone, never on time, so that a race that is
    broken off and taken up again, or run on more processors, uses the same runs. `ranks` are what
    a preference says that leaves some learners alike.
    """
    most = rule.max_runs if rule.settle == "limit" else test.runs
    wanted = np.ones(learners, dtype=np.int64)
    looks: list[Look] = []
    earlier = None
    if isinstance(test, PlannedT):
        earlier = Predictions(learners * (learners - 1) // 2, test, rule, floor)
    while True:
        runs = wanted
        losses = fill(runs)
        seen = look(
            losses, test, family, rule, guard=guard, stated=stated, floor=floor, ranks=ranks,
            earlier=earlier,
        )  # fmt: skip
        looks.append(seen)
        if watch is not None:
            watch(seen, runs)
        wanted = runs.copy()
        for pair in seen.open_pairs:
            # the one that is behind catches up first, and only as far as it must
            places = list(pair)
            wanted[places] = np.maximum(wanted[places], min(runs[places].min() + 1, most))
        if seen.settled or (wanted == runs).all():
            return Raced(looks=tuple(looks), runs=runs, losses=losses)
