"""The verdict of an order in sentences that an author could print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bestofk._base.formatting import (
    capitalised,
    counted,
    interval_words,
    number,
    printable,
    probability_words,
    pvalue_words,
    shortened,
)
from bestofk._base.results import renamed
from bestofk.decide.preference import Name
from bestofk.decide.registry import PROCEDURES, decides_by
from bestofk.losses.losses import Metric
from bestofk.stats.adjust import CORRECTIONS

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision, Standing
    from bestofk.decide.evidence import Evidence, Pair, Posterior

LISTED = 6
"""So many learners are named before the rest is only counted."""

_QUALITIES = {
    "fit_time": "are quicker to fit",
    "predict_time": "are quicker to predict with",
    "size": "are smaller in memory",
    "complexity": "are simpler",
    "latency": "are faster",
}
"""What is preferred where a cost is measured."""


def called(name: Name) -> str:
    """A learner as a sentence calls it: those of a bare array are only numbered."""
    if isinstance(name, str):
        # a line end in a name makes no new paragraph
        return printable(" ".join(name.splitlines()))
    return f"learner {name}"


def listing(items: Iterable[str]) -> str:
    """Words as a sentence lists them; long lists are cut and counted."""
    return shortened(list(items), LISTED)


def named(names: Iterable[Name]) -> str:
    """Learners as a sentence lists them."""
    return listing(map(called, names))


def is_are(names: Sequence[object]) -> str:
    """The verb for so many names."""
    return "is" if len(names) == 1 else "are"


def chain(names: Sequence[Name]) -> str:
    """An order, best first."""
    shown = [called(name) for name in names[: 4 * LISTED]]
    if len(names) > len(shown):
        shown.append(f"... ({len(names)} in all)")
    return ", ".join(shown)


def mean_words(name: Name, means: Mapping[Name, float], metric: Metric) -> str:
    """``has the smallest mean error (0.07)``, or of two ``smaller ... (0.07 against 0.1)``."""
    value = number(float(metric.shown(means[name])))
    if len(means) == 2:
        other = next(mean for one, mean in means.items() if one != name)
        against = number(float(metric.shown(other)))
        return f"has the {metric.smaller} {metric.mean} ({value} against {against})"
    return f"has the {metric.smallest} {metric.mean} ({value})"


def level_words(alpha: float) -> str:
    """``95 %``."""
    return f"{100 * (1 - alpha):.6g} %"


def difference_words(order: Decision, standing: Standing) -> str:
    """The interval of a difference, turned so that the difference is positive; may be empty."""
    low, high = standing.low, standing.high
    if standing.difference < 0:
        low, high = 0.0 - high, 0.0 - low
    interval = interval_words(low, high)
    return f"{level_words(order.alpha)} interval {interval}" if interval else ""


def explain_order(order: Decision) -> str:
    """All sentences of a verdict, one paragraph for each matter."""
    parts = [order.headline()]
    parts.extend(standing_sentences(order))
    if len(order.ranking) > 2:
        parts.append(_order_sentence(order))
    parts.extend(_margin_sentences(order))
    parts.extend(_posterior_sentences(order))
    parts.append(_preference_sentence(order))
    parts.append(_evidence_sentence(order))
    parts.append(_beside_sentence(order))
    said = () if order.problem is None else order.problem.dropped
    parts.extend(note for note in order.notes if note not in said)
    return "\n".join(part for part in parts if part)


def standing_sentences(order: Decision) -> list[str]:
    """The groups, each learner with its mean and the numbers of its pair."""
    if order.recommended is None:
        return []
    best = called(order.recommended)
    one_sided = order.evidence.family.name == "preference"
    groups: dict[str, list[str]] = {}
    for standing in order.standings:
        words = {
            "better": f"Shown to be better than {best}",
            "no evidence": f"No evidence of a difference from {best}",
            "worse": f"Shown to be worse than {best}",
            "not tested": f"Not tested against {best}",
        }[standing.verdict]
        if one_sided and standing.verdict == "no evidence":
            asked = "better" if standing.difference <= 0 else "worse"
            words = f"Not shown to be {asked} than {best}"
        elif one_sided and standing.verdict == "not tested" and _in_family(order, standing):
            asked, other = ("better", "worse") if standing.difference > 0 else ("worse", "better")
            words = f"Not shown to be {asked} than {best}, and not tested for being {other}"
        groups.setdefault(words, []).append(_against(order, standing))
    turn = ("Shown to be better", "No evidence", "Shown to be worse", "Not shown", "Not tested")
    return [
        f"{words}: {listing(groups[words])}."
        for words in sorted(
            groups, key=lambda words: [words.startswith(start) for start in turn].index(True)
        )
    ]


def _in_family(order: Decision, standing: Standing) -> bool:
    """Whether the pair was tested at all, if only in the other direction."""
    assert order.recommended is not None
    return order.evidence.row(standing.name, order.recommended) is not None


def _against(order: Decision, standing: Standing) -> str:
    """``nn (0.12, worse by 0.03, 95 % interval 0.01 to 0.05, p = 0.012)``."""
    parts = [number(float(order.metric.shown(standing.mean))), _by(standing.difference)]
    against_the_mean = {"better": 1, "worse": -1}.get(standing.verdict, 0) * standing.difference > 0
    if against_the_mean:
        parts[1] = f"although its mean is {parts[1]}"
    if standing.verdict != "not tested":
        interval = difference_words(order, standing)
        if interval and not against_the_mean:
            parts.append(interval)
        if standing.adjusted_pvalue is not None:
            parts.append(pvalue_words(standing.adjusted_pvalue, order.alpha))
    return f"{called(standing.name)} ({', '.join(parts)})"


def _by(difference: float) -> str:
    if difference == 0:
        return "the same mean"
    return f"{'worse' if difference > 0 else 'better'} by {number(abs(difference))}"


def _order_sentence(order: Decision) -> str:
    names, by_mean = chain(order.ranking), f"Order by {order.metric.mean}"
    if decides_by(order.procedure) == "wins":
        return f"Order by significant wins: {names}."
    if decides_by(order.procedure) == "adequacy":
        if order.recommended is None:
            return f"{by_mean}: {names}."
        return (
            f"Order: {names}; those shown to be good enough come first, by preference, then the "
            f"others, by {order.metric.mean}."
        )
    if not order.preference.stated:
        return f"{by_mean}: {names}."
    if len(order.claims) == len(order.evidence):
        return f"Order: {names}."
    whose = {"panel": "the panel's preference", "measured": "the preference"}
    preference = whose.get(order.preference.kind, "your preference")
    return f"Order: {names}; where no difference is shown, {preference} decides.{_surprise(order)}"


def _surprise(order: Decision) -> str:
    """Why one that is shown to be worse stands before one that is not."""
    verdicts = {one.name: one.verdict for one in order.standings}
    for place, name in enumerate(order.ranking):
        if verdicts.get(name) != "worse":
            continue
        later = [other for other in order.ranking[place:] if verdicts.get(other) == "no evidence"]
        if later and order.recommended is not None:
            return (
                f" {called(name)} stands before {called(later[0])}, although it is shown to be "
                f"worse than {called(order.recommended)}: it is preferred, and nothing is shown "
                "between the two."
            )
    return ""


def _margin_sentences(order: Decision) -> list[str]:
    if order.margin is None or not order.margins or order.recommended is None:
        return []
    groups: dict[str, list[str]] = {}
    for name, one in order.margins.items():
        p = f" ({pvalue_words(one.adjusted_pvalue, order.alpha)})"
        groups.setdefault(one.verdict, []).append(
            called(name) + (p if one.verdict.startswith("not worse") else "")
        )
    said = [
        f"{words}: {listing(groups[verdict])}."
        for verdict, words in _MARGIN_WORDS.items()
        if verdict in groups
    ]
    if decides_by(order.procedure) == "adequacy":
        said.append(
            f"The chance that {called(order.recommended)} is worse than the truly best one by the "
            f"margin or more is at most {order.alpha:g}."
        )
    elif "not worse by more than the margin" in groups:
        said.append(
            f"The chance that even one statement about the margin is wrong is at most "
            f"{order.alpha:g}."
        )
    first = f"Against {called(order.recommended)} with a margin of {number(order.margin)}."
    return [" ".join((first, *said))]


_MARGIN_WORDS = {
    "better": "Shown to be better",
    "not worse by more than the margin": "Shown not to be worse by more than that",
    "open": "Open",
    "worse": "Shown to be worse",
}


def _posterior_sentences(order: Decision) -> list[str]:
    """The posterior probabilities of the recommended one against the others."""
    evidence = order.evidence
    posteriors = evidence.posteriors if order.recommended is not None else None
    if posteriors is None or evidence.bayesian is None:
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
        shown = (probability_words(p) for p in (better, same, worse))
        said.append(f"{called(standing.name)} {', '.join(shown)}")
    more = len(order.standings) - LISTED
    if more > 0:
        said.append(f"and {more} more")
    within = "" if evidence.rope is None else f" (within {number(evidence.rope)})"
    return [
        f"Posterior probabilities, by the {evidence.bayesian.name} test, of being better than, "
        f"equivalent to{within} and worse than {called(order.recommended)}: {'; '.join(said)}."  # type: ignore[arg-type]
    ]


def _preference_sentence(order: Decision) -> str:
    if not order.preference.stated or (decides_by(order.procedure) not in ("steps", "adequacy")):
        return ""
    kind, words = order.preference.kind, order.preference.words
    if kind == "panel":
        names = chain(order.by_preference)
        prefer = f"The panel comes with a preference, simpler learners first: {names}."
    elif kind == "measured":
        prefer = (
            f"You prefer {order.noun}s that {_QUALITIES.get(words, f'have less {words}')} (within "
            f"a factor of two the {order.metric.smaller} {order.metric.mean} goes first): "
            f"{chain(order.by_preference)}."
        )
    elif words == "prices":
        prefer = f"From the cheapest to the most expensive: {chain(order.by_preference)}."
    else:
        prefer = f"Your preference was {chain(order.by_preference)}."
    if decides_by(order.procedure) != "steps":
        return prefer
    edges = order.edges
    shown = listing(f"{called(j)} over {called(i)}" for i, j in edges)
    if len(order.evidence) == 1:
        override = (
            f"The data override this: {shown}." if edges else "The data do not override this."
        )
        return f"{prefer} {override}"
    total = counted(len(order.evidence), "pair")
    if not edges:
        return f"{prefer} The data override this in none of {total}."
    return f"{prefer} The data override this in {len(edges)} of {total}: {shown}."


def _evidence_sentence(order: Decision) -> str:
    evidence = order.evidence
    level = f"alpha = {order.alpha:g}"
    if order.test_choice is None:
        return (
            f"Evidence: {order.test}, one test of all {order.noun}s, {level}, from {order.design}."
        )
    if not len(evidence):
        return f"Evidence: the means alone, from {order.design}; no pair had to be tested."
    promised = promise(order)
    return " ".join(
        part
        for part in (
            f"Evidence: {order.test}, {family_words(evidence)}, {level}"
            f"{correction_words(evidence)}, from {order.design}.",
            _reason_sentence(order.test_reason),
            promised,
            # it is about that rate
            order.caution if " at most " in promised else "",
        )
        if part
    )


def _beside_sentence(order: Decision) -> str:
    """Bootstrap-B, which counts the repetitions of stochastic learners."""
    found = order.bootstrap
    if found is None:
        return ""
    middles = np.asarray(found.intervals).mean(axis=1)
    below = middles < middles.mean()
    groups: dict[str, list[str]] = {}
    for name, verdict, smaller in zip(found.names, found.verdicts, below.tolist(), strict=True):
        side = "better" if smaller else "worse"
        groups.setdefault(
            f"{verdict}ly {side}" if verdict == "significant" else verdict, []
        ).append(name)
    words = ("significantly better", "significantly worse", "not significant", "inconclusive")
    said = "; ".join(f"{word}: {listing(groups[word])}" for word in words if word in groups)
    correction = CORRECTIONS[found.correction].words
    return (
        "Bootstrap-B, which counts the repetitions, compares each learner with the mean of all, at "
        f"an alpha of its own, {found.alpha:g} with {correction}. {said[:1].upper()}{said[1:]}."
    )


def _reason_sentence(reason: str) -> str:
    """Why this test; nothing where it was simply asked for."""
    if reason.startswith("asked for"):
        reason = reason.removeprefix("asked for").removeprefix("; ")
        return f"{reason[:1].upper()}{reason[1:]}." if reason else ""
    return f"The test was {reason}." if reason else ""


def family_words(evidence: Evidence) -> str:
    """Which hypotheses were tested together."""
    family, count = evidence.family, len(evidence)
    if evidence.alternative != "two-sided":
        pairs = "one pair" if count == 1 else f"{count} pairs"
        if family.name == "preference":
            return (
                f"one-sided against the preference in {pairs} (the opposite direction was not "
                "tested)"
            )
        return f"one-sided in {pairs}"
    if family.name == "control":
        control = called(evidence.names[family.control or 0])
        others = "the other" if count == 1 else f"the {count} others"
        return f"two-sided, {control} against {others}"
    return "two-sided" if count == 1 else f"two-sided over all {count} pairs"


def correction_words(evidence: Evidence) -> str:
    """`` with Holm's correction``; nothing for a single pair."""
    if len(evidence) == 1 and evidence.family.size == 1:
        return ""
    return f" with {CORRECTIONS[evidence.family.correction].words}"


