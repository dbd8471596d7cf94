"""Prepare rows and labels inside the folds for estimators that do not accept them as they are.

`accepted_input` reads what an estimator declares, `ready_learner` builds the estimator that is
fitted, and `Preparation` records what was done.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if

from bestofk._base.checks import check_fields
from bestofk._base.errors import ArgumentError, use
from bestofk._base.formatting import joined
from bestofk._base.results import Presented
from bestofk.data.dataset import DataSet
from bestofk.data.schema import take_rows

PREPARE = ("auto", "none")
"""Values of the setting `prepare`."""
NOTE_PREFIX = "Preparation: "
"""Prefix of the note on a fit that needed another preparation than declared."""
MISSING_TEXT = "(missing)"
"""Replaces a missing nominal cell if a learner requires text."""
MAX_LISTED_DATASETS = 3
"""Describe the preparation of this many data sets."""
_PLAIN_NAME = re.compile(r"[\w .+*/%()@#-]+")


def plain_names(names: Any) -> bool:
    """Return whether boosting packages accept all column names."""
    return all(isinstance(name, str) and _PLAIN_NAME.fullmatch(name) for name in names)


def _has(method: str) -> Any:
    def check(self: Any) -> bool:
        return hasattr(self.estimator, method)

    return available_if(check)


class Adapted(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Convert rows and labels for a learner, and its predictions back.

    The conversions do not change what the learner can learn.

    - `estimator`: The learner.
    - `codes`: Pass the training labels as 0, 1, ...; convert predictions back to labels.
    - `words`: Nominal columns to pass as text, with a separate text for missing cells; the argument
      ``cat_features`` of `fit` lists them.
    - `texts`: Nominal columns whose categories are passed as text, such as ``"True"`` for True.
    - `rename`: Rename the columns to x1, x2, ...

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
        words: tuple[str, ...] = (),
        texts: tuple[str, ...] = (),
        rename: bool = False,
    ) -> None:
        self.estimator = estimator
        self.codes = codes
        self.words = words
        self.texts = texts
        self.rename = rename

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a copy of the learner."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = copy_of(self.estimator)
        labels = y
        if self.codes:
            self.classes_, labels = np.unique(np.asarray(y), return_inverse=True)
            labels = labels.reshape(-1).astype(np.int64)
        rows = self._converted(X)
        if self.words and _params(innermost(self.estimator)).get("cat_features") is None:
            weights["cat_features"] = [rows.columns[X.columns.get_loc(c)] for c in self.words]
        self.estimator_.fit(rows, labels, **weights)
        if not self.codes and hasattr(self.estimator_, "classes_"):
            self.classes_ = np.asarray(self.estimator_.classes_)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the learner's predictions in the original labels."""
        predicted = np.asarray(self.estimator_.predict(self._converted(X)))
        if predicted.ndim == 2 and predicted.shape[1] == 1:
            predicted = predicted[:, 0]
        if not self.codes:
            return predicted
        if predicted.ndim == 2:  # probabilities of the classes
            predicted = predicted.argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[predicted.astype(np.int64)]
        return labels

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Return class probabilities; columns are ordered as `classes_`."""
        return np.asarray(self.estimator_.predict_proba(self._converted(X)))

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Return the learner's decision scores."""
        return np.asarray(self.estimator_.decision_function(self._converted(X)))

    def _converted(self, X: Any) -> Any:
        if not (self.words or self.texts or self.rename):
            return X
        rows = X.copy()
        for column in self.texts:
            rows[column] = rows[column].cat.rename_categories(str)
        for column in self.words:
            cells = rows[column]
            rows[column] = cells.astype(object).where(cells.notna(), MISSING_TEXT).map(str)
        if self.rename:
            rows.columns = [f"x{number}" for number in range(1, rows.shape[1] + 1)]
        return rows

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        try:
            return get_tags(self.estimator)
        except Exception:
            # a class of another package need not have tags
            return super().__sklearn_tags__()


