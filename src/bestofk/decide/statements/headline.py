"""What to do, in the first sentences: the recommended learner, and why."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from bestofk._base.formatting import capitalised, in_words, joined, number, pvalue_words
from bestofk.decide.choose_test import fallback_test, smallest_pvalue, units
from bestofk.decide.preference import Name
from bestofk.decide.registry import decides_by
from bestofk.decide.statements.explain import (
    LISTED,
    called,
    difference_words,
    is_are,
    mean_words,
    named,
)

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision, Standing

_PREFERRED = {
    "fit_time": ("is quicker to fit", "are quicker to fit"),
    "predict_time": ("is quicker to predict with", "are quicker to predict with"),
    "size": ("is smaller in memory", "are smaller in memory"),
    "complexity": ("is simpler", "are simpler"),
    "prices": ("costs less", "cost less"),
    "latency": ("is faster", "are faster"),
}
_MOST_UNITS = 10_000


def headline_of(order: Decision) -> str:
    """The first paragraph of a verdict."""
    return " ".join(headline_parts(order))


def headline_parts(order: Decision) -> list[str]:
    """The sentences of the first paragraph, what to do first."""
    parts = []
    if not order.decidable:
        parts.append(undecidable(order))
    if order.reasons:
        parts.extend(order.reasons)
    elif decides_by(order.procedure) == "adequacy":
        parts.extend(_cheapest_adequate(order))
    elif order.preference.stated:
        parts.extend(_by_preference(order))
    else:
        parts.extend(_by_mean(order))
    if order.problem is not None:
        parts.extend(order.problem.dropped)
    return [capitalised(part) for part in parts if part]


def undecidable(order: Decision) -> str:
    """No data of this size could have shown anything, and how many would be needed."""
    problem, choice = order.problem, order.test_choice
    if problem is None or choice is None or choice.entry is None:
        return ""
    n = units(problem) if order.n_clusters is None else order.n_clusters
    what = "data set" if problem.n_datasets > 1 else "test instance"
    if order.noun == "model":
        what = "item" if order.n_clusters is None else "cluster"
    adjusted = "adjusted " if order.evidence.family.size > 1 else ""
    sentence = (
        f"{in_words(n).capitalize()} {what}{'' if n == 1 else 's'} cannot decide between "
        f"{in_words(len(order.by_preference))} {order.noun}s by the {order.test} test: the "
        f"smallest {adjusted}p-value possible is "
        f"{pvalue_words(order.smallest_possible, order.alpha)[4:]}."
    )
    needed = units_needed(order)
    if needed is None:
        return sentence
    other = ""
    instead = fallback_test(problem.situations[0]) if problem.situations else None
    if instead is not None and order.test != instead[0].name:
        entry, found = instead
        other = f"; {entry.called} ({entry.name}) could decide, {found.why}"
    return f"{sentence} At least {needed} are needed{other}."


def units_needed(order: Decision) -> int | None:
    """How many data sets or instances it takes before anything can be shown; None: unknown."""
    assert order.problem is not None
    assert order.test_choice is not None
    evidence = order.evidence
    now = units(order.problem) if order.n_clusters is None else order.n_clusters
    for m in range(now, _MOST_UNITS):
        smallest = smallest_pvalue(order.test_choice, m)
        if evidence.family.smallest_adjusted(smallest, evidence.alternative) <= order.alpha:
            return m
    return None


def _groups(order: Decision) -> dict[str, list[Name]]:
    found: dict[str, list[Name]] = {}
    for standing in order.standings:
        found.setdefault(standing.verdict, []).append(standing.name)
    return found


def equal_means(order: Decision) -> list[Name]:
    """Learners whose mean is that of the recommended one."""
    assert order.recommended is not None
    own = order.means[order.recommended]
    unit = max(abs(mean) for mean in order.means.values()) or 1.0
    return [
        name
        for name in order.by_preference
        if name != order.recommended and abs(order.means[name] - own) <= 1e-12 * unit
    ]


def _shown(order: Decision, name: Name) -> str:
    return number(order.metric.shown(order.means[name]))


def _has_smallest(order: Decision, equal: Sequence[Name]) -> str:
    """``has the smallest mean error (0.2)``, of the recommended one."""
    metric, best = order.metric, order.recommended
    assert best is not None
    if equal:
        return (
            f"shares the {metric.smallest} {metric.mean} ({_shown(order, best)}) with "
            f"{named(equal)}"
        )
    if len(order.by_preference) == 2:
        other = next(name for name in order.by_preference if name != best)
        return (
            f"has the {metric.smaller} {metric.mean} ({_shown(order, best)} against "
            f"{_shown(order, other)})"
        )
    return f"has the {metric.smallest} {metric.mean} ({_shown(order, best)})"


def _all_equal(order: Decision) -> str:
    best = order.recommended
    assert best is not None
    count = len(order.by_preference)
    all_of_them = "Both" if count == 2 else f"All {in_words(count)}"
    return f"{all_of_them} {order.noun}s have the same {order.metric.mean} ({_shown(order, best)})."


def _by_mean(order: Decision) -> list[str]:
    """No preference: the smallest mean, and who else would do."""
    best = order.recommended
    assert best is not None
    equal = equal_means(order)
    use = (
        f"Use {called(best)}" if order.decidable else f"If you must choose now, use {called(best)}"
    )
    if len(equal) == len(order.by_preference) - 1:
        another = called(equal[0]) if len(equal) == 1 else "another"
        first = f"{_all_equal(order)} {use}, the first listed, or {another} if you prefer it."
        return [first, *_contradiction(order), _who_else(order) if order.claims else ""]
    first = f"{use}: it {_has_smallest(order, equal)}."
    return [first, *_contradiction(order), _who_else(order, take=True)]


def _who_else(order: Decision, *, take: bool = False) -> str:
    """Those that are not shown to be worse, and those that are."""
    if not order.decidable:
        # nothing could have been shown
        return ""
    groups = _groups(order)
    worse = groups.get("worse", [])
    close = groups.get("no evidence", [])
    untested = groups.get("not tested", [])
    parts = []
    if close:
        it = "it" if len(close) == 1 else "one of them"
        offer = f", so take {it} if you prefer it" if take else ""
        parts.append(
            f"{named(close)} {is_are(close)} not shown to be worse{_at_most(order, close)}{offer}"
        )
    if worse:
        parts.append(f"{named(worse)} {is_are(worse)} shown to be worse")
    sentence = f"{'; '.join(parts)}." if parts else ""
    if untested:
        assert order.recommended is not None
        than = "" if parts else f" than {called(order.recommended)}"
        sentence += f" Whether {named(untested)} {is_are(untested)} worse{than} was not tested."
    return sentence.strip()


def _at_most(order: Decision, close: Sequence[Name]) -> str:
    """How much worse these can be: the largest upper end of their intervals."""
    assert order.recommended is not None
    most = max(order.against(name, order.recommended).high for name in close)
    return f" (if so, by at most {most:.2g})" if isfinite(most) and most > 0 else ""


def _contradiction(order: Decision) -> list[str]:
    """The one with the smallest mean is beaten by a test that does not go by the mean."""
    better = _groups(order).get("better", [])
    if not better:
        return []
    return [
        f"But {named(better)} {is_are(better)} significantly better by the {order.test} test, "
        f"which does not go by the mean: look at the single {_units_word(order)} before you decide."
    ]


def _units_word(order: Decision) -> str:
    problem = order.problem
    if problem is not None and problem.n_datasets > 1:
        return "data sets"
    if problem is None or problem.design.kind != "test-set":
        return "folds"
    if order.n_clusters is not None:
        return "clusters"
    return "items" if order.noun == "model" else "instances"


def which_you_prefer(order: Decision, names: Sequence[Name]) -> str:
    """``which you prefer``, ``which is simpler``: why these stand before the recommended one."""
    one, many = _PREFERRED.get(order.preference.words, ("you prefer", "you prefer"))
    return f"which {one if len(names) == 1 else many}"


def _by_preference(order: Decision) -> list[str]:
    """MultiTest: the most preferred learner that no other is shown to beat."""
    best, claims = order.recommended, set(order.claims)
    assert best is not None
    at = order.by_preference.index(best)
    preferred = order.by_preference[:at]
    beaten = [name for name in preferred if (best, name) in claims]
    passed = order.steps[0].passed_over if order.steps else ()
    struck = [name for name in preferred if name not in beaten and name not in passed]
    same = equal_means(order)
    smallest = order.smallest_mean == best or order.smallest_mean in same
    sentences = []
    if len(same) == len(order.by_preference) - 1 and not order.claims:
        return [f"{_all_equal(order)} Use {called(best)}, {order.preference.first()}."]
    if beaten:
        sentences.append(_beats(order, beaten, same, smallest=smallest))
    elif smallest:
        first = f", {order.preference.first()}, which also" if not at else ", which"
        sentences.append(f"Use {called(best)}{first} {_has_smallest(order, same)}.")
    elif passed:
        sentences.append(f"Use {called(best)}.")
    elif order.decidable:
        sentences.append(
            f"Use {called(best)}, {order.preference.first()} that no other is shown to beat."
        )
    else:
        sentences.append(f"Until then your preference decides: use {called(best)}.")
    sentences.extend(_struck_out(order, struck, claims))
    sentences.extend(_passed_over(order, passed, claims))
    if not smallest:
        sentences.append(_smallest_mean(order))
    elif not beaten:
        sentences.append(_who_else(order))
    return sentences


def _beats(order: Decision, beaten: Sequence[Name], same: Sequence[Name], *, smallest: bool) -> str:
    assert order.recommended is not None
    others = len(order.by_preference) - 1 - len(beaten)
    end = "."
    if smallest:
        end = f", and it {_has_smallest(order, same)}."
    elif others > 1 and not _groups(order).get("better"):
        # of a single other one the next sentence speaks
        end = f", and none of the other {in_words(others)} is shown to be better."
    return (
        f"Use {called(order.recommended)}. It is significantly better than {named(beaten)}, "
        f"{which_you_prefer(order, beaten)}{end}"
    )


def _struck_out(
    order: Decision, struck: Sequence[Name], claims: set[tuple[Name, Name]]
) -> list[str]:
    """Preferred learners that are out because of others than the recommended one."""
    by_winner: dict[Name, list[Name]] = {}
    for name in struck:
        winners = [other for other in order.by_preference if (other, name) in claims]
        if winners:
            by_winner.setdefault(min(winners, key=order.means.__getitem__), []).append(name)
    sentences = []
    for winner, losers in by_winner.items():
        sentences.append(
            f"{named(losers)}, {which_you_prefer(order, losers)}, {is_are(losers)} out because "
            f"{called(winner)} is significantly better."
        )
        better = [name for name in losers if (order.recommended, name) not in claims
                  and (name, order.recommended) in claims]  # fmt: skip
        if better:
            assert order.recommended is not None
            sentences.append(
                f"Yet {named(better)} {is_are(better)} significantly better than "
                f"{called(order.recommended)}."
            )
    return sentences


def _passed_over(
    order: Decision, passed: Sequence[Name], claims: set[tuple[Name, Name]]
) -> list[str]:
    """Where the guard acts, it says so."""
    metric = order.metric
    out = {loser for _, loser in claims}
    by_reason: dict[Name, list[Name]] = {}
    for name in passed:
        before = order.by_preference[: order.by_preference.index(name)]
        reason = [one for one in before if one in out and order.means[one] < order.means[name]]
        if reason:
            by_reason.setdefault(min(reason, key=order.means.__getitem__), []).append(name)
    sentences = []
    for other, names in by_reason.items():
        own = joined([_shown(order, name) for name in names[:LISTED]])
        them, its = ("it", f"its {metric.mean} ({own}) is")
        if len(names) > 1:
            them, its = "them", f"their means ({own}) are"
        sentences.append(
            f"{named(names)} {is_are(names)} passed over although no other is shown to beat "
            f"{them}: {its} worse than that of {called(other)} ({_shown(order, other)}), "
            f"{which_you_prefer(order, [other])} and which is out."
        )
    return sentences


def _smallest_mean(order: Decision) -> str:
    """The learner with the smallest mean, where that is not the recommended one."""
    best, smallest, metric = order.recommended, order.smallest_mean, order.metric
    assert best is not None
    standing = order.against(smallest, best)
    word = metric.smaller if len(order.by_preference) == 2 else metric.smallest
    has = (
        f"{called(smallest)} has the {word} {metric.mean}, {_shown(order, smallest)} against "
        f"{_shown(order, best)}"
    )
    if standing.verdict == "better":
        return f"{has}, and is significantly better."
    if standing.verdict == "worse":
        return (
            f"{has}, but the {order.test} test, which does not go by the mean, shows it to be "
            f"worse: look at the single {_units_word(order)} before you decide."
        )
    if standing.verdict == "not tested":
        return f"{has}; whether it is better was not tested."
    if not order.decidable:
        return f"{has}, but so few {_units_word(order)} cannot show that it is better."
    return f"{has}, but is not shown to be better ({details(order, standing)})."


def details(order: Decision, standing: Standing) -> str:
    """``difference 0.011, 95 % interval -0.03 to 0.05, p = 0.20``."""
    parts = [f"difference {number(abs(standing.difference))}"]
    interval = difference_words(order, standing)
    if interval:
        parts.append(interval)
    if standing.adjusted_pvalue is not None:
        parts.append(pvalue_words(standing.adjusted_pvalue, order.alpha))
    return ", ".join(parts)


def _cheapest_adequate(order: Decision) -> list[str]:
    best, smallest = order.recommended, order.smallest_mean
    margin = number(order.margin or 0.0)
    two = len(order.by_preference) == 2
    smallest_words = mean_words(smallest, order.means, order.metric)
    if best is None:
        none = "neither" if two else "none"
        others = "the other" if two else "any other"
        return [
            f"No {order.noun} can be recommended yet: {none} is shown to be good enough, that is, "
            f"not worse than {others} by more than {margin}.",
            f"{called(smallest)} {smallest_words}.",
        ]
    sentences = [
        f"Use {called(best)}, {order.preference.first()} that is shown not to be worse than "
        f"{'the other' if two else 'any other'} by more than {margin}."
    ]
    same = equal_means(order)
    if best == smallest or smallest in same:
        sentences.append(f"It also {_has_smallest(order, same)}.")
    else:
        sentences.append(
            f"{called(smallest)} {smallest_words}, against {_shown(order, best)}."
            if not two
            else f"{called(smallest)} {smallest_words}."
        )
    return sentences