def promise(order: Decision) -> str:
    """What error rate the claims have."""
    family = order.evidence.family
    if order.test_choice is not None and order.test_choice.posterior:
        return (
            "What stands for p comes from posterior probabilities and is not a p-value: no error "
            "rate is promised."
        )
    hold = "If the test's assumptions hold, "
    at_most = f"is at most {order.alpha:g}"
    if decides_by(order.procedure) == "one challenge":
        return _promise_of_test_first(order, hold, at_most)
    correction = CORRECTIONS[family.correction]
    if family.size == 1:
        return f"{hold}the chance of a wrong claim {at_most}."
    if not correction.adjusts:
        return (
            f"{hold}the chance of a wrong claim {at_most} for each pair; that of a wrong claim "
            f"about any of the {family.size} pairs is larger."
        )
    needs = "" if correction.any_dependence else " (for independent or positively dependent tests)"
    if not correction.directions and correction.guarantee.startswith("the chance"):
        needs += "; it is not proved that this includes claims in the wrong direction"
    return f"{hold}{correction.guarantee} {at_most}{needs}."


def _promise_of_test_first(order: Decision, hold: str, at_most: str) -> str:
    """It holds for the choice alone: which learner is tested is chosen by the data.

    A wrong choice of learner f takes the rejection of a true hypothesis about f, at
    alpha / (K - 1); K - 1 learners can be chosen so.
    """
    if order.correction != PROCEDURES[order.procedure].proved_with:
        return "With this correction no error rate is proved for TestFirst."
    return (
        f"{hold}the chance that TestFirst chooses a {order.noun} that is not better than all "
        f"those preferred to it {at_most}."
    )


