"""What settings come to on a design, before any loss is known.

`foresee` makes the choices that need no losses, such as the test and the family, and raises the
same errors as the decision itself, so that `bestofk.compare` refuses before the first fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bestofk._base.errors import DesignError
from bestofk.decide.choose_test import Choice, choose_test
from bestofk.decide.evidence import Family
from bestofk.decide.gather import bayesian_choice
from bestofk.decide.preference import preference_ranks
from bestofk.decide.problem import Problem
from bestofk.decide.procedures.multitest import family_of, rope_argument
from bestofk.decide.registry import PROCEDURES, decides_by
from bestofk.decide.settings import Settings
from bestofk.splits.design import Design


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """The family and the test of a decision; None for procedures without pairwise tests."""

    problem: Problem
    settings: Settings
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
    entry = PROCEDURES[settings.procedure]
    if not entry.takes_test:
        if problem.sample(1).shape[1] < 2:
            raise DesignError(
                f"There is nothing to test: the losses are {problem.describe()}, one number per "
                "learner. Give losses by fold, by data set or by test instance."
            )
        return Foreseen(problem=problem, settings=settings)
    if decides_by(settings.procedure) == "adequacy":
        from bestofk.decide.procedures.cheapest_adequate import require_margin_and_preference

        require_margin_and_preference(problem, settings.margin)
    if decides_by(settings.procedure) == "wins":
        from bestofk.decide.procedures.most_wins import refuse_one_sided

        refuse_one_sided(settings.family or "all")
    family = family_of(
        problem,
        settings.family or "all",
        settings.alpha,
        settings.correction or entry.proved_with or "holm",
        settings.control,
    )
    one_sided = decides_by(settings.procedure) == "one challenge"
    choice = choose_test(
        problem,
        settings.test,  # type: ignore[arg-type]
        family=family,
        one_sided=one_sided or family.alternative != "two-sided",
        df=settings.df,
        random_state=settings.random_state,
        **rope_argument(settings.test, settings.rope),
        **settings.test_arguments,
    )
    if settings.rope is not None:
        bayesian_choice(problem, choice, settings.rope, settings.random_state)
    return Foreseen(problem=problem, settings=settings, family=family, choice=choice)


def _problem(
    settings: Settings, names: Sequence[str], design: Design, datasets: int, *, zero_one: bool
) -> Problem:
    """Return a problem of this design with constant losses in place of those to come."""
    _, preference, _ = preference_ranks(names, settings.without_measuring(names))
    loss = 0.0 if zero_one else 0.5
    shape = (datasets,) if datasets > 1 else (design.runs, design.folds)
    parts = None
    if design.subsets is not None and datasets == 1:
        parts = np.full((len(names), design.subsets.runs, design.subsets.folds), loss)
    return Problem(
        values=np.full((len(names), *shape), loss),
        names=tuple(names),
        design=design.with_(repetitions=1),
        n_datasets=datasets,
        bare=False,
        preference=preference,
        subset_values=parts,
    )
