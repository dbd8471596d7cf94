"""Simulated power: the tests themselves on drawn differences."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk.decide.power.exact import t_power
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS
from bestofk.stats.pairwise.skew_corrected import unit_widening

DRAWS = 2_000
"""Drawn studies; the standard error of a simulated power is at most 1.1 points."""
_SEED = 20060301
_RANK_EFFICIENCY = 3.0 / np.pi
"""Efficiency of ranks relative to the t test, for normal differences (Hodges and Lehmann 1956)."""


def unit_power(test: str | None, effect: Any, n: int, level: float) -> Floats:
    """Return the probability that a two-sided test of `n` independent differences rejects.

    Parameters
    ----------
    test : str or None
        A registered test on independent units; None for a t test.
    effect : array_like
        The true difference over the standard deviation of one difference.
    n : int
        Number of differences: data sets, instances or clusters.
    level : float
        Two-sided level of the test.

    Returns
    -------
    ndarray
        The power, of the shape of `effect`; 0 if `n` is too small for the level.

    Notes
    -----
    The differences are normal. The power of a t test is exact. Other tests are simulated if there
    are few differences, and count as t tests if there are many (ranks with their asymptotic
    efficiency; both are then within two points of each other).

    Examples
    --------
    >>> [round(float(p), 2) for p in unit_power(None, [0.0, 0.8, 1.2], 15, 0.05)]
    [0.05, 0.82, 0.99]
    >>> float(unit_power("wilcoxon", 9.0, 5, 0.05))
    0.0
    """
    effect = np.abs(np.asarray(effect, dtype=float))
    if test is None:
        return t_power(effect * np.sqrt(n), n - 1.0, level)
    entry = PAIRWISE_TESTS[test]
    if entry.smallest_pvalue is not None and entry.smallest_pvalue(n) > level:
        return np.zeros(effect.shape)
    if is_simulated(test, n):
        return _share_below(_rejecting_shifts(test, n, level), effect)
    equivalent = n * efficiency(test)
    widened = unit_widening(n) if entry.widened == "skewed units" else 1.0
    return t_power(effect * np.sqrt(equivalent) / widened, equivalent - 1.0, level)


def halves_power(test: str, effect: Any, level: float) -> Floats:
    """Return the probability that a two-sided test of five halvings rejects.

    - `test`: A registered test for 5x2.
    - `effect`: The true difference over the standard deviation of the difference on one half.
    - `level`: Two-sided level of the test.

    Notes
    -----
    The two folds of a run are independent, as the tests assume. Folds of different runs have the
    correlation 1/2 = n_test / (n_train + n_test), so all runs have the same mean.

    Examples
    --------
    >>> [round(float(p), 1) for p in halves_power("5x2cv-f", [0.0, 2.0, 4.0], 0.05)]
    [0.0, 0.5, 1.0]
    """
    shifts = _rejecting_shifts(test, 0, level)
    return _share_below(shifts, np.abs(np.asarray(effect, dtype=float)))


def efficiency(test: str | None) -> float:
    """Return the efficiency of a test on units relative to the t test."""
    ranks = test is not None and PAIRWISE_TESTS[test].estimand == "typical"
    return _RANK_EFFICIENCY if ranks else 1.0


def is_simulated(test: str, n: int) -> bool:
    """Return whether the power of a test of n units is simulated; exact tests take longer."""
    entry = PAIRWISE_TESTS[test]
    most = 100
    if entry.smallest_pvalue is not None:
        most = 25 if entry.estimand == "typical" else 12
    return entry.power == "simulated" and 2 <= n <= most


def _share_below(shifts: Floats, effect: Floats) -> Floats:
    """Return the share of drawn studies in which the test rejects, on either side."""
    below = np.searchsorted(shifts, effect, side="left")
    return np.asarray((below + np.searchsorted(shifts, -effect, side="left")) / len(shifts))


@lru_cache(maxsize=256)
def _rejecting_shifts(test: str, n: int, level: float) -> Floats:
    """Return sorted shifts from which the test rejects, one per study; n = 0 for five halvings.

    The test rejects shifted differences once its interval no longer contains 0.
    """
    entry = PAIRWISE_TESTS[test]
    rng = np.random.default_rng(_SEED)
    arguments = dict(entry.arguments)
    if n > 0:
        # the first differences of more units are the same
        d = rng.standard_normal((n, DRAWS)).T
    else:
        mean, gap = rng.standard_normal((DRAWS, 1)), rng.standard_normal((DRAWS, 5))
        d = np.sqrt(0.5) * np.stack([mean + gap, mean - gap], axis=2)
    if entry.widened == "skewed units":
        arguments["widened"] = unit_widening(n)
    result = entry.load()(d, np.zeros(d.shape[1:]), **arguments)
    low, _ = result.confidence_interval(1.0 - level)
    shifts = np.sort(-np.asarray(low))
    shifts.flags.writeable = False
    return shifts
