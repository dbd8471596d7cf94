"""A planned design: its power, the differences it can show, and how it can grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk.decide.power.exact import mcnemar_power, t_power
from bestofk.decide.power.result import Name, Needed
from bestofk.decide.power.simulated import DRAWS, halves_power, is_simulated, unit_power

MAX_TIMES = 1000
"""Do not advise designs more than this many times larger than the current one."""
NO_SPREAD = "the differences have no spread to plan from"
_NO_DIFFERENCE = "no difference was observed"
_TOO_MANY = f"more than {MAX_TIMES} times as many would be needed"
_FITTED_MODELS = (
    "More instances compare the fitted models; comparing the learners takes several training sets, "
    "as in the plan 10x5+nested."
)
_FLAT_CURVES = (
    "For rows: the variance of a difference is assumed to fall as 1 / rows, which holds if the "
    "learning curves are flat and the true difference does not change."
)
_SIMULATED = (
    f"The power is simulated with {DRAWS:,} studies; its standard error is at most "
    f"{50.0 / DRAWS**0.5:.1f} points."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A design for several pairs at once; arrays have one number per pair."""

    curve: Callable[[Any, Any, float], Floats]
    """Power for differences, by their spreads and the number of units."""
    spread: Floats
    """What the curve takes: the standard deviation of a difference, or the share of disagreements.
    """
    now: int
    unit: str
    """The repeated units: runs, splits, data sets or instances."""
    rows: int | None = None
    more_rows: bool = True
    """Whether the design can also grow by rows."""
    fixed: str = ""
    """Why there cannot be more units; empty if there can."""
    limited: bool = False
    """Whether any number of units leaves some differences unshown."""
    largest_effect: float | None = None
    """The largest possible difference over its spread; None if any is possible."""
    assumptions: tuple[str, ...] = (_FLAT_CURVES,)
    reason: str = NO_SPREAD
    """Why no difference can be shown, if none can."""

    def power(self, difference: Floats) -> Floats:
        """Return the probability that each pair's difference is shown."""
        return self.curve(difference, self.spread, self.now)

    def smallest(self, power: float, units: float | None = None) -> Floats:
        """Return the smallest difference shown with that power; NaN if there is none."""
        n = self.now if units is None else units
        spread, pair = np.unique(self.spread, return_inverse=True)
        known = spread > 0.0
        spread = np.where(known, spread, 1.0)
        effect = smallest_effect(lambda e: self.curve(e * spread, spread, n), power, spread.shape)
        if self.largest_effect is not None:
            known &= effect <= self.largest_effect
        return np.where(known, effect * spread, np.nan)[pair]

    def limit(self, power: float) -> Floats | None:
        """Return the same for any number of units; None if there is no limit or no choice."""
        return self.smallest(power, inf) if self.limited and not self.fixed else None

    def needed(
        self, pair: int, difference: float, smallest: float, limit: float | None, power: float
    ) -> tuple[Needed, ...]:
        """Return what would show a difference of one pair, from what the design shows."""
        units = self._needed_units(float(self.spread[pair]), difference, limit, power)
        if not self.more_rows:
            return (units,)
        return (units, _needed_rows(self.rows, difference, smallest))

    def _needed_units(
        self, spread: float, difference: float, limit: float | None, power: float
    ) -> Needed:
        blank = Needed(unit=self.unit, now=self.now, count=None, times=None)
        if self.fixed:
            return replace(blank, reason=self.fixed)
        if difference <= 0.0:
            return replace(blank, reason=_NO_DIFFERENCE)
        if limit is not None and difference <= limit:
            return replace(blank, reason=f"more {self.unit} cannot show a difference this small")
        count = smallest_count(lambda n: float(self.curve(difference, spread, n)), self.now, power)
        if count is None:
            return replace(blank, reason=_TOO_MANY)
        return replace(blank, count=count, times=count / self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A study to plan for: its design and test, and its pairs with what was observed of them."""

    planned: Planned
    design: str
    test: str
    pairs: Sequence[tuple[Name, Name]] = (("one learner", "another"),)
    estimate: Floats | None = None
    difference: Floats | None = None
    """Absolute difference in the sense of the test; 0 if it is a rounding error."""
    pvalue: Floats | None = None


def corrected_splits(
    sd: Floats,
    *,
    runs: int,
    folds: int,
    test_ratio: float,
    level: float,
    rows: int | None,
    unit: str,
    fixed: str = "",
) -> Planned:
    """Return folds of several runs, or random splits, under the corrected t test.

    The n differences have standard deviation `sd` (corrected for the correlation
    n_test / (n_train + n_test) of any two of them). Their mean has n - 1 degrees of freedom and
    variance sd^2 (1 / n + n_test / n_train), of which more runs reduce only the first part.
    """
    per_unit = folds if unit == "runs" else 1

    def curve(difference: Any, sd: Any, units: float) -> Floats:
        n = units * per_unit
        return t_power(ratio(difference, sd * np.sqrt(1.0 / n + test_ratio)), n - 1.0, level)

    correlated = (
        f"For {unit}: any two differences are assumed to have the correlation n_test / (n_train + "
        "n_test), as the test assumes."
    )
    return Planned(
        curve=curve,
        spread=sd,
        now=runs,
        unit=unit,
        rows=rows,
        fixed=fixed,
        limited=True,
        assumptions=(_FLAT_CURVES,) if fixed else (correlated, _FLAT_CURVES),
    )


def known_error(
    error: Floats, *, df: float, level: float, rows: int | None, runs: int, unit: str, fixed: str
) -> Planned:
    """Return a t test with a known standard error and known degrees of freedom.

    For tests whose variance ignores that runs share rows, or whose degrees of freedom were
    measured for this design: more rows help, more runs do not.
    """

    def curve(difference: Any, error: Any, _: float) -> Floats:
        return t_power(ratio(difference, error), df, level)

    return Planned(curve=curve, spread=error, now=runs, unit=unit, rows=rows, fixed=fixed)


def five_halvings(sd: Floats, *, test: str, level: float, rows: int | None) -> Planned:
    """Return five halvings of the rows; `sd` is that of the difference on one half."""

    def curve(difference: Any, sd: Any, _: float) -> Floats:
        return halves_power(test, ratio(difference, sd), level)

    return Planned(
        curve=curve,
        spread=sd,
        now=5,
        unit="runs",
        rows=rows,
        fixed="the test needs exactly five runs",
        assumptions=(
            "The two folds of a run are assumed to be independent, as the test assumes, and folds "
            "of different runs to have the correlation 1/2.",
            _FLAT_CURVES,
            _SIMULATED,
        ),
    )


def independent_units(sd: Floats, *, test: str | None, n: int, unit: str, level: float) -> Planned:
    """Return independent differences, one per data set or instance."""

    def curve(difference: Any, sd: Any, n: float) -> Floats:
        return unit_power(test, ratio(difference, sd), int(n), level)

    least = n
    while not float(curve(1e3, 1.0, least)) > 0.5:
        least += 1
    assumptions = [f"The {unit} are assumed to be independent, and their differences normal."]
    if unit == "instances":
        assumptions.append(_FITTED_MODELS)
    if test is not None and is_simulated(test, n):
        assumptions.append(_SIMULATED)
    return Planned(
        curve=curve,
        spread=sd,
        now=n,
        unit=unit,
        more_rows=False,
        assumptions=tuple(assumptions),
        reason=NO_SPREAD
        if least == n
        else f"with {n} {unit} no p-value can be as small as {level:.2g}; at least {least} are "
        "needed",
    )


def disagreements(discordance: Floats, *, n: int, level: float) -> Planned:
    """Return one test set of right or wrong answers; on a share exactly one is wrong."""

    def curve(difference: Any, share: Any, n: float) -> Floats:
        pairs = np.broadcast(difference, share)
        powers = [mcnemar_power(int(n), max(q, d), d, level) for d, q in pairs]
        return np.reshape(powers, pairs.shape)

    return Planned(
        curve=curve,
        spread=discordance,
        now=n,
        unit="instances",
        more_rows=False,
        largest_effect=1.0,
        assumptions=(
            "The instances are assumed to be independent, and the two models to disagree on the "
            "same share of them.",
            _FITTED_MODELS,
        ),
        reason=f"two learners that disagree this rarely cannot be distinguished with {n} instances"
        if np.median(discordance) > 0.0
        else NO_SPREAD,
    )


def ratio(difference: Any, spread: Any) -> Floats:
    """Return differences over their spread; 0 / 0 is 0, and x / 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.divide(difference, spread)
    return np.where(np.equal(difference, 0.0), 0.0, value)


def _needed_rows(rows: int | None, difference: float, smallest: float) -> Needed:
    """Return the needed rows, by the squared ratio of the smallest and the planned difference."""
    blank = Needed(unit="rows", now=rows, count=None, times=None)
    if difference <= 0.0:
        return replace(blank, reason=_NO_DIFFERENCE)
    if not smallest > 0.0:
        return replace(blank, reason=NO_SPREAD)
    times = max((smallest / difference) ** 2, 1.0)
    if times > MAX_TIMES:
        return replace(blank, reason=_TOO_MANY)
    return replace(blank, times=times, count=None if rows is None else ceil(rows * times))


def smallest_effect(
    power_of: Callable[[Floats], Any], power: float, shape: tuple[int, ...] = ()
) -> Floats:
    """Return the effects at which increasing power curves reach `power`; NaN if they never do."""
    low, high = np.zeros(shape), np.ones(shape)
    for _ in range(14):
        reached = power_of(high) >= power
        if np.all(reached):
            break
        low, high = np.where(reached, low, high), np.where(reached, high, 2.0 * high)
    for _ in range(40):
        middle = 0.5 * (low + high)
        above = power_of(middle) >= power
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(reached, high, np.nan)


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
