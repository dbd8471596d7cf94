"""TestFirst: the smallest mean, if it beats every learner preferred to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, Ints
from bestofk.decide.choose_test import Choice
from bestofk.decide.decision import NO_LEARNER, Decision, Ruled
from bestofk.decide.evidence import Evidence, Family
from bestofk.decide.order_tables import DecidedTables, groups_of
from bestofk.decide.pairs import call_test, chosen_test, decision_from, no_pairs
from bestofk.decide.preference import without_rounding
from bestofk.decide.problem import Problem
from bestofk.decide.settings import Settings
from bestofk.decide.statements.wording import called, is_are, mean_words, named


def decide_test_first(problem: Problem, settings: Settings) -> Decision:
    """Take the learner of smallest mean loss if it beats every one preferred to it.

    With f the learner of smallest mean, H0: mu_j <= mu_f must be rejected for every j that is
    preferred to f, at alpha / (K - 1); otherwise no best is found. Tests that need not be made
    count as not rejected.

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
    >>> from bestofk import compare_scores
    >>> rng = np.random.default_rng(1)
    >>> losses = np.array([0.30, 0.10, 0.11])[:, None, None] + 0.01 * rng.random((3, 5, 2))
    >>> compare_scores(losses, rule="test-first", prefer="listed", test="5x2cv-t").recommended
    1
    """
    names, means = problem.names, problem.means()
    first = int(_smallest(means))
    family, choice, _ = chosen_test(problem, settings)
    family = replace(family, name="control", control=first)
    evidence = no_pairs(problem, alpha=family.alpha)
    if first:
        evidence = _against_preferred(problem, choice, family, first)
    losses = dict(zip(names, means.tolist(), strict=True))
    smallest = mean_words(names[first], losses, problem.metric)
    best = np.array(first)
    if (evidence.better != 0).all():
        why = "none is preferred to it" if problem.preference.stated else "no preference was stated"
        if first:
            beaten = names[:first]
            why = (
                f"is significantly better than {named(beaten)}, which {is_are(beaten)} preferred "
                "to it"
            )
        reason = f"TestFirst chooses {called(names[first])}: it {smallest} and {why}."
    else:
        best = np.array(NO_LEARNER)
        unbeaten = [names[k] for k in evidence.first[evidence.better == 0].tolist()]
        reason = (
            f"TestFirst finds no best: {called(names[first])} {smallest} but is not significantly "
            f"better than {named(unbeaten)}, which {is_are(unbeaten)} preferred to it."
        )
    possible: dict[str, Any] = {} if first else {"smallest_possible": 0.0}
    ruled = Ruled(best, best[np.newaxis])
    return decision_from(problem, settings, evidence, choice, ruled, reasons=(reason,), **possible)


def test_first_many(stack: Problem, settings: Settings) -> Iterator[DecidedTables]:
    """Return the decisions of TestFirst on every table of a stack."""
    smallest = _smallest(stack.means())
    for tables, tested, choice in groups_of(stack, settings):
        # a family of K - 1 tests, whichever learner has the smallest mean
        family = replace(tested, name="control", control=0)
        for first in np.unique(smallest[tables]).tolist():
            some = tables[smallest[tables] == first]
            best, evidence = smallest[some], None
            if first:
                of_first = replace(family, control=first)
                evidence = _against_preferred(stack.tables(some), choice, of_first, first)
                best = np.where((evidence.better != 0).all(axis=1), best, NO_LEARNER)
            yield DecidedTables(some, choice.name, Ruled(best, best[:, np.newaxis]), evidence)


def _smallest(means: Floats) -> Ints:
    """Return (...,): the learner with the smallest mean, the most preferred of equal ones."""
    return np.asarray(np.argmin(without_rounding(means), axis=-1))


def _against_preferred(problem: Problem, choice: Choice, family: Family, first: int) -> Evidence:
    """Test learner `first` against each learner preferred to it, in one table or many."""
    values = problem.sample(choice.axes)
    tables = values[np.newaxis] if problem.places is None else values
    result = call_test(choice, tables[:, :first], tables[:, first : first + 1], "greater")
    shape = (first,) if problem.places is None else (len(tables), first)
    estimate, pvalue = (
        np.array(np.broadcast_to(np.asarray(getattr(result, name), dtype=float), shape))
        for name in ("estimate", "pvalue")
    )
    adjusted = _adjusted(family, pvalue)
    return Evidence(
        names=problem.names,
        first=np.arange(first),
        second=np.full(first, first),
        estimate=estimate,
        pvalue=pvalue,
        adjusted_pvalue=adjusted,
        direction=np.ones(shape, dtype=np.int8),
        better=(adjusted <= family.alpha).astype(np.int8),
        family=family,
        alternative="greater",
        metric=problem.metric,
        values=values,
        choice=choice,
        results={"greater": [result]},
    )


def _adjusted(family: Family, pvalue: Floats) -> Floats:
    """Adjust for K - 1 tests; those that are not needed count as not rejected."""
    made = pvalue.shape[-1]
    every = np.ones((*pvalue.shape[:-1], family.size))
    every[..., :made] = pvalue
    return family.adjust(every)[..., :made]


# pytest would collect a function with this name as a test
test_first_many.__test__ = False  # type: ignore[attr-defined]