# One pair of learners, or all pairs, in sentences.


def pair_sentence(pair: Pair, names: Sequence[str] | None = None) -> str:
    """Whether two learners are shown to differ, and by how much, in the user's metric."""
    new = renamed(names, (pair.a, pair.b))
    a, b = called(new[pair.a]), called(new[pair.b])
    metric = pair.metric
    difference = number(float(metric.difference(pair.estimate)))
    interval = interval_words(*map(float, metric.interval(pair.low, pair.high)))
    numbers = ", ".join(
        part
        for part in (
            f"difference in {metric.mean} {difference}",
            f"interval {interval}" if interval else "",
            f"adjusted {pvalue_words(pair.adjusted_pvalue)}",
        )
        if part
    )
    if pair.better is None:
        return f"There is no evidence of a difference between {a} and {b} ({numbers})."
    winner, loser = (a, b) if pair.better == pair.a else (b, a)
    return capitalised(f"{winner} is shown to be better than {loser} ({numbers}).")


def posterior_sentence(posterior: Posterior, names: Sequence[str] | None = None) -> str:
    """The three probabilities."""
    new = renamed(names, ("a", "b"))
    return (
        f"The probability that {new['a']} is better is "
        f"{probability_words(posterior.a_better)}, that the two are equivalent "
        f"{probability_words(posterior.equivalent)}, and that {new['b']} is better "
        f"{probability_words(posterior.b_better)}."
    )


