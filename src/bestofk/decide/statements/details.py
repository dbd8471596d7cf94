"""Statements of a decision: the reasons, the evidence, cautions and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bestofk._base.formatting import (
    in_words,
    number,
    probability_words,
    pvalue_words,
)
from bestofk.decide.decision import RULED_OUT
from bestofk.decide.registry import RULES, decides_by
from bestofk.decide.statements import Statement, statements
from bestofk.decide.statements.verdict import verdict_statements
from bestofk.decide.statements.wording import (
    MAX_NAMED,
    called,
    chain,
    correction_words,
    family_words,
    level_words,
    listing,
)
from bestofk.stats.adjust import ANY_WRONG_CLAIM, CORRECTIONS

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision
    from bestofk.decide.problem import Problem
    from bestofk.stats.pairwise.entry import PairwiseTest

_QUALITIES = {
    "fit_time": "are quicker to fit",
    "predict_time": "are quicker to predict with",
    "size": "are smaller in memory",
    "complexity": "are simpler",
    "latency": "are faster",
}
"""Words for the preferred learners by measured cost."""


def decision_statements(decision: Decision) -> tuple[Statement, ...]:
    """Return all statements of a decision, in the order of explanations."""
    return (
        *verdict_statements(decision),
        *_ruled_out(decision),
        *statements("reason", [_preference(decision)]),
        evidence_statement(
            decision, f"From {decision.design}.", _choice(decision), promise(decision)
        ),
        *statements("also", [_posteriors(decision)]),
        *cautions_and_notes(decision),
    )


def cautions_and_notes(decision: Decision) -> tuple[Statement, ...]:
    """State what is known against the test, and the notes on the losses and the test."""
    choice = decision.test_choice
    errs = decision.caution and (choice is None or not choice.posterior)
    return (
        *statements("caution", [f"Caution: {decision.caution}"] if errs else []),
        *statements("note", decision.notes),
    )


def _ruled_out(decision: Decision) -> tuple[Statement, ...]:
    """State by which learner each of the others is ruled out."""
    evidence = decision.evidence
    if decision.best is None or not decision.candidates:
        return ()
    out = [row.name for row in decision.standings if row.verdict == RULED_OUT]
    if not out:
        return ()
    texts = []
    for name in out[: MAX_NAMED + 1]:
        index, rows = evidence.names.index(name), evidence.rows_of(name)
        wins = rows[evidence.better[rows] != 0]
        lost = wins[np.where(evidence.first[wins] == index, 1, -1) == evidence.better[wins]]
        row = lost[np.argmin(evidence.pvalue[lost])]
        winner = evidence.names[evidence.first[row] + evidence.second[row] - index]
        p = pvalue_words(float(evidence.adjusted_pvalue[row]), decision.alpha)
        texts.append(f"{called(name)} by {called(winner)} ({p})")
    texts += [""] * (len(out) - len(texts))
    adjusted = f", p-values times {len(evidence.names) - 1}" if len(evidence) > 1 else ""
    return statements("reason", [f"Ruled out{adjusted}: {listing(texts)}."])


def _preference(decision: Decision) -> str:
    """State the preference, where the data override it, and the order that results."""
    decides, preference = decides_by(decision.rule), decision.preference
    if decides == "wins":
        return f"Order by significant wins: {chain(decision.ranking)}."
    if not preference.stated or decides not in ("best", "steps"):
        return ""
    by_preference = chain(decision.by_preference)
    stated = f"Your preference was {by_preference}."
    if preference.kind == "measured":
        quality = _QUALITIES.get(preference.words, f"have less {preference.words}")
        noise = ""
        if preference.factor > 1.0:
            noise = (
                f" (within a factor of {in_words(round(preference.factor))} the "
                f"{decision.metric.smaller} {decision.metric.mean} goes first)"
            )
        stated = f"You prefer {decision.noun}s that {quality}{noise}: {by_preference}."
    elif preference.words == "prices":
        stated = f"From the cheapest to the most expensive: {by_preference}."
    edges, pairs = decision.edges, len(decision.evidence)
    if not edges:
        return f"{stated} The data do not override it."
    shown = listing(f"{called(better)} over {called(worse)}" for worse, better in edges)
    if pairs == 1:
        return f"{stated} The data override it: {shown}."
    order = f"so the order is {chain(decision.ranking)}"
    if decision.ranking == decision.by_preference:
        order = "but within your margin it stands"
    return f"{stated} The data override it in {len(edges)} of {pairs} pairs ({shown}), {order}."


def evidence_statement(decision: Decision, *details: str) -> Statement:
    """State the test, its level and what the result speaks of, then `details`."""
    evidence, choice = decision.evidence, decision.test_choice
    test = "the means alone, no pair had to be tested"
    if len(evidence):
        level = f"alpha = {decision.alpha:g}{correction_words(evidence)}"
        test = f"{decision.test} test {family_words(evidence)}, {level}"
        if choice is not None and choice.posterior:
            test += ", with posterior probabilities in place of p-values"
    elif choice is None:
        test = f"{decision.test} test of all {decision.noun}s, alpha = {decision.alpha:g}"
    lead = f"How sure: {'; '.join(filter(None, [test, _quantity(decision)]))}."
    text = " ".join(filter(None, [lead, *details, _other_rows(decision)]))
    return Statement(kind="evidence", lead=lead, text=text)


_POPULATIONS = {
    "time": "for later times, if the process stays as it is",
    "seeds": "over new seeds, on the same test set",
    "scores": "over splits like these",
}
"""Where a result holds, by the kind of the design."""


def _quantity(decision: Decision) -> str:
    """Return ``mean error of learners trained on about 48 rows``, and where it holds."""
    problem, entry, size = decision.problem, _entry(decision), _training_size(decision)
    if problem is None:
        return ""
    subject = "these models" if decision.on_items else "learners"
    if _fitted(decision) and not decision.on_items:
        subject = "these fitted models"
    trained = "" if size is None else f" trained on about {size:,} rows"
    quantity = decision.metric.mean
    if entry is not None and entry.estimand == "typical":
        quantity = f"typical (median, not mean) difference in {decision.metric.name}"
    return f"{quantity} of {subject}{trained} {_population(problem)}".rstrip()


def _population(problem: Problem) -> str:
    """Return the words for the population of the result; empty for rows of one data set."""
    if problem.n_datasets > 1:
        return "over data sets like these"
    if problem.subject.noun == "model":
        clustered = problem.subject.n_clusters is not None and problem.subject.clustered
        return f"for new {'clusters of ' if clustered else ''}items like these"
    if problem.design.kind in _POPULATIONS:
        return _POPULATIONS[problem.design.kind]
    if problem.bare:
        return _POPULATIONS["scores"]
    return "" if problem.design.groups is None else "for new groups of rows from the same source"


def _entry(decision: Decision) -> PairwiseTest | None:
    return None if decision.test_choice is None else decision.test_choice.entry


def _fitted(decision: Decision) -> bool:
    """Return whether the result is about models that were fitted once."""
    entry = _entry(decision)
    return decision.noun == "model" or (entry is not None and entry.about == "fitted models")


def _other_rows(decision: Decision) -> str:
    if decision.problem is None or decision.on_items or not _fitted(decision):
        return ""
    return "The learners, trained on other rows, could differ from these models."


def _training_size(decision: Decision) -> int | None:
    """Return the training rows of a fit; None if they are unknown or differ."""
    problem = decision.problem
    if problem is None or problem.design.n_train is None:
        return None
    if problem.n_datasets > 1 or _fitted(decision):
        return None
    sizes = problem.design.n_train
    return round(sum(sizes) / len(sizes))


def _choice(decision: Decision) -> str:
    """Say why this test was chosen; empty if the caller asked for it."""
    choice = decision.test_choice
    if choice is None or not len(decision.evidence):
        return ""
    if choice.chosen:
        return f"The test was {choice.reason}."
    return f"{choice.detail[:1].upper()}{choice.detail[1:]}." if choice.detail else ""


def promise(decision: Decision) -> str:
    """State the error rate of the claims; empty if nothing was tested pair by pair."""
    evidence, family = decision.evidence, decision.evidence.family
    if not len(evidence):
        return ""
    if decision.test_choice is not None and decision.test_choice.posterior:
        text = (
            "The values in place of p come from posterior probabilities and are not p-values: no "
            "error rate is promised."
        )
        if np.isfinite(evidence.low).any():
            text += " The intervals are credible intervals, not confidence intervals."
        return text
    hold, at_most = "If the test's assumptions hold, ", f"is at most {decision.alpha:g}"
    if decides_by(decision.rule) == "one challenge":
        # the data choose which learner is tested: each of K - 1 wrong choices takes the rejection
        # of a true hypothesis at alpha / (K - 1)
        if decision.correction != RULES[decision.rule].proved_with:
            return "With this correction no error rate is proved for TestFirst."
        return (
            f"{hold}the chance that TestFirst chooses a {decision.noun} that is not better than "
            f"all those preferred to it {at_most}."
        )
    if family.of_best:
        bounded = decision.best is not None and np.isfinite(decision.best.at_most).any()
        bounds = ", and all bounds hold at once" if bounded else ""
        return (
            f"With {level_words(decision.alpha)} confidence the best is among those that may be "
            f"the best{bounds}, if the test's assumptions hold."
        )
    correction = CORRECTIONS[family.correction]
    if family.size == 1:
        return f"{hold}the chance of a wrong claim {at_most}."
    if not correction.adjusts:
        return (
            f"{hold}the chance of a wrong claim {at_most} for each pair; that of a wrong claim "
            f"about any of the {family.size} pairs is larger."
        )
    needs = "" if correction.any_dependence else " (for independent or positively dependent tests)"
    if not correction.directions and correction.guarantee == ANY_WRONG_CLAIM:
        needs += "; it is not proved that this includes claims in the wrong direction"
    return f"{hold}{correction.guarantee} {at_most}{needs}."


def _posteriors(decision: Decision) -> str:
    """State the posterior probabilities of the others against the recommended learner."""
    evidence, best = decision.evidence, decision.recommended
    posteriors = evidence.posteriors if best is not None else None
    if best is None or posteriors is None or evidence.bayesian is None:
        return ""
    listed = []
    others = [standing.name for standing in decision.standings if standing.name != best]
    for name in others[:MAX_NAMED]:
        row = evidence.row(name, best)
        if row is None:
            continue
        is_first = evidence.names[evidence.first[row]] == name
        better, worse = ("a_better", "b_better") if is_first else ("b_better", "a_better")
        shown = (
            probability_words(float(posteriors[key][row])) for key in (better, "equivalent", worse)
        )
        listed.append(f"{called(name)} {', '.join(shown)}")
    if len(others) > MAX_NAMED:
        listed.append(f"and {len(others) - MAX_NAMED} more")
    within = "" if evidence.rope is None else f" (within {number(evidence.rope)})"
    return (
        f"Posterior probabilities, by the {evidence.bayesian.name} test, of being better than, "
        f"equivalent to{within} and worse than {called(best)}: {'; '.join(listed)}."
    )
