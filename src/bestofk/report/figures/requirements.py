"""What a value must have so that a figure can draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestofk.decide.registry import decides_by
from bestofk.report.figures.comparisons import losses_of

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision


def stopped(order: Decision) -> bool:
    """A race that was stopped claims what is settled, and no figure may show more."""
    return order.runs_of(order.by_preference[0]) is not None


def stated(order: Decision) -> bool:
    """A preference was stated."""
    return order.preference.stated


def stated_whole(order: Decision) -> bool:
    """A preference was stated, and all runs are done."""
    return stated(order) and not stopped(order)


def steps(order: Decision) -> bool:
    """The decision has steps."""
    return bool(order.steps)


def multitest(order: Decision) -> bool:
    """The order is that of MultiTest, with a preference, from all runs."""
    return decides_by(order.procedure) == "steps" and stated_whole(order)


def standings(order: Decision) -> bool:
    """Learners were compared with the recommended one."""
    return bool(order.standings) and not stopped(order)


def all_pairs(order: Decision) -> bool:
    """Every pair was compared."""
    K = len(order.by_preference)
    return len(order.evidence) == K * (K - 1) // 2 and not stopped(order)


def both_ways(order: Decision) -> bool:
    """Every pair was tested both ways."""
    return all_pairs(order) and order.evidence.alternative == "two-sided" and not stopped(order)


def several_sets(value: Any) -> bool:
    """There are several data sets."""
    losses = losses_of(value)
    return losses is not None and len(losses.datasets) > 1


def costed(value: Any) -> bool:
    """The costs of two learners or more are known."""
    from bestofk.report.figures.kinds.cost_frontier import known_cost, known_study_cost

    known = known_study_cost if hasattr(value, "losses") else known_cost
    return known(value) is not None


def with_rope(order: Decision) -> bool:
    """A Bayesian test was made, for a rope."""
    return order.evidence.bayesian is not None and not stopped(order)


def differences(value: Any) -> bool:
    """The Bayesian test gives the distribution of a difference, not only probabilities."""
    if hasattr(value, "standard_error"):
        return value.standard_error is not None
    decision = getattr(value, "decision", value)
    bayesian = getattr(getattr(decision, "evidence", None), "bayesian", None)
    return bayesian is not None and bool(bayesian.entry.interval)


def beside(order: Decision) -> bool:
    """Bootstrap-B was run, too."""
    return order.bootstrap is not None
