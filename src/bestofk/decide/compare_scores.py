"""Decide about a table of losses.

`as_problem` puts the losses in order of preference. `tested` chooses the test and compares all
pairs. The rule, by default `bestofk.decide.best.rule_of_best`, recommends a
learner. `decision_from` puts all of this into the `Decision`, which states the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from inspect import signature
from typing import Any

from bestofk._base.checks import RandomState, unknown_arguments
from bestofk._base.errors import ArgumentError, BestOfKError, use
from bestofk._base.registry import resolve
from bestofk.decide.decision import Decision
from bestofk.decide.evidence import MissingLosses
from bestofk.decide.pairs import decision_from, tested
from bestofk.decide.preference import LISTED, PreferenceLike
from bestofk.decide.problem import (
    Problem,
    Subject,
    as_problem,
    is_named,
    reading_arguments,
    refuse_wide_margin,
)
from bestofk.decide.registry import RULES
from bestofk.decide.result import Result, decision_of
from bestofk.decide.settings import Settings
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS


def compare_scores(
    losses: Any,
    *,
    prefer: PreferenceLike = None,
    rule: str = "best",
    test: str | Callable[..., Any] = "auto",
    test_options: Mapping[str, Any] | None = None,
    alpha: float = 0.05,
    correction: str | None = None,
    family: str | None = None,
    control: Any = None,
    margin: float | None = None,
    rope: float | None = None,
    missing: str = "refuse",
    higher_is_better: bool | None = None,
    design: Any = None,
    random_state: RandomState = 0,
    **arguments: Any,
) -> Result:
    """Say which learner to use, how the others rank, and why.

    Parameters
    ----------
    losses : Scores, path, data frame or array (K, ...)
        A table of losses with its design; a file or data frame that `read_scores` understands;
        or a bare array.
    prefer : sequence of names, mapping of name to price, or "listed", optional
        What you prefer before the data speak, most preferred (or cheapest) first. None: no
        preference, and the learner with the smallest mean is recommended.
    rule : str
        A name of ``bestofk list rules``.
    test : str or callable
        A pairwise test that covers the design; ``"auto"`` chooses one and says why. Or a function
        of the losses of two learners that returns a p-value or a result of scipy.
    test_options : mapping, optional
        Arguments of the test by name. ``{"df": 10}``: degrees of freedom, for tests that take them;
        also ``"calibrated"``, or what ``bestofk papers calibrate`` measured, or its file.
    alpha : float
        Chance that any part of the statement is wrong.
    correction : str, optional
        The correction of `Result.pairs`: ``"bonferroni"`` by default, which has intervals that
        agree with the p-values. Other rules have defaults of their own.
    family : {"all", "preference", "control"}, optional
        Decide by MultiTest: from all pairs, two-sided; from all pairs, one-sided against the
        preference, as published; or from one learner against the others.
    control : name, optional
        The learner of the family ``"control"``, which all others are compared with.
    margin : float, optional
        A difference, in the metric of the losses, that does not matter: a preferred learner that
        is shown to be at most this much worse than the best is recommended as well.
    rope : float, optional
        Half the width of a region of practical equivalence: adds posterior probabilities.
    missing : {"refuse", "drop", "allow"}
        What to do with cells that some learner lacks: raise an error (also with ``"allow"``, since
        learners are compared on the same cells), or leave them out for all.
    higher_is_better : bool, optional
        The numbers of a file, a data frame or an array are scores (True) or losses (False). None:
        arrays are losses, and of tables the names tell, or they are refused.
    design : Design or str, optional
        How the numbers of a file, a data frame or an array came about, as for `Scores`.
    random_state : int, Generator or None
        For tests that draw.
    **arguments
        More for `read_scores`, such as ``metric="auc"``.

    Returns
    -------
    Result

    Examples
    --------
    >>> import bestofk as bk
    >>> table = bk.Scores(
    ...     [[0.31, 0.29, 0.30, 0.33], [0.21, 0.20, 0.19, 0.22], [0.20, 0.21, 0.19, 0.23]],
    ...     dims=("learner", "fold"), learners=["small", "medium", "large"])
    >>> result = compare_scores(table, prefer=["small", "medium", "large"])
    >>> result.recommended, result.candidates, result.order
    ('medium', ('medium', 'large'), ('medium', 'large', 'small'))
    """
    arguments |= {"higher_is_better": higher_is_better, "design": design}
    reading = reading_arguments(arguments)
    if arguments:
        raise _unknown(arguments)
    settings = Settings(
        prefer=prefer, rule=rule, test=test, test_options=test_options or {}, alpha=alpha,
        correction=correction, family=family, control=control, margin=margin, rope=rope,
        missing=missing, random_state=random_state,
    )  # fmt: skip
    problem = as_problem(losses, prefer=prefer, missing=missing, reading=reading)
    return Result(decide_problem(problem, settings))


def _unknown(arguments: Mapping[str, Any]) -> ArgumentError:
    """Name the argument that an unknown keyword stands for."""
    from bestofk.losses.reading import READING

    for name, value in arguments.items():
        if any(entry.takes(name) for entry in PAIRWISE_TESTS.values()):
            return ArgumentError(
                f"compare_scores has no argument {name!r}: write ",
                use(test_options={name: value}),
                ".",
            )
    known = {*signature(compare_scores).parameters, *READING} - {"arguments"}
    return unknown_arguments("compare_scores", list(arguments), known)


def decide(
    losses: Any,
    settings: Settings,
    *,
    subject: Subject | None = None,
    left_out: MissingLosses | None = None,
) -> Decision:
    """Decide about losses.

    Parameters
    ----------
    losses : Scores, path, data frame or array (K, ...)
        As for `compare_scores`.
    settings : Settings
        The options of `compare_scores` as one value.
    subject : Subject, optional
        What the decision is about, for its statements.
    left_out : MissingLosses, optional
        Losses that some learners lack and that were left out: only claims that also hold with them
        are made.

    Returns
    -------
    Decision

    Examples
    --------
    >>> losses = [[0.31, 0.29, 0.30, 0.33], [0.21, 0.20, 0.19, 0.22]]
    >>> decide(losses, Settings(prefer="listed")).recommended
    1
    """
    problem = as_problem(losses, prefer=settings.prefer, missing=settings.missing)
    if subject is not None:
        problem = replace(problem, subject=subject)
    if left_out is not None:
        problem = replace(problem, missing=left_out)
    return decide_problem(problem, settings)


def decide_problem(problem: Problem, settings: Settings) -> Decision:
    """Decide about losses in order of preference."""
    refuse_wide_margin(problem, settings.margin)
    if problem.missing is not None and problem.filled is not None:
        # if the test does not cover all units, compare those that every learner has
        with suppress(BestOfKError):
            filled = replace(problem.filled, subject=problem.subject)
            as_worst = decide_problem(filled, settings).evidence
            problem = replace(problem, missing=replace(problem.missing, as_worst=as_worst))
    entry = RULES[settings.rule]
    if not entry.ruling:
        decision: Decision = resolve(entry.function)(problem, settings)
        return decision
    evidence, choice = tested(problem, settings)
    ruled = resolve(entry.ruling)(evidence, problem.preference.stated, settings.margin)
    return decision_from(problem, settings, evidence, choice, ruled)


def decide_by_rule(rule: str, losses: Any, **options: Any) -> Decision:
    """Decide as `compare_scores` does; without `prefer`, a bare array is in order of preference."""
    if options.get("prefer") is None and not is_named(losses):
        options["prefer"] = LISTED
    return decision_of(compare_scores(losses, rule=rule, **options))
