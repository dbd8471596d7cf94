"""The statistics of the gate: a paired test in two stages.

The level is the share of good builds that may be blocked. Half of it is spent on the first runs of
a build. A build that looks worse but is not blocked is a suspect: it runs again, and the mean of
all its runs is tested at the other half.
"""

from __future__ import annotations

from typing import Any

from bestofk._base.checks import Bools, Floats
from bestofk.stats.pairwise.clustered import cluster_t
from bestofk.stats.pairwise.result import PairwiseResult

METHOD = 2
"""A change of any number that this module computes needs a new method."""
FALSE_BLOCKS = 0.01
"""The default share of good builds that are blocked."""
SUSPECT = 0.1
"""A build with a smaller p-value is a suspect, unless it is blocked."""
RERUNS = 2
"""How often a suspect runs again."""
ENOUGH_RUNS = 1 + RERUNS
"""A build that comes with so many runs is tested once, at the whole level."""


def level_of(false_blocks: float, *, metrics: int, runs: int) -> float:
    """Return the level of one test.

    The metrics share the level. A test of fewer runs than `ENOUGH_RUNS` is one of two stages.

    Examples
    --------
    >>> level_of(0.01, metrics=1, runs=1), level_of(0.01, metrics=2, runs=3)
    (0.005, 0.005)
    """
    return false_blocks / metrics / (1 if runs >= ENOUGH_RUNS else 2)


def worse_test(
    losses: Floats, baseline: Floats, clusters: Any, *, unit: float | None, worse: bool = True
) -> PairwiseResult:
    """Test whether the mean loss of a build is greater than that of the baseline.

    - `losses` (..., n), `baseline` (..., n): Scores on the same items, averaged over runs.
    - `clusters` (n,): The cluster of each item.
    - `unit`: The largest possible difference of one item, if it is known.
    - `worse`: False tests whether the build is better.
    """
    side = "greater" if worse else "less"
    return cluster_t(losses, baseline, clusters=clusters, unit=unit, alternative=side)


def answers(first: Floats, second: Floats, level: float) -> tuple[Bools, Bools]:
    """Return which builds are blocked in one of the two stages, and which are run again.

    - `first`, `second`: The p-values of the first runs and of all runs.
    - `level`: That of one stage.

    Examples
    --------
    >>> import numpy as np
    >>> blocked, again = answers(np.array([0.001, 0.03, 0.03, 0.5]), np.array([1, 0.004, 0.2, 1]), 0.005)
    >>> blocked.tolist(), again.tolist()
    ([True, True, False, False], [False, True, True, False])
    """  # noqa: E501
    at_once = first <= level
    again = (first < SUSPECT) & ~at_once
    return at_once | (again & (second <= level)), again
