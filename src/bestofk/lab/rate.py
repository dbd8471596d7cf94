"""A share of data sets, with the interval that its count allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk.checks import Floats, probability
from bestofk.intervals import clopper_pearson

LEVEL = 0.95


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
        """The rate with its Clopper-Pearson interval."""
        found = clopper_pearson(int(count), int(n), probability(level, "level"))
        return cls(
            count=int(count),
            n=int(n),
            value=count / n,
            low=float(found.low),
            high=float(found.high),
            level=level,
        )

    def words(self) -> str:
        """``4.9 % (3.7 to 6.4)``."""
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"

    def as_json(self) -> dict[str, Any]:
        """For strict JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """A rate over something, with its band: arrays of one length, ready to draw."""

    x: Floats
    value: Floats
    low: Floats
    high: Floats
    x_name: str
    name: str

    @classmethod
    def of(cls, x: Any, counts: Any, n: int, *, x_name: str, name: str) -> Curve:
        """From counts of `n` at every x, with pointwise Clopper-Pearson bands."""
        counts = np.asarray(counts, dtype=np.int64)
        found = clopper_pearson(counts, np.full(counts.shape, n), LEVEL)
        return cls(
            x=np.asarray(x, dtype=np.float64),
            value=counts / n,
            low=np.asarray(found.low, dtype=np.float64),
            high=np.asarray(found.high, dtype=np.float64),
            x_name=x_name,
            name=name,
        )
