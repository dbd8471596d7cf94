"""The resolution of losses: the step between two values, and the variance that it leaves open.

An error rate on n rows is a multiple of 1/n. Where three folds of ten rows happen to differ by
the same 0.1, the variance of the differences is 0, and a t statistic infinite, by chance alone:
in 60 of 100 studies of ten equal learners. A test that is told the resolution r takes no variance
to be smaller than what one instance of each of the two learners makes in one fold; for n
differences of folds that is 2 r^2 / n.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, finite_array, probability, refuse, side, whole
from bestofk.stats.null_distributions.sums import NOISE, common_unit
from bestofk.stats.pairwise.differences import loss_unit

INSTANCES = 2.0
"""Instances that make the smallest variance: one of each learner, in the same fold.

Chosen by simulation (``python studies/coarse_losses.py``): with one, 4 or 5 folds let equal
learners differ in 6.4 percent of the studies by the uncorrected t test; with two in at most 5.5.
"""
FINEST = 2.0**-24
"""Steps below this share of the largest loss are of no use."""
MOST_DECIMALS = 6
DISTINCT_AT_MOST, MOST_STEPS = 200, 5_000


def resolution_of(values: Any) -> float:
    """The step of which all the losses of a table are multiples.

    Parameters
    ----------
    values : array_like
        Losses, the learners on the first axis where there are several axes. Missing ones (NaN)
        are left out.

    Returns
    -------
    float
        0.0 where there is no such step, or where all the losses are the same number and no step
        is to be seen.

    Notes
    -----
    Multiples are found to within the rounding of floating point. Losses that were rounded to so
    many decimals are multiples of 0.1, 0.01, ...; where they are, to within that rounding, also
    multiples of something larger that this can hardly be chance, that is their step: 0.0333,
    0.1333, 0.0667, 0.2 and 0.1 are multiples of 1/30.

    Folds of 10 and 11 rows have no step in common but 1/110. If the losses inside every fold
    have a step more than three times that of the table, the smallest of those counts.

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
    known = ~np.isnan(table)
    if np.unique(finite_array(table[known], "values")).size < 2:
        return 0.0
    step = _decimal_step(table[known])
    if table.ndim < 2:
        return step
    smallest = np.inf
    for fold in np.moveaxis(table, 0, -1).reshape(-1, len(table)):
        losses = fold[~np.isnan(fold)]
        if np.unique(losses).size > 1:
            smallest = min(smallest, _step(losses))
            if smallest <= 3.0 * step:
                # no other fold can make it larger
                return step
    return smallest if smallest < np.inf else step


def _step(values: Floats) -> float:
    """The largest number of which all values, some not 0, are multiples; 0.0 for none."""
    sizes = np.unique(np.abs(values))
    noise = NOISE * float(sizes[-1])
    step = common_unit(sizes[sizes > 4 * noise], smallest=FINEST * float(sizes[-1]), noise=noise)
    return step or 0.0


def _decimal_step(values: Floats) -> float:
    """The same, where the values may have been rounded to decimals."""
    step = _step(values)
    sizes = np.unique(np.abs(values))
    noise = NOISE * float(sizes[-1])
    for decimals in range(1, MOST_DECIMALS + 1 if step else 0):
        rounding = 10.0**-decimals
        if np.abs(sizes - rounding * np.rint(sizes / rounding)).max() <= 4 * noise:
            return max(step, _rounded_step(sizes, rounding))
    return step


