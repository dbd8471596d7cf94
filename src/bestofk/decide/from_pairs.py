"""State which learners may be the best if only their means and the tests of pairs are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestofk._base.checks import Floats
from bestofk.decide.best import rule_of_best
from bestofk.decide.decision import Decision
from bestofk.decide.evidence import Evidence, Family
from bestofk.decide.preference import NO_PREFERENCE, Name, Preference
from bestofk.decide.statements import Stated, Statement, in_order
from bestofk.losses.losses import Metric
from bestofk.stats.pairwise.result import PairwiseResult


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StatedDecision(Stated):
    """A statement about the best with what is known of each learner; see the subclasses."""

    decision: Decision

    def basis(self) -> str:
        """Return what the statement is based on, in a phrase."""
        raise NotImplementedError

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything there is to say, the verdict first."""
        return in_order((*self.decision.select("verdict"), *self._statements()))

    def _statements(self) -> tuple[Statement, ...]:
        """Return the statements about the method, notes and cautions."""
        raise NotImplementedError


def decide_from_pairs(
    names: tuple[Name, ...],
    mean_losses: Floats,
    tested: PairwiseResult,
    *,
    alpha: float,
    metric: Metric,
    design: str,
    noun: str,
    preference: Preference = NO_PREFERENCE,
) -> Decision:
    """Return the statement about the best, with bounds if the test has intervals.

    - `names`, `mean_losses`: The learners in order of preference, or by their means.
    - `tested`: The two-sided test of each pair, in the order of `Family.pairs`.

    Examples
    --------
    >>> p = np.array([0.3, 0.001, 0.002])
    >>> tested = PairwiseResult(test="a test", statistic=p, pvalue=p, df=None,
    ...                         estimate=np.array([-1.0, -2.0, -1.0]), alternative="two-sided")
    >>> decide_from_pairs(("a", "b", "c"), np.arange(3.0), tested, alpha=0.05, metric=Metric(),
    ...                   design="three means", noun="learner").candidates
    ('a', 'b')
    """
    K = len(names)
    family = Family(name="best", learners=K, alpha=alpha, correction="bonferroni")
    evidence = Evidence.of_pairs(
        family,
        pvalue=np.asarray(tested.pvalue),
        direction=tested.estimate if tested.direction is None else tested.direction,
        names=names,
        estimate=np.asarray(tested.estimate),
        metric=metric,
        results={"two-sided": [tested]},
    )
    return Decision(
        compared=noun,
        rule="best",
        by_preference=names,
        mean_losses=dict(zip(names, mean_losses.tolist(), strict=True)),
        evidence=evidence,
        test=tested.test,
        test_reason="",
        alpha=alpha,
        correction="bonferroni",
        design=design,
        preference=preference,
        **rule_of_best(evidence, preference.stated).named(names),
    )
