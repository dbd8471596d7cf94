"""The learners of a comparison: from what a caller lists to named estimators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bestofk.errors import ArgumentError
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
    """Named estimators from names, specifications, estimators, or a mapping of name to either.

    Estimators without a name are called after their class, numbered when there are several.
    """
    if learners is None:
        learners = PANEL if task == "classification" else REGRESSION_PANEL
    if isinstance(learners, str) or not isinstance(learners, Iterable | Mapping):
        raise ArgumentError(
            f"learners must be a list of names and estimators, or a mapping; got {learners!r:.80}."
        )
    listed = (
        list(learners.items()) if isinstance(learners, Mapping) else list(map(_named, learners))
    )
    if len(listed) < 2:
        raise ArgumentError(
            f"learners must hold at least 2 learners to compare; got {len(listed)}."
        )
    names = [name for name, _ in listed]
    taken: dict[str, int] = {}
    contenders = []
    for name, given in listed:
        estimator = _estimator(given)
        called = name or _class_name(estimator)
        if name is None and _occurrences(listed, called) > 1:
            taken[called] = taken.get(called, 0) + 1
            called = f"{called}-{taken[called]}"
        elif name is not None and names.count(name) > 1:
            raise ArgumentError(f"learners must have names of their own; got {name!r} twice.")
        contenders.append(Contender.of(str(called), estimator))
    found = [contender.name for contender in contenders]
    for name in found:
        if found.count(name) > 1:
            raise ArgumentError(f"learners must have names of their own; got {name!r} twice.")
        if not name.strip():
            raise ArgumentError("learners must have names; got an empty one.")
    return tuple(contenders)


def _named(given: Any) -> tuple[str | None, Any]:
    if isinstance(given, str):
        from bestofk.learners.specification import parse_learner

        return parse_learner(given)
    return None, given


def _estimator(given: Any) -> Any:
    if isinstance(given, str):
        from bestofk.learners.specification import parse_learner

        return parse_learner(given)[1]
    if isinstance(given, type):
        raise ArgumentError(
            f"learners must be estimators; got the class {given.__name__}: add brackets, "
            f"{given.__name__}()."
        )
    for method in ("fit", "predict"):
        if not callable(getattr(given, method, None)):
            raise ArgumentError(
                f"learners must be names, specifications or estimators with fit and predict; "
                f"got {given!r:.80}, which has no {method}."
            )
    return given


def _class_name(estimator: Any) -> str:
    steps = getattr(estimator, "steps", None)
    if steps:
        # a pipeline is known by what it ends with
        return _class_name(steps[-1][1])
    return type(estimator).__name__


def _occurrences(listed: list[tuple[str | None, Any]], called: str) -> int:
    return sum(name is None and _class_name(_estimator(given)) == called for name, given in listed)
