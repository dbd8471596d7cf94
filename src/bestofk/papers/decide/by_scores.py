"""Procedures that decide from scores of every test row, from learners and data to the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bestofk._base.checks import Floats, one_of
from bestofk._base.errors import ArgumentError
from bestofk._base.registry import resolve
from bestofk.data.dataset import DataSet
from bestofk.decide.registry import RULES
from bestofk.learners.preparation import ready_learner
from bestofk.papers.decide.procedures.multinomial_selection import (
    MultinomialSelection,
    multinomial_selection,
)
from bestofk.papers.decide.procedures.roc_hull import RocHull, roc_hull
from bestofk.run.inputs import as_datasets, named_estimators
from bestofk.splits.plans import plan

SCORE_RULES = tuple(name for name, entry in RULES.items() if entry.takes == "scores")


def select_by_scores(
    learners: Any,
    data: Any,
    target: Any = None,
    *,
    rule: str,
    cv: str = "kfold:10",
    positive: Any = None,
    alpha: float = 0.05,
    correction: str = "holm",
    random_state: int = 0,
    columns: Mapping[str, str] | None = None,
) -> RocHull | MultinomialSelection:
    """Compare learners by the scores or posteriors that they give to every row of a test fold.

    Parameters
    ----------
    learners, data, target
        As for `bestofk.compare`; one data set with labels.
    rule : {"roc-hull", "multinomial-selection"}
        The rule.
    cv : str
        A plan that tests every row at most once, such as ``"kfold:10"`` or ``"holdout:0.33"``.
    positive : label, optional
        The positive class of the ROC hull; by default the last one.
    alpha, correction
        As for `multinomial_selection`.
    random_state : int
        Seed of the splits.
    columns : mapping, optional
        As for `bestofk.compare`.

    Notes
    -----
    A learner without `predict_proba` gives its `decision_function` in two-class problems, else
    posteriors of 0 and 1. The posteriors of a k-nearest-neighbour rule are multiples of 1/k, so
    its ROC curve has at most k + 1 points, and it ties often in a multinomial selection.

    Examples
    --------
    >>> import bestofk as bk
    >>> hull = select_by_scores(
    ...     ["naive-bayes", "max"], bk.read_data("breast-cancer"),
    ...     rule="roc-hull", cv="kfold:5")
    >>> hull.optimal
    ('naive-bayes',)
    """
    one_of(rule, "rule", SCORE_RULES)
    datasets = as_datasets(data, target, task="auto", columns=columns)
    if len(datasets) != 1 or datasets[0].task != "classification":
        raise ArgumentError(f"{rule} needs one data set with labels as target.")
    dataset = datasets[0]
    classes = dataset.encoded().classes.tolist()
    named = named_estimators(learners)
    splits = plan(cv, random_state=random_state).materialise(dataset.n, dataset.y)
    tested = np.concatenate([test for _, _, _, test in splits])
    if len(np.unique(tested)) < len(tested):
        raise ArgumentError(f"cv must test every row at most once for {rule}; got {cv!r}.")
    scores = np.stack([_scores(one, dataset, splits, classes) for one in named.values()])
    truth = dataset.encoded().y[tested]
    names = list(named)
    by_posteriors = resolve(RULES[rule].function) is multinomial_selection
    if by_posteriors:
        of_truth = scores[:, np.arange(len(truth)), truth]
        return multinomial_selection(of_truth, names=names, alpha=alpha, correction=correction)
    if len(classes) != 2:
        raise ArgumentError(f"roc-hull needs two classes; {dataset.name} has {len(classes)}.")
    if positive is not None and positive not in classes:
        raise ArgumentError(f"positive must be one of {classes}; got {positive!r}.")
    code = 1 if positive is None else classes.index(positive)
    return roc_hull(scores[:, :, code], truth == code, names=names)


def _scores(estimator: Any, data: DataSet, splits: Any, classes: list[Any]) -> Floats:
    """Return a score per tested row and class, in the order of the splits."""
    from sklearn.base import clone

    prepared = ready_learner(estimator, data).estimator
    parts = []
    for _, _, train, test in splits:
        model = clone(prepared).fit(data.X.iloc[train], data.y.iloc[train])
        rows, known = data.X.iloc[test], [classes.index(label) for label in model.classes_.tolist()]
        part = np.zeros((len(test), len(classes)))
        if hasattr(model, "predict_proba"):
            part[:, known] = model.predict_proba(rows)
        elif hasattr(model, "decision_function") and len(classes) == 2:
            part[:, 1] = model.decision_function(rows)
            part[:, 0] = -part[:, 1]
        else:
            labels = np.asarray(model.predict(rows)).tolist()
            part[np.arange(len(test)), [classes.index(label) for label in labels]] = 1.0
        parts.append(part)
    return np.concatenate(parts)
