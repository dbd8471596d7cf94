"""The verdicts that missing scores could lead to: exact worst cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.results import Presented
from bestofk.decide.evidence import Family
from bestofk.decide.statements.models import missing_bounds_text, rival_bounds_text
from bestofk.stats.pairwise.clustered import cluster_sign_flip


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalBounds(Presented):
    """The possible verdicts on the recommended model and another one.

    Attributes
    ----------
    name : str
        The other model.
    low, high : float
        The smallest and the largest lead of the recommended model in the mean over all items, in
        the user's metric. `low` takes all its missing scores as wrong and all of the other as
        right; `high` the reverse.
    could_be : tuple of str
        The verdicts on the recommended model that some missing scores would lead to, out of
        ``"better"``, ``"too close to call"`` and ``"worse"``.
    """

    name: str
    low: float
    high: float
    could_be: tuple[str, ...]

    def explain(self) -> str:
        """Return the bounds in a sentence."""
        return rival_bounds_text(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingBounds(Presented):
    """The worst cases over all missing scores.

    Attributes
    ----------
    missing : mapping
        The number of missing scores by model.
    items : int
        All items, including those that only some models have.
    recommended : str
        The model recommended from the items that all models have.
    at_worst : str or None
        The model recommended if all missing scores of `recommended` are wrong and all missing
        scores of the others right.
    rivals : tuple of RivalBounds
        The other models.
    """

    missing: Mapping[str, int]
    items: int
    recommended: str
    at_worst: str | None
    rivals: tuple[RivalBounds, ...]

    def explain(self) -> str:
        """Return the worst cases in sentences."""
        return missing_bounds_text(self)


def rival_bounds(
    best: int, names: Sequence[Any], low: Floats, high: Floats, family: Family,
    clusters: Any, strata: Any,
) -> tuple[RivalBounds, ...]:  # fmt: skip
    """Return the bounds of one model against each other one, for losses between low and high.

    - `best`: Index of the recommended model.
    - `names`: The models, in the order of the family.
    - `low`, `high` (K, n): The smallest and the largest loss of every item.
    - `family`: The hypotheses and their correction.
    - `clusters`, `strata`: Cluster and stratum of each item.

    Notes
    -----
    The one-sided p-value of the sign-flip test is P(sum of the differences of a random half >= 0),
    so it falls as any difference grows. Over all missing scores it lies between its values at the
    two extremes, which are attained. Adjusted p-values grow with every p-value of the family. A
    claim that holds at the largest p-values of all pairs therefore holds for all missing scores.
    """

    def pvalue(a: Floats, b: Floats, side: str) -> Any:
        return cluster_sign_flip(a, b, clusters=clusters, strata=strata, alternative=side).pvalue

    first, second = family.pairs()
    greater, less = (
        np.stack([np.atleast_1d(pvalue(x, y, side)) for x, y in
                  ((low[first], high[second]), (high[first], low[second]))])
        for side in ("greater", "less")
    )  # fmt: skip
    sums = np.stack([(low[first] - high[second]).sum(axis=1),
                     (high[first] - low[second]).sum(axis=1)])  # fmt: skip
    if family.alternative == "two-sided":
        up, down = np.minimum(2 * greater, 1.0), np.minimum(2 * less, 1.0)
        largest = np.where(sums[0] > 0, up[0], np.where(sums[1] < 0, down[1], 1.0))
    else:
        up, down = greater, np.ones_like(less)
        largest = up[0]
    smallest = np.minimum(up[1], down[0])
    certain = family.adjust(largest) <= family.alpha
    bounds = []
    for row in np.flatnonzero((first == best) | (second == best)).tolist():
        is_first = first[row] == best
        possible = []
        for p in (up[1, row], down[0, row]):
            pvalues = smallest.copy()
            pvalues[row] = p
            possible.append(bool(family.adjust(pvalues)[row] <= family.alpha))
        # a greater loss of the first model makes it worse
        worse, better = possible if is_first else possible[::-1]
        possible_words = {
            "better": better, "too close to call": not certain[row], "worse": worse,
        }  # fmt: skip
        could_be = [word for word, can in possible_words.items() if can]
        ends = sums[:, row] / low.shape[1] * (-1.0 if is_first else 1.0)
        bounds.append(
            RivalBounds(
                name=str(names[second[row] if is_first else first[row]]),
                low=float(ends.min()),
                high=float(ends.max()),
                could_be=tuple(could_be),
            )
        )
    return tuple(bounds)
