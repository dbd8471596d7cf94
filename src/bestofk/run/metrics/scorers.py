"""Scorers of scikit-learn and callables of the caller as losses, turned round once, here.

Inside the library smaller is better. A scorer rises with what is good: ``accuracy`` becomes the
loss ``1 - accuracy``, ``neg_mean_absolute_error`` the mean absolute error that it is the negative
of. The name of a loss tells how it is shown again (see `loss_functions.loss_shown`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

import numpy as np

from bestofk.errors import ArgumentError, UnknownNameError
from bestofk.losses.roles import direction_of

if TYPE_CHECKING:
    from bestofk.checks import Floats
    from bestofk.data.dataset import DataSet
    from bestofk.run.metrics.loss_functions import Labels, Loss

RISING = frozenset({"positive_likelihood_ratio"})
"""Scorers that do not end at 1."""
FALLING = frozenset({"max_error"})
"""Scorers that are the negative of a loss and do not say so in their name."""
_POSITIVE = {"1", "true", "yes", "y", "t", "pos", "positive", "+", "+1", "1.0"}
_NEGATIVE = {"0", "-1", "false", "no", "n", "f", "neg", "negative", "-", "0.0", "-1.0"}
TRIAL_ROWS = 50
"""Rows of each class on which a loss is tried before the first fit."""
MOST_TRIAL_ROWS = 5000


def scorer_loss(name: str, classes: Labels | None, known: list[str]) -> Loss:
    """The loss of a scorer's name, ``neg_`` or not, or ``f1:label`` with the positive class."""
    from sklearn.metrics import get_scorer, get_scorer_names

    from bestofk.run.metrics.loss_functions import span_of

    scorers = get_scorer_names()
    plain, _, label = name.partition(":")
    called = plain.replace("-", "_")
    found = next((one for one in (plain, called, f"neg_{called}") if one in scorers), None)
    if found is None:
        raise UnknownNameError("loss", name, [*known, *scorers])
    scorer = get_scorer(found)
    full = found
    if classes is not None and _has_positive(scorer) and (label or len(classes) == 2):
        positive = _positive_class(found, label, classes)
        scorer = _with_positive(scorer, positive)
        full = f"{found}:{positive}"
    elif classes is not None and len(classes) == 2 and not label and _either_class(scorer):
        scorer = _with_positive(scorer, np.asarray(classes).tolist()[1])
    elif label:
        raise ArgumentError(f"loss {found!r} takes no class; got {name!r}: leave ':{label}' out.")
    offset = 0.0 if found.startswith("neg_") or found in RISING | FALLING else 1.0
    return _loss(
        name=full,
        summary=f"{'1 - ' if offset else '-'}scikit-learn's {found}",
        needs="model",
        of=_turned(scorer, offset),
        span=span_of(full),
    )


def callable_loss(given: Any) -> Loss:
    """The loss of a callable: ``loss(y_true, y_pred)`` or ``scorer(estimator, X, y)``.

    What takes three arguments is a scorer, and rises. What takes two is a loss, and falls, unless
    its name is that of a score (`sklearn.metrics.r2_score`).
    """
    if hasattr(given, "_score_func") and hasattr(given, "_sign"):
        rises, needs = given._sign > 0, "model"
        of = _turned(given, 0.0)
    else:
        needs = "model" if _positional(given) == 3 else "labels"
        rises = needs == "model" or direction_of(_called(given)) == "score"
        of = _turned(given, 0.0) if rises else _as_float(given)
    kind = "score" if rises else "callable"
    return _loss(
        name=f"{kind}:{identity_of(given)}", summary="given by the caller", needs=needs, of=of
    )


def identity_of(given: Any) -> str:
    """What tells a callable from others: where it is from, and the settings of a scorer."""
    function = getattr(given, "_score_func", given)
    settings = getattr(given, "_kwargs", None) or {}
    shown = ",".join(f"{name}={value!r}" for name, value in sorted(settings.items()))
    where = f"{getattr(function, '__module__', '?')}.{_called(function)}"
    return f"{where}({shown})" if shown else where


def _called(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))


