"""A share of data sets, with the interval that its count allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, probability
from bestofk._base.formatting import counted, number
from bestofk._base.results import Presented
from bestofk.stats.intervals import clopper_pearson

LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Presented):
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

    def explain(self, *, alpha: float | None = None) -> str:
        """The rate in a sentence.

        Parameters
        ----------
        names : sequence of str, optional
            Has no effect.
        alpha : float, optional
            One minus the level of the interval; another one gives another interval.
        """
        level = self.level if alpha is None else 1.0 - probability(alpha, "alpha")
        rate = Rate.of(self.count, self.n, level)
        return f"{self.count} of {self.n}: {rate.words()}, with a {100 * level:g} % interval."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve(Presented):
    """A rate over something, with its band: arrays of one length, ready to draw."""

    x: Floats
    value: Floats
    low: Floats
    high: Floats
    x_name: str
    name: str

    def _columns(self) -> dict[str, Any]:
        """One row per point."""
        x = self.x_name.replace(" ", "_")
        return {x: self.x, "rate": self.value, "low": self.low, "high": self.high}

    def explain(self) -> str:
        """The range of the curve in a sentence."""
        if not len(self.x):
            return f"The curve of {self.name} has no point."
        least, most = int(np.argmin(self.value)), int(np.argmax(self.value))
        return (
            f"{self.name} over the {self.x_name}, {counted(len(self.x), 'point')}: from "
            f"{100 * self.value[least]:.1f} % (at {number(float(self.x[least]))}) to "
            f"{100 * self.value[most]:.1f} % (at {number(float(self.x[most]))})."
        )

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
