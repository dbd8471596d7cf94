"""Losses of models on one test set, from their predictions, and decisions about them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from bestofk._base.checks import Floats, RandomState
from bestofk._base.errors import ArgumentError, BestOfKError, UnknownNameError, use
from bestofk._base.formatting import counted, joined, shortened
from bestofk.data.cells import as_pandas, refuse_other_order
from bestofk.data.schema import encode_labels, infer_task, is_categorical
from bestofk.decide.compare_scores import decide
from bestofk.decide.preference import PreferenceLike
from bestofk.decide.problem import Subject
from bestofk.decide.result import Result
from bestofk.decide.settings import Settings, check_learners
from bestofk.losses.columns import find
from bestofk.losses.losses import Scores
from bestofk.losses.predictions import model_columns
from bestofk.run.cells import Cell, CellTable, unpack_predictions
from bestofk.run.fit import FittedModel, HeldOutRows, Rows, metric_arguments
from bestofk.run.live import Live
from bestofk.run.metrics import LOSSES, Labels, Loss, as_loss, codes_in, loss_shown
from bestofk.run.task import describe_error
from bestofk.splits.design import Design
from bestofk.splits.splits import Labelling, column_of
from bestofk.splits.user_splits import splits_of_pairs
from bestofk.stats.pairwise.one_test_set import auc_components, jackknife_components

MAX_UNITS = 1000
"""Leave out single rows (or groups) up to this number; random blocks of them beyond it."""
N_BLOCKS = 500
ROUGH_METRICS = ("neg_median_absolute_error", "max_error", "neg_max_error")
"""Metrics that depend on single rows, for which the jackknife fails."""
MEANS = {
    "neg_mean_absolute_error": "absolute",
    "neg_mean_squared_error": "squared",
    "neg_log_loss": "log-loss",
}
"""Scorers that are the mean of a built-in loss over the rows."""
_FIELDS = {"predict": "labels", "predict_proba": "probabilities", "decision_function": "scores"}


def _known(field: str) -> Any:
    return available_if(lambda self: getattr(self, field) is not None)


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions(BaseEstimator):  # type: ignore[misc]
    """The predictions of one model for some rows; for scorers, a fitted model of these rows.

    - `classes`: All classes in order; None for numbers.
    - `labels` (n,): Predicted labels or numbers.
    - `probabilities` (n, classes).
    - `scores` (n,): Scores of the second of two classes.
    """

    classes: Labels | None = None
    labels: Any = None
    probabilities: Any = None
    scores: Any = None

    @property
    def ranking(self) -> Floats | None:
        """Numbers that rank the rows by the second of two classes; None if there are none."""
        if self.scores is None and self.probabilities is not None:
            return np.asarray(self.probabilities[:, 1])
        return self.scores  # type: ignore[no-any-return]

    def for_scorer(self) -> tuple[Any, Any]:
        """Return the model; its rows are known."""
        return self, None

    @property
    def classes_(self) -> Any:
        """The classes in the order that scorers expect."""
        return np.sort(np.asarray(self.classes))

    @_known("labels")  # type: ignore[untyped-decorator]
    def predict(self, _rows: Any) -> Any:
        """Return the labels."""
        return self.labels

    @_known("probabilities")  # type: ignore[untyped-decorator]
    def predict_proba(self, _rows: Any) -> Any:
        """Return the probabilities, by sorted class."""
        return self.probabilities[:, np.argsort(np.asarray(self.classes))]

    @_known("scores")  # type: ignore[untyped-decorator]
    def decision_function(self, _rows: Any) -> Any:
        """Return the scores of the second of the sorted classes."""
        first, second = np.asarray(self.classes)
        return self.scores if first < second else -self.scores

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor" if self.classes is None else "classifier"
        tags.classifier_tags = None if self.classes is None else ClassifierTags()
        return tags


RowsT = TypeVar("RowsT", HeldOutRows, Predictions)


def some_of(rows: RowsT, chosen: npt.NDArray[Any] | slice) -> RowsT:
    """Return some of the rows, or their predictions."""
    columns = {one.name: getattr(rows, one.name) for one in fields(rows) if one.name != "classes"}
    return replace(
        rows, **{name: column[chosen] for name, column in columns.items() if column is not None}
    )


def design_kind(loss: Loss, classes: Labels | None) -> str | None:
    """Return the kind of design of a metric on one test set; None if it has none."""
    if loss.needs == "costs" or loss.reads_model or loss.name in ROUGH_METRICS:
        return None
    if _row_loss(loss) is not None:
        return "test-set"
    two = classes is not None and len(classes) == 2
    return "test-set-auc" if loss.name in ("auc", "roc_auc") and two else "test-set-metric"


def refuse_untestable(loss: Loss) -> None:
    """Raise an error if the metric cannot be tested on one test set."""
    if design_kind(loss, None) is None:
        rows = "single rows" if loss.name in ROUGH_METRICS else "more than the predictions"
        raise ArgumentError(
            f"metric {loss.name!r} depends on {rows}, so one test set does not show how much it "
            "would vary: ",
            use(cv="10x10"),
            " measures it by cross-validation.",
        )


def _row_loss(loss: Loss) -> Loss | None:
    """Return the loss if it is a mean over the rows; None if it is not."""
    loss = LOSSES[MEANS[loss.name]] if loss.name in MEANS else loss
    return None if loss.each is None else loss


def loss_of(loss: Loss, rows: HeldOutRows, predictions: Predictions) -> float:
    """Return the loss of predictions for some rows."""
    with warnings.catch_warnings():
        # an empty class gives a precision of 0, with a warning
        warnings.simplefilter("ignore")
        try:
            return loss.value(*metric_arguments(loss, rows, predictions), weights=rows.weights)
        except BestOfKError:
            raise
        except Exception as raised:  # a user's metric may raise anything
            reason = describe_error(raised).rstrip(".")
            raise ArgumentError(
                f"metric {loss.name!r} cannot score these predictions ({reason})."
            ) from None


def unit_values(loss: Loss, rows: HeldOutRows, predictions: Predictions) -> Floats:
    """Return one value per unit of the test set, whose mean is the loss of the model."""
    each = _row_loss(loss)
    if each is not None:
        assert each.each is not None
        losses = each.each(*metric_arguments(each, rows, predictions))
        return by_unit(np.asarray(losses, dtype=np.float64), rows)
    if design_kind(loss, rows.classes) == "test-set-auc":
        positive, scores = metric_arguments(LOSSES["auc"], rows, predictions)
        return auc_components(positive, scores, sample_weight=rows.weights, groups=rows.groups)
    # jackknife components of any other metric
    unit_of = blocks(rows)
    left_out = alike = units = np.arange(int(unit_of.max()) + 1)
    if rows.groups is None and len(units) == len(unit_of):
        left_out, alike = _distinct(loss, rows, predictions)
    others = (unit_of != unit for unit in left_out)
    without = [loss_of(loss, some_of(rows, kept), some_of(predictions, kept)) for kept in others]
    value = loss_of(loss, rows, predictions)
    if not np.isfinite([value, *without]).all():
        raise ArgumentError(
            f"metric {loss.name!r} is not a finite number on all parts of the test set."
        )
    return jackknife_components(value, np.array(without)[alike])


def _distinct(
    loss: Loss, rows: HeldOutRows, predictions: Predictions
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return one of each kind of rows that the metric cannot tell apart, and the kind of each."""
    read = [getattr(predictions, _FIELDS[method]) for method in loss.methods or ("predict",)]
    columns = [
        np.unique(one, axis=0, return_inverse=True)[1].reshape(-1)
        for one in (rows.truth, rows.weights, *read)
        if one is not None
    ]
    _, first, alike = np.unique(
        np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True
    )
    return first, alike.reshape(-1)


