"""Results of tests of K learners: their sentences and input checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, finite_array
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import capitalised, joined, number, pvalue_words, shortened
from bestofk._base.results import Presented, json_ready


class MultipleResult(Presented):
    """Result of a test of K learners; `pvalue` is for the hypothesis that all are equal."""

    __slots__ = ()

    pvalue: Any

    def to_dict(self) -> dict[str, Any]:
        """Return the result for strict JSON; NaN and infinity become null."""
        return {**Presented.to_dict(self), "pvalue": json_ready(self.pvalue)}

    @property
    def verdict_pvalue(self) -> float:
        """The p-value that decides the verdict of one test; `pvalue` unless overridden."""
        return float(self.pvalue)


def columns_of_tests(pvalue: Any, **columns: Any) -> dict[str, Any]:
    """Return one row per test; each column is an array over the tests or one number for all."""
    shape = np.shape(pvalue)
    return {
        name: np.broadcast_to(np.asarray(cells), shape).ravel()
        for name, cells in {**columns, "pvalue": pvalue}.items()
    }


def square_columns(locations: dict[str, Any], **squares: Any) -> dict[str, Any]:
    """Return one row per pair i < j from values of learners and (K, K) arrays."""
    K = len(next(iter(squares.values())))
    i, j = np.triu_indices(K, 1)
    columns: dict[str, Any] = {"a": i, "b": j}
    for name, values in locations.items():
        columns |= {f"{name}_a": np.asarray(values)[i], f"{name}_b": np.asarray(values)[j]}
    return columns | {name: np.asarray(square)[i, j] for name, square in squares.items()}


# Sentences

_MAX_LISTED_PAIRS = 10
EQUALLY_RIGHT = "{} have the same probability of a right answer"


def learner_names(names: Sequence[str] | None, count: int) -> list[str]:
    """Return the names to print; by default ``learner 0`` and so on."""
    if names is None:
        return [f"learner {index}" for index in range(count)]
    if isinstance(names, str) or len(names) != count:
        raise ArgumentError(
            f"names must contain one name for each of the {count} learners; got {names!r:.80}."
        )
    return [str(name) for name in names]


def all_learners(count: int) -> str:
    """Return ``both learners`` or text such as ``all 3 learners``."""
    return "both learners" if count == 2 else f"all {count} learners"


def hypothesis_words(pvalue: float, alpha: float, claim: str, numbers: str) -> str:
    """Return ``The hypothesis that ... is (not) rejected at level ... (numbers).``."""
    outcome = "is rejected" if pvalue <= alpha else "is not rejected"
    return f"The hypothesis that {claim} {outcome} at level {alpha:g} ({numbers})."


def extremes_words(values: Floats, names: Sequence[str], what: str) -> str:
    """Name the learners with the smallest and largest of `values`; ignore rounding."""
    low, high = float(values.min()), float(values.max())
    noise = 1e-12 * max(abs(low), abs(high))
    if high - low <= noise:
        subject = all_learners(len(names))
        return f"{subject[:1].upper()}{subject[1:]} have the same {what} ({number(low)})."
    smallest, have = _holders(values, low, names, noise)
    largest, _ = _holders(values, high, names, noise)
    least, most = ("smaller", "larger") if len(names) == 2 else ("smallest", "largest")
    return capitalised(
        f"{smallest} {have} the {least} {what} ({number(low)}), {largest} the {most} "
        f"({number(high)})."
    )


def _holders(values: Floats, value: float, names: Sequence[str], noise: float) -> tuple[str, str]:
    """Return the learners that have the value, and the verb for their number."""
    holders = [
        name
        for name, candidate in zip(names, values.tolist(), strict=True)
        if abs(candidate - value) <= noise
    ]
    return shortened(holders), "has" if len(holders) == 1 else "share"


def batch_words(test: str, pvalue: Any, alpha: float, learners: int) -> str:
    """Summarise many tests of one call in a sentence."""
    p = np.asarray(pvalue)
    if p.size == 0:
        return f"There are no tests ({test})."
    return (
        f"{p.size} tests of {learners} learners each ({test}): {int((p <= alpha).sum())} are "
        f"significant at level {alpha:g} (not corrected for multiple testing). The smallest "
        f"p-value: {pvalue_words(float(p.min()))}."
    )


def pairs_words(
    pairs: Any, pvalues: Any, locations: Floats, names: Sequence[str], alpha: float, what: str
) -> str:
    """List the pairs that differ, the smaller value first, by ascending p-value."""
    pairs, p = np.asarray(pairs), np.asarray(pvalues, dtype=np.float64)
    significant = np.flatnonzero(p <= alpha)
    level = f"significantly at level {alpha:g}"
    if not significant.size:
        if len(p) == 1:
            return f"The two do not differ {level} ({pvalue_words(float(p[0]), alpha)})."
        return f"None of the {len(p)} pairs differs {level}."
    significant = significant[np.argsort(p[significant], kind="stable")]
    shown = significant[:_MAX_LISTED_PAIRS]
    entries = []
    for (i, j), pvalue in zip(pairs[shown].tolist(), p[shown].tolist(), strict=True):
        first, second = (i, j) if locations[i] <= locations[j] else (j, i)
        relation = "against" if locations[i] == locations[j] else "below"
        compared = f"{names[first]} {relation} {names[second]}"
        entries.append(f"{compared} ({pvalue_words(pvalue, alpha)})")
    count = significant.size
    more = f" and {count - _MAX_LISTED_PAIRS} more" if count > _MAX_LISTED_PAIRS else ""
    listing = f"{', '.join(entries)}{more}" if more else joined(entries)
    if len(p) == 1:
        return f"The two differ {level} (the smaller {what} first): {listing}."
    verb = "differs" if count == 1 else "differ"
    return f"Of the {len(p)} pairs, {count} {verb} {level} (the smaller {what} first): {listing}."


# Checked tables


def learners_by_columns(value: Any, where: str, *, columns: str, batch: bool) -> Floats:
    """Return `value` as finite floats of shape (K, columns), or (..., K, columns) for a batch."""
    table = finite_array(value, where, min_ndim=2)
    shape = f"(..., K learners, {columns})" if batch else f"(K learners, {columns})"
    if not batch and table.ndim != 2:
        raise ArgumentError(f"{where} must have shape {shape}; got shape {table.shape}.")
    if table.shape[-2] < 2 or table.shape[-1] < 2:
        raise ArgumentError(
            f"{where} must have shape {shape} with at least 2 learners and 2 {columns}; "
            f"got shape {table.shape}."
        )
    return table


def zero_one(value: Any, where: str, *, batch: bool) -> Floats:
    """Return `value` as an array of 0.0 and 1.0 of shape (K, instances), or with leading axes."""
    table = learners_by_columns(value, where, columns="instances", batch=batch)
    if not ((table == 0.0) | (table == 1.0)).all():
        outside = table[(table != 0.0) & (table != 1.0)][0]
        raise ArgumentError(
            f"{where} must contain 1 for a right and 0 for a wrong answer; got {outside}."
        )
    return table


def ratio(numerator: Any, denominator: Any) -> Any:
    """Return the elementwise quotient of sums of squares: 0/0 is 0, x/0 is infinite."""
    top, bottom = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    top, bottom = np.broadcast_arrays(top, bottom)
    return np.divide(top, bottom, out=np.where(top > 0.0, np.inf, 0.0), where=bottom > 0.0)


def read_only(array: Any) -> Any:
    """Return a read-only view of `array`, for the field of a result."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
