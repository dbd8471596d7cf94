"""Designs that are planned from assumed numbers, without losses."""

from __future__ import annotations

import numpy as np

from bestofk._base.checks import one_of, positive, probability, whole
from bestofk._base.errors import ArgumentError
from bestofk.decide.choose_test import automatic_tests
from bestofk.decide.power.planned import (
    Described,
    corrected_splits,
    disagreements,
    five_halvings,
    independent_units,
    known_error,
)
from bestofk.splits.design import Design
from bestofk.splits.plans import Plan, plan as make_plan
from bestofk.stats.pairwise.entry import PowerModel
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

_OUT_OF_BAG = float(np.exp(-1.0))
"""Share of the rows that are not in a bootstrap sample."""


def assume(
    *,
    design: str | None,
    rows: int | None,
    datasets: int | None,
    instances: int | None,
    sd: float | None,
    discordance: float | None,
    error_rates: tuple[float, float] | None,
    difference: float | None,
    test: str,
    level: float,
) -> Described:
    """Return the design that the numbers describe."""
    designs = {"design": design, "datasets": datasets, "instances": instances}
    named = [name for name, value in designs.items() if value is not None]
    if len(named) != 1:
        got = " and ".join(named) if named else "none of them"
        raise ArgumentError(
            "sample_size: without losses, give one of design (such as '10x10'), datasets or "
            f"instances; got {got}."
        )
    disagreement = _discordance(discordance, error_rates)
    if design is not None:
        return _resampled(design, rows, sd, disagreement, test, level)
    if instances is not None:
        n, unit = whole(instances, "instances", at_least=2), "instances"
        text = f"one test set of {n} instances"
        name = _automatic("test-set", zero_one=sd is None) if test == "auto" else test
        test = one_of(name, "test", (*_tests("test-set", "disagreements"), *_unit_tests()))
        if PAIRWISE_TESTS[test].power == "disagreements":
            share = np.array([_checked_share(disagreement, difference)])
            return Described(planned=disagreements(share, n=n, level=level), design=text, test=test)
    else:
        n, unit = whole(datasets, "datasets", at_least=2), "data sets"
        text = f"{n} data sets"
        name = _automatic("datasets") if test == "auto" else test
        test = one_of(name, "test", _unit_tests())
    spread = np.array([_spread(sd, unit.removesuffix("s"))])
    planned = independent_units(spread, test=test, n=n, unit=unit, level=level)
    return Described(planned=planned, design=text, test=test)


def _automatic(situation: str, *, zero_one: bool = False) -> str:
    """Return the test that `compare_scores` picks."""
    return next(
        entry.name for entry in automatic_tests(situation) if zero_one or not entry.zero_one
    )


def _tests(situation: str, *models: PowerModel) -> tuple[str, ...]:
    """Return the tests of a situation with one of these power models."""
    return tuple(
        entry.name
        for entry in PAIRWISE_TESTS.values()
        if situation in entry.covers and entry.power in models
    )


def _unit_tests() -> tuple[str, ...]:
    return _tests("datasets", "t", "simulated")


def _checked_share(discordance: float | None, difference: float | None) -> float:
    if discordance is None:
        raise ArgumentError(
            "sample_size: for a test set, give discordance (the share of instances on which "
            "exactly one learner is wrong) or error_rates; got neither."
        )
    if difference is not None and difference > discordance:
        raise ArgumentError(
            f"difference must be at most the discordance, {discordance:g}; got {difference:g}."
        )
    return discordance


def _resampled(
    spec: str,
    rows: int | None,
    sd: float | None,
    discordance: float | None,
    test: str,
    level: float,
) -> Described:
    plan = make_plan(spec)
    rows = None if rows is None else whole(rows, "rows", at_least=2)
    folds = _folds(plan, spec, rows)
    design = Design(kind=plan.kind, runs=plan.runs, folds=folds)
    text = design.describe() + ("" if rows is None else f", {rows} rows")
    test_share = {"cv": 1.0 / folds, "loo": 1.0 / folds, "bootstrap": _OUT_OF_BAG}.get(
        plan.kind, plan.test_fraction
    )
    assert test_share is not None
    spread = np.array([_fold_spread(sd, discordance, rows, test_share)])
    situations = design.situations(n_datasets=1)
    if plan.nested:
        text, situations = f"{text}, nested", ("nested",)
    corrected = (
        entry.name
        for situation in situations
        for entry in automatic_tests(situation)
        if plan.nested or entry.power == "corrected t"
    )
    fitting = (*_tests(situations[0], "simulated"), next(corrected))
    test = one_of(_automatic(situations[0]) if test == "auto" else test, "test", fitting)
    repeated = plan.kind in ("cv", "loo")
    if PAIRWISE_TESTS[test].power == "simulated":
        planned = five_halvings(spread, test=test, level=level, rows=rows)
    elif plan.nested:
        # the losses of stable learners on k folds are those of their rows, so the mean of a run has
        # the variance sd^2 / k, which more runs do not change
        models = plan.runs * folds * (folds + 1) // 2
        planned = known_error(
            spread / float(np.sqrt(folds)),
            df=float(models if rows is None else min(models, rows)) - 1.0,
            level=level,
            rows=rows,
            runs=plan.runs,
            unit="runs",
            fixed="more runs of the same rows hardly change its variance",
        )
    else:
        planned = corrected_splits(
            spread,
            runs=plan.runs if repeated else folds,
            folds=folds,
            test_ratio=test_share / (1.0 - test_share),
            level=level,
            rows=rows,
            unit="runs" if repeated else "splits",
            fixed="leave-one-out has one run only" if plan.kind == "loo" else "",
        )
    return Described(planned=planned, design=text, test=test)


def _folds(plan: Plan, spec: str, rows: int | None) -> int:
    """Return the number of folds or splits; refuse plans that cannot be planned for."""
    if plan.kind == "holdout":
        raise ArgumentError(
            f"sample_size: {spec!r} is one test set; give instances instead of design."
        )
    if plan.kind == "time" or plan.column or plan.grouped:
        raise ArgumentError(
            f"sample_size: {spec!r} depends on rows that are not known yet; use '10x10' instead, "
            "and count groups as rows if rows come in groups."
        )
    folds = rows if plan.folds is None else plan.folds
    if folds is None:
        raise ArgumentError("sample_size: leave-one-out needs rows; got none.")
    if plan.runs * folds < 2:
        raise ArgumentError(f"sample_size: {spec!r} gives one difference; use a plan with two.")
    return folds


def _fold_spread(
    sd: float | None, discordance: float | None, rows: int | None, test_share: float
) -> float:
    """Return `sd`, or the spread of a fold whose instances are right or wrong."""
    if sd is not None or discordance is None or rows is None:
        return _spread(sd, "fold or split", " (or discordance and rows)")
    return float(np.sqrt(discordance / (test_share * rows)))


def _spread(sd: float | None, unit: str, instead: str = "") -> float:
    if sd is None:
        raise ArgumentError(
            "sample_size: without losses, give sd, the standard deviation of the difference of two "
            f"learners from one {unit} to the next{instead}."
        )
    return positive(sd, "sd")


def _discordance(
    discordance: float | None, error_rates: tuple[float, float] | None
) -> float | None:
    """Return `discordance`, or that of independent learners with these error rates."""
    if discordance is not None:
        return probability(discordance, "discordance")
    if error_rates is None:
        return None
    rates = [probability(rate, "error_rates") for rate in error_rates]
    if len(rates) != 2:
        raise ArgumentError(f"error_rates must be two numbers; got {len(rates)}.")
    p, q = rates
    return p * (1.0 - q) + q * (1.0 - p)
