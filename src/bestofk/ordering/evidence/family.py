"""Which pairs are tested together, and at what price: the family of a decision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestofk.adjust import CORRECTIONS, adjust
from bestofk.checks import Floats, Ints, one_of, probability
from bestofk.errors import ArgumentError

FAMILIES = ("all", "prior", "control")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The hypotheses that one error rate holds for.

    Attributes
    ----------
    name : {"all", "prior", "control"}
        ``"all"``: every pair, two-sided, the direction by the sign of the statistic. ``"prior"``:
        every pair, one-sided against the preference, as Yildiz and Alpaydin (2006) publish it.
        ``"control"``: one learner against each of the others, two-sided.
    learners : int
        K.
    alpha : float
        Chance of any false claim in the family.
    correction : str
        A name of `bestofk.adjust.CORRECTIONS`.
    control : int or None
        The place of the control.
    """

    name: str = "all"
    learners: int
    alpha: float
    correction: str
    control: int | None = None

    def __post_init__(self) -> None:
        one_of(self.name, "family", FAMILIES)
        probability(self.alpha, "alpha")
        one_of(self.correction, "correction", tuple(CORRECTIONS))
        if self.name != "all" and CORRECTIONS[self.correction].needs_all_pairs:
            raise ArgumentError(
                f"correction {self.correction!r} is for the two-sided tests of all pairs; "
                f"family={self.name!r} takes 'holm', 'hochberg' or 'bonferroni'."
            )

    @property
    def size(self) -> int:
        """How many hypotheses."""
        K = self.learners
        return K - 1 if self.name == "control" else K * (K - 1) // 2

    @property
    def alternative(self) -> str:
        """The side of every test."""
        return "greater" if self.name == "prior" else "two-sided"

    def pairs(self) -> tuple[Ints, Ints]:
        """(first, second) of every pair, first before second."""
        K = self.learners
        if self.name != "control":
            first, second = np.triu_indices(K, 1)
            return first.astype(np.int64), second.astype(np.int64)
        if self.control is None:
            raise ArgumentError("family='control' needs a control: name it with control=.")
        others = np.delete(np.arange(K), self.control)
        return np.minimum(others, self.control), np.maximum(others, self.control)

    def adjust(self, pvalues: Floats) -> Floats:
        """Adjusted p-values of the family."""
        return adjust(pvalues, self.correction, pairs=self.learners if self.name == "all" else None)

    def smallest_adjusted(self, smallest: float, alternative: str | None = None) -> float:
        """The smallest adjusted p-value possible, if `smallest` is that of one two-sided test."""
        if (self.alternative if alternative is None else alternative) != "two-sided":
            smallest /= 2.0
        p = np.full(self.size, min(smallest, 1.0))
        return float(self.adjust(p).min())

    def interval_level(self) -> float:
        """The level of each interval, so that all of them hold together (Bonferroni)."""
        return 1.0 - self.alpha / (self.size if CORRECTIONS[self.correction].adjusts else 1)
