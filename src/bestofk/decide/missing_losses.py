"""Claim only what also holds with the missing losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from bestofk._base.checks import Floats
from bestofk.decide.preference import Name

if TYPE_CHECKING:
    from bestofk.decide.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MissingLosses:
    """The losses that some learners lack, and the evidence if each of them is the worst.

    - `counts`: The number of units that each learner lacks; learners that lack none have no entry.
    - `units`: All units, including those that some learner lacks.
    - `unit`: ``"item"``, ``"instance"``, ``"data set"``, ``"run"`` or ``"fold"``.
    - `as_worst`: The evidence about all units, with the worst loss for each missing one.
    - `as_best`: The same with the best loss for each missing one, if it may be that; None if
      missing losses are failures.
    """

    counts: Mapping[Name, int]
    units: int
    unit: str
    as_worst: Evidence | None = field(default=None, repr=False)
    as_best: Evidence | None = field(default=None, repr=False)

    def revised(self, evidence: Evidence) -> Evidence:
        """Return the evidence that also holds with the missing losses."""
        for other in (self.as_worst, self.as_best):
            if other is not None:
                evidence = agreeing(evidence, other)
        return evidence


def filled_with_worst(values: Floats) -> Floats:
    """Replace each missing loss (K, ...) by the largest loss of the other learners there.

    A missing answer that may be right or wrong counts as wrong. A cell that every learner lacks
    stays missing.
    """
    missing = np.isnan(values)
    known = np.where(missing, -np.inf, values).max(axis=0)
    if np.isin(values[~missing], (0.0, 1.0)).all():
        known = np.where(np.isfinite(known), 1.0, known)
    worst = np.where(np.isfinite(known), known, np.nan)
    filled: Floats = np.where(missing, worst, values)
    return filled


_REVISED = ("pvalue_greater", "pvalue_less", "_intervals")
"""Cached values of an evidence that other losses change."""


def agreeing(evidence: Evidence, other: Evidence) -> Evidence:
    """Return the evidence that both hold: a pair differs only if both say so.

    Each p-value is the larger of the two, or 1 if the two favour different learners. Each interval
    covers both. A claim is then wrong only if both analyses are. The one-sided p-values follow from
    the same rule.
    """
    position = {name: at for at, name in enumerate(other.names)}
    rows, signs = [], []
    for first, second in zip(evidence.first.tolist(), evidence.second.tolist(), strict=True):
        a, b = evidence.names[first], evidence.names[second]
        row = other.row(a, b)
        rows.append(-1 if row is None else row)
        signs.append(1 if row is None or other.first[row] == position[a] else -1)
    at, sign = np.array(rows, dtype=np.int64), np.array(signs, dtype=np.int8)
    if not len(at) or (at < 0).any():
        return evidence
    same = evidence.direction == sign * other.direction[at]
    merged = replace(
        evidence,
        pvalue=np.where(same, np.maximum(evidence.pvalue, other.pvalue[at]), 1.0),
        also=(*evidence.also, (other, at, sign)),
        cache={name: value for name, value in evidence.cache.items() if name not in _REVISED},
    )
    return merged.of_family(evidence.family)
