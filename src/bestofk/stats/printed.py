"""Bounds of the p-value of a paired test, from printed means and the number of items alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints
from bestofk.stats.pairwise.differences import EXACT_BELOW
from bestofk.stats.pairwise.mcnemar_tests import mcnemar_of_counts, tango_ends
from bestofk.stats.tails import t_quantile, t_sf

_MAX_COUNTS = 60
"""Numbers of wrong answers per learner that are all tried."""


def wrong_counts(rate: float, n: int, half_unit: float) -> Ints:
    """Return the numbers of wrong answers of n that round to this error rate.

    Examples
    --------
    >>> wrong_counts(0.127, 100, 0.0005).tolist(), wrong_counts(0.127, 1319, 0.0005).tolist()
    ([], [167, 168])
    """
    slack = 1e-9 * n
    low = int(np.ceil(n * (rate - half_unit) - slack))
    high = int(np.floor(n * (rate + half_unit) + slack))
    return np.arange(max(low, 0), min(high, n) + 1)


def mcnemar_bounds(wrong_a: Any, wrong_b: Any, n: int) -> tuple[float, float]:
    """Return the smallest and the largest p-value of McNemar's test over all joint outcomes.

    - `wrong_a`, `wrong_b`: The possible numbers of wrong answers of each learner.
    - `n`: Number of items.

    Notes
    -----
    If a is wrong on `wrong_a` items and b on `wrong_b`, their difference D is known. The items on
    which exactly one is wrong are at least |D| and at most min(wrong_a + wrong_b, 2 n - wrong_a -
    wrong_b), in steps of two. The p-value (exact below 25 such items, as in `mcnemar`) grows with
    their number within each of the two forms.

    Examples
    --------
    >>> [round(p, 4) for p in mcnemar_bounds([30], [10], 100)]
    [0.0, 0.0027]
    """
    counts_a, counts_b = np.asarray(wrong_a), np.asarray(wrong_b)
    a, b = _tried(counts_a, counts_b), _tried(counts_b, counts_a)
    a, b = (one.ravel() for one in np.meshgrid(a, b, indexing="ij"))
    least = np.abs(a - b)
    most = np.minimum(a + b, 2 * n - a - b)
    # the ends of the range, and those of the exact form, with the parity of the difference
    edge = EXACT_BELOW - 1 - (EXACT_BELOW - 1 - least) % 2
    candidates = np.stack([least, most, np.clip(edge, least, most), np.clip(edge + 2, least, most)])
    difference = np.broadcast_to(a - b, candidates.shape)
    n10, n01 = (candidates + difference) / 2, (candidates - difference) / 2
    _, p = mcnemar_of_counts(n10, n01, exact="auto")
    return float(p.min()), float(p.max())


def mcnemar_interval(wrong_a: Any, wrong_b: Any, n: int, level: float) -> tuple[float, float]:
    """Return an interval of the difference of error rates that covers Tango's of all outcomes.

    The arguments are those of `mcnemar_bounds`. Tango's interval is widest if the two disagree as
    often as possible.

    Examples
    --------
    >>> [round(end, 3) for end in mcnemar_interval([30], [10], 100, 0.95)]
    [0.079, 0.317]
    """
    ends = []
    for a, b in ((min(wrong_a), max(wrong_b)), (max(wrong_a), min(wrong_b))):
        disagree = min(a + b, 2 * n - a - b)
        ends.append(tango_ends((disagree + a - b) / 2, (disagree - a + b) / 2, n, level))
    return float(ends[0][0]), float(ends[1][1])


def _tried(counts: Ints, others: Ints) -> Ints:
    """Return all counts, or of many the ends and those nearest to the ends of the others.

    The p-value is largest for the smallest difference and smallest for the largest one.
    """
    if len(counts) <= _MAX_COUNTS:
        return counts
    ends = np.array([counts[0], counts[-1], others[0], others[-1]])
    return np.unique(np.clip(ends, counts[0], counts[-1]))


def paired_t_bounds(
    difference: tuple[float, float],
    deviations: tuple[float, float],
    n: int,
    *,
    half_unit: float = 0.0,
) -> tuple[float, float]:
    """Return the smallest and the largest p-value of the paired t test over all correlations.

    - `difference`: Ends of the difference of the means.
    - `deviations`: The standard deviation of each learner over the n items.
    - `half_unit`: Half of the last digit to which they are rounded.

    Examples
    --------
    >>> [round(p, 4) for p in paired_t_bounds((0.05, 0.05), (0.2, 0.3), 50)]
    [0.0009, 0.4828]
    """
    ends = np.abs(np.asarray(difference))
    smallest = 0.0 if difference[0] <= 0.0 <= difference[1] else float(ends.min())
    apart = max(abs(deviations[0] - deviations[1]) - 2 * half_unit, 0.0)
    spread = np.array([apart, sum(deviations) + 2 * half_unit])
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Floats = np.array([ends.max(), smallest]) / (spread / np.sqrt(n))
    p = 2.0 * t_sf(np.nan_to_num(t, nan=0.0, posinf=np.inf), n - 1.0)
    return float(p[0]), float(min(p[1], 1.0))


def paired_t_interval(
    difference: tuple[float, float],
    deviations: tuple[float, float],
    n: int,
    level: float,
    *,
    half_unit: float = 0.0,
) -> tuple[float, float]:
    """Return the widest t interval of the difference over all correlations.

    The other arguments are those of `paired_t_bounds`.

    Examples
    --------
    >>> [round(end, 4) for end in paired_t_interval((0.05, 0.05), (0.2, 0.3), 50, 0.95)]
    [-0.0921, 0.1921]
    """
    error = (sum(deviations) + 2 * half_unit) / np.sqrt(n)
    half = -float(t_quantile((1.0 - level) / 2, n - 1.0)) * float(error)
    return difference[0] - half, difference[1] + half
