"""The losses: built-in ones, scorers of scikit-learn, callables and cost matrices."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from inspect import Parameter, signature
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bestofk._base.checks import Floats, refuse
from bestofk._base.errors import ArgumentError, UnknownNameError, argument, use
from bestofk._base.registry import Registry
from bestofk.learners.specification import find
from bestofk.run.task import describe_error

Labels = npt.NDArray[Any]
Needs = Literal["labels", "probabilities", "ranking", "model", "costs"]


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss and the inputs that it needs.

    `needs` determines the arguments of `of` and `each`:

    - ``"labels"``: y_true, y_pred
    - ``"probabilities"``: codes of the true classes, probabilities (n, C)
    - ``"ranking"``: whether each row is positive, scores
    - ``"model"``: fitted estimator, X, y, as for scikit-learn's scorers
    - ``"costs"``: seconds of the fit, seconds of the predictions
    """

    name: str
    summary: str
    task: str | None
    needs: Needs
    _: KW_ONLY
    each: Callable[..., Any] | None = None
    """The loss of each test row, if the loss is their mean."""
    of: Callable[..., float] | None = None
    """The loss of all test rows, by default the mean of `each`."""
    shown: str = ""
    """Column heading of its values, such as ``1 - AUC``; its own name by default."""
    span: float | None = None
    """Largest value, if the smallest is 0; None if unknown."""
    methods: tuple[str, ...] = ()
    """Methods of a model, of which it needs one; none if `predict` is enough or it is unknown."""
    reads_model: bool = False
    """True if it may read more of a fitted model and its rows than predictions."""

    @property
    def takes_weights(self) -> bool:
        """True if the loss is a weighted mean if rows have weights."""
        return self.each is not None or has_argument(self.of, "sample_weight")

    def value(self, *given: Any, weights: Floats | None = None) -> float:
        """Return the loss of one fold, weighted if there are weights and the loss accepts them."""
        if weights is not None and self.takes_weights:
            if not weights.any():
                raise ArgumentError("all test rows have the weight 0.")
            if self.each is None:
                assert self.of is not None
                return self.of(*given, sample_weight=weights)
            return float(np.average(self.each(*given), weights=weights))
        if self.of is not None:
            return self.of(*given)
        assert self.each is not None
        return float(np.mean(self.each(*given)))


def has_argument(function: Any, name: str) -> bool:
    """Return whether a function has an argument called `name`."""
    try:
        return name in signature(function).parameters
    except (TypeError, ValueError):
        return False


def codes_in(labels: Labels, classes: Labels) -> npt.NDArray[np.int64]:
    """Return the positions of labels among the classes."""
    code_of = {label: code for code, label in enumerate(np.asarray(classes).tolist())}
    return np.array([code_of[label] for label in labels.tolist()], dtype=np.int64)


def loss_shown(name: str) -> str:
    """Return the column heading for the values of a loss.

    Examples
    --------
    >>> loss_shown("accuracy"), loss_shown("neg_mean_squared_error"), loss_shown("auc")
    ('1 - accuracy', 'mean squared error', '1 - AUC')
    >>> loss_shown("f1:yes"), loss_shown("score:mine.gain"), loss_shown("callable:mine.regret")
    ('1 - f1 of yes', '-gain', 'regret')
    """
    if name in LOSSES:
        return LOSSES[name].shown or name
    kind, _, called = name.partition(":")
    if kind in ("callable", "score"):
        shown = called.partition("(")[0].rpartition(".")[2].strip("<>") or "loss"
        return f"-{shown}" if kind == "score" else shown
    if name.startswith("cost:"):
        return "cost"
    if name.startswith("neg_"):
        return name.removeprefix("neg_").replace("_", " ")
    plain, of_class = kind.replace("_", " "), f" of {called}" if called else ""
    if kind in FALLING:
        return plain
    return f"{'-' if kind in RISING else '1 - '}{plain}{of_class}"


def wrong(y_true: Labels, y_pred: Labels) -> Any:
    """Return whether each label is wrong."""
    return y_true != y_pred


def squared_errors(y_true: Floats, y_pred: Floats) -> Floats:
    """Return the squared error of each row."""
    return np.square(y_true - y_pred)


def absolute_errors(y_true: Floats, y_pred: Floats) -> Floats:
    """Return the absolute error of each row."""
    return np.abs(y_true - y_pred)


def log_losses(codes: npt.NDArray[np.int64], probabilities: Floats) -> Floats:
    """Return -log of the true class's probability of each row, clipped away from 0."""
    true = probabilities[np.arange(len(codes)), codes]
    logs: Floats = -np.log(np.clip(true, np.finfo(np.float64).eps, 1.0))
    return logs


