"""Where the full plan will end, from all looks so far: each has its risk, and all hold together."""

from __future__ import annotations

import numpy as np

from bestofk.checks import Floats
from bestofk.stopping.bounds import Bounds, PlannedT, common_runs
from bestofk.stopping.rule import FIRST_LOOK, StoppingRule

_NAMES = ("t_low", "t_high", "mean_low", "mean_high")


class Predictions:
    """Intervals of P pairs, which shrink with every run that both learners have.

    Each interval has its share of the risk, one for every pair and run, so that all of them hold
    together and what is left open is what all of them leave open. Looks have shares as 1 to their
    runs: the earlier a pair is settled, the more is saved.
    """

    def __init__(self, pairs: int, test: PlannedT, rule: StoppingRule, floor: float) -> None:
        self.test, self.floor, self.limit = test, floor, rule.settle == "limit"
        # a look at the end of the plan predicts nothing
        last = rule.max_runs if self.limit else max(test.runs - 1, FIRST_LOOK)
        shares = sum(1.0 / m for m in range(FIRST_LOOK, last + 1))
        self.risk = rule.risk / (pairs * shares)
        self.seen = np.full(pairs, FIRST_LOOK - 1)
        least, most = np.full(pairs, -np.inf), np.full(pairs, np.inf)
        self.found = Bounds(t_low=least, t_high=most, mean_low=least, mean_high=most)

    def bounds(self, differences: Floats) -> Bounds:
        """What is left open by (P, runs, folds) differences, those of earlier looks among them."""
        if not self.risk:
            return self.found
        runs = np.array([common_runs(~np.isnan(one)) for one in differences])
        for m in range(FIRST_LOOK, int(runs.max(initial=0)) + 1):
            new = np.flatnonzero((self.seen < m) & (runs >= m))
            if not len(new):
                continue
            part = self.test.predicted(
                differences[new, :m],
                risk=self.risk / m,
                floor=self.floor / (m * self.test.folds),
                limit=self.limit,
            )
            before = Bounds(**{name: getattr(self.found, name)[new] for name in _NAMES})
            both = before.within(part)
            arrays = {name: getattr(self.found, name).copy() for name in _NAMES}
            for name, array in arrays.items():
                array[new] = getattr(both, name)
            self.found = Bounds(**arrays)
            self.seen[new] = m
        return self.found
