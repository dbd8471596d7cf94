"""One pair of learners, or all pairs, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestofk.ordering.preference import Name
from bestofk.ordering.words.sentences import called, correction_words, listing
from bestofk.presenting import renamed
from bestofk.wording import (
    capitalised,
    counted,
    interval_words,
    number,
    probability_words,
    pvalue_words,
)

if TYPE_CHECKING:
    from bestofk.ordering.evidence.evidence import Evidence, Pair, Posterior
    from bestofk.ordering.result import Standing


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
