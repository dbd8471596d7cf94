"""Order K learners from pairwise tests and a preference (MultiTest), and sort its graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk._base.checks import Bools, Ints, RandomState
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk.decide.best import sort_by_overrides
from bestofk.decide.cautions import caution_of
from bestofk.decide.choose_test import choose_test, smallest_pvalue, units
from bestofk.decide.decision import Decision
from bestofk.decide.evidence import Family
from bestofk.decide.gather import bayesian_choice, gather_evidence
from bestofk.decide.preference import PreferenceLike
from bestofk.decide.problem import Problem, as_ordered

if TYPE_CHECKING:
    from bestofk.decide.problem_stack import Decided, ProblemStack, StackSettings


AS_PUBLISHED: dict[str, Any] = {
    "procedure": "multitest", "test": "5x2cv-t", "correction": "bonferroni",
    "family": "preference",
}  # fmt: skip
"""The settings of Yildiz and Alpaydin 2006; they also prefer simpler learners."""


def multitest(
    losses: Any,
    *,
    test: str | Callable[..., Any] = "auto",
    alpha: float = 0.05,
    correction: str = "holm",
    family: str = "all",
    control: Any = None,
    rope: float | None = None,
    prefer: PreferenceLike = None,
    df: float | str | None = None,
    missing: str = "refuse",
    random_state: RandomState = 0,
    **test_arguments: Any,
) -> Decision:
    """Order K learners from pairwise tests and a preference.

    The data override the preference only if a pair differs significantly and the less preferred
    learner is the better one. MultiTest recommends the most preferred learner that no other
    overrides, removes it and repeats, which gives the order. There is always a recommendation.
    Without a preference it recommends the learner with the smallest mean.

    Parameters
    ----------
    losses : Losses or array (K, ...)
        Losses with their design, or a bare array in order of preference, 0 the most preferred:
        (K, folds), (K, runs, folds) or (K, data sets, runs, folds, repetitions).
    test : str or callable
        A pairwise test that covers the design, or ``"auto"``.
    alpha : float
        Chance of any false claim in the whole result.
    correction : str
        ``"holm"``, or another name of `bestofk.stats.adjust.CORRECTIONS`, over the family.
    family : {"all", "preference", "control"}
        Which hypotheses are tested together: all pairs, two-sided; all pairs, one-sided against
        the preference, as published; or one learner against the others.
    control : name, optional
        The learner that the others are compared with, for the family ``"control"``.
    rope : float, optional
        Half the width of a region of practical equivalence: adds the posterior probabilities of
        every pair by the Bayesian test for the design.
    prefer : sequence of names, mapping of name to price, or "listed"
        The preference, most preferred (or cheapest) first; by default none for a `Losses`, and
        as listed for an array.
    df : float, "calibrated", Calibration or path, optional
        Degrees of freedom, for tests that take them; what ``bestofk calibrate`` measured, or
        the file that holds it.
    missing : {"refuse", "drop", "allow"}
        As for `bestofk.order`.
    random_state : int, Generator or None
        For tests that draw.
    **test_arguments
        More for the test; for a file or data frame also what `read_losses` takes.

    Returns
    -------
    Decision

    Notes
    -----
    In the family ``"all"`` with Holm's correction the chance of any false claim, in any
    direction, is at most alpha under any dependence: after j - 1 correct rejections the opposite
    directions of those pairs have p > 1/2 and cannot be rejected, so that of the P - j + 1 pairs
    left E are equal and N are not, and 2 E + N true one-sided hypotheses remain, each with
    threshold alpha / (2 (P - j + 1)).

    References
    ----------
    O. T. Yildiz and E. Alpaydin, Ordering and finding the best of K > 2 supervised learning
    algorithms, IEEE Trans. Pattern Analysis and Machine Intelligence 28 (2006) 392-402,
    doi:10.1109/TPAMI.2006.61.

    Examples
    --------
    Three learners in 5x2 cross-validation, the cheapest first; the second is clearly better:

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.11])[:, None, None] + 0.01 * rng.random((3, 5, 2))
    >>> decision = multitest(losses)
    >>> decision.ranking, decision.edges
    ((1, 2, 0), ((0, 1), (0, 2)))
    >>> [step.candidates for step in decision.steps]
    [(1, 2), (2,), (0,)]
    """
    problem = as_ordered(losses, prefer=prefer, missing=missing, arguments=test_arguments)
    decision = tested(
        problem, family_of(problem, family, alpha, correction, control), test=test, df=df,
        rope=rope, random_state=random_state, **test_arguments,
    )  # fmt: skip
    order = _ordered(decision.evidence.overrides(), stated=problem.preference.stated)
    ranking = tuple(problem.names[i] for i in order.tolist())
    return replace(decision, procedure="multitest", recommended=ranking[0], ranking=ranking)


def tested(
    problem: Problem,
    family: Family,
    *,
    test: str | Callable[..., Any],
    df: Any,
    rope: float | None,
    random_state: RandomState,
    **test_arguments: Any,
) -> Decision:
    """Test the pairs of a family, and return a decision without a recommendation."""
    choice = choose_test(
        problem, test, one_sided=family.alternative != "two-sided",
        df=df, random_state=random_state, **rope_argument(test, rope), **test_arguments,
    )  # fmt: skip
    evidence = gather_evidence(
        problem,
        choice,
        family,
        rope=rope,
        bayesian=None if rope is None else bayesian_choice(problem, choice, rope, random_state),
    )
    smallest = family.smallest_adjusted(smallest_pvalue(choice, units(problem)))
    return Decision(
        procedure="",
        recommended=None,
        ranking=(),
        by_preference=problem.names,
        mean_losses=dict(zip(problem.names, problem.means().tolist(), strict=True)),
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=family.alpha,
        correction=family.correction,
        design=problem.describe(choice.axes),
        preference=problem.preference,
        caution=caution_of(problem, choice),
        decidable=smallest <= family.alpha,
        smallest_possible=smallest,
        notes=(*problem.notes, *choice.notes),
        problem=problem,
        test_choice=choice,
    )


def multitest_many(stack: ProblemStack, settings: StackSettings) -> Decided:
    """Return the decisions of MultiTest on every table of a stack."""
    from bestofk.decide.problem_stack import tested_many

    decided = tested_many(stack, settings)
    overrides = np.triu(decided.claims.swapaxes(1, 2))
    return decided.with_order(_ordered(overrides, stated=stack.like.preference.stated))


def _ordered(overrides: Bools, *, stated: bool) -> Ints:
    """Return (..., K): the learners, best first."""
    if not stated:
        return np.broadcast_to(np.arange(overrides.shape[-1]), overrides.shape[:-1])
    return sort_by_overrides(overrides)


def family_of(
    problem: Problem, name: str, alpha: float, correction: str, control: Any = None
) -> Family:
    """Return the family over the learners of a problem."""
    at = None
    if name == "preference" and not problem.preference.stated:
        raise ArgumentError(
            use(family="preference"),
            " tests against a preference, and none is stated: give ",
            use(prefer=...),
            ", or take ",
            use(family="all"),
            ".",
        )
    if name == "control":
        if control is None:
            raise ArgumentError(
                use(family="control"),
                " compares one learner with the others: name it with ",
                use(control=str(problem.names[0])),
                " or another one.",
            )
        if control not in problem.names:
            raise UnknownNameError("learner", control, [str(name) for name in problem.names])
        at = problem.names.index(control)
    elif control is not None:
        raise ArgumentError(
            "control applies to ", use(family="control"), ": add that, or leave control out."
        )
    return Family(
        name=name, learners=len(problem.names), alpha=alpha, correction=correction, control=at
    )


def rope_argument(test: Any, rope: float | None) -> dict[str, Any]:
    """Return the rope as an argument of the test, if the test is Bayesian."""
    from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

    if rope is None or not isinstance(test, str) or test == "auto":
        return {}
    return {"rope": rope} if test in PAIRWISE_TESTS and PAIRWISE_TESTS[test].bayesian else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the ordering: the candidates, and the choice."""

    candidates: tuple[int | str, ...]
    """Learners that no remaining learner is shown to beat, most preferred first."""
    chosen: int | str
    """The most preferred candidate."""


def steps_of(overrides: Bools) -> list[tuple[Ints, int]]:
    """Return the candidates and the choice, for every step of a table."""
    overrides = np.asarray(overrides, dtype=bool)
    outgoing = overrides.sum(axis=1, dtype=np.int32)
    steps = []
    for taken in sort_by_overrides(overrides).tolist():
        steps.append((np.flatnonzero(outgoing == 0), taken))
        outgoing -= overrides[:, taken]
        outgoing[taken] = -1
    return steps
