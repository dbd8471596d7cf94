"""Discrete losses: their resolution, and the smallest p-values of discrete tests.

The resolution is the step between two losses. An error rate on n rows is a multiple of 1/n. If
three folds of ten rows happen to differ by the same 0.1, the variance of the differences is 0 and a
t statistic is infinite by chance alone: this happens in 60 of 100 studies of ten equal learners. A
test with a resolution r bounds the variance from below by what one instance of each of the two
learners contributes in one fold; for n differences of folds that is 2 r^2 / n.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from bestofk._base.checks import (
    Floats,
    at_least_zero,
    finite_array,
    refuse,
    side,
    whole,
)
from bestofk.stats.pairwise.differences import loss_unit

INSTANCES = 2.0
"""Instances behind the smallest variance: one of each learner, in the same fold.

Chosen by simulation (``python benchmarks/coarse_losses.py``) of the uncorrected t test on 4 or 5
folds: with one instance, equal learners differ in 6.4 percent of the studies; with two, in at most
5.5 percent.
"""
FINEST = 2.0**-24
"""Ignore steps below this share of the largest loss."""
MAX_DECIMALS = 6
MAX_DISTINCT, MAX_STEPS = 200, 5_000
_FIRST_SIZES = 1_000
SMALLEST = sys.float_info.min
"""Replaces positive probabilities that underflow."""
EXACT_BELOW = 25
"""With fewer disagreements, McNemar's test with ``exact="auto"`` is exact, and `cluster_t` rejects
only if the exact test of the signs of whole clusters rejects."""


def resolution_of(values: Any) -> float:
    """Return the step of which all losses of a table are multiples.

    Parameters
    ----------
    values : array_like
        Losses; with several axes, the learners are on the first one. Missing losses (NaN) are
        ignored.

    Returns
    -------
    float
        0.0 if there is no such step, or if all losses are equal.

    Notes
    -----
    Losses count as multiples to within floating-point rounding. Losses that were rounded to
    decimals are multiples of 0.1, 0.01, ... If they are also, to within that rounding, multiples
    of a larger number, and this can hardly be chance, that number is their step: 0.0333, 0.1333,
    0.0667, 0.2 and 0.1 are multiples of 1/30.

    The only common step of folds of 10 and 11 rows is 1/110. If the losses within every fold have
    a step more than three times that of the table, the smallest of those steps is returned.

    Examples
    --------
    >>> round(resolution_of([[0.3, 0.5, 0.1], [0.25, 0.5, 0.4]]), 12)
    0.05
    >>> round(resolution_of([[0.321, 0.5, 0.118], [0.25, 0.5, 0.407]]), 12)
    0.001
    >>> resolution_of([0.2 ** 0.5, 0.3 ** 0.5, 0.7 ** 0.5]), resolution_of([0.25, 0.25])
    (0.0, 0.0)
    """
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("values", "an array of numbers", values) from None
    known = finite_array(table[~np.isnan(table)], "values")
    if known.size == 0 or known.min() == known.max():
        return 0.0
    step = _decimal_step(known)
    if table.ndim < 2:
        return step
    smallest = np.inf
    for fold in np.moveaxis(table, 0, -1).reshape(-1, len(table)):
        losses = fold[~np.isnan(fold)]
        if losses.size and losses.min() < losses.max():
            smallest = min(smallest, _step(np.unique(np.abs(losses))))
            if smallest <= 3.0 * step:
                # no other fold can increase the minimum
                return step
    return smallest if smallest < np.inf else step


def _step(sizes: Floats) -> float:
    """Return the largest number of which all ascending sizes are multiples, or 0.0."""
    from bestofk.stats.null_distributions.sums import NOISE, common_unit

    noise = NOISE * float(sizes[-1])
    step = common_unit(sizes[sizes > 4 * noise], smallest=FINEST * float(sizes[-1]), noise=noise)
    return step or 0.0


def _decimal_step(values: Floats) -> float:
    """Return the largest step of values that may have been rounded to decimals, or 0.0."""
    from bestofk.stats.null_distributions.sums import NOISE

    sizes = np.abs(values)
    some = np.append(sizes[: _FIRST_SIZES - 1], sizes.max())
    if sizes.size > _FIRST_SIZES and not _step(np.unique(some)):
        # some of the losses have no step, so sorting all of them is not needed
        return 0.0
    sizes = np.unique(sizes)
    step = _step(sizes)
    noise = NOISE * float(sizes[-1])
    for decimals in range(1, MAX_DECIMALS + 1 if step else 0):
        rounding = 10.0**-decimals
        if np.abs(sizes - rounding * np.rint(sizes / rounding)).max() <= 4 * noise:
            return max(step, _rounded_step(sizes, rounding))
    return step


def _rounded_step(sizes: Floats, rounding: float) -> float:
    """Return the largest step that fits numbers rounded to multiples of `rounding`, or 0.0.

    The largest number is q steps for some q. A step does not count if chance alone would fit as
    many numbers in more than 1 of 1,000 searches.
    """
    sizes = sizes[:: -(-sizes.size // MAX_DISTINCT)]
    largest = float(sizes[-1])
    # every number is nearly a multiple of a step below ten times the rounding
    counts = np.arange(1.0, min(largest / (10.0 * rounding), MAX_STEPS) + 0.5)
    if counts.size == 0:
        return 0.0
    steps = largest / counts
    multiples = np.rint(sizes[:, None] / steps)
    # refine by least squares, because the largest number is rounded too
    steps = (sizes[:, None] * multiples).sum(axis=0) / np.square(multiples).sum(axis=0)
    off = np.abs(sizes[:, None] - steps * multiples).max(axis=0)
    chance = counts.size * np.minimum(1.0, 2.0 * rounding / steps) ** (sizes.size - 1)
    fits = (off <= rounding) & (chance < 1e-3)
    return float(steps[fits].max()) if fits.any() else 0.0


def resolution_step(resolution: Any) -> float:
    """Return the resolution as a finite number of at least 0; 0.0 for None."""
    if resolution is None:
        return 0.0
    return at_least_zero(resolution, "resolution", "a number of at least 0, or None")


def step_of(resolution: float | None, a: Floats, b: Floats) -> float:
    """Return the resolution in the unit in which `over_pairs` computes."""
    return resolution_step(resolution) / loss_unit(a, b)


def least_variance(step: float, n: int) -> float:
    """Return the lower bound of the variance of n differences with this resolution."""
    return INSTANCES * step * step / n


# Smallest p-values of discrete tests


def smallest_pvalue(n: int, alternative: str = "two-sided") -> float:
    """Return the smallest p-value of a test that depends only on the signs of n units.

    This applies to the sign test, Wilcoxon's signed rank test, the permutation test by sign flips
    and McNemar's exact test. Under the null hypothesis all 2^n patterns of signs are equally
    likely, and at best only the observed one is as extreme.

    Parameters
    ----------
    n : int
        Number of data sets or instances.
    alternative : {"two-sided", "greater", "less"}
        Two-sided p-values are twice the smaller tail.

    Returns
    -------
    float
        min(1, 2 / 2^n), or 1 / 2^n one-sided; never 0.

    Examples
    --------
    >>> smallest_pvalue(7), smallest_pvalue(7, "greater"), smallest_pvalue(0)
    (0.015625, 0.0078125, 1.0)
    >>> smallest_pvalue(100_000) > 0
    True
    """
    n = whole(n, "n", at_least=0)
    exponent = n - 1 if side(alternative) == "two-sided" else n
    return max(0.5 ** min(max(exponent, 0), 1100), SMALLEST)


def smallest_mcnemar_pvalue(n: int, exact: bool | str = "auto") -> float:
    """Return the smallest two-sided p-value of McNemar's test on n instances.

    Examples
    --------
    >>> smallest_mcnemar_pvalue(7) == smallest_pvalue(7)
    True
    >>> round(smallest_mcnemar_pvalue(7, exact=False), 5), smallest_mcnemar_pvalue(1, exact=False)
    (0.02334, 1.0)
    """
    from bestofk.stats.tails import chi2_sf

    n = whole(n, "n", at_least=0)
    if exact is True:
        return smallest_pvalue(n)
    chi_squared = max(float(chi2_sf((n - 1) ** 2 / n, 1.0)), SMALLEST) if n > 1 else 1.0
    if exact is False:
        return chi_squared
    of_signs = smallest_pvalue(min(n, EXACT_BELOW - 1))
    return of_signs if n < EXACT_BELOW else min(of_signs, chi_squared)


def smallest_cluster_pvalue(n: int) -> float:
    """Return the smallest two-sided p-value of `cluster_t` on n clusters.

    Examples
    --------
    >>> smallest_cluster_pvalue(6), smallest_cluster_pvalue(25)
    (0.03125, 0.0)
    """
    return smallest_pvalue(n) if n < EXACT_BELOW else 0.0


def never_zero(p: Any) -> Any:
    """Replace probabilities that underflow to 0 by the smallest positive number.

    Examples
    --------
    >>> float(never_zero(0.0)) > 0, float(never_zero(0.3))
    (True, 0.3)
    """
    return np.maximum(p, SMALLEST)