def units_of(rows: HeldOutRows) -> npt.NDArray[np.int64]:
    """Return the independent unit of each row, from 0: the row, or its group."""
    if rows.groups is None:
        return np.arange(len(rows.truth))
    return np.unique(rows.groups.astype(str), return_inverse=True)[1].reshape(-1)


def by_unit(losses: Floats, rows: HeldOutRows) -> Floats:
    """Return the losses by unit, whose plain mean is the (weighted) mean over rows."""
    if rows.weights is None and rows.groups is None:
        return losses
    weights = np.ones(len(losses)) if rows.weights is None else rows.weights
    sums = np.bincount(units_of(rows), weights=losses * weights)
    shares: Floats = sums * len(sums) / weights.sum()
    return shares


def blocks(rows: HeldOutRows) -> npt.NDArray[np.int64]:
    """Return the block of each row that the jackknife leaves out together.

    A block is one row or group; of more than `MAX_UNITS` a random set of about equal size.
    """
    units = units_of(rows)
    count = int(units.max()) + 1
    if count <= MAX_UNITS:
        return units
    shuffled = np.random.default_rng(0).permutation(count)
    return np.asarray(shuffled % N_BLOCKS)[units]


def n_units(loss: Loss, rows: HeldOutRows) -> int:
    """Return the number of values that `unit_values` returns."""
    jackknife = design_kind(loss, rows.classes) == "test-set-metric"
    return int((blocks(rows) if jackknife else units_of(rows)).max()) + 1


