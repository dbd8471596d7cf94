"""Simultaneous intervals of the ranks of K learners, and the learners that may be the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Bools, Floats, Ints
from bestofk._base.formatting import joined
from bestofk._base.results import Presented
from bestofk.decide.preference import Name
from bestofk.stats.adjust import CORRECTIONS

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision

MAX_NAMED = 5
"""Learners that the sentence names."""


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
    may_be_best : ndarray of bool, shape (K,)
        With confidence 1 - alpha, the best learner is among these. Each learner is compared with
        the K - 1 others only, so that fewer remain than are not shown to be worse.
    alpha : float
    noun : str
        The noun for what is compared.
    measure : str
        The number that orders `names`.
    posterior : bool
        The claims come from posterior probabilities, so that no confidence is promised.
    """

    names: tuple[Name, ...]
    low: Ints
    high: Ints
    may_be_best: Bools
    alpha: float
    noun: str = "learner"
    measure: str = "mean"
    posterior: bool = False

    def __len__(self) -> int:
        return len(self.names)

    def of(self, name: Name) -> str:
        """Return the ranks of a learner as text: ``2`` or ``1-3``."""
        k = self.names.index(name)
        low, high = int(self.low[k]), int(self.high[k])
        return str(low) if low == high else f"{low}-{high}"

    @property
    def best(self) -> tuple[Name, ...]:
        """The learners that may be the best."""
        return tuple(
            name for name, may in zip(self.names, self.may_be_best.tolist(), strict=True) if may
        )

    def explain(self) -> str:
        """Return who may be the best, in a sentence."""
        from bestofk.decide.statements.wording import called

        best = [called(name) for name in self.best]
        confidence = f"{100 * (1 - self.alpha):g} % confidence if the test's assumptions hold"
        if self.posterior:
            confidence = "by posterior probabilities, so no error rate is promised"
        if len(best) == 1 and self.high[0] == 1:
            return f"{best[0]} is shown to be the best of {len(self)} ({confidence})."
        if len(best) == 1:
            return (
                f"Only {best[0]} may be the best of {len(self)} ({confidence}): this needs fewer "
                "comparisons than a verdict on every pair."
            )
        if len(best) == len(self) == 2:
            return f"Either {self.noun} may be the best."
        if len(best) == len(self):
            return f"Any of the {len(self)} {self.noun}s may be the best."
        shown = f": {joined(best)}" if len(best) <= MAX_NAMED else ""
        return f"{len(best)} of {len(self)} {self.noun}s may be the best ({confidence}){shown}."

    def _columns(self) -> dict[str, Any]:
        return {
            self.noun: list(self.names),
            "rank_low": self.low,
            "rank_high": self.high,
            "may_be_best": self.may_be_best,
        }


def ranks_of(decision: Decision) -> Ranks | None:
    """Return the ranks that a decision allows; None if it does not test all pairs both ways."""
    evidence = decision.evidence
    K = len(decision.by_preference)
    complete = (
        len(evidence) == K * (K - 1) // 2 and decision.runs_of(decision.smallest_mean) is None
    )
    if not complete or evidence.alternative != "two-sided":
        return None
    order = [evidence.names.index(name) for name in decision.by_mean]
    beaten = cannot_be_best(
        evidence.first,
        evidence.second,
        evidence.direction,
        evidence.pvalue,
        K,
        comparisons=K - 1 if CORRECTIONS[evidence.family.correction].adjusts else 1,
        alpha=evidence.family.alpha,
    )
    return ranks_by_claims(
        decision.by_mean,
        evidence.shown()[np.ix_(order, order)],
        beaten[order],
        alpha=decision.alpha,
        noun=decision.noun,
        posterior=decision.test_choice is not None and decision.test_choice.posterior,
    )


def ranks_by_claims(
    names: tuple[Name, ...],
    better: Bools,
    beaten: Bools,
    *,
    alpha: float,
    noun: str,
    measure: str = "mean",
    posterior: bool = False,
) -> Ranks:
    """Return the ranks of learners (the best first) by claims (K, K) that i is better than j.

    `beaten` says which learners cannot be the best, in addition to those that `better` names.
    """
    return Ranks(
        names=names,
        low=1 + better.sum(axis=0),
        high=len(names) - better.sum(axis=1),
        may_be_best=~(better.any(axis=0) | beaten),
        alpha=alpha,
        noun=noun,
        measure=measure,
        posterior=posterior,
    )


def cannot_be_best(
    first: Ints,
    second: Ints,
    direction: npt.NDArray[Any],
    pvalue: Floats,
    learners: int,
    *,
    comparisons: int,
    alpha: float,
) -> Bools:
    """Return which learners cannot be the best, by their comparisons with the K - 1 others.

    Each comparison asks only whether the other one is better, so half of its two-sided p-value
    counts (Bonferroni). Two learners keep the two-sided test, so that the set agrees with the
    verdict. A `direction` above 0 says that the second learner is better.
    """
    small = pvalue * max(comparisons / 2, 1.0) <= alpha
    beaten = np.zeros(learners, dtype=np.bool_)
    beaten[first[small & (direction > 0)]] = True
    beaten[second[small & (direction < 0)]] = True
    return beaten
