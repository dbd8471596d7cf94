"""A planned sign test: the p-values that the units that are left can still give."""

from __future__ import annotations

from typing import NamedTuple

from scipy import stats

from bestofk.checks import Floats


class PValueBounds(NamedTuple):
    """The smallest and the largest two-sided p-value that a full plan can give."""

    low: float
    high: float


def sign_bounds(differences: Floats, planned: int) -> PValueBounds:
    """Of the exact two-sided sign test (McNemar's, for losses of 0 and 1) on `planned` units.

    Parameters
    ----------
    differences : (n,) array
        Of the units that are done; those without a difference do not count.
    planned : int
        Units of the plan.

    Notes
    -----
    Every unit that is left may count for the first, for the second or for neither. The smallest
    p-value comes when all of them are on the side that is ahead, or all on the other one; the
    largest when they bring both sides as near to each other as they can.

    Examples
    --------
    >>> import numpy as np
    >>> bounds = sign_bounds(np.array([1.0, 1.0, 1.0, 1.0, 1.0]), 6)
    >>> round(bounds.low, 6), round(bounds.high, 6)
    (0.03125, 0.21875)
    """
    more, less = int((differences > 0).sum()), int((differences < 0).sum())
    left = planned - len(differences)
    ends = [(more + left, less), (more, less + left)]
    low = min(_sign_p(*end) for end in ends)
    # the side that is behind gets all it needs to draw level
    ahead, behind = max(more, less), min(more, less)
    high = max(_sign_p(ahead, min(ahead, behind + k)) for k in range(left + 1))
    return PValueBounds(low, high)


def _sign_p(more: int, less: int) -> float:
    n = more + less
    if not n:
        return 1.0
    return float(min(1.0, 2.0 * stats.binom.sf(max(more, less) - 1, n, 0.5)))
