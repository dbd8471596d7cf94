"""A learner behind what it does not do itself: labels as codes, categories as words, plain names.

Nothing that changes what is learnt: labels come back as they were, words stand for the same
categories, and columns are only called otherwise.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if

from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import joined
from bestofk._base.results import Presented
from bestofk.data.dataset import DataSet

MISSING_WORD = "(missing)"
"""Stands for a missing cell of a nominal column where a learner wants words."""
_PLAIN_NAME = re.compile(r"[\w .+*/%()@#-]+")


def plain_names(names: Any) -> bool:
    """Whether the names of columns hold no character that boosting packages refuse."""
    return all(isinstance(name, str) and _PLAIN_NAME.fullmatch(name) for name in names)


def _has(method: str) -> Any:
    def check(self: Any) -> bool:
        return hasattr(self.estimator, method)

    return available_if(check)


class Adapted(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A learner that is handed what it takes, and answers as it was asked.

    Parameters
    ----------
    estimator : estimator
        The learner.
    codes : bool
        It gets the labels of its training rows as 0, 1, ...; predictions are labels again.
    words : tuple of str
        Nominal columns that it gets as text, a missing cell as a word of its own; the argument
        ``cat_features`` of its `fit` names them.
    texts : tuple of str
        Nominal columns whose categories it gets as text, such as ``"True"`` for True.
    rename : bool
        The columns are called x1, x2, ...

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
        given = self._handed(X)
        if self.words and "cat_features" not in self._stated():
            weights["cat_features"] = [given.columns[X.columns.get_loc(c)] for c in self.words]
        self.estimator_.fit(given, labels, **weights)
        if not self.codes and hasattr(self.estimator_, "classes_"):
            self.classes_ = np.asarray(self.estimator_.classes_)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """What the learner predicts, in the labels that it was asked for."""
        predicted = np.asarray(self.estimator_.predict(self._handed(X)))
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
        """The probability of every class, columns as `classes_`."""
        return np.asarray(self.estimator_.predict_proba(self._handed(X)))

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """The learner's own scores."""
        return np.asarray(self.estimator_.decision_function(self._handed(X)))

    def _stated(self) -> dict[str, Any]:
        found: dict[str, Any] = self.estimator.get_params(deep=False)
        return {name: value for name, value in found.items() if value is not None}

    def _handed(self, X: Any) -> Any:
        if not (self.words or self.texts or self.rename):
            return X
        handed = X.copy()
        for column in self.texts:
            handed[column] = handed[column].cat.rename_categories(str)
        for column in self.words:
            cells = handed[column]
            handed[column] = cells.astype(object).where(cells.notna(), MISSING_WORD).map(str)
        if self.rename:
            handed.columns = [f"x{place + 1}" for place in range(handed.shape[1])]
        return handed

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        try:
            return get_tags(self.estimator)
        except Exception:
            # a class of another package need not have tags
            return super().__sklearn_tags__()


def copy_of(estimator: Any) -> Any:
    """An unfitted copy; of classes that scikit-learn's `clone` refuses, a deep one."""
    try:
        return clone(estimator)
    except Exception:
        # any class may raise anything while it is made
        from copy import deepcopy

        return deepcopy(estimator)


# What a learner declares to take: missing cells, categories, columns of its own choice.


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


# Learners that print or write files while they fit are asked not to, where nobody asked them to.


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
"""Package: settings any of which the user may have stated, and what is set where none is."""


def quiet(estimator: Any) -> Any:
    """The estimator, or a copy that keeps silent."""
    if not hasattr(estimator, "get_params"):
        return estimator
    wanted: dict[str, Any] = {}
    parts = {"": estimator, **{f"{name}__": part for name, part in _parts(estimator).items()}}
    for prefix, part in parts.items():
        for stated, silent in _QUIET.get(package(part), ()):
            if not stated & set(part.get_params(deep=False)):
                wanted |= {f"{prefix}{name}": value for name, value in silent.items()}
    if not wanted:
        return estimator
    return copy_of(estimator).set_params(**wanted)


def _parts(estimator: Any) -> dict[str, Any]:
    return {
        name: part
        for name, part in estimator.get_params(deep=True).items()
        if hasattr(part, "get_params") and not isinstance(part, type)
    }


# What was done to the rows inside the folds, for each learner: as a value and in words.


