"""Which pairs are planned for, with which test, and at which level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Floats, one_of, positive, probability, whole
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk.decide.choose_test import automatic_tests
from bestofk.decide.evidence import FAMILIES, Family
from bestofk.decide.power.designs import Disagreements, Halvings, Planned, PlannedSplits, Units
from bestofk.decide.power.functions import (
    EFFICIENCY,
    five_by_two_f_power,
    five_by_two_t_power,
    permutation_power,
    signed_rank_power,
)
from bestofk.decide.power.observed import Pairs, units_t_power
from bestofk.decide.power.result import Name
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.pairwise.entry import PowerModel
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

if TYPE_CHECKING:
    from bestofk.decide.choose_test import Choice
    from bestofk.decide.decision import Decision
    from bestofk.decide.evidence import Evidence
    from bestofk.decide.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPairs:
    """Losses, a test, and a family of pairs with what is known of their p-values."""

    problem: Problem
    choice: Choice
    first: Pairs
    second: Pairs
    adjusted: Floats | None
    """Adjusted p-values, where an order has them already."""
    family: Family
    evidence: Evidence | None = None
    """What an order found of these pairs."""


def pairs_of_order(
    order: Decision,
    test: Any,
    given: dict[str, Any],
    *,
    alpha: float | None,
    family: str | None,
    control: Name | None,
    correction: str | None,
) -> PlannedPairs:
    """What an order was decided from; its p-values are taken where nothing else is asked for."""
    if order.problem is None:
        raise ArgumentError("plan_size: the order does not say what it was decided from.")
    alpha = order.alpha if alpha is None else alpha
    decided = order.evidence.family.name
    as_decided = (
        order.test_choice is not None
        and len(order.evidence) > 0
        and test == "auto"
        and not any(value is not None for value in given.values())
        and family in (None, decided)
        and correction in (None, order.correction)
        and control is None
    )
    if not as_decided:
        return pairs_of_problem(
            order.problem, test, given, alpha=alpha, family=family or decided, control=control,
            correction=correction or ("holm" if order.test_choice is None else order.correction),
        )  # fmt: skip
    assert order.test_choice is not None
    return PlannedPairs(
        problem=order.problem,
        choice=order.test_choice,
        first=np.asarray(order.evidence.first, dtype=np.intp),
        second=np.asarray(order.evidence.second, dtype=np.intp),
        adjusted=order.evidence.adjusted_pvalue,
        family=replace(order.evidence.family, alpha=checked_alpha(alpha)),
        evidence=order.evidence,
    )


def pairs_of_problem(
    problem: Problem,
    test: Any,
    given: dict[str, Any],
    *,
    alpha: float | None,
    family: str | None,
    control: Name | None,
    correction: str | None,
) -> PlannedPairs:
    """All pairs of a problem, or those with the control, under the test that covers them."""
    from bestofk.decide.choose_test import choose_test

    name, names = one_of(family or "all", "family", FAMILIES), problem.names
    if name == "control" and control not in names:
        raise UnknownNameError("learner", control, [str(known) for known in names])
    if name != "control" and control is not None:
        raise ArgumentError("control applies to ", use(family="control"), "; leave it out.")
    pairs = Family(
        name=name,
        learners=len(names),
        alpha=checked_alpha(alpha),
        correction=correction or "holm",
        control=None if control is None else names.index(control),
    )
    first, second = pairs.pairs()
    return PlannedPairs(
        problem=problem,
        choice=choose_test(problem, test, family=pairs, random_state=0, **given),
        first=first.astype(np.intp),
        second=second.astype(np.intp),
        adjusted=None,
        family=pairs,
    )


def adjusted_level(family: Family) -> float:
    """The level of one pair at the first step of the correction, both sides together."""
    level = family.alpha / (family.size if CORRECTIONS[family.correction].adjusts else 1)
    # a one-sided test at level a shows what a two-sided one at level 2 a shows
    return min(2.0 * level, 0.99) if family.name == "preference" else level


def wanted_rows(only: tuple[Name, Name] | None, study: PlannedPairs) -> Pairs:
    """The places in the family of the pairs that are asked for."""
    if only is None:
        return np.arange(len(study.first))
    names = study.problem.names
    for name in only:
        if name not in names:
            raise UnknownNameError("learner", name, [str(known) for known in names])
    wanted = {names.index(name) for name in only}
    for row, pair in enumerate(zip(study.first.tolist(), study.second.tolist(), strict=True)):
        if set(pair) == wanted:
            return np.array([row])
    raise ArgumentError(f"only: {only[0]} against {only[1]} is no pair of this family.")


def checked_alpha(alpha: float | None) -> float:
    """The level of the family, 0.05 by default."""
    return probability(0.05 if alpha is None else alpha, "alpha")


# A design without losses: planned from assumed numbers.


_HALVES: tuple[PowerModel, ...] = ("five by two F", "five by two t")
_LEFT_OUT = float(np.exp(-1.0))
"""Share of the rows that a bootstrap sample leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """A design and a test, from assumed numbers; one pair stands for all."""

    planned: Planned
    design: str
    test: str


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
) -> Assumed:
    """The design that the numbers describe."""
    given = {"design": design, "datasets": datasets, "instances": instances}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        came = " and ".join(named) if named else "none of them"
        raise ArgumentError(
            "plan_size: without losses, one of design (such as '10x10'), datasets or instances "
            f"must be given; got {came}."
        )
    disagree = _discordance(discordance, error_rates)
    if instances is not None:
        return _test_set(instances, sd, disagree, difference, test, level)
    if datasets is not None:
        n = whole(datasets, "datasets", at_least=2)
        test = one_of(_automatic("datasets") if test == "auto" else test, "test", _unit_tests())
        spread = np.array([_spread(sd, "data set")])
        return Assumed(
            planned=_units(spread, n, "data sets", test, level),
            design=f"{n} data sets",
            test=test,
        )
    assert design is not None
    return _resampled(design, rows, sd, disagree, test, level)