def held_out_losses(
    loss: Loss,
    rows: HeldOutRows,
    predictions: Mapping[str, Sequence[Predictions]],
    *,
    dataset: str = "test set",
    account: Sequence[str] = (),
    **design: Any,
) -> Scores:
    """Return the table of losses on one test set.

    - `loss`: The metric.
    - `rows`: The rows.
    - `predictions`: For every model its predictions, one for each repetition.
    - `dataset`, `account`: As for `Scores`.
    - `**design`: More facts for the design, such as ``n_train``.
    """
    refuse_untestable(loss)
    table = []
    for name, repeated in predictions.items():
        try:
            table.append(np.stack([unit_values(loss, rows, one) for one in repeated], axis=-1))
        except ArgumentError as refusal:
            raise ArgumentError(f"{name}: ", *refusal.args) from None
    units, repetitions = table[0].shape
    # blocks of rows and groups are both fewer than the rows
    grouped = rows.groups is not None or units < len(rows.truth)
    return Scores(
        np.stack(table)[:, np.newaxis, np.newaxis],
        dims=("learner", "dataset", "run", "fold", "repetition"),
        learners=list(predictions),
        datasets=[dataset],
        design=Design(
            kind=str(design_kind(loss, rows.classes)),
            folds=units,
            repetitions=repetitions,
            n_test=(1,),
            groups=units if grouped else None,
            **design,
        ),
        loss_name=loss_shown(loss.name),
        account=account,
    )


# The test set of a comparison


def one_split_design(live: Live) -> tuple[Design, bool]:
    """Return the design of the units of the only test set, and whether they are right or wrong."""
    refuse_untestable(live.metric)
    rows = _test_set(live)
    plain = rows.weights is None and rows.groups is None
    design = Design(
        kind=str(design_kind(live.metric, rows.classes)), folds=n_units(live.metric, rows)
    )
    return design, live.metric.name == "zero-one" and plain


def _test_set(live: Live) -> HeldOutRows:
    return Rows(live.datasets[0]).held_out(live.splits[0].test(0, 0))


def instance_losses(
    live: Live,
    table: CellTable,
    learners: Sequence[int],
    chosen: npt.NDArray[np.bool_] | slice = slice(None),
) -> Scores | None:
    """Return losses of the kept learners on the (chosen) instances of the one test set.

    Return None if there are several data sets, or if the metric cannot be tested on one test set.
    """
    loss, data, splits = live.metrics[table.metric], live.datasets[0], live.splits[0]
    rows = _test_set(live)
    if len(live.datasets) > 1 or design_kind(loss, rows.classes) is None:
        return None
    rows = some_of(rows, chosen)
    predictions: dict[str, list[Predictions]] = {}
    for learner in learners:
        repeated = predictions.setdefault(live.record.names[learner], [])
        for repetition in range(live.record.repetitions):
            cell = Cell(learner=learner, dataset=0, run=0, fold=0, repetition=repetition)
            found = table.get(cell)
            if found is None or found.predictions is None:
                return None
            repeated.append(some_of(predictions_in(found.predictions, rows.classes), chosen))
    units = n_units(loss, rows)
    in_groups = f" in {units} groups" if data.groups is not None else ""
    return held_out_losses(
        loss,
        rows,
        predictions,
        dataset=data.name,
        n_train=(len(splits.train(0, 0)),),
        stratified=splits.design.stratified,
        account=(
            f"Measured by bestofk on one test set of {len(rows.truth)} rows{in_groups} "
            f"({splits.spec}).",
        ),
    )


def predictions_in(packed: bytes, classes: Labels | None) -> Predictions:
    """Return the predictions that `pack_predictions` compressed, as labels or numbers."""
    predicted, probabilities, scores = unpack_predictions(packed)
    labels = predicted if classes is None else classes[predicted]
    return Predictions(classes=classes, labels=labels, probabilities=probabilities, scores=scores)


