"""Statements of a decision after its verdict: standings, ranking, preference, evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bestofk._base.formatting import (
    capitalised,
    counted,
    first_sentence,
    interval_words,
    number,
    probability_words,
    pvalue_words,
    rounded,
)
from bestofk.decide.preference import Name
from bestofk.decide.registry import PROCEDURES, decides_by
from bestofk.decide.statements import Statement, statements
from bestofk.decide.statements.wording import (
    MAX_NAMED,
    called,
    chain,
    correction_words,
    difference_text,
    difference_words,
    family_words,
    is_are,
    listing,
    pairs_in_short,
    shown_means,
    some,
    uncertainty_of,
)
from bestofk.stats.adjust import ANY_WRONG_CLAIM, CORRECTIONS

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision, Standing
    from bestofk.decide.evidence import Evidence, Pair, Posterior

_QUALITIES = {
    "fit_time": "are quicker to fit",
    "predict_time": "are quicker to predict with",
    "size": "are smaller in memory",
    "complexity": "are simpler",
    "latency": "are faster",
}
"""Words for the preferred learners by measured cost."""


def standing_statements(decision: Decision) -> tuple[Statement, ...]:
    """Group the other learners by how they compare with the recommended one."""
    if decision.recommended is None:
        return ()
    best = called(decision.recommended)
    one_sided = decision.evidence.family.name == "preference"
    uncertainty, texts = uncertainty_of(decision), shown_means(decision)
    groups: dict[str, list[Standing]] = {}
    for standing in decision.standings:
        words = _STANDING_WORDS[standing.verdict].format(best=best)
        if one_sided and standing.verdict == "too close to call":
            direction = "better" if standing.difference <= 0 else "worse"
            words = f"Not shown to be {direction} than {best}"
        elif one_sided and standing.verdict == "not tested" and _in_family(decision, standing):
            tested, other = ("better", "worse") if standing.difference > 0 else ("worse", "better")
            words = f"Not shown to be {tested} than {best}, and not tested for being {other}"
        groups.setdefault(words, []).append(standing)
    turn = list(_STANDING_WORDS)
    return tuple(
        Statement(
            kind="standing",
            text=f"{words}: {listing(_numbers_of_some(decision, group, texts, uncertainty))}.",
            learners=tuple(one.name for one in group),
        )
        for words, group in sorted(groups.items(), key=lambda item: turn.index(item[1][0].verdict))
    )


_STANDING_WORDS = {
    "better": "Significantly better than {best}",
    "too close to call": "Too close to call against {best}",
    "worse": "Significantly worse than {best}",
    "not tested": "Not tested against {best}",
}
"""Verdict on a learner: how a sentence begins that lists such learners."""


def _in_family(decision: Decision, standing: Standing) -> bool:
    """Return whether the pair was tested, in either direction."""
    assert decision.recommended is not None
    return decision.evidence.row(standing.name, decision.recommended) is not None


def _numbers_of_some(
    decision: Decision,
    group: Sequence[Standing],
    texts: Mapping[Name, str],
    uncertainty: float | None,
) -> list[str]:
    """Return the numbers of the standings that `listing` shows, and no text for the others."""
    shown = [_numbers_of(decision, one, texts, uncertainty) for one in group[: MAX_NAMED + 1]]
    return shown + [""] * (len(group) - len(shown))


def _numbers_of(
    decision: Decision, standing: Standing, texts: Mapping[Name, str], uncertainty: float | None
) -> str:
    """Return ``nn (0.12, worse by 0.03, 95 % interval 0.01 to 0.05, p = 0.012)``."""
    typical = _is_typical(decision) and standing.verdict != "not tested"
    of_means = _difference_of_means(decision, standing) if typical else standing.difference
    direction = {"better": -1, "worse": 1}.get(standing.verdict, standing.difference)
    parts = [texts[standing.name], _by(standing.difference, uncertainty)]
    against_the_mean = direction * of_means < 0
    if against_the_mean:
        although = f"although its mean is {_by(of_means, uncertainty)}"
        parts[1] = f"typically {parts[1]} {although}" if typical else although
    if standing.verdict != "not tested":
        interval = difference_words(decision, standing)
        if interval and (typical or not against_the_mean):
            parts.append(interval)
        if standing.adjusted_pvalue is not None:
            parts.append(pvalue_words(standing.adjusted_pvalue, decision.alpha))
    return f"{called(standing.name)} ({', '.join(parts)})"


def _is_typical(decision: Decision) -> bool:
    """Return whether the test estimates the typical difference, not that of the means."""
    choice = decision.test_choice
    entry = None if choice is None else choice.entry
    return entry is not None and entry.estimand == "typical"


def _difference_of_means(decision: Decision, standing: Standing) -> float:
    """Return the mean loss of a learner minus that of the recommended one."""
    assert decision.recommended is not None
    losses = decision.mean_losses
    difference = losses[standing.name] - losses[decision.recommended]
    return 0.0 if abs(difference) <= 1e-12 * max(map(abs, losses.values())) else difference


def _by(difference: float, uncertainty: float | None) -> str:
    if difference == 0:
        return "the same mean"
    by = difference_text(abs(difference), uncertainty)
    return f"{'worse' if difference > 0 else 'better'} by {by}"


def ranking_statements(decision: Decision) -> tuple[Statement, ...]:
    """State the ranking of three or more learners, and what decides it."""
    if len(decision.ranking) < 3:
        return ()
    start, reason = f"Order by {decision.metric.mean}", ""
    if decides_by(decision.procedure) == "wins":
        start = "Order by significant wins"
    elif decides_by(decision.procedure) == "adequacy":
        if decision.recommended is not None:
            start = "Order"
            reason = (
                f"{decision.noun.capitalize()}s that are shown to be good enough come first, by "
                f"preference, then the others, by {decision.metric.mean}."
            )
    elif decision.preference.stated:
        start = "Order"
        if len(decision.claims) < len(decision.evidence):
            start_of_reason = "If a pair is too close to call, your preference decides."
            reason = f"{start_of_reason}{_surprise(decision)}"
    text = f"{start}: {chain(decision.ranking)}. {reason}".rstrip()
    order = Statement(kind="ranking", text=text, reason=reason, learners=decision.ranking)
    ranks = decision.ranks
    if ranks is None:
        return (order,)
    return order, Statement(kind="ranking", text=ranks.explain(), learners=ranks.best)


def _surprise(decision: Decision) -> str:
    """Explain why a learner that is shown to be worse precedes one that is not."""
    verdicts = {one.name: one.verdict for one in decision.standings}
    for rank, name in enumerate(decision.ranking):
        if verdicts.get(name) != "worse":
            continue
        later = [
            other for other in decision.ranking[rank:] if verdicts.get(other) == "too close to call"
        ]
        if later and decision.recommended is not None:
            return (
                f" {called(name)} comes before {called(later[0])}, although it is significantly "
                f"worse than {called(decision.recommended)}: it is preferred, and the two are too "
                "close to call."
            )
    return ""


def margin_statements(decision: Decision) -> tuple[Statement, ...]:
    """State which learners are shown not to be worse by more than the margin."""
    if decision.margin is None or not decision.margins or decision.recommended is None:
        return ()
    groups: dict[str, list[str]] = {}
    for name, one in decision.margins.items():
        p = f" ({pvalue_words(one.adjusted_pvalue, decision.alpha)})"
        groups.setdefault(one.verdict, []).append(
            called(name)
            + (f"{_also_worse(decision, name)}{p}" if one.verdict == WITHIN_MARGIN else "")
        )
    sentences = [
        f"{words}: {listing(groups[verdict])}."
        for verdict, words in _MARGIN_WORDS.items()
        if verdict in groups
    ]
    if decides_by(decision.procedure) == "adequacy":
        sentences.append(
            "The margin has an alpha of its own: if the test's assumptions hold, the chance that "
            f"this procedure recommends a {decision.noun} that is worse than the truly best one "
            f"by the margin or more is at most {decision.alpha:g}."
        )
    elif WITHIN_MARGIN in groups:
        sentences.append(
            "Statements about the margin have an alpha of their own: if the test's assumptions "
            f"hold, the chance that even one of them is wrong is at most {decision.alpha:g}."
        )
    first = f"Against {called(decision.recommended)} with a margin of {number(decision.margin)}."
    text = " ".join((first, *sentences))
    return (Statement(kind="margin", text=text, short=_margin_in_short(decision)),)


def _margin_in_short(decision: Decision) -> str:
    """Return ``a and b are shown to be at most 0.01 worse than c``."""
    shown = [
        name for name, one in decision.margins.items() if one.verdict in ("better", WITHIN_MARGIN)
    ]
    who = f"{some(shown)} {is_are(shown)}" if shown else f"no other {decision.noun} is"
    assert decision.recommended is not None
    margin, best = number(decision.margin or 0.0), called(decision.recommended)
    return f"{who} shown to be at most {margin} worse than {best}."


def _also_worse(decision: Decision, name: Name) -> str:
    """Say that a learner within the margin is significantly worse, by less than the margin."""
    assert decision.recommended is not None
    worse = decision.against(name, decision.recommended).verdict == "worse"
    return ", which is significantly worse by less than that," if worse else ""


WITHIN_MARGIN = "not worse by more than the margin"
_MARGIN_WORDS = {
    "better": "Significantly better",
    WITHIN_MARGIN: "Shown not to be worse by more than that",
    "open": "Not shown to be within the margin, nor to be worse",
    "worse": "Significantly worse, and not shown to be within the margin",
}


def posterior_statements(decision: Decision) -> tuple[Statement, ...]:
    """State the posterior probabilities of the others against the recommended learner."""
    evidence, best = decision.evidence, decision.recommended
    posteriors = evidence.posteriors if best is not None else None
    if best is None or posteriors is None or evidence.bayesian is None:
        return ()
    listed = []
    for standing in decision.standings[:MAX_NAMED]:
        row = evidence.row(standing.name, best)
        if row is None:
            continue
        is_first = evidence.names[evidence.first[row]] == standing.name
        ends = ("a_better", "b_better") if is_first else ("b_better", "a_better")
        better, worse = (float(posteriors[end][row]) for end in ends)
        same = float(posteriors["equivalent"][row])
        shown = (probability_words(p) for p in (better, same, worse))
        listed.append(f"{called(standing.name)} {', '.join(shown)}")
    more = len(decision.standings) - MAX_NAMED
    if more > 0:
        listed.append(f"and {more} more")
    within = "" if evidence.rope is None else f" (within {number(evidence.rope)})"
    return statements(
        "posterior",
        [
            f"Posterior probabilities, by the {evidence.bayesian.name} test, of being better than, "
            f"equivalent to{within} and worse than {called(best)}: {'; '.join(listed)}."
        ],
    )


def preference_statements(decision: Decision) -> tuple[Statement, ...]:
    """State the preference, and where the data override it."""
    preference = decision.preference
    by_preference = chain(decision.by_preference)
    if not preference.stated or decides_by(decision.procedure) not in ("steps", "adequacy"):
        return ()
    if preference.kind == "measured":
        quality = _QUALITIES.get(preference.words, f"have less {preference.words}")
        stated = (
            f"You prefer {decision.noun}s that {quality} (within a factor of two the "
            f"{decision.metric.smaller} {decision.metric.mean} goes first): {by_preference}."
        )
    elif preference.words == "prices":
        stated = f"From the cheapest to the most expensive: {by_preference}."
    else:
        stated = f"Your preference was {by_preference}."
    if decides_by(decision.procedure) != "steps":
        return statements("preference", [stated])
    edges = decision.edges
    shown = listing(f"{called(better)} over {called(worse)}" for worse, better in edges)
    total = counted(len(decision.evidence), "pair")
    if len(decision.evidence) == 1:
        override = f"The data override this: {shown}." if edges else "The data do not override it."
    elif edges:
        override = f"The data override this in {len(edges)} of {total}: {shown}."
    else:
        override = f"The data override this in none of {total}."
    return statements("preference", [f"{stated} {override}"])


def evidence_statements(decision: Decision) -> tuple[Statement, ...]:
    """State the test, its level, its error rate, and what is known against it."""
    evidence = decision.evidence
    level = f"alpha = {decision.alpha:g}"
    if decision.test_choice is None:
        text = (
            f"Evidence: {decision.test}, one test of all {decision.noun}s, {level}, from "
            f"{decision.design}."
        )
        short = f"{decision.test} test of all {decision.noun}s, {level}"
        return (Statement(kind="evidence", text=text, short=short),)
    if not len(evidence):
        text = f"Evidence: the means alone, from {decision.design}; no pair had to be tested."
        return (Statement(kind="evidence", text=text, short="the means alone, nothing tested"),)
    parts = (
        f"Evidence: {decision.test}, {family_words(evidence)}, {level}"
        f"{correction_words(evidence)}, from {decision.design}.",
        _reason_sentence(decision),
        promise(decision).text,
        stricter_intervals(decision),
    )
    text = " ".join(filter(None, parts))
    return (Statement(kind="evidence", text=text, short=evidence_in_short(decision)),)


def evidence_in_short(decision: Decision) -> str:
    """Return ``nested-cv-t test of all 15 pairs, alpha = 0.05 with Holm's correction``."""
    evidence = decision.evidence
    stricter = ", less strict than the intervals" if stricter_intervals(decision) else ""
    posterior = decision.test_choice is not None and decision.test_choice.posterior
    instead = ", with posterior probabilities in place of p-values" if posterior else ""
    return (
        f"{decision.test} test {pairs_in_short(evidence)}, alpha = {decision.alpha:g}"
        f"{correction_words(evidence)}{stricter}{instead}"
    )


