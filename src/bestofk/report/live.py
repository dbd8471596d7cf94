"""What the page needs to decide again: the evidence of all pairs, by every correction."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from markupsafe import Markup

from bestofk.adjust import CORRECTIONS
from bestofk.checks import Floats
from bestofk.ordering.preference import without_noise
from bestofk.ordering.registry import decides_by
from bestofk.ordering.result import Order
from bestofk.report.names import one_line
from bestofk.stopping.stopped_order import StoppedOrder
from bestofk.wording import number

MOST_PAIRS = 5_000
"""Of more pairs, the page holds the p-values of the decision alone."""


def live_data(order: Order) -> dict[str, object] | None:
    """The object that the page's script reads; learners are counted in the order of `prior`.

    None where the page cannot decide as Python does: procedures other than MultiTest, families
    other than all pairs, p-values that are not numbers, and races that were stopped.
    """
    evidence = order.evidence
    if isinstance(order, StoppedOrder):
        return None
    if decides_by(order.procedure) != "steps" or evidence.family.name != "all":
        return None
    if not np.isfinite(evidence.pvalue).all():
        return None
    metric = order.metric
    adjusted = adjusted_by_all(order)
    return {
        "names": [one_line(name) for name in order.prior],
        "means": without_noise(np.array([order.means[name] for name in order.prior])).tolist(),
        "shown": [number(metric.shown(order.means[name])) for name in order.prior],
        "metric": f"{metric.smallest} {metric.mean}",
        "stated": order.preference.stated,
        "guard": order.guard,
        "direction": evidence.direction.tolist(),
        "adjusted": {name: found.tolist() for name, found in adjusted.items()},
        "called": {name: CORRECTIONS[name].words for name in adjusted},
        "alpha": order.alpha,
        "correction": order.correction,
    }


def adjusted_by_all(order: Order) -> dict[str, Floats]:
    """Adjusted p-values of the pairs by every correction that the page offers.

    In the family of all pairs they depend neither on alpha nor on the preference.
    """
    evidence = order.evidence
    names = list(CORRECTIONS) if len(evidence) <= MOST_PAIRS else [order.correction]
    found = {order.correction: evidence.adjusted_pvalue}
    for name in names:
        most = CORRECTIONS[name].most_learners
        if name not in found and (most is None or len(order.prior) <= most):
            found[name] = replace(evidence.family, correction=name).adjust(evidence.pvalue)
    return found


def corrections(order: Order) -> list[tuple[str, str]]:
    """Name and words of every correction that the page offers, as a list to choose from."""
    words = {name: CORRECTIONS[name].words for name in adjusted_by_all(order)}
    return [(name, text[:1].upper() + text[1:]) for name, text in words.items()]


def script_json(value: object) -> Markup:
    """JSON that may stand in a script element: no text in it can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
