"""The Bayesian test that goes with a design: probabilities of better, equivalent and worse."""

from __future__ import annotations

from typing import Any

from bestofk.errors import DesignError
from bestofk.ordering.problem import Problem
from bestofk.ordering.selection import Choice, choose_test
from bestofk.pairwise.registry import PAIRWISE_TESTS


def bayesian_choice(problem: Problem, choice: Choice, rope: Any, random_state: Any) -> Choice:
    """The test itself where it is Bayesian, else the first Bayesian one that covers the design."""
    if choice.posterior:
        return choice
    for name, entry in PAIRWISE_TESTS.items():
        if entry.bayesian and set(entry.covers) & set(problem.situations):
            return choose_test(problem, name, rope=rope, random_state=random_state)
    raise DesignError(
        f"rope asks for posterior probabilities, and no Bayesian test covers {problem.describe()}: "
        "leave rope out."
    )
