"""Rates: shares of data sets with exact binomial intervals, and curves of such shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, probability
from bestofk._base.errors import ArgumentError
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
    def of(cls, count: int, n: int, level: float = LEVEL) -> Rate:
        """Return the rate with its Clopper-Pearson interval."""
        interval = clopper_pearson(int(count), int(n), probability(level, "level"))
        return cls(
            count=int(count),
            n=int(n),
            value=count / n,
            low=float(interval.low),
            high=float(interval.high),
            level=level,
        )

    def percent(self) -> str:
        """Return the rate as ``4.9 % (3.7 to 6.4)``."""
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """A rate as a function of x, with its confidence band: arrays of one length, ready to plot."""

    x: Floats
    value: Floats
    low: Floats
    high: Floats
    x_name: str
    name: str

    @classmethod
    def of(cls, x: Any, counts: Any, n: int, *, x_name: str, name: str) -> Curve:
        """Build a curve from counts of `n` at every x, with pointwise Clopper-Pearson bands."""
        counts = np.asarray(counts, dtype=np.int64)
        interval = clopper_pearson(counts, np.full(counts.shape, n), LEVEL)
        return cls(
            x=np.asarray(x, dtype=np.float64),
            value=counts / n,
            low=np.asarray(interval.low, dtype=np.float64),
            high=np.asarray(interval.high, dtype=np.float64),
            x_name=x_name,
            name=name,
        )


def rate_columns(rates: Sequence[Rate]) -> dict[str, Any]:
    """Return rates as columns: the share, its interval, and the count."""
    return {
        "rate": [rate.value for rate in rates],
        "low": [rate.low for rate in rates],
        "high": [rate.high for rate in rates],
        "count": [rate.count for rate in rates],
        "n": [rate.n for rate in rates],
    }


def rate_rows(alphas: Sequence[float], rates: Sequence[Rate]) -> list[dict[str, Any]]:
    """Return one JSON object per level."""
    return [{"alpha": alpha, **asdict(rate)} for alpha, rate in zip(alphas, rates, strict=True)]


def level_index(alphas: tuple[float, ...], alpha: float) -> int:
    """Return the index of a measured level."""
    if alpha not in alphas:
        measured = ", ".join(f"{level:g}" for level in alphas)
        raise ArgumentError(f"alpha must be one of the measured levels, {measured}; got {alpha!r}.")
    return alphas.index(alpha)