MOST_DATA_SETS = 3
"""So many data sets have a sentence of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation(Presented):
    """What one learner was given instead of the columns as they are.

    Attributes
    ----------
    one_of_n : int
        Nominal columns that became 1-of-n inputs.
    filled : int
        Missing numbers that took the mean of the training rows.
    zeros : int
        Missing nominal cells whose 1-of-n inputs are all zero.
    modes : int
        Missing nominal cells that took the most frequent value of the training rows.
    words : int
        Missing nominal cells that count as a value of their own.
    form : str
        In which form the rows were handed, where not in that which was declared.
    codes : bool
        Labels were handed as 0, 1, ...
    itself : bool
        The learner does it, as its description says.

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
    itself: bool = False

    @property
    def columns_changed(self) -> bool:
        """Whether we made other columns or numbers of what was given."""
        return not self.itself and bool(self.one_of_n or self.filled)

    def explain(self) -> str:
        """What was done, in a few words."""
        said = []
        if self.one_of_n:
            blank = f" ({_cells(self.zeros)} as zeros)" if self.zeros else ""
            said.append(f"{_columns(self.one_of_n)} 1-of-n{blank}")
        if self.filled:
            said.append(f"{_cells(self.filled)} filled by the training mean")
        if self.modes:
            said.append(f"{_cells(self.modes)} filled by the most frequent training value")
        if self.words:
            said.append(
                f"{_cells(self.words)} as a value of {'its' if self.words == 1 else 'their'} own"
            )
        if self.form:
            said.append(self.form)
        if self.codes:
            said.append("labels as codes")
        return ", ".join(said) or "none"

    def to_dict(self) -> dict[str, Any]:
        """For strict JSON, with the words."""
        return {**asdict(self), "said": self.explain()}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Preparation:
        """What `to_dict` wrote; fields of later versions are left out."""
        return cls(**{name: found[name] for name in cls.__dataclass_fields__ if name in found})


def sentences(done: Mapping[str, Mapping[str, Preparation]]) -> list[str]:
    """By data set and learner: a sentence per data set, none where nothing was done.

    Examples
    --------
    >>> sentences({"horse": {"svm": Preparation(one_of_n=3), "c4.5": Preparation()}})
    ['Preparation inside the folds: 3 columns 1-of-n for svm; none for c4.5.']
    """
    told = {name: by for name, by in done.items() if any(map(_is_some, by.values()))}
    found = []
    for name, by_learner in list(told.items())[:MOST_DATA_SETS]:
        where = f" of {name}" if len(done) > 1 else ""
        found.append(f"Preparation inside the folds{where}: {_by_words(by_learner)}.")
    more = len(told) - len(found)
    if more > 0:
        found.append(
            f"Preparation inside the folds of {more} more data set{'s' * (more != 1)}: see the "
            "JSON."
        )
    return found


def _is_some(one: Preparation) -> bool:
    return one != Preparation(itself=one.itself)


def _by_words(by_learner: Mapping[str, Preparation]) -> str:
    groups: dict[tuple[bool, str], list[str]] = {}
    for learner, one in by_learner.items():
        some = _is_some(one)
        groups.setdefault((some and one.itself, one.explain()), []).append(learner)
    done = [(key, names) for key, names in groups.items() if key[1] != "none"]
    none = [names for key, names in groups.items() if key[1] == "none"]
    said = [
        f"{words} {'by' if itself else 'for'} {_names(names)}{' itself' * itself}"
        for (itself, words), names in done
    ]
    return "; ".join([*said, *(f"none for {_names(names)}" for names in none)])


def _names(names: Sequence[str]) -> str:
    return joined(list(names))


def _columns(count: int) -> str:
    return f"{count:,} column{'s' * (count != 1)}"


def _cells(count: int) -> str:
    return f"{count:,} missing cell{'s' * (count != 1)}"


# A learner made ready for a data set: what is fitted, in which form it gets the rows, and why.


PREPARE = ("auto", "none")
"""What may be asked of the preparation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyLearner:
    """What is fitted inside the folds of a data set.

    Attributes
    ----------
    estimator
        The learner, behind its preparation where it needs one.
    form : str
        How it gets the rows: ``"encoded"``, ``"array"``, ``"frame"`` (settled columns) or
        ``"given"`` (as they came).
    done : Preparation
        What was done.
    """

    estimator: Any
    form: str
    done: Preparation


def ready_learner(estimator: Any, data: DataSet) -> ReadyLearner:
    """`estimator` made ready for `data`.

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
    stranger = not declares(estimator)
    if stranger:
        estimator = quiet(estimator)
    codes = data.task == "classification" and needs_codes(estimator)
    done = Preparation(codes=codes and not are_codes(data))
    if data.whole:
        ready = Adapted(estimator, codes=True) if codes else estimator
        return ReadyLearner(estimator=ready, form="given", done=done)
    if is_plain(data):
        return _on_numbers(estimator, data, stranger=stranger, codes=codes, done=done)
    declared = takes(estimator)
    if declared.columns:
        ready = Adapted(estimator, codes=True) if codes else estimator
        return ReadyLearner(estimator=ready, form="given", done=done)
    encode = bool(nominal_columns(data)) and not declared.categories
    impute = not declared.missing and bool(_missing(data, numeric=True))
    inner = _with_words(estimator, data, declared, codes=codes, stranger=stranger and not encode)
    if encode or impute:
        ready = behind_columns(inner, data.schema, encode=encode, impute=impute)
    else:
        ready = inner
    return ReadyLearner(
        estimator=ready,
        form="frame",
        done=Preparation(
            one_of_n=len(nominal_columns(data)) if encode else 0,
            filled=_missing(data, numeric=True) if impute else 0,
            zeros=_missing(data, numeric=False) if encode else 0,
            words=_missing(data, numeric=False) if declared.words and not encode else 0,
            codes=done.codes,
        ),
    )


