"""Everything that bestofk says about a decision, as statements with a kind.

Terminal, page, JSON and notebook select statements by kind and format them. No other code takes
a sentence apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bestofk._base.registry import resolve

if TYPE_CHECKING:
    from bestofk.decide.statements.statement import Statement

_HERE = "bestofk.decide.statements"
_BUILDERS = {
    "verdict": f"{_HERE}.verdict:verdict_statements",
    "standing": f"{_HERE}.details:standing_statements",
    "ranking": f"{_HERE}.details:ranking_statements",
    "margin": f"{_HERE}.details:margin_statements",
    "posterior": f"{_HERE}.details:posterior_statements",
    "preference": f"{_HERE}.details:preference_statements",
    "evidence": f"{_HERE}.details:evidence_statements",
    "bootstrap": f"{_HERE}.details:bootstrap_statements",
    "note": f"{_HERE}.details:note_statements",
    "expectation": f"{_HERE}.forecast:expectation_statements",
    "next": f"{_HERE}.forecast:next_statements",
}
"""Kind: the function that makes the statements of that kind, in the order of explanations."""
_STOPPED_BUILDERS = {
    "verdict": f"{_HERE}.stopped:verdict_statements",
    "standing": f"{_HERE}.stopped:standing_statements",
    "ranking": f"{_HERE}.stopped:ranking_statements",
    "stop": f"{_HERE}.stopped:stop_statements",
    "preference": f"{_HERE}.stopped:preference_statements",
    "evidence": f"{_HERE}.stopped:evidence_statements",
    "note": f"{_HERE}.details:note_statements",
}
"""The same for a decision that was made before its plan was complete."""

Builder = Callable[[Any], "tuple[Statement, ...]"]


def builders_of(decision: Any) -> dict[str, Builder]:
    """Return the functions that make the statements of a decision, by kind."""
    paths = _STOPPED_BUILDERS if hasattr(decision, "race") else _BUILDERS
    return {kind: resolve(path) for kind, path in paths.items()}
