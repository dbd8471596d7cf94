"""TestFirst: the smallest mean, if it beats every learner preferred to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bestofk.checks import RandomState
from bestofk.ordering.evidence.as_problem import as_ordered
from bestofk.ordering.evidence.choose_test import choose_test, smallest_pvalue, units
from bestofk.ordering.evidence.evidence import Evidence
from bestofk.ordering.evidence.family import Family
from bestofk.ordering.evidence.gather import no_pairs
from bestofk.ordering.preference import Name, Prior, without_noise
from bestofk.ordering.result import Order
from bestofk.ordering.words.sentences import called, is_are, mean_words, named


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

    Notes
    -----
    With Bonferroni's correction the chance that a learner is chosen which is not better than
    every learner preferred to it is at most alpha: choosing f wrongly takes the rejection of a
    true hypothesis about f, at alpha / (K - 1), and K - 1 learners can be chosen so. The single
    comparisons have no such promise, since the data choose f.

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
    problem = as_ordered(losses, prior=prior, missing=missing)
    names, means = problem.names, problem.means()
    first = int(np.argmin(without_noise(means)))
    family = Family(
        name="control", learners=len(names), alpha=alpha, correction=correction, control=first
    )
    choice = choose_test(
        problem, test, family=family, one_sided=True, df=df, random_state=random_state,
        **test_arguments,
    )  # fmt: skip
    evidence = no_pairs(problem, alpha=family.alpha)
    if first:
        values = problem.sample(choice.axes)
        preferred = np.arange(first)
        result = choice(values[preferred], values[first], "greater")
        pvalues = np.ones(len(names) - 1)
        pvalues[:first] = result.pvalue
        adjusted = family.adjust(pvalues)[:first]
        evidence = Evidence(
            names=names,
            first=preferred,
            second=np.full(first, first),
            estimate=np.asarray(result.estimate, dtype=float),
            statistic=np.asarray(result.statistic, dtype=float),
            pvalue=pvalues[:first],
            adjusted_pvalue=adjusted,
            direction=np.ones(first, dtype=np.int8),
            better=(adjusted <= family.alpha).astype(np.int8),
            family=family,
            alternative="greater",
            metric=problem.metric,
            values=values,
            choice=choice,
        )
    smallest_possible = family.smallest_adjusted(smallest_pvalue(choice, units(problem)), "greater")
    by_name = dict(zip(names, means.tolist(), strict=True))
    smallest = mean_words(names[first], by_name, problem.metric)
    recommended: Name | None = names[first]
    if evidence.rejected.all():
        why = "none is preferred to it" if problem.preference.stated else "no preference was stated"
        if first:
            beaten = names[:first]
            why = (
                f"is significantly better than {named(beaten)}, which {is_are(beaten)} preferred "
                "to it"
            )
        reason = f"TestFirst chooses {called(names[first])}: it {smallest} and {why}."
    else:
        recommended = None
        unbeaten = [pair.a for pair in evidence if not pair.rejected]
        reason = (
            f"TestFirst finds no best: {called(names[first])} {smallest} but is not significantly "
            f"better than {named(unbeaten)}, which {is_are(unbeaten)} preferred to it."
        )
    return Order(
        procedure="test-first",
        recommended=recommended,
        order=() if recommended is None else (recommended,),
        prior=names,
        means=by_name,
        evidence=evidence,
        test=choice.name,
        test_reason=choice.reason,
        alpha=family.alpha,
        correction=correction,
        design=problem.describe(),
        reasons=(reason,),
        preference=problem.preference,
        caution="" if choice.entry is None else choice.entry.caution,
        decidable=not first or smallest_possible <= family.alpha,
        smallest_possible=smallest_possible if first else 0.0,
        notes=(*problem.notes, *choice.notes),
        problem=problem,
        choice=choice,
    )


# pytest would take the paper's name for a test of ours.
test_first.__test__ = False  # type: ignore[attr-defined]
