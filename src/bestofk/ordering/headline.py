"""What to do, in the first sentences: the recommended learner, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestofk.ordering.preference import Name
from bestofk.ordering.selection import units
from bestofk.ordering.sentences import difference_words, is_are, listing, mean_words
from bestofk.wording import in_words, number, pvalue_words

if TYPE_CHECKING:
    from bestofk.ordering.result import Order, Standing

_PREFERRED = {
    "fit_time": ("is quicker to fit", "are quicker to fit"),
    "predict_time": ("is quicker to predict with", "are quicker to predict with"),
    "size": ("is smaller in memory", "are smaller in memory"),
    "complexity": ("is simpler", "are simpler"),
    "prices": ("costs less", "cost less"),
}
_MOST_UNITS = 10_000


def headline_of(order: Order) -> str:
    """The first paragraph of a verdict."""
    parts = []
    if not order.decidable:
        parts.append(_undecidable(order))
    if order.reasons:
        parts.extend(order.reasons)
    elif order.procedure == "cheapest-adequate":
        parts.extend(_cheapest_adequate(order))
    elif order.preference.stated:
        parts.extend(_by_preference(order))
    else:
        parts.extend(_by_mean(order))
    return " ".join(part for part in parts if part)


def _undecidable(order: Order) -> str:
    problem, choice = order.problem, order.choice
    if problem is None or choice is None or choice.entry is None:
        return ""
    n = units(problem)
    what = "data set" if problem.n_datasets > 1 else "test instance"
    many = in_words(n).capitalize()
    family, smallest = order.evidence.family, choice.entry.smallest_pvalue
    sentence = (
        f"{many} {what}{'' if n == 1 else 's'} cannot decide between "
        f"{in_words(len(order.prior))} learners by the {order.test} test: the smallest adjusted "
        f"p-value possible is {pvalue_words(order.smallest_possible, order.alpha)[4:]}."
    )
    if smallest is None:
        return sentence
    needed = next(
        (m for m in range(n, _MOST_UNITS) if family.smallest_adjusted(smallest(m)) <= order.alpha),
        None,
    )
    return sentence if needed is None else f"{sentence} At least {needed} are needed."


def _groups(order: Order) -> dict[str, list[Name]]:
    found: dict[str, list[Name]] = {}
    for standing in order.standings:
        found.setdefault(standing.verdict, []).append(standing.name)
    return found


def _equal_means(order: Order) -> list[Name]:
    """Learners whose mean is that of the recommended one."""
    assert order.recommended is not None
    own = order.means[order.recommended]
    unit = max(abs(mean) for mean in order.means.values()) or 1.0
    return [
        name
        for name in order.prior
        if name != order.recommended and abs(order.means[name] - own) <= 1e-12 * unit
    ]


def _by_mean(order: Order) -> list[str]:
    """No preference: the smallest mean, and who else would do."""
    best, metric = order.recommended, order.metric
    assert best is not None
    value = number(metric.shown(order.means[best]))
    equal = _equal_means(order)
    use = f"Use {best}" if order.decidable else f"If you must choose now, use {best}"
    if len(equal) == len(order.prior) - 1:
        both = "both" if len(equal) == 1 else f"all {in_words(len(equal) + 1)}"
        first = (
            f"The learners have the same {metric.mean}, {both} {value}: nothing separates them by "
            f"mean. {use}, the first listed, or whichever you prefer."
        )
    elif equal:
        first = (
            f"{use}: it and {listing(map(str, equal))} have the same {metric.mean} ({value}), the "
            f"{metric.smallest}."
        )
    else:
        first = f"{use}: it has the {metric.smallest} {metric.mean} ({value})."
    return [first, *_contradiction(order), _who_else(order, take=True)]


def _who_else(order: Order, *, take: bool) -> str:
    """Those that are not shown to be worse, and those that are."""
    groups = _groups(order)
    worse = groups.get("worse", [])
    close = groups.get("no evidence", [])
    untested = groups.get("not tested", [])
    parts = []
    if close:
        it = "it" if len(close) == 1 else "one of them"
        offer = f", so take {it} if you prefer it" if take else ""
        parts.append(f"{_listed(close)} {is_are(close)} not shown to be worse{offer}")
    if worse:
        if close:
            parts.append(f"{_listed(worse)} {is_are(worse)}")
        else:
            parts.append(f"{_listed(worse)} {is_are(worse)} shown to be worse")
    sentence = f"{'; '.join(parts)}." if parts else ""
    if untested and (worse or close):
        was = "was" if len(untested) == 1 else "were"
        sentence += f" Whether {_listed(untested)} {is_are(untested)} worse {was} not tested."
    elif untested:
        sentence += (
            f" Whether {_listed(untested)} {is_are(untested)} worse than {order.recommended} was "
            "not tested."
        )
    return sentence.strip()


def _listed(names: Sequence[Name]) -> str:
    return listing(map(str, names))


def _contradiction(order: Order) -> list[str]:
    """The recommended one is beaten by a test that does not go by the mean."""
    better = _groups(order).get("better", [])
    if not better:
        return []
    return [
        f"But {_listed(better)} {is_are(better)} significantly better by the {order.test} test, "
        f"which does not go by the mean: look at the single {_units_word(order)} before you decide."
    ]


def _units_word(order: Order) -> str:
    problem = order.problem
    if problem is not None and problem.n_datasets > 1:
        return "data sets"
    return "folds" if problem is None or problem.design.kind != "test-set" else "instances"


def _which_you_prefer(order: Order, names: Sequence[Name]) -> str:
    one, many = _PREFERRED.get(order.preference.words, ("you prefer", "you prefer"))
    return f"which {one if len(names) == 1 else many}"


def _by_preference(order: Order) -> list[str]:
    """MultiTest: the most preferred learner that no other is shown to beat."""
    best, metric = order.recommended, order.metric
    assert best is not None
    at = order.prior.index(best)
    preferred = order.prior[:at]
    claims = set(order.claims)
    beaten = [name for name in preferred if (best, name) in claims]
    passed = order.steps[0].passed_over if order.steps else ()
    struck = [name for name in preferred if name not in beaten and name not in passed]
    smallest = order.smallest_mean
    equal = smallest == best or smallest in _equal_means(order)
    value = number(metric.shown(order.means[best]))
    sentences = []
    if beaten:
        end = "."
        if equal:
            end = f", and it has the {metric.smallest} {metric.mean} ({value})."
        elif not _groups(order).get("better") and len(order.prior) - 1 > len(beaten):
            end = f", and {_none_of_the_others(len(order.prior) - 1 - len(beaten))}."
        sentences.append(
            f"Use {best}. It is significantly better than {_listed(beaten)}, "
            f"{_which_you_prefer(order, beaten)}{end}"
        )
    elif equal:
        first = order.preference.first()
        also = "which also has" if not at else "which has"
        role = f", {first}, {also}" if not at else f", {also}"
        sentences.append(f"Use {best}{role} the {metric.smallest} {metric.mean} ({value}).")
    elif passed:
        sentences.append(f"Use {best}.")
    elif order.decidable:
        sentences.append(f"Use {best}, {order.preference.first()} that no other is shown to beat.")
    else:
        sentences.append(f"Until then your preference decides: use {best}.")
    sentences.extend(_struck_out(order, struck, claims))
    sentences.extend(_passed_over(order, passed, claims))
    if not equal:
        sentences.append(_smallest_mean(order))
    elif not beaten:
        sentences.append(_who_else(order, take=False))
    sentences.extend(_contradiction(order))
    return sentences


def _none_of_the_others(count: int) -> str:
    if count == 1:
        return "the other is not shown to be better"
    return f"none of the other {in_words(count)} is shown to be better"


def _struck_out(order: Order, struck: Sequence[Name], claims: set[tuple[Name, Name]]) -> list[str]:
    """Preferred learners that are out because of others than the recommended one."""
    sentences = []
    for name in struck[:3]:
        winners = [other for other in order.prior if (other, name) in claims]
        if winners:
            winner = min(winners, key=order.means.__getitem__)
            sentences.append(
                f"{name}, {_which_you_prefer(order, [name])}, is out because {winner} is "
                "significantly better than it."
            )
    if len(struck) > 3:
        more = len(struck) - 3
        others = "one more" if more == 1 else f"{in_words(more)} more"
        sentences.append(f"So {'is' if more == 1 else 'are'} {others}.")
    return sentences


def _passed_over(order: Order, passed: Sequence[Name], claims: set[tuple[Name, Name]]) -> list[str]:
    """Where the guard acts, it says so."""
    metric = order.metric
    sentences = []
    for name in passed[:3]:
        before = order.prior[: order.prior.index(name)]
        reason = [
            other
            for other in before
            if order.means[other] < order.means[name]
            and any((winner, other) in claims for winner in order.prior)
        ]
        if not reason:
            continue
        other = min(reason, key=order.means.__getitem__)
        sentences.append(
            f"{name} is passed over although no other is shown to beat it: its {metric.mean} "
            f"({number(metric.shown(order.means[name]))}) is worse than that of {other} "
            f"({number(metric.shown(order.means[other]))}), which you prefer and which is out."
        )
    return sentences


def _smallest_mean(order: Order) -> str:
    """The learner with the smallest mean, where that is not the recommended one."""
    best, smallest, metric = order.recommended, order.smallest_mean, order.metric
    assert best is not None
    standing = order.against(smallest, best)
    numbers = (
        f"{number(metric.shown(order.means[smallest]))} against "
        f"{number(metric.shown(order.means[best]))}"
    )
    has = f"{smallest} has the {metric.smallest} {metric.mean}, {numbers}"
    if standing.verdict == "better":
        return f"{has}, and is significantly better."
    if standing.verdict == "not tested":
        return f"{has}; whether it is better was not tested."
    return f"{has}, but is not shown to be better ({details(order, standing)})."


def details(order: Order, standing: Standing) -> str:
    """``difference 0.011, 95 % interval -0.03 to 0.05, p = 0.20``."""
    parts = [f"difference {number(abs(standing.difference))}"]
    interval = difference_words(order, standing)
    if interval:
        parts.append(interval)
    if standing.adjusted_pvalue is not None:
        parts.append(pvalue_words(standing.adjusted_pvalue, order.alpha))
    return ", ".join(parts)


def _cheapest_adequate(order: Order) -> list[str]:
    metric, smallest = order.metric, order.smallest_mean
    margin = number(order.margin or 0.0)
    if order.recommended is None:
        others = "the other" if len(order.prior) == 2 else "all the others"
        return [
            f"No learner is shown to be within {margin} of {others} yet, so none can be called "
            f"good enough.",
            f"{mean_words(smallest, order.means[smallest], metric)}.",
        ]
    best = order.recommended
    sentences = [
        f"Use {best}, {order.preference.first()} that is shown not to be worse than any other by "
        f"more than {margin}."
    ]
    if best == smallest or smallest in _equal_means(order):
        sentences.append(f"It also has the {metric.smallest} {metric.mean} "
                         f"({number(metric.shown(order.means[best]))}).")  # fmt: skip
    else:
        against = number(metric.shown(order.means[best]))
        sentences.append(
            f"{mean_words(smallest, order.means[smallest], metric)}, against {against}."
        )
    return sentences
