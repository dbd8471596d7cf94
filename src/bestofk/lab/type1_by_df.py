"""The Type I error of a test over its degrees of freedom."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.lab.outcomes import Outcomes, Test, outcomes
from bestofk.lab.rate import Curve
from bestofk.lab.simulation_result import Simulation
from bestofk.tails import t_quantile

DFS = np.arange(2, 101)
"""The degrees of freedom that are tried, as in the paper."""


def type1_by_df(
    simulation: Simulation, test: Test, *, alpha: float = 0.05, alternative: str = "two-sided"
) -> Curve:
    """The Type I error over df = 2..100, with its band.

    Parameters
    ----------
    simulation : Simulation
        From `simulate`, with equal learners.
    test : str
        A pairwise test that takes a df.
    alpha, alternative
        As for the test.
    """
    found = outcomes(simulation, test, alpha=alpha, alternative=alternative)
    if not found.takes_df:
        raise ArgumentError(f"test {found.name!r} must be one that takes a df.")
    counts = counts_by_df(bare_statistic(found, alternative), alpha, alternative)
    return Curve.of(
        DFS, counts, simulation.sets, x_name="degrees of freedom", name=f"{found.name} at {alpha:g}"
    )


def bare_statistic(found: Outcomes, alternative: str) -> Floats:
    """U of the first repeat, sorted: large values speak against the hypothesis."""
    assert found.statistic is not None
    assert found.df is not None
    u = found.statistic[:, 0] / np.sqrt(found.df + 1.0)
    # 0/0 is no evidence on either side, and its statistic is 0
    if alternative == "two-sided":
        return np.sort(np.abs(u))
    return np.sort(u if alternative == "greater" else -u)


def counts_by_df(u: Floats, alpha: float, alternative: str) -> Any:
    """How many of the sorted `u` are rejected at every df of `DFS`."""
    tail = alpha / 2 if alternative == "two-sided" else alpha
    bar = np.array([-t_quantile(tail, float(df)) / np.sqrt(df + 1.0) for df in DFS])
    # a statistic on the bar is rejected, whatever its last bit
    return len(u) - np.searchsorted(u, bar * (1 - 1e-12), side="left")
