"""The learners of a comparison: from what a caller lists to named estimators."""

from __future__ import annotations

from typing import Any

from bestofk.errors import ArgumentError
from bestofk.learners.specification import named_learners
from bestofk.run.experiment import Contender

PANEL = ("max", "nmc", "logistic", "c4.5", "nn", "naive-bayes")
"""The papers' learners, by rising complexity: what runs when none is named."""
REGRESSION_PANEL = (
    "mean=sklearn.dummy:DummyRegressor()",
    "ridge=sklearn.linear_model:Ridge()",
    "tree=sklearn.tree:DecisionTreeRegressor()",
    "forest=sklearn.ensemble:RandomForestRegressor()",
)


def as_contenders(learners: Any, *, task: str = "classification") -> tuple[Contender, ...]:
    """Two or more named estimators; the papers' panel when none is named."""
    if learners is None:
        learners = PANEL if task == "classification" else REGRESSION_PANEL
    elif not hasattr(learners, "__iter__"):
        raise ArgumentError(
            f"learners must be a list of names and estimators, or a mapping; got {learners!r:.80}."
        )
    named = named_learners(learners)
    if len(named) < 2:
        raise ArgumentError(
            f"learners must hold at least 2 learners to compare; got only {next(iter(named))!r}."
        )
    return tuple(Contender.of(name, estimator) for name, estimator in named.items())