def _positional(function: Any) -> int:
    """How many arguments must be given by position; 2 where nobody can say."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    plain = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    must = sum(one.kind in plain and one.default is Parameter.empty for one in parameters)
    if must not in (2, 3) and not any(one.kind is Parameter.VAR_POSITIONAL for one in parameters):
        raise ArgumentError(
            f"loss must take (y_true, y_pred), or (estimator, X, y) as a scorer; "
            f"{_called(function)} takes {must} argument{'s' * (must != 1)}."
        )
    return must


def _loss(**fields: Any) -> Loss:
    from bestofk.run.metrics.loss_functions import Loss

    return Loss(task=None, **fields)


def _turned(scorer: Callable[..., Any], offset: float) -> Callable[..., float]:
    """A scorer turned round, with the weights of the rows where it takes them."""
    if not _takes_weights(scorer):
        return lambda *given: offset - _number(scorer(*given))

    def of(*given: Any, sample_weight: Floats | None = None) -> float:
        if sample_weight is None:
            return offset - _number(scorer(*given))
        return offset - _number(scorer(*given, sample_weight=sample_weight))

    return of


def _as_float(function: Callable[..., Any]) -> Callable[..., float]:
    if not _takes_weights(function):
        return lambda *given: _number(function(*given))

    def of(*given: Any, sample_weight: Floats | None = None) -> float:
        if sample_weight is None:
            return _number(function(*given))
        return _number(function(*given, sample_weight=sample_weight))

    return of


def _number(value: Any) -> float:
    if np.ndim(value):
        raise TypeError(f"it gave an array of shape {np.shape(value)}, not one number")
    return float(value)


def _takes_weights(function: Any) -> bool:
    try:
        taken = signature(getattr(function, "_score_func", function)).parameters
    except (TypeError, ValueError):
        return False
    return "sample_weight" in taken


def _has_positive(scorer: Any) -> bool:
    """Whether the scorer looks at one of two classes, and takes the label 1 for it."""
    found = _positive_parameter(scorer)
    return found is not None and found.default == 1


def _either_class(scorer: Any) -> bool:
    """Whether the scorer wants one of two classes, and gives the same for either."""
    found = _positive_parameter(scorer)
    return found is not None and found.default is None


def _positive_parameter(scorer: Any) -> Parameter | None:
    function = getattr(scorer, "_score_func", None)
    if function is None or "pos_label" in scorer._kwargs:
        return None
    return signature(function).parameters.get("pos_label")


def _positive_class(scorer: str, label: str, classes: Labels) -> Any:
    """The class that a scorer counts, as told or where it is evident."""
    labels = np.asarray(classes).tolist()
    if label:
        named = [one for one in labels if str(one) == label]
        if not named:
            raise UnknownNameError("class", label, [str(one) for one in labels])
        return named[0]
    for positive, negative in (labels, labels[::-1]):
        if str(positive).lower() in _POSITIVE and str(negative).lower() in _NEGATIVE:
            return positive
    first, second = (f"{scorer}:{one}" for one in labels)
    raise ArgumentError(
        f"loss {scorer!r} counts one of the two classes, and their names do not tell which: "
        f"loss={first!r} or loss={second!r}."
    )


def _with_positive(scorer: Any, label: Any) -> Any:
    from sklearn.metrics import make_scorer

    return make_scorer(
        scorer._score_func,
        response_method=scorer._response_method,
        greater_is_better=scorer._sign > 0,
        **{**scorer._kwargs, "pos_label": label},
    )


def check_losses(losses: Sequence[Loss], data: DataSet, classes: Labels | None) -> None:
    """Refuse, before the first fit, what cannot judge the labels or numbers of a data set."""
    for loss in losses:
        by_class = loss.name.startswith("cost:") or (":" in loss.name and loss.needs == "model")
        if by_class and classes is not None and {*classes.tolist()} != {*data.classes.tolist()}:
            raise ArgumentError(
                f"loss {loss.name!r} is for the classes {', '.join(map(str, classes))}, and "
                f"{data.name!r} has others: compare such data sets one by one."
            )
        try_loss(loss, data)


def try_loss(loss: Loss, data: DataSet) -> None:
    """Try a scorer or a callable on a few rows, before the first fit.

    A scorer that is a plain function may look at anything a fitted model has: it is not tried.
    """
    if not (loss.needs == "model" or loss.name.startswith(("callable:", "score:"))):
        return
    if loss.needs == "model" and loss.name.startswith("score:") and "sklearn" not in loss.name:
        return
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if data.task == "classification":
        codes, declared = data.labels()
        order = np.argsort(codes, kind="stable")
        first = np.searchsorted(codes[order], codes[order])
        rows = order[np.arange(len(order)) - first < TRIAL_ROWS][:MOST_TRIAL_ROWS]
        truth = np.asarray(declared.tolist())[codes[rows]]
        model: Any = DummyClassifier(strategy="prior")
    else:
        rows = np.arange(min(data.n, MOST_TRIAL_ROWS))
        truth = data.y.to_numpy(dtype=np.float64)[rows]
        model = DummyRegressor()
    X = np.zeros((len(rows), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if loss.needs == "model":
                value = loss.of(model.fit(X, truth), X, truth)
            else:
                value = loss.of(truth, np.roll(truth, 1))
        except Exception as raised:
            raise ArgumentError(_refusal(loss, data, raised)) from None
    if not isinstance(value, float):
        raise ArgumentError(f"loss {loss.name!r} must give one number; got {value!r:.80}.")


def _refusal(loss: Loss, data: DataSet, raised: Exception) -> str:
    from sklearn.metrics import get_scorer_names

    reason = " ".join(str(raised).split())[:200].rstrip(".")
    plain = loss.name.partition(":")[0]
    macro = f"{plain}_macro"
    several = data.task == "classification" and len(data.classes) > 2
    offer = ""
    if several and macro in get_scorer_names():
        offer = f"; loss={macro!r} takes the mean over the classes"
    elif several and plain == "roc_auc":
        offer = "; loss='roc_auc_ovr' averages one against the rest"
    target = f"the {len(data.classes)} classes" if data.task == "classification" else "the numbers"
    return (
        f"loss {loss.name!r} cannot judge {target} of {data.name!r} ({type(raised).__name__}: "
        f"{reason}){offer}."
    )
