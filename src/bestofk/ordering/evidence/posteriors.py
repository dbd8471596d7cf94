"""The Bayesian test that goes with a design: probabilities of better, equivalent and worse."""

from __future__ import annotations

from typing import Any

from bestofk.errors import DesignError
from bestofk.ordering.evidence.choose_test import Choice, choose_test, units
from bestofk.ordering.evidence.problem import Problem
from bestofk.pairwise.bayesian.posterior import rope_half_width
from bestofk.pairwise.registry import PAIRWISE_TESTS


def bayesian_choice(problem: Problem, choice: Choice, rope: Any, random_state: Any) -> Choice:
    """The test itself where it is Bayesian, else the first Bayesian one that covers the design."""
    rope = rope_half_width(rope)
    if choice.posterior:
        return choice
    for name, entry in PAIRWISE_TESTS.items():
        if not (entry.bayesian and set(entry.covers) & set(problem.situations)):
            continue
        if units(problem) < entry.at_least_units:
            raise DesignError(
                f"rope asks for posterior probabilities, which {name!r} gives from "
                f"{entry.at_least_units} data sets on; got {units(problem)}: leave rope out."
            )
        sizes: dict[str, Any] = {}
        if entry.needs_sizes and problem.bare:
            # as the tests for folds take an array
            sizes = {"n_train": float(problem.design.folds - 1), "n_test": 1.0}
        return choose_test(problem, name, rope=rope, random_state=random_state, **sizes)
    raise DesignError(
        f"rope asks for posterior probabilities, and no Bayesian test covers {problem.describe()}: "
        "leave rope out."
    )
