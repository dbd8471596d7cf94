"""The smallest p-values that n data sets or instances can give."""

from __future__ import annotations

import sys
from typing import Any

from bestofk.checks import side, whole

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
    from bestofk.tails import chi2_sf

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