# Decisions about predictions


def compare_predictions(
    y_true: Any,
    predictions: Any,
    *,
    models: Sequence[str] | None = None,
    scoring: Any = None,
    folds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    task: str = "auto",
    prefer: PreferenceLike = None,
    margin: float | None = None,
    alpha: float = 0.05,
    test: str | Callable[..., Any] = "auto",
    random_state: RandomState = 0,
    settings: Settings | None = None,
) -> Result:
    """Say which model to use, from the predictions of several models for one test set.

    The decision is about these fitted models on rows like those of the test set. It is not about
    the learners: other training rows would lead to other models (see `compare`). Predictions of a
    cross-validation come from several models: state their `folds`.

    Parameters
    ----------
    y_true : array of shape (n,), or name of a column
        True labels or numbers. A name refers to a column of `predictions`.
    predictions : mapping of name to array, DataFrame, or path of a table
        Predictions of every model: labels, numbers, probabilities or scores of the second class
        (n,), or probabilities of all classes in sorted order (n, classes). In a data frame or a
        file every other column is a model.
    models : list of str, optional
        The models to compare, if `predictions` holds other columns.
    scoring : str, callable or cost matrix, optional
        As for `compare`. By default ``"zero-one"`` for labels and ``"squared"`` for numbers.
    folds : array of shape (n,) or name of a column, optional
        The test fold of each row, if the predictions come from one run of cross-validation, such as
        scikit-learn's `cross_val_predict`. The losses of the folds are then compared, and the
        decision is about the learners.
    groups : array of shape (n,) or name of a column, optional
        Rows of one group (a patient, a document) may depend on each other; groups are then the
        units of the test.
    sample_weight : array of shape (n,) or name of a column, optional
        Weight of each row in the metric.
    task : {"auto", "classification", "regression"}
        Whether the target holds labels or numbers.
    prefer, margin, alpha, test, random_state
        As for `compare_scores`.
    settings : Settings, optional
        Rare options of the decision, such as the correction.

    Returns
    -------
    Result

    Notes
    -----
    A metric that is a mean over the rows (accuracy, log-loss, absolute error, costs) is tested by
    the losses of the rows: McNemar's test for right and wrong answers, else the default test for
    one test set. The AUC is tested by DeLong's test, and any other metric by its jackknife
    standard error (``jackknife-t``). With `folds`, the metric of every fold is tested by the
    default test for one run of k folds: the models of two folds share most of their training rows,
    so their losses are not independent.

    Examples
    --------
    >>> import bestofk as bk
    >>> y = [0, 1] * 20
    >>> good, bad = [0, 1] * 18 + [1, 0] * 2, [0, 1] * 10 + [1, 0] * 10
    >>> decision = bk.compare_predictions(y, {"good": good, "bad": bad})
    >>> decision.recommended, decision.test
    ('good', 'mcnemar')
    >>> bk.compare_predictions(y, {"good": good, "bad": bad}, scoring="f1").test
    'jackknife-t'
    """
    columns, row_values = _columns(
        predictions,
        {"y_true": y_true, "folds": folds, "groups": groups, "sample_weight": sample_weight},
    )
    for name, values in {**columns, **row_values}.items():
        refuse_other_order(row_values["y_true"], values, name, "y_true")
    fold = find(list(columns), ["fold"]).get("fold")
    if fold and folds is None and fold not in (models or ()) and len(set(columns[fold])) > 1:
        raise ArgumentError(
            f"predictions hold a column {fold!r}, so several models of each learner made them: "
            "pass ",
            use(folds=fold),
            ".",
        )
    for name in models or ():
        if name not in columns:
            raise UnknownNameError("model", name, list(columns))
    if models is None:
        models = model_columns(columns)
    unused = [name for name in columns if name not in models]
    truth = _values(row_values["y_true"], "y_true")
    n = len(truth)
    classification = infer_task(truth, task)[0] == "classification"
    arrays = {name: _values(columns[name], name, n, axes=(1, 2)) for name in models}
    classes = _classes(truth, arrays.values()) if classification else None
    loss = as_loss(scoring, classes=classes)
    read = {name: [_read_predictions(name, array, loss, classes)] for name, array in arrays.items()}
    rows = _test_rows(truth, classes, row_values)
    fold_of = row_values["folds"]
    return _decide(
        loss, rows, read, settings=settings, prefer=prefer, margin=margin, alpha=alpha, test=test,
        random_state=random_state, unused=unused,
        fold_of=None if fold_of is None else column_of(fold_of, "folds", n),
    )  # fmt: skip


