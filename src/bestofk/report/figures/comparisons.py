"""The parts of a value that several figures draw, and the words that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk._base.errors import ArgumentError, use
from bestofk.decide.evidence import Signs
from bestofk.decide.registry import PROCEDURES
from bestofk.decide.statements.verdict import no_bound
from bestofk.decide.statements.wording import (
    called,
    correction_words,
    family_words,
    level_words,
)
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.result import learner_names

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


def preferring(value: Any, kind: str) -> Decision:
    """Return the order; raise an error if it has no stated preference."""
    order = decision_of(value)
    if not order.preference.stated:
        raise ArgumentError(
            f"figure {kind!r} shows where the data override a preference, and none was stated; "
            "decide with ",
            use(prefer=...),
            ", or draw 'forest', 'matrix' or 'losses'.",
        )
    return order


def losses_of(value: Any, losses: Any = None) -> Scores | None:
    """Return the argument `losses`, the value itself or the losses behind it; None if unknown."""
    from bestofk.losses.losses import Scores

    for table in (losses, value, getattr(value, "losses", None)):
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
    procedure = order.procedure
    if procedure in PROCEDURES:
        procedure = PROCEDURES[procedure].title or procedure
    if not order.test:
        return f"{procedure}, alpha = {order.alpha:g}."
    correction = correction_words(order.evidence) if len(order.evidence) else ""
    return f"{procedure}, {order.test}, alpha = {order.alpha:g}{correction}."


def bounds_note(order: Decision) -> str:
    """Say what the bounds of a decision promise, or why it has none."""
    if order.runs_of(order.by_preference[0]) is not None:
        return f"No bounds: the {order.noun}s have different numbers of {order.run_noun}s."
    if order.best is None:
        best = order.recommended
        return "" if best is None else f"The verdicts compare with {called(best)}."
    if all(row.at_most is None for row in order.standings):
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


def aligned(values: Sequence[float]) -> tuple[str, ...]:
    """Format numbers with equally many decimals, for a column.

    Examples
    --------
    >>> aligned([0.5, 0.1234]), aligned([12.0, 3.25])
    (('0.5000', '0.1234'), ('12.00', '3.25'))
    """
    most = max((abs(value) for value in values), default=0.0)
    if most and (most < 1e-3 or most >= 1e6):
        return tuple(minus(f"{value:.3g}") for value in values)
    digits = 4 if most < 1 else 2 if most < 1000 else 0
    return tuple(minus(f"{value:.{digits}f}") for value in values)


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
    difference : (K, K) array
        Score of the row minus that of the column.
    pvalue : (K, K) array
        Adjusted p-values; 1 on the diagonal, NaN if a pair was not compared.
    better : (K, K) array of int
        -1 if the row is shown to be better, 1 if the column is, 0 if no difference is
        shown. The better learner can have the worse mean: some tests compare ranks.
    different : (K, K) array of bool
        Whether the pair is shown to differ.
    low, high : (K, K) arrays or None
        Ends of the interval of `difference`; infinite if an end is open or unknown.
    note : str
        The test behind the comparison.
    """

    names: tuple[str, ...]
    scores: Floats
    score_name: str
    order: tuple[int, ...]
    difference: Floats
    pvalue: Floats
    better: Signs
    different: Bools
    low: Floats | None = None
    high: Floats | None = None
    critical_difference: float | None = None
    alpha: float = 0.05
    higher_is_better: bool = False
    """True if a larger score is better."""
    p_words: str = "the adjusted p-value"
    two_sided: bool = True
    """True if the tests were two-sided; one-sided tests miss some differences."""
    note: str = ""
    interval_note: str = ""
    noun: str = "learner"

    def by_score(self) -> tuple[int, ...]:
        """Return the learners by their scores, best first."""
        losses = -self.scores if self.higher_is_better else self.scores
        return tuple(np.argsort(losses, kind="stable").tolist())


def two_sided_comparisons_of(value: Any, **options: Any) -> Comparisons:
    """Return all pairs without intervals; raise an error if the evidence is one-sided."""
    pairs = comparisons_of(value, **{"level": None, **options})
    if not pairs.two_sided:
        raise ArgumentError(
            "figure: the evidence is one-sided, so it cannot say that two learners do not differ; "
            "decide with ",
            use(family="all"),
            ".",
        )
    return pairs


