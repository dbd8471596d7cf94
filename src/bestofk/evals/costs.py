"""The costs of a sample in words: titles, phrases, and the comparison of two costs."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from bestofk._base.formatting import number
from bestofk.decide.preference import Name

SHOWN_SAMPLES = 1000.0
"""Samples whose cost is shown; one sample costs next to nothing."""
COST_TITLES = {
    "cost": "cost of 1,000 samples",
    "tokens": "tokens per sample",
    "latency": "seconds per sample",
}
"""The title of each measure."""


def cost_title(measure: str, currency: str = "") -> str:
    """Return the title of a measure, such as a percentile of the latency.

    Examples
    --------
    >>> cost_title("tokens"), cost_title("p95_latency"), cost_title("cost", "USD")
    ('tokens per sample', 'p95 seconds per sample', 'cost of 1,000 samples, USD')
    """
    percentile, _, kind = measure.rpartition("_")
    title = COST_TITLES[kind]
    if kind == "cost" and currency:
        title += f", {currency}"
    return f"{percentile} {title}" if percentile else title


def shown_cost(cost: float, measure: str) -> float:
    """Return the cost as it is shown: money for 1,000 samples, tokens and seconds for one."""
    return cost * SHOWN_SAMPLES if measure == "cost" else cost


def cost_phrase(cost: float, measure: str, currency: str = "") -> str:
    """Return what a sample costs.

    Examples
    --------
    >>> cost_phrase(1.92e-05, "cost"), cost_phrase(21.0, "tokens"), cost_phrase(0.0612, "latency")
    ('0.0192 per 1,000 samples', '21 tokens per sample', '0.0612 seconds per sample')
    >>> cost_phrase(2.5, "p95_latency"), cost_phrase(0.002, "cost", "USD")
    ('2.5 seconds at p95', '2 USD per 1,000 samples')
    """
    amount = number(shown_cost(cost, measure))
    if measure == "cost":
        return f"{amount} {currency} per 1,000 samples".replace("  ", " ")
    percentile, _, kind = measure.rpartition("_")
    return f"{amount} seconds at {percentile}" if percentile else f"{amount} {COST_TITLES[kind]}"


def main_cost(costs: Mapping[str, Mapping[str, float]], preferred: str) -> str | None:
    """Return the preferred measure, or else the first that is known for all models."""
    for measure in (preferred, "cost", "tokens"):
        by_model = costs.get(measure, {})
        if by_model and all(isfinite(cost) for cost in by_model.values()):
            return measure
    return None


def cost_details(
    costs: Mapping[str, Mapping[str, float]], preferred: str, currency: str = ""
) -> dict[Name, str]:
    """Return what a sample costs by model, in a phrase; empty if no measure covers all models."""
    measure = main_cost(costs, preferred)
    if measure is None:
        return {}
    prefix = "cost " if measure == "cost" else ""
    return {
        name: f"{prefix}{cost_phrase(cost, measure, currency)}"
        for name, cost in costs[measure].items()
    }


def ratio_phrase(other: float, cost: float, adverb: str = "much") -> str:
    """Return how another cost compares with this one.

    Examples
    --------
    >>> ratio_phrase(36.0, 2.0), ratio_phrase(1.0, 3.0), ratio_phrase(9.2, 10.0, "long")
    ('18 times as much', '33 % as much', '92 % as long')
    >>> ratio_phrase(0.999, 1.0)
    '99.9 % as much'
    """
    if cost <= 0 or other <= 0:
        return "more" if other > cost else "less"
    ratio = other / cost
    if ratio < 1.5:
        return f"{100 * ratio:.{2 if ratio < 0.995 else 3}g} % as {adverb}"
    return f"{f'{ratio:.2g}' if ratio < 99.5 else f'{ratio:,.0f}'} times as {adverb}"
