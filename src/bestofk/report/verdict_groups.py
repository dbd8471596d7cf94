"""The learners of a page in groups: recommended, not shown to be worse, shown to be worse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from bestofk.ordering.result import Order, Standing
from bestofk.report.names import html_name
from bestofk.wording import number, pvalue_words

GROUPS = {
    "recommended": "Recommended",
    "better": "Shown to be better by the test",
    "adequate": "Not shown to be worse",
    "worse": "Shown to be worse",
    "untested": "Not tested",
}
"""Word of the style sheet: heading."""
_KINDS = {"better": "better", "no evidence": "adequate", "worse": "worse", "not tested": "untested"}


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
        "recommended": [
            Member(name=html_name(best), words=number(order.metric.shown(order.means[best])))
        ]
    }
    for standing in order.standings:
        member = Member(name=html_name(standing.name), words=_words(order, standing))
        found.setdefault(_KINDS[standing.verdict], []).append(member)
    return tuple(
        Group(kind=kind, title=title, members=tuple(found[kind]))
        for kind, title in GROUPS.items()
        if kind in found
    )


def _words(order: Order, standing: Standing) -> str:
    """``0.1657, worse by 0.028 (-0.086 to 0.14), p = 1``."""
    parts = [number(order.metric.shown(standing.mean)), _by(standing)]
    if standing.adjusted_pvalue is not None and standing.verdict != "not tested":
        parts.append(pvalue_words(standing.adjusted_pvalue, order.alpha))
    return ", ".join(parts)


def _by(standing: Standing) -> str:
    """The difference and its interval, both turned so that the difference is positive."""
    difference, low, high = standing.difference, standing.low, standing.high
    if difference < 0:
        low, high = 0.0 - high, 0.0 - low
    by = f"{'worse' if difference > 0 else 'better'} by {number(abs(difference))}"
    if difference == 0:
        by = "the same mean"
    ends = _ends(low, high)
    return f"{by} ({ends})" if ends else by


def _ends(low: float, high: float) -> str:
    if np.isfinite(low) and np.isfinite(high):
        return f"{number(low)} to {number(high)}"
    if np.isfinite(high):
        return f"up to {number(high)}"
    return f"from {number(low)}" if np.isfinite(low) else ""
