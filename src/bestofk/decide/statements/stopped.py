"""Statements of a decision that was made before its plan was complete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestofk._base.formatting import counted
from bestofk.decide.statements import Statement, statements
from bestofk.decide.statements.details import cautions_and_notes, evidence_statement, promise
from bestofk.decide.statements.wording import (
    called,
    chain,
    shown_means,
)

if TYPE_CHECKING:
    from bestofk.decide.preference import Name
    from bestofk.decide.stopping.result import StoppedDecision

NOT_SETTLED = "not settled"
"""The verdict on a pair about which a claim is still possible."""


def verdict_statements(decision: StoppedDecision) -> tuple[Statement, ...]:
    """Return the first paragraph: what to do, and what was saved."""
    race, best = decision.race, decision.recommended
    assert best is not None
    if not race.settled:
        use = f"If you must choose now, use {called(best)}, which leads so far."
        return statements("verdict", [race.state(), use])
    lead = f"Use {called(best)}"
    rest = f": the whole plan would give it the {decision.metric.smallest} {decision.metric.mean}."
    if decision.preference.stated:
        rest = f", {decision.preference.first(best)} that may be the best."
    first = Statement(kind="verdict", lead=lead, text=f"{lead}{rest}")
    return (first, Statement(kind="verdict", text=race.state()))


def mean_and_runs(decision: StoppedDecision, name: Name) -> str:
    """Return ``0.12 over 2 runs``."""
    runs = counted(decision.race.runs[str(name)], decision.race.unit)
    return f"{shown_means(decision)[name]} over {runs}"


def stopped_statements(decision: StoppedDecision) -> tuple[Statement, ...]:
    """Return all statements of a decision that was made before its plan was complete."""
    race = decision.race
    reasons = [_means(decision), _order(decision), *race.reasons(), _preference(decision)]
    return (
        *verdict_statements(decision),
        *statements("reason", reasons),
        evidence_statement(
            decision,
            f"Planned on {decision.design}; each pair is compared on the {race.unit}s that both "
            "learners completed.",
            promise(decision),
            _risk(decision),
        ),
        *cautions_and_notes(decision),
    )


def _means(decision: StoppedDecision) -> str:
    """State the mean of the recommended learner, and whether it compares with the others."""
    best, race = decision.recommended, decision.race
    if best is None:
        return ""
    text = f"The {decision.metric.mean} of {called(best)} is {mean_and_runs(decision, best)}"
    if len(set(race.runs.values())) == 1:
        return f"{text}."
    return f"{text}; do not compare means over different numbers of {race.unit}s."


def _order(decision: StoppedDecision) -> str:
    """Say whether the whole order is settled."""
    race = decision.race
    if not race.settled:
        return ""
    if len(decision.ranking) == len(decision.by_preference):
        return f"The whole order is settled: {chain(decision.ranking)}."
    if len(decision.by_preference) == 2 or race.target == "order":
        return ""
    return (
        "The order below the recommended learner is not settled: the stop target 'order' settles "
        "it too."
    )


def _preference(decision: StoppedDecision) -> str:
    """State the preference."""
    preference, race = decision.preference, decision.race
    if not preference.stated:
        return ""
    by_preference = chain(decision.by_preference)
    if preference.kind != "measured":
        return f"Your preference was {by_preference}."
    cost = preference.words.replace("_", " ")
    when = "in the first run" if race.unit == "run" else f"on the first {race.unit}"
    return f"The preference, by {cost} as measured {when}: {by_preference}."


def _risk(decision: StoppedDecision) -> str:
    """State the risk of having stopped the plan."""
    race = decision.race
    if race.exact:
        return "The full plan makes the same claims, whatever its remaining results."
    return (
        f"With a probability of at least {race.confidence()} given the data, the full plan would "
        "make the same claims; this risk adds to the error rate."
    )


def progress_line(left: int, out: Sequence[str], pairs: list[tuple[str, str]]) -> str:
    """Return ``2 out (max, nmc), 3 left; open: nn against c4.5``, for the progress bar."""
    if not pairs:
        return "settled"
    who = f" ({_first(out)})" if out else ""
    still = _first([f"{a} against {b}" for a, b in pairs])
    return f"{len(out)} out{who}, {left} left; open: {still}"


def _first(words: Sequence[str], most: int = 3) -> str:
    """Return the words that fit in a line, and how many more there are."""
    more = [f"{len(words) - most} more"] if len(words) > most else []
    return ", ".join([*words[:most], *more])
