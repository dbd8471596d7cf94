"""MultiTest: order K learners from pairwise tests and a preference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk._base.checks import Bools, Floats, Ints, RandomState
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk.decide.choose_test import caution_of, choose_test, smallest_pvalue, units
from bestofk.decide.decision import Decision
from bestofk.decide.evidence import Family
from bestofk.decide.gather import against_margin, bayesian_choice, gather_evidence
from bestofk.decide.preference import PreferenceLike, without_noise
from bestofk.decide.problem import Problem, as_ordered
from bestofk.decide.problem_stack import Asked, ProblemStack
from bestofk.decide.procedures.graph import Decided, sort_by_overrides, tested_many


def multitest(
    losses: Any,
    *,
    test: str | Callable[..., Any] = "auto",
    alpha: float = 0.05,
    correction: str = "holm",
    family: str = "all",
    control: Any = None,
    guard: bool = True,
    margin: float | None = None,
    rope: float | None = None,
    prefer: PreferenceLike = None,
    df: float | str | None = None,
    missing: str = "refuse",
    random_state: RandomState = 0,
    **test_arguments: Any,
) -> Decision:
    """Order K learners from pairwise tests and a preference.

    Only where a pair is shown to differ, and the less preferred learner is the better one, do the
    data override the preference. Recommended is the most preferred learner that no other
    overrides; without it the same is asked again, which gives the order. One is always found.
    Without a preference the learner with the smallest mean is recommended.

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
    guard : bool
        Pass over a candidate while a learner preferred to it that was struck out has the smaller
        mean. False: as published, where a learner can be recommended because its losses are
        too noisy to show that it is the worst.
    margin : float, optional
        A difference, in the user's metric, that does not matter: every learner is then also
        tested for being worse than the recommended one by that much.
    rope : float, optional
        Half the width of a region of practical equivalence: adds the posterior probabilities of
        every pair by the Bayesian test for the design.
    prefer : sequence of names, mapping of name to price, or "listed"
        The preference, most preferred (or cheapest) first; by default none for a `Losses`, and
        as listed for an array.
    df : float, "calibrated", Calibration or path, optional
        Degrees of freedom, for tests that take them; what `bestofk.lab.calibration` measured, or
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
    >>> decision.candidates
    ((1, 2), (2,), (0,))
    """
    problem = as_ordered(losses, prefer=prefer, missing=missing, arguments=test_arguments)
    hypotheses = family_of(problem, family, alpha, correction, control)
    choice = choose_test(
        problem, test, family=hypotheses, one_sided=hypotheses.alternative != "two-sided",
        df=df, random_state=random_state, **rope_argument(test, rope), **test_arguments,
    )  # fmt: skip
    evidence = gather_evidence(
        problem,
        choice,
        hypotheses,
        rope=rope,
        bayesian=None if rope is None else bayesian_choice(problem, choice, rope, random_state),
    )
    names, means = problem.names, problem.means()
    order = _ordered(evidence.overrides(), means, guard=guard, stated=problem.preference.stated)
    recommended = names[int(order[0])]
    smallest = hypotheses.smallest_adjusted(smallest_pvalue(choice, units(problem)))
    return Decision(
        procedure="multitest",
        recommended=recommended,
        ranking=tuple(names[i] for i in order.tolist()),
        by_preference=names,
        means=dict(zip(names, means.tolist(), strict=True)),
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=hypotheses.alpha,
        correction=correction,
        design=problem.describe(),
        preference=problem.preference,
        guard=guard,
        caution=caution_of(problem, choice),
        decidable=smallest <= hypotheses.alpha,
        smallest_possible=smallest,
        margin=margin,
        margins={}
        if margin is None
        else against_margin(problem, choice, margin, alpha=hypotheses.alpha).verdicts(
            evidence, recommended
        ),
        notes=(*problem.notes, *choice.notes),
        problem=problem,
        test_choice=choice,
    )


def multitest_many(stack: ProblemStack, asked: Asked) -> Decided:
    """MultiTest on every table of a stack."""
    decided = tested_many(stack, asked)
    return decided.with_order(
        _ordered(
            np.triu(decided.claims.swapaxes(1, 2)),
            stack.means,
            guard=asked.guard,
            stated=stack.like.preference.stated,
        )
    )


def _ordered(overrides: Bools, means: Floats, *, guard: bool, stated: bool) -> Ints:
    """(..., K): the places of the learners, best first."""
    if not stated:
        return np.broadcast_to(np.arange(means.shape[-1]), means.shape)
    return sort_by_overrides(overrides, without_noise(means) if guard else None)


def family_of(
    problem: Problem, name: str, alpha: float, correction: str, control: Any = None
) -> Family:
    """The family over the learners of a problem."""
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
    """The rope as an argument of the test itself, where that is Bayesian."""
    from bestofk.stats.pairwise.registry import PAIRWISE_TESTS

    if rope is None or not isinstance(test, str) or test == "auto":
        return {}
    return {"rope": rope} if test in PAIRWISE_TESTS and PAIRWISE_TESTS[test].bayesian else {}
