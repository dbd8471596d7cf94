"""Designs as planning sees them: their power, what they can show, and how they may grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any, Protocol

import numpy as np

from bestofk._base.checks import Floats
from bestofk.decide.power.functions import mcnemar_power, t_noncentrality, t_power
from bestofk.decide.power.result import Needed

MOST_TIMES = 1000
"""More than so many times what there is is no advice."""
FLAT_CURVES = (
    "For rows: the variance of a difference is taken to fall as 1 / rows, as it does where the "
    "learning curves are flat and the true difference stays what it is."
)


class Planned(Protocol):
    """A design for several pairs at once; arrays have one number per pair."""

    @property
    def level(self) -> float:
        """Of one test, both sides together."""

    @property
    def unit(self) -> str:
        """What there are several of."""

    def power(self, difference: Floats) -> Floats:
        """The probability that each pair's difference is shown."""

    def smallest(self, power: float) -> Floats:
        """The smallest difference shown with that power; NaN where none is."""

    def limit(self, power: float) -> Floats | None:
        """The same with any number of units; None where they have no limit, or are fixed."""

    def standard_error(self) -> Floats:
        """Of each pair's estimate."""

    def needed(
        self, pair: int, difference: float, smallest: float, power: float
    ) -> tuple[Needed, ...]:
        """What would show a difference of one pair, which shows `smallest` as it is."""

    def assumptions(self) -> tuple[str, ...]:
        """What the numbers rest on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSplits:
    """Folds of several runs, or random splits, under the corrected t test.

    The n = runs * folds differences have standard deviation `sd` (corrected for the correlation
    n_test / (n_train + n_test) of any two of them), and their mean has variance
    sd^2 (1 / n + n_test / n_train): n - 1 degrees of freedom, and a part that no number of runs
    removes.
    """

    sd: Floats
    runs: int
    folds: int
    test_ratio: float
    rows: int | None
    level: float
    unit: str = "runs"
    fixed: str = ""
    """Why there cannot be more runs; empty where there can."""

    def standard_error(self) -> Floats:
        return self._factor(self.runs) * self.sd

    def power(self, difference: Floats) -> Floats:
        return t_power(_ratio(difference, self.standard_error()), self._df(self.runs), self.level)

    def smallest(self, power: float) -> Floats:
        ncp = t_noncentrality(power, self._df(self.runs), self.level)
        return ncp * _known(self.standard_error())

    def limit(self, power: float) -> Floats | None:
        if self.fixed:
            return None
        ncp = t_noncentrality(power, inf, self.level)
        return ncp * float(np.sqrt(self.test_ratio)) * _known(self.sd)

    def needed(
        self, pair: int, difference: float, smallest: float, power: float
    ) -> tuple[Needed, ...]:
        runs = self._needed_runs(pair, difference, power)
        return (runs, needed_rows(self.rows, difference, smallest))

    def assumptions(self) -> tuple[str, ...]:
        if self.fixed:
            return (FLAT_CURVES,)
        return (
            f"For {self.unit}: any two differences are taken to be correlated by n_test / "
            "(n_train + n_test), as the test takes them.",
            FLAT_CURVES,
        )

    def _factor(self, runs: float) -> float:
        return float(np.sqrt(1.0 / (runs * self._step()) + self.test_ratio))

    def _df(self, runs: int) -> float:
        return runs * self._step() - 1.0

    def _step(self) -> int:
        """Differences per unit: splits come one at a time."""
        return self.folds if self.unit == "runs" else 1

    def _needed_runs(self, pair: int, difference: float, power: float) -> Needed:
        sd, limit = float(self.sd[pair]), self.limit(power)
        blank = Needed(unit=self.unit, now=self.runs, count=None, times=None)
        if limit is None:
            return replace(blank, reason=self.fixed)
        if difference <= 0.0:
            return replace(blank, reason=NO_DIFFERENCE)
        if difference <= limit[pair]:
            return replace(blank, reason=f"more {self.unit} cannot show a difference this small")

        def power_at(runs: int) -> float:
            ncp = _ratio(difference, self._factor(runs) * sd)
            return float(t_power(ncp, self._df(runs), self.level))

        return _counted(blank, power_at, power)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownError:
    """A t test of which only the standard error and the degrees of freedom are known.

    For tests whose variance does not know that runs share rows, or whose degrees of freedom
    were measured for this very design: more runs are no option, more rows are.
    """

    error: Floats
    df: float
    rows: int | None
    runs: int
    unit: str
    level: float
    fixed: str

    def standard_error(self) -> Floats:
        return self.error

    def power(self, difference: Floats) -> Floats:
        return t_power(_ratio(difference, self.error), self.df, self.level)

    def smallest(self, power: float) -> Floats:
        return t_noncentrality(power, self.df, self.level) * _known(self.error)

    def limit(self, power: float) -> None:  # noqa: ARG002
        return None

    def needed(
        self,
        pair: int,  # noqa: ARG002
        difference: float,
        smallest: float,
        power: float,  # noqa: ARG002
    ) -> tuple[Needed, ...]:
        runs = Needed(unit=self.unit, now=self.runs, count=None, times=None, reason=self.fixed)
        return (runs, needed_rows(self.rows, difference, smallest))

    def assumptions(self) -> tuple[str, ...]:
        return (FLAT_CURVES,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Halvings:
    """Five halvings of the rows: `sd` is that of the difference on one half."""

    sd: Floats
    effect_power: Callable[[Any, float], Floats]
    """Power of the test for effects in units of `sd`, at a level."""
    mean_variance: float
    """Of the mean of all ten differences, in units of sd^2."""
    rows: int | None
    level: float
    unit: str = "runs"

    def standard_error(self) -> Floats:
        return self.sd * float(np.sqrt(self.mean_variance))

    def power(self, difference: Floats) -> Floats:
        effect = np.minimum(_ratio(difference, self.sd), 1e6)
        return self.effect_power(effect, self.level)

    def smallest(self, power: float) -> Floats:
        effect = smallest_effect(lambda e: float(self.effect_power(e, self.level)), power)
        return effect * _known(self.sd)

    def limit(self, power: float) -> None:  # noqa: ARG002
        return None

    def needed(
        self,
        pair: int,  # noqa: ARG002
        difference: float,
        smallest: float,
        power: float,  # noqa: ARG002
    ) -> tuple[Needed, ...]:
        runs = Needed(
            unit="runs", now=5, count=None, times=None, reason="the test is made for five runs"
        )
        return (runs, needed_rows(self.rows, difference, smallest))

    def assumptions(self) -> tuple[str, ...]:
        return (
            "The two folds of a run are taken to be independent, as the test takes them.",
            FLAT_CURVES,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """Independent differences, one per data set or per instance, with standard deviation `sd`."""

    sd: Floats
    n: int
    unit: str
    effect_power: Callable[[Any, int, float], Floats]
    """Power of the test for effects in units of `sd`, n of them, at a level."""
    efficiency: float
    """Of the test relative to the t test, for the standard error of what it estimates."""
    level: float

    def standard_error(self) -> Floats:
        return self.sd / float(np.sqrt(self.n * self.efficiency))

    def power(self, difference: Floats) -> Floats:
        return self.effect_power(_ratio(difference, self.sd), self.n, self.level)

    def smallest(self, power: float) -> Floats:
        effect = smallest_effect(lambda e: float(self.effect_power(e, self.n, self.level)), power)
        return effect * _known(self.sd)

    def limit(self, power: float) -> None:  # noqa: ARG002
        return None

    def needed(
        self,
        pair: int,
        difference: float,
        smallest: float,  # noqa: ARG002
        power: float,
    ) -> tuple[Needed, ...]:
        blank = Needed(unit=self.unit, now=self.n, count=None, times=None)
        if difference <= 0.0:
            return (replace(blank, reason=NO_DIFFERENCE),)
        effect = float(_ratio(difference, self.sd[pair]))

        def power_at(n: int) -> float:
            return float(self.effect_power(effect, n, self.level))

        return (_counted(blank, power_at, power),)

    def assumptions(self) -> tuple[str, ...]:
        return (
            f"The {self.unit} are taken to be independent, and their differences to be normal.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreements:
    """One test set, right or wrong: `discordance` is how often just one of the two is wrong."""

    discordance: Floats
    n: int
    level: float
    unit: str = "instances"

    def standard_error(self) -> Floats:
        return np.sqrt(self.discordance / self.n)

    def power(self, difference: Floats) -> Floats:
        pairs = zip(self.discordance.tolist(), np.atleast_1d(difference).tolist(), strict=True)
        return np.array([mcnemar_power(self.n, max(q, d), d, self.level) for q, d in pairs])

    def smallest(self, power: float) -> Floats:
        return np.array([self._smallest(q, power) for q in self.discordance.tolist()])

    def limit(self, power: float) -> None:  # noqa: ARG002
        return None

    def needed(
        self,
        pair: int,
        difference: float,
        smallest: float,  # noqa: ARG002
        power: float,
    ) -> tuple[Needed, ...]:
        blank = Needed(unit="instances", now=self.n, count=None, times=None)
        if difference <= 0.0:
            return (replace(blank, reason=NO_DIFFERENCE),)
        q = max(float(self.discordance[pair]), difference)

        def power_at(n: int) -> float:
            return mcnemar_power(n, q, difference, self.level)

        return (_counted(blank, power_at, power),)

    def assumptions(self) -> tuple[str, ...]:
        return (
            "The instances are taken to be independent, and the two learners to disagree on the "
            "same share of them.",
        )

    def _smallest(self, discordance: float, power: float) -> float:
        if mcnemar_power(self.n, discordance, discordance, self.level) < power:
            return float("nan")
        low, high = 0.0, discordance
        for _ in range(24):
            middle = 0.5 * (low + high)
            if mcnemar_power(self.n, discordance, middle, self.level) < power:
                low = middle
            else:
                high = middle
        return high


NO_DIFFERENCE = "no difference was observed"
NO_SPREAD = "the differences have no spread to plan from"
TOO_MANY = f"more than {MOST_TIMES} times as many would be needed"


def needed_rows(rows: int | None, difference: float, smallest: float) -> Needed:
    """Rows by the square of the ratio: what can be shown now over what is to be shown."""
    blank = Needed(unit="rows", now=rows, count=None, times=None)
    if difference <= 0.0:
        return replace(blank, reason=NO_DIFFERENCE)
    if not smallest > 0.0:
        return replace(blank, reason=NO_SPREAD)
    times = max((smallest / difference) ** 2, 1.0)
    if times > MOST_TIMES:
        return replace(blank, reason=TOO_MANY)
    return replace(blank, times=times, count=None if rows is None else ceil(rows * times))


def smallest_effect(power_of: Callable[[float], float], power: float) -> float:
    """The effect at which a rising power curve reaches `power`; NaN where it never does."""
    low, high = 0.0, 1.0
    while power_of(high) < power:
        low, high = high, 2.0 * high
        if high > 1e4:
            return float("nan")
    for _ in range(40):
        middle = 0.5 * (low + high)
        if power_of(middle) < power:
            low = middle
        else:
            high = middle
    return high


def smallest_count(power_at: Callable[[int], float], now: int, power: float) -> int | None:
    """The smallest number, from `now` to 1000 times it, at which the power is reached.

    Where a discrete test has a power that rises in small steps up and down, one of the first.
    """
    most = MOST_TIMES * now
    low, high = now - 1, now
    while power_at(high) < power:
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        if power_at(middle) < power:
            low = middle
        else:
            high = middle
    return high


def _counted(blank: Needed, power_at: Callable[[int], float], power: float) -> Needed:
    assert blank.now is not None
    count = smallest_count(power_at, blank.now, power)
    if count is None:
        return replace(blank, reason=TOO_MANY)
    return replace(blank, count=count, times=count / blank.now)


def _known(spread: Floats) -> Floats:
    """The spread; NaN where it is 0: differences that are all the same say nothing of it."""
    return np.where(spread > 0.0, spread, np.nan)


def _ratio(difference: Any, spread: Any) -> Floats:
    """Differences over their spread; 0 over 0 is 0, anything else over 0 infinite."""
    difference, spread = np.broadcast_arrays(
        np.asarray(difference, dtype=float), np.asarray(spread, dtype=float)
    )
    flat = spread <= 0.0
    value = difference / np.where(flat, 1.0, spread)
    return np.where(flat, np.where(difference > 0.0, inf, 0.0), value)
