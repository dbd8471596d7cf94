"""What observed losses say of a design: the spread of every pair under the test that is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import DesignError
from bestofk._base.formatting import joined
from bestofk.decide.power.designs import (
    Disagreements,
    Halvings,
    KnownError,
    Planned,
    PlannedSplits,
    Units,
)
from bestofk.decide.power.functions import (
    EFFICIENCY,
    five_by_two_f_power,
    five_by_two_t_power,
    permutation_power,
    signed_rank_power,
    t_power,
)
from bestofk.stats.pairwise.entry import PowerModel
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

if TYPE_CHECKING:
    from bestofk.decide.choose_test import Choice
    from bestofk.decide.evidence import RowsTested
    from bestofk.decide.problem import Problem

Pairs = npt.NDArray[np.intp]

_AT_A_TIME = 1 << 20
"""Differences held at a time."""
_WALSH = 300
"""Differences of which all Walsh averages are made; of more, so many quantiles stand for all."""
_BY_ERROR: tuple[PowerModel, ...] = ("t", "corrected t", "unknown")
"""Where the power comes from the standard error of a result, if it has one."""
_POOLED = 200
"""Learners from which the correlation of runs is estimated."""
_NO_SPREAD = 1e-9
"""A difference below this share of its spread is rounding error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The pairs of a problem, as planning needs them."""

    planned: Planned
    estimate: Floats
    difference: Floats
    """What the test sees of the difference, without its sign: 0 where it is rounding error."""
    pvalue: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class _Raw:
    """What the test found of the pairs, before it is known what kind of design they are."""

    problem: Problem
    choice: Choice
    differences: Floats
    error: Floats | None
    df: float | None
    level: float
    rows: int | None

    @property
    def model(self) -> PowerModel:
        """Where the power comes from; a function of the caller's is taken for a t test."""
        return "t" if self.choice.entry is None else self.choice.entry.power

    def t_parts(self) -> tuple[Floats, float]:
        """Standard errors and degrees of freedom, of a test that has them."""
        if self.error is None or self.df is None:
            raise _not_planned(self.choice)
        return self.error, self.df

    def by_unit(self) -> Floats:
        """(pairs, n) differences."""
        return self.differences.reshape(len(self.differences), -1)


