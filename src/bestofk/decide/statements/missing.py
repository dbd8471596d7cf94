"""Statements about losses that some learners lack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk._base.formatting import joined
from bestofk.decide.statements.wording import MAX_NAMED, called

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision


def missing_sentences(decision: Decision) -> list[str]:
    """Say which learners lack losses, and that the statement holds whatever these are."""
    problem = decision.problem
    missing = None if problem is None else problem.missing
    if missing is None or not missing.counts or missing.as_worst is None:
        return []
    worst = "wrong" if decision.on_items else "the worst there"
    lack = [
        f"{called(name)} has no score on {count} of {missing.units} {missing.unit}s"
        for name, count in list(missing.counts.items())[:MAX_NAMED]
    ]
    right = " or as right" if missing.as_best is not None else ""
    return [f"{joined(lack)}; all of this also holds if these count as {worst}{right}."]
