"""What models cost, in words: beside the model to use, and against the others."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from bestofk.ordering.words.headline import headline_parts
from bestofk.ordering.words.sentences import called
from bestofk.wording import number

if TYPE_CHECKING:
    from bestofk.model_choice.model_choice import ModelChoice

A_THOUSAND = 1000.0
COST_TITLES = {
    "cost": "cost of 1,000 samples",
    "tokens": "tokens per sample",
    "latency": "seconds per sample",
}
"""What is shown of each measure; money by the thousand, as a sample costs next to nothing."""


def shown_cost(cost: float, of: str) -> float:
    """The number that is shown: for money that of a thousand samples."""
    return cost * A_THOUSAND if of == "cost" else cost


def cost_phrase(cost: float, of: str) -> str:
    """What a sample costs, in a phrase.

    Examples
    --------
    >>> cost_phrase(1.92e-05, "cost"), cost_phrase(21.0, "tokens"), cost_phrase(0.0612, "latency")
    ('0.0192 per 1,000 samples', '21 tokens per sample', '0.0612 seconds per sample')
    """
    amount = number(shown_cost(cost, of))
    words = {"cost": "per 1,000 samples", "tokens": "tokens per sample",
             "latency": "seconds per sample"}  # fmt: skip
    return f"{amount} {words[of]}"


def main_cost(costs: Mapping[str, Mapping[str, float]], preferred: str) -> str | None:
    """The measure to speak of: the one preferred by, else the first that all models have."""
    for of in (preferred, "cost", "tokens"):
        known = costs.get(of, {})
        if known and all(isfinite(cost) for cost in known.values()):
            return of
    return None


def headline_with_cost(choice: ModelChoice) -> list[str]:
    """Which model to use, with its score and cost and why; then what else there is to know."""
    order, who = choice.order, choice.recommended
    parts = headline_parts(order)
    of = main_cost(choice.costs, choice.cost_of)
    if who is None or of is None:
        return [" ".join(parts)]
    use = f"se {called(who)}"
    # where nothing could be shown, that comes first
    at = next((k for k, part in enumerate(parts) if use in part), None)
    if at is None:
        return [" ".join(parts)]
    first, _, rest = parts[at].partition(use)
    cost = choice.costs[of][str(who)]
    spoken = ("cost " if of == "cost" else "") + cost_phrase(cost, of)
    score = number(order.metric.shown(order.means[who]))
    # the score is said once
    if score not in rest:
        spoken = f"{order.metric.mean} {score}, {spoken}"
    if rest.startswith(". It "):
        rest = f": it {rest[5:]}"
    parts[at] = f"{first}{use} ({spoken}){rest}"
    more = " ".join(filter(None, [*parts[at + 1 :], _against(choice, of, cost)]))
    return [" ".join(parts[: at + 1]), *([more] if more else [])]


def _against(choice: ModelChoice, of: str, cost: float) -> str:
    """What the one with the best mean costs, or the cheapest that is not shown to be worse."""
    order, who = choice.order, choice.recommended
    costs = choice.costs[of]
    best: Any = order.smallest_mean
    if best == who:
        close = [name for name in order.adequate if costs[str(name)] < cost]
        if not close:
            return ""
        best = min(close, key=lambda name: costs[str(name)])
    other = costs[str(best)]
    if other == cost:
        return f"{called(best)} costs the same."
    verb = {"cost": "costs", "tokens": "takes", "latency": "takes"}[of]
    times = _times(other, cost, "long" if of == "latency" else "much")
    return f"{called(best)} {verb} {cost_phrase(other, of)}, {times}."


def _times(other: float, own: float, how: str = "much") -> str:
    """How the one compares with the other, in words.

    Examples
    --------
    >>> _times(36.0, 2.0), _times(1.0, 3.0), _times(9.2, 10.0, "long"), _times(1.0, 0.0)
    ('18 times as much', '33 % as much', '92 % as long', 'more')
    """
    if own <= 0 or other <= 0:
        return "more" if other > own else "less"
    ratio = other / own
    if ratio < 1.5:
        return f"{100 * ratio:.2g} % as {how}"
    return f"{f'{ratio:.2g}' if ratio < 99.5 else f'{ratio:,.0f}'} times as {how}"