def stricter_intervals(decision: Decision) -> str:
    """Say why the interval of a significant difference includes 0; empty if none does."""
    evidence = decision.evidence
    if not evidence.claims_near_zero:
        return ""
    if evidence.interval_factor > 1:
        return (
            f"The intervals are {_wider(evidence)} than those of the test, so that they cover "
            "unusual losses, too; that of a significant difference can include 0."
        )
    if evidence.family.size == 1 or not CORRECTIONS[evidence.family.correction].adjusts:
        return (
            "The interval is not made by inverting the test, so that of a significant difference "
            "can include 0."
        )
    return (
        f"The intervals hold for all {evidence.family.size} pairs at once, which is stricter than "
        f"{CORRECTIONS[evidence.family.correction].words}, so that of a significant difference can "
        "include 0."
    )


def _wider(evidence: Evidence) -> str:
    return f"{max(round(100 * (evidence.interval_factor - 1)), 1)} % wider"


def caution_statements(decision: Decision) -> tuple[Statement, ...]:
    """State what is known against the test; nothing if it promises no error rate."""
    if not decision.caution or decision.test_choice is None or not promise(decision).bounded:
        return ()
    short = first_sentence(decision.caution)
    evidence = decision.evidence
    finite = len(evidence) > 0 and _has_intervals(decision)
    too = ""
    if finite and evidence.interval_factor > 1:
        too = f" The intervals allow for it: they are {_wider(evidence)} than those of the test."
    elif finite:
        too = " Intervals miss as often as claims are wrong."
    return (Statement(kind="caution", text=f"Caution: {decision.caution}{too}", short=short),)


