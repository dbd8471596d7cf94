"""Foresee the test of a decision from the design of the losses alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bestofk._base.errors import DesignError
from bestofk.decide.choose_test import Choice
from bestofk.decide.evidence import Family
from bestofk.decide.pairs import chosen_test
from bestofk.decide.preference import preference_ranks
from bestofk.decide.problem import Problem
from bestofk.decide.registry import PROCEDURES
from bestofk.decide.settings import Settings
from bestofk.splits.design import Design


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """The family and the test of a decision; None for procedures without pairwise tests."""

    problem: Problem
    family: Family | None = None
    choice: Choice | None = None


def foresee(
    settings: Settings,
    names: Sequence[str],
    design: Design,
    *,
    datasets: int = 1,
    zero_one: bool = False,
) -> Foreseen:
    """Return the family and the test for losses of this design; refuse what has none."""
    problem = _problem(settings, names, design, datasets, zero_one=zero_one)
    if PROCEDURES[settings.procedure].takes_test:
        family, choice, _ = chosen_test(problem, settings)
        return Foreseen(problem=problem, family=family, choice=choice)
    if problem.sample(1).shape[1] < 2:
        raise DesignError(
            f"There is nothing to test: the losses are {problem.describe()}, one number per "
            "learner. Give losses by fold, by data set or by test instance."
        )
    return Foreseen(problem=problem)


def _problem(
    settings: Settings, names: Sequence[str], design: Design, datasets: int, *, zero_one: bool
) -> Problem:
    """Return a problem of this design with constant losses in place of those to come."""
    _, preference, _ = preference_ranks(names, settings.without_measuring(names))
    loss = 0.0 if zero_one else 0.5
    shape = (datasets,) if datasets > 1 else (design.runs, design.folds)
    parts = None
    if design.nested_runs and datasets == 1:
        parts = np.full((len(names), design.nested_runs, 2), loss)
    return Problem(
        values=np.full((len(names), *shape), loss),
        names=tuple(names),
        design=design.with_(repetitions=1),
        n_datasets=datasets,
        bare=False,
        preference=preference,
        subset_values=parts,
        fold_values=np.full((len(names), datasets, design.runs, design.folds), loss)
        if datasets > 1
        else None,
    )
