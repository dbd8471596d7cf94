"""Power of the permutation test of the mean (sign flips) when the differences are normal."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.planning.power_t import t_power

FEW_FLIPS = 64
"""Rejected sign flips of one tail up to which the test is simulated, beyond it a t test."""
_LOWEST = 10
SAMPLES = 5_000
_SEED = 20060302


def permutation_power(effect: Any, n: int, level: float) -> Floats:
    """The probability that the two-sided permutation test of `n` differences rejects.

    Parameters
    ----------
    effect : array_like
        The true difference over the standard deviation of one difference.
    n : int
        Number of differences: data sets or instances.
    level : float
        Level of the test, both sides together.

    Returns
    -------
    ndarray
        Of the shape of `effect`; 0 everywhere where `n` is too small for the level.

    Notes
    -----
    Flipping the signs of a subset lowers the sum by twice its sum. The test rejects when at most
    c = floor(level 2^n / 2) of the 2^n subsets, the empty one among them, have a sum of at most
    0: from a shift on that is minus the c-th smallest mean of a subset. Where c is small that is
    simulated with a fixed sample (beyond ten differences the ten lowest decide); else the test
    is as good as a t test at its attained level 2 c / 2^n.

    Examples
    --------
    >>> [round(float(p), 2) for p in permutation_power([0.0, 0.8, 1.2], 12, 0.05)]
    [0.05, 0.71, 0.96]
    >>> float(permutation_power(9.0, 5, 0.05))
    0.0
    """
    effect = np.abs(np.asarray(effect, dtype=float))
    flips = rejected_flips(n, level)
    if flips == 0:
        return np.zeros(effect.shape)
    if flips <= FEW_FLIPS:
        shifts = _rejecting_shifts(n, flips)
        below = np.searchsorted(shifts, effect, side="left")
        return np.asarray((below + np.searchsorted(shifts, -effect, side="left")) / len(shifts))
    attained = level if n > 60 else flips * 2.0 ** (1 - n)
    return t_power(effect * np.sqrt(n), n - 1.0, attained)


def rejected_flips(n: int, level: float) -> int:
    """How many of the 2^n sign flips of one tail the two-sided test rejects.

    Examples
    --------
    >>> rejected_flips(6, 0.05), rejected_flips(5, 0.05)
    (1, 0)
    """
    if n > 60:
        return FEW_FLIPS + 1
    return int(np.floor(0.5 * level * 2.0**n * (1.0 + 1e-12)))


@lru_cache(maxsize=64)
def _rejecting_shifts(n: int, flips: int) -> Floats:
    """Sorted: for each sample of n standard normals the shift from which the test rejects."""
    rng = np.random.default_rng(_SEED)
    m = min(n, _LOWEST)
    subsets = (np.arange(1, 2**m)[:, np.newaxis] >> np.arange(m)) & 1
    weights = (subsets / subsets.sum(axis=1, keepdims=True)).T
    shifts = np.empty(SAMPLES)
    step = 500
    for start in range(0, SAMPLES, step):
        d = np.sort(rng.standard_normal((step, n)), axis=1)[:, :m]
        means = d @ weights
        shifts[start : start + step] = -np.partition(means, flips - 1, axis=1)[:, flips - 1]
    shifts.sort()
    shifts.flags.writeable = False
    return shifts
