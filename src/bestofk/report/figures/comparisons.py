"""The parts of a value that several figures draw, and the words that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk._base.errors import ArgumentError
from bestofk.decide.evidence import Signs
from bestofk.decide.registry import RULES
from bestofk.decide.statements.verdict import no_bound
from bestofk.decide.statements.wording import (
    called,
    correction_words,
    family_words,
    level_words,
    uncertainty_of,
)
from bestofk.stats.adjust import CORRECTIONS

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision
    from bestofk.decide.evidence import Evidence
    from bestofk.losses.losses import Scores


def decision_of(value: Any) -> Decision:
    """Return the order itself, or the decision of a study."""
    from bestofk.decide.decision import Decision

    decision = getattr(value, "decision", value)
    if isinstance(decision, Decision):
        return decision
    raise ArgumentError(
        "figure: every learner of this study failed, so it has no decision to draw."
    )


def losses_of(value: Any) -> Scores | None:
    """Return the value itself or the losses behind it; None if unknown."""
    from bestofk.losses.losses import Scores

    for table in (value, getattr(value, "losses", None)):
        if isinstance(table, Scores):
            return table
    problem = getattr(getattr(value, "decision", value), "problem", None)
    if problem is None:
        return None
    if isinstance(problem.losses, Scores):
        return problem.losses
    dims = ("learner", "dataset") if problem.n_datasets > 1 else ("learner", "run", "fold")
    return Scores(problem.values, dims=dims, learners=problem.names)


def basis(order: Decision) -> str:
    """Return a phrase such as ``MultiTest, 5x2cv-t, alpha = 0.05 with Holm's correction.``."""
    rule = order.rule
    if rule in RULES:
        rule = RULES[rule].title or rule
    if not order.test:
        return f"{rule}, alpha = {order.alpha:g}."
    correction = correction_words(order.evidence) if len(order.evidence) else ""
    return f"{rule}, {order.test}, alpha = {order.alpha:g}{correction}."


def bounds_note(order: Decision) -> str:
    """Say what the bounds of a decision promise, or why it has none."""
    if order.runs_of(order.by_preference[0]) is not None:
        return f"No bounds: the {order.noun}s have different numbers of {order.run_noun}s."
    if order.best is None:
        best = order.recommended
        if best is None or not len(order.evidence):
            return ""
        return f"The verdicts compare with {called(best)}."
    if not any(row.at_most for row in order.standings):
        return no_bound(order)
    level = level_words(order.alpha)
    return f"How much worse than the best, with {level} confidence for all {order.noun}s at once."


def evidence_words(order: Decision) -> str:
    """Return a sentence about the test of the pairs, their family and the correction."""
    evidence = order.pair_evidence
    family, correction = family_words(evidence), correction_words(evidence)
    return f"{order.test} test {family}, alpha = {order.alpha:g}{correction}."


def p_words(evidence: Evidence) -> str:
    """Return whether the p-values of the evidence are adjusted, in words."""
    if evidence.family.size == 1:
        return "the p-value"
    adjusted = CORRECTIONS[evidence.family.correction].adjusts
    return "the adjusted p-value" if adjusted else "the p-value, not adjusted"


def interval_words(evidence: Evidence) -> str:
    """Return a sentence about the coverage of the intervals of the evidence."""
    level = level_words(evidence.family.alpha)
    if evidence.family.size == 1:
        return f"Interval: {level}."
    if not CORRECTIONS[evidence.family.correction].adjusts:
        return f"Intervals: {level}, for each pair alone."
    return f"Intervals: {level}, for all pairs together."


def minus(text: str) -> str:
    """Replace hyphens by true minus signs."""
    return text.replace("-", "−")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparisons:
    """All pairs of K learners.

    Attributes
    ----------
    names : tuple of str
    scores : (K,) array
        Means in the user's metric, or average ranks.
    score_name : str
    order : tuple of int
        The learners, best first.
    pvalue : (K, K) array
        Adjusted p-values; 1 on the diagonal.
    better : (K, K) array of int
        -1 if the row is shown to be better, 1 if the column is, 0 if no difference is
        shown. The better learner can have the worse mean: some tests compare ranks.
    note : str
        The test behind the comparison.
    alpha : float
    uncertainty : float or None
        Typical half width of an interval, which sets the decimals of the scores.
    low, high : (K, K) arrays or None
        Ends of the interval of `difference`; infinite if an end is open or unknown.
    """

    names: tuple[str, ...]
    scores: Floats
    score_name: str
    order: tuple[int, ...]
    pvalue: Floats
    better: Signs
    note: str
    alpha: float
    uncertainty: float | None = None
    low: Floats | None = None
    high: Floats | None = None
    critical_difference: float | None = None
    higher_is_better: bool = False
    p_words: str = "the adjusted p-value"
    interval_note: str = ""
    noun: str = "learner"

    @property
    def difference(self) -> Floats:
        """Score of the row minus that of the column."""
        difference: Floats = np.subtract.outer(self.scores, self.scores)
        return difference

    @property
    def different(self) -> Bools:
        """Whether the pair is shown to differ."""
        return np.asarray(self.better != 0)


def comparisons_of(order: Decision, *, intervals: bool = True) -> Comparisons:
    """Return what a decision says about every pair; intervals are slow for exact tests."""
    K, evidence = len(order.by_preference), order.pair_evidence
    i, j = evidence.first, evidence.second
    pvalue, better = np.ones((K, K)), np.zeros((K, K), dtype=np.int8)
    pvalue[i, j] = pvalue[j, i] = evidence.adjusted_pvalue
    better[i, j], better[j, i] = evidence.better, -evidence.better
    ends: dict[str, Any] = {}
    metric = order.metric
    if intervals and np.isfinite([evidence.low, evidence.high]).any():
        low, high = np.zeros((K, K)), np.zeros((K, K))
        low[i, j], high[i, j] = metric.interval(evidence.low, evidence.high)
        low[j, i], high[j, i] = 0.0 - high[i, j], 0.0 - low[i, j]
        ends = {"low": low, "high": high, "interval_note": interval_words(evidence)}
    losses = np.array([order.mean_losses[name] for name in order.by_preference])
    index = {name: k for k, name in enumerate(order.by_preference)}
    ranked = tuple(np.argsort(losses, kind="stable").tolist())
    if len(order.ranking) == K:
        ranked = tuple(index[name] for name in order.ranking)
    return Comparisons(
        names=tuple(str(name) for name in order.by_preference),
        scores=metric.shown(losses),
        score_name=metric.mean,
        order=ranked,
        pvalue=pvalue,
        better=better,
        note=evidence_words(order),
        alpha=order.alpha,
        uncertainty=uncertainty_of(order),
        higher_is_better=metric.higher_is_better,
        p_words=p_words(evidence),
        noun=order.noun,
        **ends,
    )
