"""Intervals that say of 0 what the p-value says."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.pairwise.result import Interval, PairwiseResult, one_sided

HAIR = 1e-9
"""How far from 0 an end is put that must not reach it, in shares of the largest difference."""


def agreeing_interval(
    result: PairwiseResult, level: float, low: Any, high: Any, *, least: Any, most: Any
) -> Interval:
    """The interval, its ends moved so that 0 lies outside exactly where p is at most 1 - level.

    Ties and zeros have their own place in the null distribution of a test of signs or ranks,
    while the ends of its interval are order statistics that know nothing of them. Where the two
    disagree about 0 the test is right: the one-sided test of "at most 0" excludes 0 and all that
    lies below it, or it does not exclude 0.

    Parameters
    ----------
    result : PairwiseResult
        With `pvalue`, `direction` and `alternative`.
    level : float
        Coverage.
    low, high : array_like
        The ends as they are.
    least, most : array_like
        The smallest and the largest difference.

    Returns
    -------
    Interval
        A moved end stands at 0, or a hair beside it where 0 is excluded. Where an end would
        pass the other one, all that is known is the side, and the other end is the furthest
        difference on it.

    Examples
    --------
    Ten differences of 0 and six of 1: the sign test drops the former and rejects (p = 0.031);
    the fourth smallest and the fourth largest of all sixteen are 0 and 1.

    >>> from bestofk.pairwise import sign
    >>> low, high = sign([0] * 10 + [1] * 6, [0] * 16).confidence_interval(0.95)
    >>> low, high
    (1e-09, 1.0)
    """
    direction = np.asarray(result.estimate if result.direction is None else result.direction)
    rejected = np.asarray(result.pvalue) <= 1.0 - level
    hair = HAIR * np.maximum(np.abs(least), np.abs(most))
    sides = result.alternative
    low, high = np.asarray(low), np.asarray(high)
    if sides != "less":
        above = rejected & (True if sides == "greater" else direction > 0)
        low = np.where(above, np.maximum(low, hair), np.minimum(low, 0.0))
        high = np.where(above & (high < low), most, high)
    if sides != "greater":
        below = rejected & (True if sides == "less" else direction < 0)
        high = np.where(below, np.minimum(high, -hair), np.maximum(high, 0.0))
        low = np.where(below & (low > high), least, low)
    return one_sided(low, high, sides)
