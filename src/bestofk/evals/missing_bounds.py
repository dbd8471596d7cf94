"""What the verdict could be, whatever the scores are that are missing: exact worst cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk._base.formatting import counted, number, shortened
from bestofk._base.results import Presented
from bestofk.decide.evidence import Family
from bestofk.stats.pairwise.clustered import cluster_sign_flip


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalBounds(Presented):
    """What could come out between the recommended model and another.

    Attributes
    ----------
    name : str
        The other model.
    low, high : float
        Between which the recommended one is ahead in the mean over all items, in the user's
        metric: all its missing scores wrong and all of the other right, and the reverse.
    could_be : tuple of str
        The verdicts on the recommended one that some missing scores would lead to, out of
        ``"better"``, ``"no evidence"`` and ``"worse"``.
    """

    name: str
    low: float
    high: float
    could_be: tuple[str, ...]

    def explain(self) -> str:
        """The bounds in a sentence."""
        return (
            f"{self.name}: ahead of it by {number(self.low)} to {number(self.high)}; "
            f"{' or '.join(self.could_be)}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingBounds(Presented):
    """The worst cases of all scores that are missing.

    Attributes
    ----------
    missing : mapping
        By model, how many scores are missing.
    items : int
        All items, also those that only some models have.
    recommended : str
        The model that was recommended from the items that all have.
    at_worst : str or None
        The one that would be, were its missing scores wrong and those of the others right.
    rivals : tuple of RivalBounds
        The other models.
    """

    missing: Mapping[str, int]
    items: int
    recommended: str
    at_worst: str | None
    rivals: tuple[RivalBounds, ...]

    def explain(self) -> str:
        """The worst cases in sentences."""
        who = self.recommended
        total = sum(self.missing.values())
        if not total:
            return "No score is missing: every model has one for every item."
        lacking = [f"{name} {count:,}" for name, count in self.missing.items() if count]
        said = [
            f"{counted(total, 'score')} of {self.items:,} items "
            f"{'is' if total == 1 else 'are'} missing ({shortened(lacking, 12)})."
        ]
        if self.at_worst == who:
            said.append(
                f"{who} would be recommended even if all its missing scores were wrong and all "
                "those of the others right."
            )
        else:
            instead = f"{self.at_worst} would be" if self.at_worst else "no model would be"
            said.append(
                f"If all missing scores of {who} were wrong and all those of the others right, "
                f"{instead} recommended."
            )
        kinds: dict[tuple[str, ...], list[str]] = {}
        for one in self.rivals:
            kinds.setdefault(one.could_be, []).append(
                f"{one.name} ({number(one.low)} to {number(one.high)})"
            )
        for could_be, rivals in kinds.items():
            said.append(_sentence(who, could_be, shortened(rivals, 6)))
        return " ".join(said)


def _sentence(who: str, could_be: tuple[str, ...], rivals: str) -> str:
    if could_be == ("better",):
        return f"Whatever they are, {who} is shown to be better than {rivals}."
    if could_be == ("worse",):
        return f"Whatever they are, {who} is shown to be worse than {rivals}."
    if could_be == ("no evidence",):
        return f"Whatever they are, no difference is shown between {who} and {rivals}."
    words = {"better": "better", "worse": "worse", "no evidence": "not shown to differ"}
    either = " or ".join(words[one] for one in could_be)
    return f"It depends on them whether {who} is {either}, compared with {rivals}."


def rival_bounds(
    who: int, names: Sequence[Any], low: Floats, high: Floats, family: Family,
    clusters: Any, strata: Any,
) -> tuple[RivalBounds, ...]:  # fmt: skip
    """The bounds of model number `who` against each other one, from losses between low and high.

    Parameters
    ----------
    who : int
        The place of the recommended one.
    names : sequence
        The models, as the family counts them.
    low, high : ndarray of shape (K, n)
        The smallest and the largest loss of every item.
    family : Family
        The hypotheses, and their correction.
    clusters, strata : array_like
        Of the items.

    Notes
    -----
    The one-sided p-value of the sign-flip test is P(sum of the differences of a random half >= 0),
    so it falls as any difference grows: over all missing scores it lies between its values at the
    two extremes, which are attained. Adjusted p-values grow with every p-value of the family; a
    claim that holds at the largest p-values of all pairs holds whatever the scores are.
    """
    first, second = family.pairs()
    greater, less = (
        np.stack([np.atleast_1d(_flip(x, y, side, clusters, strata)) for x, y in
                  ((low[first], high[second]), (high[first], low[second]))])
        for side in ("greater", "less")
    )  # fmt: skip
    sums = np.stack([(low[first] - high[second]).sum(axis=1),
                     (high[first] - low[second]).sum(axis=1)])  # fmt: skip
    if family.alternative == "two-sided":
        up, down = np.minimum(2 * greater, 1.0), np.minimum(2 * less, 1.0)
        most = np.where(sums[0] > 0, up[0], np.where(sums[1] < 0, down[1], 1.0))
    else:
        up, down = greater, np.ones_like(less)
        most = up[0]
    least = np.minimum(up[1], down[0])
    certain = family.adjust(most) <= family.alpha
    found = []
    for row in np.flatnonzero((first == who) | (second == who)).tolist():
        mine = first[row] == who
        possible = []
        for p in (up[1, row], down[0, row]):
            at_best = least.copy()
            at_best[row] = p
            possible.append(bool(family.adjust(at_best)[row] <= family.alpha))
        # of the first: a greater loss is worse
        worse, better = possible if mine else possible[::-1]
        could_be = [word for word, can in (("better", better), ("no evidence", not certain[row]),
                                           ("worse", worse)) if can]  # fmt: skip
        ends = sums[:, row] / low.shape[1] * (-1.0 if mine else 1.0)
        found.append(
            RivalBounds(
                name=str(names[second[row] if mine else first[row]]),
                low=float(ends.min()),
                high=float(ends.max()),
                could_be=tuple(could_be),
            )
        )
    return tuple(found)


def _flip(a: Floats, b: Floats, side: str, clusters: Any, strata: Any) -> Any:
    return cluster_sign_flip(a, b, clusters=clusters, strata=strata, alternative=side).pvalue