def _has_intervals(decision: Decision) -> bool:
    """Return whether any pair that is shown has an interval."""
    evidence = decision.evidence
    shown = decision.recommended
    rows = np.arange(len(evidence)) if shown is None else evidence.rows_of(shown)
    return bool(np.isfinite(np.stack(evidence.intervals_of(rows))).any())


def bootstrap_statements(decision: Decision) -> tuple[Statement, ...]:
    """State the verdicts of Bootstrap-B, which counts the repetitions of stochastic learners."""
    result = decision.bootstrap
    if result is None:
        return ()
    middles = np.asarray(result.intervals).mean(axis=1)
    below = middles < middles.mean()
    groups: dict[str, list[str]] = {}
    for name, verdict, smaller in zip(result.names, result.verdicts, below.tolist(), strict=True):
        side = "better" if smaller else "worse"
        word = f"significantly {side}" if verdict == "significant" else verdict
        groups.setdefault(word, []).append(name)
    words = {
        "significantly better": "Significantly better",
        "significantly worse": "Significantly worse",
        "not significant": "Not significant",
        "inconclusive": "Inconclusive",
    }
    sentences = [f"{words[word]}: {listing(groups[word])}." for word in words if word in groups]
    text = (
        "Bootstrap-B, which counts the repetitions, compares each learner with the mean of all, at "
        f"an alpha of its own, {result.alpha:g} with {CORRECTIONS[result.correction].words}."
    )
    return statements("bootstrap", [" ".join((text, *sentences))])


