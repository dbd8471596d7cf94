"""A fitted model that answers for the test rows from what it has said, however many losses ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_ASKED = ("predict", "predict_proba", "predict_log_proba", "decision_function")


class Answers:
    """The model to scorers, but it predicts the rows of the fold once.

    Parameters
    ----------
    model : estimator
        Fitted. Everything that is not a prediction of those rows is its own.
    X : rows
        The test rows.
    said : dict
        What the model has predicted for them, by the name of the method.
    """

    def __init__(self, model: Any, X: Any, said: dict[str, Any]) -> None:
        self._model, self._X, self._said = model, X, said

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and not name.startswith("__"):
            # also before it is filled, as when it is copied
            return getattr(self.__dict__["_model"], name)
        own = getattr(self.__dict__["_model"], name)
        return self._remembering(name, own) if name in _ASKED else own

    def _remembering(self, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
        def answer(X: Any, *more: Any, **options: Any) -> Any:
            if X is not self._X or more or options:
                return own(X, *more, **options)
            if name not in self._said:
                self._said[name] = own(X)
            return self._said[name]

        # scorers look at the name of the method
        answer.__name__ = name
        return answer

    def __sklearn_is_fitted__(self) -> bool:
        return True