_UNITS: dict[PowerModel, tuple[Callable[[Any, int, float], Floats], float]] = {
    "signed rank": (signed_rank_power, EFFICIENCY),
    "sign flips": (permutation_power, 1.0),
    "t": (units_t_power, 1.0),
}
"""Power and efficiency on independent units."""


def _model(test: str) -> PowerModel:
    return PAIRWISE_TESTS[test].power


def _automatic(situation: str, *, zero_one: bool = False) -> str:
    """The test that `order` would take."""
    return next(
        entry.name for entry, _ in automatic_tests(situation) if zero_one or not entry.zero_one
    )


def _unit_tests() -> tuple[str, ...]:
    """The tests on independent units of which the power is known."""
    return tuple(
        entry.name
        for entry in PAIRWISE_TESTS.values()
        if "datasets" in entry.covers and entry.power in _UNITS
    )


def _units(sd: Floats, n: int, unit: str, test: str, level: float) -> Units:
    power, efficiency = _UNITS[_model(test)]
    return Units(sd=sd, n=n, unit=unit, effect_power=power, efficiency=efficiency, level=level)


def _test_set(
    instances: int,
    sd: float | None,
    discordance: float | None,
    difference: float | None,
    test: str,
    level: float,
) -> Assumed:
    n = whole(instances, "instances", at_least=2)
    words = f"one test set of {n} instances"
    if test == "auto":
        test = _automatic("test-set", zero_one=sd is None)
    by_disagreement = [
        name for name, entry in PAIRWISE_TESTS.items() if entry.power == "disagreements"
    ]
    one_of(test, "test", (*by_disagreement, *_unit_tests()))
    if test not in by_disagreement:
        spread = np.array([_spread(sd, "instance")])
        return Assumed(planned=_units(spread, n, "instances", test, level), design=words, test=test)
    if discordance is None:
        raise ArgumentError(
            "plan_size: for a test set discordance (how often just one of two learners is wrong) "
            "or error_rates must be given; got neither."
        )
    if difference is not None and difference > discordance:
        raise ArgumentError(
            f"difference must be at most the discordance, {discordance:g}; got {difference:g}."
        )
    planned = Disagreements(discordance=np.array([discordance]), n=n, level=level)
    return Assumed(planned=planned, design=words, test=test)


