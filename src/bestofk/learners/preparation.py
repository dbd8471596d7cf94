"""Prepare rows and labels inside the folds for estimators that do not accept them as they are.

`accepted_input` reads what an estimator declares, `ready_learner` builds the estimator that is
fitted, and `Preparation` records what was done.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if

from bestofk._base.formatting import joined
from bestofk._base.results import Presented
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Schema, take_rows
from bestofk.learners.registry import check_estimator_like

MAX_LISTED_DATASETS = 3
"""Describe the preparation of this many data sets."""


# What estimators accept


TRUSTED = ("sklearn", "bestofk")
"""Packages whose learners declare what they accept, and do not change rows or the process."""
INNER_PARAMETERS = ("estimator", "regressor", "classifier", "base_estimator")
"""Parameters with the inner learner of a meta-estimator."""
_META_ESTIMATORS = tuple(
    f"sklearn.{name}"
    for name in ("model_selection", "calibration", "compose", "multiclass", "multioutput")
)
"""Modules whose estimators pass their rows unchanged to one inner learner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedInput:
    """The input that a learner accepts without preparation.

    - `missing`: Missing numbers.
    - `categories`: Nominal columns as categories.
    - `columns`: All columns as they are, because it selects columns by name or type itself.
    """

    missing: bool = False
    categories: bool = False
    columns: bool = False


def accepted_input(estimator: Any) -> AcceptedInput:
    """Return what `estimator` declares to accept.

    A pipeline that selects columns accepts everything. In other pipelines the first step decides
    about categories, and all steps up to an imputer decide about missing numbers.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> accepted_input(HistGradientBoostingClassifier(categorical_features="from_dtype")).categories
    True
    >>> accepted_input(LogisticRegression()).missing
    False
    >>> accepted_input(make_pipeline(SimpleImputer(), LogisticRegression())).missing
    True
    """
    if _selects_columns(estimator):
        return AcceptedInput(missing=True, categories=True, columns=True)
    steps = [step for _, step in steps_of(estimator) if hasattr(step, "fit")]
    if steps:
        accepted = [accepted_input(step) for step in steps]
        imputer = next((at for at, step in enumerate(steps) if _imputes(step)), len(steps))
        keeps_categories = _params(steps[0]).get("strategy") in ("most_frequent", "constant")
        return AcceptedInput(
            missing=all(one.missing for one in accepted[:imputer]),
            categories=accepted[min(int(keeps_categories), len(steps) - 1)].categories,
        )
    kind: Any = type(estimator)
    if kind.__module__.startswith(_META_ESTIMATORS) and inner_learner(estimator) is not None:
        return accepted_input(inner_learner(estimator))
    if kind.__module__.startswith(("sklearn.ensemble._voting", "sklearn.ensemble._stacking")):
        members = [accepted_input(part) for _, part in estimator.estimators if part != "drop"]
        return AcceptedInput(
            missing=all(member.missing for member in members),
            columns=all(member.columns for member in members),
        )
    tags, params = _input_tags(estimator), _params(estimator)
    return AcceptedInput(
        missing=bool(getattr(tags, "allow_nan", False)),
        categories=bool(getattr(tags, "categorical", False) or getattr(tags, "string", False))
        or params.get("categorical_features", None) == "from_dtype"
        or params.get("enable_categorical", None) is True
        or not fit_arguments(estimator).isdisjoint({"categorical_feature", "cat_features"}),
    )


def _selects_columns(step: Any) -> bool:
    """Return whether a transformer, or one inside it, selects columns by name or type."""
    parts = [*steps_of(step), *getattr(step, "transformer_list", ())]
    if parts:
        return any(_selects_columns(part) for _, part in parts)
    kinds = {kind.__name__ for kind in type(step).__mro__}
    by_function = "FunctionTransformer" in kinds and step.func is not None and not step.validate
    return "ColumnTransformer" in kinds or by_function


def _imputes(step: Any) -> bool:
    """Return whether a transformer fills all missing cells."""
    return hasattr(step, "transform") and type(step).__name__.endswith("Imputer")