def compare_fitted(
    models: Any,
    X_test: Any,
    y_test: Any,
    *,
    scoring: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    prefer: PreferenceLike = None,
    margin: float | None = None,
    alpha: float = 0.05,
    test: str | Callable[..., Any] = "auto",
    random_state: RandomState = 0,
    settings: Settings | None = None,
) -> Result:
    """Say which of several fitted models to use, from one test set.

    Parameters
    ----------
    models : mapping of name to estimator, or list of estimators or (name, estimator) pairs
        Fitted models with `predict`. The AUC needs `decision_function` or `predict_proba`.
    X_test, y_test
        Rows that trained none of the models, and their true labels or numbers; or a data frame
        and the name of its target column.
    scoring, groups, sample_weight, prefer, margin, alpha, test, random_state, settings
        As for `compare_predictions`.

    Returns
    -------
    Result
        About these fitted models, not about the learners; `compare` compares learners.

    Examples
    --------
    >>> import bestofk as bk
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"bayes": GaussianNB().fit(X[:300], y[:300]),
    ...           "prior": DummyClassifier().fit(X[:300], y[:300])}
    >>> decision = bk.compare_fitted(models, X[300:], y[300:], scoring="roc_auc")
    >>> decision.recommended, decision.test
    ('bayes', 'delong')
    """
    row_values = {"y_true": y_test, "groups": groups, "sample_weight": sample_weight}
    for role, name in row_values.items():
        if isinstance(name, str):
            if name not in getattr(X_test, "columns", ()):
                raise ArgumentError(f"{role} names {name!r}, which is no column of X_test.")
            row_values[role], X_test = X_test[name], X_test.drop(columns=[name])
    for role, values in row_values.items():
        refuse_other_order(X_test, values, role, "X_test")
    named = _named_models(models)
    truth = _values(row_values["y_true"], "y_test")
    known = [model.classes_ for model in named.values() if hasattr(model, "classes_")]
    classes = None
    if known or infer_task(truth, "auto")[0] == "classification":
        classes = _classes(truth, (), known)
    rows = _test_rows(truth, classes, row_values)
    predictions = {
        name: [_predictions_of(name, model, X_test, rows)] for name, model in named.items()
    }
    return _decide(
        as_loss(scoring, classes=classes), rows, predictions,
        settings=settings, prefer=prefer, margin=margin, alpha=alpha, test=test,
        random_state=random_state,
    )  # fmt: skip


def _decide(
    loss: Loss,
    rows: HeldOutRows,
    predictions: Mapping[str, Sequence[Predictions]],
    *,
    settings: Settings | None,
    unused: Sequence[str] = (),
    fold_of: Labels | None = None,
    **options: Any,
) -> Result:
    from bestofk.run.compare import _combined

    names = list(predictions)
    if len(names) < 2:
        raise ArgumentError(
            f"predictions must hold at least 2 models to compare; got {len(names)} "
            f"({joined(names)})."
        )
    chosen = _combined(settings or Settings(), "settings", **options)
    check_learners(chosen, names)
    sentences = [f"Predictions of {counted(len(names), 'model')} for {len(rows.truth)} rows."]
    if unused:
        sentences.append(f"Not used: {shortened(list(map(repr, unused)), 12)}.")
    if fold_of is not None:
        return Result(decide(_fold_losses(loss, rows, predictions, fold_of, sentences), chosen))
    losses = held_out_losses(loss, rows, predictions, account=sentences)
    subject = Subject(noun="model", design=_design_words(losses, rows))
    return Result(decide(losses, chosen, subject=subject))