def _resampled(
    spec: str,
    rows: int | None,
    sd: float | None,
    discordance: float | None,
    test: str,
    level: float,
) -> Assumed:
    from bestofk.splits.design import Design
    from bestofk.splits.plans import specify

    wanted = specify(spec, {})
    rows = None if rows is None else whole(rows, "rows", at_least=2)
    if wanted.kind == "holdout":
        raise ArgumentError(
            f"plan_size: {spec!r} is one test set; give the number of its instances instead."
        )
    if wanted.kind == "time" or wanted.column or wanted.grouped:
        raise ArgumentError(
            f"plan_size: {spec!r} hangs on rows that are not known yet; plan with '10x10' instead, "
            "and count groups as rows where rows come in groups."
        )
    folds = wanted.folds
    if folds is None:
        if rows is None:
            raise ArgumentError("plan_size: leave-one-out needs rows; got none.")
        folds = rows
    if wanted.runs * folds < 2:
        raise ArgumentError(f"plan_size: {spec!r} gives one difference; at least 2 are needed.")
    design = Design(kind=wanted.kind, runs=wanted.runs, folds=folds)
    words = design.describe() + ("" if rows is None else f", {rows} rows")
    tested = {"cv": 1.0 / folds, "loo": 1.0 / folds, "bootstrap": _LEFT_OUT}.get(
        wanted.kind, wanted.test_fraction
    )
    assert tested is not None
    spread = np.array([_fold_spread(sd, discordance, rows, tested)])
    situation = design.situations(n_datasets=1)[0]
    by_halves = [name for name, entry in PAIRWISE_TESTS.items() if entry.power in _HALVES]
    if situation == "5x2" and test in ("auto", *by_halves):
        test = _automatic(situation) if test == "auto" else test
        return Assumed(planned=_halvings(spread, test, rows, level), design=words, test=test)
    repeated = wanted.kind in ("cv", "loo")
    fitting = next(
        entry.name
        for name in design.situations(n_datasets=1)
        for entry, _ in automatic_tests(name)
        if entry.power == "corrected t"
    )
    one_of(fitting if test == "auto" else test, "test", (fitting,))
    planned = PlannedSplits(
        sd=spread,
        runs=wanted.runs if repeated else folds,
        folds=folds,
        test_ratio=tested / (1.0 - tested),
        rows=rows,
        level=level,
        unit="runs" if repeated else "splits",
        fixed="leave-one-out has one run only" if wanted.kind == "loo" else "",
    )
    return Assumed(planned=planned, design=words, test=fitting)


def _halvings(sd: Floats, test: str, rows: int | None, level: float) -> Halvings:
    return Halvings(
        sd=sd,
        effect_power=partial(five_by_two_f_power, correlation=0.5)
        if _model(test) == "five by two F"
        else five_by_two_t_power,
        mean_variance=0.5,
        rows=rows,
        level=level,
    )


def _fold_spread(
    sd: float | None, discordance: float | None, rows: int | None, tested: float
) -> float:
    """The spread that was given, or that of a fold whose instances are right or wrong."""
    if sd is not None or discordance is None or rows is None:
        return _spread(sd, "fold or split", " (or discordance and rows)")
    return float(np.sqrt(discordance / (tested * rows)))


def _spread(sd: float | None, what: str, instead: str = "") -> float:
    if sd is None:
        raise ArgumentError(
            f"plan_size: without losses, sd, the standard deviation of the difference of two "
            f"learners from one {what} to the next, must be given{instead}; got none."
        )
    return positive(sd, "sd")


def _discordance(
    discordance: float | None, error_rates: tuple[float, float] | None
) -> float | None:
    """The given one, or that of learners with these error rates that err independently."""
    if discordance is not None:
        return probability(discordance, "discordance")
    if error_rates is None:
        return None
    rates = [probability(rate, "error_rates") for rate in error_rates]
    if len(rates) != 2:
        raise ArgumentError(f"error_rates must be two numbers; got {len(rates)}.")
    p, q = rates
    return p * (1.0 - q) + q * (1.0 - p)