def comparisons_of(
    value: Any,
    *,
    names: Sequence[object] | None = None,
    alpha: float = 0.05,
    level: float | None = 0.95,
) -> Comparisons:
    """Return what a result says about every pair.

    Parameters
    ----------
    value : Decision, Study, NemenyiResult, or a result with a method `comparisons`
    names : sequence, optional
        Names of the learners, for results without names.
    alpha : float
        Significance level, for results without one.
    level : float or None
        Coverage of the intervals, for results that do not fix it; None for no intervals, which
        are slow for exact tests.
    """
    from bestofk.decide.decision import Decision
    from bestofk.stats.multiple.post_hoc import NemenyiResult

    if isinstance(value, Comparisons):
        return value
    decision = getattr(value, "decision", value)
    if isinstance(decision, Decision):
        return _of_order(decision, level)
    if isinstance(value, NemenyiResult):
        ranks = value.average_ranks
        return from_scores(
            ranks,
            "average rank",
            names,
            value.pvalues,
            np.abs(ranks[:, None] - ranks) > value.critical_difference,
            f"Nemenyi's test over {value.blocks} blocks, alpha = {value.alpha:g}.",
            critical_difference=value.critical_difference,
            alpha=value.alpha,
        )
    if hasattr(value, "comparisons"):
        comparisons: Comparisons = value.comparisons(names=names, alpha=alpha, level=level)
        return comparisons
    raise ArgumentError(
        "figure: value must be an Order, a Study or a result of nemenyi; got "
        f"{type(value).__name__}."
    )


def from_scores(
    scores: Floats,
    score_name: str,
    names: Sequence[object] | None,
    pvalue: Floats,
    different: Bools,
    note: str,
    **more: Any,
) -> Comparisons:
    K = len(scores)
    strings = None if names is None else [str(name) for name in names]
    return Comparisons(
        names=tuple(learner_names(strings, K)),
        scores=np.asarray(scores, dtype=float),
        score_name=score_name,
        order=tuple(np.argsort(scores, kind="stable").tolist()),
        difference=np.subtract.outer(scores, scores),
        pvalue=pvalue,
        better=np.sign(np.subtract.outer(scores, scores)).astype(np.int8) * different,
        different=different,
        note=note,
        **more,
    )


def _of_order(order: Decision, level: float | None) -> Comparisons:
    """Return all pairs of an order, from its evidence."""
    K, evidence = len(order.by_preference), order.pair_evidence
    if len(evidence) != K * (K - 1) // 2:
        raise ArgumentError(
            f"figure: this order by {order.procedure!r} does not compare all pairs; decide with ",
            use(procedure="best"),
            ".",
        )
    i, j = evidence.first, evidence.second
    pvalue, better = np.ones((K, K)), np.zeros((K, K), dtype=np.int8)
    pvalue[i, j] = pvalue[j, i] = evidence.adjusted_pvalue
    better[i, j], better[j, i] = evidence.better, -evidence.better
    ends: dict[str, Any] = {}
    metric = order.metric
    if level is not None and np.isfinite([evidence.low, evidence.high]).any():
        low, high = np.zeros((K, K)), np.zeros((K, K))
        low[i, j], high[i, j] = metric.interval(evidence.low, evidence.high)
        low[j, i], high[j, i] = 0.0 - high[i, j], 0.0 - low[i, j]
        ends = {"low": low, "high": high, "interval_note": interval_words(evidence)}
    losses = np.array([order.mean_losses[name] for name in order.by_preference])
    scores = metric.shown(losses)
    index = {name: k for k, name in enumerate(order.by_preference)}
    ranked = tuple(np.argsort(losses, kind="stable").tolist())
    if len(order.ranking) == K:
        ranked = tuple(index[name] for name in order.ranking)
    return Comparisons(
        names=tuple(str(name) for name in order.by_preference),
        scores=scores,
        score_name=metric.mean,
        noun=order.noun,
        alpha=order.alpha,
        p_words=p_words(evidence),
        higher_is_better=metric.higher_is_better,
        order=ranked,
        difference=np.subtract.outer(scores, scores),
        pvalue=pvalue,
        better=better,
        different=np.asarray(better != 0),
        two_sided=evidence.alternative == "two-sided",
        note=evidence_words(order),
        **ends,
    )
