"""A learner made ready for a data set: what is fitted, in which form it gets the rows, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestofk.data.dataset import DataSet
from bestofk.errors import ArgumentError
from bestofk.learners.preparation.account import Preparation
from bestofk.learners.preparation.adapted import Adapted, plain_names
from bestofk.learners.preparation.declared import Takes, declares, needs_codes, takes
from bestofk.learners.preparation.quiet import quiet

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
    from bestofk.learners.for_data import behind_columns, check_estimator_like

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
