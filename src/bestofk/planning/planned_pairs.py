"""Which pairs are planned for, with which test, and at which level."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk.adjust import CORRECTIONS
from bestofk.checks import Floats, one_of, probability
from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.ordering.evidence.family import FAMILIES, Family
from bestofk.planning.observed import Pairs
from bestofk.planning.result import Name

if TYPE_CHECKING:
    from bestofk.ordering.evidence.choose_test import Choice
    from bestofk.ordering.evidence.evidence import Evidence
    from bestofk.ordering.evidence.problem import Problem
    from bestofk.ordering.result import Order


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
    order: Order,
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
        order.choice is not None
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
            correction=correction or ("holm" if order.choice is None else order.correction),
        )  # fmt: skip
    assert order.choice is not None
    return PlannedPairs(
        problem=order.problem,
        choice=order.choice,
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
    from bestofk.ordering.evidence.choose_test import choose_test

    name, names = one_of(family or "all", "family", FAMILIES), problem.names
    if name == "control" and control not in names:
        raise UnknownNameError("learner", control, [str(known) for known in names])
    if name != "control" and control is not None:
        raise ArgumentError("control applies to family='control'; leave it out.")
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
    return min(2.0 * level, 0.99) if family.name == "prior" else level


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
