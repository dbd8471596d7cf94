"""Evaluate cells: prepare the rows, fit a model, predict the test rows, and score them."""

from __future__ import annotations

import contextlib
import pickle
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from inspect import Parameter, signature
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import Interrupted
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Codes, take_rows
from bestofk.learners.base import seed_names
from bestofk.learners.preparation import copy_of, is_trusted, ready_learner, steps_of
from bestofk.run.cells import Cell, Failure, pack_predictions
from bestofk.run.fingerprints import PLAIN
from bestofk.run.live import ALL_FOLDS, Live, UnavailableEstimator
from bestofk.run.metrics import Labels, Loss, codes_in, loss_shown
from bestofk.run.process_state import restored_process_state
from bestofk.run.task import describe_error

if TYPE_CHECKING:
    from bestofk.run.one_test_set import Predictions


class Rows:
    """The rows of one data set as encoded values, as an array and as a data frame."""

    def __init__(self, data: DataSet) -> None:
        self.data = data
        self.classification = data.task == "classification"
        if self.classification:
            self.codes, declared = data.labels()
            # labels of their natural type: text compares faster than objects
            self.classes: Labels = np.asarray(declared.tolist())
            self.y: Labels = self.classes[self.codes]
        else:
            self.codes = np.zeros(0, dtype=np.int64)
            self.classes = np.array([])
            self.y = data.y.to_numpy()
        self.known = frozenset(self.classes.tolist())
        weights = data.sample_weight
        self.weights: Floats | None = (
            None if weights is None else weights.to_numpy(dtype=np.float64)
        )

    @cached_property
    def array(self) -> Floats:
        """All columns as one array, for numeric data without missing values."""
        kinds = set(self.data.X.dtypes)
        alone = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
        return np.ascontiguousarray(self.data.X.to_numpy(dtype=alone))

    def held_out(self, test: npt.NDArray[np.int64]) -> HeldOutRows:
        """Return the test rows of a split."""
        truth, groups = self.y[test], self.data.groups
        return HeldOutRows(
            truth=_shared(truth.astype(np.float64) if truth.dtype == np.float32 else truth),
            classes=self.classes if self.classification else None,
            codes=self.codes[test] if self.classification else None,
            weights=None if self.weights is None else _shared(self.weights[test]),
            groups=None if groups is None else groups.to_numpy()[test],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOutRows:
    """The rows of one test set, without their features.

    - `truth` (n,): True labels or numbers.
    - `classes`: All classes in order; None for numbers.
    - `codes` (n,): The positions of the true labels among the classes.
    - `weights`: Weight of each row.
    - `groups`: Group of each row. Groups, not rows, are then the independent units.
    """

    truth: Labels
    classes: Labels | None = None
    codes: Codes | None = None
    weights: Floats | None = None
    groups: Labels | None = None


class Fold:
    """The rows of one split, shared by all learners; a form is sliced at its first use."""

    def __init__(self, rows: Rows, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64]):
        self.rows, self.train, self.test = rows, train, test
        self.y_train, self.held_out = _shared(rows.y[train]), rows.held_out(test)
        self._train_forms: dict[str, Any] = {}
        self._test_forms: dict[str, Any] = {}

    def also_testing(self, test: npt.NDArray[np.int64]) -> Fold:
        """Return a fold with the same training rows and other test rows."""
        other = Fold(self.rows, self.train, test)
        other._train_forms = self._train_forms
        return other

    def form(self, name: str) -> tuple[Any, Any]:
        """Return both parts as ``"array"``, ``"frame"``, ``"given"`` or ``"encoded"`` rows."""
        if name not in self._train_forms:
            self._train_forms[name] = self._sliced(name, self.train, training=True)
        if name not in self._test_forms:
            self._test_forms[name] = self._sliced(name, self.test, training=False)
        return self._train_forms[name], self._test_forms[name]

    def _sliced(self, name: str, which: npt.NDArray[np.int64], *, training: bool) -> Any:
        if name == "array":
            return _shared(self.rows.array[which])
        if name == "frame":
            return self.rows.data.X.iloc[which]
        if name == "given":
            data = self.rows.data
            return take_rows(data.X if data.original is None else data.original, which)
        encoded = self.rows.data.encoded()
        return encoded.take(which) if training else encoded.values[which]

    def own_form(self, name: str) -> tuple[Any, Any, Labels]:
        """Return copies of the rows and training labels for a learner that may overwrite them."""
        train, test = self.form(name)
        return train.copy(), test.copy(), self.y_train.copy()


