"""The verdict of an order in sentences that an author could print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bestofk.adjust import CORRECTIONS
from bestofk.losses.metric import Metric
from bestofk.ordering.preference import Name
from bestofk.wording import counted, number, pvalue_words, shortened

if TYPE_CHECKING:
    from bestofk.ordering.evidence import Evidence
    from bestofk.ordering.result import Order, Standing

LISTED = 6
"""So many learners are named before the rest is only counted."""

PROCEDURE_WORDS = {
    "multitest": "MultiTest",
    "test-first": "TestFirst",
    "anova-choice": "The ANOVA choice",
    "newman-keuls-choice": "The Newman-Keuls choice",
    "most-wins": "Most wins",
    "cheapest-adequate": "Cheapest adequate",
}


def listing(items: Iterable[str]) -> str:
    """Names as a sentence lists them; long lists are cut and counted."""
    return shortened(list(items), LISTED)


def is_are(names: Sequence[object]) -> str:
    """The verb for so many names."""
    return "is" if len(names) == 1 else "are"


def chain(names: Sequence[Name]) -> str:
    """An order, best first."""
    shown = [str(name) for name in names[: 4 * LISTED]]
    if len(names) > len(shown):
        shown.append(f"... ({len(names)} in all)")
    return ", ".join(shown)


def mean_words(name: Name, mean: float, metric: Metric) -> str:
    """``c4.5 has the smallest mean error (0.07)``."""
    value = number(float(metric.shown(mean)))
    return f"{name} has the {metric.smallest} {metric.mean} ({value})"


def level_words(alpha: float) -> str:
    """``95 %``."""
    return f"{100 * (1 - alpha):.6g} %"


def difference_words(order: Order, standing: Standing) -> str:
    """The interval of a difference, turned so that the difference is positive; may be empty."""
    low, high = standing.low, standing.high
    if standing.difference < 0:
        low, high = 0.0 - high, 0.0 - low
    if not np.isfinite([low, high]).any():
        return ""
    level = level_words(order.alpha)
    if not np.isfinite(low):
        return f"{level} interval up to {number(high)}"
    if not np.isfinite(high):
        return f"{level} interval from {number(low)}"
    return f"{level} interval {number(low)} to {number(high)}"


def explain_order(order: Order) -> str:
    """All sentences of a verdict, one paragraph for each matter."""
    parts = [order.headline()]
    parts.extend(standing_sentences(order))
    if len(order.order) > 1:
        parts.append(_order_sentence(order))
    parts.extend(_margin_sentences(order))
    parts.extend(_posterior_sentences(order))
    parts.append(_preference_sentence(order))
    parts.append(_evidence_sentence(order))
    if order.beside is not None:
        parts.append(order.beside.explain())
    parts.extend(order.notes)
    return "\n".join(part for part in parts if part)


def standing_sentences(order: Order) -> list[str]:
    """The groups, each learner with its mean and the numbers of its pair."""
    if order.recommended is None:
        return []
    sentences = []
    for verdict, words in (
        ("better", f"Shown to be better than {order.recommended}"),
        ("no evidence", f"No evidence of a difference from {order.recommended}"),
        ("worse", f"Shown to be worse than {order.recommended}"),
        ("not tested", f"Not tested against {order.recommended}"),
    ):
        members = [one for one in order.standings if one.verdict == verdict]
        if members:
            sentences.append(f"{words}: {listing(_against(order, one) for one in members)}.")
    return sentences


def _against(order: Order, standing: Standing) -> str:
    """``nn (0.12, worse by 0.03, 95 % interval 0.01 to 0.05, p = 0.012)``."""
    metric = order.metric
    parts = [number(float(metric.shown(standing.mean))), _by(standing.difference)]
    interval = difference_words(order, standing)
    if interval:
        parts.append(interval)
    if standing.adjusted_pvalue is not None and standing.verdict != "not tested":
        parts.append(pvalue_words(standing.adjusted_pvalue, order.alpha))
    return f"{standing.name} ({', '.join(parts)})"


def _by(difference: float) -> str:
    if difference == 0:
        return "the same mean"
    return f"{'worse' if difference > 0 else 'better'} by {number(abs(difference))}"


def _order_sentence(order: Order) -> str:
    by = ""
    if order.procedure == "multitest":
        by = (
            " Where nothing is shown, your preference decides the place."
            if order.preference.stated
            else f" By {order.metric.mean}."
        )
    elif order.procedure == "cheapest-adequate":
        by = (
            f" Those shown to be good enough by preference, then the others by {order.metric.mean}."
        )
    return f"Order: {chain(order.order)}.{by}"


def _margin_sentences(order: Order) -> list[str]:
    if order.margin is None or not order.margins:
        return []
    groups: dict[str, list[str]] = {}
    for name, one in order.margins.items():
        groups.setdefault(one.verdict, []).append(
            f"{name} ({pvalue_words(one.adjusted_pvalue, order.alpha)})"
            if one.verdict == "not worse by more than the margin"
            else str(name)
        )
    said = []
    for verdict, words in (
        ("better", "better"),
        ("not worse by more than the margin", "shown not to be worse by more than that"),
        ("worse", "worse"),
        ("open", "open"),
    ):
        if verdict in groups:
            said.append(f"{listing(groups[verdict])} {is_are(groups[verdict])} {words}")
    return [
        f"With a margin of {number(order.margin)} around {order.recommended}: {'; '.join(said)}. "
        f"The chance that any of these margin statements is false is at most {order.alpha:g}."
    ]


def _posterior_sentences(order: Order) -> list[str]:
    """The posterior probabilities of the recommended one against the others."""
    evidence = order.evidence
    posteriors = evidence.posteriors if order.recommended is not None else None
    if posteriors is None:
        return []
    said = []
    for standing in order.standings[:LISTED]:
        row = evidence.row(standing.name, order.recommended)  # type: ignore[arg-type]
        if row is None:
            continue
        is_first = evidence.names[evidence.first[row]] == standing.name
        ends = ("a_better", "b_better") if is_first else ("b_better", "a_better")
        better, worse = (float(posteriors[end][row]) for end in ends)
        same = float(posteriors["equivalent"][row])
        said.append(f"{standing.name} {better:.2f}, {same:.2f}, {worse:.2f}")
    width = "" if evidence.rope is None else f" (within {number(evidence.rope)})"
    return [
        f"Posterior probabilities of being better than, equivalent to{width} and worse than "
        f"{order.recommended}: {'; '.join(said)}."
    ]


def _preference_sentence(order: Order) -> str:
    if not order.preference.stated or order.procedure not in ("multitest", "cheapest-adequate"):
        return ""
    kind = order.preference.kind
    if kind == "panel":
        prior = (
            f"The panel has a preference of its own, simpler learners first: {chain(order.prior)}."
        )
    elif kind == "measured":
        prior = (
            f"Preferred is less {order.preference.words.replace('_', ' ')}, compared by factors of "
            f"two, within which the {order.metric.smaller} mean goes first: {chain(order.prior)}."
        )
    else:
        prior = f"Your preference was {chain(order.prior)}."
    if order.procedure != "multitest":
        return prior
    edges = order.edges
    total = counted(len(order.evidence), "pair")
    if not edges:
        return f"{prior} Nothing in the data overrides it ({total} tested)."
    shown = listing(f"{j} over {i}" for i, j in edges)
    return f"{prior} The data override it in {len(edges)} of {total}: {shown}."


def _evidence_sentence(order: Order) -> str:
    if not order.test:
        return f"Evidence: alpha = {order.alpha:g}, on {order.design}."
    why = f" ({order.test_reason})" if order.test_reason else ""
    if not len(order.evidence):
        test = f"{order.test}, one test of all learners" if order.reasons else order.test
        return f"Evidence: {test}, alpha = {order.alpha:g}, on {order.design}."
    return (
        f"Evidence: {order.test}, {family_words(order.evidence)}, alpha = {order.alpha:g}"
        f"{correction_words(order.evidence)}, on {order.design}{why}. {promise(order)}"
    )


def family_words(evidence: Evidence) -> str:
    """Which hypotheses were tested together."""
    family, count = evidence.family, len(evidence)
    if evidence.alternative != "two-sided":
        pairs = "one pair" if count == 1 else f"{count} pairs"
        if family.name == "prior":
            return (
                f"one-sided against the preference in {pairs} (the opposite direction was not "
                "tested)"
            )
        return f"one-sided in {pairs}"
    if family.name == "control":
        control = evidence.names[family.control or 0]
        return f"two-sided, {control} against {'the other' if count == 1 else f'{count} others'}"
    return "two-sided" if count == 1 else f"two-sided over all {count} pairs"


def correction_words(evidence: Evidence) -> str:
    """`` with Holm's correction``; nothing for a single pair."""
    if len(evidence) == 1 and evidence.family.size == 1:
        return ""
    return f" with {CORRECTIONS[evidence.family.correction].words}"


def promise(order: Order) -> str:
    """What error rate the claims have."""
    if order.choice is not None and order.choice.posterior:
        return "These are posterior probabilities, not p-values: no error rate is promised."
    correction = CORRECTIONS[order.evidence.family.correction]
    if order.evidence.family.size == 1:
        return (
            "If the test's assumptions hold, the chance of a false claim is at most "
            f"{order.alpha:g}."
        )
    if order.correction == "none":
        return (
            f"Each single claim is false with probability at most {order.alpha:g}; that any of "
            "them is, is more likely."
        )
    needs = "" if correction.any_dependence else " (for independent or positively dependent tests)"
    if not correction.directions and correction.guarantee.startswith("the chance"):
        needs += "; that this covers claims with the wrong sign too is not proved for it"
    return (
        f"If the test's assumptions hold, {correction.guarantee} is at most {order.alpha:g}{needs}."
    )