def steps_of(estimator: Any) -> list[tuple[str, Any]]:
    """Return the steps of a pipeline; none for other learners, which may use the name otherwise."""
    steps = getattr(estimator, "steps", None)
    return steps if isinstance(steps, list) else []


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline; other learners as they are."""
    steps = steps_of(estimator)
    return last_step(steps[-1][1]) if steps else estimator


def inner_learner(estimator: Any) -> Any:
    """Return the inner learner of a meta-estimator; None for other learners."""
    parts = (getattr(estimator, name, None) for name in INNER_PARAMETERS)
    return next((one for one in parts if hasattr(one, "fit") and not isinstance(one, type)), None)


def innermost(estimator: Any) -> Any:
    """Return the learner at the end of pipelines and inside searches."""
    last = last_step(estimator)
    inner = inner_learner(last)
    return last if inner is None else innermost(inner)


def is_trusted(estimator: Any) -> bool:
    """Return whether the estimator and its parts belong to scikit-learn or bestofk."""
    parts = [estimator]
    if hasattr(estimator, "get_params"):
        values = estimator.get_params(deep=True).values()
        parts += [value for value in values if hasattr(value, "fit") or callable(value)]
    return all(package(part) in TRUSTED for part in parts)


def package(part: Any) -> str:
    """Return the package of an estimator's class, or of a function."""
    module = part.__module__ if callable(part) and hasattr(part, "__module__") else None
    return (module or type(part).__module__).partition(".")[0]


def fit_arguments(estimator: Any) -> set[str]:
    """Return the argument names of `fit`."""
    try:
        return set(inspect.signature(estimator.fit).parameters)
    except (TypeError, ValueError, AttributeError):
        return set()


def _params(estimator: Any) -> dict[str, Any]:
    try:
        params: dict[str, Any] = estimator.get_params(deep=False)
    except Exception:
        # any class may raise anything
        return {}
    return params


def _input_tags(estimator: Any) -> Any:
    from sklearn.utils import get_tags

    try:
        return get_tags(estimator).input_tags
    except Exception:
        # a class of another package need not have tags
        return None


def copy_of(estimator: Any) -> Any:
    """Return an unfitted copy; a deep copy of classes that scikit-learn's `clone` refuses."""
    try:
        return clone(estimator)
    except Exception:
        # any class may raise anything while it is made
        from copy import deepcopy

        return deepcopy(estimator)


# XGBoost, LightGBM and CatBoost


_STOPPING = {
    "xgboost": ("early_stopping_rounds",),
    "lightgbm": ("early_stopping_rounds", "early_stopping_round", "n_iter_no_change"),
    "catboost": ("early_stopping_rounds", "od_wait", "od_type", "use_best_model"),
}
"""For each boosting package: parameters that stop a fit early, for which it needs other rows."""
VALIDATION_SHARE = 0.1
"""Share of the training rows on which early stopping is based, as in scikit-learn."""
MISSING_TEXT = "(missing)"
"""Replaces a missing nominal cell if a learner requires text."""
_PLAIN_NAME = re.compile(r"[\w .+*/%()@#-]+")
"""Column names that boosting packages accept."""
_QUIET: tuple[tuple[str, set[str], dict[str, Any]], ...] = (
    ("lightgbm", {"verbose", "verbosity"}, {"verbose": -1}),
    ("catboost", {"verbose", "silent", "logging_level", "verbose_eval"}, {"verbose": False}),
    ("catboost", {"allow_writing_files", "train_dir"}, {"allow_writing_files": False}),
)
"""A package, the parameters by which users choose its output, and what to set if none is set."""


def _parts(estimator: Any) -> dict[str, Any]:
    """Return an estimator and those inside it, by the prefix of their parameters."""
    if not hasattr(estimator, "get_params"):
        return {}
    inside = {
        f"{name}__": part
        for name, part in estimator.get_params(deep=True).items()
        if hasattr(part, "get_params") and not isinstance(part, type)
    }
    return {"": estimator, **inside}


def quiet(estimator: Any) -> Any:
    """Return the estimator, or a copy that neither prints nor writes files while it fits."""
    params = {
        f"{prefix}{name}": value
        for prefix, part in _parts(estimator).items()
        for of_package, by_user, silent in _QUIET
        if package(part) == of_package and by_user.isdisjoint(part.get_params(deep=False))
        for name, value in silent.items()
    }
    return copy_of(estimator).set_params(**params) if params else estimator


