"""Judging a fitted model: are its predictions such, and what loss do they come to?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bestofk.checks import Floats
from bestofk.run.cells import Failure
from bestofk.run.evaluation.loss_functions import Loss
from bestofk.run.evaluation.rows import Fold, Labels, Rows


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


def probabilities_of(model: Any, X: Any, form: str, rows: Rows, loss: Loss) -> Floats | None:
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


def loss_of(
    loss: Loss,
    model: Any,
    X: Any,
    fold: Fold,
    predicted: Labels,
    probabilities: Floats | None,
    form: str,
) -> float:
    """The loss of a fitted model on the test rows of a fold."""
    rows = fold.rows
    if loss.needs == "labels":
        return loss.of(fold.y_test, predicted)
    if loss.needs == "probabilities":
        return loss.of(rows.codes[fold.test], probabilities)
    if loss.needs == "ranking":
        return loss.of(rows.codes[fold.test] == 1, _ranking(model, X, form, rows, loss))
    if form == "encoded":
        # scikit-learn's scorers call predict on data frames
        model = _on_frames(model, fold)
        X = fold.form("frame")[1]
    return loss.of(model, X, fold.y_test)


def _on_frames(model: Any, fold: Fold) -> Any:
    """A learner of ours, fitted on encoded rows, made to predict from data frames."""
    model.schema_ = fold.rows.data.schema
    model.classes_ = fold.rows.classes[model.class_codes_]
    return model


def _ranking(model: Any, X: Any, form: str, rows: Rows, loss: Loss) -> Floats:
    if form != "encoded" and hasattr(model, "decision_function"):
        scores: Floats = np.asarray(model.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:
            return scores
    probabilities = probabilities_of(model, X, form, rows, loss)
    assert probabilities is not None
    return probabilities[:, 1]


def codes_of(predicted: Labels, rows: Rows) -> npt.NDArray[Any]:
    """Predicted labels as codes of the classes; numbers as they are."""
    if not rows.classification:
        return predicted
    place = {label: code for code, label in enumerate(rows.classes.tolist())}
    return np.array([place[label] for label in predicted.tolist()], dtype=np.int32)
