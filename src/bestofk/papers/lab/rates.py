"""Rates: shares of data sets with exact binomial intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bestofk.stats.intervals import clopper_pearson

LEVEL = 0.95
"""Coverage of the intervals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`count` of `n` data sets, and the exact binomial interval of the rate.

    Examples
    --------
    >>> rate = Rate.of(50, 1000)
    >>> rate.value, round(rate.low, 4), round(rate.high, 4)
    (0.05, 0.0373, 0.0654)
    """

    count: int
    n: int
    value: float
    low: float
    high: float
    level: float = LEVEL

    @classmethod
    def of(cls, count: int, n: int) -> Rate:
        """Return the rate with its Clopper-Pearson interval."""
        interval = clopper_pearson(int(count), int(n), LEVEL)
        return cls(
            count=int(count),
            n=int(n),
            value=count / n,
            low=float(interval.low),
            high=float(interval.high),
        )

    def percent(self) -> str:
        """Return the rate as ``4.9 % (3.7 to 6.4)``."""
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


def rate_columns(rates: Sequence[Rate]) -> dict[str, Any]:
    """Return rates as columns: the share, its interval, and the count."""
    return {
        "rate": [rate.value for rate in rates],
        "low": [rate.low for rate in rates],
        "high": [rate.high for rate in rates],
        "count": [rate.count for rate in rates],
        "n": [rate.n for rate in rates],
    }