def note_statements(decision: Decision) -> tuple[Statement, ...]:
    """Repeat the notes on the losses and the test, without what the verdict says already."""
    dropped = () if decision.problem is None else decision.problem.dropped
    return statements("note", [note for note in decision.notes if note not in dropped])


def _reason_sentence(decision: Decision) -> str:
    """Say why this test was chosen; empty if the caller asked for it."""
    choice = decision.test_choice
    assert choice is not None
    if choice.chosen:
        return f"The test was {choice.reason}."
    return f"{choice.detail[:1].upper()}{choice.detail[1:]}." if choice.detail else ""


class Promise(NamedTuple):
    """The error rate of a decision's claims."""

    text: str
    bounded: bool = True
    """True if the sentence bounds an error rate."""


def promise(decision: Decision) -> Promise:
    """State the error rate of the claims."""
    family = decision.evidence.family
    if decision.test_choice is not None and decision.test_choice.posterior:
        text = (
            "The values in place of p come from posterior probabilities and are not p-values: no "
            "error rate is promised."
        )
        if np.isfinite(decision.evidence.low).any():
            text += " The intervals are credible intervals, not confidence intervals."
        return Promise(text, bounded=False)
    hold = "If the test's assumptions hold, "
    at_most = f"is at most {decision.alpha:g}"
    if decides_by(decision.procedure) == "one challenge":
        return _promise_of_test_first(decision, hold, at_most)
    correction = CORRECTIONS[family.correction]
    if family.size == 1:
        return Promise(f"{hold}the chance of a wrong claim {at_most}.")
    if not correction.adjusts:
        return Promise(
            f"{hold}the chance of a wrong claim {at_most} for each pair; that of a wrong claim "
            f"about any of the {family.size} pairs is larger."
        )
    needs = "" if correction.any_dependence else " (for independent or positively dependent tests)"
    if not correction.directions and correction.guarantee == ANY_WRONG_CLAIM:
        needs += "; it is not proved that this includes claims in the wrong direction"
    return Promise(f"{hold}{correction.guarantee} {at_most}{needs}.")