def observe(
    problem: Problem,
    choice: Choice,
    first: Pairs,
    second: Pairs,
    *,
    level: float,
    one_sided: bool = False,
    rows: int | None = None,
    tested: RowsTested | None = None,
) -> Observed:
    """The spread and the difference of every pair under the chosen test.

    What the test said of these pairs before is `tested`: nothing is tested again.
    """
    values = problem.sample(choice.axes)
    step = max(1, _AT_A_TIME // max(1, int(np.prod(values.shape[1:]))))
    blocks = [slice(start, start + step) for start in range(0, len(first), step)]
    d = np.concatenate([values[first[at]] - values[second[at]] for at in blocks])
    if tested is None:
        side = "greater" if one_sided else "two-sided"
        results = [choice(values[first[at]], values[second[at]], side) for at in blocks]
        error, df = _error(results)
        estimate, pvalue = _column(results, "estimate"), _column(results, "pvalue")
    else:
        estimate, pvalue, error, df = tested
    raw = _Raw(
        problem=problem,
        choice=choice,
        differences=d,
        error=error,
        df=df,
        level=level,
        rows=rows_of(problem) if rows is None else rows,
    )
    planned, seen = _builder(problem, choice)(raw)
    difference = np.abs(estimate if seen is None else seen)
    noise = _NO_SPREAD * np.maximum(planned.standard_error(), np.abs(values).max(initial=0.0))
    difference = np.where(difference <= noise, 0.0, difference)
    return Observed(planned=planned, estimate=estimate, difference=difference, pvalue=pvalue)


Seen = tuple[Planned, Floats | None]
"""A design, and the differences that its test sees where they are not those of the means."""


def _column(results: list[Any], name: str) -> Floats:
    return np.concatenate([np.reshape(np.asarray(getattr(r, name)), -1) for r in results])


def _error(results: list[Any]) -> tuple[Floats | None, float | None]:
    """The standard errors and the degrees of freedom, of tests that have them."""
    last = results[-1]
    if last.standard_error is None or not isinstance(last.df, float):
        return None, None
    return _column(results, "standard_error"), last.df


def _builder(problem: Problem, choice: Choice) -> Callable[[_Raw], Seen]:
    builders: dict[PowerModel, Callable[[_Raw], Seen]] = {
        "five by two F": _halvings,
        "five by two t": _halvings,
        "disagreements": _disagreements,
        "sign flips": _units,
        "signed rank": _units,
    }
    if choice.entry is not None and choice.entry.power in builders:
        return builders[choice.entry.power]
    situation = problem.situations[0] if problem.situations else ""
    return _units if situation in ("datasets", "test-set") else _splits


def _splits(raw: _Raw) -> Seen:
    error, df = raw.t_parts()
    design = raw.problem.design
    n = design.runs * design.folds
    unit = "splits" if design.kind in ("resample", "bootstrap", "time", "splits") else "runs"
    runs = n if unit == "splits" else design.runs
    corrected = raw.model == "corrected t"
    if not corrected or df != n - 1 or design.kind == "time":
        of_groups = corrected and design.groups is not None and df == design.groups - 1
        why = (
            "more windows of the same rows are shorter ones"
            if design.kind == "time"
            else f"its degrees of freedom are those of the {design.groups} groups"
            if of_groups
            else f"its degrees of freedom were measured for {runs} {unit}"
            if corrected
            else "its variance does not know that they share rows"
        )
        known = KnownError(
            error=error, df=df, rows=raw.rows, runs=runs, unit=unit, level=raw.level, fixed=why
        )
        return known, None
    ratio = _test_ratio(raw.problem, raw.choice)
    splits = PlannedSplits(
        sd=error / float(np.sqrt(1.0 / n + ratio)),
        runs=runs,
        folds=design.folds,
        test_ratio=ratio,
        rows=raw.rows,
        level=raw.level,
        unit=unit,
        fixed="leave-one-out has one run only" if design.kind == "loo" else "",
    )
    return splits, None


def _halvings(raw: _Raw) -> Seen:
    within, _ = _within_and_between(raw.differences)
    correlation = _correlation_of_runs(raw)
    combined = partial(five_by_two_f_power, correlation=correlation)
    halvings = Halvings(
        sd=np.sqrt(within),
        effect_power=combined if raw.model == "five by two F" else five_by_two_t_power,
        mean_variance=correlation + (0.5 - correlation) / 5.0,
        rows=raw.rows,
        level=raw.level,
    )
    return halvings, None


def _within_and_between(d: Floats) -> tuple[Floats, Floats]:
    """Variance of the differences within runs, and of the means of runs."""
    within = 0.5 * np.square(d[..., 0] - d[..., 1]).mean(axis=-1)
    return within, d.mean(axis=-1).var(axis=-1, ddof=1)


def _correlation_of_runs(raw: _Raw) -> float:
    """Of two halves in different runs, from all pairs: one pair has four degrees of freedom."""
    values = raw.problem.sample(2)
    if len(values) > _POOLED:
        values = values[:_POOLED]
    i, j = np.triu_indices(len(values), 1)
    within, between = (part.sum() for part in _within_and_between(values[i] - values[j]))
    # the variance of the means of runs is (1/2 - correlation) of that within runs
    return float(np.clip(0.5 - between / within, 0.0, 0.5)) if within > 0 else 0.5


def _units(raw: _Raw) -> Seen:
    d = raw.by_unit()
    n = d.shape[1]
    unit = "data sets" if raw.problem.n_datasets > 1 else "instances"
    seen: Floats | None = None
    efficiency = 1.0
    power: Callable[[Any, int, float], Floats]
    if raw.model == "signed rank":
        seen, sd = np.array([pseudomedian(row) for row in d]).reshape(-1, 2).T
        power, efficiency = signed_rank_power, EFFICIENCY
    elif raw.model == "sign flips":
        sd, power = d.std(axis=1, ddof=1) if n > 1 else np.zeros(len(d)), permutation_power
    else:
        error, df = raw.t_parts()
        if df != n - 1:
            raise _not_planned(raw.choice)
        sd, power = error * float(np.sqrt(n)), units_t_power
    units = Units(sd=sd, n=n, unit=unit, effect_power=power, efficiency=efficiency, level=raw.level)
    return units, seen


def _disagreements(raw: _Raw) -> Seen:
    d = raw.by_unit()
    share = (d != 0).mean(axis=1)
    return Disagreements(discordance=share, n=d.shape[1], level=raw.level), None


def units_t_power(effect: Any, n: int, level: float) -> Floats:
    """Power of a paired t test on `n` independent differences."""
    if n < 2:
        return np.zeros(np.shape(effect))
    return t_power(np.asarray(effect) * np.sqrt(n), n - 1.0, level)


def pseudomedian(d: Floats) -> tuple[float, float]:
    """Where the signed rank test sees the middle, and the spread that it sees.

    The median of the Walsh averages, and the standard deviation of normal differences that
    would have Walsh averages as far apart: one that a few wild data sets do not stretch.

    Examples
    --------
    >>> tame = np.arange(20.0)
    >>> wild = np.append(tame[:-1], 1000.0)
    >>> [round(x) for x in (*pseudomedian(tame), *pseudomedian(wild))]
    [10, 7, 10, 7]
    """
    n = len(d)
    if n > _WALSH:
        # quantiles of the same distribution
        d, m = np.quantile(d, (np.arange(_WALSH) + 0.5) / _WALSH), _WALSH
    else:
        m = n
    i, j = np.triu_indices(m)
    walsh = np.sort(0.5 * (d[i] + d[j]))
    centre = float(np.median(walsh))
    # one standard deviation of W+ to either side of its middle: the interval of +- one error
    total = len(walsh)
    places = 0.5 * (total - 1) + np.array([-1.0, 1.0]) * np.sqrt(m * (m + 1) * (2 * m + 1) / 24.0)
    low, high = np.interp(np.clip(places, 0, total - 1), np.arange(total), walsh)
    return centre, float(0.5 * (high - low) * np.sqrt(EFFICIENCY * m))


def rows_of(problem: Problem) -> int | None:
    """Rows of the data set, where the design tells them."""
    design = problem.design
    if problem.n_datasets > 1 or design.n_train is None or design.n_test is None:
        return None
    if design.kind == "time":
        return int(np.max(design.n_train)) + design.n_test[-1]
    return round(float(np.mean(design.n_train) + np.mean(design.n_test)))


def _test_ratio(problem: Problem, choice: Choice) -> float:
    """n_test / n_train as the test takes it: as told, or that of complete runs of folds."""
    said = choice.arguments
    if said.get("test_share") is not None:
        return float(said["test_share"])
    if said.get("n_train") is not None:
        return float(np.mean(said["n_test"]) / np.mean(said["n_train"]))
    return 1.0 / (problem.design.folds - 1)


def _not_planned(choice: Choice) -> DesignError:
    others = [name for name, entry in PAIRWISE_TESTS.items() if entry.power not in _BY_ERROR]
    return DesignError(
        f"plan_size: the power of test {choice.name!r} is not known here; tests that can be "
        "planned for are the t tests with a standard error, and "
        f"{joined(others)}."
    )
