"""All that the author of a plugin needs: entries, their registries and `register`.

A package that names a module in the entry point group ``bestofk.plugins`` is imported when a
registry is first used. Its functions `register` their entries.
"""

from __future__ import annotations

from typing import Any

from bestofk._base.errors import ArgumentError
from bestofk._base.registry import Assumption, Registry, offer
from bestofk.decide.decision import Ruled
from bestofk.decide.pairs import decision_from, tested
from bestofk.decide.registry import RULES, Rule
from bestofk.learners.registry import LEARNERS, Learner, learner
from bestofk.run.metrics import LOSSES, Loss
from bestofk.splits.design import Design
from bestofk.splits.plans import PLANS, Plan, PlanEntry, plan
from bestofk.stats.multiple.registry import MULTIPLE_TESTS, MultipleTest
from bestofk.stats.pairwise.differences import paired_losses
from bestofk.stats.pairwise.entry import PairwiseTest
from bestofk.stats.pairwise.registry import PAIRWISE_TESTS
from bestofk.stats.pairwise.result import PairwiseResult

__all__ = [
    "LEARNERS", "LOSSES", "MULTIPLE_TESTS", "PAIRWISE_TESTS", "PLANS", "RULES", "Assumption",
    "Design", "Learner", "Loss", "MultipleTest", "PairwiseResult", "PairwiseTest", "Plan",
    "PlanEntry", "Rule", "Ruled", "decision_from", "learner", "offer", "paired_losses", "plan",
    "register", "tested",
]  # fmt: skip

_REGISTRIES: dict[type[Any], Registry[Any]] = {
    PairwiseTest: PAIRWISE_TESTS,
    MultipleTest: MULTIPLE_TESTS,
    Rule: RULES,
    Learner: LEARNERS,
    PlanEntry: PLANS,
    Loss: LOSSES,
}


def register(entry: Any) -> None:
    """Add an entry to the registry of its class; a name that is taken is an error.

    Examples
    --------
    >>> entry = Learner(name="mine", estimator="bestofk.learners.majority:Majority",
    ...                 summary="my learner", paper="")
    >>> register(entry)
    >>> learner("mine")
    Majority()
    >>> LEARNERS.remove("mine")
    """
    registry = _REGISTRIES.get(type(entry))
    if registry is None:
        known = ", ".join(kind.__name__ for kind in _REGISTRIES)
        raise ArgumentError(f"entry must be one of {known}; got {type(entry).__name__}.")
    registry.add(entry)
