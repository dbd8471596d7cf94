"""Judging a fitted model: are its predictions such, and what loss do they come to?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.errors import BestOfKError
from bestofk.run.cells import Failure
from bestofk.run.evaluation.rows import Fold, Labels, Rows
from bestofk.run.metrics.answers import Answers
from bestofk.run.metrics.loss_functions import Loss, loss_shown
from bestofk.run.metrics.weights import weighted


class UnscoredError(Exception):
    """The model cannot be judged; the failure says why."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.failure = Failure(kind=kind, reason=reason)


def checked_predictions(predicted: Any, n: int, rows: Rows) -> Labels:
    """The predictions, if they are one known label or finite number a row."""
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
    """(n, C) probabilities, 0 for classes that the training rows did not hold."""
    if form == "encoded":
        if not hasattr(model, "_proba_encoded"):
            raise UnscoredError("cannot-score", _no_probabilities(loss))
        given, held = model._proba_encoded(X), model.class_codes_
    else:
        if not hasattr(model, "predict_proba"):
            raise UnscoredError("cannot-score", _no_probabilities(loss))
        given = np.asarray(model.predict_proba(X), dtype=np.float64)
        place = {label: code for code, label in enumerate(rows.classes.tolist())}
        held = np.array([place[label] for label in np.asarray(model.classes_).tolist()])
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if given.shape != (n, len(held)) or not np.isfinite(given).all():
        raise UnscoredError("nan", "gave probabilities that are not finite numbers by class.")
    full = np.zeros((len(given), len(rows.classes)))
    full[:, held] = given
    return full


def _no_probabilities(loss: Loss) -> str:
    return f"has no predict_proba, which the loss {loss.name!r} needs."


@dataclass(slots=True)
class Judge:
    """A fitted model and what it has said of the test rows: any number of losses may ask."""

    model: Any
    X: Any
    fold: Fold
    form: str
    predicted: Labels
    seconds: tuple[float, float]
    """Of the fit and of the predictions."""
    _probabilities: Floats | None = None
    _ranking: Floats | None = None
    _answers: Answers | None = None

    def probabilities(self, loss: Loss) -> Floats:
        """(n, C) probabilities, asked for once."""
        if self._probabilities is None:
            self._probabilities = probabilities_of(
                self.model, self.X, self.form, self.fold.rows, loss
            )
        return self._probabilities

    def loss(self, loss: Loss) -> float | Failure:
        """A loss on the test rows, or why there is none."""
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
        except Exception as raised:  # whatever a caller's loss raises
            return Failure(kind="raised", reason=sentence_of(raised))

    def _value(self, loss: Loss) -> float:
        fold, codes = self.fold, self.fold.rows.codes
        weights = fold.weights(fold.test)
        if loss.needs == "costs":
            return loss.of(*self.seconds)
        if loss.needs == "labels":
            return weighted(loss, fold.y_test, self.predicted, weights=weights)
        if loss.needs == "probabilities":
            return weighted(loss, codes[fold.test], self.probabilities(loss), weights=weights)
        if loss.needs == "ranking":
            if self._ranking is None:
                self._ranking = self._ranked(loss)
            return weighted(loss, codes[fold.test] == 1, self._ranking, weights=weights)
        if self._answers is None:
            self._answers = self._asked()
        answers = self._answers
        return weighted(loss, answers, answers._X, fold.y_test, weights=weights)

    def _ranked(self, loss: Loss) -> Floats:
        if self.form != "encoded" and hasattr(self.model, "decision_function"):
            scores: Floats = np.asarray(self.model.decision_function(self.X), dtype=np.float64)
            if scores.ndim == 1:
                return scores
        return self.probabilities(loss)[:, 1]

    def _asked(self) -> Answers:
        said: dict[str, Any] = {"predict": self.predicted}
        if self.form != "encoded":
            return Answers(self.model, self.X, said)
        # scikit-learn's scorers call predict on data frames
        model = _on_frames(self.model, self.fold)
        if hasattr(model, "_proba_encoded"):
            said["predict_proba"] = model._proba_encoded(self.X)
        return Answers(model, self.fold.form("frame")[1], said)


def _on_frames(model: Any, fold: Fold) -> Any:
    """A learner of ours, fitted on encoded rows, made to predict from data frames."""
    model.schema_ = fold.rows.data.schema
    model.classes_ = fold.rows.classes[model.class_codes_]
    return model


def codes_of(predicted: Labels, rows: Rows) -> npt.NDArray[Any]:
    """Predicted labels as codes of the classes; numbers as they are."""
    if not rows.classification:
        return predicted
    place = {label: code for code, label in enumerate(rows.classes.tolist())}
    return np.array([place[label] for label in predicted.tolist()], dtype=np.int32)


def sentence_of(raised: BaseException) -> str:
    """What was raised, in one line."""
    try:
        text = first_line(str(raised))
    except Exception:  # there are errors that cannot be told
        text = ""
    if isinstance(raised, BestOfKError):
        return text
    return f"{type(raised).__name__}: {text}" if text else f"{type(raised).__name__}."


def first_line(text: str) -> str:
    """A text as one line of at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:297] + "..."
