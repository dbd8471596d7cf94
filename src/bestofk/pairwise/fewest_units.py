"""How many units a discrete test needs before it can decide anything."""

from __future__ import annotations

from collections.abc import Callable

from bestofk.checks import probability, whole


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

    >>> from bestofk.pairwise import smallest_pvalue
    >>> fewest_units(smallest_pvalue, 10), 10 * smallest_pvalue(8), 10 * smallest_pvalue(9)
    (9, 0.078125, 0.0390625)
    """
    comparisons = whole(comparisons, "comparisons", at_least=1)
    alpha = probability(alpha, "alpha")
    n = 1
    while comparisons * smallest(n) > alpha:
        n += 1
    return n
