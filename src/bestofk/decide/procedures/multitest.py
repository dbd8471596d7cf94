"""Order K learners from pairwise tests and a preference (MultiTest), and sort its graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Bools, Floats, Ints, RandomState
from bestofk._base.errors import ArgumentError, UnknownNameError, use
from bestofk.decide.choose_test import caution_of, choose_test, smallest_pvalue, units
from bestofk.decide.decision import Decision
from bestofk.decide.evidence import Family
from bestofk.decide.gather import against_margin, bayesian_choice, gather_evidence
from bestofk.decide.preference import PreferenceLike, without_noise
from bestofk.decide.problem import Problem, as_ordered

if TYPE_CHECKING:
    from bestofk.decide.problem_stack import Decided, ProblemStack, StackSettings


AS_PUBLISHED: dict[str, Any] = {
    "test": "5x2cv-t", "correction": "bonferroni", "family": "preference", "guard": False,
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
        problem, test, one_sided=hypotheses.alternative != "two-sided",
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
        mean_losses=dict(zip(names, means.tolist(), strict=True)),
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=hypotheses.alpha,
        correction=correction,
        design=problem.describe(choice.axes),
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


def multitest_many(stack: ProblemStack, settings: StackSettings) -> Decided:
    """Return the decisions of MultiTest on every table of a stack."""
    from bestofk.decide.problem_stack import tested_many

    decided = tested_many(stack, settings)
    return decided.with_order(
        _ordered(
            np.triu(decided.claims.swapaxes(1, 2)),
            stack.means,
            guard=settings.guard,
            stated=stack.like.preference.stated,
        )
    )


def _ordered(overrides: Bools, means: Floats, *, guard: bool, stated: bool) -> Ints:
    """Return (..., K): the learners, best first."""
    if not stated:
        return np.broadcast_to(np.arange(means.shape[-1]), means.shape)
    return sort_by_overrides(overrides, without_noise(means) if guard else None)


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
    """The most preferred candidate that was not passed over."""
    passed_over: tuple[int | str, ...] = ()
    """Candidates before the chosen one whose mean is worse than that of a learner preferred to
    them that was struck out."""


def sort_by_overrides(overrides: Bools, means: Floats | None = None) -> Ints:
    """Repeatedly take the most preferred learner that no remaining one overrides.

    Parameters
    ----------
    overrides : (..., K, K) array of bool
        Learners in the order of preference. ``overrides[i, j]`` with i < j is an edge i -> j: the
        data say that j has the smaller loss although i is preferred. Nothing on or below the
        diagonal. Leading axes are separate tables.
    means : (..., K) array, optional
        Mean losses, for the guard: a candidate is passed over while a learner preferred to it
        that is struck out has the smaller mean. None: as published.

    Returns
    -------
    (..., K) array of int
        The order, best first.

    Examples
    --------
    Fig. 2 of Yildiz and Alpaydin (2006), with learners counted from 0:

    >>> edges = np.zeros((4, 4), dtype=bool)
    >>> edges[[0, 0, 0, 1], [1, 2, 3, 2]] = True
    >>> sort_by_overrides(edges).tolist()
    [2, 1, 3, 0]

    The first is struck out by the last; the second, never compared well, has the worst mean:

    >>> edges = np.zeros((3, 3), dtype=bool)
    >>> edges[0, 2] = True
    >>> sort_by_overrides(edges).tolist()
    [1, 2, 0]
    >>> sort_by_overrides(edges, np.array([0.27, 0.40, 0.25])).tolist()
    [2, 0, 1]
    """
    overrides = _upper(overrides)
    lead, K = overrides.shape[:-2], overrides.shape[-1]
    tables = overrides.reshape(-1, K, K)
    order = np.tile(np.arange(K, dtype=np.int64), (len(tables), 1))
    # if nothing overrides the preference, it is the order
    moved = np.flatnonzero(tables.any(axis=(1, 2)))
    if moved.size:
        guarded = None
        if means is not None:
            guarded = np.broadcast_to(means, (*lead, K)).reshape(-1, K)[moved]
        order[moved] = _sorted(tables[moved], guarded)
    return order.reshape(*lead, K)


def _sorted(overrides: Bools, means: Floats | None) -> Ints:
    """Return the orders of tables (B, K, K)."""
    B, K = overrides.shape[:2]
    every = np.arange(B)
    # int32 column sums: removing column `chosen` removes these outgoing edges
    outgoing = overrides.sum(axis=2, dtype=np.int32)
    columns = np.ascontiguousarray(overrides.transpose(0, 2, 1))
    order = np.empty((B, K), dtype=np.int64)
    for step in range(K):
        # An edge leads from a lower to a higher index, so a node without edges always remains.
        chosen = _next(outgoing, means)
        order[:, step] = chosen
        outgoing -= columns[every, chosen]
        outgoing[every, chosen] = -1
    return order


def _next(outgoing: npt.NDArray[np.int32], means: Floats | None) -> npt.NDArray[np.intp]:
    """Return the next learner of each table; `outgoing` is -1 for those already ordered."""
    free = outgoing == 0
    chosen: npt.NDArray[np.intp]
    if means is None:
        chosen = np.argmax(free, axis=1)
        return chosen
    struck = np.minimum.accumulate(np.where(outgoing > 0, means, np.inf), axis=1)
    allowed = free & (means <= struck)
    chosen = np.argmax(allowed, axis=1)
    lost = ~allowed[np.arange(len(chosen)), chosen]
    if lost.any():
        # only if a test by ranks contradicts the means
        chosen[lost] = np.argmin(np.where(free[lost], means[lost], np.inf), axis=1)
    return chosen


def steps_of(overrides: Bools, means: Floats | None = None) -> list[tuple[Ints, int, Ints]]:
    """Return the candidates, the choice and those passed over, for every step of a table."""
    overrides = _upper(overrides)
    outgoing = overrides.sum(axis=1, dtype=np.int32)
    steps = []
    for taken in sort_by_overrides(overrides, means).tolist():
        free = np.flatnonzero(outgoing == 0)
        steps.append((free, taken, free[free < taken]))
        outgoing -= overrides[:, taken]
        outgoing[taken] = -1
    return steps


def _upper(overrides: Bools) -> Bools:
    overrides = np.asarray(overrides, dtype=bool)
    if overrides.ndim < 2 or overrides.shape[-2] != overrides.shape[-1]:
        raise ArgumentError(f"overrides must be a square matrix; got shape {overrides.shape}.")
    if np.tril(overrides).any():
        i, j = np.argwhere(np.tril(overrides))[0][-2:]
        raise ArgumentError(
            "overrides must lead from a preferred to a less preferred learner; "
            f"got an edge from {int(i)} to {int(j)}."
        )
    return overrides
