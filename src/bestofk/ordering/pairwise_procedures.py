"""Procedures that decide from pairwise tests: MultiTest, TestFirst and most wins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk.adjust import CORRECTIONS, adjust
from bestofk.checks import RandomState, one_of, probability
from bestofk.ordering.comparisons import compare_all_pairs, no_pairs, standings_to
from bestofk.ordering.evidence import Evidence
from bestofk.ordering.graph import sort_by_overrides
from bestofk.ordering.problem import Name, Prior, Problem
from bestofk.ordering.result import Order
from bestofk.ordering.selection import choose_test
from bestofk.ordering.sentences import listing
from bestofk.ordering.understood import as_problem
from bestofk.wording import counted, number


def multitest(
    losses: Any,
    *,
    test: str | Callable[..., Any] = "auto",
    alpha: float = 0.05,
    correction: str = "holm",
    prior: Prior = None,
    df: float | str | None = None,
    missing: str = "refuse",
    random_state: RandomState = 0,
    **test_arguments: Any,
) -> Order:
    """Order K learners from one-sided pairwise tests and a prior preference.

    For every pair i < j of the prior order, H0: mu_i <= mu_j is tested; only where it is
    rejected do the data override the preference. The best is the most preferred learner that no
    other overrides; without it the same is asked again, which gives the order. A best is always
    found.

    Parameters
    ----------
    losses : Losses or array (K, ...)
        Losses with their design, or a bare array in prior order, 0 the most preferred: (K, folds),
        (K, runs, folds) or (K, data sets, runs, folds, repetitions).
    test : str or callable
        A pairwise test that covers the design, or ``"auto"``.
    alpha : float
        Error of the whole decision.
    correction : str
        ``"holm"``, ``"bonferroni"`` (the paper's), ``"hochberg"``, ``"benjamini-hochberg"`` or
        ``"none"``, over all K (K - 1) / 2 tests.
    prior : sequence of names or mapping of name to price, optional
        The preference, most preferred (or cheapest) first; by default as listed.
    df : float, "calibrated", Calibration or path, optional
        Degrees of freedom, for tests that take them; what `bestofk.lab.calibrate` measured, or
        the file that holds it.
    missing : {"refuse", "drop"}
        What to do with cells that some learner lacks.
    random_state : int, Generator or None
        For tests that draw.
    **test_arguments
        More for the test, such as `rope`.

    Returns
    -------
    Order

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
    >>> decision = multitest(losses, test="5x2cv-t")
    >>> decision.order, decision.edges
    ((1, 2, 0), ((0, 1), (0, 2)))
    >>> decision.candidates
    ((1, 2), (2,), (0,))
    """
    problem = as_problem(losses, prior=prior, missing=missing)
    alpha, correction = _level(alpha, correction)
    choice = choose_test(
        problem, test, one_sided=True, df=df, random_state=random_state, **test_arguments
    )
    evidence = compare_all_pairs(
        problem, choice, alternative="greater", alpha=alpha, correction=correction
    )
    order = sort_by_overrides(evidence.overrides())
    best = int(order[0])
    names = problem.names
    return Order(
        procedure="multitest",
        best=names[best],
        order=tuple(names[i] for i in order.tolist()),
        prior=names,
        means=_means(problem),
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=alpha,
        correction=correction,
        design=problem.describe(),
        reasons=(f"MultiTest chooses {names[best]} as the best of {len(names)} learners.",),
        standings=standings_to(best, problem, choice, alpha=alpha, correction=correction),
        notes=problem.notes,
        problem=problem,
        choice=choice,
    )


def test_first(
    losses: Any,
    *,
    test: str | Callable[..., Any] = "auto",
    alpha: float = 0.05,
    correction: str = "bonferroni",
    prior: Prior = None,
    df: float | str | None = None,
    missing: str = "refuse",
    random_state: RandomState = 0,
    **test_arguments: Any,
) -> Order:
    """Take the learner of smallest mean loss if it beats every one preferred to it.

    With f the learner of smallest mean, H0: mu_j <= mu_f must be rejected for every j that is
    preferred to f, at alpha / (K - 1); otherwise no best is found.

    Parameters
    ----------
    losses, test, alpha, prior, df, missing, random_state, **test_arguments
        As for `multitest`.
    correction : str
        Over K - 1 tests; those that need not be made count as not rejected.

    Returns
    -------
    Order
        `order` holds the best alone, or nothing.

    References
    ----------
    O. T. Yildiz and E. Alpaydin, Ordering and finding the best of K > 2 supervised learning
    algorithms, IEEE Trans. Pattern Analysis and Machine Intelligence 28 (2006) 392-402,
    doi:10.1109/TPAMI.2006.61, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.11])[:, None, None] + 0.01 * rng.random((3, 5, 2))
    >>> test_first(losses, test="5x2cv-t").best
    1
    """
    problem = as_problem(losses, prior=prior, missing=missing)
    alpha, correction = _level(alpha, correction)
    choice = choose_test(
        problem, test, one_sided=True, df=df, random_state=random_state, **test_arguments
    )
    names, means = problem.names, problem.means()
    n_learners = len(names)
    first = int(np.argmin(means))
    preferred = np.arange(first)
    evidence = no_pairs(problem)
    if first:
        values = problem.sample(choice.axes)
        result = choice(values[preferred], values[first], "greater")
        family = np.ones(n_learners - 1)
        family[:first] = result.pvalue
        adjusted = adjust(family, correction)[:first]
        evidence = Evidence(
            names=names,
            first=preferred,
            second=np.full(first, first),
            estimate=np.asarray(result.estimate, dtype=float),
            statistic=np.asarray(result.statistic, dtype=float),
            pvalue=family[:first],
            adjusted_pvalue=adjusted,
            rejected=adjusted <= alpha,
            alternative="greater",
        )
    smallest = f"{names[first]} has the smallest mean loss ({number(float(means[first]))})"
    if evidence.rejected.all():
        best: Name | None = names[first]
        why = (
            "and none is preferred to it"
            if not first
            else f"and is significantly better than all {counted(first, 'learner')} preferred to it"
        )
        reasons = (f"TestFirst chooses {best}: {smallest} {why}.",)
    else:
        best = None
        unbeaten = [str(pair.a) for pair in evidence if not pair.rejected]
        reasons = (
            f"TestFirst finds no best: {smallest} but is not significantly better than "
            f"{listing(unbeaten)}, preferred to it.",
        )
    return Order(
        procedure="test-first",
        best=best,
        order=() if best is None else (best,),
        prior=names,
        means=_means(problem),
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=alpha,
        correction=correction,
        design=problem.describe(),
        reasons=reasons,
        standings=()
        if best is None
        else standings_to(first, problem, choice, alpha=alpha, correction=correction),
        notes=problem.notes,
        problem=problem,
        choice=choice,
    )


# pytest would take the paper's name for a test of ours.
test_first.__test__ = False  # type: ignore[attr-defined]


def most_wins(
    losses: Any,
    *,
    test: str | Callable[..., Any] = "auto",
    alpha: float = 0.05,
    correction: str = "holm",
    minus_losses: bool = False,
    prior: Prior = None,
    df: float | str | None = None,
    missing: str = "refuse",
    random_state: RandomState = 0,
    **test_arguments: Any,
) -> Order:
    """Count every learner's significant wins over the others.

    All pairs are tested two-sided; the learner with most wins is the best. Learners with equally
    many are tied: the order puts them in prior order, and there is no best when the top is tied.

    Parameters
    ----------
    losses, test, alpha, correction, prior, df, missing, random_state, **test_arguments
        As for `multitest`.
    minus_losses : bool
        Count wins minus losses.

    Returns
    -------
    Order
        With `counts`.

    References
    ----------
    D. Ler, Fundamentals of algorithm selection, section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.20])[:, None, None] + 0.01 * rng.random((3, 5, 2))
    >>> dict(most_wins(losses, test="5x2cv-f").counts)
    {0: 0, 1: 2, 2: 1}
    """
    problem = as_problem(losses, prior=prior, missing=missing)
    alpha, correction = _level(alpha, correction)
    choice = choose_test(
        problem, test, one_sided=False, df=df, random_state=random_state, **test_arguments
    )
    evidence = compare_all_pairs(
        problem, choice, alternative="two-sided", alpha=alpha, correction=correction
    )
    names = problem.names
    rejected = evidence.rejected & (evidence.estimate != 0)
    first_better = evidence.estimate < 0
    winner = np.where(first_better, evidence.first, evidence.second)[rejected]
    loser = np.where(first_better, evidence.second, evidence.first)[rejected]
    counts = np.bincount(winner, minlength=len(names))
    if minus_losses:
        counts = counts - np.bincount(loser, minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    tied = np.flatnonzero(counts == counts[order[0]])
    what = "significant wins minus losses" if minus_losses else "significant wins"
    top = f"{int(counts[order[0]])} {what}"
    best = names[tied[0]] if len(tied) == 1 else None
    if best is None:
        who = listing(str(names[i]) for i in tied.tolist())
        reasons = (f"Most wins finds no single best: {who} are tied with {top} each.",)
    else:
        reasons = (f"Most wins chooses {best}, with {top} over {len(names) - 1} others.",)
    ties = _tie_sentence(counts[order].tolist(), [str(names[i]) for i in order.tolist()], what)
    return Order(
        procedure="most-wins",
        best=best,
        order=tuple(names[i] for i in order.tolist()),
        prior=names,
        means=_means(problem),
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=alpha,
        correction=correction,
        design=problem.describe(),
        reasons=(*reasons, *ties),
        standings=()
        if best is None
        else standings_to(int(tied[0]), problem, choice, alpha=alpha, correction=correction),
        counts={name: int(count) for name, count in zip(names, counts, strict=True)},
        notes=problem.notes,
        problem=problem,
        choice=choice,
    )


def _tie_sentence(counts: list[int], names: list[str], what: str) -> tuple[str, ...]:
    groups: dict[int, list[str]] = {}
    for count, name in zip(counts, names, strict=True):
        groups.setdefault(count, []).append(name)
    tied = [
        f"{listing(members)} ({count} each)"
        for count, members in list(groups.items())[1:]
        if len(members) > 1
    ]
    return (f"Also tied in {what}: {'; '.join(tied)}.",) if tied else ()


def _level(alpha: float, correction: str) -> tuple[float, str]:
    return probability(alpha, "alpha"), one_of(correction, "correction", tuple(CORRECTIONS))


def _means(problem: Problem) -> dict[Name, float]:
    return dict(zip(problem.names, problem.means().tolist(), strict=True))
