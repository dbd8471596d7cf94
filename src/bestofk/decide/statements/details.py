"""Statements of a decision after its verdict: standings, ranking, preference, evidence."""

from __future__ import annotations

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
from bestofk.decide.decision import RULED_OUT
from bestofk.decide.preference import Name
from bestofk.decide.registry import PROCEDURES, decides_by
from bestofk.decide.statements import Statement, statements
from bestofk.decide.statements.wording import (
    MAX_NAMED,
    called,
    chain,
    correction_words,
    family_words,
    level_words,
    listing,
    pairs_in_short,
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
    """State by which learner each of the others is ruled out."""
    evidence = decision.evidence
    if decision.best is None or not decision.candidates:
        return ()
    out = [row.name for row in decision.standings if row.verdict == RULED_OUT]
    texts, pvalues = [], {}
    for name in out[: MAX_NAMED + 1]:
        index, rows = evidence.names.index(name), evidence.rows_of(name)
        wins = rows[evidence.better[rows] != 0]
        lost = wins[np.where(evidence.first[wins] == index, 1, -1) == evidence.better[wins]]
        row = lost[np.argmin(evidence.pvalue[lost])]
        winner = evidence.names[evidence.first[row] + evidence.second[row] - index]
        pvalues[str(name)] = float(evidence.adjusted_pvalue[row])
        p = pvalue_words(pvalues[str(name)], decision.alpha)
        texts.append(f"{called(name)} by {called(winner)} ({p})")
    texts += [""] * (len(out) - len(texts))
    if not out:
        return ()
    adjusted = f", p-values times {len(evidence.names) - 1}" if len(evidence) > 1 else ""
    text = f"Ruled out{adjusted}: {listing(texts)}."
    return (Statement(kind="standing", text=text, learners=tuple(out), numbers=pvalues),)


def ranking_statements(decision: Decision) -> tuple[Statement, ...]:
    """State the ranking of three or more learners, and what decides it."""
    if len(decision.ranking) < 3:
        return ()
    start, reason = f"Order by {decision.metric.mean}", ""
    if decides_by(decision.procedure) == "wins":
        start = "Order by significant wins"
    elif decision.preference.stated:
        start = "Order"
        reason = "Your preference decides, unless the data override it."
    text = f"{start}: {chain(decision.ranking)}. {reason}".rstrip()
    return (Statement(kind="ranking", text=text, reason=reason, learners=decision.ranking),)


def posterior_statements(decision: Decision) -> tuple[Statement, ...]:
    """State the posterior probabilities of the others against the recommended learner."""
    evidence, best = decision.evidence, decision.recommended
    posteriors = evidence.posteriors if best is not None else None
    if best is None or posteriors is None or evidence.bayesian is None:
        return ()
    listed = []
    others = [standing for standing in decision.standings if standing.name != best]
    for standing in others[:MAX_NAMED]:
        row = evidence.row(standing.name, best)
        if row is None:
            continue
        is_first = evidence.names[evidence.first[row]] == standing.name
        ends = ("a_better", "b_better") if is_first else ("b_better", "a_better")
        better, worse = (float(posteriors[end][row]) for end in ends)
        same = float(posteriors["equivalent"][row])
        shown = (probability_words(p) for p in (better, same, worse))
        listed.append(f"{called(standing.name)} {', '.join(shown)}")
    more = len(others) - MAX_NAMED
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
    if not preference.stated or decides_by(decision.procedure) not in ("best", "steps"):
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
    )
    text = " ".join(filter(None, parts))
    return (Statement(kind="evidence", text=text, short=evidence_in_short(decision)),)


def evidence_in_short(decision: Decision) -> str:
    """Return ``nested-cv-t test of all 15 pairs, alpha = 0.05 with Holm's correction``."""
    evidence = decision.evidence
    posterior = decision.test_choice is not None and decision.test_choice.posterior
    instead = ", with posterior probabilities in place of p-values" if posterior else ""
    return (
        f"{decision.test} test {pairs_in_short(evidence)}, alpha = {decision.alpha:g}"
        f"{correction_words(evidence)}{instead}"
    )


def caution_statements(decision: Decision) -> tuple[Statement, ...]:
    """State what is known against the test; nothing if it promises no error rate."""
    if not decision.caution or decision.test_choice is None or not promise(decision).bounded:
        return ()
    short = first_sentence(decision.caution)
    return (Statement(kind="caution", text=f"Caution: {decision.caution}", short=short),)


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
    if family.of_best:
        bounded = decision.best is not None and np.isfinite(decision.best.at_most).any()
        bounds = ", and all bounds hold at once" if bounded else ""
        return Promise(
            f"With {level_words(decision.alpha)} confidence the best is among those that may be "
            f"the best{bounds}, if the test's assumptions hold."
        )
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
    low, high = map(float, metric.interval(pair.low, pair.high))
    interval = interval_words(low, high)
    parts = (
        f"difference in {metric.mean} {difference}",
        f"interval {interval}" if interval else "",
        f"adjusted {pvalue_words(pair.adjusted_pvalue)}",
    )
    numbers = ", ".join(filter(None, parts))
    if pair.better is None:
        return capitalised(f"{a} and {b} are not shown to differ ({numbers}).")
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
    """State the verdict on a learner, and how much worse than the best it is."""
    high, low = standing.at_most, standing.at_least
    (mean,) = rounded([standing.mean], high)
    parts = [f"{standing.metric.mean} {mean}"]
    if high is not None:
        worse = f"at most {number(high)}" if not low else f"{number(low)} to {number(high)}"
        parts.append(f"worse than the best by {worse}")
    return f"{called(standing.name)}: {standing.verdict} ({', '.join(parts)})."


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
            return f"No difference between the two is shown ({p})."
        return f"No difference is shown in any of {len(evidence)} pairs."
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
