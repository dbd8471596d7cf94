"""A stopped race in sentences: what is settled, what is not, and what may be claimed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestofk._base.formatting import counted, number
from bestofk.decide.statements.explain import (
    called,
    chain,
    correction_words,
    family_words,
    listing,
    named,
    promise,
)
from bestofk.decide.statements.headline import which_you_prefer

if TYPE_CHECKING:
    from bestofk.decide.preference import Name
    from bestofk.decide.stopping.stopped_order import StoppedDecision

NOT_SETTLED = "not settled"
"""The verdict on a pair of which a claim is still possible."""
_TARGET_ORDER = "target='order' (on the command line --stop-target order) settles it"


def headline_of(order: StoppedDecision) -> str:
    """The first paragraph."""
    race, best = order.race, order.recommended
    assert best is not None
    if not race.settled:
        use = f"If you must choose now, use {called(best)}: so it looks on what was run."
        return f"{race.state()} {use}"
    beaten = [i for i, j in order.edges if j == best]
    why = f"Use {called(best)}."
    if not order.preference.stated:
        when = "with endless runs" if race.settle == "limit" else "at the end of the plan"
        smallest = f"{order.metric.smallest} {order.metric.mean}"
        why = f"Use {called(best)}: {when} it has the {smallest}."
    elif beaten:
        why += (
            f" It is significantly better than {named(beaten)}, {which_you_prefer(order, beaten)}."
        )
    elif best == order.by_preference[0]:
        why = f"Use {called(best)}, {order.preference.first()}, which no other is shown to beat."
    return f"{why} {race.state()}"


def explain_stopped(order: StoppedDecision) -> str:
    """All sentences, one paragraph for each matter."""
    parts = [
        order.headline(),
        *standings_of(order),
        _order(order),
        *order.race.reasons(),
        _preference(order),
        _evidence(order),
        *order.notes,
    ]
    return "\n".join(part for part in parts if part)


def mean_and_runs(order: StoppedDecision, name: Name) -> str:
    """``0.12 over 2 runs``."""
    shown = number(float(order.metric.shown(order.means[name])))
    return f"{shown} over {counted(order.race.runs[str(name)], order.race.unit)}"


def standings_of(order: StoppedDecision) -> list[str]:
    """Who is settled to be better or worse than the recommended one, and of whom nothing is."""
    best, race = order.recommended, order.race
    assert best is not None
    words = {
        "better": f"Shown to be better than {called(best)}",
        "worse": f"Shown to be worse than {called(best)}",
        "no evidence": f"No difference will be shown from {called(best)}",
        NOT_SETTLED: f"Not settled against {called(best)}",
        "not tested": f"Not tested against {called(best)}",
    }
    groups: dict[str, list[str]] = {}
    for one in order.standings:
        groups.setdefault(words[one.verdict], []).append(
            f"{called(one.name)} ({mean_and_runs(order, one.name)})"
        )
    said = [
        f"{start}: {listing(groups[start])}."
        for start in dict.fromkeys(words.values())
        if start in groups
    ]
    if len(set(order.race.runs.values())) > 1:
        own = mean_and_runs(order, best)
        said.append(
            f"{called(best)} has a mean of {own}; means over different numbers of {race.unit}s "
            "are not to be compared."
        )
    return said


def _order(order: StoppedDecision) -> str:
    if len(order.ranking) == len(order.by_preference):
        return f"The whole order is settled: {chain(order.ranking)}." if order.race.settled else ""
    if not order.race.settled or len(order.by_preference) == 2:
        return ""
    if order.race.target == "order":
        return ""
    return f"The order below the recommended one is not settled: {_TARGET_ORDER}."


def _preference(order: StoppedDecision) -> str:
    if not order.preference.stated:
        return ""
    prefer, kind = chain(order.by_preference), order.preference.kind
    if kind == "panel":
        return f"The panel comes with a preference, simpler learners first: {prefer}."
    if kind == "measured":
        what = order.preference.words.replace("_", " ")
        when = "in the first run" if order.race.unit == "run" else f"on the first {order.race.unit}"
        return f"The preference, by {what} as measured {when}: {prefer}."
    return f"Your preference was {prefer}."


def _evidence(order: StoppedDecision) -> str:
    race = order.race
    promised = promise(order)
    risk = ""
    if not race.exact:
        whose = "endless runs" if race.settle == "limit" else "the full plan"
        risk = (
            f"Claims are those that {whose} would make, but for a chance of at most "
            f"{race.risk_words()} given the data, which adds to that."
        )
    else:
        risk = "Claims are those that the full plan makes, whatever the rest of it brings."
    return " ".join(
        part
        for part in (
            f"Evidence: {order.test}, {family_words(order.evidence)}, alpha = {order.alpha:g}"
            f"{correction_words(order.evidence)}, planned on {order.design}; of a pair "
            f"the {race.unit}s count that both learners have.",
            promised,
            risk,
            order.caution if " at most " in promised else "",
        )
        if part
    )


def open_line(left: int, out: Sequence[str], pairs: list[tuple[str, str]]) -> str:
    """``2 out (max, nmc), 3 left; open: nn against c4.5``, for somebody who watches."""
    if not pairs:
        return "settled"
    who = f" ({_first(out)})" if out else ""
    still = _first([f"{a} against {b}" for a, b in pairs])
    return f"{len(out)} out{who}, {left} left; open: {still}"


def _first(words: Sequence[str], most: int = 3) -> str:
    """As many as fit in a line, and how many more there are."""
    more = [f"{len(words) - most} more"] if len(words) > most else []
    return ", ".join([*words[:most], *more])
