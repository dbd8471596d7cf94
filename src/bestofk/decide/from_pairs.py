"""State which learners may be the best if only their means and the tests of pairs are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk._base.checks import Floats
from bestofk.decide.best import rule_of_best
from bestofk.decide.decision import Decision
from bestofk.decide.evidence import Evidence, Family
from bestofk.decide.preference import NO_PREFERENCE, Name, Preference
from bestofk.decide.statements import Stated, Statement, in_order
from bestofk.decide.statements.wording import worse_than_best
from bestofk.losses.losses import Metric
from bestofk.stats.pairwise.result import PairwiseResult


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairsDecision(Decision):
    """A decision from tests of pairs, without a table of losses."""

    compared: str = "learner"

    @property
    def noun(self) -> str:
        """The noun for what is compared."""
        return self.compared


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StatedDecision(Stated):
    """A statement about the best with what is known of each learner; see the subclasses."""

    decision: Decision

    @property
    def title(self) -> str:
        """The title of the table."""
        return f"The {self.decision.noun}s"

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

    def _columns(self) -> dict[str, Any]:
        """Return the columns of the table of a report."""
        raise NotImplementedError

    def _with_bounds(self, values: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """Return one row per learner: its name, its values, its bounds, its verdict, and more."""
        rows = self.decision.standings
        bounds = {
            name: [getattr(row, name) for row in rows]
            for name in ("at_least", "at_most", "verdict")
        }
        return {"name": [row.name for row in rows], **values, **bounds, **more}

    def _tables(self) -> dict[str, dict[str, Any]]:
        """Return the columns of the tables of a report by title; both bounds are one text."""
        worse = [worse_than_best(self.decision, row) for row in self.decision.standings]
        shown: dict[str, Any] = {}
        for name, values in self._columns().items():
            if name == "at_most" and any(worse):
                shown["worse_than_the_best_by"] = worse
            elif name not in ("at_least", "at_most"):
                shown[name] = values
        return {self.title: shown, "The pairs": self._pair_columns()}


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
) -> PairsDecision:
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
    first, second = family.pairs()
    estimate, pvalue = np.asarray(tested.estimate), np.asarray(tested.pvalue)
    direction = np.sign(estimate if tested.direction is None else tested.direction).astype(np.int8)
    adjusted = family.adjust(pvalue)
    evidence = Evidence(
        names=names,
        first=first,
        second=second,
        estimate=estimate,
        statistic=np.asarray(tested.statistic),
        pvalue=pvalue,
        adjusted_pvalue=adjusted,
        direction=direction,
        better=direction * (adjusted <= alpha),
        family=family,
        alternative="two-sided",
        metric=metric,
        results={"two-sided": [tested]},
    )
    return PairsDecision(
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
