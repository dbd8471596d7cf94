"""A decision as strict JSON, in the user's metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision


def decision_to_dict(decision: Decision) -> dict[str, Any]:
    """Return a decision for strict JSON: no NaN, no infinity."""
    from bestofk.version import __version__

    metric = decision.metric
    return {
        "recommended": decision.recommended,
        "best": decision.recommended,
        "smallest_mean": decision.smallest_mean,
        "adequate": list(decision.adequate),
        "decidable": decision.decidable,
        "ranking": list(decision.ranking),
        "ranks": None if decision.ranks is None else decision.ranks.to_dict(),
        "by_preference": list(decision.by_preference),
        "preference": str(decision.preference),
        "procedure": decision.procedure,
        "test": decision.test,
        "test_reason": decision.test_reason,
        "family": decision.evidence.family.name,
        "comparisons": len(decision.evidence),
        "alpha": decision.alpha,
        "correction": decision.correction,
        "guard": decision.guard,
        "caution": decision.caution or None,
        "margin": decision.margin,
        "rope": decision.evidence.rope,
        "design": decision.design,
        "metric": {"name": metric.name, "higher_is_better": metric.higher_is_better},
        "claims": [list(claim) for claim in decision.claims],
        "edges": [list(edge) for edge in decision.edges],
        "evidence": [pair.to_dict() for pair in decision.evidence],
        "means": {str(name): mean for name, mean in decision.means.items()},
        "standings": [standing.to_dict() for standing in decision.standings],
        "counts": None
        if decision.counts is None
        else {str(name): count for name, count in decision.counts.items()},
        "notes": list(decision.notes),
        "headline": decision.headline(),
        "explanation": decision.explain(),
        "statements": [one.to_dict() for one in decision.statements],
        "expected": next((one.numbers for one in decision.select("expectation")), None),
        "version": __version__,
    }
