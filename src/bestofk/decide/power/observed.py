"""Planned designs from observed losses: the spread of every pair under the chosen test."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.errors import DesignError
from bestofk._base.formatting import joined
from bestofk.decide.power.planned import (
    Described,
    Planned,
    corrected_splits,
    disagreements,
    five_halvings,
    independent_units,
    known_error,
)
from bestofk.decide.power.simulated import efficiency
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

if TYPE_CHECKING:
    from bestofk.decide.choose_test import Choice
    from bestofk.decide.evidence import Family
    from bestofk.decide.problem import Problem

_MAX_BATCH_DIFFERENCES = 1 << 20
_NO_SPREAD = 1e-9
"""Differences below this share of their spread are rounding errors."""
_ONE_ERROR = 0.6826894921370859
"""Level of an interval of one standard error on either side."""


def observe(
    problem: Problem, choice: Choice, family: Family, *, level: float, rows: int | None
) -> Described:
    """Return the spread and the difference of every pair under the chosen test."""
    if problem.subject.n_clusters is not None:
        raise _not_planned(choice)
    first, second = family.pairs()
    values = problem.sample(choice.axes)
    step = max(1, _MAX_BATCH_DIFFERENCES // max(1, int(np.prod(values.shape[1:]))))
    blocks = [slice(start, start + step) for start in range(0, len(first), step)]
    results = [choice(values[first[at]], values[second[at]], family.alternative) for at in blocks]
    d = np.concatenate([values[first[at]] - values[second[at]] for at in blocks])
    rows = _rows(problem) if rows is None else rows
    planned = _planned(problem, choice, d, results, level, rows)
    estimate = _column(result.estimate for result in results)
    noise = _NO_SPREAD * np.maximum(planned.spread, np.abs(values).max(initial=0.0))
    return Described(
        planned=planned,
        design=problem.describe() + ("" if rows is None else f", {rows} rows"),
        test=choice.name,
        pairs=[(problem.names[a], problem.names[b]) for a, b in zip(first, second, strict=True)],
        estimate=estimate,
        difference=np.where(np.abs(estimate) <= noise, 0.0, np.abs(estimate)),
        pvalue=_column(result.pvalue for result in results),
    )


def _column(parts: Iterable[Any]) -> Floats:
    return np.concatenate([np.reshape(np.asarray(part), -1) for part in parts])


def _error(results: list[Any]) -> tuple[Floats | None, float | None]:
    """Return the standard errors and the degrees of freedom, if the test has them."""
    last = results[-1]
    if last.standard_error is None or not isinstance(last.df, float):
        return None, None
    return _column(result.standard_error for result in results), last.df


def _planned(
    problem: Problem, choice: Choice, d: Floats, results: list[Any], level: float, rows: int | None
) -> Planned:
    """Return the design of the losses, for the power model of the test."""
    entry, n = choice.entry, d[0].size
    if entry is not None and entry.power == "disagreements":
        return disagreements((d != 0).mean(axis=-1), n=n, level=level)
    simulated = entry is not None and entry.power == "simulated"
    if simulated and choice.axes == 2:
        within = 0.5 * np.square(d[..., 0] - d[..., 1]).mean(axis=-1)
        return five_halvings(np.sqrt(within), test=choice.name, level=level, rows=rows)
    error, df = _error(results)
    situation = problem.situations[0] if problem.situations else ""
    if simulated or situation == "datasets" or situation.startswith("test-set"):
        if error is not None and df == n - 1:
            # the power of the test contains the factor of its standard error
            sd = error * float(np.sqrt(n)) / choice.arguments.get("widened", 1.0)
        elif entry is None or not simulated:
            raise _not_planned(choice)
        elif entry.estimand == "typical":
            sd = _robust_spread(results, n * efficiency(choice.name))
        else:
            sd = d.std(axis=-1, ddof=min(n - 1, 1))
        unit = "data sets" if problem.n_datasets > 1 else "instances"
        test = choice.name if simulated else None
        return independent_units(sd, test=test, n=n, unit=unit, level=level)
    if error is None or df is None:
        raise _not_planned(choice)
    return _splits(problem, choice, error, df, level, rows)


def _robust_spread(results: list[Any], n: float) -> Floats:
    """Return the standard deviations of normal differences whose intervals are as wide.

    Outliers hardly change the intervals of ranks. Intervals of too few differences are infinite.
    """
    ends = [result.confidence_interval(_ONE_ERROR) for result in results]
    error = 0.5 * _column(np.subtract(high, low) for low, high in ends)
    return np.where(np.isfinite(error), error, 0.0) * float(np.sqrt(n))


def _splits(
    problem: Problem, choice: Choice, error: Floats, df: float, level: float, rows: int | None
) -> Planned:
    """Return folds or splits; more of them help only if the test corrects for shared rows."""
    design = problem.design
    n = design.runs * design.folds
    unit = "splits" if design.kind in ("resample", "bootstrap", "time", "splits") else "runs"
    runs = n if unit == "splits" else design.runs
    if design.kind == "time":
        reason = "more windows of the same rows would be shorter"
    elif choice.entry is None or choice.entry.power != "corrected t":
        reason = "its variance estimate ignores that they share rows"
    elif df == n - 1:
        ratio = _test_ratio(problem, choice)
        return corrected_splits(
            error / float(np.sqrt(1.0 / n + ratio)),
            runs=runs,
            folds=design.folds,
            test_ratio=ratio,
            level=level,
            rows=rows,
            unit=unit,
            fixed="leave-one-out has one run only" if design.kind == "loo" else "",
        )
    elif design.groups is not None and df == design.groups - 1:
        reason = f"its degrees of freedom are those of {design.groups} groups of equal size"
    else:
        reason = f"its degrees of freedom were measured for {runs} {unit}"
    return known_error(error, df=df, level=level, rows=rows, runs=runs, unit=unit, fixed=reason)


def _rows(problem: Problem) -> int | None:
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
    others = [
        name
        for name, entry in PAIRWISE_TESTS.items()
        if entry.power in ("simulated", "disagreements")
    ]
    return DesignError(
        f"sample_size does not know the power of test {choice.name!r}; it covers t tests with a "
        f"standard error, and {joined(others)}."
    )