def _on_numbers(
    estimator: Any, data: DataSet, *, stranger: bool, codes: bool, done: Preparation
) -> ReadyLearner:
    """Numbers without gaps: any estimator takes them, most of them as an array."""
    by_name = takes(estimator).columns if _holds_others(estimator) else False
    form = "given" if by_name or (stranger and data.named) else "array"
    rename = form == "given" and stranger and not by_name and not plain_names(data.X.columns)
    if codes or rename:
        estimator = Adapted(estimator, codes=codes, rename=rename)
    return ReadyLearner(estimator=estimator, form=form, done=done)


def _with_words(
    estimator: Any, data: DataSet, declared: Takes, *, codes: bool, stranger: bool
) -> Any:
    nominal = tuple(nominal_columns(data))
    words = nominal if declared.words else ()
    texts = (
        tuple(c for c in nominal if not _is_text(data.X[c].cat.categories))
        if stranger and not words
        else ()
    )
    rename = stranger and not plain_names(data.X.columns)
    if not (words or texts or codes or rename):
        return estimator
    return Adapted(estimator, codes=codes, words=words, texts=texts, rename=rename)


def _is_text(categories: Any) -> bool:
    return all(isinstance(value, str) for value in categories)


def is_plain(data: DataSet) -> bool:
    """Numbers without gaps."""
    return not data.whole and not nominal_columns(data) and not data.n_missing


def nominal_columns(data: DataSet) -> list[Any]:
    """The names of the nominal columns."""
    return [column for column, kind in data.kinds.items() if kind == "nominal"]


def refuse_preparation(learners: Mapping[str, Any], datasets: Iterable[DataSet]) -> None:
    """Raise where a learner would need its columns prepared."""
    for data in datasets:
        for name, estimator in learners.items():
            done = ready_learner(estimator, data).done
            if done.columns_changed:
                raise ArgumentError(
                    f"prepare is 'none', and {name} does not take {data.name!r} as it is "
                    f"({done.explain()} would be needed): leave the learner out, give it a "
                    "preparation of its own (a pipeline that starts with a ColumnTransformer), or "
                    "say prepare='auto' (on the command line --prepare auto)."
                )


def _holds_others(estimator: Any) -> bool:
    """Whether there is anything inside that could choose columns."""
    return any(hasattr(part, "fit") or isinstance(part, list) for part in vars(estimator).values())


def _missing(data: DataSet, *, numeric: bool) -> int:
    kind = "numeric" if numeric else "nominal"
    columns = [column for column, found in data.kinds.items() if found == kind]
    return int(data.X[columns].isna().to_numpy().sum()) if columns and data.n_missing else 0


def _by_itself(estimator: Any, data: DataSet) -> Preparation:
    """What a learner of ours does to columns, by its own account."""
    if data.whole or is_plain(data):
        return Preparation()
    own: frozenset[str] = getattr(estimator, "_own_preparation", frozenset())
    numbers, words = _missing(data, numeric=True), _missing(data, numeric=False)
    counts: dict[str, Any] = {
        "one_of_n": len(nominal_columns(data)), "filled": numbers, "zeros": words, "modes": words,
    }  # fmt: skip
    return Preparation(itself=True, **{name: counts[name] for name in own})


def are_codes(data: DataSet) -> bool:
    """Whether the labels are 0, 1, ... as they are."""
    classes = np.asarray(data.classes.tolist())
    return classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes)))


# Other ways to hand the rows to a learner that declares nothing and failed the first way.


MARK = "Preparation: "
"""Begins the note of a fit that was made otherwise than declared."""


def otherwise(estimator: Any, data: DataSet) -> Iterator[ReadyLearner]:
    """The other ways, best first; none for learners that declare what they take.

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
    >>> [way.done.explain() for way in otherwise(Own(), data)]
    ['labels as codes', 'rows as a data frame', 'rows as a data frame, labels as codes']
    """
    if hasattr(estimator, "fit_encoded") or declares(estimator):
        return
    first = ready_learner(estimator, data)
    ways = [first]
    estimator = quiet(estimator)
    if is_plain(data):
        form = "given" if first.form == "array" else "array"
        said = "rows as a data frame" if form == "given" else "rows as an array"
        ways.append(ReadyLearner(estimator=estimator, form=form, done=Preparation(form=said)))
    elif first.done.columns_changed:
        came = Preparation(form="columns as they came")
        ways.append(ReadyLearner(estimator=estimator, form="given", done=came))
    codes = data.task == "classification" and not first.done.codes and not are_codes(data)
    for number, way in enumerate(ways):
        if number:
            yield way
        if codes:
            yield replace(
                way,
                estimator=Adapted(way.estimator, codes=True),
                done=replace(way.done, codes=True),
            )