def _shared(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make an array read-only, because all learners of a fold share it."""
    array.setflags(write=False)
    return array


WEIGHT = "sample_weight"


def weight_argument(estimator: Any) -> str | None:
    """Return the argument of `fit` by which an estimator accepts weights.

    None if it accepts no weights. A pipeline passes them to its last step, a search to its
    estimator. An ensemble accepts them if all its parts do.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_argument(make_pipeline(StandardScaler(), Ridge()))
    'ridge__sample_weight'
    >>> weight_argument(KNeighborsRegressor()) is None
    True
    """
    if hasattr(estimator, "fit_encoded"):
        return None  # the learners of the papers accept no weights
    if estimator is None or isinstance(estimator, str) or not hasattr(estimator, "fit"):
        return None
    if steps := steps_of(estimator):
        name, last = steps[-1]
        inside = weight_argument(last)
        return None if inside is None else f"{name}__{inside}"
    if type(estimator).__name__.endswith("SearchCV"):
        return weight_argument(estimator.estimator)
    if any(weight_argument(part) != WEIGHT for part in parts_of(estimator)):
        return None
    return WEIGHT if _names_it(estimator) else None


def parts_of(estimator: Any) -> list[Any]:
    """Return the estimators that an estimator is made of."""
    if steps := steps_of(estimator):
        return [step for _, step in steps]
    parts = [getattr(estimator, name, None) for name in ("estimator", "final_estimator")]
    listed = getattr(estimator, "estimators", None)
    if isinstance(listed, list | tuple):
        parts += [one[1] if isinstance(one, tuple) else one for one in listed]
    return [part for part in parts if hasattr(part, "fit") and not isinstance(part, type)]


def _names_it(estimator: Any) -> bool:
    try:
        parameters = signature(estimator.fit).parameters
    except (TypeError, ValueError):
        return False
    if WEIGHT in parameters:
        return True
    # voting and stacking pass keywords on
    passes_on = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    return passes_on and isinstance(getattr(estimator, "estimators", None), list | tuple)


# Scores of a fitted model


class UnscoredError(Exception):
    """The model cannot be scored; the failure says why."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.failure = Failure(kind=kind, reason=reason)


def checked_predictions(predicted: Any, n: int, rows: Rows) -> Labels:
    """Return the predictions, read-only, if each row has a known label or a number; else raise."""
    array = np.asarray(predicted)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (n,):
        raise UnscoredError(
            "shape", f"predicted an array of shape {array.shape} for {n} test rows."
        )
    if array.dtype.kind in "fc" and np.isnan(array).any():
        raise UnscoredError("nan", f"predicted NaN for {int(np.isnan(array).sum())} of {n} rows.")
    if rows.classification:
        strange = set(array.tolist()) - rows.known
        if strange:
            raise UnscoredError(
                "unknown-class",
                f"predicted {sorted(map(repr, strange))[0]}, which is none of the classes.",
            )
    elif array.dtype.kind not in "iufb" or not np.isfinite(array).all():
        raise UnscoredError("nan", "predicted something that is not a finite number.")
    return _shared(array.view())


def metric_arguments(
    loss: Loss, rows: HeldOutRows, model: FittedModel | Predictions
) -> tuple[Any, ...]:
    """Return the arguments of a loss: the truth, and the predictions that it needs, read-only."""
    if loss.needs == "model":
        return (*model.for_scorer(), rows.truth)
    if loss.needs == "labels":
        truth, what, predicted = rows.truth, "labels or numbers", model.labels
    else:
        assert rows.codes is not None
        truth, what, predicted = rows.codes, "class probabilities", None
        if loss.needs == "probabilities":
            predicted = model.probabilities
        elif loss.needs == "ranking":
            truth, predicted = rows.codes == 1, model.ranking
    if predicted is None:
        raise UnscoredError("cannot-score", f"has no {what}, which the metric {loss.name!r} needs.")
    return truth, _shared(predicted.view())


_PREDICTING = ("predict", "predict_proba", "predict_log_proba", "decision_function")


class FittedModel:
    """A fitted model with its predictions of the test rows, which are made once for all losses.

    - `model`: Fitted; scorers read its other attributes through this object.
    - `X`: The test rows.
    - `rows`: Their labels.
    - `labels`: Their predictions.
    - `seconds`: Seconds of the fit and of the predictions.
    - `encoded`: The fold of a model that was fitted on encoded rows.
    """

    classes_: Labels

    def __init__(
        self,
        model: Any,
        X: Any,
        rows: HeldOutRows,
        labels: Labels,
        seconds: tuple[float, float] = (0.0, 0.0),
        encoded: Fold | None = None,
    ) -> None:
        self._model, self._X, self._rows, self._encoded = model, X, rows, encoded
        self.labels, self._seconds = labels, seconds
        self._predictions: dict[str, Any] = {"predict": labels}

    def __getattr__(self, name: str) -> Any:
        # not self._model, which may be missing while this is being copied
        attribute = getattr(self.__dict__["_model"], name)
        if name not in _PREDICTING:
            return attribute

        def predict(X: Any, *more: Any, **options: Any) -> Any:
            if X is not self._X or more or options:
                return attribute(X, *more, **options)
            if name not in self._predictions:
                self._predictions[name] = attribute(X)
            return self._predictions[name]

        # scorers read the name of the method
        predict.__name__ = name
        return predict

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def loss(self, loss: Loss) -> float | Failure:
        """Return a loss on the test rows, or the failure to compute it."""
        rows = self._rows
        try:
            costs = loss.needs == "costs"
            arguments = self._seconds if costs else metric_arguments(loss, rows, self)
            value = loss.value(*arguments, weights=rows.weights)
            if not np.isfinite(value):
                reason = f"the metric {loss_shown(loss.name)!r} came out as {value}."
                return Failure(kind="nan", reason=reason)
            return value
        except UnscoredError as unscored:
            return unscored.failure
        except MemoryError:
            raise
        except Exception as raised:  # a user's loss may raise anything
            return Failure(kind="raised", reason=describe_error(raised))

    @cached_property
    def probabilities(self) -> Floats | None:
        """(n, C) probabilities, 0 for classes absent from the training rows."""
        n, classes = len(self.labels), self._rows.classes
        if classes is None or not hasattr(self._model, "predict_proba"):
            return None
        if self._encoded is not None:
            found, columns = self._model._proba_encoded(self._X), self._model.class_codes_
        else:
            found = np.asarray(self.predict_proba(self._X), dtype=np.float64)
            columns = codes_in(np.asarray(self._model.classes_), classes)
        if found.shape != (n, len(columns)) or not np.isfinite(found).all():
            raise UnscoredError("nan", "gave probabilities that are not finite numbers by class.")
        full = np.zeros((n, len(classes)))
        full[:, columns] = found
        return full

    @cached_property
    def scores(self) -> Floats | None:
        """The decision values of the second of two classes."""
        if self._rows.classes is None or not hasattr(self._model, "decision_function"):
            return None
        scores: Floats = np.asarray(self.decision_function(self._X), dtype=np.float64)
        if scores.ndim != 1:
            return None
        # they favour the second of the model's classes, which scikit-learn sorts
        classes = self._rows.classes.tolist()
        second = np.asarray(getattr(self._model, "classes_", sorted(classes))).tolist()[-1]
        return scores if second == classes[-1] else -scores

    @property
    def ranking(self) -> Floats | None:
        """The decision values, or the probabilities of the second of two classes."""
        if self.scores is not None:
            return self.scores
        return None if self.probabilities is None else self.probabilities[:, 1]

    def for_scorer(self) -> tuple[Any, Any]:
        """Return the model as a fitted estimator, and the test rows."""
        return self if self._encoded is None else self._on_frames, self._frame

    @cached_property
    def _frame(self) -> Any:
        """The test rows as scorers expect them."""
        return self._X if self._encoded is None else self._encoded.form("frame")[1]

    @cached_property
    def _on_frames(self) -> FittedModel:
        """The same model for scorers, which predict data frames and sort the classes."""
        assert self._encoded is not None
        model, rows = self._model, self._encoded.rows
        model.schema_, model.classes_ = rows.data.schema, rows.classes[model.class_codes_]
        order = np.argsort(model.classes_, kind="stable")
        shown = FittedModel(model, self._frame, self._rows, self.labels)
        if hasattr(model, "_proba_encoded"):
            shown._predictions["predict_proba"] = model._proba_encoded(self._X)[:, order]
        shown.classes_ = model.classes_[order]
        return shown


# Cells

PREPARE_SECONDS = 2.0
"""Seconds after which the rest of many learners on many data sets is prepared by their cells."""
_NOTHING = contextlib.nullcontext()


@dataclass(slots=True)
class _ModelMaker:
    """One learner on one data set: how to make models."""

    fresh: Callable[[int], Any]
    form: str
    writes: bool
    seeded: bool
    weights: str | None
    """The argument of `fit` that takes the weights of the rows."""


@dataclass(slots=True)
class _Shared:
    """A model that serves the two folds of a nested run."""

    model: Any = None
    fit_time: float = 0.0


class Evaluator:
    """Evaluate the cells of a study; cache prepared rows and model factories.

    A result depends only on the study and the cell, not on earlier calls.
    """

    def __init__(self, live: Live) -> None:
        self.live = live
        self._rows = cache(lambda dataset: Rows(live.datasets[dataset]))
        self._models = cache(self._make_models)
        # a block may end in the middle of a fold
        self._fold = lru_cache(maxsize=1)(self._make_fold)
        self._trusted = cache(lambda learner: is_trusted(live.estimators[learner]))

    def prepare(self) -> None:
        """Make what is made once, so that no cell pays for it; stop after some seconds."""
        until = time.monotonic() + PREPARE_SECONDS
        for dataset in range(len(self.live.datasets)):
            for learner in range(len(self.live.estimators)):
                if time.monotonic() > until:
                    return
                # a learner that cannot be prepared fails in its cells, with a reason
                with contextlib.suppress(Exception, SystemExit):
                    self._models(dataset, learner)

    def evaluate(self, cells: Iterable[Cell]) -> Iterator[Cell]:
        """Yield each cell evaluated."""
        # join only neighbours: the order shows which cell ended a worker
        for (dataset, run, fold), group in groupby(cells, key=self.live.sharing):
            if fold == ALL_FOLDS:
                yield from self._nested(dataset, run, list(group))
                continue
            parts = self._fold(dataset, run, fold)
            for cell in group:
                yield self._evaluate_cell(cell, parts)

    def _make_fold(self, dataset: int, run: int, fold: int) -> Fold:
        splits = self.live.splits[dataset]
        return Fold(self._rows(dataset), splits.train(run, fold), splits.test(run, fold))

    def _nested(self, dataset: int, run: int, group: Sequence[Cell]) -> Iterator[Cell]:
        """Yield the cells of a run whose folds share one fitted model, fold by fold."""
        splits = self.live.splits[dataset]
        first = self._fold(dataset, run, 0)
        others = (splits.test(run, fold) for fold in range(1, splits.folds_in(run)))
        parts = [first, *map(first.also_testing, others)]
        cells_of_model: dict[tuple[int, int], dict[int, Cell]] = {}
        for cell in group:
            cells_of_model.setdefault((cell.learner, cell.repetition), {})[cell.fold] = cell
        for by_fold in cells_of_model.values():
            shared = _Shared()
            known = next(iter(by_fold.values()))
            for fold in range(max(by_fold) + 1):
                # a fold before it is predicted too, since a model may change as it predicts
                cell = by_fold.get(fold) or replace(known, fold=fold)
                result = self._evaluate_cell(cell, parts[fold], shared)
                if fold in by_fold:
                    yield result

    def _make_models(self, dataset: int, learner: int) -> _ModelMaker:
        estimator, rows = self.live.estimators[learner], self._rows(dataset)
        if isinstance(estimator, UnavailableEstimator):
            raise UnscoredError("missing", estimator.reason)
        ready = ready_learner(estimator, rows.data)
        if ready.form == "encoded":
            with warnings.catch_warnings(action="ignore"):
                ready.estimator.load(rows.data.encoded())
        weighted = rows.weights is not None
        return _ModelMaker(
            fresh=model_factory(ready.estimator),
            form=ready.form,
            writes=ready.form != "encoded" and may_write(ready.estimator),
            seeded=bool(seed_names(ready.estimator)),
            weights=weight_argument(ready.estimator) if weighted else None,
        )

    def _evaluate_cell(self, cell: Cell, fold: Fold, shared: _Shared | None = None) -> Cell:
        with warnings.catch_warnings(action="ignore"):
            try:
                with _NOTHING if self._trusted(cell.learner) else restored_process_state():
                    models = self._models(cell.dataset, cell.learner)
                    return self._fit(models, cell, fold, shared)
            except BaseException as raised:  # a stranger's class may raise anything
                # where Ctrl-C is ignored, only the learner can have interrupted itself
                from_user = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
                if isinstance(raised, Interrupted) or (
                    isinstance(raised, KeyboardInterrupt) and from_user
                ):
                    raise
                return replace(cell, scores=(_failure(raised),) * len(self.live.metrics))

    def _fit(self, models: _ModelMaker, cell: Cell, fold: Fold, shared: _Shared | None) -> Cell:
        live, rows = self.live, fold.rows
        if models.writes:
            X_train, X_test, y_train = fold.own_form(models.form)
        else:
            (X_train, X_test), y_train = fold.form(models.form), fold.y_train
        model = None if shared is None else shared.model
        begin = time.perf_counter()
        if model is None:
            # a shared model has the seed of the first fold
            place = cell if shared is None else replace(cell, fold=0)
            model = models.fresh(live.record.seed(place) if models.seeded else 0)
            begin = time.perf_counter()
            if models.form == "encoded":
                model.fit_encoded(X_train)
            elif models.weights is not None and rows.weights is not None:
                model.fit(X_train, y_train, **{models.weights: rows.weights[fold.train]})
            else:
                model.fit(X_train, y_train)
            if shared is not None:
                shared.model = model
                shared.fit_time = time.perf_counter() - begin
        fitted = time.perf_counter()
        if models.form == "encoded":
            predicted = rows.classes[model.predict_encoded(X_test)]
        else:
            predicted = model.predict(X_test)
        done = time.perf_counter()
        predicted = checked_predictions(predicted, len(fold.test), rows)
        fit_time = fitted - begin
        # a model that serves two folds was fitted in the first, and as slowly for the second
        seconds = (fit_time if shared is None else shared.fit_time, done - fitted)
        encoded = fold if models.form == "encoded" else None
        fitted_model = FittedModel(model, X_test, fold.held_out, predicted, seconds, encoded)
        scores = tuple(fitted_model.loss(loss) for loss in live.metrics)
        if all(isinstance(score, Failure) for score in scores):
            return replace(cell, scores=scores)
        # one fold, whatever was resumed
        weighed = cell.run == cell.fold == cell.repetition == 0
        packed = None
        if live.keeps_predictions(cell) and not isinstance(scores[0], Failure):
            if rows.classification:
                predicted = codes_in(predicted, rows.classes).astype(np.int32)
            packed = pack_predictions(predicted, fitted_model.probabilities, fitted_model.scores)
        return replace(
            cell,
            scores=scores,
            fit_time=fit_time,
            predict_time=done - fitted,
            size=model_size(model) if weighed else None,
            predictions=packed,
        )


def _failure(raised: BaseException) -> Failure:
    """Return the failure of a cell that raised an error."""
    if isinstance(raised, UnscoredError):
        return raised.failure
    kinds = {MemoryError: "memory", ImportError: "missing"}
    kind = next((name for error, name in kinds.items() if isinstance(raised, error)), "raised")
    return Failure(kind=kind, reason=describe_error(raised))


def model_factory(estimator: Any) -> Callable[[int], Any]:
    """Return a function of a seed that gives an unfitted copy of `estimator`.

    Every setting called `random_state`, also of nested estimators, gets the seed. Copies of
    estimators whose settings are plain values are made by their constructor, which is what
    scikit-learn's `clone` comes to but many times faster.
    """
    kind = type(estimator)
    seeds = seed_names(estimator)
    if not hasattr(estimator, "get_params"):
        from copy import deepcopy

        return lambda _: deepcopy(estimator)
    settings = estimator.get_params(deep=False)
    flat = all(isinstance(value, PLAIN) for value in settings.values())
    if flat and not _cloned_by_itself(estimator):
        if seeds == ["random_state"] and "random_state" in settings:
            return lambda seed: kind(**{**settings, "random_state": seed})
        return lambda _: kind(**settings)

    def fresh(seed: int) -> Any:
        model = copy_of(estimator)
        if seeds:
            model.set_params(**dict.fromkeys(seeds, seed))
        return model

    return fresh


def _cloned_by_itself(estimator: Any) -> bool:
    """Return whether copying needs more than the constructor: own clone method or metadata."""
    own = getattr(type(estimator), "__sklearn_clone__", None)
    from sklearn.base import BaseEstimator

    inherited = getattr(BaseEstimator, "__sklearn_clone__", None)
    return own is not inherited or hasattr(estimator, "_metadata_request")


def may_write(estimator: Any) -> bool:
    """Return whether it may overwrite its rows and therefore needs a copy."""
    if not is_trusted(estimator):
        return True
    settings = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    return any(
        name.rpartition("__")[2].startswith("copy") and value is False
        for name, value in settings.items()
    )


def model_size(model: Any) -> int | None:
    """Return the bytes of the pickled model without copying its arrays; None if that fails."""
    from cloudpickle import dumps

    buffers: list[pickle.PickleBuffer] = []
    try:
        body = dumps(model, protocol=5, buffer_callback=buffers.append)
    except (Exception, SystemExit):
        # any class may raise anything while it is pickled; then its size is not known
        return None
    return len(body) + sum(buffer.raw().nbytes for buffer in buffers)
