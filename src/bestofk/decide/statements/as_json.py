"""An order as strict JSON, in the user's metric: the numbers are those of the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision


def order_to_dict(order: Decision) -> dict[str, Any]:
    """What a strict JSON writer takes: no NaN, no infinity."""
    from bestofk.version import __version__

    metric = order.metric
    return {
        "recommended": order.recommended,
        "best": order.recommended,
        "smallest_mean": order.smallest_mean,
        "adequate": list(order.adequate),
        "decidable": order.decidable,
        "ranking": list(order.ranking),
        "by_preference": list(order.by_preference),
        "preference": str(order.preference),
        "procedure": order.procedure,
        "test": order.test,
        "test_reason": order.test_reason,
        "family": order.evidence.family.name,
        "comparisons": len(order.evidence),
        "alpha": order.alpha,
        "correction": order.correction,
        "guard": order.guard,
        "caution": order.caution or None,
        "margin": order.margin,
        "rope": order.evidence.rope,
        "design": order.design,
        "metric": {"name": metric.name, "higher_is_better": metric.higher_is_better},
        "claims": [list(claim) for claim in order.claims],
        "edges": [list(edge) for edge in order.edges],
        "evidence": [pair.to_dict() for pair in order.evidence],
        "means": {str(name): metric.shown(mean) for name, mean in order.means.items()},
        "standings": [standing.to_dict() for standing in order.standings],
        "counts": None
        if order.counts is None
        else {str(name): count for name, count in order.counts.items()},
        "failures": [],
        "notes": list(order.notes),
        "headline": order.headline(),
        "explanation": order.explain(),
        "version": __version__,
    }
