"""Recommend the most preferred learner that is shown to be good enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints, RandomState
from bestofk._base.errors import ArgumentError, use
from bestofk.decide.decision import Decision
from bestofk.decide.gather import against_margin, margin_pvalues
from bestofk.decide.preference import Name, PreferenceLike
from bestofk.decide.problem import Problem, as_ordered
from bestofk.decide.problem_stack import (
    NO_LEARNER,
    Decided,
    ProblemStack,
    StackSettings,
    distinct,
    groups_of,
    judge_group,
    untested,
)
from bestofk.decide.procedures.multitest import multitest


def cheapest_adequate(
    losses: Any,
    *,
    margin: float | None = None,
    test: str | Callable[..., Any] = "auto",
    alpha: float = 0.05,
    correction: str = "holm",
    rope: float | None = None,
    prefer: PreferenceLike = None,
    df: float | str | None = None,
    missing: str = "refuse",
    random_state: RandomState = 0,
    **test_arguments: Any,
) -> Decision:
    """Take the most preferred learner that is shown not to be worse by more than a margin.

    A learner is *adequate* when, for every other learner, the hypothesis that it is worse than
    that one by the margin or more is rejected. The most preferred adequate one is recommended;
    where no learner is shown to be adequate, none is.

    Parameters
    ----------
    losses, test, alpha, correction, rope, prefer, df, missing, random_state, **test_arguments
        As for `multitest`; a preference must be stated.
    margin : float
        The difference, in the user's metric, that does not matter.

    Returns
    -------
    Decision
        `order` holds the adequate learners by preference, then the others by their means.

    Notes
    -----
    The chance that the recommended learner is worse than the truly best one by the margin or more
    is at most alpha: with t the truly best, that takes a false rejection of the hypothesis about
    (recommended, t), and the chance of any false rejection over all ordered pairs is held at
    alpha. Of the two hypotheses about a pair at most one is true, which makes the correction step
    down from K (K - 1) / 2.

    Examples
    --------
    The second is a little better than the first, by less than it would cost:

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.110, 0.107, 0.300])[:, None, None] + 0.002 * rng.random((3, 10, 10))
    >>> cheapest_adequate(losses, margin=0.01).recommended
    0
    >>> from bestofk.decide import multitest
    >>> multitest(losses).recommended
    1
    """
    problem = as_ordered(losses, prefer=prefer, missing=missing, arguments=test_arguments)
    margin = require_margin_and_preference(problem, margin)
    tested = multitest(
        problem, test=test, alpha=alpha, correction=correction, rope=rope, df=df,
        random_state=random_state, **test_arguments,
    )  # fmt: skip
    assert tested.test_choice is not None
    margins = against_margin(problem, tested.test_choice, margin, alpha=tested.alpha)
    means = np.array([tested.mean_losses[name] for name in problem.names])
    places, best = _adequate_first(margins.shown[np.newaxis], means[np.newaxis])
    recommended: Name | None = None if best[0] == NO_LEARNER else problem.names[int(best[0])]
    if margins.before_missing is not None:
        before = _adequate_first(margins.before_missing.shown[np.newaxis], means[np.newaxis])[1]
        tested.evidence.cache["adequate before missing"] = (
            None if before[0] == NO_LEARNER else problem.names[int(before[0])]
        )
    return replace(
        tested,
        procedure="cheapest-adequate",
        recommended=recommended,
        ranking=tuple(problem.names[i] for i in places[0].tolist()),
        margin=margins.margin,
        margins={} if recommended is None else margins.verdicts(tested.evidence, recommended),
    )


def require_margin_and_preference(problem: Problem, margin: float | None) -> float:
    """Return the margin; refuse a decision without a margin or a preference."""
    if margin is None:
        raise ArgumentError(
            "procedure 'cheapest-adequate' needs a margin: the difference that does not matter, "
            "such as ",
            use(margin=0.01),
            ".",
        )
    if not problem.preference.stated:
        raise ArgumentError(
            "procedure 'cheapest-adequate' needs a preference: give ",
            use(prefer=...),
            ", such as the learners from the cheapest to the most expensive.",
        )
    return margin


def cheapest_adequate_many(stack: ProblemStack, settings: StackSettings) -> Decided:
    """Return the cheapest adequate learner of every table of a stack."""
    assert settings.margin is not None
    decided = untested(len(stack), stack.learners)
    shown: Bools = np.zeros(decided.claims.shape, dtype=bool)
    tests = []
    for group in groups_of(stack, settings, one_sided=False):
        tests.append(judge_group(stack, group, decided))
        values = stack.rows(group.tables).sample(group.choice.axes)
        adjusted = margin_pvalues(group.choice, values, settings.margin)[1]
        shown[group.tables] = adjusted <= settings.alpha
    order, recommended = _adequate_first(shown, stack.means)
    return decided._replace(tests=distinct(tests)).with_order(order, recommended)


def _adequate_first(shown: Bools, means: Floats) -> tuple[Ints, Ints]:
    """Return (B, K): the adequate by preference, then the rest by means; and (B,): the first."""
    K = means.shape[1]
    adequate: Bools = np.logical_and.reduce(shown | np.eye(K, dtype=bool), axis=2)
    by_mean = np.argsort(np.argsort(means, axis=1, kind="stable"), axis=1, kind="stable")
    order = np.argsort(np.where(adequate, np.arange(K), K + by_mean), axis=1, kind="stable")
    return order, np.where(adequate.any(axis=1), order[:, 0], NO_LEARNER)