VALIDATION_SHARE = 0.1
"""Share of the training rows on which early stopping is based, as in scikit-learn."""
_STOPPING = {
    "xgboost": ("early_stopping_rounds",),
    "lightgbm": ("early_stopping_rounds", "early_stopping_round", "n_iter_no_change"),
    "catboost": ("early_stopping_rounds", "od_wait", "od_type", "use_best_model"),
}
"""For each package: parameters that stop a fit early, for which it needs validation rows."""


def stops_early(estimator: Any) -> bool:
    """Return whether a boosted learner needs validation rows to stop its fits early.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> stops_early(SVC())
    False
    """
    names = _STOPPING.get(package(estimator), ())
    params = _params(estimator) if names else {}
    return any(params.get(name) not in (None, False, 0) for name in names)


class EarlyStopped(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Hold out some of the training rows, on which a boosted learner stops its fit early.

    - `estimator`: An XGBoost, LightGBM or CatBoost estimator with early stopping.
    - `random_state`: Determines the rows that are held out.
    """

    def __init__(self, estimator: Any, *, random_state: Any = None) -> None:
        self.estimator = estimator
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **arguments: Any) -> Self:
        """Fit a copy of the learner to 90 percent of the rows."""
        from sklearn.model_selection import train_test_split

        labels = np.asarray(y)
        kind: Any = type(self.estimator)
        _, counts = np.unique(labels, return_counts=True)
        strata = labels if hasattr(self.estimator, "predict_proba") and counts.min() > 1 else None
        held_out = max(round(VALIDATION_SHARE * len(labels)), 1 if strata is None else len(counts))
        rows, validation = train_test_split(
            np.arange(len(labels)), test_size=held_out, stratify=strata,
            random_state=self.random_state,
        )  # fmt: skip
        if sample_weight is not None:
            arguments["sample_weight"] = np.asarray(sample_weight)[rows]
        self.estimator_ = copy_of(self.estimator)
        self.estimator_.fit(
            take_rows(X, rows),
            labels[rows],
            eval_set=[(take_rows(X, validation), labels[validation])],
            **arguments,
            **({"verbose": False} if "verbose" in fit_arguments(kind) else {}),
        )
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = np.asarray(self.estimator_.classes_)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the predictions of the learner."""
        return np.asarray(self.estimator_.predict(X))

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Return class probabilities; columns are ordered as `classes_`."""
        return np.asarray(self.estimator_.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        return get_tags(self.estimator)


def with_validation(estimator: Any) -> Any:
    """Give validation rows to a boosted learner with early stopping, also in a pipeline."""
    if stops_early(estimator):
        return EarlyStopped(estimator)
    if steps := steps_of(estimator):
        last_name, last = steps[-1]
        inside = with_validation(last)
        if inside is not last:
            return copy_of(estimator).set_params(**{last_name: inside})
        return estimator
    return estimator


def steps_of(estimator: Any) -> list[tuple[str, Any]]:
    """Return the steps of a pipeline; none for other learners, which may use the name otherwise."""
    steps = getattr(estimator, "steps", None)
    return steps if isinstance(steps, list) else []


def refuse_without_validation(name: str, estimator: Any) -> None:
    """Refuse early stopping inside a search or an ensemble, which provides no validation rows."""
    steps = steps_of(estimator)
    last = steps[-1][1] if steps else estimator
    if stops_early(last):
        return
    for part in _all_params(estimator).values():
        if isinstance(part, type):
            continue
        names = _STOPPING.get(package(part), ())
        # CatBoost ignores its other parameters without validation rows
        names = names[-1:] if package(part) == "catboost" else names
        params = _params(part) if names else {}
        for option in names:
            if params.get(option) not in (None, False, 0):
                kind = type(part).__name__
                off = False if params[option] is True else None
                raise ArgumentError(
                    f"{name}: {kind} with {option} needs validation rows, which "
                    f"{type(last).__name__} does not provide: set {option}={off} there, or pass "
                    f"the {kind} itself, for which bestofk holds out {VALIDATION_SHARE:.0%} of "
                    "the training rows."
                )


def copy_of(estimator: Any) -> Any:
    """Return an unfitted copy; a deep copy of classes that scikit-learn's `clone` refuses."""
    try:
        return clone(estimator)
    except Exception:
        # any class may raise anything while it is made
        from copy import deepcopy

        return deepcopy(estimator)


# What estimators accept


NEEDS_CODES = ("xgboost",)
"""Packages whose classifiers accept only the labels 0, 1, ... without declaring it."""
INNER_PARAMETERS = ("estimator", "regressor", "classifier", "base_estimator")
"""Parameters with the inner learner of a meta-estimator."""
_META_ESTIMATORS = (
    "sklearn.model_selection",
    "sklearn.calibration",
    "sklearn.compose",
    "sklearn.multiclass",
    "sklearn.multioutput",
)
"""Modules whose estimators pass their rows unchanged to one inner learner."""
_ENSEMBLES = ("sklearn.ensemble._voting", "sklearn.ensemble._stacking")
"""Modules whose estimators pass their rows unchanged to several inner learners."""
_DECLARING_PACKAGES = ("sklearn", "bestofk")
"""Packages whose learners declare what they accept, and accept arrays for data frames."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedInput:
    """The input that a learner accepts without preparation.

    - `missing`: Missing numbers.
    - `categories`: Nominal columns as categories.
    - `text`: Nominal columns of any other type, too.
    - `columns`: All columns as they are, because it selects columns by name or type itself.
    - `cat_features`: Nominal columns as text that the argument ``cat_features`` of `fit` lists.
    """

    missing: bool = False
    categories: bool = False
    text: bool = False
    columns: bool = False
    cat_features: bool = False


EVERYTHING = AcceptedInput(missing=True, categories=True, text=True, columns=True)


def accepted_input(estimator: Any) -> AcceptedInput:
    """Return what `estimator`, or the learners inside it, declare to accept.

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
    if steps := steps_of(estimator):
        return _accepted_by_pipeline(steps)
    if _chooses_columns(estimator):
        return EVERYTHING
    kind: Any = type(estimator)
    if isinstance(estimator, EarlyStopped):
        return accepted_input(estimator.estimator)
    if kind.__module__.startswith(_META_ESTIMATORS):
        for name in INNER_PARAMETERS:
            inner = getattr(estimator, name, None)
            if hasattr(inner, "fit") and not isinstance(inner, type):
                return accepted_input(inner)
    if kind.__module__.startswith(_ENSEMBLES):
        return _accepted_by_all(estimator)
    tags = _input_tags(estimator)
    params = _params(estimator)
    arguments = fit_arguments(kind)
    cat_features = "cat_features" in arguments
    text = bool(getattr(tags, "categorical", False) or getattr(tags, "string", False))
    return AcceptedInput(
        missing=bool(getattr(tags, "allow_nan", False)),
        text=text and not cat_features,
        categories=cat_features
        or text
        or params.get("categorical_features", None) == "from_dtype"
        or params.get("enable_categorical", None) is True
        or "categorical_feature" in arguments,
        cat_features=cat_features,
    )


def declares(estimator: Any) -> bool:
    """Return whether the estimator and all inner estimators come from declaring packages."""
    parts = [estimator]
    if hasattr(estimator, "get_params"):
        try:
            values = estimator.get_params(deep=True).values()
        except Exception:
            # any class may raise anything
            return False
        parts += [part for part in values if hasattr(part, "fit")]
    return all(package(part) in _DECLARING_PACKAGES for part in parts)


def needs_codes(estimator: Any) -> bool:
    """Return whether a classifier accepts only the labels 0, 1, ..."""
    inner = innermost(estimator)
    return package(inner) in NEEDS_CODES and hasattr(inner, "predict_proba")


def innermost(estimator: Any) -> Any:
    """Return the learner at the end of pipelines and inside searches."""
    while True:
        if steps := steps_of(estimator):
            estimator = steps[-1][1]
            continue
        inner = next(
            (getattr(estimator, name) for name in INNER_PARAMETERS if hasattr(estimator, name)),
            None,
        )
        if not hasattr(inner, "fit") or isinstance(inner, type):
            return estimator
        estimator = inner


def package(estimator: Any) -> str:
    """Return the package of an estimator's class."""
    return type(estimator).__module__.partition(".")[0]


@cache
def fit_arguments(kind: Any) -> frozenset[str]:
    """Return the argument names of a class's `fit`."""
    try:
        return frozenset(inspect.signature(kind.fit).parameters)
    except (TypeError, ValueError, AttributeError):
        return frozenset()


def _accepted_by_pipeline(steps: list[tuple[str, Any]]) -> AcceptedInput:
    """Return what a pipeline accepts, given what reaches each step."""
    real = [step for _, step in steps if step is not None and step != "passthrough"]
    if any(_chooses_columns(step) for step in real):
        # the user wrote the earlier steps for these columns, too
        return EVERYTHING
    missing: bool | None = None
    categories: bool | None = None
    text = False
    for step in real:
        accepted = accepted_input(step)
        imputes = _imputes(step)
        if missing is None and (imputes or not accepted.missing):
            missing = imputes
        if categories is None and not (imputes and _fills_nominal(step)):
            # an encoder or the learner itself; all other steps need numbers
            categories, text = accepted.categories, accepted.text
        last = accepted
    return AcceptedInput(
        missing=last.missing if missing is None else missing,
        categories=bool(categories),
        text=text,
    )


def _accepted_by_all(ensemble: Any) -> AcceptedInput:
    members = [accepted_input(part) for _, part in ensemble.estimators if part != "drop"]
    return AcceptedInput(
        missing=all(member.missing for member in members),
        categories=all(member.categories and not member.cat_features for member in members),
        columns=bool(members) and all(member.columns for member in members),
    )


def _chooses_columns(step: Any) -> bool:
    """Return whether a transformer selects columns by name or type."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion
    from sklearn.preprocessing import FunctionTransformer

    if isinstance(step, FeatureUnion):
        return any(_chooses_columns(part) for _, part in step.transformer_list)
    if steps := steps_of(step):
        return any(_chooses_columns(part) for _, part in steps)
    if isinstance(step, FunctionTransformer):
        return step.func is not None and not step.validate
    return isinstance(step, ColumnTransformer)


def _imputes(step: Any) -> bool:
    """Return whether a transformer fills all missing cells."""
    return hasattr(step, "transform") and (
        type(step).__module__.startswith("sklearn.impute")
        or type(step).__name__.endswith("Imputer")
    )


def _fills_nominal(step: Any) -> bool:
    return _params(step).get("strategy") in ("most_frequent", "constant")


def _params(estimator: Any) -> dict[str, Any]:
    try:
        params: dict[str, Any] = estimator.get_params(deep=False)
    except Exception:
        # any class may raise anything
        return {}
    return params


def _all_params(estimator: Any) -> dict[str, Any]:
    try:
        params: dict[str, Any] = estimator.get_params(deep=True)
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


_QUIET: dict[str, tuple[tuple[frozenset[str], dict[str, Any]], ...]] = {
    "lightgbm": ((frozenset({"verbose", "verbosity"}), {"verbose": -1}),),
    "catboost": (
        (
            frozenset({"verbose", "silent", "logging_level", "verbose_eval"}),
            {"verbose": False},
        ),
        (frozenset({"allow_writing_files", "train_dir"}), {"allow_writing_files": False}),
    ),
}
"""For each package: the user's parameters, and what to set if the user set none of them."""


def quiet(estimator: Any) -> Any:
    """Return the estimator, or a copy that neither prints nor writes files while it fits."""
    if not hasattr(estimator, "get_params"):
        return estimator
    inner = {
        f"{name}__": part
        for name, part in estimator.get_params(deep=True).items()
        if hasattr(part, "get_params") and not isinstance(part, type)
    }
    params: dict[str, Any] = {}
    for prefix, part in {"": estimator, **inner}.items():
        for by_user, silent in _QUIET.get(package(part), ()):
            if not by_user & set(part.get_params(deep=False)):
                params |= {f"{prefix}{name}": value for name, value in silent.items()}
    return copy_of(estimator).set_params(**params) if params else estimator


# What was prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation(Presented):
    """How the columns were prepared for one learner.

    - `one_of_n`: Nominal columns that became 1-of-n inputs.
    - `filled`: Missing numbers that took the mean of the training rows.
    - `zeros`: Missing nominal cells whose 1-of-n inputs are all zero.
    - `modes`: Missing nominal cells that took the most frequent value of the training rows.
    - `words`: Missing nominal cells that count as a separate value.
    - `form`: The form in which the rows were passed, if not the declared one.
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
    zeros: int = 0
    modes: int = 0
    words: int = 0
    form: str = ""
    codes: bool = False
    held_out: bool = False
    itself: bool = False

    @property
    def columns_changed(self) -> bool:
        """True if bestofk changed columns or filled numbers."""
        return not self.itself and bool(self.one_of_n or self.filled)

    def explain(self) -> str:
        """Describe the preparation briefly."""
        parts = []
        if self.one_of_n:
            zeros = f" ({_cells(self.zeros)} as zeros)" if self.zeros else ""
            parts.append(f"{self.one_of_n:,} column{'s' * (self.one_of_n != 1)} 1-of-n{zeros}")
        if self.filled:
            parts.append(f"{_cells(self.filled)} filled by the training mean")
        if self.modes:
            parts.append(f"{_cells(self.modes)} filled by the most frequent training value")
        if self.words:
            parts.append(
                f"{_cells(self.words)} as {'a ' * (self.words == 1)}separate "
                f"value{'s' * (self.words != 1)}"
            )
        if self.form:
            parts.append(self.form)
        if self.codes:
            parts.append("labels as codes")
        if self.held_out:
            parts.append(f"{VALIDATION_SHARE:.0%} of the training rows held out for early stopping")
        return ", ".join(parts) or "none"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the description as strict JSON."""
        return {**asdict(self), "text": self.explain()}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Preparation:
        """Read what `to_dict` wrote; raise ValueError if a field has a wrong type."""
        known = {name: fields[name] for name in cls.__dataclass_fields__ if name in fields}
        preparation = cls(**known)
        check_fields(preparation)
        return preparation


def sentences(done: Mapping[str, Mapping[str, Preparation]]) -> list[str]:
    """Describe the preparation in one sentence per data set that needed one.

    Examples
    --------
    >>> sentences({"horse": {"svm": Preparation(one_of_n=3), "c4.5": Preparation()}})
    ['Preparation inside the folds: 3 columns 1-of-n for svm; none for c4.5.']
    """
    prepared = {name: by for name, by in done.items() if any(map(_is_some, by.values()))}
    texts = []
    for name, by_learner in list(prepared.items())[:MAX_LISTED_DATASETS]:
        of_data = f" of {name}" if len(done) > 1 else ""
        texts.append(f"Preparation inside the folds{of_data}: {_by_learner(by_learner)}.")
    more = len(prepared) - len(texts)
    if more > 0:
        texts.append(
            f"Preparation inside the folds of {more} more data set{'s' * (more != 1)}: see the "
            "JSON."
        )
    return texts


def _is_some(preparation: Preparation) -> bool:
    return preparation != Preparation(itself=preparation.itself)


def _by_learner(by_learner: Mapping[str, Preparation]) -> str:
    groups: dict[tuple[bool, str], list[str]] = {}
    for learner, preparation in by_learner.items():
        itself = _is_some(preparation) and preparation.itself
        groups.setdefault((itself, preparation.explain()), []).append(learner)
    parts = [
        f"{text} {'by' if itself else 'for'} {joined(names)}{' itself' * itself}"
        for (itself, text), names in sorted(groups.items(), key=lambda item: item[0][1] == "none")
    ]
    return "; ".join(parts)


def _cells(count: int) -> str:
    return f"{count:,} missing cell{'s' * (count != 1)}"


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
    >>> from bestofk.data import as_dataset
    >>> from sklearn.svm import SVC
    >>> data = as_dataset(pd.DataFrame({"colour": ["red", "blue"] * 3}), [0, 1] * 3)
    >>> ready = ready_learner(SVC(), data)
    >>> ready.form, ready.done.explain()
    ('frame', '1 column 1-of-n')
    """
    from bestofk.learners.registry import behind_columns, check_estimator_like

    check_estimator_like(estimator, "learner")
    if hasattr(estimator, "fit_encoded"):
        return ReadyLearner(estimator=estimator, form="encoded", done=_by_itself(estimator, data))
    undeclared = not declares(estimator)
    if undeclared:
        estimator = with_validation(quiet(estimator))
    codes = data.task == "classification" and needs_codes(estimator)
    done = Preparation(codes=codes and not are_codes(data), held_out=_holds_out(estimator))
    if data.whole:
        ready = Adapted(estimator, codes=True) if codes else estimator
        return ReadyLearner(estimator=ready, form="given", done=done)
    if is_plain(data):
        ready = _on_numbers(estimator, data, undeclared=undeclared, codes=codes, done=done)
        if fill_always and ready.form == "array" and not accepted_input(estimator).missing:
            return replace(ready, estimator=_behind_means(ready.estimator))
        return ready
    accepted = accepted_input(estimator)
    if accepted.columns:
        ready = Adapted(estimator, codes=True) if codes else estimator
        return ReadyLearner(estimator=ready, form="given", done=done)
    encode = bool(nominal_columns(data)) and not accepted.categories
    impute = not accepted.missing and (fill_always or bool(_missing(data, "numeric")))
    ready = _with_text(estimator, data, accepted, codes=codes, undeclared=undeclared and not encode)
    if encode or impute:
        ready = behind_columns(ready, data.schema, encode=encode, impute=impute)
    missing_nominal = _missing(data, "nominal")
    return ReadyLearner(
        estimator=ready,
        form="frame",
        done=Preparation(
            one_of_n=len(nominal_columns(data)) if encode else 0,
            filled=_missing(data, "numeric") if impute else 0,
            zeros=missing_nominal if encode else 0,
            words=missing_nominal if accepted.cat_features and not encode else 0,
            codes=done.codes,
            held_out=done.held_out,
        ),
    )


def _holds_out(estimator: Any) -> bool:
    steps = steps_of(estimator)
    last = steps[-1][1] if steps else estimator
    return isinstance(last, EarlyStopped)


def _behind_means(estimator: Any) -> Any:
    """Return a pipeline that fills missing numbers of an array by the training means."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline

    means = SimpleImputer(strategy="mean", keep_empty_features=True)
    return Pipeline([("preparation", means), ("learner", copy_of(estimator))])


def _on_numbers(
    estimator: Any, data: DataSet, *, undeclared: bool, codes: bool, done: Preparation
) -> ReadyLearner:
    """Prepare an estimator for numbers without missing cells, as an array if possible."""
    by_name = accepted_input(estimator).columns if _has_inner_parts(estimator) else False
    form = "given" if by_name or (undeclared and data.named) else "array"
    rename = form == "given" and undeclared and not by_name and not plain_names(data.X.columns)
    if codes or rename:
        estimator = Adapted(estimator, codes=codes, rename=rename)
    return ReadyLearner(estimator=estimator, form=form, done=done)


def _with_text(
    estimator: Any, data: DataSet, accepted: AcceptedInput, *, codes: bool, undeclared: bool
) -> Any:
    """Pass nominal columns as text and rename columns if the estimator needs it."""
    nominal = tuple(nominal_columns(data))
    words = nominal if accepted.cat_features else ()
    texts = (
        tuple(c for c in nominal if not _is_text(data.X[c].cat.categories))
        if undeclared and not words
        else ()
    )
    rename = undeclared and not plain_names(data.X.columns)
    if not (words or texts or codes or rename):
        return estimator
    return Adapted(estimator, codes=codes, words=words, texts=texts, rename=rename)


def _is_text(categories: Any) -> bool:
    return all(isinstance(value, str) for value in categories)


def is_plain(data: DataSet) -> bool:
    """Return whether the data are numbers without missing cells."""
    return not data.whole and not nominal_columns(data) and not data.n_missing


def nominal_columns(data: DataSet) -> list[Any]:
    """Return the names of the nominal columns."""
    return [column for column, kind in data.kinds.items() if kind == "nominal"]


def refuse_preparation(learners: Mapping[str, Any], datasets: Iterable[DataSet]) -> None:
    """Raise an error if a learner needs its columns prepared."""
    for data in datasets:
        for name, estimator in learners.items():
            done = ready_learner(estimator, data).done
            if done.columns_changed:
                raise ArgumentError(
                    f"prepare is 'none', but {name} does not accept {data.name!r} as it is "
                    f"(it needs {done.explain()}): leave the learner out, prepare the columns in "
                    "your own pipeline that starts with a ColumnTransformer, or set ",
                    use(prepare="auto"),
                    ".",
                )


def _has_inner_parts(estimator: Any) -> bool:
    """Return whether the estimator has parts that could choose columns."""
    return any(hasattr(part, "fit") or isinstance(part, list) for part in vars(estimator).values())


def _missing(data: DataSet, kind: str) -> int:
    """Count the missing cells in columns of a kind."""
    columns = [column for column, column_kind in data.kinds.items() if column_kind == kind]
    return int(data.X[columns].isna().to_numpy().sum()) if columns and data.n_missing else 0


def _by_itself(estimator: Any, data: DataSet) -> Preparation:
    """Return what a built-in learner declares to do to columns."""
    if data.whole or is_plain(data):
        return Preparation()
    steps: frozenset[str] = getattr(estimator, "_own_preparation", frozenset())
    numeric, nominal = _missing(data, "numeric"), _missing(data, "nominal")
    counts: dict[str, Any] = {
        "one_of_n": len(nominal_columns(data)),
        "filled": numeric,
        "zeros": nominal,
        "modes": nominal,
    }
    return Preparation(itself=True, **{name: counts[name] for name in steps})


def are_codes(data: DataSet) -> bool:
    """Return whether the labels are already 0, 1, ..."""
    classes = np.asarray(data.classes.tolist())
    return classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes)))


