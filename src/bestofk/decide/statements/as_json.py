"""A decision as strict JSON, in the user's metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision


def decision_to_dict(decision: Decision, *, pairs: bool = False) -> dict[str, Any]:
    """Return a decision for strict JSON: no NaN, no infinity; `pairs` adds every pair."""
    from bestofk.version import __version__

    metric, second_view = decision.metric, decision.pair_evidence
    return {
        "recommended": decision.recommended,
        "candidates": list(decision.candidates),
        "ranking": list(decision.ranking),
        "headline": decision.headline(),
        "table": [standing.to_dict() for standing in decision.standings],
        "pairs": [pair.to_dict() for pair in second_view] if pairs else None,
        "ranks": decision.ranks.to_dict() if pairs and decision.ranks is not None else None,
        "notes": [one.text for one in decision.select("note")],
        "cautions": [one.text for one in decision.select("caution")],
        "metric": {"name": metric.name, "higher_is_better": metric.higher_is_better},
        "procedure": decision.procedure,
        "test": decision.test,
        "test_reason": decision.test_reason,
        "design": decision.design,
        "decidable": decision.decidable,
        "alpha": decision.alpha,
        "family": second_view.family.name,
        "correction": decision.correction,
        "margin": decision.margin,
        "rope": decision.evidence.rope,
        "preference": str(decision.preference),
        "by_preference": list(decision.by_preference),
        "edges": [list(edge) for edge in decision.edges],
        "counts": None
        if decision.counts is None
        else {str(name): count for name, count in decision.counts.items()},
        "explanation": decision.explain(),
        "statements": [one.to_dict() for one in decision.statements],
        "version": __version__,
    }
