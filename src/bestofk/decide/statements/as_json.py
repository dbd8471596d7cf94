"""A decision as strict JSON, in the user's metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import one_of

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision

MAX_LISTED_PAIRS = 500
"""If there are more pairs, only those of the recommended learner are listed."""
LISTED = ("recommended", "all")


def decision_to_dict(decision: Decision, pairs: str | None = None) -> dict[str, Any]:
    """Return a decision for strict JSON: no NaN, no infinity.

    `pairs` says which pairs `evidence`, `claims` and `edges` list: "all", or those of the
    "recommended" learner. `beats` always has all claims.
    """
    from bestofk.version import __version__

    metric, evidence = decision.metric, decision.evidence
    if pairs is None:
        pairs = "all" if len(evidence) <= MAX_LISTED_PAIRS else "recommended"
    beats = [np.flatnonzero(row).tolist() for row in evidence.shown()]
    if one_of(pairs, "pairs", LISTED) == "recommended" and len(evidence):
        best = decision.smallest_mean if decision.recommended is None else decision.recommended
        evidence = evidence.only(evidence.rows_of(best))
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
        "pairs": pairs,
        "claims": [list(claim) for claim in evidence.claims()],
        "edges": [list(edge) for edge in evidence.edges()],
        "evidence": [pair.to_dict() for pair in evidence],
        "beats": beats,
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
