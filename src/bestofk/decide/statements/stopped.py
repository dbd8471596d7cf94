"""Statements of a decision that was made before its plan was complete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestofk._base.formatting import counted
from bestofk.decide.decision import MAY_BE_BEST, NOT_SHOWN, RULED_OUT
from bestofk.decide.statements import Statement, statements
from bestofk.decide.statements.details import evidence_in_short, promise
from bestofk.decide.statements.wording import (
    called,
    chain,
    correction_words,
    family_words,
    listing,
    shown_means,
)

if TYPE_CHECKING:
    from bestofk.decide.preference import Name
    from bestofk.decide.stopping.stopped_decision import StoppedDecision

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
    first = Statement(kind="verdict", lead=lead, text=f"{lead}{rest}", learners=(best,))
    return (first, Statement(kind="verdict", text=race.state()))


def mean_and_runs(decision: StoppedDecision, name: Name) -> str:
    """Return ``0.12 over 2 runs``."""
    runs = counted(decision.race.runs[str(name)], decision.race.unit)
    return f"{shown_means(decision)[name]} over {runs}"


def standing_statements(decision: StoppedDecision) -> tuple[Statement, ...]:
    """Group the other learners by what is settled between them and the recommended one."""
    best, race = decision.recommended, decision.race
    assert best is not None
    words = {
        RULED_OUT: "Ruled out",
        MAY_BE_BEST: "May be the best, also after the full plan",
        NOT_SETTLED: "Not settled",
        "better": f"Significantly better than {called(best)}",
        "worse": f"Significantly worse than {called(best)}",
        NOT_SHOWN: f"Not shown to differ from {called(best)}, also after the full plan",
        "not tested": f"Not tested against {called(best)}",
    }
    groups: dict[str, list[Name]] = {}
    for one in decision.standings:
        groups.setdefault(one.verdict, []).append(one.name)
    grouped = [
        Statement(
            kind="standing",
            text=f"{start}: {_with_means(decision, names)}.",
            learners=tuple(names),
        )
        for verdict, start in words.items()
        if (names := groups.get(verdict))
    ]
    if len(set(race.runs.values())) > 1:
        text = (
            f"{called(best)} has a mean of {mean_and_runs(decision, best)}; do not compare means "
            f"over different numbers of {race.unit}s."
        )
        grouped.append(Statement(kind="standing", text=text, learners=(best,)))
    return tuple(grouped)


def _with_means(decision: StoppedDecision, names: Sequence[Name]) -> str:
    return listing(f"{called(name)} ({mean_and_runs(decision, name)})" for name in names)


def ranking_statements(decision: StoppedDecision) -> tuple[Statement, ...]:
    """State whether the whole ranking is settled."""
    race = decision.race
    if not race.settled:
        return ()
    if len(decision.ranking) == len(decision.by_preference):
        text = f"The whole order is settled: {chain(decision.ranking)}."
        return (Statement(kind="ranking", text=text, learners=decision.ranking),)
    if len(decision.by_preference) == 2 or race.target == "order":
        return ()
    text = (
        "The order below the recommended learner is not settled: the stop target 'order' settles "
        "it too."
    )
    return statements("ranking", [text])


def stop_statements(decision: StoppedDecision) -> tuple[Statement, ...]:
    """State when learners were stopped, and why."""
    return statements("stop", decision.race.reasons())


def preference_statements(decision: StoppedDecision) -> tuple[Statement, ...]:
    """State the preference."""
    preference, race = decision.preference, decision.race
    if not preference.stated:
        return ()
    by_preference = chain(decision.by_preference)
    text = f"Your preference was {by_preference}."
    if preference.kind == "measured":
        cost = preference.words.replace("_", " ")
        when = "in the first run" if race.unit == "run" else f"on the first {race.unit}"
        text = f"The preference, by {cost} as measured {when}: {by_preference}."
    return statements("preference", [text])


def evidence_statements(decision: StoppedDecision) -> tuple[Statement, ...]:
    """State the test of the plan, its error rate, and the risk of having stopped it."""
    race = decision.race
    risk = "The full plan makes the same claims, whatever its remaining results."
    if not race.exact:
        risk = (
            f"With a probability of at least {race.confidence()} given the data, the full plan "
            "would make the same claims; this risk adds to the error rate."
        )
    parts = (
        f"Evidence: {decision.test}, {family_words(decision.evidence)}, alpha = "
        f"{decision.alpha:g}{correction_words(decision.evidence)}, planned on {decision.design}; "
        f"each pair is compared on the {race.unit}s that both learners completed.",
        promise(decision).text,
        risk,
    )
    text = " ".join(filter(None, parts))
    return (Statement(kind="evidence", text=text, short=evidence_in_short(decision)),)


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