def _fold_losses(
    loss: Loss,
    rows: HeldOutRows,
    predictions: Mapping[str, Sequence[Predictions]],
    fold_of: Labels,
    account: Sequence[str],
) -> Scores:
    """Return the losses of the folds of one run of cross-validation."""
    refuse_untestable(loss)
    n, names = len(fold_of), np.unique(fold_of)
    if len(names) < 2:
        raise ArgumentError(f"folds must name at least 2 folds; all {n} rows are in {names[0]!r}.")
    tested = [np.flatnonzero(fold_of == name) for name in names]
    pairs = [(np.setdiff1d(np.arange(n), test), test) for test in tested]
    groups = None if rows.groups is None else Labelling.of(rows.groups, "groups")
    design = splits_of_pairs(pairs, n, groups, notes=()).design
    return Scores(
        [
            [loss_of(loss, some_of(rows, test), some_of(one, test)) for test in tested]
            for (one,) in predictions.values()
        ],
        dims=("learner", "fold"),
        learners=list(predictions),
        design=design,
        loss_name=loss_shown(loss.name),
        account=account,
    )


def _design_words(losses: Scores, rows: HeldOutRows) -> str:
    """Describe the test set, if blocks of rows are the units."""
    units, n = losses.design.folds, len(rows.truth)
    if losses.design.groups is None:
        return ""
    if rows.groups is not None and units == int(units_of(rows).max()) + 1:
        return f"one test set of {n} rows in {units} groups"
    what = "rows" if rows.groups is None else "groups"
    return f"one test set of {n} rows, with {what} in {units} random blocks"