def stops_early(estimator: Any) -> bool:
    """Return whether a boosted learner, also at the end of a pipeline, stops its fits early."""
    last = last_step(estimator)
    names = _STOPPING.get(package(last), ())
    params = _params(last) if names else {}
    return any(params.get(name) not in (None, False, 0) for name in names)


def needs_codes(estimator: Any) -> bool:
    """Return whether a classifier accepts only the labels 0, 1, ... without declaring it."""
    inner = innermost(estimator)
    return package(inner) == "xgboost" and hasattr(inner, "predict_proba")


class Adapted(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Convert rows and labels for a boosted learner, and its predictions back.

    - `estimator`: The learner.
    - `codes`: Pass the training labels as 0, 1, ...; convert predictions back to labels.
    - `texts`: Nominal columns whose categories are passed as text, such as ``"True"`` for True. If
      `fit` has an argument ``cat_features``, it lists them, and missing cells are a text, too.
    - `rename`: Rename the columns to x1, x2, ...
    - `hold_out`: Hold out a tenth of the training rows, on which the learner stops its fit early.
    - `random_state`: Determines the rows that are held out.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = Adapted(DummyClassifier(), codes=True).fit([[0], [1], [2]], ["b", "a", "b"])
    >>> model.predict([[5]]).tolist(), model.classes_.tolist(), model.estimator_.classes_.tolist()
    (['b'], ['a', 'b'], [0, 1])
    """

    def __init__(
        self,
        estimator: Any,
        *,
        codes: bool = False,
        texts: tuple[Hashable, ...] = (),
        rename: bool = False,
        hold_out: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.codes = codes
        self.texts = texts
        self.rename = rename
        self.hold_out = hold_out
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a copy of the learner."""
        arguments: dict[str, Any] = {}
        rows, labels = self._converted(X), np.asarray(y)
        if self.codes:
            self.classes_, labels = np.unique(labels, return_inverse=True)
            labels = labels.reshape(-1).astype(np.int64)
        listed = _params(innermost(self.estimator)).get("cat_features") is not None
        if self.texts and self._lists_categories() and not listed:
            arguments["cat_features"] = [rows.columns[X.columns.get_loc(c)] for c in self.texts]
        if self.hold_out:
            train, validation = self._held_out(labels)
            arguments["eval_set"] = [(take_rows(rows, validation), labels[validation])]
            if "verbose" in fit_arguments(self.estimator):
                arguments["verbose"] = False
            rows, labels = take_rows(rows, train), labels[train]
            sample_weight = None if sample_weight is None else np.asarray(sample_weight)[train]
        if sample_weight is not None:
            arguments["sample_weight"] = sample_weight
        self.estimator_ = copy_of(self.estimator)
        self.estimator_.fit(rows, labels, **arguments)
        if not self.codes and hasattr(self.estimator_, "classes_"):
            self.classes_ = np.asarray(self.estimator_.classes_)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the learner's predictions in the original labels."""
        predicted = np.asarray(self.estimator_.predict(self._converted(X)))
        if predicted.ndim == 2 and predicted.shape[1] == 1:
            predicted = predicted[:, 0]
        return self.classes_[predicted.astype(np.int64)] if self.codes else predicted

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Return class probabilities; columns are ordered as `classes_`."""
        return np.asarray(self.estimator_.predict_proba(self._converted(X)))

    def _lists_categories(self) -> bool:
        return "cat_features" in fit_arguments(innermost(self.estimator))

    def _converted(self, X: Any) -> Any:
        if not (self.texts or self.rename):
            return X
        rows = X.copy()
        for column in self.texts:
            cells = rows[column]
            if self._lists_categories():
                rows[column] = cells.astype(object).where(cells.notna(), MISSING_TEXT).map(str)
            else:
                rows[column] = cells.cat.rename_categories(str)
        if self.rename:
            rows.columns = [f"x{number}" for number in range(1, rows.shape[1] + 1)]
        return rows

    def _held_out(self, labels: npt.NDArray[Any]) -> Any:
        """Return the rows that train and the rows that are held out, stratified if possible."""
        from sklearn.model_selection import train_test_split

        _, counts = np.unique(labels, return_counts=True)
        strata = labels if hasattr(self.estimator, "predict_proba") and counts.min() > 1 else None
        size = max(round(VALIDATION_SHARE * len(labels)), 1 if strata is None else len(counts))
        return train_test_split(
            np.arange(len(labels)), test_size=size, stratify=strata, random_state=self.random_state
        )

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        return get_tags(self.estimator)


def adapted(estimator: Any, data: DataSet, columns: Iterable[Hashable] = ()) -> Any:
    """Return the estimator, or what wraps a boosted learner so that it accepts these data.

    `columns` are those that reach it as a data frame. In a pipeline, the last step is wrapped.
    """
    if steps := steps_of(estimator):
        name, last = steps[-1]
        wrapped = adapted(last, data)
        return estimator if wrapped is last else copy_of(estimator).set_params(**{name: wrapped})
    if not any(package(part) in _STOPPING for part in _parts(estimator).values()):
        return estimator
    names = list(columns)
    lists = "cat_features" in fit_arguments(innermost(estimator))
    options: dict[str, Any] = {
        "codes": data.task == "classification" and needs_codes(estimator),
        "texts": tuple(
            column
            for column in nominal_columns(data)
            if column in names
            and (lists or not all(isinstance(v, str) for v in data.X[column].cat.categories))
        ),
        "rename": not all(isinstance(n, str) and _PLAIN_NAME.fullmatch(n) for n in names),
        "hold_out": stops_early(estimator),
    }
    return Adapted(estimator, **options) if any(options.values()) else estimator


# What was prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation(Presented):
    """How the columns were prepared for one learner.

    - `one_of_n`: Nominal columns that became 1-of-n inputs.
    - `filled`: Missing numbers that took the mean of the training rows.
    - `codes`: Labels were passed as 0, 1, ...
    - `held_out`: A tenth of the training rows was held out, to stop the fit early.
    - `itself`: The learner prepares the columns itself, as its description says.

    Examples
    --------
    >>> Preparation(one_of_n=3, filled=1927).explain()
    '3 columns 1-of-n, 1,927 missing cells filled by the training mean'
    >>> Preparation().explain()
    'none'
    """

    one_of_n: int = 0
    filled: int = 0
    codes: bool = False
    held_out: bool = False
    itself: bool = False

    def explain(self) -> str:
        """Describe the preparation briefly."""
        parts = {
            f"{self.one_of_n:,} column{'s' * (self.one_of_n != 1)} 1-of-n": self.one_of_n,
            f"{self.filled:,} missing cell{'s' * (self.filled != 1)} filled by the training mean":
                self.filled,
            "labels as codes": self.codes,
            f"{VALIDATION_SHARE:.0%} of the training rows held out for early stopping":
                self.held_out,
        }  # fmt: skip
        return ", ".join(text for text, applies in parts.items() if applies) or "none"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the description as strict JSON."""
        return {**asdict(self), "text": self.explain()}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Preparation:
        """Read what `to_dict` wrote."""
        return cls(**{name: fields[name] for name in cls.__dataclass_fields__ if name in fields})


def sentences(done: Mapping[str, Mapping[str, Preparation]]) -> list[str]:
    """Describe the preparation in one sentence per data set that needed one.

    Examples
    --------
    >>> sentences({"horse": {"svm": Preparation(one_of_n=3), "c4.5": Preparation()}})
    ['Preparation inside the folds: 3 columns 1-of-n for svm; none for c4.5.']
    """
    texts = []
    for name, by_learner in done.items():
        groups: dict[str, list[str]] = {}
        for learner, preparation in by_learner.items():
            text = preparation.explain()
            by = "by {} itself" if preparation.itself and text != "none" else "for {}"
            groups.setdefault(f"{text} {by}", []).append(learner)
        ordered = sorted(groups.items(), key=lambda item: item[0] == "none for {}")
        if ordered and ordered[0][0] != "none for {}":
            of_data = f" of {name}" if len(done) > 1 else ""
            parts = "; ".join(text.format(joined(names)) for text, names in ordered)
            texts.append(f"Preparation inside the folds{of_data}: {parts}.")
    more = len(texts) - MAX_LISTED_DATASETS
    if more > 0:
        texts[MAX_LISTED_DATASETS:] = [
            f"Preparation inside the folds of {more} more data set{'s' * (more != 1)}: see the "
            "JSON."
        ]
    return texts


# Learners ready for a data set


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyLearner:
    """The estimator that is fitted inside the folds of a data set.

    - `estimator`: The learner, with its preparation if it needs one.
    - `form`: The form of the rows: ``"encoded"``, ``"array"``, ``"frame"`` (columns of settled
      types) or ``"given"`` (as the user passed them).
    - `done`: How the columns are prepared.
    """

    estimator: Any
    form: str
    done: Preparation


def ready_learner(estimator: Any, data: DataSet, *, fill_always: bool = False) -> ReadyLearner:
    """Prepare `estimator` for `data`.

    With `fill_always`, numbers that are missing only from later rows are filled, too.

    Examples
    --------
    >>> import pandas as pd
    >>> from bestofk.data import read_data
    >>> from sklearn.svm import SVC
    >>> data = read_data(pd.DataFrame({"colour": ["red", "blue"] * 3}), [0, 1] * 3)
    >>> ready = ready_learner(SVC(), data)
    >>> ready.form, ready.done.explain()
    ('frame', '1 column 1-of-n')
    """
    check_estimator_like(estimator, "learner")
    if hasattr(estimator, "fit_encoded"):
        return ReadyLearner(estimator=estimator, form="encoded", done=_by_itself(estimator, data))
    estimator = quiet(estimator)
    accepted = accepted_input(estimator)
    nominal = nominal_columns(data)
    n_missing = _missing_numbers(data)
    form = "array"
    if data.whole or accepted.columns:
        form = "given"
    elif nominal or data.n_missing:
        form = "frame"
    elif data.named and not is_trusted(estimator):
        form = "given"
    encode = form == "frame" and bool(nominal) and not accepted.categories
    fill = form != "given" and not accepted.missing and bool(n_missing or fill_always)
    by_name = form == "given" and (data.whole or accepted.columns)
    columns = () if encode or form == "array" or by_name else data.X.columns
    ready = adapted(estimator, data, columns)
    if encode or fill:
        form, ready = "frame", behind_columns(ready, data.schema, encode=encode, impute=fill)
    codes = data.task == "classification" and needs_codes(estimator)
    return ReadyLearner(
        estimator=ready,
        form=form,
        done=Preparation(
            one_of_n=len(nominal) if encode else 0,
            filled=n_missing if fill else 0,
            codes=codes and not _are_codes(data),
            held_out=stops_early(estimator),
        ),
    )


def _by_itself(estimator: Any, data: DataSet) -> Preparation:
    """Return what a built-in learner declares to do to columns."""
    if data.whole or not getattr(estimator, "_own_preparation", False):
        return Preparation()
    return Preparation(
        one_of_n=len(nominal_columns(data)), filled=_missing_numbers(data), itself=True
    )


def nominal_columns(data: DataSet) -> list[Any]:
    """Return the names of the nominal columns."""
    return [] if data.whole else [c for c, kind in data.kinds.items() if kind == "nominal"]


def _missing_numbers(data: DataSet) -> int:
    if data.whole or not data.n_missing:
        return 0
    numeric = [column for column, kind in data.kinds.items() if kind == "numeric"]
    return int(data.X[numeric].isna().to_numpy().sum())


def _are_codes(data: DataSet) -> bool:
    """Return whether the labels are already 0, 1, ..."""
    classes = np.asarray(data.classes.tolist())
    return classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes)))


def behind_columns(estimator: Any, schema: Schema, *, encode: bool, impute: bool) -> Any:
    """Return a pipeline of 1-of-n inputs, training means or both, then the estimator."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    declared = dict(zip(schema.columns, schema.categories, strict=True))
    numeric = [column for column, kind in schema.kinds.items() if kind == "numeric"]
    nominal = [column for column, kind in schema.kinds.items() if kind == "nominal"]
    one_of_n = OneHotEncoder(
        categories=[np.fromiter(declared[column] or (), dtype=object) for column in nominal],
        handle_unknown="ignore",
        sparse_output=False,
    )
    means = SimpleImputer(strategy="mean", keep_empty_features=True)
    parts = [
        ("numeric", means if impute else "passthrough", numeric),
        ("nominal", one_of_n if encode else "passthrough", nominal),
    ]
    preparation = ColumnTransformer(
        [part for part in parts if part[2]], verbose_feature_names_out=encode
    )
    if nominal and not encode:  # categories stay categories
        preparation.set_output(transform="pandas")
    return Pipeline([("preparation", preparation), ("learner", copy_of(estimator))])