def _rounded_step(sizes: Floats, rounding: float) -> float:
    """The largest step that fits numbers rounded to multiples of `rounding`; 0.0 for none.

    The largest of them is q steps for some q. A step of which chance would make as many numbers
    multiples in more than 1 of 1,000 searches is none.
    """
    sizes = sizes[:: -(-sizes.size // DISTINCT_AT_MOST)]
    largest = float(sizes[-1])
    # of steps below ten times the rounding every number is nearly a multiple
    counts = np.arange(1.0, min(largest / (10.0 * rounding), MOST_STEPS) + 0.5)
    if counts.size == 0:
        return 0.0
    steps = largest / counts
    multiples = np.rint(sizes[:, None] / steps)
    # least squares, since the largest is rounded too
    steps = (sizes[:, None] * multiples).sum(axis=0) / np.square(multiples).sum(axis=0)
    off = np.abs(sizes[:, None] - steps * multiples).max(axis=0)
    chance = counts.size * np.minimum(1.0, 2.0 * rounding / steps) ** (sizes.size - 1)
    fits = (off <= rounding) & (chance < 1e-3)
    return float(steps[fits].max()) if fits.any() else 0.0


def step_of(resolution: float | None, a: Floats, b: Floats) -> float:
    """The resolution that a test was given, in the unit of `over_pairs`; 0.0 for none."""
    if resolution is None:
        return 0.0
    try:
        step = float(resolution)
    except (TypeError, ValueError):
        raise refuse("resolution", "a number of at least 0, or None", resolution) from None
    if not (np.isfinite(step) and step >= 0):
        raise refuse("resolution", "a number of at least 0, or None", resolution)
    return step / loss_unit(a, b)


def least_variance(step: float, n: int) -> float:
    """The smallest variance that n differences of that resolution are taken to have."""
    return INSTANCES * step * step / n


# The smallest p-values that n data sets or instances can give.


SMALLEST = sys.float_info.min
"""What a positive probability is given as where it is smaller than any normal number."""
EXACT_BELOW = 25
"""Below so many disagreements McNemar's test counts exactly, where it may choose."""


def smallest_pvalue(n: int, alternative: str = "two-sided") -> float:
    """The smallest p-value of a test that asks of n units only how their signs fell.

    That is the sign test, Wilcoxon's signed rank test, the permutation test by sign flips and
    McNemar's exact test: under the null hypothesis all 2^n patterns of signs are as likely, and
    at the best one of them is as extreme as the one that was seen.

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


def smallest_mcnemar_pvalue(n: int) -> float:
    """The smallest two-sided p-value of McNemar's test (chi-squared) on n instances.

    Examples
    --------
    >>> round(smallest_mcnemar_pvalue(7), 5), smallest_mcnemar_pvalue(1)
    (0.02334, 1.0)
    """
    from bestofk.stats.tails import chi2_sf

    n = whole(n, "n", at_least=0)
    return max(float(chi2_sf((n - 1) ** 2 / n, 1.0)), SMALLEST) if n > 1 else 1.0


def smallest_switching_mcnemar_pvalue(n: int) -> float:
    """The same where few disagreements are counted exactly (``exact="auto"``).

    Examples
    --------
    >>> smallest_switching_mcnemar_pvalue(7) == smallest_pvalue(7)
    True
    """
    exact = smallest_pvalue(min(n, EXACT_BELOW - 1))
    return exact if n < EXACT_BELOW else min(exact, smallest_mcnemar_pvalue(n))


def never_zero(p: Any) -> Any:
    """Probabilities that are positive but too small for a number, as the smallest number.

    Examples
    --------
    >>> float(never_zero(0.0)) > 0, float(never_zero(0.3))
    (True, 0.3)
    """
    import numpy as np

    return np.maximum(p, SMALLEST)


# How many units a discrete test needs before it can decide anything.


def fewest_units(smallest: Callable[[int], float], comparisons: int, alpha: float = 0.05) -> int:
    """From how many units on a discrete test can decide anything in a family.

    Parameters
    ----------
    smallest : callable
        The smallest p-value of n units, such as `smallest_pvalue`, or that of an entry of the
        registry of pairwise tests. It must not grow with n.
    comparisons : int
        The factor of the smallest p-value in the correction: the number of comparisons, for
        Bonferroni's, Holm's, Shaffer's and Bergmann and Hommel's.
    alpha : float
        Level of the family.

    Returns
    -------
    int
        The smallest n with ``comparisons * smallest(n) <= alpha``.

    Examples
    --------
    Ten pairs of five learners:

    >>> from bestofk.stats.pairwise import smallest_pvalue
    >>> fewest_units(smallest_pvalue, 10), 10 * smallest_pvalue(8), 10 * smallest_pvalue(9)
    (9, 0.078125, 0.0390625)
    """
    comparisons = whole(comparisons, "comparisons", at_least=1)
    alpha = probability(alpha, "alpha")
    n = 1
    while comparisons * smallest(n) > alpha:
        n += 1
    return n
