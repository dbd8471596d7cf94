"""What the page needs to decide again: both one-sided p-values of every pair."""

from __future__ import annotations

import json

import numpy as np
from markupsafe import Markup

from bestofk.checks import Floats
from bestofk.ordering.result import Order
from bestofk.ordering.sentences import CORRECTION_WORDS
from bestofk.pairwise.pairs import all_pairs


def both_ways(order: Order) -> Floats | None:
    """(K, K): p-value of H0 that the row's loss is at most the column's; 1 on the diagonal.

    None where the page cannot decide as Python does: procedures other than MultiTest, and
    orders that do not know what they were decided from.
    """
    problem, choice, evidence = order.problem, order.choice, order.evidence
    if order.procedure != "multitest" or problem is None or choice is None:
        return None
    others = all_pairs(choice, problem.sample(choice.axes), alternative="less")
    pvalues = np.ones((len(order.prior),) * 2)
    pvalues[evidence.first, evidence.second] = evidence.pvalue
    pvalues[others.j, others.i] = others.pvalue
    return pvalues if np.isfinite(pvalues).all() else None


def live_data(order: Order) -> dict[str, object] | None:
    """The object that the page's script reads; learners are counted in prior order."""
    pvalues = both_ways(order)
    if pvalues is None:
        return None
    return {
        "names": [str(name) for name in order.prior],
        "means": [order.means[name] for name in order.prior],
        "p": pvalues.tolist(),
        "alpha": order.alpha,
        "correction": order.correction,
        "test": order.test,
        "testReason": order.test_reason,
        "design": order.design,
    }


def corrections() -> list[tuple[str, str]]:
    """Name and words of every correction, as a list to choose from."""
    return [(name, words[:1].upper() + words[1:]) for name, words in CORRECTION_WORDS.items()]


def script_json(value: object) -> Markup:
    """JSON that may stand in a script element: no text in it can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
