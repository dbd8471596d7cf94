"""Sentences about K learners: their names, their order, the pairs that differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.wording import joined, number, pvalue_words, shortened

_LISTED = 10
_NAMELESS = "learner "
"""How learners without a name are called, before their number."""


def learner_names(names: Sequence[str] | None, count: int) -> list[str]:
    """The names to print: those given, or ``learner 0`` and so on."""
    if names is None:
        return [f"{_NAMELESS}{index}" for index in range(count)]
    if isinstance(names, str) or len(names) != count:
        raise ArgumentError(
            f"names must hold one name for each of the {count} learners; got {names!r:.80}."
        )
    return [str(name) for name in names]


def hypothesis_words(pvalue: float, alpha: float, claim: str, numbers: str) -> str:
    """``The hypothesis that ... is (not) rejected at level ... (numbers).``."""
    outcome = "is rejected" if pvalue <= alpha else "is not rejected"
    return f"The hypothesis that {claim} {outcome} at level {alpha:g} ({numbers})."


def extremes_words(values: Floats, names: Sequence[str], what: str) -> str:
    """Who has the smallest and who the largest of `values`; several with the same are all named."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return f"All {len(names)} learners are tied: they have the same {what} ({number(low)})."
    first, have = _holders(values, low, names)
    last, _ = _holders(values, high, names)
    if first.startswith(_NAMELESS):
        first = f"{first[0].upper()}{first[1:]}"
    return (
        f"{first} {have} the smallest {what} ({number(low)}), {last} the largest ({number(high)})."
    )


def _holders(values: Floats, value: float, names: Sequence[str]) -> tuple[str, str]:
    """Who has the value, and the verb for so many."""
    held = [name for name, own in zip(names, values.tolist(), strict=True) if own == value]
    return (held[0], "has") if len(held) == 1 else (f"{shortened(held)} (tied)", "have")


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
    total = f"{len(p)} pair" if len(p) == 1 else f"{len(p)} pairs"
    if not found.size:
        return f"None of the {total} differs significantly at level {alpha:g}."
    found = found[np.argsort(p[found], kind="stable")]
    said = []
    for i, j in pairs[found[:_LISTED]].tolist():
        first, second = (i, j) if locations[i] <= locations[j] else (j, i)
        relation = "against" if locations[i] == locations[j] else "below"
        said.append(f"{names[first]} {relation} {names[second]}")
    said = [
        f"{words} ({pvalue_words(own)})"
        for words, own in zip(said, p[found[:_LISTED]].tolist(), strict=True)
    ]
    more = f" and {found.size - _LISTED} more" if found.size > _LISTED else ""
    listing = f"{', '.join(said)}{more}" if more else joined(said)
    verb = "differs" if found.size == 1 else "differ"
    return (
        f"Of the {total}, {found.size} {verb} significantly at level {alpha:g} "
        f"(the smaller {what} first): {listing}."
    )
