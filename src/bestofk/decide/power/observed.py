"""Planned designs from observed losses: the spread of every pair under the chosen test."""

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
    skew_corrected_t_power,
    t_power,
)
from bestofk.stats.pairwise.entry import PowerModel
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

if TYPE_CHECKING:
    from bestofk.decide.choose_test import Choice
    from bestofk.decide.problem import Problem

Pairs = npt.NDArray[np.intp]

_MAX_BATCH_DIFFERENCES = 1 << 20
_MAX_WALSH_DIFFERENCES = 300
"""Number of differences with all Walsh averages; more are replaced by as many quantiles."""
_BY_ERROR: tuple[PowerModel, ...] = ("t", "skew-corrected t", "corrected t", "unknown")
"""Models that take the power from the standard error of a result, if it has one."""
_MAX_POOLED_LEARNERS = 200
"""Number of learners from which the correlation of runs is estimated."""
_NO_SPREAD = 1e-9
"""Differences below this share of their spread are rounding errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The planned design and the observed differences of all pairs."""

    planned: Planned
    estimate: Floats
    difference: Floats
    """Absolute difference in the sense of the test; 0 if it is a rounding error."""
    pvalue: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class _Raw:
    """The differences and test results from which a design is built."""

    problem: Problem
    choice: Choice
    differences: Floats
    error: Floats | None
    df: float | None
    level: float
    rows: int | None

    @property
    def model(self) -> PowerModel:
        """The power model of the test; a user's function counts as a t test."""
        return "t" if self.choice.entry is None else self.choice.entry.power

    def t_parts(self) -> tuple[Floats, float]:
        """Return the standard errors and degrees of freedom; refuse tests without them."""
        if self.error is None or self.df is None:
            raise _not_planned(self.choice)
        return self.error, self.df

    def by_unit(self) -> Floats:
        """Return (pairs, n) differences."""
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
) -> Observed:
    """Return the spread and the difference of every pair under the chosen test."""
    if problem.subject.n_clusters is not None:
        raise _not_planned(choice)
    values = problem.sample(choice.axes)
    step = max(1, _MAX_BATCH_DIFFERENCES // max(1, int(np.prod(values.shape[1:]))))
    blocks = [slice(start, start + step) for start in range(0, len(first), step)]
    d = np.concatenate([values[first[at]] - values[second[at]] for at in blocks])
    side = "greater" if one_sided else "two-sided"
    results = [choice(values[first[at]], values[second[at]], side) for at in blocks]
    error, df = _error(results)
    estimate, pvalue = _column(results, "estimate"), _column(results, "pvalue")
    raw = _Raw(
        problem=problem,
        choice=choice,
        differences=d,
        error=error,
        df=df,
        level=level,
        rows=rows_of(problem) if rows is None else rows,
    )
    planned, difference_of_test = _builder(problem, choice)(raw)
    difference = np.abs(estimate if difference_of_test is None else difference_of_test)
    noise = _NO_SPREAD * np.maximum(planned.standard_error(), np.abs(values).max(initial=0.0))
    difference = np.where(difference <= noise, 0.0, difference)
    return Observed(planned=planned, estimate=estimate, difference=difference, pvalue=pvalue)


PlannedDifferences = tuple[Planned, Floats | None]
"""A design, and the differences of its test if they are not those of the means."""


def _column(results: list[Any], name: str) -> Floats:
    return np.concatenate([np.reshape(np.asarray(getattr(r, name)), -1) for r in results])


def _error(results: list[Any]) -> tuple[Floats | None, float | None]:
    """Return the standard errors and the degrees of freedom, if the test has them."""
    last = results[-1]
    if last.standard_error is None or not isinstance(last.df, float):
        return None, None
    return _column(results, "standard_error"), last.df


def _builder(problem: Problem, choice: Choice) -> Callable[[_Raw], PlannedDifferences]:
    builders: dict[PowerModel, Callable[[_Raw], PlannedDifferences]] = {
        "five by two F": _halvings,
        "five by two t": _halvings,
        "disagreements": _disagreements,
        "sign flips": _units,
        "signed rank": _units,
    }
    if choice.entry is not None and choice.entry.power in builders:
        return builders[choice.entry.power]
    situation = problem.situations[0] if problem.situations else ""
    units = situation == "datasets" or situation.startswith("test-set")
    return _units if units else _splits


def _splits(raw: _Raw) -> PlannedDifferences:
    error, df = raw.t_parts()
    design = raw.problem.design
    n = design.runs * design.folds
    unit = "splits" if design.kind in ("resample", "bootstrap", "time", "splits") else "runs"
    runs = n if unit == "splits" else design.runs
    corrected = raw.model == "corrected t"
    if not corrected or df != n - 1 or design.kind == "time":
        of_groups = corrected and design.groups is not None and df == design.groups - 1
        reason = (
            "more windows of the same rows would be shorter"
            if design.kind == "time"
            else f"its degrees of freedom are those of {design.groups} groups of equal size"
            if of_groups
            else f"its degrees of freedom were measured for {runs} {unit}"
            if corrected
            else "its variance estimate ignores that they share rows"
        )
        known = KnownError(
            error=error, df=df, rows=raw.rows, runs=runs, unit=unit, level=raw.level, fixed=reason
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


def _halvings(raw: _Raw) -> PlannedDifferences:
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
    """Return the variance of the differences within runs, and of the means of runs."""
    within = 0.5 * np.square(d[..., 0] - d[..., 1]).mean(axis=-1)
    return within, d.mean(axis=-1).var(axis=-1, ddof=1)


def _correlation_of_runs(raw: _Raw) -> float:
    """Estimate the correlation of halves in different runs from all pairs of learners."""
    values = raw.problem.sample(2)
    if len(values) > _MAX_POOLED_LEARNERS:
        values = values[:_MAX_POOLED_LEARNERS]
    i, j = np.triu_indices(len(values), 1)
    within, between = (part.sum() for part in _within_and_between(values[i] - values[j]))
    # the variance of the means of runs is (1/2 - correlation) of that within runs
    return float(np.clip(0.5 - between / within, 0.0, 0.5)) if within > 0 else 0.5


def _units(raw: _Raw) -> PlannedDifferences:
    d = raw.by_unit()
    n = d.shape[1]
    unit = "data sets" if raw.problem.n_datasets > 1 else "instances"
    pseudomedians: Floats | None = None
    efficiency = 1.0
    power: Callable[[Any, int, float], Floats]
    if raw.model == "signed rank":
        pseudomedians, sd = np.array([pseudomedian(row) for row in d]).reshape(-1, 2).T
        power, efficiency = signed_rank_power, EFFICIENCY
    elif raw.model == "sign flips":
        sd, power = d.std(axis=1, ddof=1) if n > 1 else np.zeros(len(d)), permutation_power
    else:
        error, df = raw.t_parts()
        if df != n - 1:
            raise _not_planned(raw.choice)
        # the power of the test contains the factor of its standard error
        sd = error * float(np.sqrt(n)) / raw.choice.arguments.get("widened", 1.0)
        power = skew_corrected_t_power if raw.model == "skew-corrected t" else units_t_power
    units = Units(sd=sd, n=n, unit=unit, effect_power=power, efficiency=efficiency, level=raw.level)
    return units, pseudomedians


def _disagreements(raw: _Raw) -> PlannedDifferences:
    d = raw.by_unit()
    share = (d != 0).mean(axis=1)
    return Disagreements(discordance=share, n=d.shape[1], level=raw.level), None


def units_t_power(effect: Any, n: int, level: float) -> Floats:
    """Return the power of a paired t test on `n` independent differences."""
    if n < 2:
        return np.zeros(np.shape(effect))
    return t_power(np.asarray(effect) * np.sqrt(n), n - 1.0, level)


def pseudomedian(d: Floats) -> tuple[float, float]:
    """Return the median of the Walsh averages, and a robust standard deviation.

    The standard deviation is that of normal differences whose Walsh averages have the same
    spread, so outliers hardly change it.

    Examples
    --------
    >>> tame = np.arange(20.0)
    >>> wild = np.append(tame[:-1], 1000.0)
    >>> [round(x) for x in (*pseudomedian(tame), *pseudomedian(wild))]
    [10, 7, 10, 7]
    """
    n = len(d)
    if n > _MAX_WALSH_DIFFERENCES:
        m = _MAX_WALSH_DIFFERENCES
        d = np.quantile(d, (np.arange(m) + 0.5) / m)
    else:
        m = n
    i, j = np.triu_indices(m)
    walsh = np.sort(0.5 * (d[i] + d[j]))
    centre = float(np.median(walsh))
    # one standard deviation of W+ on either side of its mean gives +- one standard error
    total = len(walsh)
    half = np.sqrt(m * (m + 1) * (2 * m + 1) / 24.0)
    positions = 0.5 * (total - 1) + np.array([-half, half])
    low, high = np.interp(np.clip(positions, 0, total - 1), np.arange(total), walsh)
    return centre, float(0.5 * (high - low) * np.sqrt(EFFICIENCY * m))


def rows_of(problem: Problem) -> int | None:
    """Return the number of rows of the data set, if the design has it."""
    design = problem.design
    if problem.n_datasets > 1 or design.n_train is None or design.n_test is None:
        return None
    if design.kind == "time":
        return int(np.max(design.n_train)) + design.n_test[-1]
    return round(float(np.mean(design.n_train) + np.mean(design.n_test)))


def _test_ratio(problem: Problem, choice: Choice) -> float:
    """Return n_test / n_train of the test's arguments, or of complete runs of folds."""
    arguments = choice.arguments
    if arguments.get("test_share") is not None:
        return float(arguments["test_share"])
    if arguments.get("n_train") is not None:
        return float(np.mean(arguments["n_test"]) / np.mean(arguments["n_train"]))
    return 1.0 / (problem.design.folds - 1)


def _not_planned(choice: Choice) -> DesignError:
    others = [name for name, entry in PAIRWISE_TESTS.items() if entry.power not in _BY_ERROR]
    return DesignError(
        f"plan_size does not know the power of test {choice.name!r}; it covers t tests with a "
        f"standard error, and {joined(others)}."
    )
