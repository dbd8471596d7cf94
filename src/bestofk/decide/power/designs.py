"""Planned designs: their power, the differences they can show, and how they can grow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk.decide.power.functions import mcnemar_power, t_noncentrality, t_power
from bestofk.decide.power.result import Needed

MAX_TIMES = 1000
"""Do not advise designs more than this many times larger than the current one."""
FITTED_MODELS = (
    "More instances compare the fitted models; comparing the learners takes several training sets, "
    "as in the plan 10x5+nested."
)
FLAT_CURVES = (
    "For rows: the variance of a difference is assumed to fall as 1 / rows, which holds if the "
    "learning curves are flat and the true difference does not change."
)


NO_DIFFERENCE = "no difference was observed"
NO_SPREAD = "the differences have no spread to plan from"
TOO_MANY = f"more than {MAX_TIMES} times as many would be needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned(ABC):
    """A design for several pairs at once; arrays have one number per pair."""

    level: float
    """Two-sided level of one test."""
    unit: str
    """The repeated units: runs, splits, data sets or instances."""

    @abstractmethod
    def power(self, difference: Floats) -> Floats:
        """Return the probability that each pair's difference is shown."""

    @abstractmethod
    def smallest(self, power: float) -> Floats:
        """Return the smallest difference shown with that power; NaN if there is none."""

    def limit(self, power: float) -> Floats | None:  # noqa: ARG002
        """Return the same for any number of units; None if there is no limit or no choice."""
        return None

    @abstractmethod
    def standard_error(self) -> Floats:
        """Return the standard error of each pair's estimate."""

    @abstractmethod
    def needed(
        self, pair: int, difference: float, smallest: float, power: float
    ) -> tuple[Needed, ...]:
        """Return what would show a difference of one pair, which now shows `smallest`."""

    @abstractmethod
    def assumptions(self) -> tuple[str, ...]:
        """Return the assumptions behind the numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSplits(Planned):
    """Folds of several runs, or random splits, under the corrected t test.

    The n = runs * folds differences have standard deviation `sd` (corrected for the correlation
    n_test / (n_train + n_test) of any two of them). Their mean has n - 1 degrees of freedom and
    variance sd^2 (1 / n + n_test / n_train), of which more runs reduce only the first part.
    """

    sd: Floats
    runs: int
    folds: int
    test_ratio: float
    rows: int | None
    unit: str = "runs"
    fixed: str = ""
    """Why there cannot be more runs; empty if there can."""

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
            f"For {self.unit}: any two differences are assumed to have the correlation n_test / "
            "(n_train + n_test), as the test assumes.",
            FLAT_CURVES,
        )

    def _factor(self, runs: float) -> float:
        return float(np.sqrt(1.0 / (runs * self._step()) + self.test_ratio))

    def _df(self, runs: int) -> float:
        return runs * self._step() - 1.0

    def _step(self) -> int:
        """Return the number of differences per unit; a split is one difference."""
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
class KnownError(Planned):
    """A t test with a known standard error and known degrees of freedom.

    For tests whose variance ignores that runs share rows, or whose degrees of freedom were
    measured for this design: more rows help, more runs do not.
    """

    error: Floats
    df: float
    rows: int | None
    runs: int
    fixed: str

    def standard_error(self) -> Floats:
        return self.error

    def power(self, difference: Floats) -> Floats:
        return t_power(_ratio(difference, self.error), self.df, self.level)

    def smallest(self, power: float) -> Floats:
        return t_noncentrality(power, self.df, self.level) * _known(self.error)

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
class Halvings(Planned):
    """Five halvings of the rows; `sd` is the standard deviation of the difference on one half."""

    sd: Floats
    effect_power: Callable[[Any, float], Floats]
    """Power of the test for effects in units of `sd`, at a level."""
    mean_variance: float
    """Variance of the mean of all ten differences, in units of sd^2."""
    rows: int | None
    unit: str = "runs"

    def standard_error(self) -> Floats:
        return self.sd * float(np.sqrt(self.mean_variance))

    def power(self, difference: Floats) -> Floats:
        effect = np.minimum(_ratio(difference, self.sd), 1e6)
        return self.effect_power(effect, self.level)

    def smallest(self, power: float) -> Floats:
        effect = smallest_effect(lambda e: float(self.effect_power(e, self.level)), power)
        return effect * _known(self.sd)

    def needed(
        self,
        pair: int,  # noqa: ARG002
        difference: float,
        smallest: float,
        power: float,  # noqa: ARG002
    ) -> tuple[Needed, ...]:
        runs = Needed(
            unit="runs", now=5, count=None, times=None, reason="the test needs exactly five runs"
        )
        return (runs, needed_rows(self.rows, difference, smallest))

    def assumptions(self) -> tuple[str, ...]:
        return (
            "The two folds of a run are assumed to be independent, as the test assumes.",
            FLAT_CURVES,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Units(Planned):
    """Independent differences, one per data set or instance, with standard deviation `sd`."""

    sd: Floats
    n: int
    effect_power: Callable[[Any, int, float], Floats]
    """Power of the test for effects in units of `sd`, with n differences, at a level."""
    efficiency: float
    """Efficiency of the test relative to the t test, for the standard error of its estimate."""

    def standard_error(self) -> Floats:
        return self.sd / float(np.sqrt(self.n * self.efficiency))

    def power(self, difference: Floats) -> Floats:
        return self.effect_power(_ratio(difference, self.sd), self.n, self.level)

    def smallest(self, power: float) -> Floats:
        effect = smallest_effect(lambda e: float(self.effect_power(e, self.n, self.level)), power)
        return effect * _known(self.sd)

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
        normal = f"The {self.unit} are assumed to be independent, and their differences normal."
        return (normal, FITTED_MODELS) if self.unit == "instances" else (normal,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreements(Planned):
    """One test set of right or wrong answers; on a share `discordance` exactly one is wrong."""

    discordance: Floats
    n: int
    unit: str = "instances"

    def standard_error(self) -> Floats:
        return np.sqrt(self.discordance / self.n)

    def power(self, difference: Floats) -> Floats:
        pairs = zip(self.discordance.tolist(), np.atleast_1d(difference).tolist(), strict=True)
        return np.array([mcnemar_power(self.n, max(q, d), d, self.level) for q, d in pairs])

    def smallest(self, power: float) -> Floats:
        return np.array([self._smallest(q, power) for q in self.discordance.tolist()])

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
            "The instances are assumed to be independent, and the two models to disagree on the "
            "same share of them.",
            FITTED_MODELS,
        )

    def _smallest(self, discordance: float, power: float) -> float:
        if mcnemar_power(self.n, discordance, discordance, self.level) < power:
            return float("nan")
        return _bisect(
            lambda difference: mcnemar_power(self.n, discordance, difference, self.level),
            power, 0.0, discordance, steps=24,
        )  # fmt: skip


def needed_rows(rows: int | None, difference: float, smallest: float) -> Needed:
    """Return the needed rows, by the squared ratio of the smallest and the planned difference."""
    blank = Needed(unit="rows", now=rows, count=None, times=None)
    if difference <= 0.0:
        return replace(blank, reason=NO_DIFFERENCE)
    if not smallest > 0.0:
        return replace(blank, reason=NO_SPREAD)
    times = max((smallest / difference) ** 2, 1.0)
    if times > MAX_TIMES:
        return replace(blank, reason=TOO_MANY)
    return replace(blank, times=times, count=None if rows is None else ceil(rows * times))


def smallest_effect(power_of: Callable[[float], float], power: float) -> float:
    """Return the effect at which an increasing power curve reaches `power`; NaN if never."""
    low, high = 0.0, 1.0
    while power_of(high) < power:
        low, high = high, 2.0 * high
        if high > 1e4:
            return float("nan")
    return _bisect(power_of, power, low, high, steps=40)


def _bisect(
    power_of: Callable[[float], float], power: float, low: float, high: float, *, steps: int
) -> float:
    """Return the upper end of the bisection of an increasing power curve."""
    for _ in range(steps):
        middle = 0.5 * (low + high)
        if power_of(middle) < power:
            low = middle
        else:
            high = middle
    return high


def smallest_count(power_at: Callable[[int], float], now: int, power: float) -> int | None:
    """Return the smallest count, from `now` to 1000 times it, that reaches the power.

    The power of a discrete test is not monotone; the result is then one of the first such counts.
    """
    most = MAX_TIMES * now
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
    """Return the spread; NaN if it is 0, because equal differences do not determine it."""
    return np.where(spread > 0.0, spread, np.nan)


def _ratio(difference: Any, spread: Any) -> Floats:
    """Return differences over their spread; 0 / 0 is 0, and x / 0 is infinite."""
    difference, spread = np.broadcast_arrays(
        np.asarray(difference, dtype=float), np.asarray(spread, dtype=float)
    )
    flat = spread <= 0.0
    value = difference / np.where(flat, 1.0, spread)
    return np.where(flat, np.where(difference > 0.0, inf, 0.0), value)
