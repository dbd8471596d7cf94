"""Simultaneous intervals of the ranks of K learners, from the claims about their pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Ints
from bestofk._base.results import Presented
from bestofk.decide.preference import Name

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranks(Presented):
    """The ranks that the data allow; rank 1 is the best.

    Attributes
    ----------
    names : tuple of names
        The learners by their means, the best first.
    low, high : ndarray of int, shape (K,)
        The best and the worst rank of each learner. All intervals hold together with confidence
        1 - alpha. A learner ranks below those that are shown to be better, and above those that
        are shown to be worse.
    alpha : float
    noun : str
        The noun for what is compared.
    """

    names: tuple[Name, ...]
    low: Ints
    high: Ints
    alpha: float
    noun: str = "learner"

    def __len__(self) -> int:
        return len(self.names)

    def of(self, name: Name) -> str:
        """Return the ranks of a learner as text: ``2`` or ``1-3``."""
        k = self.names.index(name)
        low, high = int(self.low[k]), int(self.high[k])
        return str(low) if low == high else f"{low}-{high}"

    def explain(self) -> str:
        """Return how many ranks are certain, in a sentence."""
        certain = int((self.low == self.high).sum())
        which = (
            "no rank is" if not certain else f"{certain} rank{'s are' if certain > 1 else ' is'}"
        )
        return (
            f"Of {len(self)} {self.noun}s {which} certain ({100 * (1 - self.alpha):g} % "
            "confidence for all ranks at once)."
        )

    def _columns(self) -> dict[str, Any]:
        return {"name": list(self.names), "from": self.low, "to": self.high}


def ranks_of(decision: Decision) -> Ranks | None:
    """Return the ranks that a decision allows; None if it does not test all pairs both ways."""
    evidence, names = decision.pair_evidence, decision.by_mean
    K = len(names)
    complete = len(evidence) == K * (K - 1) // 2 and decision.runs_of(names[0]) is None
    if not complete or evidence.alternative != "two-sided":
        return None
    order = [evidence.names.index(name) for name in names]
    beaten = evidence.beaten()[np.ix_(order, order)]
    low, high = 1 + beaten.sum(axis=1), K - beaten.sum(axis=0)
    return Ranks(names=names, low=low, high=high, alpha=decision.alpha, noun=decision.noun)