def brier_scores(codes: npt.NDArray[np.int64], probabilities: Floats) -> Floats:
    """Return the squared distance between probabilities and truth of each row (0 to 2)."""
    target = np.zeros_like(probabilities)
    target[np.arange(len(codes)), codes] = 1.0
    scores: Floats = np.square(probabilities - target).sum(axis=1)
    return scores


def one_minus_auc(
    positive: npt.NDArray[np.bool_], scores: Floats, sample_weight: Floats | None = None
) -> float:
    """Return 1 minus the area under the ROC curve; ties count half.

    This is the share of (positive, negative) pairs that the scores put in the wrong order. If rows
    have weights, the weight of a pair is their product.
    """
    weights = np.ones(len(scores)) if sample_weight is None else sample_weight
    levels, level = np.unique(scores, return_inverse=True)
    ups, downs = (
        np.bincount(level[side], weights=weights[side], minlength=len(levels))
        for side in (positive, ~positive)
    )
    if not (ups.sum() and downs.sum()):
        raise ArgumentError("The AUC needs both classes among the test rows; got one.")
    below = np.cumsum(downs) - downs / 2
    return 1.0 - float((ups * below).sum() / (ups.sum() * downs.sum()))


def cost_matrix(costs: Any, classes: Labels) -> Loss:
    """Return the mean cost of predicting column j if row i is true, in the order of `classes`."""
    if hasattr(costs, "columns") and hasattr(costs, "index"):
        costs = _in_order(costs, classes)
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("a cost matrix", "numbers", costs) from None
    if matrix.shape != (len(classes), len(classes)) or not np.isfinite(matrix).all():
        raise ArgumentError(
            f"a cost matrix must be {len(classes)} x {len(classes)} finite numbers, rows "
            f"true and columns predicted in the order {list(classes)}; got shape {matrix.shape}."
        )

    def each(y_true: Labels, y_pred: Labels) -> Floats:
        return matrix[codes_in(y_true, classes), codes_in(y_pred, classes)]

    shown = ",".join(repr(cost).removesuffix(".0") for cost in matrix.ravel().tolist())
    return Loss(
        f"cost:{shown}", "mean cost by a cost matrix", "classification", "labels", each=each
    )


def _in_order(costs: Any, classes: Labels) -> Any:
    """Return a data frame of costs with rows and columns in the order of the classes."""
    labels = np.asarray(classes).tolist()
    texts = [str(label) for label in labels]
    for side, named in (("rows", costs.index), ("columns", costs.columns)):
        names = [str(name) for name in named]
        if sorted(names) != sorted(texts):
            raise ArgumentError(
                f"a cost matrix must name the classes {', '.join(texts)} in its {side} "
                f"(rows are the truth); got {', '.join(names)}."
            )
    costs = costs.set_axis([str(name) for name in costs.index], axis=0)
    return costs.set_axis([str(name) for name in costs.columns], axis=1).loc[texts, texts]


LOSSES: Registry[Loss] = Registry(
    "loss",
    Loss("zero-one", "share of wrong labels", "classification", "labels", each=wrong, span=1.0),
    Loss(
        "accuracy",
        "share of right labels, larger is better",
        "classification",
        "labels",
        each=wrong,
        shown="1 - accuracy",
        span=1.0,
    ),
    Loss(
        "log-loss",
        "mean -log probability of the true class",
        "classification",
        "probabilities",
        methods=("predict_proba",),
        each=log_losses,
    ),
    Loss(
        "brier",
        "mean squared distance of the probabilities from the truth",
        "classification",
        "probabilities",
        methods=("predict_proba",),
        each=brier_scores,
        shown="Brier score",
        span=2.0,
    ),
    Loss(
        "auc",
        "area under the ROC curve (two classes), larger is better",
        "classification",
        "ranking",
        methods=("decision_function", "predict_proba"),
        of=one_minus_auc,
        shown="1 - AUC",
        span=1.0,
    ),
    Loss(
        "squared",
        "mean squared error",
        "regression",
        "labels",
        each=squared_errors,
        shown="squared error",
    ),
    Loss(
        "absolute",
        "mean absolute error",
        "regression",
        "labels",
        each=absolute_errors,
        shown="absolute error",
    ),
    Loss(
        "fit_time", "seconds of a fit", None, "costs", of=lambda fit, _: fit, shown="fit time in s"
    ),
    Loss(
        "predict_time",
        "seconds of the predictions of a fold",
        None,
        "costs",
        of=lambda _, predict: predict,
        shown="predict time in s",
    ),
)


