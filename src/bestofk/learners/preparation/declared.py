"""What a learner declares to take: missing cells, categories, columns of its own choice.

It is asked for its tags (scikit-learn's), its settings and the arguments of its `fit`, and so are
the learners inside it. Where a package declares nothing, a table by the name of the package says
what its manual does.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache
from typing import Any

NEEDS_CODES = ("xgboost",)
"""Packages whose classifiers take the labels 0, 1, ... only, and do not declare it."""
WITHIN = ("estimator", "regressor", "classifier", "base_estimator")
"""Settings that hold the learner to which another one hands its rows."""
_HANDS_ON = (
    "sklearn.model_selection",
    "sklearn.calibration",
    "sklearn.compose",
    "sklearn.multiclass",
    "sklearn.multioutput",
)
"""Modules whose learners hand their rows on as they come."""
_COMMITTEES = ("sklearn.ensemble._voting", "sklearn.ensemble._stacking")
"""The same, to several."""


OURS = ("sklearn", "bestofk")
"""Packages whose learners declare what they take, and take arrays for data frames."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Takes:
    """What a learner takes as it is.

    Attributes
    ----------
    missing : bool
        Missing numbers.
    categories : bool
        Nominal columns, as categories.
    text : bool
        Nominal columns of any other type, too.
    columns : bool
        It chooses its columns itself, by name or by type, and gets the table as it came.
    words : bool
        It takes nominal columns as text, and must be told which they are (``cat_features`` of
        its `fit`).
    """

    missing: bool = False
    categories: bool = False
    text: bool = False
    columns: bool = False
    words: bool = False


EVERYTHING = Takes(missing=True, categories=True, text=True, columns=True)


def takes(estimator: Any) -> Takes:
    """What `estimator` declares, or the learners inside it.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> takes(HistGradientBoostingClassifier(categorical_features="from_dtype")).categories
    True
    >>> takes(LogisticRegression()).missing
    False
    >>> takes(make_pipeline(SimpleImputer(), LogisticRegression())).missing
    True
    """
    if hasattr(estimator, "steps") and isinstance(estimator.steps, list):
        return _of_steps(estimator.steps)
    if _chooses_columns(estimator):
        return EVERYTHING
    kind: Any = type(estimator)
    if kind.__module__.startswith(_HANDS_ON):
        for name in WITHIN:
            inside = getattr(estimator, name, None)
            if hasattr(inside, "fit") and not isinstance(inside, type):
                return takes(inside)
    if kind.__module__.startswith(_COMMITTEES):
        return _all_of(estimator)
    tags = _input_tags(estimator)
    settings = _settings(estimator)
    arguments = fit_arguments(kind)
    words = "cat_features" in arguments
    text = bool(getattr(tags, "categorical", False) or getattr(tags, "string", False))
    return Takes(
        missing=bool(getattr(tags, "allow_nan", False)),
        text=text and not words,
        categories=words
        or text
        or settings.get("categorical_features", None) == "from_dtype"
        or settings.get("enable_categorical", None) is True
        or "categorical_feature" in arguments,
        words=words,
    )


def declares(estimator: Any) -> bool:
    """The estimator and everything inside it belongs to packages that declare what they take."""
    parts = [estimator]
    if hasattr(estimator, "get_params"):
        try:
            inside = estimator.get_params(deep=True).values()
        except Exception:
            # any class may raise anything
            return False
        parts += [part for part in inside if hasattr(part, "fit")]
    return all(package(part) in OURS for part in parts)


def needs_codes(estimator: Any) -> bool:
    """Whether a classifier takes the labels 0, 1, ... only."""
    found = innermost(estimator)
    return package(found) in NEEDS_CODES and hasattr(found, "predict_proba")


def innermost(estimator: Any) -> Any:
    """The learner at the end of pipelines and inside searches."""
    while True:
        if hasattr(estimator, "steps") and isinstance(estimator.steps, list):
            estimator = estimator.steps[-1][1]
            continue
        inside = next(
            (getattr(estimator, name) for name in WITHIN if hasattr(estimator, name)), None
        )
        if not hasattr(inside, "fit") or isinstance(inside, type):
            return estimator
        estimator = inside


def package(estimator: Any) -> str:
    """The package of the class of an estimator."""
    return type(estimator).__module__.partition(".")[0]


@cache
def fit_arguments(kind: Any) -> frozenset[str]:
    """The names of the arguments of a class's `fit`."""
    try:
        return frozenset(inspect.signature(kind.fit).parameters)
    except (TypeError, ValueError, AttributeError):
        return frozenset()


def _of_steps(steps: list[tuple[str, Any]]) -> Takes:
    """Of a pipeline: what reaches which step."""
    real = [step for _, step in steps if step is not None and step != "passthrough"]
    if any(_chooses_columns(step) for step in real):
        # what stands before that step is the user's, too
        return EVERYTHING
    missing: bool | None = None
    categories: bool | None = None
    text = False
    for step in real:
        own = takes(step)
        imputes = _imputes(step)
        if missing is None and (imputes or not own.missing):
            missing = imputes
        if categories is None and not (imputes and _fills_words(step)):
            # an encoder, or the learner itself; everything else wants numbers
            categories, text = own.categories, own.text
        last = own
    return Takes(
        missing=last.missing if missing is None else missing,
        categories=bool(categories),
        text=text,
    )


def _all_of(committee: Any) -> Takes:
    members = [one for _, one in committee.estimators if one != "drop"]
    found = [takes(member) for member in members]
    return Takes(
        missing=all(one.missing for one in found),
        categories=all(one.categories and not one.words for one in found),
        columns=bool(found) and all(one.columns for one in found),
    )


def _chooses_columns(step: Any) -> bool:
    """A transformer that is written for columns by name or type."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion
    from sklearn.preprocessing import FunctionTransformer

    if isinstance(step, FeatureUnion):
        return any(_chooses_columns(inside) for _, inside in step.transformer_list)
    if hasattr(step, "steps") and isinstance(step.steps, list):
        return any(_chooses_columns(inside) for _, inside in step.steps)
    if isinstance(step, FunctionTransformer):
        return step.func is not None and not step.validate
    return isinstance(step, ColumnTransformer)


def _imputes(step: Any) -> bool:
    """A transformer after which no cell is missing."""
    return hasattr(step, "transform") and (
        type(step).__module__.startswith("sklearn.impute")
        or type(step).__name__.endswith("Imputer")
    )


def _fills_words(step: Any) -> bool:
    return _settings(step).get("strategy") in ("most_frequent", "constant")


def _settings(estimator: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = estimator.get_params(deep=False)
    except Exception:
        # any class may raise anything
        return {}
    return found


def _input_tags(estimator: Any) -> Any:
    from sklearn.utils import get_tags

    try:
        return get_tags(estimator).input_tags
    except Exception:
        # a class of another package need not have tags
        return None
