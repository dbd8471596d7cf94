"""What to expect of a learner that was chosen by its mean, as a sentence beneath a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestofk._base.errors import BestOfKError
from bestofk._base.formatting import number
from bestofk.decide.registry import decides_by

if TYPE_CHECKING:
    from bestofk.decide.corrected_minimum import CorrectedMinimum
    from bestofk.decide.decision import Decision
    from bestofk.decide.preference import Name

MOST_NUMBERS = 200_000
"""Losses up to which the bootstrap is quick; of more, the choice hardly flatters a mean."""


def expected(order: Decision) -> CorrectedMinimum | None:
    """The loss to expect of the recommended learner, where it was chosen by its mean."""
    from bestofk.decide.corrected_minimum import corrected_minimum

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


def expectation(order: Decision) -> tuple[str, ...]:
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


def expectation_to_dict(order: Decision) -> dict[str, Any] | None:
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


# What would settle the pair that matters, as a sentence beneath a decision.


TRIED = 2
"""So many pairs are looked at for one that could be settled."""


def advice(order: Decision) -> tuple[str, ...]:
    """One sentence about the open pair that matters most; nothing where there is none to give.

    That pair is the recommended learner with the one that has the smallest mean, where these
    differ; else with those that are nearest to being shown worse.
    """
    from bestofk.decide.power.sizes import plan_size

    if order.recommended is None or order.problem is None or order.test_choice is None:
        return ()
    if not order.decidable:
        # the headline says how many are needed
        return ()
    for rival in _rivals(order)[:TRIED]:
        try:
            sentence = plan_size(order, only=(order.recommended, rival)).pair(
                order.recommended, rival
            )
        except BestOfKError:
            # a design for which nothing can be planned is no reason to have no verdict
            return ()
        if sentence and order.problem.design.groups is not None:
            sentence = sentence.replace(" instances ", " groups ")
            if " rows " in sentence:
                sentence += " Rows of new groups count, not more rows of the same ones."
        if sentence:
            return (sentence,)
    return ()


def _rivals(order: Decision) -> list[Name]:
    open_pairs = [one for one in order.standings if one.verdict == "no evidence"]
    open_pairs.sort(key=lambda one: (one.adjusted_pvalue, one.pvalue))
    names = [one.name for one in open_pairs if one.difference != 0]
    if order.smallest_mean in names:
        names.remove(order.smallest_mean)
        names.insert(0, order.smallest_mean)
    return names