def standing_sentence(standing: Standing, names: Sequence[str] | None = None) -> str:
    """How a learner stands to the recommended one."""
    best: Name = "the recommended learner"
    new = renamed(names, (standing.name, best))
    name, best = called(new[standing.name]), str(new[best])
    verdict = {
        "better": f"{name} is shown to be better than {best}",
        "worse": f"{name} is shown to be worse than {best}",
        "no evidence": f"there is no evidence of a difference between {name} and {best}",
        "not tested": f"{name} was not tested against {best}",
        "not settled": f"whether {name} and {best} differ is not settled",
    }[standing.verdict]
    by = (
        "the same mean"
        if not standing.difference
        else f"{'worse' if standing.difference > 0 else 'better'} by "
        f"{number(abs(standing.difference))}"
    )
    p = "" if standing.adjusted_pvalue is None else f", {pvalue_words(standing.adjusted_pvalue)}"
    mean = number(float(standing.metric.shown(standing.mean)))
    said = capitalised(f"{verdict} ({standing.metric.mean} {mean}, {by}{p}).")
    return f"T{said[1:]}" if said.startswith("there is") else said


def evidence_sentences(evidence: Evidence) -> str:
    """How the pairs were tested, and which of them are shown to differ."""
    if not len(evidence):
        return "No pair was tested."
    sides = {
        "two-sided": "two-sided",
        "greater": "one-sided: is the second of a pair better?",
        "less": "one-sided: is the first of a pair better?",
    }[evidence.alternative]
    test = "" if evidence.choice is None else f"{evidence.choice.name}, "
    head = (
        f"{counted(len(evidence), 'pair')} ({test}{sides}, alpha = {evidence.family.alpha:g}"
        f"{correction_words(evidence)})."
    )
    return f"{head} {claims_words(evidence)}"


def claims_words(evidence: Evidence) -> str:
    """Which pairs are shown to differ, the surest first."""
    claimed = [pair for pair in evidence if pair.rejected]
    if not claimed:
        if len(evidence) == 1:
            p = pvalue_words(float(evidence.adjusted_pvalue[0]), evidence.family.alpha)
            return f"There is no evidence of a difference ({p})."
        return f"There is no evidence of a difference in any of the {len(evidence)} pairs."
    claimed.sort(key=lambda pair: pair.adjusted_pvalue)
    said = listing(
        f"{called(_winner(pair))} is better than {called(_loser(pair))} "
        f"({pvalue_words(pair.adjusted_pvalue, evidence.family.alpha)})"
        for pair in claimed
    )
    if len(evidence) == 1:
        return capitalised(f"{said}.")
    return f"Shown in {len(claimed)} of {len(evidence)} pairs: {said}."


def _winner(pair: Pair) -> Name:
    assert pair.better is not None
    return pair.better


def _loser(pair: Pair) -> Name:
    return pair.a if pair.better == pair.b else pair.b
