"""The verdict of an order in sentences that an author could print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from bestofk.ordering.problem import Name
from bestofk.wording import counted, number, pvalue_words, shortened

if TYPE_CHECKING:
    from bestofk.ordering.result import Order, Standing

LISTED = 6
"""So many learners are named before the rest is only counted."""

PROCEDURE_WORDS = {
    "multitest": "MultiTest",
    "test-first": "TestFirst",
    "anova-choice": "The ANOVA choice",
    "newman-keuls-choice": "The Newman-Keuls choice",
    "most-wins": "Most wins",
}
CORRECTION_WORDS = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "hochberg": "Hochberg's correction",
    "benjamini-hochberg": "the correction of Benjamini and Hochberg",
    "none": "no correction",
}
_GUARANTEES = {
    "holm": "the chance that even one of these rejections is wrong is held at {alpha:g}",
    "bonferroni": "the chance that even one of these rejections is wrong is held at {alpha:g}",
    "hochberg": "the chance that even one of these rejections is wrong is held at {alpha:g} "
    "(for independent or positively dependent tests)",
    "benjamini-hochberg": "the expected share of wrong ones among these rejections is held at "
    "{alpha:g} (for independent or positively dependent tests)",
    "none": "each single test errs with probability {alpha:g}, the whole decision more often",
}


def listing(items: Iterable[str]) -> str:
    """Names as a sentence lists them; long lists are cut and counted."""
    return shortened(list(items), LISTED)


def chain(names: Sequence[Name]) -> str:
    """An order, best first."""
    shown = [str(name) for name in names[: 4 * LISTED]]
    if len(names) > len(shown):
        shown.append(f"... ({len(names)} in all)")
    return ", ".join(shown)


def explain_order(order: Order) -> str:
    """All sentences of a verdict, one paragraph a matter."""
    parts = [" ".join(order.reasons)]
    if len(order.order) > 1:
        parts.append(f"Order, best first: {chain(order.order)}.")
    parts.extend(_standing_sentences(order))
    override = _override_sentence(order)
    if override:
        parts.append(override)
    parts.append(_evidence_sentence(order))
    if order.beside is not None:
        parts.append(order.beside.explain())
    parts.extend(order.notes)
    return "\n".join(part for part in parts if part)


def _standing_sentences(order: Order) -> list[str]:
    if order.best is None or not order.standings:
        return []
    best = f"{order.best} (mean loss {number(order.means[order.best])})"
    worse = [s for s in order.standings if s.verdict == "worse"]
    ties = [s for s in order.standings if s.verdict == "tie"]
    sentences = []
    if worse:
        sentences.append(f"{best} is significantly better than {listing(map(_against, worse))}.")
    if ties:
        who = best if not worse else str(order.best)
        sentences.append(
            f"{who} ties with {listing(map(_against, ties))}: the data do not show it to be "
            f"better{_smaller_means(ties)}; the prior decides."
        )
    return sentences


def _against(standing: Standing) -> str:
    return f"{standing.name} ({number(standing.mean)}, {pvalue_words(standing.adjusted_pvalue)})"


def _smaller_means(ties: Sequence[Standing]) -> str:
    smaller = [str(standing.name) for standing in ties if standing.difference < 0]
    if not smaller:
        return ""
    has = "has" if len(smaller) == 1 else "have"
    return f", and {listing(smaller)} {has} a smaller mean but not significantly so"


def _override_sentence(order: Order) -> str:
    if order.procedure != "multitest":
        return ""
    edges = order.edges
    total = len(order.evidence)
    prior = f"The prior preference was {chain(order.prior)}."
    if not edges:
        return (
            f"{prior} No test overrides it ({counted(total, 'pair')}): the learners stand in "
            "prior order."
        )
    shown = listing(f"{j} over {i}" for i, j in edges)
    return f"{prior} The data override it in {len(edges)} of {counted(total, 'pair')}: {shown}."


def _evidence_sentence(order: Order) -> str:
    if not order.test:
        return f"Evidence: alpha = {order.alpha:g}, on {order.design}."
    sided = "one-sided" if order.evidence.alternative == "greater" else "two-sided"
    why = f" ({order.test_reason})" if order.test_reason else ""
    guarantee = _GUARANTEES[order.correction].format(alpha=order.alpha)
    return (
        f"Evidence: {order.test}, {sided}, alpha = {order.alpha:g} with "
        f"{CORRECTION_WORDS[order.correction]} over {counted(len(order.evidence), 'comparison')}, "
        f"on {order.design}{why}. If the test's assumptions hold, {guarantee}."
    )
