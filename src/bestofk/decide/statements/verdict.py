"""The verdict: which learner to use, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestofk._base.formatting import capitalised, in_words, joined, number, pvalue_words
from bestofk.decide.choose_test import automatic_tests, smallest_pvalue, units
from bestofk.decide.preference import Name
from bestofk.decide.registry import decides_by
from bestofk.decide.statements import Statement
from bestofk.decide.statements.missing import missing_sentences
from bestofk.decide.statements.wording import (
    MAX_NAMED,
    called,
    is_are,
    named,
    shown_means,
    some,
    versus,
    words_of_texts,
)

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision

_PREFERRED = {
    "fit_time": ("is quicker to fit", "are quicker to fit"),
    "predict_time": ("is quicker to predict with", "are quicker to predict with"),
    "size": ("is smaller in memory", "are smaller in memory"),
    "complexity": ("is simpler", "are simpler"),
    "prices": ("costs less", "cost less"),
    "latency": ("is faster", "are faster"),
}
TOO_CLOSE = "too close to call"
"""The verdict on a pair that the data do not decide."""
_MAX_UNITS = 10_000
"""Units up to which the number needed is searched for."""


def verdict_statements(decision: Decision) -> tuple[Statement, ...]:
    """Return the first paragraph of a decision, sentence by sentence."""
    missing, depends = missing_sentences(decision)
    sentences: list[Statement | str] = [*missing]
    if not decision.decidable:
        sentences.append(undecidable(decision))
    if depends:
        pass
    elif decision.reasons:
        sentences.extend(decision.reasons)
    elif decides_by(decision.procedure) == "adequacy":
        sentences.extend(_cheapest_adequate(decision))
    elif decision.preference.stated:
        sentences.extend(_by_preference(decision))
    else:
        sentences.extend(_by_mean(decision))
    if decision.problem is not None:
        sentences.extend(decision.problem.dropped)
    return tuple(
        one if isinstance(one, Statement) else Statement(kind="verdict", text=capitalised(one))
        for one in sentences
        if one
    )


def _use(decision: Decision, rest: str, *, mean_follows: bool = False) -> Statement:
    """Return ``Use nmc`` and the rest of the sentence.

    `mean_follows` says that the rest gives the mean of the recommended learner.
    """
    best = decision.recommended
    assert best is not None
    lead = f"Use {called(best)}"
    detail = decision.details.get(best, "")
    if detail and not mean_follows:
        detail = f"{decision.metric.mean} {shown_means(decision)[best]}, {detail}"
    return Statement(
        kind="verdict",
        lead=lead,
        text=f"{lead}{f' ({detail})' if detail else ''}{rest}",
        learners=(best,),
    )


def undecidable(decision: Decision) -> str:
    """Say that no data of this size could show a difference, and how many units are needed."""
    problem, choice = decision.problem, decision.test_choice
    if problem is None or choice is None or choice.entry is None:
        return ""
    n = units(problem)
    unit = "data set" if problem.n_datasets > 1 else "test instance"
    if decision.on_items:
        unit = "item" if problem.subject.n_clusters is None else "cluster"
    adjusted = "adjusted " if decision.evidence.family.size > 1 else ""
    smallest = pvalue_words(decision.smallest_possible, decision.alpha)
    sentence = (
        f"{in_words(n).capitalize()} {unit}{'' if n == 1 else 's'} cannot decide between "
        f"{in_words(len(decision.by_preference))} {decision.noun}s by the {decision.test} test: "
        f"even the smallest possible {adjusted}p-value ({smallest}) is above alpha."
    )
    needed = units_needed(decision)
    if needed is None:
        return sentence
    other = ""
    if problem.n_datasets > 1:
        entry, _ = automatic_tests("datasets")[0]
        other = f"; {entry.called} ({entry.name}) could decide"
    return f"{sentence} At least {needed} are needed{other}."


def units_needed(decision: Decision) -> int | None:
    """Return how many units it takes before anything can be shown; None if unknown."""
    assert decision.problem is not None
    assert decision.test_choice is not None
    evidence = decision.evidence
    for n in range(units(decision.problem), _MAX_UNITS):
        smallest = smallest_pvalue(decision.test_choice, n)
        if evidence.family.smallest_adjusted(smallest, evidence.alternative) <= decision.alpha:
            return n
    return None


def _groups(decision: Decision) -> dict[str, list[Name]]:
    groups: dict[str, list[Name]] = {}
    for standing in decision.standings:
        groups.setdefault(standing.verdict, []).append(standing.name)
    return groups


def equal_means(decision: Decision) -> list[Name]:
    """Return the learners whose mean equals that of the recommended one."""
    assert decision.recommended is not None
    losses = decision.mean_losses
    best = losses[decision.recommended]
    scale = max(map(abs, losses.values())) or 1.0
    return [
        name
        for name in decision.by_preference
        if name != decision.recommended and abs(losses[name] - best) <= 1e-12 * scale
    ]


def _has_smallest(decision: Decision, equal: Sequence[Name]) -> str:
    """Return ``has the lowest mean error (0.2)``, about the recommended learner."""
    metric, best = decision.metric, decision.recommended
    assert best is not None
    texts = shown_means(decision)
    if equal:
        return f"shares the {metric.smallest} {metric.mean} ({texts[best]}) with {named(equal)}"
    return words_of_texts(best, texts, metric)


def _all_equal(decision: Decision) -> str:
    best = decision.recommended
    assert best is not None
    count = len(decision.by_preference)
    subject = "Both" if count == 2 else f"All {in_words(count)}"
    return (
        f"{subject} {decision.noun}s have the same {decision.metric.mean} "
        f"({shown_means(decision)[best]})."
    )


def _by_mean(decision: Decision) -> list[Statement | str]:
    """Recommend the best mean: there is no preference."""
    best = decision.recommended
    assert best is not None
    groups = _groups(decision)
    equal = equal_means(decision)
    if len(equal) == len(decision.by_preference) - 1:
        other = called(equal[0]) if len(equal) == 1 else "another one"
        rest = f", the first listed, or {other}."
        return [
            _all_equal(decision),
            _use(decision, rest, mean_follows=True),
            *_contradiction(decision),
            _others(decision) if decision.claims else "",
        ]
    if not decision.decidable:
        now = f"If you must choose now, use {called(best)}: it {_has_smallest(decision, equal)}."
        return [now, *_contradiction(decision)]
    if groups.get(TOO_CLOSE):
        return [
            _open(decision, groups[TOO_CLOSE], groups.get("worse", [])),
            *_contradiction(decision),
            _could_be_chance(decision, groups[TOO_CLOSE], equal),
            _untested(decision, groups),
        ]
    return [_clear(decision, groups, equal), *_contradiction(decision), _untested(decision, groups)]


def _open(decision: Decision, close: Sequence[Name], worse: Sequence[Name]) -> Statement:
    """Return ``a and b are too close to call; c is significantly worse.``"""
    best = decision.recommended
    assert best is not None
    lead = f"{some([best, *close])} are too close to call"
    rest = f"; {some(worse)} {is_are(worse)} significantly worse" if worse else ""
    return Statement(
        kind="verdict",
        lead=capitalised(lead),
        text=capitalised(f"{lead}{rest}."),
        learners=(best, *close),
    )


def _could_be_chance(decision: Decision, close: Sequence[Name], equal: Sequence[Name]) -> str:
    """Return ``a has the lowest mean error (0.2 vs 0.21), but that could be chance.``"""
    best, metric, texts = decision.recommended, decision.metric, shown_means(decision)
    assert best is not None
    if equal:
        shared = some([best, *equal])
        if len(equal) > 1:
            shared = f"{called(best)} and {in_words(len(equal))} others"
        return f"{shared} share the {metric.smallest} {metric.mean} ({texts[best]})."
    following = close[0]
    word = metric.smaller if len(texts) == 2 else metric.smallest
    means = versus(texts[best], texts[following])
    if len(close) > 1:
        means += f" {'to' if texts[best] == texts[following] else 'for'} {called(following)}"
    return f"{called(best)} has the {word} {metric.mean} ({means}), but that could be chance."


def _clear(decision: Decision, groups: dict[str, list[Name]], equal: Sequence[Name]) -> Statement:
    """Recommend a learner that no other is too close to."""
    worse, texts = groups.get("worse", []), shown_means(decision)
    best = decision.recommended
    assert best is not None
    if len(worse) == 1 and len(texts) == 2:
        means = versus(texts[best], texts[worse[0]])
        rest = (
            f": it is significantly better than {called(worse[0])} ({decision.metric.mean} "
            f"{means})."
        )
        return _use(decision, rest, mean_follows=True)
    has = _has_smallest(decision, equal)
    rest = f": it {has}."
    if worse:
        all_others = len(worse) == len(texts) - 1
        others = f"the other {in_words(len(worse))}" if all_others else some(worse)
        rest = f": it {has}, and {others} {is_are(worse)} significantly worse."
    return _use(decision, rest, mean_follows=True)


def _others(decision: Decision) -> str:
    """Name the learners that are too close to the recommended one, and those that are worse."""
    if not decision.decidable:
        return ""
    groups = _groups(decision)
    worse, close = groups.get("worse", []), groups.get(TOO_CLOSE, [])
    parts = []
    if close:
        parts.append(f"{some(close)} {is_are(close)} too close to call")
    if worse:
        parts.append(f"{some(worse)} {is_are(worse)} significantly worse")
    sentence = f"{'; '.join(parts)}." if parts else ""
    return f"{sentence} {_untested(decision, groups)}".strip()


def _untested(decision: Decision, groups: dict[str, list[Name]]) -> str:
    untested = groups.get("not tested", [])
    if not untested or not decision.decidable:
        return ""
    assert decision.recommended is not None
    return (
        f"Whether {some(untested)} {is_are(untested)} worse than {called(decision.recommended)} "
        "was not tested."
    )


def _contradiction(decision: Decision) -> list[str]:
    """Warn if a test that does not compare means beats the learner with the smallest mean."""
    better = _groups(decision).get("better", [])
    if not better:
        return []
    return [
        f"But {named(better)} {is_are(better)} significantly better by the {decision.test} test, "
        f"which does not compare means: look at the single {_units_word(decision)} before you "
        "decide."
    ]


def _units_word(decision: Decision) -> str:
    problem = decision.problem
    if problem is not None and problem.n_datasets > 1:
        return "data sets"
    if problem is None or not problem.design.on_test_set:
        return "folds"
    if problem.subject.n_clusters is not None:
        return "clusters"
    return "items" if decision.on_items else "instances"


def which_you_prefer(decision: Decision, names: Sequence[Name]) -> str:
    """Return ``which you prefer`` or ``which is simpler``: why these precede the recommended."""
    one, many = _PREFERRED.get(decision.preference.words, ("you prefer", "you prefer"))
    return f"which {one if len(names) == 1 else many}"


def _by_preference(decision: Decision) -> list[Statement | str]:
    """Recommend the most preferred learner that no other is shown to beat (MultiTest)."""
    best, claims = decision.recommended, set(decision.claims)
    assert best is not None
    position = decision.by_preference.index(best)
    preferred = decision.by_preference[:position]
    beaten = [name for name in preferred if (best, name) in claims]
    passed = decision.steps[0].passed_over if decision.steps else ()
    struck = [name for name in preferred if name not in beaten and name not in passed]
    same = equal_means(decision)
    smallest = decision.smallest_mean == best or decision.smallest_mean in same
    if len(same) == len(decision.by_preference) - 1 and not decision.claims:
        rest = f", {decision.preference.first(best)}."
        return [_all_equal(decision), _use(decision, rest, mean_follows=True)]
    sentences: list[Statement | str] = []
    if beaten:
        sentences.append(_beats(decision, beaten, same, smallest=smallest))
    elif smallest:
        first = f", {decision.preference.first(best)}, which also" if not position else ", which"
        rest = f"{first} {_has_smallest(decision, same)}."
        sentences.append(_use(decision, rest, mean_follows=True))
    elif passed:
        sentences.append(_use(decision, "."))
    elif decision.decidable:
        rest = f", {decision.preference.first(best)} that no other significantly beats."
        sentences.append(_use(decision, rest))
    else:
        sentences.append(f"Until then your preference decides: use {called(best)}.")
    sentences.extend(_struck_out(decision, struck, claims))
    sentences.extend(_passed_over(decision, passed, claims))
    if not smallest:
        sentences.append(_smallest_mean(decision))
    elif not beaten:
        sentences.append(_others(decision))
    return sentences


def _beats(
    decision: Decision, beaten: Sequence[Name], same: Sequence[Name], *, smallest: bool
) -> Statement:
    others = len(decision.by_preference) - 1 - len(beaten)
    end = "."
    if smallest:
        end = f", and it {_has_smallest(decision, same)}."
    elif others > 1 and not _groups(decision).get("better"):
        none = "neither" if others == 2 else "none"
        end = f", and {none} of the other {in_words(others)} is significantly better."
    rest = (
        f": it is significantly better than {named(beaten)}, {which_you_prefer(decision, beaten)}"
        f"{end}"
    )
    return _use(decision, rest, mean_follows=smallest)


def _struck_out(
    decision: Decision, struck: Sequence[Name], claims: set[tuple[Name, Name]]
) -> list[str]:
    """Name preferred learners that lose to others than the recommended one."""
    losses = decision.mean_losses
    by_winner: dict[Name, list[Name]] = {}
    for name in struck:
        winners = [other for other in decision.by_preference if (other, name) in claims]
        if winners:
            winner = min(winners, key=losses.__getitem__)
            by_winner.setdefault(winner, []).append(name)
    sentences = []
    for winner, losers in by_winner.items():
        sentences.append(
            f"{named(losers)}, {which_you_prefer(decision, losers)}, {is_are(losers)} out because "
            f"{called(winner)} is significantly better."
        )
        better = [name for name in losers if (decision.recommended, name) not in claims
                  and (name, decision.recommended) in claims]  # fmt: skip
        if better:
            assert decision.recommended is not None
            sentences.append(
                f"Yet {named(better)} {is_are(better)} significantly better than "
                f"{called(decision.recommended)}."
            )
    return sentences


def _passed_over(
    decision: Decision, passed: Sequence[Name], claims: set[tuple[Name, Name]]
) -> list[str]:
    """Name the learners that the guard passed over, and why."""
    metric, texts, losses = decision.metric, shown_means(decision), decision.mean_losses
    losers = {loser for _, loser in claims}
    by_reason: dict[Name, list[Name]] = {}
    for name in passed:
        before = decision.by_preference[: decision.by_preference.index(name)]
        reasons = [one for one in before if one in losers and losses[one] < losses[name]]
        if reasons:
            by_reason.setdefault(min(reasons, key=losses.__getitem__), []).append(name)
    sentences = []
    for other, names in by_reason.items():
        means = joined([texts[name] for name in names[:MAX_NAMED]])
        them, its = ("it", f"its {metric.mean} ({means}) is")
        if len(names) > 1:
            them, its = "them", f"their means ({means}) are"
        sentences.append(
            f"{named(names)} {is_are(names)} passed over although no other significantly beats "
            f"{them}: {its} worse than that of {called(other)} ({texts[other]}), "
            f"{which_you_prefer(decision, [other])} and which is out."
        )
    return sentences


def _smallest_mean(decision: Decision) -> str:
    """Compare the learner with the best mean to the recommended one."""
    best, smallest, metric = decision.recommended, decision.smallest_mean, decision.metric
    assert best is not None
    standing = decision.against(smallest, best)
    texts = shown_means(decision)
    word = metric.smaller if len(decision.by_preference) == 2 else metric.smallest
    has = (
        f"{called(smallest)} has the {word} {metric.mean} ({versus(texts[smallest], texts[best])})"
    )
    if standing.verdict == "better":
        return f"{has}, and is significantly better."
    if standing.verdict == "worse":
        return (
            f"{has}, but the {decision.test} test, which does not compare means, shows it to be "
            f"worse: look at the single {_units_word(decision)} before you decide."
        )
    if standing.verdict == "not tested":
        return f"{has}; whether it is better was not tested."
    if not decision.decidable:
        return f"{has}, but so few {_units_word(decision)} cannot show that it is better."
    p = "" if standing.adjusted_pvalue is None else (
        f" ({pvalue_words(standing.adjusted_pvalue, decision.alpha)})"
    )  # fmt: skip
    return f"{has}, but the two are too close to call{p}."


def _cheapest_adequate(decision: Decision) -> list[Statement | str]:
    best, smallest = decision.recommended, decision.smallest_mean
    margin = number(decision.margin or 0.0)
    two = len(decision.by_preference) == 2
    other = "the other" if two else "any other"
    texts = shown_means(decision)
    has = words_of_texts(decision.smallest_mean, texts, decision.metric)
    if best is None:
        none = "neither" if two else "none"
        return [
            f"No {decision.noun} can be recommended yet: {none} is shown to be good enough, that "
            f"is, not worse than {other} by more than {margin}.",
            f"{called(smallest)} {has}.",
        ]
    rest = (
        f", {decision.preference.first(best)} that is shown not to be worse than {other} by more "
        f"than {margin}."
    )
    same = equal_means(decision)
    if best == smallest or smallest in same:
        return [
            _use(decision, rest, mean_follows=True), f"It also {_has_smallest(decision, same)}."
        ]  # fmt: skip
    against = "" if two else f", against {texts[best]}"
    return [_use(decision, rest, mean_follows=True), f"{called(smallest)} {has}{against}."]
