"""The learners of a page in groups: recommended, not shown to be worse, shown to be worse."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from bestofk.ordering.preference import Name
from bestofk.ordering.result import Order, Standing
from bestofk.ordering.words.sentences import difference_words
from bestofk.report.names import html_name
from bestofk.stopping.stopped_words import NOT_SETTLED
from bestofk.wording import counted, number, pvalue_words

GROUPS = {
    "recommended": "Recommended",
    "better": "Shown to be better",
    "adequate": "Not shown to be worse",
    "worse": "Shown to be worse",
    "untested": "Not tested",
}
"""Word of the style sheet: heading."""
_KINDS = {
    "better": "better",
    "no evidence": "adequate",
    "worse": "worse",
    "not tested": "untested",
    NOT_SETTLED: "unsettled",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A learner of a group, and the numbers of its pair."""

    name: Markup
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Learners that stand alike to the recommended one."""

    kind: str
    title: str
    members: tuple[Member, ...]


def groups_of(order: Order | None) -> tuple[Group, ...]:
    """The groups that have members, in the order of `GROUPS`; none where nobody is recommended."""
    if order is None or order.recommended is None or not order.standings:
        return ()
    best = order.recommended
    found: dict[str, list[Member]] = {
        "recommended": [Member(name=html_name(best), words=_mean(order, best))]
    }
    for standing in order.standings:
        member = Member(name=html_name(standing.name), words=_words(order, standing))
        found.setdefault(_KINDS[standing.verdict], []).append(member)
    return tuple(
        Group(kind=kind, title=title, members=tuple(found[kind]))
        for kind, title in {**GROUPS, "unsettled": "Not settled"}.items()
        if kind in found
    )


def _words(order: Order, standing: Standing) -> str:
    """``0.1657, worse by 0.028, 95 % interval -0.086 to 0.14, p = 1``."""
    parts = [_mean(order, standing.name), _by(standing.difference)]
    if standing.verdict != "not tested":
        parts.append(difference_words(order, standing))
        if standing.adjusted_pvalue is not None:
            parts.append(pvalue_words(standing.adjusted_pvalue, order.alpha))
    return ", ".join(filter(None, parts))


def _mean(order: Order, name: Name) -> str:
    """``0.1657``, or of a race that was stopped ``0.1657 over 2 runs``."""
    shown, runs = number(order.metric.shown(order.means[name])), order.runs_of(name)
    return shown if runs is None else f"{shown} over {counted(runs, 'run')}"


def _by(difference: float) -> str:
    if difference == 0:
        return "the same mean"
    return f"{'worse' if difference > 0 else 'better'} by {number(abs(difference))}"
