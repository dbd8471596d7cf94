"""What to expect of a learner that was chosen by its mean, as a sentence beneath a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestofk.errors import BestOfKError
from bestofk.ordering.registry import decides_by
from bestofk.wording import number

if TYPE_CHECKING:
    from bestofk.corrected_minimum import CorrectedMinimum
    from bestofk.ordering.result import Order

MOST_NUMBERS = 200_000
"""Losses up to which the bootstrap is quick; of more, the choice hardly flatters a mean."""


def expected(order: Order) -> CorrectedMinimum | None:
    """The loss to expect of the recommended learner, where it was chosen by its mean."""
    from bestofk.corrected_minimum import corrected_minimum

    problem = order.problem
    by_mean = not order.preference.stated or decides_by(order.procedure) == "wins"
    if problem is None or not by_mean or order.recommended != order.smallest_mean:
        return None
    if problem.values.size > MOST_NUMBERS:
        return None
    try:
        return corrected_minimum(problem)
    except BestOfKError:
        # a design without units to draw has no such estimate
        return None


def expectation(order: Order) -> tuple[str, ...]:
    """That in a sentence, in the user's metric; nothing where there is nothing to correct."""
    found = expected(order)
    if found is None:
        return ()
    metric = order.metric
    ends = sorted((metric.shown(found.low), metric.shown(found.high)))
    if ends[0] == ends[1]:
        # too few numbers that differ: the bootstrap knows nothing
        return ()
    # the luck of the draw may put it below the mean itself, which is never too bad
    loss = max(found.naive, found.corrected)
    return (
        f"Expect a {metric.mean} of about {number(metric.shown(loss))} from "
        f"{order.recommended} ({100 * found.level:g} % interval {number(ends[0])} to "
        f"{number(ends[1])}), corrected for having chosen it by its mean.",
    )


def expectation_to_dict(order: Order) -> dict[str, Any] | None:
    """The same for strict JSON."""
    found = expected(order)
    if found is None:
        return None
    metric = order.metric
    low, high = sorted((metric.shown(found.low), metric.shown(found.high)))
    return {
        "mean": metric.shown(found.naive),
        "corrected": metric.shown(max(found.naive, found.corrected)),
        "low": low,
        "high": high,
    }
