"""Sentences about K learners: their names, their order, the pairs that differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.spoken_metric import spoken
from bestofk.wording import capitalised, joined, number, pvalue_words, shortened

_LISTED = 10
MEAN_LOSS = "mean loss"
"""What is spoken of in the reader's metric, where that is known."""


EQUALLY_RIGHT = "{} have the same probability of a right answer"


def learner_names(names: Sequence[str] | None, count: int) -> list[str]:
    """The names to print: those given, or ``learner 0`` and so on."""
    if names is None:
        return [f"learner {index}" for index in range(count)]
    if isinstance(names, str) or len(names) != count:
        raise ArgumentError(
            f"names must hold one name for each of the {count} learners; got {names!r:.80}."
        )
    return [str(name) for name in names]


def everybody(count: int) -> str:
    """``both learners``, ``all 3 learners``."""
    return "both learners" if count == 2 else f"all {count} learners"


def hypothesis_words(pvalue: float, alpha: float, claim: str, numbers: str) -> str:
    """``The hypothesis that ... is (not) rejected at level ... (numbers).``."""
    outcome = "is rejected" if pvalue <= alpha else "is not rejected"
    return f"The hypothesis that {claim} {outcome} at level {alpha:g} ({numbers})."


def extremes_words(values: Floats, names: Sequence[str], what: str) -> str:
    """Who has the smallest and who the largest of `values`; what rounding makes is the same."""
    turned = what == MEAN_LOSS and spoken().higher_is_better
    if what == MEAN_LOSS:
        what = spoken().mean
        values = np.array([spoken().value(value) for value in values.tolist()])
    low, high = float(values.min()), float(values.max())
    noise = 1e-12 * max(abs(low), abs(high))
    if high - low <= noise:
        all_of_them = everybody(len(names))
        return f"{all_of_them[:1].upper()}{all_of_them[1:]} have the same {what} ({number(low)})."
    smallest, have = _holders(values, low, names, noise)
    largest, _ = _holders(values, high, names, noise)
    least, most = ("smaller", "larger") if len(names) == 2 else ("smallest", "largest")
    if turned:
        # the best comes first
        high_have = _holders(values, high, names, noise)[1]
        return capitalised(
            f"{largest} {high_have} the {most} {what} ({number(high)}), {smallest} the {least} "
            f"({number(low)})."
        )
    return capitalised(
        f"{smallest} {have} the {least} {what} ({number(low)}), {largest} the {most} "
        f"({number(high)})."
    )


def _holders(values: Floats, value: float, names: Sequence[str], noise: float) -> tuple[str, str]:
    """Who has the value, and the verb for so many."""
    held = [
        name for name, own in zip(names, values.tolist(), strict=True) if abs(own - value) <= noise
    ]
    return shortened(held), "has" if len(held) == 1 else "share"


def batch_words(test: str, pvalue: Any, alpha: float, learners: int) -> str:
    """The sentence for many tests made in one call."""
    p = np.asarray(pvalue)
    if p.size == 0:
        return f"No {test} was made."
    return (
        f"{p.size} tests of {learners} learners each ({test}): {int((p <= alpha).sum())} are "
        f"significant at level {alpha:g} (without correction for their number); the smallest "
        f"{pvalue_words(float(p.min()))}."
    )


def pairs_words(
    pairs: Any, pvalues: Any, locations: Floats, names: Sequence[str], alpha: float, what: str
) -> str:
    """Which of the tested pairs differ, the smaller first, by ascending p-value."""
    pairs, p = np.asarray(pairs), np.asarray(pvalues, dtype=np.float64)
    found = np.flatnonzero(p <= alpha)
    level = f"significantly at level {alpha:g}"
    if not found.size:
        if len(p) == 1:
            return f"The two do not differ {level} ({pvalue_words(float(p[0]), alpha)})."
        return f"None of the {len(p)} pairs differs {level}."
    found = found[np.argsort(p[found], kind="stable")]
    said = []
    for i, j in pairs[found[:_LISTED]].tolist():
        first, second = (i, j) if locations[i] <= locations[j] else (j, i)
        below = "below" if what != MEAN_LOSS else spoken().side(below=True)
        relation = "against" if locations[i] == locations[j] else below
        said.append(f"{names[first]} {relation} {names[second]}")
    said = [
        f"{words} ({pvalue_words(own, alpha)})"
        for words, own in zip(said, p[found[:_LISTED]].tolist(), strict=True)
    ]
    more = f" and {found.size - _LISTED} more" if found.size > _LISTED else ""
    listing = f"{', '.join(said)}{more}" if more else joined(said)
    smaller = f"smaller {what}" if what != MEAN_LOSS else f"{spoken().smaller} {spoken().mean}"
    if len(p) == 1:
        return f"The two differ {level} (the {smaller} first): {listing}."
    verb = "differs" if found.size == 1 else "differ"
    return f"Of the {len(p)} pairs, {found.size} {verb} {level} (the {smaller} first): {listing}."
