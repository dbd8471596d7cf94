"""Rows in the forms that learners take, weights, and the losses of a fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats
from bestofk._base.errors import ArgumentError
from bestofk._base.formatting import joined
from bestofk.data.dataset import DataSet
from bestofk.data.schema import Encoded, take_rows
from bestofk.learners.preparation import innermost, steps_of
from bestofk.run.cells import Failure
from bestofk.run.metrics import Answers, Labels, Loss, codes_in, loss_shown
from bestofk.run.task import describe_error
from bestofk.splits.splits import distinct_rows


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
        self._array: Floats | None = None
        weights = data.sample_weight
        self.weights: Floats | None = (
            None if weights is None else weights.to_numpy(dtype=np.float64)
        )

    @property
    def encoded(self) -> Encoded:
        """The rows in the form for bestofk's own learners; a copy, made only for them."""
        return self.data.encoded()

    @property
    def array(self) -> Floats:
        """All columns as one array, for numeric data without missing values."""
        if self._array is None:
            kinds = set(self.data.X.dtypes)
            alone = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
            self._array = np.ascontiguousarray(self.data.X.to_numpy(dtype=alone))
        return self._array


class Fold:
    """The rows of one split, shared by all learners; a form is sliced at its first use."""

    def __init__(self, rows: Rows, train: npt.NDArray[np.int64], test: npt.NDArray[np.int64]):
        self.rows, self.train, self.test = rows, train, test
        self.sizes = {"n_train": distinct_rows(train), "n_test": len(test)}
        self.y_train, self.y_test = _shared(rows.y[train]), _shared(rows.y[test])
        if self.y_test.dtype == np.float32:
            self.y_test = _shared(self.y_test.astype(np.float64))  # for the losses
        self._train_forms: dict[str, Any] = {}
        self._test_forms: dict[str, Any] = {}

    def also_testing(self, test: npt.NDArray[np.int64]) -> Fold:
        """Return a fold with the same training rows and other test rows."""
        other = Fold(self.rows, self.train, test)
        other._train_forms = self._train_forms
        return other

    def weights(self, which: npt.NDArray[np.int64]) -> Floats | None:
        """Return the weights of some rows; None if rows have no weights."""
        return None if self.rows.weights is None else self.rows.weights[which]

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
        encoded = self.rows.encoded
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
    estimator. An ensemble accepts them if all its parts do. With metadata routing, meta-estimators
    report what they route.

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
    parts = _parts_of(estimator)
    if parts and _routing():
        return WEIGHT if _requested(estimator) else None
    if steps := steps_of(estimator):
        name, last = steps[-1]
        inside = weight_argument(last)
        return None if inside is None else f"{name}__{inside}"
    if type(estimator).__name__.endswith("SearchCV"):
        return weight_argument(estimator.estimator)
    if any(weight_argument(part) != WEIGHT for part in parts):
        return None
    return WEIGHT if _names_it(estimator) else None


def _parts_of(estimator: Any) -> list[Any]:
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
    # voting and stacking pass keywords on; other estimators need routing for that
    passes_on = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    return passes_on and isinstance(getattr(estimator, "estimators", None), list | tuple)


def _routing() -> bool:
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing", False))


def _requested(estimator: Any) -> bool:
    from sklearn.utils.metadata_routing import get_routing_for_object

    try:
        requested = get_routing_for_object(estimator).consumes("fit", [WEIGHT])
    except (AttributeError, TypeError, ValueError):
        return False
    return WEIGHT in requested


def prepared_argument(prepared: Any, original: Any) -> str | None:
    """Return the weight argument of a prepared learner; refuse a preparation that loses weights."""
    argument = weight_argument(prepared)
    if argument is None and prepared is not original and weight_argument(original) is not None:
        raise ArgumentError(
            "its weights do not pass the preparation of its columns: switch scikit-learn's "
            "metadata routing off, or prepare the columns in a pipeline of your own."
        )
    return argument


def weight_notes(learners: Mapping[str, Any], loss: Loss) -> Sequence[str]:
    """Return sentences that name the learners and losses that use the weights of the rows."""
    taking = {name: weight_argument(estimator) is not None for name, estimator in learners.items()}
    without = [name for name, takes in taking.items() if not takes]
    words = []
    if not without:
        words.append("All learners are fitted with the weights of the rows.")
    elif len(without) == len(taking):
        words.append("No learner accepts weights: all are fitted without weights.")
    else:
        some = [name for name, takes in taking.items() if takes]
        accepts, are = ("accepts", "is") if len(without) == 1 else ("accept", "are")
        words.append(
            f"{joined(some)} {'is' if len(some) == 1 else 'are'} fitted with the weights of the "
            f"rows; {joined(without)} {accepts} none and {are} fitted without weights."
        )
    if loss.takes_weights:
        words.append("The loss of a fold is the weighted mean over its test rows.")
    else:
        words.append(f"The metric {loss.name!r} accepts no weights: all test rows count equally.")
    return [" ".join(words)]


def refuse_unscorable(learners: Mapping[str, Any], loss: Loss) -> None:
    """Refuse, before the first fit, learners without the predictions that the loss needs."""
    methods = loss.methods
    if not methods or "predict" in methods:
        return
    lacking = [name for name, one in learners.items() if _lacks(one, methods)]
    if lacking:
        have = "has" if len(lacking) == 1 else "have"
        first = type(innermost(learners[lacking[0]])).__name__
        raise ArgumentError(
            f"{joined(lacking)} {have} no {' or '.join(methods)}, which the metric {loss.name!r} "
            f"needs: leave {'it' if len(lacking) == 1 else 'them'} out, use another metric, or add "
            f"probabilities, as in CalibratedClassifierCV({first}())."
        )


