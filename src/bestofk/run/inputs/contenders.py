"""The learners of a comparison: from what a caller lists to named estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bestofk.data.dataset import DataSet
from bestofk.data.task import is_whole
from bestofk.errors import ArgumentError, RunError
from bestofk.learners.specification import named_learners
from bestofk.run.experiment import Contender, UnavailableEstimator

PANEL = ("max", "nmc", "logistic", "c4.5", "nn", "naive-bayes")
"""The papers' learners, by rising complexity: what runs when none is named."""
REGRESSION_PANEL = (
    "mean=sklearn.dummy:DummyRegressor()",
    "ridge=sklearn.linear_model:Ridge()",
    "tree=sklearn.tree:DecisionTreeRegressor()",
    "forest=sklearn.ensemble:RandomForestRegressor()",
)


def is_panel(names: tuple[str, ...]) -> bool:
    """Whether these are the learners that run when none is named."""
    return names == PANEL or names == tuple(spec.partition("=")[0] for spec in REGRESSION_PANEL)


def as_contenders(learners: Any, *, task: str = "classification") -> tuple[Contender, ...]:
    """Two or more named estimators; the papers' panel when none is named.

    A class stands for its estimator with default settings.
    """
    if learners is None:
        learners = PANEL if task == "classification" else REGRESSION_PANEL
    elif not hasattr(learners, "__iter__"):
        raise ArgumentError(
            f"learners must be a list of names and estimators, or a mapping; got {learners!r:.80}."
        )
    if isinstance(learners, Mapping):
        learners = {name: _made(given) for name, given in learners.items()}
    elif not isinstance(learners, str):
        learners = [_made(given) for given in learners]
    named = named_learners(learners)
    if len(named) < 2:
        raise ArgumentError(
            f"learners must hold at least 2 learners to compare; got only {next(iter(named))!r}."
        )
    return tuple(Contender.of(name, estimator) for name, estimator in named.items())


def check_task(contenders: Sequence[Contender], datasets: Sequence[DataSet]) -> None:
    """Refuse a regressor where labels are to be predicted, and a classifier where numbers are."""
    from sklearn.base import is_classifier, is_regressor

    data = datasets[0]
    numbers = data.task == "regression"
    for contender in contenders:
        estimator = contender.estimator
        if isinstance(estimator, UnavailableEstimator):
            continue
        try:
            wrong = is_classifier(estimator) if numbers else is_regressor(estimator)
        except Exception:  # whatever a stranger's class raises; its fits will say
            continue
        if wrong:
            raise ArgumentError(_wrong_kind(contender.name, data))


def _wrong_kind(learner: str, data: DataSet) -> str:
    if data.task == "regression":
        values = data.y.to_numpy(dtype=float)
        is_one, holds = "a classifier", f"numbers ({len(set(values.tolist()))} different values)"
        give, other, possible = "regressors", "classes with task='classification'", is_whole(values)
    else:
        is_one, holds = "a regressor", f"{len(data.classes)} classes"
        give, other = "classifiers", "numbers with task='regression'"
        possible = all(_is_numeral(label) for label in data.classes.tolist())
    also = f", or take the target as {other}" if possible else ""
    return (
        f"{learner} is {is_one}, and the target of {data.name!r} holds {holds}: give {give}{also}."
    )


def _is_numeral(label: Any) -> bool:
    try:
        float(label)
    except (TypeError, ValueError):
        return False
    return True


class WithoutDefaults(UnavailableEstimator):
    """Stands for a class that has no estimator with default settings; its cells fail."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """What tells it from others."""
        return {"reason": self.reason}

    def fit(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Say why not."""
        raise RunError(self.reason)

    predict = fit


def _made(given: Any) -> Any:
    if not isinstance(given, type) or not (hasattr(given, "fit") and hasattr(given, "predict")):
        return given
    try:
        return given()
    except Exception as raised:
        # any class may raise anything while it is made; its name is that of its stand-in
        return type(given.__name__, (WithoutDefaults,), {})(_why_not(given, raised))


def _why_not(kind: type, raised: Exception) -> str:
    from inspect import Parameter, signature

    lacking = [
        parameter.name
        for parameter in signature(kind).parameters.values()
        if parameter.default is Parameter.empty
        and parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    ]
    if lacking:
        call = ", ".join(f"{name}=..." for name in lacking)
        many = "arguments" if len(lacking) > 1 else "an argument"
        return f"needs {many}: give {kind.__name__}({call}) instead of the class alone."
    reason = " ".join(str(raised).split())[:200]
    return f"cannot be made with default settings ({type(raised).__name__}: {reason})."
