"""What would settle the pair that matters, as a sentence beneath a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk.errors import BestOfKError

if TYPE_CHECKING:
    from bestofk.ordering.preference import Name
    from bestofk.ordering.result import Order

TRIED = 2
"""So many pairs are looked at for one that could be settled."""


def advice(order: Order) -> tuple[str, ...]:
    """One sentence about the open pair that matters most; nothing where there is none to give.

    That pair is the recommended learner with the one that has the smallest mean, where these
    differ; else with those that are nearest to being shown worse.
    """
    from bestofk.planning.plan_size import plan_size

    if order.recommended is None or order.problem is None or order.choice is None:
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


def _rivals(order: Order) -> list[Name]:
    open_pairs = [one for one in order.standings if one.verdict == "no evidence"]
    open_pairs.sort(key=lambda one: (one.adjusted_pvalue, one.pvalue))
    names = [one.name for one in open_pairs if one.difference != 0]
    if order.smallest_mean in names:
        names.remove(order.smallest_mean)
        names.insert(0, order.smallest_mean)
    return names
