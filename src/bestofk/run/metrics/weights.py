"""Weights of rows: how a learner takes them, how a loss does, and what is said where not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

import numpy as np

from bestofk.checks import Floats
from bestofk.errors import ArgumentError
from bestofk.run.metrics.loss_functions import Loss
from bestofk.wording import joined

WEIGHT = "sample_weight"


def weight_argument(estimator: Any) -> str | None:
    """The argument of `fit` by which an estimator takes weights; None where it takes none.

    A pipeline hands them to its last step, a search over settings to what it searches for, and an
    ensemble takes them where its parts do. With scikit-learn's metadata routing switched on, those
    that hold others are asked what they were told to route.

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
        return None  # the learners of the papers count every row once
    if estimator is None or isinstance(estimator, str) or not hasattr(estimator, "fit"):
        return None
    holds = _held(estimator)
    if holds and _routing():
        return WEIGHT if _requested(estimator) else None
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        inside = weight_argument(last)
        return None if inside is None else f"{name}__{inside}"
    if type(estimator).__name__.endswith("SearchCV"):
        return weight_argument(estimator.estimator)
    if any(weight_argument(part) != WEIGHT for part in holds):
        return None
    return WEIGHT if _names_it(estimator) else None


def _held(estimator: Any) -> list[Any]:
    """The estimators that an estimator is made of."""
    if hasattr(estimator, "steps"):
        return [step for _, step in estimator.steps]
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
    # voting and stacking hand on what they are given; others want routing for that
    hands_on = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    return hands_on and isinstance(getattr(estimator, "estimators", None), list | tuple)


def _routing() -> bool:
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing", False))


def _requested(estimator: Any) -> bool:
    from sklearn.utils.metadata_routing import get_routing_for_object

    try:
        asked = get_routing_for_object(estimator).consumes("fit", [WEIGHT])
    except (AttributeError, TypeError, ValueError):
        return False
    return WEIGHT in asked


def prepared_argument(prepared: Any, given: Any) -> str | None:
    """The argument of a learner behind its preparation, which must not lose what it takes."""
    found = weight_argument(prepared)
    if found is None and prepared is not given and weight_argument(given) is not None:
        raise ArgumentError(
            "its weights do not pass the preparation of its columns: switch scikit-learn's "
            "metadata routing off, or prepare the columns in a pipeline of your own."
        )
    return found


def loss_takes_weights(loss: Loss) -> bool:
    """Whether the loss is a weighted mean where rows have weights."""
    return loss.each is not None or _has_weights(loss.of)


def _has_weights(function: Any) -> bool:
    try:
        return WEIGHT in signature(function).parameters
    except (TypeError, ValueError):
        return False


def weighted(loss: Loss, *given: Any, weights: Floats | None) -> float:
    """The loss of one fold, its rows weighted where there are weights and the loss takes them."""
    if weights is None or not loss_takes_weights(loss):
        return loss.of(*given)
    if not weights.any():
        raise ArgumentError("all test rows have the weight 0.")
    if _has_weights(loss.of):
        return loss.of(*given, sample_weight=weights)
    assert loss.each is not None
    return float(np.average(loss.each(*given), weights=weights))


def weight_notes(learners: Mapping[str, Any], loss: Loss) -> Sequence[str]:
    """Who takes the weights of the rows, in a sentence or two."""
    taking = {name: weight_argument(estimator) is not None for name, estimator in learners.items()}
    without = [name for name, takes in taking.items() if not takes]
    words = []
    if not without:
        words.append("All learners are fitted with the weights of the rows.")
    elif len(without) == len(taking):
        words.append("No learner takes weights: all are fitted as if every row counted alike.")
    else:
        some = [name for name, takes in taking.items() if takes]
        takes, are = ("takes", "is") if len(without) == 1 else ("take", "are")
        words.append(
            f"{joined(some)} {'is' if len(some) == 1 else 'are'} fitted with the weights of the "
            f"rows; {joined(without)} {takes} none and {are} fitted as if every row counted alike."
        )
    if loss_takes_weights(loss):
        words.append("The loss of a fold is the weighted mean over its test rows.")
    else:
        words.append(f"The loss {loss.name!r} takes no weights: every test row counts alike.")
    return [" ".join(words)]
