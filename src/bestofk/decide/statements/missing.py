"""Statements about losses that some learners lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import joined
from bestofk.decide.registry import decides_by
from bestofk.decide.statements.wording import MAX_NAMED, called, is_are, mean_words, named

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision

DEPENDS = "depends on the missing scores"
"""The verdict if missing scores could change it."""


def missing_sentences(decision: Decision) -> tuple[list[str], bool]:
    """Return the first sentences about missing losses, and whether the verdict depends on them."""
    problem = decision.problem
    missing = None if problem is None else problem.missing
    if missing is None or not missing.counts or missing.as_worst is None:
        return [], False
    noun = decision.noun
    worst = "wrong" if decision.on_items else "the worst there"
    lack = [
        f"{called(name)} has no score on {count} of {missing.units} {missing.unit}s"
        for name, count in list(missing.counts.items())[:MAX_NAMED]
    ]
    best = decision.recommended
    if decides_by(decision.procedure) == "adequacy":
        return _adequate_sentences(decision, joined(lack), worst)
    before = decision.evidence.cache.get("before missing")
    if best is None or before is None:
        return [f"{joined(lack)}."], False
    kept, shown, as_worst = (
        {claim for claim in evidence.claims() if best in claim}
        for evidence in (decision.evidence, before, missing.as_worst)
    )
    if kept == shown and not any(loser == best for _, loser in as_worst):
        same = "the verdict is the same"
        if as_worst != shown:
            same = _worse_than(missing.as_worst, best)
        return [f"{joined(lack)}; if these scores count as {worst}, {same}."], False
    sentences = [f"Which {noun} is better {DEPENDS}: {joined(lack)}."]
    common = f"on the {missing.unit}s that all {noun}s have"
    has = mean_words(best, decision.mean_losses, decision.metric)
    sentences.append(f"{called(best)} {has} {common}; {_worse_than(before, best)} there.")
    if_worst = _worse_than(missing.as_worst, best)
    sentence = f"If missing scores count as {worst}, {if_worst}"
    if missing.as_best is not None and (if_best := _worse_than(missing.as_best, best)) != if_worst:
        sentence += f"; if they count as right, {if_best}"
    return [*sentences, f"{sentence}."], True


def _adequate_sentences(decision: Decision, lack: str, worst: str) -> tuple[list[str], bool]:
    """Say whether the missing losses could change which learner is good enough."""
    missing = None if decision.problem is None else decision.problem.missing
    assert missing is not None
    noun, best = decision.noun, decision.recommended
    before: Any = decision.evidence.cache.get("adequate before missing", best)
    if before == best:
        return [f"{lack}; if these scores count as {worst}, the recommendation is the same."], False
    also = f"if missing scores may be {worst}{' or right' if missing.as_best is not None else ''}"
    then = f"{'none' if best is None else called(best)} is shown to be so {also}"
    return [
        f"Which {noun} is good enough {DEPENDS}: {lack}.",
        f"On the {missing.unit}s that all {noun}s have, {called(before)} is shown to be so; "
        f"{then}.",
    ], True


def verdict_depends(decision: Decision) -> bool:
    """Return whether missing losses could change the verdict on the recommended learner."""
    return missing_sentences(decision)[1]


def _worse_than(evidence: Any, best: Any) -> str:
    """Say which learners are shown to be worse or better than `best`."""
    claims = set(evidence.claims())
    worse = [loser for winner, loser in sorted(claims, key=str) if winner == best]
    better = [winner for winner, loser in sorted(claims, key=str) if loser == best]
    parts = []
    if worse:
        parts.append(f"{named(worse)} {is_are(worse)} shown to be worse")
    if better:
        parts.append(f"{named(better)} {is_are(better)} shown to be better")
    return " and ".join(parts) if parts else "no difference from it is shown"
