"""Every pair of a family under one test: the evidence, made once."""

from __future__ import annotations

from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.ordering.evidence.choose_test import Choice
from bestofk.ordering.evidence.evidence import Evidence, Signs
from bestofk.ordering.evidence.family import Family
from bestofk.ordering.evidence.problem import Problem
from bestofk.pairwise.all_pairs import all_pairs


def gather_evidence(
    problem: Problem,
    choice: Choice,
    family: Family,
    *,
    alternative: str | None = None,
    rope: float | None = None,
    bayesian: Choice | None = None,
) -> Evidence:
    """Test every pair of the family, and adjust over all of them.

    Two-sided p-values get their direction from the sign of the statistic. In the family
    ``"prior"`` only the less preferred learner of a pair can be shown to be better.
    """
    alternative = family.alternative if alternative is None else alternative
    values = problem.sample(choice.axes)
    first, second = family.pairs()
    if family.name == "control":
        columns = _some_pairs(choice, values, first, second, alternative)
    else:
        pairs = all_pairs(choice, values, alternative=alternative)
        columns = {
            "statistic": pairs.statistic,
            "pvalue": pairs.pvalue,
            "estimate": pairs.estimate,
            "direction": pairs.direction,
        }
    adjusted = family.adjust(columns["pvalue"])
    direction = _directions(columns["direction"], alternative)
    found: dict[str, Any] = {}
    if bayesian is not None and bayesian.axes != choice.axes:
        found["bayesian sample"] = problem.sample(bayesian.axes)
    return Evidence(
        names=problem.names,
        first=first,
        second=second,
        estimate=_without_rounding(columns["estimate"], problem),
        statistic=columns["statistic"],
        pvalue=columns["pvalue"],
        adjusted_pvalue=adjusted,
        direction=direction,
        better=direction * (adjusted <= family.alpha),
        family=family,
        alternative=alternative,
        metric=problem.metric,
        rope=rope,
        values=values,
        choice=choice,
        bayesian=bayesian,
        found=found,
    )


def _without_rounding(estimate: Floats, problem: Problem) -> Floats:
    """Differences that rounding alone can make are none."""
    noise = 1e-12 * float(np.abs(problem.means()).max())
    return np.where(np.abs(estimate) <= noise, 0.0, estimate)


def _some_pairs(
    choice: Choice, values: Floats, first: Any, second: Any, alternative: str
) -> dict[str, Floats]:
    result = choice(values[first], values[second], alternative)
    columns = {
        name: np.array(np.broadcast_to(np.asarray(getattr(result, name), dtype=float), first.shape))
        for name in ("statistic", "pvalue", "estimate")
    }
    direction = getattr(result, "direction", None)
    columns["direction"] = columns["estimate"] if direction is None else np.asarray(direction)
    return columns


def _directions(direction: Floats, alternative: str) -> Signs:
    """-1: the statistic speaks for the first; 1: for the second. One-sided tests ask for one."""
    if alternative == "two-sided":
        return np.sign(direction).astype(np.int8)
    return np.full(direction.shape, 1 if alternative == "greater" else -1, dtype=np.int8)


def no_pairs(problem: Problem, *, alpha: float) -> Evidence:
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
        direction=np.zeros(0, dtype=np.int8),
        better=np.zeros(0, dtype=np.int8),
        family=Family(learners=len(problem.names), alpha=alpha, correction="none"),
        alternative="two-sided",
        metric=problem.metric,
    )