def _lacks(estimator: Any, methods: Sequence[str]) -> bool:
    """Return whether an estimator certainly has none of the methods, even after `fit`."""
    inner = innermost(estimator)
    if hasattr(inner, "fit_encoded"):
        return not hasattr(inner, "_proba_encoded")
    if _parts_of(inner):
        return False  # it may depend on its parts
    try:
        return not any(hasattr(inner, method) for method in methods)
    except Exception:  # any class may raise anything
        return False


class UnscoredError(Exception):
    """The model cannot be scored; the failure says why."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.failure = Failure(kind=kind, reason=reason)


def checked_predictions(predicted: Any, n: int, rows: Rows) -> Labels:
    """Return the predictions if each row has one known label or finite number; else raise."""
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
    return array


def probabilities_of(model: Any, X: Any, form: str, rows: Rows, loss: Loss) -> Floats:
    """Return (n, C) probabilities; classes absent from the training rows get 0."""
    if form == "encoded":
        if not hasattr(model, "_proba_encoded"):
            raise UnscoredError("cannot-score", _no_probabilities(loss))
        probabilities, columns = model._proba_encoded(X), model.class_codes_
    else:
        if not hasattr(model, "predict_proba"):
            raise UnscoredError("cannot-score", _no_probabilities(loss))
        probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
        columns = codes_in(np.asarray(model.classes_), rows.classes)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if probabilities.shape != (n, len(columns)) or not np.isfinite(probabilities).all():
        raise UnscoredError("nan", "gave probabilities that are not finite numbers by class.")
    full = np.zeros((len(probabilities), len(rows.classes)))
    full[:, columns] = probabilities
    return full


def _no_probabilities(loss: Loss) -> str:
    return f"has no predict_proba, which the loss {loss.name!r} needs."


@dataclass(slots=True)
class Judge:
    """A fitted model with its cached predictions, scored by any number of losses."""

    model: Any
    X: Any
    fold: Fold
    form: str
    predicted: Labels
    seconds: tuple[float, float]
    """Seconds of the fit and of the predictions."""
    _probabilities: Floats | None = None
    _ranking: Floats | None = None
    _answers: Answers | None = None

    def probabilities(self, loss: Loss) -> Floats:
        """Return (n, C) probabilities; the model computes them once."""
        if self._probabilities is None:
            self._probabilities = probabilities_of(
                self.model, self.X, self.form, self.fold.rows, loss
            )
        return self._probabilities

    def loss(self, loss: Loss) -> float | Failure:
        """Return a loss on the test rows, or the failure to compute it."""
        try:
            value = self._value(loss)
            if not np.isfinite(value):
                reason = f"the loss {loss_shown(loss.name)!r} came out as {value}."
                return Failure(kind="nan", reason=reason)
            return value
        except UnscoredError as unscored:
            return unscored.failure
        except MemoryError:
            raise
        except Exception as raised:  # a user's loss may raise anything
            return Failure(kind="raised", reason=describe_error(raised))

    def _value(self, loss: Loss) -> float:
        fold, codes = self.fold, self.fold.rows.codes
        weights = fold.weights(fold.test)
        if loss.needs == "costs":
            return loss.value(*self.seconds)
        if loss.needs == "labels":
            return loss.value(fold.y_test, self.predicted, weights=weights)
        if loss.needs == "probabilities":
            return loss.value(codes[fold.test], self.probabilities(loss), weights=weights)
        if loss.needs == "ranking":
            if self._ranking is None:
                self._ranking = self._ranked(loss)
            return loss.value(codes[fold.test] == 1, self._ranking, weights=weights)
        if self._answers is None:
            self._answers = self._asked()
        answers = self._answers
        return loss.value(answers, answers._X, fold.y_test, weights=weights)

    def _ranked(self, loss: Loss) -> Floats:
        scores = self.decision_values()
        return self.probabilities(loss)[:, 1] if scores is None else scores

    def decision_values(self) -> Floats | None:
        """Return the decision values of the class of code 1 (n,); None if the model has none."""
        if self.form == "encoded" or not hasattr(self.model, "decision_function"):
            return None
        scores: Floats = np.asarray(self.model.decision_function(self.X), dtype=np.float64)
        if scores.ndim != 1:
            return None
        # they favour the second of the model's classes, which scikit-learn sorts
        classes = self.fold.rows.classes.tolist()
        second = np.asarray(getattr(self.model, "classes_", sorted(classes))).tolist()[-1]
        return scores if second == classes[-1] else -scores

    def _asked(self) -> Answers:
        predictions: dict[str, Any] = {"predict": self.predicted}
        if self.form != "encoded":
            return Answers(self.model, self.X, predictions)
        # scikit-learn's scorers call predict on data frames
        model = _on_frames(self.model, self.fold)
        order = np.argsort(model.classes_, kind="stable")
        if hasattr(model, "_proba_encoded"):
            predictions["predict_proba"] = model._proba_encoded(self.X)[:, order]
        answers = Answers(model, self.fold.form("frame")[1], predictions)
        # scorers take the classes to be sorted
        answers.classes_ = model.classes_[order]
        return answers


def _on_frames(model: Any, fold: Fold) -> Any:
    """Make a learner that was fitted on encoded rows predict from data frames."""
    model.schema_ = fold.rows.data.schema
    model.classes_ = fold.rows.classes[model.class_codes_]
    return model
