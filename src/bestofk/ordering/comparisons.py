"""All pairs of a problem under one test: the evidence, and how the others stand to the best."""

from __future__ import annotations

import numpy as np

from bestofk.adjust import adjust
from bestofk.checks import Floats
from bestofk.ordering.evidence import Evidence
from bestofk.ordering.problem import Problem
from bestofk.ordering.result import Standing
from bestofk.ordering.selection import Choice
from bestofk.pairwise.pairs import all_pairs


def compare_all_pairs(
    problem: Problem, choice: Choice, *, alternative: str, alpha: float, correction: str
) -> Evidence:
    """Test every pair i < j in prior order, adjusted over all of them."""
    pairs = all_pairs(choice, problem.sample(choice.axes), alternative=alternative)
    adjusted = adjust(pairs.pvalue, correction)
    return Evidence(
        names=problem.names,
        first=pairs.i,
        second=pairs.j,
        estimate=pairs.estimate,
        statistic=pairs.statistic,
        pvalue=pairs.pvalue,
        adjusted_pvalue=adjusted,
        rejected=adjusted <= alpha,
        alternative=alternative,
    )


def no_pairs(problem: Problem, alternative: str = "greater") -> Evidence:
    """The evidence of a procedure that compares no pairs."""
    none, empty = np.zeros(0), np.zeros(0, dtype=np.int64)
    return Evidence(
        names=problem.names,
        first=empty,
        second=empty,
        estimate=none,
        statistic=none,
        pvalue=none,
        adjusted_pvalue=none,
        rejected=np.zeros(0, dtype=bool),
        alternative=alternative,
    )


def standings_to(
    best: int, problem: Problem, choice: Choice, *, alpha: float, correction: str
) -> tuple[Standing, ...]:
    """Is the best significantly better than each of the others? In the order of their means."""
    values = problem.sample(choice.axes)
    others = np.delete(np.arange(len(values)), best)
    result = choice(values[best], values[others], "less")
    means = problem.means()
    difference: Floats = means[others] - means[best]
    pvalue = np.broadcast_to(np.asarray(result.pvalue, dtype=float), others.shape)
    if choice.two_sided_only:
        pvalue = np.where(difference > 0, pvalue, 1.0)
    adjusted = adjust(pvalue, correction)
    rows = np.argsort(difference, kind="stable")
    return tuple(
        Standing(
            name=problem.names[others[row]],
            mean=float(means[others[row]]),
            difference=float(difference[row]),
            pvalue=float(pvalue[row]),
            adjusted_pvalue=float(adjusted[row]),
            verdict="worse" if adjusted[row] <= alpha else "tie",
        )
        for row in rows
    )
