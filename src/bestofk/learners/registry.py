"""The registry of built-in learners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bestofk._base.errors import ArgumentError
from bestofk._base.registry import Registry, resolve

Task = Literal["classification", "regression"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """An entry of the learner registry."""

    name: str
    estimator: str
    """The class as ``package.module:name``, imported on use."""
    summary: str
    paper: str
    complexity: str = ""
    """Its number of parameters (c classes, d columns, n training rows)."""
    task: Task = "classification"
    """Its targets: classes or numbers."""
    in_panel: bool = False
    """True if it runs if the user names no learners."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that differ from the defaults of the class."""
    historical: bool = False
    """True if it is mainly of interest to repeat published results; listed after the others."""

    def load(self) -> type[Any]:
        """Import the class."""
        kind: type[Any] = resolve(self.estimator)
        return kind


LEARNERS = Registry(
    "learner",
    Learner(
        name="baseline",
        estimator="bestofk.learners.majority:Majority",
        summary="the most frequent class, whatever the columns",
        paper="Yildiz and Alpaydin 2006",
        in_panel=True,
        complexity="c",
    ),
    Learner(
        name="logistic",
        estimator="bestofk.learners.logistic:Logistic",
        summary="linear logistic (softmax) model with an L2 penalty",
        paper="Yildiz and Alpaydin 2006",
        in_panel=True,
        complexity="c (d + 1), nominal columns counted as 1-of-n",
    ),
    Learner(
        name="naive-bayes",
        estimator="bestofk.learners.naive_bayes:NaiveBayes",
        summary="naive Bayes: nominal counts with Laplace, Gaussian numerics",
        paper="John and Langley 1995, Estimating continuous distributions in Bayesian classifiers",
        in_panel=True,
        complexity="entries of the probability tables",
    ),
    Learner(
        name="nearest-neighbour",
        estimator="bestofk.learners.nearest_neighbour:NearestNeighbour",
        summary="the nearest neighbour",
        paper="Cover and Hart 1967, Nearest neighbor pattern classification",
        in_panel=True,
        complexity="n d",
    ),
    Learner(
        name="decision-tree",
        estimator="bestofk.learners.c45:C45",
        summary="decision tree, Quinlan's C4.5",
        paper="Quinlan 1993, C4.5: Programs for Machine Learning",
        in_panel=True,
        complexity="nodes of the tree",
    ),
    Learner(
        name="random-forest",
        estimator="sklearn.ensemble:RandomForestClassifier",
        summary="random forest of scikit-learn with 25 trees",
        paper="Breiman 2001, Random forests",
        in_panel=True,
        complexity="nodes of all trees",
        settings={"n_estimators": 25},
    ),
    Learner(
        name="mean-baseline",
        estimator="sklearn.dummy:DummyRegressor",
        summary="the mean of the target, whatever the columns",
        paper="scikit-learn",
        in_panel=True,
        complexity="1",
        task="regression",
    ),
    Learner(
        name="ridge",
        estimator="sklearn.linear_model:Ridge",
        summary="ridge regression of scikit-learn: a linear model with an L2 penalty",
        paper="Hoerl and Kennard 1970, Ridge regression",
        in_panel=True,
        complexity="d + 1, nominal columns counted as 1-of-n",
        task="regression",
    ),
    Learner(
        name="regression-tree",
        estimator="sklearn.tree:DecisionTreeRegressor",
        summary="regression tree of scikit-learn",
        paper="Breiman, Friedman, Olshen and Stone 1984, Classification and regression trees",
        in_panel=True,
        complexity="nodes of the tree",
        task="regression",
    ),
    Learner(
        name="regression-forest",
        estimator="sklearn.ensemble:RandomForestRegressor",
        summary="random forest of scikit-learn with 25 regression trees",
        paper="Breiman 2001, Random forests",
        in_panel=True,
        complexity="nodes of all trees",
        task="regression",
        settings={"n_estimators": 25},
    ),
    Learner(
        name="max",
        historical=True,
        estimator="bestofk.learners.majority:Majority",
        summary="the most frequent class",
        paper="Yildiz and Alpaydin 2006",
        complexity="c",
    ),
    Learner(
        name="c4.5",
        historical=True,
        estimator="bestofk.learners.c45:C45",
        summary="Quinlan's decision tree",
        paper="Quinlan 1993, C4.5: Programs for Machine Learning",
        complexity="nodes of the tree",
    ),
    Learner(
        name="nn",
        historical=True,
        estimator="bestofk.learners.nearest_neighbour:NearestNeighbour",
        summary="the nearest neighbour",
        paper="Cover and Hart 1967, Nearest neighbor pattern classification",
        complexity="n d",
    ),
)


def learner(name: str, **params: Any) -> Any:
    """Create a built-in learner as a scikit-learn estimator.

    Parameters
    ----------
    name : str
        One of the names in `LEARNERS`.
    **params
        Parameters of the estimator.

    Examples
    --------
    >>> learner("max")
    Majority()
    >>> learner("maks")
    Traceback (most recent call last):
    bestofk._base.errors.UnknownNameError: There is no learner 'maks': did you mean 'max'?
    """
    entry = LEARNERS[name]
    kind = entry.load()
    known = kind(**entry.settings).get_params()
    for param in params:
        if param not in known:
            listed = ", ".join(known) or "none"
            raise ArgumentError(
                f"The parameters of learner {name!r} must be among: {listed}; got {param!r}."
            )
    return kind(**{**entry.settings, **params})


def panel(task: str) -> tuple[str, ...]:
    """Return the learners that run if the user names none.

    Examples
    --------
    >>> panel("regression")
    ('mean-baseline', 'ridge', 'regression-tree', 'regression-forest')
    """
    return tuple(name for name, entry in LEARNERS.items() if entry.in_panel and entry.task == task)


def check_estimator_like(value: Any, where: str) -> None:
    """Raise an error unless the value has the interface of a scikit-learn estimator."""
    if isinstance(value, type):
        raise ArgumentError(
            f"{where} must be an estimator, not its class: write {value.__name__}() instead of "
            f"{value.__name__}."
        )
    for method in ("fit", "predict", "get_params"):
        # a conditional method may be missing from the instance before it is fitted
        try:
            exists = callable(getattr(value, method, None)) or hasattr(type(value), method)
        except Exception as raised:  # any class may raise anything
            raise ArgumentError(
                f"{where} cannot be used: reading its attribute {method} raises "
                f"{type(raised).__name__}."
            ) from None
        if not exists:
            raise ArgumentError(
                f"{where} must be a scikit-learn estimator with fit, predict and get_params; got "
                f"{type(value).__name__}, which has no {method}."
            )
