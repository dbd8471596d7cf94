"""The verdict: which learner to use, and how much worse than the best it can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestofk._base.formatting import capitalised, in_words, joined, number, pvalue_words
from bestofk.decide.decision import MAY_BE_BEST, NOT_SHOWN, RULED_OUT, WITHIN_MARGIN
from bestofk.decide.preference import Name
from bestofk.decide.statements import Statement, statements
from bestofk.decide.statements.wording import (
    MAX_NAMED,
    at_most_text,
    called,
    is_are,
    level_words,
    mean_words,
    named,
    short_list,
    shown_means,
    uncertainty_of,
)

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision, Standing

CONTRADICTION = "The comparisons contradict each other, so no {noun} is the best by this test."


def verdict_statements(decision: Decision) -> tuple[Statement, ...]:
    """Return the first paragraph of a decision, sentence by sentence."""
    sentences: list[Statement | str]
    if decision.reasons:
        sentences = [*decision.reasons]
    elif decision.best is None:
        sentences = [*_by_pairs(decision)]
    elif decision.recommended is None:
        sentences = [CONTRADICTION.format(noun=decision.noun)]
    else:
        sentences = [*_best(decision)]
    sentences.append(_missing(decision))
    if decision.problem is not None:
        sentences.append(decision.problem.subject.lacking)
    dropped = () if decision.problem is None else decision.problem.dropped
    return (
        *(
            one if isinstance(one, Statement) else Statement(kind="verdict", text=capitalised(one))
            for one in sentences
            if one
        ),
        *statements("left out", dropped),
    )


def _missing(decision: Decision) -> str:
    """Say which learners lack losses, and that the statement holds whatever these are."""
    missing = None if decision.problem is None else decision.problem.missing
    if missing is None or not missing.counts or missing.as_worst is None:
        return ""
    worst = "wrong" if decision.on_items else "the worst there"
    lack = [
        f"{called(name)} has no score on {count} of {missing.units} {missing.unit}s"
        for name, count in list(missing.counts.items())[:MAX_NAMED]
    ]
    right = " or as right" if missing.as_best is not None else ""
    return f"{joined(lack)}; all of this also holds if these count as {worst}{right}."


def _use(decision: Decision, rest: str, *, lead: str = "Use", start: str = "") -> Statement:
    """Return ``Use nmc`` and the rest of the sentence, after a sentence `start`.

    If the subject adds something (`Subject.but`), the rest is a sentence of its own.
    """
    recommended = decision.recommended
    assert recommended is not None
    use = f"{start}{lead} {called(recommended)}"
    detail = decision.details.get(recommended, "")
    if detail:
        detail = f" ({decision.metric.mean} {shown_means(decision)[recommended]}, {detail})"
    but = "" if decision.problem is None else decision.problem.subject.but
    if but:
        why, colon, sentence = rest.partition(": it ")
        rest = f" for {decision.metric.name}{why}; {but}." + (f" It {sentence}" if colon else "")
    return Statement(kind="verdict", lead=use, text=f"{use}{detail}{rest}")


def _best(decision: Decision) -> list[Statement | str]:
    """State the recommended learner with its bound, then the others."""
    recommended, count = decision.recommended, in_words(len(decision.by_preference))
    row = next(one for one in decision.standings if one.name == recommended)
    in_brackets = level_words(decision.alpha) + " confidence"
    candidates = decision.candidates
    if row.at_most is not None and row.at_most > decision.mean_losses[row.name] > 0:
        in_brackets += "; wide: more data would help"
    if not decision.decidable:
        return [_undecidable(decision), _use(decision, _has_best_mean(decision), lead=_NOW)]
    if candidates == (recommended,):
        return [_use(decision, f": it is the best of the {count} ({in_brackets}).")]
    if len(candidates) == len(decision.by_preference) and not decision.preference.stated:
        first = "Either of the two" if len(candidates) == 2 else f"Any of the {count}"
        if row.at_most is None:
            rest = f"{_has_best_mean(decision)} {no_bound(decision)}"
        else:
            rest = f": it is at most {at_most_text(decision, row.at_most)} worse ({in_brackets})."
        start = f"{first} may be the best. "
        return [_use(decision, rest, lead=_NOW, start=start)]
    return [_use(decision, _bound(decision, row, in_brackets)), _others(decision)]


_NOW = "If you must choose now, use"


def _bound(decision: Decision, row: Standing, in_brackets: str) -> str:
    """Return the sentence after ``Use nmc``: why, and how much worse than the best it can be."""
    count = in_words(len(decision.by_preference))
    if row.at_most is None:
        if not decision.preference.stated:
            return f"{_has_best_mean(decision)} {no_bound(decision)}"
        may_be = ": it may be the best" if row.name == decision.by_preference[0] else ""
        return f", {_why_preferred(decision)}{may_be}. {no_bound(decision)}"
    worst = f"at most {at_most_text(decision, row.at_most)} worse"
    candidate = row.name in decision.candidates
    good_enough = candidate or row.at_most <= (decision.margin or 0.0)
    if not decision.preference.stated or not good_enough:
        return f": it is {worst} than the best of the {count} ({in_brackets})."
    if candidate:
        may_be = "may be the best, and is" if row.name == decision.by_preference[0] else "is"
        return f", {_why_preferred(decision)}: it {may_be} {worst} ({in_brackets})."
    return (
        f", {_why_preferred(decision)}: it is {worst} than the best of the {count}, which is "
        f"within your margin of {number(decision.margin or 0.0)} ({in_brackets})."
    )


def _why_preferred(decision: Decision) -> str:
    """Return ``which you prefer``, or what makes it preferred to the others."""
    recommended, preference = decision.recommended, decision.preference
    assert recommended is not None
    first = preference.first(recommended)
    if recommended == decision.by_preference[0]:
        return first if preference.kind == "measured" else "which you prefer"
    good = "may be the best" if recommended in decision.candidates else "is good enough"
    return f"{first} that {good}"


def _has_best_mean(decision: Decision) -> str:
    """Return ``: it has the lowest mean error (0.12).``"""
    recommended = decision.recommended
    assert recommended is not None
    has = "may be the best"
    if recommended == decision.smallest_mean:
        losses, metric = decision.mean_losses, decision.metric
        has = mean_words(recommended, losses, metric, uncertainty_of(decision))
        if recommended in decision.details:
            # its mean is in the sentence already
            has = f"has the {metric.smallest} {metric.mean}"
    return f": it {has}."


def no_bound(decision: Decision) -> str:
    """Say why there is no bound of how much worse than the best a learner can be."""
    choice = decision.test_choice
    entry = None if choice is None else choice.entry
    if choice is not None and decision.evidence.values is None:
        return "There is no bound, because each pair is compared on the items that both have."
    start = f"The {decision.test} test gives no bound"
    if entry is not None and entry.bayesian:
        return f"{start}: it has posterior probabilities."
    if entry is not None and entry.estimand == "typical":
        return f"{start}: it does not compare means."
    if entry is not None and entry.pair_by_pair:
        return f"{start}: it estimates the difference of each pair by itself."
    problem, recommended = decision.problem, decision.recommended
    if problem is not None and recommended is not None:
        losses = dict(zip(problem.names, problem.sample(1), strict=True))
        same = [name for name, row in losses.items() if (row == losses[recommended]).all()]
        if len(same) > 1:
            return f"There is no bound: {named(same)} are equal on every {problem.unit}."
    return f"{start}."


def _undecidable(decision: Decision) -> str:
    """Say that no data of this size can rule out a learner."""
    assert decision.problem is not None
    n = decision.problem.n_units
    many = f"{in_words(n)} {decision.problem.unit}{'' if n == 1 else 's'}"
    smallest = pvalue_words(decision.smallest_possible, decision.alpha)
    return (
        f"Nothing can be ruled out: with {many} and {in_words(len(decision.by_preference))} "
        f"{decision.noun}s the smallest possible adjusted p-value of the {decision.test} test "
        f"({smallest}) is above alpha."
    )


def _by_verdict(decision: Decision) -> dict[str, list[Name]]:
    groups: dict[str, list[Name]] = {}
    for row in decision.standings:
        groups.setdefault(row.verdict, []).append(row.name)
    return groups


def _others(decision: Decision) -> str:
    """Return ``a may be as good, b is within the margin; the other four are ruled out.``"""
    groups = _by_verdict(decision)
    good = "may be as good" if decision.recommended == decision.candidates[0] else "may be better"
    parts = []
    sole = decision.candidates if len(decision.candidates) == 1 else ()
    if sole and decision.recommended not in sole:
        parts.append(f"{called(decision.candidates[0])} is the best")
    elif may_be := groups.get(MAY_BE_BEST):
        parts.append(f"{short_list(may_be)} {good}")
    within = [name for name in groups.get(WITHIN_MARGIN, []) if name not in sole]
    if within:
        parts.append(f"{short_list(within)} {is_are(within)} within the margin")
    if out := groups.get(RULED_OUT):
        who = called(out[0]) if len(out) == 1 else f"the other {in_words(len(out))}"
        parts.append(f"{who} {is_are(out)} ruled out")
    return f"{'; '.join(parts)}." if parts else ""


def _by_pairs(decision: Decision) -> list[Statement | str]:
    """State what MultiTest recommends, and how the others compare with that."""
    recommended = decision.recommended
    assert recommended is not None
    rest = _has_best_mean(decision)
    if decision.preference.stated:
        rest = f", {decision.preference.first(recommended)} that no other significantly beats."
    groups = _by_verdict(decision)
    words = {
        "better": "significantly better",
        "worse": "significantly worse",
        NOT_SHOWN: "not shown to differ from it",
        "not tested": "not tested against it",
    }
    parts = [
        f"{short_list(groups[verdict])} {is_are(groups[verdict])} {text}"
        for verdict, text in words.items()
        if verdict in groups
    ]
    return [_use(decision, rest), f"{'; '.join(parts)}." if parts else ""]
