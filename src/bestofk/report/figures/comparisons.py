"""Pairs of learners as figures see them: who differs from whom, by how much, on what scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk.adjust import adjust
from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.multiple.wording import learner_names
from bestofk.ordering.graph import Bools
from bestofk.ordering.sentences import CORRECTION_WORDS
from bestofk.pairwise.resampled import kfold_t
from bestofk.report.figures.wordings import basis, losses_of, tested

if TYPE_CHECKING:
    from bestofk.ordering.result import Order


_SLOW_INTERVALS = ("permutation",)
"""To invert them exactly takes long for every pair; a t interval of the same mean is shown."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparisons:
    """All pairs of K learners.

    Attributes
    ----------
    names : tuple of str
    scores : (K,) array
        What they are ordered by, the smallest best: mean losses or average ranks.
    score_name : str
    order : tuple of int
        The learners, best first.
    difference : (K, K) array
        Score of the row less that of the column.
    pvalue : (K, K) array
        Adjusted; 1 on the diagonal, NaN where a pair was not compared.
    different : (K, K) array of bool
    low, high : (K, K) arrays or None
        Ends of the interval of `difference`.
    note : str
        On what all this rests.
    """

    names: tuple[str, ...]
    scores: Floats
    score_name: str
    order: tuple[int, ...]
    difference: Floats
    pvalue: Floats
    different: Bools
    low: Floats | None = None
    high: Floats | None = None
    critical_difference: float | None = None
    two_sided: bool = True
    """Whether a pair was tested both ways; otherwise some that differ count as not different."""
    note: str = ""
    interval_note: str = ""


def learners_of(value: Any) -> int:
    """How many learners a result compares; 0 where it does not say before it is asked."""
    prior = getattr(getattr(value, "decision", value), "prior", ())
    return len(prior)


def two_sided_comparisons_of(value: Any, **options: Any) -> Comparisons:
    """As `comparisons_of`, for figures that join learners which do not differ."""
    pairs = comparisons_of(value, **{"level": None, **options})
    if not pairs.two_sided:
        raise ArgumentError(
            "figure: the evidence of 'multitest' is one-sided, so it cannot say that two learners "
            "do not differ; give losses= (or the Study), which are then tested two-sided."
        )
    return pairs


def comparisons_of(
    value: Any,
    *,
    names: Sequence[object] | None = None,
    losses: Any = None,
    alpha: float = 0.05,
    level: float | None = 0.95,
    **test_arguments: Any,
) -> Comparisons:
    """What a result says of every pair.

    Parameters
    ----------
    value : Order, Study, PosthocResult, TukeyResult, NemenyiResult or NewmanKeulsResult
    names : sequence, optional
        Of the learners, for results that know none.
    losses : Losses or array, optional
        What an order was found from, where it does not say so itself.
    alpha : float
        Level, for results that have none.
    level : float or None
        Coverage of the intervals; None: no intervals, which exact tests take long to find.
    **test_arguments
        What the test of an order was given besides, such as `df`.
    """
    from bestofk.multiple.critical_difference import NemenyiResult
    from bestofk.multiple.every_pair import PosthocResult
    from bestofk.multiple.honest_range import TukeyResult
    from bestofk.multiple.stepwise_range import NewmanKeulsResult
    from bestofk.ordering.result import Order

    if isinstance(value, Comparisons):
        return value
    decision = getattr(value, "decision", value)
    if isinstance(decision, Order):
        table = losses_of(value, losses)
        return _of_order(decision, losses if table is None else table, level, test_arguments)
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
        )
    if isinstance(value, NewmanKeulsResult):
        K = len(value.order)
        apart = ~np.eye(K, dtype=bool)
        for line in value.underlines:
            apart[np.ix_(line, line)] = False
        note = f"Newman-Keuls, alpha = {value.alpha:g} for each range."
        p = np.full((K, K), np.nan)
        np.fill_diagonal(p, 1.0)
        return _finished(value.means, "mean loss", names, p, apart, note)
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
            interval_note=f"Intervals: {level:.0%}, simultaneous.",
            low=np.asarray(interval.low),
            high=np.asarray(interval.high),
        )
    if isinstance(value, PosthocResult):
        p = value.matrix()
        return _finished(
            value.means,
            "mean loss",
            names,
            p,
            (p <= alpha) & ~np.eye(len(p), dtype=bool),
            f"Two-sided {value.test} tests, p-values adjusted by {value.correction}, "
            f"alpha = {alpha:g}.",
        )
    raise ArgumentError(
        "figure: a result with pairs of learners is needed (an Order or Study, posthoc, tukey, "
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
        different=different,
        note=note,
        **more,
    )


