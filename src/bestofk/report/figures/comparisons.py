"""Words that several figures share, and the parts of a value that they draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Bools, Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import pvalue_words
from bestofk.decide.evidence import Signs
from bestofk.decide.registry import PROCEDURES
from bestofk.decide.statements.wording import correction_words, family_words, level_words
from bestofk.stats.adjust import CORRECTIONS
from bestofk.stats.multiple.result import learner_names

if TYPE_CHECKING:
    from bestofk.decide.decision import Decision
    from bestofk.losses.losses import Losses


def decision_of(value: Any) -> Decision:
    """The order itself, or the decision of a study."""
    from bestofk.decide.decision import Decision

    decision = getattr(value, "decision", value)
    if isinstance(decision, Decision):
        return decision
    if decision is None:
        raise ArgumentError("figure: the study has no decision to draw, only failures.")
    raise ArgumentError(f"figure: a Decision or a Study is needed; got {type(value).__name__}.")


def preferring(value: Any, kind: str) -> Decision:
    """As `decision_of`, for figures that show how the data override a preference."""
    order = decision_of(value)
    if not order.preference.stated:
        raise ArgumentError(
            f"figure {kind!r}: it shows where the data override a preference, and none was stated: "
            "decide with prefer=, or draw 'forest', 'matrix' or 'losses'."
        )
    return order


def losses_of(value: Any, losses: Any = None) -> Losses | None:
    """The losses given, or the value itself, or what it was decided from; None for none."""
    from bestofk.losses.losses import Losses

    for found in (losses, value, getattr(value, "losses", None)):
        if isinstance(found, Losses):
            return found
    problem = getattr(getattr(value, "decision", value), "problem", None)
    if problem is None:
        return None
    if problem.losses is not None:
        kept: Losses = problem.losses
        return kept
    dims = ("algorithm", "dataset") if problem.n_datasets > 1 else ("algorithm", "run", "fold")
    return Losses(problem.values, dims=dims, algorithms=problem.names)


def basis(order: Decision) -> str:
    """``MultiTest, 5x2cv-t, alpha = 0.05 with Holm's correction.``"""
    procedure = order.procedure
    if procedure in PROCEDURES:
        procedure = PROCEDURES[procedure].title or procedure
    if not order.test:
        return f"{procedure}, alpha = {order.alpha:g}."
    correction = correction_words(order.evidence) if len(order.evidence) else ""
    return f"{procedure}, {order.test}, alpha = {order.alpha:g}{correction}."


def p_words(order: Decision) -> str:
    """What the p-values of the evidence are."""
    if order.evidence.family.size == 1:
        return "the p-value"
    adjusted = CORRECTIONS[order.correction].adjusts
    return "the adjusted p-value" if adjusted else "the p-value, not adjusted"


def interval_words(order: Decision) -> str:
    """What the intervals of the evidence promise."""
    family = order.evidence.family
    level = level_words(order.alpha)
    if family.size == 1:
        return f"Interval: {level}."
    if not CORRECTIONS[family.correction].adjusts:
        return f"Intervals: {level}, for each pair alone."
    return f"Intervals: {level}, for all pairs together."


def level_of(order: Decision) -> float:
    """The coverage that goes with the level of an order."""
    return 1.0 - order.alpha