def as_loss(loss: Any, *, classes: Labels | None) -> Loss:
    """Return the loss that a name, a scorer's name, a cost matrix or a callable stands for.

    `classes` are the labels of a classification task, None for regression. By default, the mean
    squared error of numbers and the share of wrong labels.
    """
    default = "squared" if classes is None else "zero-one"
    loss = default if loss is None else loss
    if isinstance(loss, Loss):
        chosen = loss
    elif isinstance(loss, str):
        chosen = _by_name(loss, classes)
    elif callable(loss):
        chosen = _of_callable(loss, classes)
    elif np.ndim(loss) == 2 and classes is not None:
        chosen = cost_matrix(loss, classes)
    else:
        raise refuse("scoring", "a name, a callable, a cost matrix or a list of them", loss)
    task = "regression" if classes is None else "classification"
    if chosen.task is not None and chosen.task != task:
        given = chosen.name.startswith(("score:", "callable:"))
        name = loss_shown(chosen.name).removeprefix("-") if given else chosen.name
        raise ArgumentError(
            f"metric {name!r} is for {chosen.task}, but the target makes this a {task} task: use ",
            use(scoring=default),
            ".",
        )
    if chosen.name == "auc" and classes is not None and len(classes) != 2:
        raise ArgumentError(
            f"metric 'auc' needs two classes; the target has {len(classes)}: "
            "'roc_auc_ovr' averages one against the rest."
        )
    return chosen


def as_losses(scoring: Any, *, classes: Labels | None) -> tuple[Loss, ...]:
    """Return one loss or several; the first one decides."""
    if isinstance(scoring, Mapping):
        scoring = list(scoring.values())
    if isinstance(scoring, str) and "," in scoring:
        scoring = [name.strip() for name in scoring.split(",") if name.strip()]
    if isinstance(scoring, list | tuple) and any(
        isinstance(one, str | Loss) or callable(one) or np.ndim(one) == 2 for one in scoring
    ):
        losses = tuple(as_loss(one, classes=classes) for one in scoring)
    else:
        losses = (as_loss(scoring, classes=classes),)
    names = [loss.name for loss in losses]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(argument("scoring"), f" names {name!r} twice.")
    return losses


def _by_name(name: str, classes: Labels | None) -> Loss:
    if re.search(r"\.py\s*:\s*\w+$", name):
        found = find(name, repr(name))
        if callable(found):
            return _of_callable(found, classes, name.rpartition(":")[0])
        return as_loss(found, classes=classes)
    plain = _ALIASES.get(name.lower().replace("_", "-"), name)
    for known in (plain, plain.replace("_", "-")):
        if known in LOSSES:
            return LOSSES[known]
    return _of_scorer(plain, classes)


_ALIASES = {
    "error": "zero-one", "error-rate": "zero-one", "0-1": "zero-one", "zero-one-loss": "zero-one",
    "mse": "squared", "squared-error": "squared", "mae": "absolute", "absolute-error": "absolute",
    "rmse": "neg_root_mean_squared_error", "logloss": "log-loss", "cross-entropy": "log-loss",
    "mape": "neg_mean_absolute_percentage_error", "roc-auc-score": "roc_auc", "r2-score": "r2",
}  # fmt: skip
"""Other common names of losses."""
BETWEEN_0_AND_1 = (
    "accuracy", "average_precision", "f1", "jaccard", "precision", "recall", "roc_auc",
    "top_k_accuracy",
)  # fmt: skip
"""Prefixes of scores between 0 and 1; adjusted scores can be negative."""


def span_of(name: str) -> float | None:
    """Return the largest value of a loss whose smallest value is 0; None if unknown.

    Examples
    --------
    >>> span_of("zero-one"), span_of("f1_macro"), span_of("r2"), span_of("squared")
    (1.0, 1.0, None, None)
    """
    if name in LOSSES:
        return LOSSES[name].span
    return 1.0 if name.startswith(BETWEEN_0_AND_1) else None


# Losses from scikit-learn's scorers and from callables; scores are negated.


RISING = frozenset({"positive_likelihood_ratio"})
"""Scores without the maximum 1."""
FALLING = frozenset({"max_error"})
"""Negated losses whose names do not start with ``neg_``."""
_POSITIVE = {"1", "true", "yes", "y", "t", "pos", "positive", "+", "+1", "1.0"}
_NEGATIVE = {"0", "-1", "false", "no", "n", "f", "neg", "negative", "-", "0.0", "-1.0"}


