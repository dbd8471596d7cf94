"""Recommend one of the learners that may be the best, and bound how much worse it can be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bestofk._base.checks import Ints, RandomState
from bestofk.decide.best import (
    Best,
    best_of,
    best_of_evidence,
    intervals_by_pair,
    sort_by_overrides,
)
from bestofk.decide.choose_test import Choice
from bestofk.decide.decision import Decision
from bestofk.decide.evidence import Family
from bestofk.decide.gather import pairs_of_tables
from bestofk.decide.preference import PreferenceLike
from bestofk.decide.problem import as_ordered
from bestofk.decide.problem_stack import (
    Decided,
    ProblemStack,
    StackSettings,
    distinct,
    groups_of,
    untested,
)
from bestofk.decide.procedures.multitest import tested
from bestofk.stats.pairwise.registry import LABELLED_TESTS


def best_of_k(
    losses: Any,
    *,
    test: str | Callable[..., Any] = "auto",
    alpha: float = 0.05,
    correction: str = "bonferroni",
    margin: float | None = None,
    rope: float | None = None,
    prefer: PreferenceLike = None,
    df: float | str | None = None,
    missing: str = "refuse",
    random_state: RandomState = 0,
    **test_arguments: Any,
) -> Decision:
    """Recommend a learner that may be the best, and say how much worse than the best it can be.

    A learner may be the best if no other is shown to be better at level alpha / (K - 1). With a
    preference, the most preferred of these is recommended, otherwise that with the best mean.
    This is MultiTest's rule with the correction that its question needs.

    Parameters
    ----------
    losses, test, alpha, rope, prefer, df, missing, random_state, **test_arguments
        As for `multitest`.
    correction : str
        The correction of `Decision.pairs`, a name of `bestofk.stats.adjust.CORRECTIONS`. It does
        not change the recommendation.
    margin : float, optional
        A difference, in the user's metric, that does not matter: a preferred learner that is
        shown to be at most this much worse than the best is recommended as well.

    Returns
    -------
    Decision

    Notes
    -----
    See `bestofk.decide.best.Best` for the candidates and the bounds.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.11])[:, None, None] + 0.01 * rng.random((3, 5, 2))
    >>> decision = best_of_k(losses)
    >>> decision.recommended, decision.candidates, decision.ranking
    (1, (1,), (1, 2, 0))
    """
    problem = as_ordered(losses, prefer=prefer, missing=missing, arguments=test_arguments)
    family = Family(name="best", learners=len(problem.names), alpha=alpha, correction="bonferroni")
    decision = tested(
        problem, family, test=test, df=df, rope=rope, random_state=random_state, **test_arguments
    )
    assert decision.test_choice is not None
    evidence = decision.evidence
    best = best_of_evidence(evidence, bounds=bounds_means(decision.test_choice), margin=margin)
    order = _order(evidence.shown().T, best.recommended, stated=problem.preference.stated)
    none = int(best.recommended) < 0
    return replace(
        decision,
        procedure="best",
        correction=correction,
        recommended=None if none else problem.names[int(best.recommended)],
        ranking=() if none else tuple(problem.names[i] for i in order.tolist()),
        margin=margin,
        best=best,
    )


def bounds_means(choice: Choice) -> bool:
    """Return whether the intervals of a test bound differences of one mean per learner."""
    entry = choice.entry
    if entry is None:
        return True
    return entry.estimand == "mean" and not entry.bayesian and entry.name not in LABELLED_TESTS


def _order(beaten: Any, first: Any, *, stated: bool) -> Ints:
    """Return (..., K): MultiTest's order with a preference, otherwise that of the means."""
    return sort_by_overrides(beaten if stated else np.zeros_like(beaten), first)


def best_of_k_many(stack: ProblemStack, settings: StackSettings) -> Decided:
    """Return the statements about every table of a stack."""
    B, K = len(stack), stack.learners
    decided = untested(B, K)
    best = Best(
        candidates=np.empty((B, K), dtype=bool),
        at_least=np.empty((B, K)),
        at_most=np.empty((B, K)),
        within=np.empty((B, K), dtype=bool),
        recommended=np.empty(B, dtype=np.int64),
        beaten=np.empty((B, K, K), dtype=bool),
    )
    order = np.empty((B, K), dtype=np.int64)
    pairs = Family(learners=K, alpha=settings.alpha, correction=settings.correction)
    tests = []
    for group in groups_of(stack, settings._replace(family="best", correction="bonferroni"),
                           one_sided=False):  # fmt: skip
        tables, family, choice = group
        some = stack.rows(tables)
        results: list[Any] = []
        columns = pairs_of_tables(
            choice, some.sample(choice.axes), some.means, family, results=results
        )
        beaten = columns.claims(family).swapaxes(1, 2)
        low = high = None
        if bounds_means(choice):
            ends = _intervals(results, family.interval_level(), columns.estimate.shape)
            if ends is not None:
                low, high = intervals_by_pair(K, *family.pairs(), columns.estimate, *ends)
        part = best_of(beaten, low, high, margin=settings.margin)
        for whole, each in zip(best, part, strict=True):
            whole[tables] = each
        order[tables] = _order(beaten, part.recommended, stated=stack.like.preference.stated)
        adjusted = pairs.adjust(columns.pvalue)
        shown = columns._replace(
            adjusted_pvalue=adjusted, better=columns.direction * (adjusted <= pairs.alpha)
        )
        decided.write(tables, shown, pairs)
        tests.append(choice.name)
    return decided._replace(tests=distinct(tests), best=best).with_order(order, best.recommended)


def _intervals(results: list[Any], level: float, shape: tuple[int, ...]) -> Any:
    """Return the ends (B, P) of the intervals of all results; None for a test without them."""
    try:
        ends = [result.confidence_interval(level) for result in results]
    except (AttributeError, ValueError):
        return None
    if not ends:
        return None
    return tuple(
        np.concatenate([np.reshape(one[side], (-1, shape[1])) for one in ends]) for side in (0, 1)
    )