def aligned(values: Sequence[float]) -> tuple[str, ...]:
    """Numbers with equally many decimals, for a column.

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
    """Numbers with a true minus sign."""
    return text.replace("-", "−")


def short_p(p: float, alpha: float | None = None) -> str:
    """A p-value in little room, with the digits that sentences give it.

    Examples
    --------
    >>> short_p(0.0312), short_p(2e-7), short_p(1.0), short_p(0.0503, 0.05)
    ('0.031', '<0.0001', '1', '0.0503')
    """
    words = pvalue_words(p, alpha).removeprefix("p ").removeprefix("= ")
    return words.replace(" ", "")


# Pairs of learners as figures see them: who differs from whom, by how much, on what scale.


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
        Score of the row less that of the column.
    pvalue : (K, K) array
        Adjusted; 1 on the diagonal, NaN where a pair was not compared.
    better : (K, K) array of int
        -1: the row is shown to be better; 1: the column is; 0: no evidence of a difference. It
        need not be the one with the better mean: some tests go by ranks.
    different : (K, K) array of bool
        A claim is made about the pair.
    low, high : (K, K) arrays or None
        Ends of the interval of `difference`; infinite where an end is open or not known.
    note : str
        On what all this rests.
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
    """Whether the larger score is the better one."""
    p_words: str = "the adjusted p-value"
    two_sided: bool = True
    """Whether a pair was tested both ways; otherwise some that differ count as not different."""
    note: str = ""
    interval_note: str = ""

    def by_score(self) -> tuple[int, ...]:
        """The learners by their scores, best first."""
        losses = -self.scores if self.higher_is_better else self.scores
        return tuple(np.argsort(losses, kind="stable").tolist())


def learners_of(value: Any) -> int:
    """How many learners a result compares; 0 where it does not say before it is asked."""
    prefer = getattr(getattr(value, "decision", value), "by_preference", ())
    return len(prefer)


def two_sided_comparisons_of(value: Any, **options: Any) -> Comparisons:
    """As `comparisons_of`, for figures that join learners which do not differ."""
    pairs = comparisons_of(value, **{"level": None, **options})
    if not pairs.two_sided:
        raise ArgumentError(
            "figure: the evidence is one-sided, so it cannot say that two learners do not differ: "
            "decide in the family 'all'."
        )
    return pairs


def comparisons_of(
    value: Any,
    *,
    names: Sequence[object] | None = None,
    alpha: float = 0.05,
    level: float | None = 0.95,
) -> Comparisons:
    """What a result says of every pair.

    Parameters
    ----------
    value : Decision, Study, PosthocResult, TukeyResult, NemenyiResult or NewmanKeulsResult
    names : sequence, optional
        Of the learners, for results that know none.
    alpha : float
        Level, for results that have none.
    level : float or None
        Coverage of the intervals of results that have none of their own; None: no intervals,
        which exact tests take long to find.
    """
    from bestofk.decide.decision import Decision
    from bestofk.stats.multiple.post_hoc import NemenyiResult, PosthocResult
    from bestofk.stats.multiple.range_tests import NewmanKeulsResult, TukeyResult

    if isinstance(value, Comparisons):
        return value
    decision = getattr(value, "decision", value)
    if isinstance(decision, Decision):
        return _of_order(decision, level)
    if isinstance(value, NemenyiResult):
        ranks = value.average_ranks
        return _finished(
            ranks,
            "average rank",
            names,
            value.pvalues,
            np.abs(ranks[:, None] - ranks) > value.critical_difference,
            f"Nemenyi's test over {value.blocks} blocks, alpha = {value.alpha:g}.",
            critical_difference=value.critical_difference,
            alpha=value.alpha,
        )
    if isinstance(value, NewmanKeulsResult):
        K = len(value.order)
        apart = ~np.eye(K, dtype=bool)
        for line in value.underlines:
            apart[np.ix_(line, line)] = False
        note = f"Newman-Keuls, alpha = {value.alpha:g} for each range."
        p = np.full((K, K), np.nan)
        np.fill_diagonal(p, 1.0)
        return _finished(value.means, "mean loss", names, p, apart, note, alpha=value.alpha)
    if isinstance(value, TukeyResult):
        level = 0.95 if level is None else level
        interval = value.confidence_interval(level)
        return _finished(
            value.means,
            "mean loss",
            names,
            value.pvalues,
            value.pvalues <= alpha,
            f"Tukey's honestly significant differences, alpha = {alpha:g}.",
            interval_note=f"Intervals: {100 * level:g} %, for all pairs together.",
            low=np.asarray(interval.low),
            high=np.asarray(interval.high),
            alpha=alpha,
        )
    if isinstance(value, PosthocResult):
        p = value.matrix()
        none = not CORRECTIONS[value.correction].adjusts
        adjusted = "not adjusted" if none else f"adjusted by {value.correction}"
        return _finished(
            value.means,
            "mean loss",
            names,
            p,
            (p <= alpha) & ~np.eye(len(p), dtype=bool),
            f"Two-sided {value.test} tests, p-values {adjusted}, alpha = {alpha:g}.",
            alpha=alpha,
            p_words="the p-value" if none else "the adjusted p-value",
        )
    raise ArgumentError(
        "figure: a result with pairs of learners is needed (a Decision or Study, posthoc, tukey, "
        f"nemenyi or newman_keuls); got {type(value).__name__}."
    )


def _finished(
    scores: Floats,
    score_name: str,
    names: Sequence[object] | None,
    pvalue: Floats,
    different: Bools,
    note: str,
    **more: Any,
) -> Comparisons:
    K = len(scores)
    given = None if names is None else [str(name) for name in names]
    return Comparisons(
        names=tuple(learner_names(given, K)),
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
    """All pairs of an order, from its own evidence."""
    K, evidence = len(order.by_preference), order.evidence
    if len(evidence) != K * (K - 1) // 2:
        raise ArgumentError(
            f"figure: this order by {order.procedure!r} does not compare all pairs; decide by "
            "'multitest' or 'most-wins' in the family 'all'."
        )
    i, j = evidence.first, evidence.second
    pvalue, better = np.ones((K, K)), np.zeros((K, K), dtype=np.int8)
    pvalue[i, j] = pvalue[j, i] = evidence.adjusted_pvalue
    better[i, j], better[j, i] = evidence.better, -evidence.better
    two_sided = evidence.alternative == "two-sided"
    note = f"{order.test}, {family_words(evidence)}, alpha = {order.alpha:g}"
    note += f"{correction_words(evidence)}."
    ends: dict[str, Any] = {}
    metric = order.metric
    if level is not None and np.isfinite([evidence.low, evidence.high]).any():
        low, high = np.zeros((K, K)), np.zeros((K, K))
        low[i, j], high[i, j] = metric.interval(evidence.low, evidence.high)
        low[j, i], high[j, i] = 0.0 - high[i, j], 0.0 - low[i, j]
        ends = {
            "low": low,
            "high": high,
            "interval_note": interval_words(order),
        }
    losses = np.array([order.means[name] for name in order.by_preference])
    scores = metric.shown(losses)
    at = {name: k for k, name in enumerate(order.by_preference)}
    ranked = tuple(np.argsort(losses, kind="stable").tolist())
    if len(order.ranking) == K:
        ranked = tuple(at[name] for name in order.ranking)
    return Comparisons(
        names=tuple(str(name) for name in order.by_preference),
        scores=scores,
        score_name=metric.mean,
        alpha=order.alpha,
        p_words=p_words(order),
        higher_is_better=metric.higher_is_better,
        order=ranked,
        difference=np.subtract.outer(scores, scores),
        pvalue=pvalue,
        better=better,
        different=np.asarray(better != 0),
        two_sided=two_sided,
        note=note,
        **ends,
    )