def _of_scorer(name: str, classes: Labels | None) -> Loss:
    """Return the loss of a scorer's name, such as ``r2`` or ``f1:label``."""
    from sklearn.metrics import get_scorer, get_scorer_names

    scorers = get_scorer_names()
    plain, _, label = name.partition(":")
    called = plain.replace("-", "_")
    scorer_name = next((one for one in (plain, called, f"neg_{called}") if one in scorers), None)
    if scorer_name is None:
        raise UnknownNameError("loss", name, [*LOSSES, *scorers])
    scorer = get_scorer(scorer_name)
    full = scorer_name
    two = classes is not None and len(classes) == 2
    parameter = None if classes is None else _positive_parameter(scorer)
    if parameter is not None and parameter.default == 1 and (label or two):
        assert classes is not None
        positive = _positive_class(scorer_name, label, classes)
        scorer = _with_positive(scorer, positive)
        full = f"{scorer_name}:{positive}"
    elif parameter is not None and parameter.default is None and two and not label:
        scorer = _with_positive(scorer, np.asarray(classes).tolist()[1])
    elif label:
        raise ArgumentError(
            f"metric {scorer_name!r} takes no class; got {name!r}: omit ':{label}'."
        )
    offset = 0.0 if scorer_name.startswith("neg_") or scorer_name in RISING | FALLING else 1.0
    return Loss(
        full,
        f"{'1 - ' if offset else '-'}scikit-learn's {scorer_name}",
        _task_of(scorer),
        "model",
        of=_number_of(scorer, offset=offset),
        span=span_of(full),
        methods=_methods(scorer),
    )


def _task_of(scorer: Any) -> str | None:
    """Return the task of a scorer or metric of scikit-learn; None for all others."""
    module = str(getattr(getattr(scorer, "_score_func", scorer), "__module__", ""))
    tasks = {
        "sklearn.metrics._regression": "regression",
        "sklearn.metrics._classification": "classification",
        "sklearn.metrics._ranking": "classification",
    }
    return tasks.get(module)


def metric(function: Callable[..., float], *, higher_is_better: bool) -> Loss:
    """Make a metric of a function, for `scoring`.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred)`` returns one number. If it has an argument ``sample_weight``,
        it gets the weights of the rows.
    higher_is_better : bool
        Whether a higher number is better (an accuracy) or worse (an error).

    Returns
    -------
    Loss
        Pass it to `scoring`, alone or in a list.

    Examples
    --------
    >>> import bestofk as bk
    >>> def hits(y_true, y_pred):
    ...     return (y_true == y_pred).mean()
    >>> study = bk.compare("max,nmc", "iris", cv="5x2", progress=False,
    ...                    scoring=bk.metric(hits, higher_is_better=True))
    >>> study.recommended
    'nmc'
    """
    if not callable(function) or isinstance(function, type):
        raise refuse("metric", "a function of (y_true, y_pred)", function)
    if not isinstance(higher_is_better, bool | np.bool_):
        raise refuse("higher_is_better", "True or False", higher_is_better)
    if _is_scorer(function) or (not _of_sklearn(function) and _positional(function) == 3):
        raise ArgumentError(
            f"{_called(function)} is a scorer, for which higher is always better: pass it to "
            "scoring without metric()."
        )
    return _given(function, "labels", offset=0.0 if higher_is_better else None)


def _of_callable(function: Any, classes: Labels | None, file: str = "") -> Loss:
    """Return the loss of a scorer: of `make_scorer`, or a callable ``scorer(estimator, X, y)``.

    In scikit-learn, a higher score is better. Refuse a function of two arguments, because its
    name does not tell whether higher is better. `file` is where it was found.
    """
    if not _is_scorer(function) and (_of_sklearn(function) or _positional(function) != 3):
        raise _without_direction(function, classes, file)
    return _given(
        function,
        "model",
        offset=0.0,
        methods=_methods(function),
        reads_model=not _is_scorer(function),
    )


def _given(function: Any, needs: Needs, *, offset: float | None, **facts: Any) -> Loss:
    """Return the loss of a function of the caller: its value, or `offset` minus its value."""
    is_score = offset is not None and getattr(function, "_sign", 1) > 0
    return Loss(
        f"{'score' if is_score else 'callable'}:{identity_of(function)}",
        "given by the caller",
        _task_of(function),
        needs,
        of=_number_of(function, offset=offset),
        **facts,
    )


def _is_scorer(function: Any) -> bool:
    return hasattr(function, "_score_func") and hasattr(function, "_sign")