def _of_order(
    order: Order, losses: Any, level: float | None, test_arguments: dict[str, Any]
) -> Comparisons:
    """All pairs of an order: two-sided tests where the losses are known, else its own evidence."""
    K = len(order.prior)
    i, j = np.triu_indices(K, 1)
    pvalue, different = np.ones((K, K)), np.zeros((K, K), dtype=bool)
    ends: dict[str, Any] = {}
    evidence = order.evidence
    if order.choice is not None or (losses is not None and order.test):
        p, low, high = _two_sided(order, losses, level, test_arguments)
        adjusted = adjust(p, order.correction)
        note = (
            f"Two-sided {order.test} tests of all pairs, alpha = {order.alpha:g} with "
            f"{CORRECTION_WORDS[order.correction]}; p-values are adjusted."
        )
        rejected, two_sided = adjusted <= order.alpha, True
        if low is not None:
            ends = {"low": low, "high": high}
            kind = "t intervals" if order.test in _SLOW_INTERVALS else "intervals"
            ends["interval_note"] = f"{level:.0%} {kind}, of each difference alone."
    elif len(evidence) == len(i):
        adjusted, rejected = evidence.adjusted_pvalue, evidence.rejected
        two_sided = evidence.alternative != "greater"
        note = basis(order)
        if not two_sided:
            note += (
                " One-sided: only whether the less preferred learner of a pair is better was "
                "tested; p is near 1 where it is worse."
            )
    else:
        raise ArgumentError(
            f"figure: procedure {order.procedure!r} does not compare all pairs; give losses= "
            "(or the Study), or decide by 'multitest' or 'most-wins'."
        )
    pvalue[i, j] = pvalue[j, i] = adjusted
    different[i, j] = different[j, i] = rejected
    scores = np.array([order.means[name] for name in order.prior])
    at = {name: k for k, name in enumerate(order.prior)}
    ranked = tuple(np.argsort(scores, kind="stable").tolist())
    if len(order.order) == K:
        ranked = tuple(at[name] for name in order.order)
    return Comparisons(
        names=tuple(str(name) for name in order.prior),
        scores=scores,
        score_name="mean loss",
        order=ranked,
        difference=np.subtract.outer(scores, scores),
        pvalue=pvalue,
        different=different,
        two_sided=two_sided,
        note=note,
        **ends,
    )


def _two_sided(
    order: Order, losses: Any, level: float | None, test_arguments: dict[str, Any]
) -> tuple[Floats, Floats | None, Floats | None]:
    """P-values of all pairs, and the ends of their intervals where the test has any."""
    problem, choice = tested(order, losses, test_arguments)
    values = problem.sample(choice.axes)
    K = len(values)
    i, j = np.triu_indices(K, 1)
    result = choice(values[i], values[j], "two-sided")
    pvalue = np.asarray(result.pvalue, dtype=float)
    if level is None:
        return pvalue, None, None
    if choice.name in _SLOW_INTERVALS:
        result = kfold_t(problem.sample(1)[i], problem.sample(1)[j])
    try:
        ends = result.confidence_interval(level)
    except (ArgumentError, AttributeError):
        return pvalue, None, None
    low, high = np.zeros((K, K)), np.zeros((K, K))
    low[i, j], high[i, j] = ends
    low[j, i], high[j, i] = -high[i, j], -low[i, j]
    return pvalue, low, high
