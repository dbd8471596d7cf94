"""Advice where the corrected t test finds too much: unstable learners, or few rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bestofk.learners.registry import LEARNERS
from bestofk.plans.plan import Plan, plan as make_plan
from bestofk.run.inputs.default_plan import FEWEST, NESTED
from bestofk.wording import joined

BETTER_TEST = "nested-cv-t"
FEW_ROWS = 300
"""Up to so many rows the corrected t test was seen to find too much, whatever the learners."""
_STEMS = (
    "KNeighbors",
    "RadiusNeighbors",
    "DecisionTree",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
)
"""How the names of scikit-learn's unstable estimators begin."""


def advice_for_unstable(
    learners: Iterable[Any] | Mapping[str, Any], n_rows: int, plan: str | Plan
) -> str | None:
    """Which plan and test to use instead, where the learners are unstable or the rows few.

    Parameters
    ----------
    learners : names, estimators, or a mapping of name to either
        What is compared.
    n_rows : int
        Rows of the data set.
    plan : str or Plan
        What was asked for.

    Returns
    -------
    str or None
        Two sentences, to be said where the corrected t test decided; None where the plan has no
        runs of folds, or the learners are stable and the rows many.

    Examples
    --------
    >>> print(advice_for_unstable(["nmc", "nn"], 1000, "10x10"))
    nn depends much on which rows train it, ... The plan '10x5+nested' (its test is nested-cv-t) ...
    >>> advice_for_unstable(["nmc", "logistic"], 1000, "10x10") is None
    True
    """
    asked = make_plan(plan)
    if asked.kind != "cv":
        return None
    named = learners.items() if isinstance(learners, Mapping) else ((None, x) for x in learners)
    unstable = [_name(name, one) for name, one in named if is_unstable(one)]
    if unstable:
        many = len(unstable) > 1
        why = (
            f"{joined(unstable)} {'depend' if many else 'depends'} much on which rows train "
            f"{'them' if many else 'it'}, and the corrected t test does not allow for that: where "
            "such learners are equal it finds a difference in about 11 percent of data sets "
            "instead of 5."
        )
    elif n_rows <= FEW_ROWS:
        why = (
            f"With {n_rows} rows that tell little of the answer, the corrected t test may find a "
            "difference between equal learners in up to 15 percent of data sets instead of 5."
        )
    else:
        return None
    if asked.subsets is not None:
        return f"{why} The test of the plan {asked.spec!r} allows for it; it needs all of its runs."
    if n_rows < FEWEST:
        return f"{why} A plan whose test holds needs {FEWEST} rows or more."
    return (
        f"{why} The plan {NESTED!r} (its test is {BETTER_TEST}) came to at most 6, "
        "for one and a half times as many fits on fewer rows."
    )


def is_unstable(learner: Any) -> bool:
    """Whether the predictions of a learner (a name or an estimator) depend much on its rows."""
    if isinstance(learner, str):
        return learner in LEARNERS and LEARNERS[learner].unstable
    kind = type(inside(learner))
    ours = (entry for entry in LEARNERS.values() if entry.unstable)
    where = f"{kind.__module__}:{kind.__name__}"
    return kind.__name__.startswith(_STEMS) or any(entry.estimator == where for entry in ours)


def inside(estimator: Any) -> Any:
    """What learns at the end of pipelines and of searches over settings."""
    while True:
        if hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        elif type(estimator).__name__.endswith("SearchCV"):
            estimator = estimator.estimator
        else:
            return estimator


def _name(name: str | None, learner: Any) -> str:
    if name is not None:
        return name
    return learner if isinstance(learner, str) else type(inside(learner)).__name__