def _of_sklearn(function: Any) -> bool:
    """Return whether a function is one of `sklearn.metrics`, which are no scorers."""
    module = str(getattr(function, "__module__", ""))
    return module.startswith("sklearn.metrics") and hasattr(function, "__name__")


def _methods(scorer: Any) -> tuple[str, ...]:
    """Return the methods of which a scorer of scikit-learn needs one; none if it is unknown."""
    method = getattr(scorer, "_response_method", ())
    return (method,) if isinstance(method, str) else tuple(method or ())


def _without_direction(function: Any, classes: Labels | None, file: str) -> ArgumentError:
    """Return the error about a plain function, with the line that works."""
    name = str(getattr(function, "__name__", type(function).__name__))
    if name == "<lambda>":
        name = "lambda y_true, y_pred: ..."
    if _of_sklearn(function) and (scorer := _scorer_of(function, classes)):
        return ArgumentError(f"{name} is a function, not a scorer: use ", use(scoring=scorer), ".")
    higher = not name.endswith(("_loss", "_error"))
    call = f"bk.metric({name}, higher_is_better={higher})"
    advice = f"use scoring={call}, or {not higher}"
    if file:
        advice = (
            f"add the line my_metric = {call} (or {not higher}) to {file}, and name "
            f"{file}:my_metric"
        )
    return ArgumentError(
        f"{name} is a function of the targets and the predictions, and nothing says whether higher "
        f"is better: {advice}."
    )


def _scorer_of(function: Any, classes: Labels | None) -> str | None:
    """Return the name of the scorer that is made of a function of scikit-learn."""
    from sklearn.metrics import get_scorer, get_scorer_names

    names = [name for name in get_scorer_names() if get_scorer(name)._score_func is function]
    several = classes is not None and len(classes) > 2
    names.sort(key=lambda name: (name.endswith(("_macro", "_ovr")) != several, len(name)))
    return names[0] if names else None


def identity_of(scorer: Any) -> str:
    """Return the qualified name of a callable, with the settings of a scorer."""
    function = getattr(scorer, "_score_func", scorer)
    settings = getattr(scorer, "_kwargs", None) or {}
    shown = ",".join(f"{name}={value!r}" for name, value in sorted(settings.items()))
    name = f"{getattr(function, '__module__', '?')}.{_called(function)}"
    return f"{name}({shown})" if shown else name


def _called(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))


def _positional(function: Any) -> int:
    """Return the number of required positional arguments; 2 if it is unknown."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    plain = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    must = sum(one.kind in plain and one.default is Parameter.empty for one in parameters)
    if must not in (2, 3) and not any(one.kind is Parameter.VAR_POSITIONAL for one in parameters):
        raise ArgumentError(
            "scoring must take (y_true, y_pred), or (estimator, X, y) as a scorer; "
            f"{_called(function)} takes {must} argument{'s' * (must != 1)}."
        )
    return must


def _number_of(function: Callable[..., Any], *, offset: float | None) -> Callable[..., float]:
    """Return the function, or `offset` minus its value; with weights if it takes them."""

    def number(*given: Any, **weights: Any) -> float:
        try:
            value = function(*given, **weights)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as raised:  # such as SystemExit, which ends no run
            raise RuntimeError(f"it raised {describe_error(raised)}") from None
        if np.ndim(value):
            raise TypeError(f"it gave an array of shape {np.shape(value)}, not one number")
        return float(value) if offset is None else offset - float(value)

    if not has_argument(getattr(function, "_score_func", function), "sample_weight"):
        return number

    def of(*given: Any, sample_weight: Floats | None = None) -> float:
        if sample_weight is None:
            return number(*given)
        return number(*given, sample_weight=sample_weight)

    return of


def _positive_parameter(scorer: Any) -> Parameter | None:
    """Return the argument for the positive class: 1 by default, or None if either will do."""
    function = getattr(scorer, "_score_func", None)
    if function is None or "pos_label" in scorer._kwargs:
        return None
    return signature(function).parameters.get("pos_label")


def _positive_class(scorer: str, label: str, classes: Labels) -> Any:
    """Return the positive class: the one that the caller names, or the one with a usual label."""
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
        f"metric {scorer!r} needs a positive class, and the names do not tell which it is: ",
        use(scoring=first),
        " or ",
        use(scoring=second),
        ".",
    )


def _with_positive(scorer: Any, label: Any) -> Any:
    from sklearn.metrics import make_scorer

    return make_scorer(
        scorer._score_func,
        response_method=scorer._response_method,
        greater_is_better=scorer._sign > 0,
        **{**scorer._kwargs, "pos_label": label},
    )