def alternatives(estimator: Any, data: DataSet) -> Iterator[ReadyLearner]:
    """Yield other preparations for a learner whose first one failed, best first.

    There are none for learners that declare what they accept.

    Examples
    --------
    >>> import numpy as np
    >>> from bestofk.data import as_dataset
    >>> data = as_dataset(np.eye(4), ["a", "b"] * 2)
    >>> class Own:
    ...     __module__ = "own"
    ...     def fit(self, X, y): ...
    ...     def predict(self, X): ...
    ...     def get_params(self, deep=True): return {}
    >>> [ready.done.explain() for ready in alternatives(Own(), data)]
    ['labels as codes', 'rows as a data frame', 'rows as a data frame, labels as codes']
    """
    if hasattr(estimator, "fit_encoded") or declares(estimator):
        return
    first = ready_learner(estimator, data)
    candidates = [first]
    estimator = with_validation(quiet(estimator))
    if is_plain(data):
        form = "given" if first.form == "array" else "array"
        text = "rows as a data frame" if form == "given" else "rows as an array"
        done = Preparation(form=text)
        candidates.append(ReadyLearner(estimator=estimator, form=form, done=done))
    elif first.done.columns_changed:
        done = Preparation(form="columns as they are")
        candidates.append(ReadyLearner(estimator=estimator, form="given", done=done))
    codes = data.task == "classification" and not first.done.codes and not are_codes(data)
    for candidate in candidates:
        if candidate is not first:
            yield candidate
        if codes:
            yield replace(
                candidate,
                estimator=Adapted(candidate.estimator, codes=True),
                done=replace(candidate.done, codes=True),
            )