def _columns(predictions: Any, roles: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the predictions by model, and the values of the roles that name a column."""
    if isinstance(predictions, str | os.PathLike):
        from bestofk.data.tables.reading import read_table

        table = read_table(predictions)
        predictions = {
            name: table.numbers(name) if table.is_numeric(name) else table.text(name)
            for name in table.columns
        }
    predictions = as_pandas(predictions, "predictions")
    if not (hasattr(predictions, "columns") or isinstance(predictions, Mapping)):
        raise ArgumentError(
            "predictions must be a mapping of model to predictions, a data frame with one column "
            f"per model, or a file; got {type(predictions).__name__}."
        )
    columns = {str(name): values for name, values in predictions.items()}
    named = {role: name for role, name in roles.items() if isinstance(name, str)}
    for name in named.values():
        if name not in columns:
            raise UnknownNameError("column", name, list(columns))
    values = {**roles, **{role: columns[name] for role, name in named.items()}}
    return {name: columns[name] for name in columns if name not in named.values()}, values


def _values(
    values: Any, what: str, n: int | None = None, axes: tuple[int, ...] = (1,)
) -> npt.NDArray[Any]:
    """Return values of `n` rows as an array; refuse missing ones and infinities."""
    import pandas as pd

    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in axes or not len(array) or (n is not None and len(array) != n):
        rows = "each row" if n is None else f"each of the {n} rows"
        raise ArgumentError(f"{what} must hold a value for {rows}; got shape {array.shape}.")
    missing = np.asarray(pd.isna(array))
    if array.dtype.kind == "f":
        missing = ~np.isfinite(array)
    if missing.any():
        row = int(np.argwhere(missing)[0][0]) + 1
        raise ArgumentError(f"{what} must hold a value in every row; got none in row {row}.")
    return np.asarray(array.tolist()) if array.dtype.kind == "O" else array


def _classes(truth: Labels, arrays: Iterable[Labels], known: Sequence[Labels] = ()) -> Labels:
    """Return all classes: of the truth, and of predictions that are labels like it."""
    if is_categorical(truth):
        return encode_labels(truth)[1]
    labels = set(truth.tolist()).union(*(np.asarray(classes).tolist() for classes in known))
    few = len(labels)
    for array in arrays:
        predicted = set(array.tolist()) if array.ndim == 1 else set()
        # a model may know classes that the test set lacks; identifiers have too many values
        if _are_labels(array, labels) and predicted & labels and len(predicted - labels) <= few:
            labels |= predicted
    if len(labels) < 2:
        raise ArgumentError(
            f"y_true must hold at least two classes; all {len(truth)} rows are {truth[0]!r}."
        )
    return np.unique(np.asarray(sorted(labels)))


def _are_labels(array: Any, classes: set[Any]) -> bool:
    """Return whether predictions are labels: text or whole numbers as the classes, or classes."""
    text = any(isinstance(one, str) for one in classes)
    if array.dtype.kind in "USbiu":
        return text == (array.dtype.kind in "US")
    return array.ndim == 1 and set(array.tolist()) <= classes


def _read_predictions(
    name: str, array: npt.NDArray[Any], loss: Loss, classes: Labels | None
) -> Predictions:
    """Return predictions as labels, probabilities or scores, whichever they are."""
    is_number = array.dtype.kind in "iufb"
    if classes is None:
        if array.ndim != 1 or not is_number:
            raise ArgumentError(f"{name} must hold one number per row, as y_true does.")
        return Predictions(labels=array.astype(np.float64))
    if array.ndim == 2:
        if array.shape[1] != len(classes) or not is_number or not _are_probabilities(array):
            raise ArgumentError(
                f"{name} must hold the probabilities of the classes "
                f"{', '.join(map(str, classes))}, which add up to 1 in every row; got shape "
                f"{array.shape}."
            )
        labels = classes[array.argmax(axis=1)]
        return Predictions(classes=classes, labels=labels, probabilities=array.astype(np.float64))
    strange = set(array.tolist()) - set(classes.tolist())
    if not loss.methods or "predict" in loss.methods:
        if strange:
            numbers = array.dtype.kind == "f" and len(classes) == 2
            raise ArgumentError(
                f"{name} predicts {min(map(str, strange))}, which is none of the classes "
                f"{', '.join(map(str, classes))}: use ",
                use(scoring="roc_auc") if numbers else use(models=...),
                " to score probabilities." if numbers else " to name the columns of the models.",
            )
        return Predictions(classes=classes, labels=array.astype(classes.dtype))
    if not is_number or not strange or len(classes) != 2:
        raise ArgumentError(
            f"{name} holds {'numbers' if strange else 'labels'}; metric {loss.name!r} needs "
            f"{'the probabilities of all classes' if strange else 'probabilities'}."
        )
    scores = array.astype(np.float64)
    both = np.stack([1.0 - scores, scores], axis=1)
    return Predictions(
        classes=classes, scores=scores, probabilities=both if _are_probabilities(both) else None
    )


def _are_probabilities(numbers: npt.NDArray[Any]) -> bool:
    within = (numbers >= 0.0).all() and (numbers <= 1.0).all()
    return bool(within and np.allclose(numbers.sum(axis=1), 1.0, atol=1e-3))


def _test_rows(truth: Labels, classes: Labels | None, row_values: Mapping[str, Any]) -> HeldOutRows:
    groups, weights = (
        None if row_values[role] is None else _values(row_values[role], role, len(truth))
        for role in ("groups", "sample_weight")
    )
    if weights is not None:
        if weights.dtype.kind not in "iufb" or (weights < 0).any() or not weights.any():
            raise ArgumentError("sample_weight must hold numbers from 0, at least one above 0.")
        weights = weights.astype(np.float64)
    codes = None if classes is None else codes_in(truth, classes)
    truth = truth.astype(np.float64) if classes is None else truth
    return HeldOutRows(truth=truth, classes=classes, codes=codes, weights=weights, groups=groups)


def _predictions_of(name: str, model: Any, X: Any, rows: HeldOutRows) -> Predictions:
    """Return the predictions of a fitted model, in the order of all classes."""
    from sklearn.exceptions import NotFittedError

    try:
        labels = _values(model.predict(X), name, len(rows.truth))
    except NotFittedError:
        raise ArgumentError(
            f"{name} is not fitted: compare_fitted takes fitted models, and compare(models, X, y) "
            "fits and compares learners."
        ) from None
    fitted = FittedModel(model, X, rows, labels)
    known = hasattr(model, "classes_")
    return Predictions(
        classes=rows.classes,
        labels=labels,
        probabilities=fitted.probabilities if known else None,
        scores=fitted.scores if known else None,
    )


def _named_models(models: Any) -> dict[str, Any]:
    """Return models by name; classes name the models of a plain list."""
    if not isinstance(models, Mapping | list | tuple):
        raise ArgumentError(
            "models must be a mapping of name to fitted model, or a list; got "
            f"{type(models).__name__}."
        )
    pairs = (
        models.items()
        if isinstance(models, Mapping)
        else [one if isinstance(one, tuple) else (type(one).__name__, one) for one in models]
    )
    named: dict[str, Any] = {}
    for name, model in pairs:
        if str(name) in named:
            raise ArgumentError(f"models must have names of their own; got {name!r} twice.")
        if not hasattr(model, "predict") or isinstance(model, type):
            raise ArgumentError(f"{name} must be a fitted model with predict.")
        named[str(name)] = model
    return named