def _promise_of_test_first(decision: Decision, hold: str, at_most: str) -> Promise:
    """State the error rate of the choice alone: the data choose which learner is tested.

    A wrong choice of learner f takes the rejection of a true hypothesis about f, at
    alpha / (K - 1); K - 1 learners can be chosen so.
    """
    if decision.correction != PROCEDURES[decision.procedure].proved_with:
        return Promise("With this correction no error rate is proved for TestFirst.", bounded=False)
    return Promise(
        f"{hold}the chance that TestFirst chooses a {decision.noun} that is not better than all "
        f"those preferred to it {at_most}."
    )


def pair_sentence(pair: Pair) -> str:
    """State whether two learners are shown to differ, and by how much, in the user's metric."""
    a, b = called(pair.a), called(pair.b)
    metric = pair.metric
    difference = number(float(metric.difference(pair.estimate)))
    interval = interval_words(*map(float, metric.interval(pair.low, pair.high)))
    parts = (
        f"difference in {metric.mean} {difference}",
        f"interval {interval}" if interval else "",
        f"adjusted {pvalue_words(pair.adjusted_pvalue)}",
    )
    numbers = ", ".join(filter(None, parts))
    if pair.better is None:
        return capitalised(f"{a} and {b} are too close to call ({numbers}).")
    winner, loser = (a, b) if pair.better == pair.a else (b, a)
    return capitalised(f"{winner} is significantly better than {loser} ({numbers}).")


def posterior_sentence(posterior: Posterior) -> str:
    """State the three probabilities."""
    return (
        f"The probability that a is better is {probability_words(posterior.a_better)}, that the "
        f"two are equivalent {probability_words(posterior.equivalent)}, and that b is better "
        f"{probability_words(posterior.b_better)}."
    )


def standing_sentence(standing: Standing) -> str:
    """State how a learner compares with the recommended one."""
    name, best = called(standing.name), "the recommended one"
    verdict = {
        "better": capitalised(f"{name} is significantly better than {best}"),
        "worse": capitalised(f"{name} is significantly worse than {best}"),
        "too close to call": capitalised(f"{name} and {best} are too close to call"),
        "not tested": capitalised(f"{name} was not tested against {best}"),
        "not settled": f"It is not settled whether {name} and {best} differ",
    }[standing.verdict]
    p = "" if standing.adjusted_pvalue is None else f", {pvalue_words(standing.adjusted_pvalue)}"
    width = (standing.high - standing.low) / 2
    (mean,) = rounded([standing.mean], width)
    by = _by(standing.difference, width)
    return f"{verdict} ({standing.metric.mean} {mean}, {by}{p})."


def evidence_sentences(evidence: Evidence) -> str:
    """State how the pairs were tested, and which of them are shown to differ."""
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
    return f"{head} {claims_sentence(evidence)}"


def claims_sentence(evidence: Evidence) -> str:
    """List the pairs that are shown to differ, the surest first."""
    claimed = [pair for pair in evidence if pair.rejected]
    if not claimed:
        if len(evidence) == 1:
            p = pvalue_words(float(evidence.adjusted_pvalue[0]), evidence.family.alpha)
            return f"The two are too close to call ({p})."
        return f"All {len(evidence)} pairs are too close to call."
    claimed.sort(key=lambda pair: pair.adjusted_pvalue)
    listed = listing(
        f"{called(_winner(pair))} is better than {called(_loser(pair))} "
        f"({pvalue_words(pair.adjusted_pvalue, evidence.family.alpha)})"
        for pair in claimed
    )
    if len(evidence) == 1:
        return capitalised(f"{listed}.")
    return f"Shown in {len(claimed)} of {len(evidence)} pairs: {listed}."


def _winner(pair: Pair) -> Name:
    assert pair.better is not None
    return pair.better


def _loser(pair: Pair) -> Name:
    return pair.a if pair.better == pair.b else pair.b
