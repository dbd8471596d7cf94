"""Sentences about plans of study sizes."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from bestofk._base.formatting import counted
from bestofk.decide.power.planned import NO_SPREAD
from bestofk.stats.adjust import CORRECTIONS

if TYPE_CHECKING:
    from bestofk.decide.power.result import Needed, PairPlan, SampleSize

ENOUGH = "as many as now"


def about(count: float) -> str:
    """Return a number of runs or rows, rounded up to two digits if it is large.

    Examples
    --------
    >>> about(23), about(1873), about(3.26)
    ('23', '1,900', '3.3')
    """
    if count < 100:
        return f"{count:.2g}" if count != int(count) else f"{int(count)}"
    step = 10 ** (floor(log10(count)) - 1)
    return f"{ceil(count / step) * step:,}"


def short(value: float) -> str:
    """Return a difference with two digits.

    Examples
    --------
    >>> short(0.01234), short(0.5)
    ('0.012', '0.5')
    """
    return f"{value:.2g}"


def plan_sentences(plan: SampleSize) -> tuple[str, str]:
    """Return what a plan shows, before the table of the pairs, and what it rests on, after it."""
    head, rest = [_what_is_planned(plan), _what_it_shows(plan), *_pairs(plan)], [*plan.assumptions]
    if plan.difference is None and any(pair.needed for pair in plan.pairs):
        rest.append(
            "An observed difference only estimates the true one. To plan for the difference that "
            "matters to you, state that difference."
        )
    return "\n".join(head), "\n".join(rest)


def open_pairs(plan: SampleSize) -> dict[str, list[Any]]:
    """Return one row per pair without a shown difference, the smallest need first."""
    known = [pair for pair in plan.pairs if pair.estimate is not None]
    rows = sorted(
        (pair for pair in known if plan.difference is not None or not pair.settled), key=_effort
    )
    difference = [short(pair.difference) if pair.difference else "none" for pair in rows]
    return {
        "first": [pair.first for pair in rows],
        "second": [pair.second for pair in rows],
        **({"difference": difference} if plan.difference is None else {}),
        "probability": [_probability(pair.power) if pair.difference else "" for pair in rows],
        f"{plan.power:g} needs about": [
            _enough(plan, pair) if pair.difference else "" for pair in rows
        ],
    }


_COMPARED = {"best": "comparisons of each learner", "control": "comparisons with the control"}


def _what_is_planned(plan: SampleSize) -> str:
    sides, level = "two-sided", plan.level
    if plan.family == "preference":
        sides, level = "one-sided", plan.level / 2.0
    shared = ""
    if plan.comparisons > 1 and CORRECTIONS[plan.correction].adjusts:
        what = _COMPARED.get(plan.family, "pairs")
        shared = f" ({plan.alpha:g} over {plan.comparisons} {what})"
    design = plan.design[:1].upper() + plan.design[1:]
    return f"{design}. Test: {plan.test}, {sides}, at level {level:.2g}{shared}."


def _what_it_shows(plan: SampleSize) -> str:
    if plan.smallest_difference is None:
        if plan.reason == NO_SPREAD:
            return f"What this design can show is not known: {plan.reason}."
        return f"This design cannot show any difference: {plan.reason}."
    shown = [p.smallest_difference for p in plan.pairs if p.smallest_difference is not None]
    text = (
        f"With probability {plan.power:g} this design shows a difference of "
        f"{short(plan.smallest_difference)}"
    )
    low, high = short(min(shown)), short(max(shown))
    if low != high:
        text += f" between a typical pair ({low} to {high}, depending on the pair)"
    text += "."
    if plan.limit is not None:
        text += (
            f" More {plan.unit} cannot show a difference below {short(plan.limit)}; more rows can."
        )
    return text


def _pairs(plan: SampleSize) -> list[str]:
    known = [pair for pair in plan.pairs if pair.estimate is not None]
    left = [pair for pair in known if not pair.settled]
    if plan.difference is not None and not known:
        pair = plan.pairs[0]
        enough = _enough(plan, pair)
        need = "" if enough == ENOUGH else f"; {plan.power:g} needs about {enough}"
        chance = _probability(pair.power)
        return [
            f"A difference of {short(plan.difference)} is shown with probability {chance}{need}."
        ]
    if plan.difference is not None:
        return [
            f"If the true difference is {short(plan.difference)}, the table has the probability "
            f"that it is shown, and the size for a probability of {plan.power:g}."
        ]
    if not left:
        return ["Every pair is settled: the losses show a difference in each."] if known else []
    are = "is" if len(left) == 1 else "are"
    return [
        f"{len(left)} of {counted(len(known), 'pair')} {are} open. If the true difference is the "
        "observed one, the table has the probability that the design shows it, and the size for a "
        f"probability of {plan.power:g}."
    ]


def _enough(plan: SampleSize, pair: PairPlan) -> str:
    """Return the sizes that reach the requested power."""
    if not pair.difference:
        return ""
    options = [_amount(needed) for needed in pair.needed if needed.feasible]
    if pair.power is not None and pair.power >= plan.power:
        return ENOUGH
    return " or ".join(options) or "1,000 times as many or more"


def _amount(needed: Needed) -> str:
    if needed.count is None:
        assert needed.times is not None
        return f"{about(needed.times)} times as many {needed.unit}"
    return f"{about(needed.count)} {needed.unit}"


def _probability(value: float | None) -> str:
    if value is None or value < 0.005:
        return "below 0.01"
    return f"{value:.2f}" if value <= 0.995 else "above 0.99"


def _effort(pair: PairPlan) -> tuple[float, float]:
    times = [needed.times for needed in pair.needed if needed.times is not None]
    return (min(times, default=float("inf")), -(pair.power or 0.0))
